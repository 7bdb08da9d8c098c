"""Habits of ending, the decomposition of EOS and the repair, against the task's own tables and plain loops."""

import doctest

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from factorcomp.bounds.ending import eos_terms
from toy_tasks.composing import composed
from toy_tasks.letter_substitution import habits, prefixes, stopping
from toy_tasks.letter_substitution.habits import BASE, TAIL, Habits
from toy_tasks.letter_substitution.prefixes import at_prefixes, likeliest, rows_of
from toy_tasks.letter_substitution.stopping import Mechanism, at_work, decomposed, decoupled, logit, mean_length
from toy_tasks.networks import Architecture, Transformer
from toy_tasks.training import Training, loss_of

EOS = BASE.eos
PROMPTS = np.array([BASE.tokens("ACPB"), BASE.tokens("PPAO"), [*BASE.tokens("B"), EOS, EOS, EOS]])

COPIED = np.array([BASE.tokens("DEFGBD")])
SIX = np.array([BASE.tokens("ACPBDE"), BASE.tokens("PPAOGC")])
EIGHT_LETTERS = np.array([BASE.tokens("ACPBDEFG"), BASE.tokens("PPAOGCHB")])


def random_rows(seed, components, zeros=False):
    """Kernels with small whole numbers as weights, some of them 0 if so wanted: but EOS and one letter are possible."""
    drawn = np.random.default_rng(seed).integers(0 if zeros else 1, 6, (components, 4, 5, 6)).astype(float)
    drawn[..., [0, 5]] += 1
    with np.errstate(divide="ignore"):
        return np.log(drawn / drawn.sum(axis=-1, keepdims=True))


@pytest.mark.parametrize("module", [habits, prefixes, stopping])
def test_the_documentation(module):
    assert doctest.testmod(module).failed == 0


def test_tables_are_kernels_and_later_habits_change_earlier_ones():
    for task, names in ((BASE, ("A->B@0.5, stops@0.3",)), (TAIL, ("even",)), (TAIL, ("A->C", "odd")), (Habits(), ())):
        for noise in (0.0, 1e-3):
            table = task.table(names, noise)
            assert np.allclose(table.sum(axis=-1), 1)
            assert (table >= 0).all()
    table = BASE.table(("A->B@0.5, stops@0.25",))[3]
    assert np.allclose(table[0, [0, 1, EOS]], [0.375, 0.375, 0.25])
    assert np.allclose(table[15, [0, 15, EOS]], [0.375, 0.375, 0.25])
    assert np.allclose(table[EOS], np.eye(17)[EOS])
    assert (TAIL.table(("even",))[[0, 1], EOS, EOS] == [0.5, 0]).all()
    assert (TAIL.table(("odd",))[[0, 1], EOS, EOS] == [0, 0.5]).all()


def test_likeliest_answers_are_those_that_the_task_gives():
    for task, names in ((BASE, ("A->B", "stops@0")), (BASE, ("stops@0.7",)), (TAIL, ("goes on@1",)), (TAIL, ("even",))):
        answers = task.answers(task.skill(names), jnp.asarray(prefixes.filled(PROMPTS, 9, EOS)))
        assert (likeliest(task, names, PROMPTS, 9) == np.asarray(answers)).all()


def test_unknown_habits_are_refused():
    with pytest.raises(ValueError, match=r"no such habit: 'sings@0\.5'; needed 'A->B', 'stops'"):
        BASE.table(("A->B, sings@0.5",))


