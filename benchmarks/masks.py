"""How far is the check of the masks from the memory-bandwidth floor, and how much memory does it take?

The floor is the time to read the three tables once, at the bandwidth of a triad `a = b + 3 c` in blocks, by one thread
in the same run. Three cases: factorized conditionals on interleaved masks; the same with the very last row changed;
and with every row changed, so that each position fails.
"""

import argparse
import statistics
import tracemalloc
from collections.abc import Mapping, Sequence

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.enumeration import Seconds, factorized, timed
from factorcomp.factorization.conditionals import decide_conditionals
from factorcomp.models.rows import AbstractRows, FloatRows

BLOCK = 1 << 15


def triad() -> float:
    """Bytes per second, the best of five; what is written is read first."""
    a, b, c = np.zeros(1 << 24), np.ones(1 << 24), np.ones(1 << 24)

    def run() -> None:
        for start in range(0, len(a), BLOCK):
            part = slice(start, start + BLOCK)
            np.multiply(c[part], 3.0, out=a[part])
            np.add(a[part], b[part], out=a[part])

    return 3 * a.nbytes / min(timed(run) for _ in range(5))


def changed(steps: Sequence[AbstractRows], *, every: bool) -> tuple[AbstractRows, ...]:
    """The last row of the last step with one token a little likelier; or every row, at random."""
    rng, changed_steps = np.random.default_rng(1), []
    for t, rows in enumerate(steps):
        assert isinstance(rows, FloatRows)
        values = rows.values.copy()
        if every:
            values += rng.normal(0, 0.1, values.shape)
        elif t == len(steps) - 1:
            values[-1, 0] += 0.1
        changed_steps.append(FloatRows(values, "logits"))
    return tuple(changed_steps)


def main() -> None:
    """Measures and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vocab", type=int, default=4)
    parser.add_argument("--length", type=int, default=10)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    background, experts, slices = factorized(options.vocab, options.length)
    masks = {i: tuple(range(options.length))[part] for i, part in enumerate(slices.values())}
    up, down = (expert.steps for expert in experts.values())
    size = 3 * sum(rows.shape[0] * rows.shape[1] * 8 for rows in background.steps)
    floor = size / triad()
    table = Table(title=f"|V| = {options.vocab}, T = {options.length}: {size / 1e6:.1f} MB, floor {floor * 1e3:.2f} ms")
    for column in ("tables", "median, s", "times the floor", "memory, MB"):
        table.add_column(column, justify="left" if column == "tables" else "right")
    for name, runs, first in (
        ("factorized", options.runs, up),
        ("the last row changed", options.runs, changed(up, every=False)),
        ("every row changed", 1, changed(up, every=True)),
    ):
        seconds, memory = measured(background.steps, (first, down), masks, runs)
        table.add_row(name, f"{seconds:.3f}", f"{seconds / floor:.1f}", f"{memory / 1e6:.1f}")
    Console().print(table)


def measured(
    background: Sequence[AbstractRows],
    experts: Sequence[Sequence[AbstractRows]],
    masks: Mapping[int, tuple[int, ...]],
    runs: int,
) -> tuple[Seconds, int]:
    """The median time, and the most bytes allocated at once in a run of its own."""
    seconds = statistics.median(timed(lambda: decide_conditionals(background, experts, masks)) for _ in range(runs))
    tracemalloc.start()
    decide_conditionals(background, experts, masks)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return seconds, peak


if __name__ == "__main__":
    main()
