"""Theorem 7.6: laws of hidden states against brute force over all words up to a length; counterexamples 2.5."""

import random
from collections.abc import Mapping
from fractions import Fraction
from itertools import product

import pytest

from factorcomp.certificates.claims import Positions, Verdict
from factorcomp.finite_state import hidden
from factorcomp.finite_state.hidden import (
    TooManyStatesError,
    WeightedAutomaton,
    block_independence,
    difference,
    excess,
    factorized_conditionals,
    marginal,
    mask_independence,
    minimal,
    rest,
    tensor,
)
from tests.automata import build, clock_of, random_automata
from tests.oracle_automata import Product, decide, projective

LONGEST = 6
"""Words up to this length are compared by brute force."""
EVEN, ODD = Positions((), ((0, 2),)), Positions((), ((1, 2),))


def words(vocabulary: tuple[str, ...], longest: int = LONGEST) -> list[tuple[str, ...]]:
    """Every word, shorter ones first, then in vocabulary order."""
    return [word for length in range(longest + 1) for word in product(vocabulary, repeat=length)]


def random_row(rng: random.Random, size: int, zeros: int = 1) -> list[Fraction]:
    weights = [rng.choice([0] * zeros + [1, 1, 2]) for _ in range(size)]
    weights[rng.randrange(size)] += 1
    return [Fraction(weight, sum(weights)) for weight in weights]


def hidden_markov(rng: random.Random, size: int, vocabulary: str = "ab", zeros: int = 1) -> WeightedAutomaton:
    """A random law whose state is no function of the word: state and token are drawn together."""
    rows = [random_row(rng, size * len(vocabulary), zeros) for _ in range(size)]
    matrices = {
        token: [row[place * size : (place + 1) * size] for row in rows] for place, token in enumerate(vocabulary)
    }
    return WeightedAutomaton.from_dense(vocabulary, random_row(rng, size), matrices, [1] * size)


def relabelled(automaton: WeightedAutomaton) -> WeightedAutomaton:
    """The same series from an automaton with each state in two copies, between which half the weight goes."""
    half = Fraction(1, 2)
    matrices = tuple(
        tuple(
            {2 * q + copy: weight * half for q, weight in row.items() for copy in range(2)}
            for row in matrix
            for _ in range(2)
        )
        for matrix in automaton.matrices
    )
    initial = {2 * q + 1: weight for q, weight in automaton.initial.items()}
    final = tuple(weight for weight in automaton.final for _ in range(2))
    return WeightedAutomaton(automaton.vocabulary, initial, matrices, final)


def law(table: Mapping[str, Fraction]) -> WeightedAutomaton:
    """A finite-state model with the law `table` on words of one length, then 'a' for ever: a tree of prefixes."""
    length = len(next(iter(table)))
    mass = {"": Fraction(1)}
    for size in range(1, length + 1):
        for word in map("".join, product("ab", repeat=size)):
            mass[word] = sum((p for sequence, p in table.items() if sequence.startswith(word)), Fraction(0))
    states = {}
    for prefix, total in mass.items():
        row = {"a": 1} if len(prefix) == length else {y: str(mass[prefix + y] / total) for y in "ab"}
        after = {y: (prefix + y if len(prefix) < length else prefix) or "root" for y in "ab"}
        states[prefix or "root"] = {"probabilities": row, "next": after}
    return WeightedAutomaton.from_finite_state(
        build({"vocabulary": ["a", "b"], "eos": None, "initial": "root", "states": states})
    )


def eighths(*weights: int, of: int = 8) -> WeightedAutomaton:
    length = (len(weights) - 1).bit_length()
    return law({"".join(w): Fraction(n, of) for w, n in zip(product("ab", repeat=length), weights, strict=True)})


# Automata and their series