def test_texts_are_drawn_from_the_table():
    """At each letter, as often as the table says: within five deviations."""
    texts = jax.jit(lambda key: BASE.texts(BASE.skill(("stops@0.2",)), 4000, 1, 4, key=key))(jax.random.key(1))
    given, drawn, counted = map(np.asarray, (texts.prompts, texts.answers, texts.counted))
    for letter in ("A", "P"):
        here = counted & (given == BASE.vocabulary.index(letter))
        for token, expected in enumerate(BASE.table(("stops@0.2",))[0, BASE.vocabulary.index(letter)]):
            share = (drawn[here] == token).mean()
            assert abs(share - expected) <= 5 * np.sqrt(expected * (1 - expected) / here.sum())
    after = np.asarray(texts.aims)[counted]
    assert np.allclose(after.sum(axis=-1), 1, atol=1e-5)
    assert not counted[:, 1:][drawn[:, :-1] == EOS].any()


def test_without_habits_texts_and_losses_are_those_of_letters():
    """A distribution that is sure of its token is aimed at as the token itself."""
    task, training = Habits(), Training(noise=1e-3)

    def network(prompt, answer, positions):
        return jnp.sin(jnp.outer(jnp.arange(len(answer) + 1), jnp.arange(17)))

    @jax.jit
    def drawn(key):
        texts = task.texts(task.skill(("A->B",)), 5, 1, 4, key=key)
        return texts, [loss_of(network, given, None, training) for given in (texts, texts._replace(aims=None))]

    texts, losses = drawn(jax.random.key(1))
    assert (texts.answers == jnp.where(texts.prompts == 0, 1, texts.prompts)).all()
    assert np.isclose(*losses)


@pytest.mark.parametrize("k", range(4))
def test_theorem_10_1_is_an_identity(k):
    """`logit e^ = logit e_b + sum_i (logit e_i - logit e_b) - log Z_q`, of random kernels."""
    rows = random_rows(k, k + 1)
    terms = eos_terms(rows.reshape(k + 1, -1, 6), 5)
    assert terms.applies.all()
    assert np.allclose(terms.composition.reshape(4, 5), logit(composed(rows), 5), atol=1e-12)


def test_theorem_10_1_on_random_networks_and_a_wrong_term_is_seen():
    networks = [Transformer(Architecture(17, width=8), key=jax.random.key(n)) for n in range(3)]
    answers = likeliest(BASE, ("stops@0",), PROMPTS, 5)
    found = at_prefixes(BASE, rows_of(networks, PROMPTS, answers), PROMPTS, answers, ("A->B", "C->D"))
    row, error = decomposed(found, found.counts, EOS)
    assert error < 1e-12
    terms = [row[name] for name in ("background", "shifts", "content")]
    assert np.isclose(sum(terms), row["composition"])
    assert not np.isclose(terms[0] + terms[1], row["composition"], atol=1e-3)


def test_the_first_expert_of_a_letter_is_right_there():
    answers = likeliest(BASE, (), PROMPTS, 6)
    rows = np.zeros((4, 3, 6, 17))
    found = at_prefixes(BASE, rows, PROMPTS, answers, ("stops@0.1, P->A@0.6, C->D", "P->P", "P->A"))
    assert found.assigned[0].tolist() == [0, 1, 2, 0, 0, 0]
    assert found.given[2].tolist() == [1, *[EOS] * 5]


def test_the_repair_changes_nothing_with_one_deviator():
    """One expert deviates at each prefix, another at another, and is assigned: also where probabilities are 0."""
    for seed in range(20):
        base, first, second = random_rows(seed, 3, zeros=seed % 2 == 1)
        possible = base > -np.inf
        experts = np.where(possible, np.stack([first, second]), -np.inf)
        experts -= np.log(np.exp(experts).sum(axis=-1, keepdims=True))
        assigned = np.random.default_rng(seed).integers(0, 3, (4, 5))
        rows = np.stack([base, *(np.where(assigned[..., None] == n, e, base) for n, e in enumerate(experts, 1))])
        assert np.allclose(np.exp(decoupled(rows, assigned, 5)), np.exp(composed(rows)), atol=1e-12)


