"""verify() answers alike whether the streaming engine has looked at the tables or the level-wise one."""

import json
from dataclasses import replace
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest

import factorcomp
from factorcomp import TabularModel, verify
from factorcomp.certificates.claims import Verdict
from factorcomp.models.rows import FloatRows
from factorcomp.verdicts import Report, prefixes_of
from factorcomp.verification import story
from tests import golden
from tests.streaming.eager import without_compiling
from tests.streaming.tables import Recipe, random_tables
from tests.strategies import Instance


@pytest.fixture
def streamed(monkeypatch: pytest.MonkeyPatch) -> mock.Mock:
    """All tables that can be streamed are; the calls of the streaming engine."""
    without_compiling(monkeypatch)
    called = mock.Mock(side_effect=story.survey)
    monkeypatch.setattr(story, "NUMBERS_TO_STREAM", 0)
    monkeypatch.setattr(story, "survey", called)
    return called


def by_level(*models, **options) -> Report:
    with mock.patch.object(story, "NUMBERS_TO_STREAM", 1 << 24):
        return verify(*models, bounds=False, **options)


def assert_alike(found: Report, expected: Report) -> None:
    """Verdicts, witnesses, residuals, measures, steps; a claim that is left open had a kernel's answer."""
    opened = {c.name for c in found.findings.claims if c.verdict is Verdict.UNDECIDED}
    opened -= {c.name for c in expected.findings.claims if c.verdict is Verdict.UNDECIDED}
    assert all(expected.findings[name].method == "rational" for name in opened)
    streamed, kept = (replace(r.findings, deviating={}, active={}, unsettled=frozenset()) for r in (found, expected))
    lines = [line for line in golden.differences(streamed, kept) if not any(f"[{name}]" in line for name in opened)]
    assert [line for line in lines if not any(f"[{c}]" in line for c in _by_kernel(expected))] == []
    for name in found.steps.keys() - opened - _by_kernel(expected):
        assert [step.prefix for step in found.steps[name]] == [step.prefix for step in expected.steps[name]]
    for prefix, marks in found.marks.items():
        assert marks == _marks(expected, prefix), prefix


def _by_kernel(report: Report) -> set[str]:
    return {c.name for c in report.findings.claims if c.method == "rational"}


def _marks(report: Report, prefix: tuple[str, ...]):
    """Who deviates and who is active at a prefix, from the spans that the level-wise engine keeps."""
    index = 0
    for token in prefix:
        index = index * len(report.vocabulary) + report.vocabulary.index(token)

    def among(spans) -> tuple[str, ...]:
        return tuple(n for n, by in spans.items() if any(a <= index < b for a, b in by[len(prefix)]))

    return replace(next(iter(report.marks.values()), story.Marks((), ())), **{
        "deviating": among(report.findings.deviating), "active": among(report.findings.active),
    })  # fmt: skip


def in_floats(model: TabularModel) -> TabularModel | None:
    """A rational table in floats, if they are the same numbers."""
    steps = []
    for rows in model.steps:
        exact = [rows.exact(n).factors for n in range(rows.shape[0])]
        floats = [[float(p) for p in row] for row in exact]
        if any(Fraction(x) != p for row, ps in zip(floats, exact, strict=True) for x, p in zip(row, ps, strict=True)):
            return None
        steps.append(FloatRows(np.array(floats), "probs"))
    return replace(model, steps=tuple(steps))


def options_of(tables) -> dict:
    question = tables.question
    names = ("masks", "threshold", "scope", "null_tokens", "weights")
    return {name: getattr(question, name) for name in names}


@pytest.mark.parametrize("part", range(4))
def test_random_tables(part: int, streamed: mock.Mock):
    for seed in range(1000 + 10 * part, 1010 + 10 * part):
        tables = random_tables(seed)
        options = options_of(tables)
        found = verify(tables.background, tables.experts, **options)
        assert_alike(found, by_level(tables.background, tables.experts, **options))
        json.loads(found.to_json_text() if hasattr(found, "to_json_text") else json.dumps(found.to_json()))
        assert str(found)
    assert streamed.call_count == 10


def golden_in_floats() -> dict[str, Instance]:
    return {}
