"""Clean stretches, at once and in NumPy, against the general text for the same blocks, with all decided exactly."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import pytest

from factorcomp.certificates.claims import Question
from factorcomp.models.rows import FloatRows, Scale
from factorcomp.models.tabular import TabularModel
from factorcomp.streaming import clean
from factorcomp.streaming import plan as plans
from factorcomp.streaming.arrays import each
from factorcomp.streaming.engine import Part, Stretch, Visit, joined
from factorcomp.streaming.plan import Plan, plan
from factorcomp.streaming.subtree import Below, descend, root
from factorcomp.streaming.tables import Tables
from factorcomp.streaming.totals import Tally, Totals
from factorcomp.streaming.workers import Workers

SCALES: list[Scale] = ["probs", "log_probs", "logits"]
LENGTHS = {2: 6, 3: 4, 4: 4, 5: 3, 20: 2}
EXACT = ("ahead", "overlap", "unsettled", "runs", "maxima", "first")


class Heads(Visit):
    """A visit that has come as far as the heads."""

    def __post_init__(self) -> None:
        rows = self._examined(self.source.above(self.plan)) if self.plan.above else []
        _, carried = descend(self.plan, 0, rows, root(self.plan), Tally(self.plan))
        self.carried = each(np.ascontiguousarray, carried)


@dataclass
class Case:
    """Values by model and length, and what is asked of them."""

    values: list[list[np.ndarray]]
    scale: Scale
    question: Question

    @cached_property
    def plan(self) -> Plan:
        names = [f"e{i}" for i in range(len(self.values) - 1)]
        return plan(self.question, names, self.values[0][0].shape[1], None, self.scale)

    @cached_property
    def heads(self) -> Heads:
        tokens = tuple(f"t{v}" for v in range(self.plan.vocab))
        models = [TabularModel(tokens, tuple(FloatRows(x, self.scale) for x in steps)) for steps in self.values]
        return Heads(self.plan, Tables.of(models, self.plan.horizon), Workers())

    def at_once(self, number: int, stretches: int = 1) -> tuple[Below, Totals]:
        """What `clean.visit` says of some stretches."""
        heads, places = self.heads, self.plan.heads(number, stretches)
        return clean.visit(self.plan, heads.source.below(self.plan, places), heads.inherited(places), number)

    def in_general(self, number: int, stretches: int) -> Stretch:
        """What the general text says of each, together."""
        parts = [(n, Part(self.heads, n)) for n in range(number, number + stretches)]
        return joined([Stretch(part.below, part.tally.totals(np.int64(n))) for n, part in parts])


def clean_case(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> Case:
    """Rows of small integers and, below the heads, of at most one expert that is far enough from them."""
    vocab = int(rng.choice(list(LENGTHS)))
    length, k = (
        int(rng.integers(1, LENGTHS[vocab] + 1)),
        int(rng.choice([1, 2, 3, 4, 9], p=[0.25, 0.25, 0.2, 0.2, 0.1])),
    )
    scale, dtype = SCALES[rng.integers(3)], [np.float64, np.float64, np.float32][rng.integers(3)]
    names = [f"e{i}" for i in range(k)]
    threshold = Fraction(int(rng.integers(1, 4)), 2) if rng.random() < 0.4 else Fraction(0)
    weights = {n: Fraction(int(rng.integers(1, 5)), 2) for n in names} if rng.random() < 0.3 else {}
    owners = rng.integers(-1, k, length)
    masks = {n: tuple(int(t) for t in np.flatnonzero(owners == i)) for i, n in enumerate(names)}
    question = Question(
        length, [None, "auto", masks][rng.integers(3)], threshold, ["reachable", "all"][rng.integers(2)],
        ["strict", "drop", "cancel"][rng.integers(3)], weights,
    )  # fmt: skip
    monkeypatch.setattr(plans, "LEAVES", int(rng.choice([1, 2, 4, 9, 30, 300])))
    monkeypatch.setattr(plans, "NUMBERS", int(rng.choice([1, 50, 1 << 18])))
    monkeypatch.setattr(clean, "PIECE", int(rng.choice([1, 20, 1 << 16])))
    above, by_position, rate = plans.cut(vocab, length)[0], rng.random() < 0.4, rng.choice([0.02, 0.4, 0.9, 1])
    values: list[list[np.ndarray]] = [[] for _ in range(k + 1)]
    for t in range(length):
        rows = vocab**t
        base = np.log(rng.integers(1, 5, (rows, vocab)))
        who = np.full(rows, owners[t]) if by_position else rng.integers(-1, k, rows)
        who[rng.random(rows) > rate] = -1
        shape = rng.random((k, rows, vocab)) * 2
        shape[:, :, 0], shape[:, :, 1] = 0.0, rng.integers(1, 3, (k, rows))
        factors = [2 * float(threshold / weights.get(n, 1)) + 0.5 for n in names]
        own = [base + shape[i] * factor for i, factor in enumerate(factors)]
        logs = [base, *own]
        if scale != "logits":
            logs = [x - np.log(np.exp(x).sum(axis=1, keepdims=True)) for x in logs]
        tables = [(np.exp(x) if scale == "probs" else x).astype(dtype) for x in logs]
        for i, into in enumerate(values):
            if i == 0 or (t < above and rng.random() < 0.5):  # above the heads as it comes
                into.append(tables[i])
            else:
                into.append(np.where((who == i - 1)[:, None], tables[i], tables[0]))
    return Case(values, scale, question)


@pytest.mark.parametrize("seed", range(150))
def test_a_clean_stretch_is_what_the_general_text_says_of_it(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums, and what logs are taken of, to rounding; everything else exactly."""
    case = clean_case(np.random.default_rng(seed), monkeypatch)
    asked = case.plan
    several = asked.vocab if asked.stretches > 1 else 1
    for number, stretches in {(0, 1), (asked.stretches - several, several)}:
        answers = zip(case.at_once(number, stretches), case.in_general(number, stretches), strict=True)
        for mine, theirs in answers:
            for name, x, y in zip(mine._fields, mine, theirs, strict=True):
                if name in EXACT:
                    np.testing.assert_array_equal(x, y, err_msg=name)
                elif name != "ends":
                    np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-15, err_msg=name)
                assert getattr(x, "dtype", None) == getattr(y, "dtype", None), name
            if isinstance(mine, Totals):
                np.testing.assert_array_equal(mine.counted[:, 0], theirs.counted[:, 0])