def test_a_finite_state_model_gives_prefixes_their_probability():
    """The weight of a word is the product of the rows along it."""
    rng = random.Random(0)
    for _ in range(20):
        instance = random_automata(rng, ["free", "ending", "clocked"])
        model = instance.model("background")
        automaton = WeightedAutomaton.from_finite_state(model)
        for word in words(model.vocabulary, 4):
            mass, state = Fraction(1), model.initial
            for token in word:
                place = model.vocabulary.index(token)
                mass *= model.rows.exact(state).factors[place]
                state = int(model.next[state, place])
            assert automaton(word) == mass


@pytest.mark.parametrize("mask", [EVEN, ODD, Positions((0, 3)), Positions((1,), ((2, 3),)), Positions()])
def test_marginals(mask):
    """`P^M(w)` is the sum over the words that agree with `w` on the mask."""
    rng = random.Random(str(mask))
    for _ in range(5):
        automaton = hidden_markov(rng, rng.randint(1, 3))
        own = marginal(automaton, mask)
        assert len(own) <= sum(clock_of({"own": mask})) * len(automaton)
        for word in words(automaton.vocabulary, 4):
            same = [
                other
                for other in product("ab", repeat=len(word))
                if all(word[position] == other[position] for position in mask.below(len(word)))
            ]
            assert own(word) == sum(map(automaton, same))


def test_products():
    """`(P ⊗ Q)(w) = P(w) Q(w)`."""
    rng = random.Random(2)
    first, second, third = (hidden_markov(rng, size) for size in (2, 3, 1))
    both = tensor(first, second, third)
    assert len(both) <= 6
    assert all(both(word) == first(word) * second(word) * third(word) for word in words(both.vocabulary))


def test_minimal_automata():
    """The same series; never more states, and half of them where each state has a copy."""
    rng = random.Random(11)
    for _ in range(20):
        automaton = hidden_markov(rng, rng.randint(1, 4))
        least = minimal(automaton)
        assert len(least) <= len(automaton)
        assert len(minimal(relabelled(automaton))) == len(least) == len(minimal(least))
        assert all(least(word) == automaton(word) for word in words(automaton.vocabulary))


@pytest.mark.parametrize("masks", [[], [EVEN], [EVEN, ODD], [Positions((0, 5)), Positions((), ((1, 3),))]])
def test_rest(masks):
    """A position is in the rest iff it is in no mask."""
    assert [t for t in range(40) if t in rest(masks)] == [t for t in range(40) if not any(t in mask for mask in masks)]


# Equality


def first_difference(one: WeightedAutomaton, other: WeightedAutomaton) -> tuple[str, ...] | None:
    return next((word for word in words(one.vocabulary) if one(word) != other(word)), None)


def test_difference_is_the_first_of_all_words():
    """Against brute force: random pairs, and pairs that differ by one weight only."""
    rng, lengths = random.Random(3), set()
    for _ in range(60):
        automaton = hidden_markov(rng, rng.randint(1, 3))
        other = relabelled(automaton) if rng.random() < 0.5 else hidden_markov(rng, rng.randint(1, 3))
        if rng.random() < 0.5:
            final = list(other.final)
            final[rng.randrange(len(final))] *= 2
            other = WeightedAutomaton(other.vocabulary, other.initial, other.matrices, tuple(final))
        word = difference(automaton, other)
        assert word == first_difference(automaton, other)
        lengths.add(None if word is None else len(word))
    assert {None, 0, 1} <= lengths


def test_difference_may_come_late():
    """A counter of n states differs from another first at length n."""

    def counter(size: int) -> WeightedAutomaton:
        step = [[int(b == a + 1 or (a == b == size)) for b in range(size + 1)] for a in range(size + 1)]
        return WeightedAutomaton.from_dense("a", [1] + [0] * size, {"a": step}, [0] * size + [1])

    assert difference(counter(7), counter(8)) == ("a",) * 7
    assert difference(counter(7), counter(7)) is None


