"""What breaks, on perfect rows and on random networks."""

import doctest
from dataclasses import replace

import jax
import numpy as np
import pytest

from factorcomp.bounds.per_prefix import total_variation
from toy_tasks.composing import Composition, composed, failures
from toy_tasks.letter_substitution import breaking, summary
from toy_tasks.letter_substitution.__main__ import further
from toy_tasks.letter_substitution.breaking import OVERLAPPING, overlap, shifted, swept
from toy_tasks.letter_substitution.configuration import SMOKE
from toy_tasks.letter_substitution.habits import SHIFT, SHIFTED, Habits, Habitual
from toy_tasks.letter_substitution.letters import EIGHT
from toy_tasks.letter_substitution.prefixes import at_prefixes, compared, likeliest, rows_of
from toy_tasks.networks import Architecture, Transformer
from toy_tasks.results import write_results
from toy_tasks.training import Family, Trained

TASK = Habits()
PROMPTS = np.array([TASK.tokens("ACPBE"), TASK.tokens("PAAOG"), [*TASK.tokens("A"), 16, 16, 16, 16]])


def network(seed):
    return Transformer(Architecture(17, width=8), key=jax.random.key(seed))


def family(*names):
    return Family(Trained(network(0), [], 0.0), {name: Trained(network(n), [], 0.0) for n, name in enumerate(names, 1)})


def ideal(names, prompts, answers, noise):
    return np.stack([TASK.rows(TASK.table(skill, noise), prompts, answers) for skill in ((), *((n,) for n in names))])


def test_the_documentation():
    assert doctest.testmod(breaking).failed == 0


@pytest.mark.parametrize("k", [1, 2, 8])
def test_perfect_disjoint_experts_compose_to_the_right_one_whatever_their_number(k):
    """Lemma 1.8 and Theorem 4.2: at most one deviates, so that `p^ = p_a` and `Z = 1`."""
    answers = likeliest(TASK, EIGHT[:k], PROMPTS, 6)
    rows = ideal(EIGHT[:k], PROMPTS, answers, 1e-4)
    found = compared(at_prefixes(TASK, rows, PROMPTS, answers, EIGHT[:k]), TASK.eos)
    assert found["greedy"] == 1
    assert found["failure_max"] == pytest.approx(1 - (1 - 1e-4) ** 6)
    for name in ("oscillation_max", "tv_max", "log_normalizer_max"):
        assert found[name] == pytest.approx(0, abs=1e-12)


def test_perfect_overlapping_experts_are_halfway():
    """`p^(B) = p^(D)`, `log Z = log 2` and `min_a TV = 1/2` at A, but for the noise; other letters are copied."""
    found = overlap(family(*OVERLAPPING), PROMPTS, 1e-6, 0)
    here = found["ideal"]
    if here["prefixes"]:
        assert here["at_A"]["B"] == pytest.approx(0.5, abs=1e-4)
        assert here["at_A"]["D"] == pytest.approx(0.5, abs=1e-4)
        assert here["log_normalizer_mean"] == pytest.approx(np.log(2), abs=1e-4)
        assert here["defect_mean"] == pytest.approx(0.5, abs=1e-4)
    assert here["prefixes"] > 0
    assert set(here["other_letters"]) <= set("BCEGOP") | {"EOS"}


def test_numbers_are_those_of_the_networks():
    """Failure by `failures`, distances by loops over prefixes."""
    nets = family(*EIGHT[:2]).networks()
    rows = swept(TASK, nets, EIGHT[:2], PROMPTS)
    answers = likeliest(TASK, EIGHT[:2], PROMPTS, 6)
    failure, greedy = failures(Composition.of(nets), PROMPTS, answers, TASK.eos)
    assert rows[1]["failure_mean"] == pytest.approx(failure.mean())
    assert rows[1]["greedy"] == greedy.mean()
    logs = rows_of(nets, PROMPTS, answers)
    whole, table = composed(logs), {"A": 1, "C": 2}
    distances = [
        total_variation(whole[n, t], logs[table.get(TASK.vocabulary[prompt[t]], 0), n, t])
        for n, prompt in enumerate(PROMPTS)
        for t in range(prompt.tolist().index(16) + 1)
    ]
    assert rows[1]["tv_max"] == pytest.approx(max(distances))
    assert rows[1]["tv_mean"] == pytest.approx(np.mean(distances))


def test_theorem_11_1_another_background_counts_k_minus_1_times():
    rows = swept(TASK, family(*EIGHT[:3]).networks(), EIGHT[:3], PROMPTS, network(9))
    own = swept(TASK, family(*EIGHT[:3]).networks(), EIGHT[:3], PROMPTS)
    assert rows[0]["moved"] == pytest.approx(0, abs=1e-12)
    assert rows[0]["failure_mean"] == pytest.approx(own[0]["failure_mean"])
    for row, right in zip(rows[1:], own[1:], strict=True):
        assert row["moved"] == pytest.approx(row["predicted"])
        assert abs(row["tv_max"] - right["tv_max"]) > 1e-4


def test_theorem_11_1_a_common_shift_grows_and_the_ancestor_remedies_it():
    """`p_b (p_c/p_b)^k`: A against P has the odds 1, 1.5, 1.5², …; with the ancestor subtracted 1.5 and no more."""
    habitual = Habitual(family(SHIFT), {name: network(n) for n, name in enumerate(SHIFTED, 5)}, family())
    rows = shifted(habitual, PROMPTS, 0.0)
    for k, row in enumerate(rows):
        assert row["base, ideal"] == pytest.approx(1.5**k / (1 + 1.5**k))
        assert row["ancestor, ideal"] == pytest.approx(0.6)
        assert 0 < row["base, trained"] < 1


def test_a_run_of_seconds_can_be_told(tmp_path):
    """All questions on networks that hardly are trained: nothing is right, and every identity holds."""
    barely = replace(SMOKE.training, steps=2, fine_steps=2, batch=2)
    numbers = further(replace(SMOKE, training=barely, prompts=32), 0, None, tmp_path)
    write_results(tmp_path / "found.json", "letters", 0, {}, numbers)
    assert len(summary.further(numbers)) == 5
    found = numbers["stopping"]
    assert len(found) == 1 + 7
    assert all(entry["identity"] < 1e-9 for entry in found.values() if entry != found["letters"])
    assert [row["k"] for row in numbers["breaking"]["experts"]] == [*range(1, 9)]
    assert numbers["breaking"]["experts"][0]["failure_mean"] > 0.5
    assert numbers["arithmetic"]["linearized"]["error_max"] < 1e-12
    assert (
        numbers["arithmetic"]["success"][0]["merged_greedy"] == numbers["arithmetic"]["success"][0]["composed_greedy"]
    )
    assert (tmp_path / "found.json").exists()
