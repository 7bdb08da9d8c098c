"""The parts of skill_segments that measure networks, against independent truths on small ones; and the smoke run."""

import doctest
import json
import math
from fractions import Fraction
from itertools import product

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from factorcomp import compose
from toy_tasks.composing import Composition
from toy_tasks.networks import Architecture, Transformer
from toy_tasks.skill_segments import measured, proofs, stopping
from toy_tasks.skill_segments.__main__ import app
from toy_tasks.skill_segments.configuration import SMOKE
from toy_tasks.skill_segments.grammar import SKILLS, Grammar, ideal
from toy_tasks.skill_segments.measured import Sample
from toy_tasks.skill_segments.reading import read
from toy_tasks.skill_segments.task import Segments
from toy_tasks.skill_segments.texts import draw, log_rows, spelled, states_along
from toy_tasks.training import train_family

TASK = Segments(Grammar("plain", digits=2, longest=1))
SHAPE = Architecture(len(TASK.vocabulary), "rotary", width=8, heads=2, layers=1)


@pytest.fixture(scope="module")
def networks() -> list[Transformer]:
    made = eqx.filter_jit(lambda key: Transformer(SHAPE, key=key))
    return [made(jax.random.key(n)) for n in range(3)]


@eqx.filter_jit
def logs(network: Transformer, text: jax.Array) -> jax.Array:
    return jax.nn.log_softmax(network(jnp.array([TASK.eos]), text)[-1])


def row(network: Transformer, tokens: list[str]) -> np.ndarray:
    """`log p(.|tokens)`, one prefix at a time."""
    text = jnp.array([TASK.vocabulary.index(token) for token in tokens], dtype=int)
    return np.float64(logs(network, text))


def as_sample(texts: list[str], task: Segments = TASK) -> Sample:
    length = max(map(len, texts))
    numbers = [[task.vocabulary.index(token) for token in text.ljust(length, "E")] for text in texts]
    return Sample(np.array(numbers), [read([*text], task.grammar) for text in texts])


@pytest.mark.parametrize("module", [measured, proofs, stopping])
def test_the_documentation(module):
    assert doctest.testmod(module).failed == 0


def test_texts_for_training_are_those_of_the_ideal_models():
    """An expert's texts keep the format and are right; the first token has the probabilities of the start."""
    drawing = jax.jit(lambda skill: TASK.texts(skill, 2000, 1, 16, key=jax.random.key(1)))
    for skill in (None, *SKILLS):
        texts = drawing(TASK.skill(() if skill is None else (skill,)))
        drawn = np.asarray(texts.answers)
        readings = [read(text, TASK.grammar) for text in spelled(drawn, TASK.vocabulary)]
        assert all(reading.broken is None for reading in readings)
        right = [s.right for reading in readings for s in reading.segments if s.kind == skill]
        assert all(right)
        start = TASK.grammar.row(TASK.grammar.start)
        for token, share in start.items():
            found = float((drawn[:, 0] == TASK.vocabulary.index(token)).mean())
            assert abs(found - float(share)) < 5 * math.sqrt(0.25 / 2000)
        going_on = np.cumsum(drawn == TASK.eos, axis=1) - (drawn == TASK.eos) == 0
        assert (np.asarray(texts.counted) == going_on).all()


def test_divergence_is_the_sum_over_every_prefix(networks, monkeypatch):
    """KL(P || P_net) = sum_h P(h) KL(p(.|h) || p_net(.|h)) over |h| < T, one prefix at a time."""
    monkeypatch.setattr(measured, "EXACT", 3)
    found = measured.divergences(Composition.of(networks), TASK, count=8, length=4, seed=0)

    def expected(skill: str | None, network: Transformer, tokens: list[str], mass: float) -> float:
        if len(tokens) == 3 or "E" in tokens:
            return 0.0
        model = TASK.models[skill or "background"]
        state = model.path([TASK.vocabulary.index(token) for token in tokens])[-1]
        ideal = [float(share) for share in model.rows.exact(state).factors]
        found = row(network, tokens)
        here = sum(p * (math.log(p) - found[y]) for y, p in enumerate(ideal) if p)
        following = zip(TASK.vocabulary, ideal, strict=True)
        return mass * here + sum(expected(skill, network, [*tokens, y], mass * p) for y, p in following if p)

    for skill, network in zip((None, *SKILLS), networks, strict=True):
        truth = expected(skill, network, [], 1.0)
        assert found[skill or "background"]["exact"] == pytest.approx(truth, rel=1e-4)
    assert found["composition"]["exact"] > 0


def test_an_ideal_model_diverges_from_itself_by_nothing():
    logs = log_rows(TASK.models["round"])
    assert measured.row_divergence(logs, logs) == pytest.approx(0, abs=1e-15)
    assert measured.row_divergence(logs, log_rows(TASK.models["background"])).max() == pytest.approx(math.log(2))


def test_success_counts_segments():
    """Right: closed and as the skill says. What the format breaks is wrong; what is cut is not counted."""
    sample = as_sample(["(11)[0|0]E", "(10)E", "(1]", "[0|0", "[0|1]"])
    found = measured.success(sample, TASK.eos)
    assert found["round"] == {"segments": 3, "right": 1}
    assert found["square"] == {"segments": 2, "right": 1}
    assert (found["broken"], found["texts"]) == (1, 5)
    feeding = Segments(Grammar("feeding", digits=2, longest=1))
    fed = as_sample(["(11)[1]E", "(10)[0]E", "(11)E"], feeding)
    assert measured.entries_that_are_right(fed) == {"entries": 2, "right": 1}


