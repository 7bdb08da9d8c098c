"""Recipes for models of every kind: small, with zeros, with and without EOS; |V| = 1 and horizon 0 included."""

from collections.abc import Sequence
from itertools import product
from typing import Literal

import numpy as np

from factorcomp.models.finite_state import FiniteStateModel
from factorcomp.models.function import FunctionModel
from factorcomp.models.rows import FloatRows
from factorcomp.models.tabular import TabularModel
from factorcomp.testing.drawing import Draw, Row, normalised
from factorcomp.testing.families import LARGEST, TOKENS

Numbers = Literal["fractions", "probs", "log_probs", "logits"]
NUMBERS: tuple[Numbers, ...] = ("fractions", "probs", "log_probs", "logits")


def vocabulary(draw: Draw, sizes: tuple[int, int] = (1, 4)) -> tuple[str, ...]:
    """Different tokens: letters, and at times an empty one, a space, or a word that is not ASCII."""
    odd = ("", " ", "größe", "<eos>", "\n")
    size = draw.integer(*sizes)
    return tuple(
        odd[y % len(odd)] if draw.one_in(6) and y < len(odd) else TOKENS[y % 8] * (1 + y // 8) for y in range(size)
    )


def ends(draw: Draw, tokens: Sequence[str]) -> int | None:
    """The place of EOS, any of them; often none."""
    return draw.integer(0, len(tokens) - 1) if draw.one_in(2) else None


def certain(size: int, token: int) -> Row:
    """The row in which one token is certain."""
    return normalised([int(y == token) for y in range(size)])


def tabular_model(draw: Draw, numbers: Numbers | None = None, dtype: str = "float64") -> TabularModel:
    """A table, of fractions or of floats on one of the three scales (`None`: drawn)."""
    tokens = vocabulary(draw)
    size, eos, scale = len(tokens), ends(draw, tokens), numbers or draw.pick(NUMBERS)
    steps = [
        [
            certain(size, eos) if eos is not None and eos in h else draw.row(size, zeros=True)
            for h in product(range(size), repeat=t)
        ]
        for t in range(draw.integer(0, LARGEST[size]))
    ]
    name = None if eos is None else tokens[eos]
    if scale == "fractions":
        return TabularModel.from_probabilities(steps, tokens, name)
    values = [np.array(step, dtype=float) for step in steps]
    if scale == "probs":
        return TabularModel.from_probabilities([step.astype(dtype) for step in values], tokens, name)
    with np.errstate(divide="ignore"):
        logs = [np.log(step) for step in values]
    if scale == "log_probs":
        return TabularModel.from_log_probs([step.astype(dtype) for step in logs], tokens, name)
    shifts = [np.array([draw.integer(-2, 2) for _ in step], dtype=float)[:, None] for step in logs]
    rows = (FloatRows((step + shift).astype(dtype), "logits") for step, shift in zip(logs, shifts, strict=True))
    return TabularModel(tokens, tuple(rows), name)


def finite_state_model(draw: Draw, states: tuple[int, int] = (1, 4)) -> FiniteStateModel:
    """A finite-state model of fractions; where a token is impossible it may lack a next state."""
    tokens = vocabulary(draw)
    eos, count = ends(draw, tokens), draw.integer(*states)
    names = [f"q{q}" for q in range(count)]

    def state() -> dict[str, dict[str, object]]:
        row = draw.row(len(tokens), zeros=True)
        probabilities = {token: cell for token, cell in zip(tokens, row, strict=True) if cell}
        leads = [y for y, cell in enumerate(row) if y != eos and (cell or draw.one_in(2))]
        return {"probabilities": {**probabilities}, "next": {tokens[y]: draw.pick(names) for y in leads}}

    stop = None if eos is None else tokens[eos]
    return FiniteStateModel.from_states({name: state() for name in names}, tokens, names[0], stop)


def function_model(draw: Draw) -> FunctionModel:
    """A function that looks at the last two tokens, as log-probabilities in float64."""
    tokens = vocabulary(draw)
    size, eos = len(tokens), ends(draw, tokens)
    with np.errstate(divide="ignore"):
        rows = {
            seen: np.log(np.array(draw.row(size, zeros=True), dtype=float))
            for length in range(3)
            for seen in product(range(size), repeat=length)
        }

    def log_probs(prefixes):  # an array of JAX or NumPy
        return np.array([rows[tuple(prefix[-2:])] for prefix in np.asarray(prefixes).tolist()])

    return FunctionModel(log_probs, tokens, None if eos is None else tokens[eos])
