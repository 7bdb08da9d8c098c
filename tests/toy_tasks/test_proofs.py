"""What is proved of the letters: the models against brute force, the verdicts on ideal ones, certificates."""

import doctest
import itertools
import json
from fractions import Fraction

import jax
import numpy as np
import pytest

import factorcomp
from toy_tasks.composing import Composition, composed, logits_after
from toy_tasks.letter_substitution import exhaustive, interleaved, length, proofs
from toy_tasks.letter_substitution.exhaustive import divergence, of_ideal, of_network, table
from toy_tasks.letter_substitution.interleaved import depends_on_two_tokens, ideal_row, network_row
from toy_tasks.letter_substitution.letters import Letters
from toy_tasks.letter_substitution.proofs import certified, ideals, oscillations, proved, verified
from toy_tasks.networks import Architecture, Transformer
from toy_tasks.training import Family, Trained

TASK = Letters(("A", "B", "C", "EOS"))
NAMES = ("A->B", "C->A")


def family(positions):
    networks = [Transformer(Architecture(4, positions, width=8), key=jax.random.key(n)) for n in range(3)]
    base, *own = [Trained(network, [], 0.0) for network in networks]
    return Family(base, dict(zip(NAMES, own, strict=True)))


@pytest.mark.parametrize("module", [exhaustive, interleaved, length, proofs])
def test_the_documentation(module):
    assert doctest.testmod(module).failed == 0


def test_the_ideal_model_of_the_interleaved_text_is_its_law():
    """`P(x_1 y_1 … ) = prod_t u(x_t) q(y_t | x_t)`, literally, for every text of four tokens."""
    noise, table_of = Fraction(1, 5), {"A": "B", "B": "B", "C": "C", "EOS": "EOS"}
    model = interleaved.interleaved(TASK, ideal_row(TASK, ("A->B",), noise), "ideal")
    total = Fraction(0)
    for text in itertools.product(range(len(model.vocabulary)), repeat=4):
        words = [model.vocabulary[token] for token in text]
        expected, ended, over = Fraction(1), False, False
        for place, word in enumerate(words):
            if over:
                expected *= word == "EOS"
            elif place % 2 == 0:
                expected *= (word == "end") if ended else Fraction(int(word in ("a", "b", "c", "end")), 4)
                ended |= word == "end"
            else:
                right = table_of["EOS" if words[place - 1] == "end" else words[place - 1].upper()]
                possible = word in TASK.vocabulary
                expected *= (1 - noise if word == right else noise / 3) if possible else 0
                over = word == "EOS"
        found = Fraction(1)
        for token, state in zip(text, model.path(text), strict=False):
            found *= model.rows.exact(state).factors[token]
            if not found:
                break
        assert found == expected
        total += expected
    assert total == 1


def test_a_network_with_a_window_is_its_finite_state_model():
    network = family("window").background.network
    prompts = np.array([[0, 2, 1, 3], [2, 2, 0, 3], [1, 3, 3, 3]])
    answers = np.array([[1, 2, 2, 0], [0, 0, 1, 3], [2, 1, 0, 3]])
    assert depends_on_two_tokens(TASK, network, prompts, answers) < 1e-4
    with pytest.raises(ValueError, match="positions='window', window=0"):
        network_row(TASK, family("tied").background.network)


def test_ideal_experts_of_different_letters_are_joint_for_every_length_but_interleave():
    """Remark 4.7: pointwise joint at threshold 0, though not by intervals; with noise 0 too. The same letter: not."""
    for noise in (0.0, 1e-3):
        report = verified(ideals(TASK, NAMES, noise), 0)
        assert (report.verdict, report["interval_joint"].verdict) == ("HOLDS", "REFUTED")
        assert report["exact_switching"].verdict == "HOLDS"
    report = verified(ideals(TASK, ("A->B", "A->C"), 1e-3), 0)
    assert report.verdict == "REFUTED"


def test_oscillations_of_ideal_models_are_known():
    """0 where an expert copies; `2 log((1 - ε)/(ε/3))` where it substitutes."""
    off, on = oscillations(TASK, ideals(TASK, NAMES, 1e-3))
    assert off < 1e-12
    assert np.isclose(on, 2 * np.log(0.999 / (0.001 / 3)))


def test_certificates_are_accepted_and_not_with_other_models(tmp_path):
    found = certified(ideals(TASK, NAMES, 1e-3), 1.0, tmp_path)
    assert found["accepted"], found["reasons"]
    experts = {name: tmp_path / f"{name.replace('->', '_to_')}.json" for name in NAMES}
    text = experts["A->B"].read_text()
    experts["A->B"].write_text(experts["C->A"].read_text())
    assert not factorcomp.check(tmp_path / "certificate.json", tmp_path / "background.json", experts).accepted
    experts["A->B"].write_text(text)
    assert factorcomp.check(tmp_path / "certificate.json", tmp_path / "background.json", experts).accepted


def test_untrained_networks_are_refuted_and_no_threshold_separates():
    """The negative control: nothing is certified."""
    numbers = proved(TASK, family("window"), 1e-3)
    assert numbers["threshold 0"]["verdict"] == "REFUTED"
    assert numbers["ideal"]["verdict"] == "HOLDS"
    assert numbers["off"] >= numbers["on"]
    assert "threshold" not in numbers
    json.dumps(numbers, allow_nan=False)


def test_tables_are_those_of_the_networks():
    """The row after `x y…` is the network's after the prompt `x EOS` and the answer `y…`; prompts are uniform."""
    network = family("tied").background.network
    found = table(TASK, 1, of_network(network))
    assert np.allclose(np.exp(found.steps[0].log_probs(0, 1)), [[1 / 3, 1 / 3, 1 / 3, 0]])
    for x, y in itertools.product(range(3), repeat=2):
        rows = composed(logits_after(Composition.of([network]), np.array([[x, 3]]), np.array([[y]])))[0]
        assert np.allclose(found.steps[1].log_probs(x, x + 1)[0], rows[0], atol=1e-5)
        assert np.allclose(found.steps[2].log_probs(4 * x + y, 4 * x + y + 1)[0], rows[1], atol=1e-5)


def test_divergence_is_that_of_the_laws():
    """`KL(P || Q) = sum_y P(y) log P(y)/Q(y)` over all sequences."""
    model = table(TASK, 1, of_ideal(TASK, ("A->B",), 0.1))
    other = table(TASK, 1, of_network(family("tied").background.network))
    expected = 0.0
    for text in itertools.product(range(4), repeat=3):
        logs = []
        for subject in (model, other):
            index, log = 0, 0.0
            for step, token in zip(subject.steps, text, strict=True):
                log += step.log_probs(index, index + 1)[0, token]
                index = 4 * index + token
            logs.append(log)
        if logs[0] > -np.inf:
            expected += np.exp(logs[0]) * (logs[0] - logs[1])
    assert np.isclose(divergence(model, other, 3), expected, rtol=1e-9)


def test_ideal_tables_are_joint_and_networks_are_not():
    numbers = exhaustive.exhausted(TASK, family("tied"), 1, 1e-3, 1.0)
    assert numbers["ideal"]["pointwise_joint"] == "HOLDS"
    assert numbers["ideal"]["tv_to_switching"] == 0
    first = numbers["thresholds"][0]
    assert (first["threshold"], first["pointwise_joint"]) == (0, "REFUTED")
    assert numbers["thresholds"][-1]["pointwise_joint"] == "HOLDS"  # nothing oscillates by 64 nats
    assert all(value > 0 for value in numbers["kl_ideal_to_trained"].values())
