"""How fast are the proofs for every length and the scans of long ones, against Storm on the same chain?

Chains: `shared`, one transition structure of 1,000 states for all models, whose experts change one row in a hundred;
and `product`, three structures of 30 states (and of 100, whose product has about 600,000). Storm is given the composed
chain as PRISM text and asked for less: the probability that one expert deviates within 1,000 prefixes.
"""

import statistics
import tempfile
from collections.abc import Callable, Mapping
from importlib import util
from pathlib import Path
from typing import Any

import factorcomp
from benchmarks import automata
from benchmarks.measuring import timed
from factorcomp.factorization.at_length import decide_at_length
from factorcomp.factorization.every_length import decide_every_length
from factorcomp.models.finite_state import FiniteStateModel

RUNS = 3


def measure(
    states: int = 1000, members: int = 30, lengths: tuple[int, ...] = (1_000, 10_000), large: int | None = 100
) -> list[dict[str, Any]]:
    """A row for each piece of work: which chain, its product's states, what was done, the median in seconds."""
    rows = []
    for name, (background, experts) in {
        "shared": automata.shared(states),
        "product": automata.product(members),
    }.items():
        every = factorcomp.Question("every")
        work: dict[str, Callable[[], Any]] = {
            "every claim, every length": lambda b=background, e=experts, q=every: decide_every_length(b, e, q)
        }
        for length in lengths:
            asked = factorcomp.Question(length)
            work[f"every claim, length {length:,}"] = lambda b=background, e=experts, q=asked: decide_at_length(b, e, q)
        if name == "shared":  # Storm tries every command of a program at every state: larger ones take it minutes
            work |= storm(background, experts)
        count = decide_every_length(background, experts, every).states
        rows += [{"chain": name, "states": count, "what": what, "seconds": _median(run)} for what, run in work.items()]
    if large is not None:
        background, experts = automata.product(large)
        seconds, found = timed(lambda: decide_every_length(background, experts, factorcomp.Question("every")))
        what = "every claim, every length (once)"
        rows.append({"chain": "large product", "states": found.states, "what": what, "seconds": seconds})
    return rows


def _median(run: Callable[[], Any]) -> float:
    """The median of several runs, after one that is not counted."""
    run()
    return statistics.median(timed(run)[0] for _ in range(RUNS))


def storm(background: FiniteStateModel, experts: Mapping[str, FiniteStateModel]) -> dict[str, Callable[[], object]]:
    """What Storm does with the composed chain: build it, and check one property; nothing where it is not installed."""
    if util.find_spec("stormpy") is None:
        return {}
    import stormpy

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "composed.prism"
        factorcomp.save(factorcomp.compose(background, experts), path)
        program = stormpy.parse_prism_program(str(path))
    properties = stormpy.parse_properties('P=? [F<=999 "deviates_up"]')
    chain = stormpy.build_model(program, properties)
    return {
        "Storm: build the composed chain": lambda: stormpy.build_model(program, properties),
        "Storm: activity of one expert, length 1,000": lambda: stormpy.model_checking(chain, properties[0]),
    }
