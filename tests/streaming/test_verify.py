"""verify() answers alike whether the streaming engine has looked at the tables or the level-wise one."""

import json
import math
import re
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest

from factorcomp.certificates.claims import Tokens, Verdict
from factorcomp.cli import main
from factorcomp.formats import load, save
from factorcomp.models.rows import FloatRows
from factorcomp.models.tabular import TabularModel
from factorcomp.verdicts import Report, prefixes_of
from factorcomp.verification import story, verify
from tests import golden
from tests.streaming.tables import Recipe, random_tables
from tests.subjects import models

needs_golden = pytest.mark.skipif(not golden.names(), reason="../shared/golden is absent")


@pytest.fixture
def streamed(monkeypatch: pytest.MonkeyPatch) -> mock.Mock:
    """All tables that can be streamed are; counts the calls of the streaming engine."""
    calls = mock.Mock(side_effect=story.survey)
    monkeypatch.setattr(story, "NUMBERS_TO_STREAM", 0)
    monkeypatch.setattr(story, "survey", calls)
    return calls


def by_level(background: TabularModel, experts: dict, **options) -> Report:
    with mock.patch.object(story, "NUMBERS_TO_STREAM", 1 << 24):
        return verify(background, experts, **({"bounds": False} | options))


def assert_alike(found: Report, expected: Report) -> None:
    """Verdicts, witnesses, residuals, measures, steps, who deviates and is active on the way, and the printed report.

    What the level-wise engine's floats left open a kernel has answered: `rational`. The streaming engine leaves it.
    """
    settled = {c.name for c in expected.claims if c.method == "rational"}
    assert {c.name for c in found.claims if c.verdict is Verdict.UNDECIDED} <= settled | {
        c.name for c in expected.claims if c.verdict is Verdict.UNDECIDED
    }
    mine, theirs = (replace(r.findings, deviating={}, active={}, unsettled=frozenset()) for r in (found, expected))
    lines = golden.differences(mine, theirs)
    assert [line for line in lines if not any(f"[{name}]" in line for name in settled)] == []
    for claim in found.claims:
        for prefix in prefixes_of(claim.witness):
            for n in range(len(prefix) + 1):
                assert found.deviating(prefix[:n]) == expected.deviating(prefix[:n]), prefix[:n]
                assert found.active(prefix[:n]) == expected.active(prefix[:n]), prefix[:n]
    if not settled:
        assert {name: prefixes(found, name) for name in found.steps} == {
            name: prefixes(expected, name) for name in expected.steps
        }
        assert printed(found) == printed(expected)


def printed(report: Report) -> list[str]:
    """The words of the printed report, rounding errors as 0."""
    return re.sub(r"\b\d(\.\d)?e-1[4-9]\b", "0", str(report)).split()


def prefixes(report: Report, name: str) -> list[Tokens]:
    return [step.prefix for step in report.steps[name]]


def in_floats(model: TabularModel) -> TabularModel:
    """A rational table in floats that say exactly the same: integers in the proportions of each row."""
    steps = []
    for rows in model.steps:
        exact = [rows.exact(n).factors for n in range(rows.shape[0])]
        common = [math.lcm(*(p.denominator for p in row)) for row in exact]
        values = [[float(p * n) for p in row] for row, n in zip(exact, common, strict=True)]
        steps.append(FloatRows(np.array(values).reshape(rows.shape), "probs"))
    return replace(model, steps=tuple(steps))


@pytest.mark.parametrize("part", range(4))
def test_random_tables(part: int, streamed: mock.Mock):
    held, refuted = set(), set()
    for seed in range(1000 + 8 * part, 1008 + 8 * part):
        tables = random_tables(seed)
        question = tables.question
        options = {n: getattr(question, n) for n in ("masks", "threshold", "scope", "null_tokens", "weights")}
        found = verify(tables.background, tables.experts, bounds=False, **options)
        assert_alike(found, by_level(tables.background, tables.experts, **options))
        assert json.loads(found.to_json_text())["robust"] is None
        held |= {c.claim for c in found.claims if c.verdict is Verdict.HOLDS}
        refuted |= {c.claim for c in found.claims if c.verdict is Verdict.REFUTED}
    assert streamed.call_count == 8
    assert held
    assert refuted


@pytest.mark.parametrize("eos", [None, 0])
def test_masks(eos: int | None, streamed: mock.Mock):
    """Theorem 2.3: claims about masks, with both answers."""
    answers: dict[str, set[Verdict]] = {}
    for seed in range(6):
        recipe = Recipe(2, 4, 2, own=0.4, zeros=False, eos=eos)
        background, experts = recipe.models(np.random.default_rng(seed))
        masks = {"e0": (0, 2), "e1": (1, 3)}
        if seed % 2:  # experts that keep to their masks, of rows that are the same at all prefixes of a length
            steps = [FloatRows(rows.values[:1].repeat(len(rows.values), axis=0), "probs") for rows in background.steps]
            own = [FloatRows(rows.values[:, ::-1].copy(), "probs") for rows in steps]
            if eos is None:
                background = replace(background, steps=tuple(steps))
                experts = {
                    name: replace(background, steps=tuple((own if t in mask else steps)[t] for t in range(4)))
                    for name, mask in masks.items()
                }
        for asked in (masks, "auto"):
            found = verify(background, experts, bounds=False, masks=asked)
            assert_alike(found, by_level(background, experts, masks=asked))
            for claim in found.claims:
                answers.setdefault(claim.claim, set()).add(claim.verdict)
    if eos is None:
        for claim in ("mask_agreement", "factorized_conditionals", "projective"):
            assert answers[claim] >= {Verdict.HOLDS, Verdict.REFUTED}, claim