def a_zero(case: Case, rows: list[np.ndarray]) -> None:
    """One token that no model allows."""
    for row in rows:
        row[-1] = 0.0 if case.scale == "probs" else -np.inf


def a_tiny_probability(case: Case, rows: list[np.ndarray]) -> None:
    """A probability that float64 holds, or a log; in all models."""
    for row in rows:
        row[-1] = 1e-300 if case.scale == "probs" else -301.0  # 0 in float32


def a_large_log(case: Case, rows: list[np.ndarray]) -> None:
    """All other tokens are as improbable."""
    for row in rows:
        row[-1] = row[-1] * 1e-300 if case.scale == "probs" else 301.0


def an_extreme_expert(case: Case, rows: list[np.ndarray]) -> None:
    """The same, of one expert alone."""
    a_tiny_probability(case, rows[-1:])


def a_last_bit(case: Case, rows: list[np.ndarray]) -> None:
    """A difference that is there, but is not told from rounding."""
    rows[-1][0] = np.nextafter(rows[-1][0], rows[-1].dtype.type(-1000 if case.scale != "probs" else 0))


def a_shift(case: Case, rows: list[np.ndarray]) -> None:
    """Other numbers that may be the same law."""
    rows[-1][:] = rows[-1] / 2 if case.scale == "probs" else rows[-1] - 1


def two_experts(case: Case, rows: list[np.ndarray]) -> None:
    """Each far enough from the background."""
    far = 5.0 + 2 * float(case.question.threshold) * 2
    for row in rows[1:3]:
        row[0] = row[0] * np.exp(-far) if case.scale == "probs" else row[0] - far


def not_beyond_the_threshold(case: Case, rows: list[np.ndarray]) -> None:
    """It differs, but does not deviate."""
    close = float(case.question.threshold) / 4
    rows[-1][0] = rows[-1][0] * np.exp(-close) if case.scale == "probs" else rows[-1][0] - close


def an_extreme_ratio(case: Case, rows: list[np.ndarray]) -> None:
    """Its numbers are none too small, but it is too large for a number."""
    for row, token in ((rows[0], 0), *((row, 1) for row in rows[1:])):
        row[:2] = 0.5
        row[token] = 1e-280


Defect = Callable[[Case, list[np.ndarray]], None]
DEFECTS: dict[Defect, Callable[[Case], bool]] = {
    a_zero: lambda case: True,
    a_tiny_probability: lambda case: True,
    a_large_log: lambda case: True,
    an_extreme_expert: lambda case: True,
    a_last_bit: lambda case: case.values[0][0].dtype == np.float64,
    a_shift: lambda case: True,
    two_experts: lambda case: len(case.values) > 2,
    an_extreme_ratio: lambda case: case.scale == "probs" and case.values[0][0].dtype == np.float64,
    not_beyond_the_threshold: lambda case: case.question.threshold > 0,
}
"""What makes a stretch unfit, and of which cases."""


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.__name__)
def test_one_defect_at_one_prefix_makes_its_stretch_unfit_and_no_other(
    defect: Defect, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Zeros, tiny numbers, two experts, and what rounding leaves open are never answered."""
    rng = np.random.default_rng([seed, *defect.__name__.encode()])
    case = next(case for case in iter(lambda: clean_case(rng, monkeypatch), None) if DEFECTS[defect](case))
    asked = case.plan
    n = int(rng.integers(asked.tail))
    index = int(rng.integers(asked.vocab ** (asked.above + n)))
    rows = [steps[asked.above + n][index] for steps in case.values]
    for row in rows:
        row[:] = rows[0]
    number = index // asked.vocab**n // asked.stretch
    case.at_once(number)
    defect(case, rows)
    with pytest.raises(clean.UnfitError):
        case.at_once(number)
    if asked.stretches > 1:
        case.at_once((number + 1) % asked.stretches)


def test_a_stretch_with_an_unreachable_head_is_unfit(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is below it is out of scope, or not visited by the composition."""
    case = clean_case(np.random.default_rng(1), monkeypatch)
    case.at_once(0)
    case.heads.carried.reachable[case.plan.heads(0)][-1] = False
    with pytest.raises(clean.UnfitError):
        case.at_once(0)
