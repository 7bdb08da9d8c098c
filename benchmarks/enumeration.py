"""How far is the enumeration from the memory-bandwidth floor, and what do JAX and the rational kernel cost?

The floor is the time to read the three tables once at the bandwidth of NumPy's sum over a large array, measured in the
same run. The models have factorized conditionals on interleaved masks, so that every claim is decided.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import factorcomp
from factorcomp.enumeration import backends
from factorcomp.models.tabular import TabularModel

Seconds = float


def factorized(vocab: int, length: int) -> tuple[TabularModel, dict[str, TabularModel], dict[str, slice]]:
    """Background and two experts, own-history kernels on interleaved masks."""
    rng = np.random.default_rng(0)
    base, other = [], []
    for t in range(length):
        block = [s for s in range(t) if s % 3 == t % 3]
        cells = np.zeros((1,), dtype=np.int64)
        for s in range(t):
            cells = (cells[:, None] * (vocab if s in block else 1) + np.arange(vocab) * (s in block)).reshape(-1)
        tables = rng.dirichlet(np.ones(vocab), (2, vocab ** len(block)))
        base.append(tables[0][cells])
        other.append(tables[1][cells])
    tokens = [chr(ord("a") + y) for y in range(vocab)]

    def model(own: int | None) -> TabularModel:
        steps = [np.log(other[t] if t % 3 == own else base[t]) for t in range(length)]
        return TabularModel.from_log_probs(steps, tokens)

    return model(None), {"up": model(0), "down": model(1)}, {"up": slice(0, None, 3), "down": slice(1, None, 3)}


def bandwidth() -> float:
    """Bytes per second of a sum over 256 MiB, the best of five."""
    array = np.ones(1 << 25)
    return array.nbytes / min(timed(array.sum) for _ in range(5))


def timed(work: Callable[[], object]) -> Seconds:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def command_line(background: TabularModel, experts: dict[str, TabularModel]) -> Callable[[], object]:
    """`factorcomp verify` as a process of its own, files on disk."""
    folder = Path(tempfile.mkdtemp())
    for name, model in (("background", background), *experts.items()):
        factorcomp.save(model, folder / f"{name}.safetensors")
    program = [sys.executable, "-m", "factorcomp", "verify", str(folder / "background.safetensors")]
    program += [f"{name}={folder / name}.safetensors" for name in experts]
    return lambda: subprocess.run(program, capture_output=True, check=False)


def main() -> None:
    """Measures and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vocab", type=int, default=4)
    parser.add_argument("--length", type=int, default=10)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    background, experts, masks = factorized(options.vocab, options.length)
    size = 3 * sum(rows.values.nbytes for rows in background.steps)
    floor = size / bandwidth()

    def verify() -> None:
        factorcomp.verify(*(fresh(background), {n: fresh(m) for n, m in experts.items()}), masks=masks)

    table = Table(title=f"|V| = {options.vocab}, T = {options.length}: {size / 1e6:.1f} MB, floor {floor * 1e3:.2f} ms")
    for column in ("engine", "first run, s", "median of later runs, s", "times the floor"):
        table.add_column(column, justify="left" if column == "engine" else "right")
    for name, limit in (("NumPy", 1 << 60), ("JAX, jitted", 0)):
        backends.NUMBERS_FOR_NUMPY = limit
        first = timed(verify)
        later = statistics.median(timed(verify) for _ in range(options.runs))
        table.add_row(name, f"{first:.3f}", f"{later:.3f}", f"{later / floor:.0f}")
    process = command_line(background, experts)
    table.add_row("whole process", f"{timed(process):.3f}", f"{(later := timed(process)):.3f}", f"{later / floor:.0f}")
    Console().print(table)


def fresh(model: TabularModel) -> TabularModel:
    """The same table without what was computed from it before."""
    return TabularModel(
        model.vocabulary, tuple(type(r)(r.values, r.scale) for r in model.steps), model.eos, model.source
    )


if __name__ == "__main__":
    main()