def test_difference_without_flint(monkeypatch):
    """Fractions say the same."""
    rng = random.Random(4)
    pairs = [(hidden_markov(rng, 3), hidden_markov(rng, 2)) for _ in range(10)]
    pairs += [(pair[0], relabelled(pair[0])) for pair in pairs]
    answers = [difference(*pair) for pair in pairs]
    monkeypatch.setattr(hidden, "exact_numbers", lambda: Fraction)
    assert [difference(*pair) for pair in pairs] == answers


def test_excess_is_the_first_word_that_one_excludes():
    """Against brute force."""
    rng, found = random.Random(5), set()
    for _ in range(60):
        one, other = (hidden_markov(rng, rng.randint(2, 3), "abc", zeros) for zeros in (4, 2))
        word = excess(one, other)
        expected = next((w for w in words(one.vocabulary, 4) if one(w) > 0 and other(w) == 0), None)
        if expected is None and word is not None:
            assert len(word) > 4
            assert one(word) > 0 == other(word)
        else:
            assert word == expected
        found.add(word and len(word))
    assert {None, 1, 2} <= found


# Factorized conditionals


def test_independence_as_of_every_instance():
    """Finite-state models: the verdict of `factorized_conditionals` is that of the twin automaton (Theorem 7.5)."""
    rng, seen = random.Random(6), {}
    for structure in ("clocked", "agreeing", "shared", "staged", "far", "opening"):
        for _ in range(25):
            instance = random_automata(rng, [structure])
            masks = decide(instance).masks
            findings = decide(instance)
            if not masks or instance.question.weights or findings["well_defined"].verdict != Verdict.HOLDS:
                continue
            background, experts = (
                WeightedAutomaton.from_finite_state(instance.model("background")),
                {name: WeightedAutomaton.from_finite_state(instance.model(name)) for name in instance.experts},
            )
            failure = factorized_conditionals(background, experts, masks)
            verdict = findings["factorized_conditionals"].verdict
            assert (failure is None) == (verdict == Verdict.HOLDS), (failure, instance)
            reason = None if failure is None else failure[0]
            seen[reason] = seen.get(reason, 0) + 1
    assert {None, "a", "b", "c"} <= set(seen), seen


def test_marginals_of_the_composition_for_every_length():
    """Equality of series decides `projective`: where the oracle finds a length, it is that of the word."""
    rng, seen = random.Random(7), set()
    for _ in range(60):
        instance = random_automata(rng, ["agreeing", "clocked", "interleaving"])
        findings = decide(instance)
        product_ = Product(instance)
        if not findings.masks or instance.question.weights or findings["well_defined"].verdict != Verdict.HOLDS:
            continue
        numbers = {place: number for number, place in enumerate(product_.reachable)}
        matrices = tuple(
            tuple(
                {numbers[child]: product_.here(place).composition[y]} if child is not None else {}
                for place in product_.reachable
                for child in [product_.followers(place, "reachable").get(y)]
            )
            for y in range(product_.size)
        )
        composition = WeightedAutomaton(product_.vocabulary, {0: Fraction(1)}, matrices, (Fraction(1),) * len(numbers))
        for name, mask in findings.masks.items():
            expert = WeightedAutomaton.from_finite_state(instance.model(name))
            word = difference(marginal(composition, mask), marginal(expert, mask))
            found = projective(product_, name, mask)
            assert (word and len(word)) == (found and found[0])
            seen.add((word is None, findings[f"projective:{name}"].verdict))
    assert {(True, Verdict.HOLDS), (False, Verdict.REFUTED), (True, Verdict.UNDECIDED)} <= seen


def test_background_blocks_are_not_independent():
    """CE 2.5a: `P_b = (1,1,1,5)/8` with one mask a position; (b) holds of neither expert then, (a) fails first."""
    background = eighths(1, 1, 1, 5)
    first, second = Positions((0,)), Positions((1,))
    assert block_independence(background, [first, second]) == ("a", "a")
    experts = {"up": eighths(7, 21, 1, 3, of=32), "down": eighths(7, 1, 21, 3, of=32)}
    assert mask_independence(experts["up"], background, first) is None
    assert mask_independence(experts["down"], background, second) is None
    failure = factorized_conditionals(background, experts, {"up": first, "down": second})
    assert failure == ("a", None, ("a", "a"))


