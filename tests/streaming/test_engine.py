"""The streaming engine says what the level-wise one says, and what the definitions say, wherever the tree is cut."""

import math
import random
import tempfile
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from factorcomp.certificates.claims import Findings, Question, Spans
from factorcomp.enumeration.tree import spans
from factorcomp.factorization.decision import decide_from
from factorcomp.models.rows import FloatRows
from factorcomp.models.tabular import TabularModel
from factorcomp.streaming import plan as plans
from factorcomp.streaming import suits, survey
from factorcomp.surveys import Survey
from tests.strategies import STRUCTURES, Instance, random_instance
from tests.streaming.tables import Recipe, Tables, differences, random_tables, shifted
from tests.subjects import by_definition
from tests.test_engines_agree import disagreements

CUTS = [(1, 1), (2, 1), (2, 8), (4, 16), (4, 10**4), (9, 1), (9, 64), (10**3, 10**4)]
"""Leaves below a head, and numbers of a stretch: every seam falls everywhere, or there is none."""


def cut(monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    """Trees are cut in the `n`-th way."""
    cut_into(monkeypatch, *CUTS[n % len(CUTS)])


def cut_into(monkeypatch: pytest.MonkeyPatch, leaves: int, numbers: int) -> None:
    """Trees are cut into heads with so many leaves, and so many numbers a call."""
    monkeypatch.setattr(plans, "LEAVES", leaves)
    monkeypatch.setattr(plans, "NUMBERS", numbers)


def test_the_tree_is_cut():
    """The cuts of these tests cut: heads below the root, several of them in a stretch, and several stretches."""
    with pytest.MonkeyPatch.context() as patched:
        found = []
        for n in range(len(CUTS)):
            cut(patched, n)
            made = plans.plan(Question(5), ["up"], 2, None, "probs")
            assert made.above + made.tail == 5
            assert made.stretch * made.stretches == 2**made.above
            found.append((made.above > 0, made.stretch > 1, made.stretches > 1))
    assert {(True, True, True), (True, False, True), (True, True, False), (False, False, False)} <= {*found}


@pytest.mark.parametrize("part", range(8))
def test_streaming_agrees_with_levels(part: int, monkeypatch: pytest.MonkeyPatch):
    """All fields of a survey, for tables of every kind and questions with every option."""
    defined = 0
    for seed in range(20 * part, 20 * (part + 1)):
        cut(monkeypatch, seed)
        tables = random_tables(seed)
        expected = tables.by_level()
        found = survey(tables.background, tables.experts, tables.question)
        assert differences(found, expected, tables.question) == [], (seed, tables.question)
        defined += expected.undefined.first is None
    assert defined >= 6


def with_proportions(instance: Instance, name: str, rng: random.Random) -> TabularModel:
    """A model of an instance in floats that say exactly the same: integers in the proportions of each row.

    Some rows are doubled, so that equal distributions have different numbers.
    """
    steps = []
    for step in instance.model(name):
        rows = []
        for row in step:
            common = math.lcm(*(cell.denominator for cell in row)) * rng.choice([1, 1, 1, 2])
            rows.append([float(cell * common) for cell in row])
        steps.append(FloatRows(np.array(rows), "probs"))
    return TabularModel(instance.vocabulary, tuple(steps), instance.eos)


def by_streaming(instance: Instance) -> Findings | None:
    """The findings of the streaming engine, with the sets of prefixes that only `who` can tell of; `None`: no tables
    for it."""
    rng = random.Random(0)
    background = with_proportions(instance, "background", rng)
    experts = {name: with_proportions(instance, name, rng) for name in instance.experts}
    if not instance.question.horizon or not suits((background, *experts.values()), instance.question):
        return None
    seen = survey(background, experts, instance.question)
    if seen.who is not None:
        seen = replace(seen, deviating=_spans(seen, instance, 0), active=_spans(seen, instance, 1))
    return decide_from(seen, background, experts, instance.question)


def _spans(seen: Survey, instance: Instance, which: int) -> tuple[tuple[Spans, ...], ...]:
    """By expert and length, the prefixes at which it deviates (0) or is active (1)."""
    assert seen.who is not None
    levels = []
    for length in range(instance.question.horizon):
        who = [seen.who(length, index)[which] for index in range(len(instance.vocabulary) ** length)]
        levels.append([[i in experts for experts in who] for i in range(len(instance.experts))])
    return tuple(tuple(spans(np.array(level[i])) for level in levels) for i in range(len(instance.experts)))


@pytest.mark.parametrize("structure", STRUCTURES)
def test_streaming_agrees_with_the_definitions(structure: str, monkeypatch: pytest.MonkeyPatch):
    """Verdicts, witnesses, measures, sets of prefixes: by brute force in fractions, of the very same models."""
    rng, compared = random.Random(structure), 0
    for n in range(8):
        cut(monkeypatch, n)
        instance = random_instance(rng, structures=[structure], cap=64)
        if (found := by_streaming(instance)) is not None:
            assert disagreements(found, by_definition(instance)) == [], instance
            compared += 1
    assert compared >= 5


def test_a_difference_is_seen():
    """The comparison can fail: the same tables under another question."""
    tables = Tables(*Recipe(2, 4, 2, zeros=False).models(np.random.default_rng(0)), Question(4))
    seen = tables.by_level()
    other = replace(tables, question=replace(tables.question, threshold=Fraction(1, 2)))
    assert differences(seen, seen, tables.question) == []
    assert differences(other.by_level(), seen, tables.question)


def read_only(values: np.ndarray) -> np.ndarray:
    copy = shifted(values, 3)
    copy.flags.writeable = False
    return copy


def mapped(values: np.ndarray) -> np.ndarray:
    """On disk, behind a header of 8 bytes."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"8 bytes." + values.tobytes())
        file.flush()
        return np.memmap(file.name, values.dtype, "r", offset=8, shape=values.shape)


LAYOUTS = {
    "at a multiple of 64 bytes": lambda values: shifted(values, 0),
    "one number later": lambda values: shifted(values, 1),
    "one number before": lambda values: shifted(values, 64 // values.itemsize - 1),
    "token by token": np.asfortranarray,
    "every other number": lambda values: np.repeat(values, 2, axis=1)[:, ::2],
    "read-only": read_only,
    "on disk": mapped,
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_numbers_may_lie_anywhere(layout: str, monkeypatch: pytest.MonkeyPatch):
    """Off the beat of the processor, token by token, with gaps between them, read-only, or in a file."""
    for n, scale in enumerate(["probs", "logits"]):
        cut(monkeypatch, n + 2)
        recipe = Recipe(2, 6, 2, scale, dtype=[np.float64, np.float32][n])
        tables = Tables(*recipe.models(np.random.default_rng(n)), Question(6, null_tokens="drop"))
        elsewhere = tables.laid_out(LAYOUTS[layout])
        found = survey(elsewhere.background, elsewhere.experts, elsewhere.question)
        assert found.undefined.first is None
        assert differences(found, tables.by_level(), tables.question) == []


def test_a_single_token():
    """The tree is a path, as long as it is asked for."""
    model = TabularModel.from_probabilities([np.ones((1, 1))] * 40, ["a"])
    for length in (1, 2, 40):
        assert survey(model, {"x": model}, Question(length)).prefixes == length


def test_an_oscillation_beyond_the_quotients_of_float64():
    """`log 10^285 / 10^-285` is finite, though the quotient is not."""
    small = 1e-285
    base = TabularModel.from_probabilities([np.array([[small, 1.0, 0.0]])], ["a", "b", "c"])
    own = TabularModel.from_probabilities([np.array([[1.0, small, 0.0]])], ["a", "b", "c"])
    found = survey(base, {"x": own, "y": base}, Question(1))
    assert found.experts[0].max_oscillation == pytest.approx(2 * 285 * math.log(10))
