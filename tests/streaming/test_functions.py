"""Functions asked for their rows as the survey goes give the report that their tables give."""

import numpy as np
import pytest

import factorcomp.verification.story as story
from factorcomp import FunctionModel, InputError, TabularModel, verify
from factorcomp.models import memory
from factorcomp.streaming import plan as plans

VOCABULARY = ("a", "b", "c")


def walker(seed: int, after: int | None, eos: str | None = None) -> FunctionModel:
    """Rows by the sum of the tokens modulo 5; other rows after the token `after`."""
    tables = np.random.default_rng(0).random((5, 3)) + 0.1, np.random.default_rng(seed).random((5, 3)) + 0.1

    def log_probs(prefixes):
        tokens = np.asarray(prefixes)
        state = tokens.sum(axis=1, dtype=np.int64) % 5
        rows = tables[0][state]
        if after is not None and tokens.shape[1]:
            rows = np.where((tokens[:, -1] == after)[:, None], tables[1][state], rows)
        return np.log(rows / rows.sum(axis=1, keepdims=True))

    return FunctionModel(log_probs, VOCABULARY, eos)


@pytest.fixture
def streamed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing fits into memory, and every seam is crossed."""
    monkeypatch.setattr(story, "NUMBERS_TO_STREAM", 0)
    monkeypatch.setattr(memory, "available", lambda: 1)
    monkeypatch.setattr(plans, "LEAVES", 9)
    monkeypatch.setattr(plans, "NUMBERS", 30)


@pytest.mark.parametrize("eos", [None, "c"])
def test_the_report_is_that_of_the_tables(eos: str | None, monkeypatch: pytest.MonkeyPatch):
    base, experts = walker(1, None, eos), {"x": walker(2, 0, eos), "y": walker(3, 1, eos)}
    expected = verify(base, experts, length=6)
    for name, value in (("LEAVES", 9), ("NUMBERS", 30)):
        monkeypatch.setattr(plans, name, value)
    monkeypatch.setattr(story, "NUMBERS_TO_STREAM", 0)
    monkeypatch.setattr(memory, "available", lambda: 1)
    found = verify(base, experts, length=6)
    assert found.robust is not None
    assert found.robust.skipped, "a table was made after all"
    for mine, theirs in zip(found.claims, expected.claims, strict=True):
        assert (mine.claim, mine.verdict) == (theirs.claim, theirs.verdict)
        assert mine.residual == pytest.approx(theirs.residual, rel=1e-9, abs=1e-12)
    assert found.steps.keys() == expected.steps.keys()
    for name in found.steps:
        assert [step.prefix for step in found.steps[name]] == [step.prefix for step in expected.steps[name]]


@pytest.mark.usefixtures("streamed")
def test_claims_about_all_rows_stay_undecided():
    report = verify(walker(1, None), {"x": walker(2, 0)}, length=5, masks={"x": (1,)})
    assert report["factorized_conditionals"].verdict == "UNDECIDED"
    assert "too many to be kept" in report["factorized_conditionals"].why
    assert report["mask_agreement"].verdict == "REFUTED"


@pytest.mark.usefixtures("streamed")
def test_a_table_of_logs_beside_a_function():
    base, own = walker(1, None), walker(2, 0)
    report = verify(base, {"x": tabulated(own, 5)}, length=5)
    assert report.verdict == verify(base, {"x": own}, length=5).verdict == "HOLDS"


def tabulated(model: FunctionModel, length: int) -> TabularModel:
    """Its table, though nothing fits into memory."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "available", lambda: None)
        return model.tabulate(length)


@pytest.mark.usefixtures("streamed")
def test_a_function_that_fails_names_the_prefix():
    def log_probs(prefixes):
        if np.asarray(prefixes).shape[1] == 4:
            raise ValueError("no such prefix")
        return np.log(np.full((len(prefixes), 3), 1 / 3))

    with pytest.raises(InputError, match=r"after 'a' 'a' 'a' 'a': the function raised ValueError: no such prefix"):
        verify(FunctionModel(log_probs, VOCABULARY), {"x": walker(2, 0)}, length=6)


@pytest.mark.usefixtures("streamed")
def test_tables_too_large_to_wait_for_are_refused():
    with pytest.raises(InputError, match="of memory"):
        verify(walker(1, None), {"x": walker(2, 0)}, length=40)
