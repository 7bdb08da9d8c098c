"""Finite-state models as Markov chains for PRISM and Storm: its language, and its explicit files of transitions.

A model is a discrete-time Markov chain on its states; tokens that lead to the same next state are added up. What the
chain cannot say is which token was drawn. With EOS the state in which the sequence has ended is absorbing, has the
label `ended`, and costs nothing; every other step costs 1 under the reward `steps`, so that `R{"steps"}=? [F "ended"]`
is the expected length up to and with EOS (theory.md, section 10).

Source: https://www.prismmodelchecker.org/manual, "The PRISM Language" and "Explicit Model Files".
"""

import json
import math
from collections.abc import Iterator, Mapping
from fractions import Fraction

import numpy as np
from jaxtyping import Bool

from factorcomp.certificates.claims import Number
from factorcomp.models.finite_state import NOWHERE, FiniteStateModel
from factorcomp.models.rows import RationalRows

Labels = Mapping[str, Bool[np.ndarray, " states"]]
"""Label -> the states that have it, in the model's order."""


def write_prism(model: FiniteStateModel, name: str, labels: Labels | None = None) -> str:
    """The model as a program in the PRISM language: one variable `s`, the state's place.

    Rational probabilities are exact fractions `p/q`; others are the shortest decimals that read back as the same
    floating-point numbers. States keep their names as comments.

    **Arguments:** `name`: said in the first comment. `labels`: more labels, such as the states in which two experts
    deviate.

    **Raises:** `ValueError` if a label is taken or no identifier, or does not say yes or no of each state; or if the
    model has no next state after a token of positive probability.

    Source: theory.md, section 7.
    """
    named = {**_checked(model, labels or {}), **({"ended": _ended(model)} if model.eos is not None else {})}
    lines = [
        f"// {json.dumps(name)}: {_size(model)} states, tokens {json.dumps(list(model.vocabulary))}, by factorcomp",
        "dtmc",
        "",
        "module model",
        f"  s : [0..{_size(model) - 1}] init {model.initial};",
    ]
    for state in range(_size(model)):
        moves = " + ".join(f"{_written(mass)}:(s'={target})" for target, mass in _moves(model, state))
        lines.append(f"  [] s={state} -> {moves};  // {json.dumps(_name(model, state))}")
    lines += ["endmodule", ""]
    lines += [f'label "{label}" = {_one_of(states)};' for label, states in named.items()]
    guard = "true" if model.ended is None else f"s!={model.ended}"
    lines += ["", 'rewards "steps"', f"  {guard} : 1;", "endrewards"]
    return "\n".join(lines) + "\n"


def write_tra(model: FiniteStateModel) -> str:
    """The transitions as an explicit file `.tra`: the numbers of states and transitions, then `from to probability`.

    Probabilities are decimals, the nearest floating-point numbers of rationals: not every reader knows fractions, and
    the format has no comments. The headings are PRISM's; Storm, whose explicit files have others, reads `write_prism`.
    """
    rows = [
        f"{state} {target} {float(mass)!r}" for state in range(_size(model)) for target, mass in _moves(model, state)
    ]
    return "\n".join([f"{_size(model)} {len(rows)}", *rows]) + "\n"


def write_lab(model: FiniteStateModel, labels: Labels | None = None) -> str:
    """The labels of the states as an explicit file `.lab`, to go with `write_tra`; the first is `init`.

    **Raises:** `ValueError` as `write_prism`.
    """
    initial = np.arange(_size(model)) == model.initial
    named = {"init": initial, "deadlock": np.zeros(_size(model), dtype=bool)}
    named |= {"ended": _ended(model)} if model.eos is not None else {}
    named |= _checked(model, labels or {})
    heading = " ".join(f'{place}="{label}"' for place, label in enumerate(named))
    table = np.stack(list(named.values()), axis=1)
    rows = [f"{state}: {' '.join(map(str, np.nonzero(table[state])[0]))}" for state in np.nonzero(table.any(axis=1))[0]]
    return "\n".join([heading, *rows]) + "\n"


def _size(model: FiniteStateModel) -> int:
    """The number of states, the ended one included."""
    return model.next.shape[0]


def _ended(model: FiniteStateModel) -> Bool[np.ndarray, " states"]:
    return np.arange(_size(model)) == model.ended


def _name(model: FiniteStateModel, state: int) -> str:
    return "ended" if state == model.ended else model.states[state]


def _moves(model: FiniteStateModel, state: int) -> Iterator[tuple[int, Number]]:
    """The next states and their probabilities, in the order of the states."""
    if isinstance(model.rows, RationalRows):
        row: list[Number] = list(model.rows.exact(state).factors)
    else:
        row = [math.exp(log) for log in model.rows.log_probs(state, state + 1)[0]]
    masses: dict[int, list[Number]] = {}
    for token, mass in enumerate(row):
        if mass > 0:
            masses.setdefault(int(model.next[state, token]), []).append(mass)
    if NOWHERE in masses:
        raise ValueError(f"state {_name(model, state)!r} has no next state for a token of positive probability")
    for target in sorted(masses):
        parts = masses[target]
        exact = all(isinstance(part, Fraction) for part in parts)
        yield target, sum(parts, Fraction(0)) if exact else math.fsum(parts)


def _written(mass: Number) -> str:
    return str(mass) if isinstance(mass, Fraction) else repr(mass)


def _one_of(states: Bool[np.ndarray, " states"]) -> str:
    """The condition on `s` that it is one of the states, by ranges."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], states, [False])).astype(np.int8)))
    ranges = zip(edges[::2], edges[1::2] - 1, strict=True)
    return "|".join(f"s={a}" if a == b else f"(s>={a}&s<={b})" for a, b in ranges) or "false"


def _checked(model: FiniteStateModel, labels: Labels) -> Labels:
    for label, states in labels.items():
        if label in ("init", "deadlock", "ended", "steps") or not (label.isascii() and label.isidentifier()):
            raise ValueError(f"the label {label!r} is taken or is no identifier; needed letters, digits and _")
        if states.shape != (_size(model),):
            raise ValueError(
                f"the label {label!r} has the shape {states.shape}; needed ({_size(model)},), one by state"
            )
    return labels