@pytest.mark.parametrize("name", golden.example_names())
def test_shipped_examples(name: str, streamed: mock.Mock):
    """In floats of the same proportions."""
    about, folder = golden.about_example(name), golden.EXAMPLES / name
    background = load(folder / "background.json")
    experts = {n: load(folder / f"{n}.json") for n in about["experts"]}
    options = golden.options_of_example(name) | {"bounds": False}
    if not all(isinstance(model, TabularModel) for model in (background, *experts.values())):
        assert_alike(verify(background, experts, **options), by_level(background, experts, **options))
        assert not streamed.called
        return
    background, experts = in_floats(background), {n: in_floats(model) for n, model in experts.items()}
    assert_alike(verify(background, experts, **options), by_level(background, experts, **options))
    assert streamed.called == all(model.gaps is None for model in (background, *experts.values()))


@needs_golden
@pytest.mark.parametrize("name", golden.names())
def test_golden_cases(name: str, streamed: mock.Mock):
    instance, _ = golden.load(name)
    background, experts = models(instance)
    background, experts = in_floats(background), {n: in_floats(model) for n, model in experts.items()}
    question = instance.question
    options = {"masks": question.masks, "null_tokens": question.null_tokens, "bounds": False}
    assert_alike(verify(background, experts, **options), by_level(background, experts, **options))
    assert streamed.called


def table(*steps, scale="probs", **fields) -> TabularModel:
    return TabularModel(("a", "b"), tuple(FloatRows(np.array(rows, dtype=float), scale) for rows in steps), **fields)


UNSUITED = {
    "fractions": TabularModel.from_probabilities([["1/2", "1/2"], [["1/2", "1/2"], ["1/3", "2/3"]]], ["a", "b"]),
    "logs beside probabilities": table([[0, 0]], [[0, 0], [1, 2]], scale="logits"),
    "gaps": table([[0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]], gaps=(np.array([False]), np.array([False, True]))),
}


@pytest.mark.parametrize("kind", UNSUITED)
def test_tables_of_other_kinds_are_not_streamed(kind: str, streamed: mock.Mock):
    background = table([[0.5, 0.5]], [[0.5, 0.5], [0.25, 0.75]])
    experts = {"one": UNSUITED[kind], "two": background}
    assert_alike(verify(background, experts, bounds=False), by_level(background, experts))
    assert not streamed.called


EXTREME = {
    "logits": (
        table([[0, -1e9]], [[0, -1e9], [-1e9, 0]], scale="logits"),
        table([[0, 0]], [[0, 1], [0, -1e9]], scale="logits"),
    ),
    "logs": (
        table([[0, -301]], [[0, 0], [0, 0]], scale="log_probs"),
        table([[0, 0]], [[0, 1], [0, 0]], scale="logits"),
    ),
    "tiny": (table([[1e-300, 1]], [[1, 1], [1, 1]]), table([[1, 1]], [[1, 1], [1e-300, 1]])),
    "deep down": (table([[1, 1]], [[1, 1], [1, 1e-291]]), table([[1, 1]], [[1, 1], [3, 1]])),
}


@pytest.mark.parametrize("kind", EXTREME)
def test_extreme_numbers_go_to_the_logs(kind: str, streamed: mock.Mock):
    """The streaming engine gives up, and the answer is as before."""
    background, expert = EXTREME[kind]
    experts = {"one": expert, "two": background}
    assert_alike(verify(background, experts, bounds=False), by_level(background, experts))
    assert streamed.called
    with pytest.raises(story.TooExtremeError):
        story.survey.side_effect(background, experts, story.Question(2))


def test_bounds_and_guarantees_say_that_they_were_left_out(streamed: mock.Mock):
    """Nothing keeps the rows, so that there is nothing to bound."""
    tables = random_tables(3)
    found = verify(tables.background, tables.experts, guarantees={"e0": "a*"})
    assert streamed.called
    assert found.robust is not None
    assert found.robust.skipped
    assert found.guarantees is not None
    assert found.guarantees.skipped
    assert str(found)


def test_the_command_line(
    streamed: mock.Mock, tmp_path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    """The same data with `--json`; a certificate, for which every prefix must be known, is refused and not begun."""
    monkeypatch.chdir(tmp_path)
    background, experts = Recipe(2, 4, 1).models(np.random.default_rng(0))
    save(background, "base.safetensors")
    save(experts["e0"], "e0.safetensors")
    words = ["verify", "base.safetensors", "e0=e0.safetensors", "--no-bounds", "--json", "-"]
    assert main(words) in (0, 1), capsys.readouterr().err
    found = json.loads(capsys.readouterr().out)
    assert streamed.call_count == 1
    monkeypatch.setattr(story, "NUMBERS_TO_STREAM", 1 << 24)
    main(words)
    expected = json.loads(capsys.readouterr().out)
    assert streamed.call_count == 1
    verdicts = [[(c["claim"], c["verdict"]) for c in data["claims"]] for data in (found, expected)]
    assert verdicts[0] == verdicts[1]
    assert {*found} == {*expected}
    monkeypatch.setattr(story, "NUMBERS_TO_STREAM", 0)
    status = main(["verify", "base.safetensors", "e0=e0.safetensors", "--certificate", "c.json"])
    assert status == 2
    assert "there are too many prefixes to be checked" in capsys.readouterr().err
    assert not (tmp_path / "c.json").exists()
