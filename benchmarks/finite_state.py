"""How fast are the proofs for every length and for long lengths, against Storm on the same chain, in one run?

Chains: `shared`, one transition structure of 1,000 states for all models, whose experts change one row in a hundred;
and `product`, three structures of 30 states (with `--large` of 100, whose product has about 600,000). Storm (if it is
installed) is given the composed chain as PRISM text and asked for less: the probability that one expert deviates within
1,000 prefixes.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import factorcomp
from factorcomp.factorization.at_length import decide_at_length
from factorcomp.factorization.every_length import decide_every_length
from factorcomp.models.finite_state import FiniteStateModel
from factorcomp.models.rows import FloatRows

VOCAB = 4
Models = tuple[FiniteStateModel, dict[str, FiniteStateModel]]
Seconds = float


def model(following: np.ndarray, rows: np.ndarray) -> FiniteStateModel:
    """A model without EOS."""
    states = tuple(f"s{n}" for n in range(len(rows)))
    return FiniteStateModel(tuple("abcd"), states, 0, FloatRows(rows, "probs"), following)


def shared(states: int) -> Models:
    """All models on one random structure, each expert with other rows in one state of a hundred."""
    rng = np.random.default_rng(0)
    following = rng.integers(0, states, (states, VOCAB))
    base = rng.dirichlet(np.ones(VOCAB), states)
    experts = {}
    for name in ("up", "down"):
        rows = base.copy()
        changed = rng.random(states) < 0.01
        rows[changed] = rng.dirichlet(np.ones(VOCAB), int(changed.sum()))
        experts[name] = model(following, rows)
    return model(following, base), experts


def product(states: int) -> Models:
    """Each model on a structure of its own, uniform but for one state in fifty of each expert."""
    rng = np.random.default_rng(0)

    def one(changed: float) -> FiniteStateModel:
        rows = np.full((states, VOCAB), 1 / VOCAB)
        rows[rng.random(states) < changed] = [0.4, 0.3, 0.2, 0.1]
        return model(rng.integers(0, states, (states, VOCAB)), rows)

    return one(0.0), {"up": one(0.02), "down": one(0.02)}


def timed(work: Callable[[], object], runs: int) -> Seconds:
    """The median of several runs, after one that is not counted."""
    work()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def storm(background: FiniteStateModel, experts: Mapping[str, FiniteStateModel]) -> dict[str, Callable[[], object]]:
    """What Storm does with the composed chain: build it, and check one property; nothing where it is not installed."""
    try:
        import stormpy
    except ImportError:
        return {}
    path = Path(tempfile.mkdtemp()) / "composed.prism"
    factorcomp.save(factorcomp.compose(background, experts), path)
    properties = stormpy.parse_properties('P=? [F<=999 "deviates_up"]')
    program = stormpy.parse_prism_program(str(path))
    chain = stormpy.build_model(program, properties)
    return {
        "Storm: build the composed chain": lambda: stormpy.build_model(program, properties),
        "Storm: activity of one expert, length 1,000": lambda: stormpy.model_checking(chain, properties[0]),
    }


def main() -> None:
    """Measures and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--large", action="store_true", help="also the product of 600,000 states")
    options = parser.parse_args()
    table = Table(title=f"|V| = {VOCAB}, two experts")
    for column in ("models", "product states", "what", "median, s", "times the first"):
        table.add_column(column, justify="left" if column in ("models", "what") else "right")
    question = factorcomp.Question
    for name, (background, experts) in {"shared": shared(1000), "product": product(30)}.items():
        work: dict[str, Callable[[], object]] = {
            "every claim, every length": lambda b=background, e=experts: decide_every_length(b, e, question("every")),
            "every claim, length 1,000": lambda b=background, e=experts: decide_at_length(b, e, question(1_000)),
            "every claim, length 10,000": lambda b=background, e=experts: decide_at_length(b, e, question(10_000)),
        }
        if name == "shared":  # Storm tries every command of a program at every state: larger ones take it minutes
            work |= storm(background, experts)
        add(table, name, decide_every_length(background, experts, question("every")).states, work, options.runs)
    if options.large:
        background, experts = product(100)
        states = decide_every_length(background, experts, question("every")).states
        large = {"every claim, every length": lambda: decide_every_length(background, experts, question("every"))}
        add(table, "large product", states, large, 1)
    Console().print(table)


def add(table: Table, name: str, states: int | None, work: Mapping[str, Callable[[], object]], runs: int) -> None:
    """A line for each piece of work."""
    first = None
    for what, run in work.items():
        seconds = timed(run, runs)
        first = first or seconds
        table.add_row(name, f"{states:,}", what, f"{seconds:.4f}", f"{seconds / first:.1f}")


if __name__ == "__main__":
    main()
