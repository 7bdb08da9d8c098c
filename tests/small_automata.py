"""Finite-state models small enough to see what must come out, as they stand in files and as models.

The background `base` tosses a fair coin for ever. `start` and `second` bend the first and the second toss alone; `even`
and `odd` bend every toss at an even, at an odd position; `late` bends every toss after the first `a`.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from factorcomp.models.finite_state import FiniteStateModel

COIN, BENT, STEEP = {"a": "1/2", "b": "1/2"}, {"a": "1/4", "b": "3/4"}, {"a": "1/3", "b": "2/3"}


def state(probabilities: Mapping, **following: str) -> dict:
    """A state by its row and what follows each token."""
    return {"probabilities": dict(probabilities), "next": following}


def on(probabilities: Mapping, to: str) -> dict:
    """A state that both `a` and `b` leave for the state `to`."""
    return state(probabilities, a=to, b=to)


def contents(states: Mapping[str, Mapping], vocabulary: tuple[str, ...] = ("a", "b"), eos: str | None = None) -> dict:
    """A file's contents; the first state is the initial one."""
    start = {"format": "factorcomp-model/1", "kind": "finite_state", "vocabulary": list(vocabulary), "eos": eos}
    return {**start, "initial": next(iter(states)), "states": dict(states)}


THIRDS = {"a": "1/3", "b": "1/3", "$": "1/3"}
FILES = {
    "base": contents({"s": on(COIN, "s")}),
    "start": contents({"s": on(BENT, "t"), "t": on(COIN, "t")}),
    "second": contents({"s": on(COIN, "t"), "t": on(STEEP, "u"), "u": on(COIN, "u")}),
    "even": contents({"s": on(BENT, "t"), "t": on(COIN, "s")}),
    "odd": contents({"s": on(COIN, "t"), "t": on(BENT, "s")}),
    "late": contents({"s": state(COIN, a="t", b="s"), "t": on(BENT, "t")}),
    # only `a`, and nothing is said of what follows `b`
    "narrow": contents({"s": state({"a": 1}, a="s")}),
    "only_a": contents({"s": on({"a": 1}, "s")}),
    "only_b": contents({"s": on({"b": 1}, "s")}),
    # `$` ends a sequence; `trapped` can never end it after `b`
    "ending": contents({"s": on(THIRDS, "s")}, ("a", "b", "$"), "$"),
    "trapped": contents({"s": state(THIRDS, a="s", b="t"), "t": on(COIN, "t")}, ("a", "b", "$"), "$"),
    "hurried": contents({"s": on({"a": "1/4", "b": "1/4", "$": "1/2"}, "s")}, ("a", "b", "$"), "$"),
}


def model(name: str) -> FiniteStateModel:
    """The model of this name."""
    file = FILES[name]
    return FiniteStateModel.from_states(file["states"], file["vocabulary"], file["initial"], file["eos"], name)


def write(folder: Path) -> None:
    """Every file, into `folder`."""
    for name, file in FILES.items():
        (folder / f"{name}.json").write_text(json.dumps(file))