def test_the_repair_keeps_ending_and_content_apart():
    """Two deviate: EOS is the assigned one's, what is answered is in the ratios of the composition."""
    rows = random_rows(7, 3)
    repaired, whole = np.exp(decoupled(rows, np.ones((4, 5), dtype=int), 5)), np.exp(composed(rows))
    assert np.allclose(repaired[..., 5], np.exp(rows[1])[..., 5])
    assert np.allclose(repaired[..., :5] / repaired[..., :1], whole[..., :5] / whole[..., :1])
    assert np.allclose(repaired.sum(axis=-1), 1)
    assert not np.allclose(repaired, whole, atol=1e-3)


def test_mean_length_is_that_of_drawing():
    rows, answers = random_rows(3, 1)[0], np.zeros((4, 5), dtype=int)
    ends = np.exp(rows[..., 5])
    for row, found in zip(ends, mean_length(rows, answers, 5), strict=True):
        law = [np.prod(1 - row[:t]) * (row[t] if t < 4 else 1) for t in range(5)]
        assert np.isclose(sum(law), 1)
        assert np.isclose(found, sum((t + 1) * mass for t, mass in enumerate(law)))


def untrained(task, experts, **changes):
    networks = tuple(Transformer(Architecture(17, width=8), key=jax.random.key(n)) for n in range(len(experts) + 1))
    return Mechanism(task, "", experts, networks, **changes)


def test_m1_perfect_models_end_as_the_formula_says():
    """`odds^ = odds_b rho^k`: cut at `n` letters, the mean is `(1 - (1 - e)^{n+1})/e`."""
    experts = ("A->B, stops@0.04", "C->D, stops@0.04")
    found = at_work(untrained(BASE, experts), COPIED, 7, 1e-9)["ideal"]
    for k, row in enumerate(found):
        odds = 0.02 / 0.98 * (0.04 / 0.96 / (0.02 / 0.98)) ** k
        e = odds / (1 + odds)
        assert row["shifts"] == pytest.approx(k * np.log(0.04 / 0.96 / (0.02 / 0.98)), abs=1e-6)
        assert row["composition"] == pytest.approx(np.log(odds), abs=1e-6)
        assert row["length"] == pytest.approx((1 - (1 - e) ** 7) / e, rel=1e-6)


def test_m2_conflict_ends_and_agreement_goes_on():
    """Experts at odds about P: `Z_q = sum_y q_1 q_2/q_b`, with all at the same `e`."""
    experts = ("P->P@0.99", "P->P@0.01, P->A@0.99")
    found = at_work(untrained(BASE, experts, where="P"), SIX, 7, 1e-9)["ideal"]
    assert [row["shifts"] for row in found] == pytest.approx([0, 0, 0], abs=1e-6)
    (_, first, second) = (BASE.table((name,))[0, 15, [0, 15]] / 0.98 for name in ("", *experts))
    assert found[2]["content"] == pytest.approx(-np.log((first * second).sum() / 0.5), abs=1e-6)
    assert found[2]["length"] < found[0]["length"]
    agreed = at_work(untrained(BASE, experts[:1] * 2, where="P"), SIX, 7, 1e-9)["ideal"]
    assert agreed[2]["content"] < 0
    assert agreed[2]["length"] > agreed[0]["length"]


def test_m4_all_end_and_the_composition_does_not():
    found = at_work(untrained(TAIL, ("even", "odd"), path="goes on@1", where="after"), EIGHT_LETTERS, 32, 1e-9)
    ideal = found["ideal"]
    assert ideal[2]["length"] > 31.9
    assert all(length < 14 for length in found["alone, ideal"])
    assert ideal[2]["repaired"] == pytest.approx(ideal[0]["length"], abs=1e-6)
    assert found["identity"] < 1e-8


def test_an_impossible_eos_is_refused():
    with pytest.raises(ValueError, match=r"Theorem 10\.1 does not apply at a prefix where EOS is impossible"):
        at_work(untrained(Habits(), ("A->B",)), SIX, 7, 0.0)