@pytest.mark.parametrize("variant", ["plain", "nested"])
def test_ideal_rows_stop_when_the_task_does(variant):
    """On nearly ideal models (of finite ratios) every measure infers the task's own times at every threshold.

    But for 1/2 in total variation: where an answer ends the background is no farther from the expert.
    """
    task = Segments(Grammar(variant))
    rarely = Fraction(1, 10**6)
    background, experts = task.models["background"], {s: ideal(task.grammar, s, lambda _: rarely) for s in SKILLS}
    together = compose(background, experts)
    texts = draw(together, 200, 30, np.random.default_rng(0))
    sample = Sample(texts, [read(text, task.grammar) for text in spelled(texts, task.vocabulary)])
    models = (background, *experts.values())
    logs = np.stack([log_rows(model)[states_along(model, texts)[:, :-1]] for model in models])
    found = stopping.stopping_times(sample, logs, task.eos)
    assert found["texts"] == 200
    meet = 0
    for measure in stopping.THRESHOLDS:
        for at in found[measure]["curve"][: -1 if measure == "total_variation" else None]:
            assert at["overlap"] == 0
            meet = max(meet, at["both_active"])
            for skill in SKILLS:
                assert at[skill]["entry"] == at[skill]["exit"] == at[skill]["both"] == at[skill]["texts"] > 20
                assert at[skill]["false_alarms"] == 0
        assert found[measure]["round"]["elsewhere"] == [0.0, 0.0]
    assert (meet > 0) == (variant == "nested")


def test_a_text_without_its_deviation_is_no_agreement():
    """The negative control: an expert that never deviates agrees on no text that has a segment."""
    sample = as_sample(["(11)E", "[0|0]E"])
    logs = np.log(np.full((3, 2, sample.texts.shape[1], SHAPE.vocab), 1 / SHAPE.vocab))
    found = stopping.stopping_times(sample, logs, TASK.eos)
    for skill in SKILLS:
        assert [at[skill]["both"] for at in found["restricted"]["curve"]] == [0] * 8
        assert found["restricted"]["curve"][0][skill]["texts"] == 1


def test_tables_are_the_networks_after_the_prompt(networks):
    """Every row of a table is the network's after prompt and prefix."""
    prompt = [*"(11"]
    background, experts = proofs.tables(networks, TASK, prompt, 2)
    for model, network in zip((background, *experts.values()), networks, strict=True):
        for token in ("", "0", ")"):
            place = TASK.vocabulary.index(token) if token else 0
            found = model.steps[len(token)].log_probs(place, place + 1)[0]
            assert found == pytest.approx(row(network, [*prompt, *token]), abs=1e-5)


def test_within_the_format_only_plausible_tokens_are_left(networks):
    """p(y) / sum of p over the tokens with p_b >= cutoff, by hand; and the TV of the two laws, sequence by sequence."""
    background, experts = proofs.tables(networks, TASK, (), 2)
    cutoff = 0.1
    inside, _ = proofs.within_format(background, experts, cutoff)
    laws = []
    for model in (background, inside):
        rows = [np.exp(step.log_probs(0, step.shape[0])) for step in model.steps]
        size = SHAPE.vocab
        laws.append({(y, z): rows[0][0][y] * rows[1][y][z] for y, z in product(range(size), repeat=2)})
    first = np.exp(row(networks[0], []))
    kept = np.where(first >= cutoff, first, 0.0)
    assert 0 < (kept > 0).sum() < SHAPE.vocab
    found = np.exp(inside.steps[0].log_probs(0, 1)[0])
    assert found == pytest.approx(kept / kept.sum(), abs=1e-6)
    tv = sum(abs(laws[0][key] - laws[1][key]) for key in laws[0]) / 2
    assert proofs.apart(background, inside) == pytest.approx(tv)


def test_a_network_beside_itself_is_no_expert(networks):
    """Experts that are the background deviate nowhere: everything holds at every threshold, 0 included."""
    found = proofs.exhaustive([networks[0]] * 3, TASK, (), 3)
    for models in ("as_they_are", "within_the_format"):
        for at in found[models]["curve"]:
            assert (at["pointwise_joint"], at["interval_joint"], at["overlap"]) == ("HOLDS", "HOLDS", 0.0)


def test_one_command_with_the_same_seed_gives_the_same_numbers(tmp_path, capsys):
    app(["--smoke", "--seed", "3", "--output", str(tmp_path)], result_action="return_value")
    printed = capsys.readouterr().out
    assert "Ideal models, every length" in printed
    data = json.loads((tmp_path / "skill_segments_smoke.json").read_text())
    assert data["seed"] == 3
    assert data["ideal"]["nested"]["witness"] == "( 0 0 [ 0 |"
    task, losses = Segments(Grammar("plain")), data["trained"]["plain"]["losses"]
    again, other = (
        train_family(task, SMOKE.shape(task.grammar), SMOKE.training, SKILLS, seed=seed).trained() for seed in (3, 4)
    )
    assert losses["round"] == pytest.approx(again["round"].losses, rel=1e-5)
    assert again["round"].losses != other["round"].losses


def test_smoke_and_full_exclude_each_other(tmp_path):
    with pytest.raises(SystemExit, match="got both"):
        app(["--smoke", "--full", "--output", str(tmp_path)], result_action="return_value")
    assert not [*tmp_path.iterdir()]
