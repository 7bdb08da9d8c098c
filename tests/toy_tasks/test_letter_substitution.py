"""The task of letters, and a run of a few seconds from end to end."""

import doctest
import json
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from toy_tasks import results, task, training
from toy_tasks.composing import Composition, failures
from toy_tasks.letter_substitution import configuration, letters, success
from toy_tasks.letter_substitution.__main__ import run
from toy_tasks.letter_substitution.configuration import SMOKE
from toy_tasks.letter_substitution.letters import EIGHT, Letters
from toy_tasks.task import held_out, held_out_prompts
from toy_tasks.training import named_key, stretched, train_family


@pytest.mark.parametrize("module", [configuration, letters, results, success, task, training])
def test_the_documentation(module):
    assert doctest.testmod(module).failed == 0


def test_answers_are_letter_by_letter():
    found = Letters()
    prompts = found.prompts(200, 1, 6, key=jax.random.key(0))
    for names in ((), EIGHT[:1], EIGHT):
        table = dict(name.split("->") for name in names)
        answers = found.answers(found.skill(names), prompts)
        for prompt, answer in zip(prompts, answers, strict=True):
            assert found.spell(answer) == "".join(table.get(letter, letter) for letter in found.spell(prompt))
            assert len(found.spell(answer)) >= 1


def test_held_out_prompts_are_not_trained_on_and_all_others_are():
    """One prompt in eight is held out, of which no token counts; of the others all up to and with EOS do."""
    found = Letters()
    texts = found.texts(found.skill(()), 4000, 1, 8, key=jax.random.key(1))
    kept = np.asarray(held_out(texts.prompts, found.eos))
    assert abs(kept.mean() - 1 / 8) < 0.02
    lengths = np.asarray(texts.prompts != found.eos).sum(axis=1)
    assert (np.asarray(texts.counted).sum(axis=1) == np.where(kept, 0, lengths + 1)).all()
    prompts = held_out_prompts(found, 300, 1, 8, key=jax.random.key(2))
    assert len(np.unique(prompts, axis=0)) == len(prompts) == 300
    assert held_out(jnp.asarray(prompts), found.eos).all()


def test_stretched_positions_grow():
    positions = np.asarray(stretched(50, 17, 8.0, key=jax.random.key(0)))
    assert (positions[:, 0] == 0).all()
    assert (np.diff(positions, axis=1) >= 1).all()
    assert (positions[:, -1] == 16).any()
    assert positions.max() > 100


def test_networks_are_the_same_whatever_else_is_trained_and_weights_come_back(tmp_path):
    """An expert by itself, or after another; trained, or read from the cache."""
    short = replace(SMOKE.training, steps=4, fine_steps=4, batch=2)  # one number of steps: compiled once
    alone = train_family(Letters(), SMOKE.shape, short, EIGHT[1:2], seed=3, cache=tmp_path)
    both = train_family(Letters(), SMOKE.shape, short, EIGHT[:2], seed=3)
    again = train_family(Letters(), SMOKE.shape, short, EIGHT[1:2], seed=3, cache=tmp_path)
    other = train_family(Letters(), SMOKE.shape, short, EIGHT[1:2], seed=4)
    prompt = jnp.array([1, 2, 16])
    rows = [family.experts["C->D"].network(prompt, prompt) for family in (alone, both, again, other)]
    assert (rows[0] == rows[1]).all()
    assert (rows[0] == rows[2]).all()
    assert not np.allclose(rows[0], rows[3])
    assert again.experts["C->D"].losses == alone.experts["C->D"].losses
    scratch = train_family(Letters(), SMOKE.shape, short, EIGHT[1:2], seed=3, way="scratch")
    assert not np.allclose(scratch.experts["C->D"].network(prompt, prompt), rows[0])


def test_weights_of_another_network_are_refused(tmp_path):
    small = training.Transformer(SMOKE.shape, key=jax.random.key(0))
    results.save_weights(small, tmp_path / "w.safetensors", {"losses": []})
    with pytest.raises(ValueError, match=r"weights of another network: .*found \(16,\), needed \(32,\)"):
        results.load_weights(
            training.Transformer(configuration.Configuration().shape, key=jax.random.key(0)), tmp_path / "w.safetensors"
        )


def test_an_untrained_network_fails():
    """The negative control of every number of success."""
    network = training.Transformer(SMOKE.shape, key=named_key(0))
    prompts = held_out_prompts(Letters(), 20, 3, 4, key=jax.random.key(0))
    failure, greedy = failures(Composition.of([network]), prompts, prompts, 16)
    assert failure.min() > 0.9
    assert not greedy.any()


def test_one_command_with_the_same_seed_gives_the_same_numbers(tmp_path):
    run(seed=1, smoke=True, output=tmp_path)
    numbers = json.loads((tmp_path / "letter_substitution_smoke.json").read_text())
    assert numbers["seed"] == 1
    assert numbers["success"]["tied"]["prompts"] == 64
    assert numbers["losses"]["background"][-1] < numbers["losses"]["background"][0]
    again, other = (train_family(Letters(), SMOKE.shape, SMOKE.training, SMOKE.names, seed=seed) for seed in (1, 2))
    assert numbers["losses"]["A->B"] == pytest.approx(again.experts["A->B"].losses, rel=1e-5)
    assert again.experts["A->B"].losses != other.experts["A->B"].losses