def test_pairwise_independence_is_not_enough():
    """CE 2.5b: `P_b = (1 + ½(-1)^{y1+y2+y3})/8`: any two positions are independent, the three are not."""
    parity = eighths(*(3 if bin(n).count("1") % 2 == 0 else 1 for n in range(8)), of=16)
    blocks = [Positions((position,)) for position in range(3)]
    for pair in ((0, 1), (0, 2), (1, 2)):
        both = Positions(pair)
        assert difference(marginal(parity, both), tensor(*(marginal(parity, blocks[p]) for p in pair))) is None
    assert block_independence(parity, blocks) == ("a", "a", "a")


def test_a_mask_that_depends_on_the_rest():
    """CE 2.5c: marginals agree, but `y_1` and `y_2` are dependent under `P_1 = (1,2,3,2)/8`."""
    background, up, down = eighths(2, 2, 2, 2), eighths(1, 2, 3, 2), eighths(7, 1, 7, 1, of=16)
    masks = {"up": Positions((0,)), "down": Positions((1,))}
    assert block_independence(background, masks.values()) is None
    assert mask_independence(down, background, masks["down"]) is None
    assert factorized_conditionals(background, {"up": up, "down": down}, masks) == ("b", "up", ("a", "a"))


def test_an_expert_that_makes_possible_what_the_background_excludes():
    """(c) alone fails: the expert draws 'b' on its mask, the background never does."""
    never, fair = law({"a": Fraction(1), "b": Fraction(0)}), law({"a": Fraction(1, 2), "b": Fraction(1, 2)})
    assert factorized_conditionals(never, {"up": fair}, {"up": Positions((0,))}) == ("c", "up", ("b",))


def test_independence_that_the_state_hides():
    """A hidden coin chosen once makes positions dependent; drawn anew at each position it does not."""
    biased = [Fraction(1, 4), Fraction(3, 4)]
    keep = {
        t: [[biased[s] if t == "a" else 1 - biased[s] if s == z else 0 for z in range(2)] for s in range(2)]
        for t in "ab"
    }
    keep = {t: [[row[z] if z == s else 0 for z in range(2)] for s, row in enumerate(m)] for t, m in keep.items()}
    anew = {t: [[(biased[s] if t == "a" else 1 - biased[s]) / 2 for _ in range(2)] for s in range(2)] for t in "ab"}
    half = [Fraction(1, 2)] * 2
    once, always = (WeightedAutomaton.from_dense("ab", half, matrices, [1, 1]) for matrices in (keep, anew))
    assert block_independence(once, [EVEN, ODD]) == ("a", "a")
    assert block_independence(always, [EVEN, ODD]) is None


# Guards


def test_too_many_states_are_refused(monkeypatch):
    """Before they are made."""
    rng = random.Random(8)
    one, other = hidden_markov(rng, 3), hidden_markov(rng, 3)
    monkeypatch.setattr(hidden, "LARGEST", 5)
    with pytest.raises(TooManyStatesError, match="more than 5 states"):
        tensor(one, other)
    with pytest.raises(TooManyStatesError, match="6 states in all; needed at most 5"):
        difference(one, other)


def test_shapes_must_fit():
    with pytest.raises(ValueError, match="needed 2"):
        WeightedAutomaton.from_dense("a", [1, 0], {"a": [[1]]}, [1, 1])
    with pytest.raises(ValueError, match="needed one for each"):
        WeightedAutomaton.from_dense("ab", [1], {"a": [[1]]}, [1])
    rng = random.Random(9)
    with pytest.raises(ValueError, match="vocabularies"):
        difference(hidden_markov(rng, 1), hidden_markov(rng, 1, "abc"))
    negative = WeightedAutomaton.from_dense("a", [-1], {"a": [[1]]}, [1])
    with pytest.raises(ValueError, match="negative"):
        excess(negative, negative)
