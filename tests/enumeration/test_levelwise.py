"""The level-wise engine: refusals before allocation, blocks of any size, and bounds on rounding that hold."""

import decimal
import random
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from factorcomp.composition.block import compose_block
from factorcomp.enumeration import blocks
from factorcomp.enumeration.size import count_prefixes, require_room
from factorcomp.enumeration.tree import ahead, digits, first_met, most_runs, seen, spans, tokens_of
from factorcomp.models.errors import InputError
from tests import golden
from tests.strategies import random_instance
from tests.subjects import by_enumeration


def flags(*levels: str) -> list[np.ndarray]:
    """`"1"`, `"01"`, …: the flags of each level."""
    return [np.array([c == "1" for c in level]) for level in levels]


def text(levels: list[np.ndarray]) -> list[str]:
    return ["".join("01"[int(x)] for x in level) for level in levels]


def test_walks_over_the_binary_tree():
    """By hand, on prefixes of length 0, 1 and 2."""
    tree = flags("0", "01", "1010")
    assert text(seen(tree, 2)) == ["0", "01", "1011"]
    assert text(ahead(tree, 2)) == ["1", "11", "1010"]
    assert text(first_met(tree, 2)) == ["0", "01", "1000"]
    assert most_runs(flags("1", "01", "1010"), 2) == 2
    assert spans(tree[2]) == ((0, 1), (2, 3))
    assert digits(2, [1], 3).tolist() == [0, 1, 2] * 3
    assert tokens_of(5, 2, 3) == (1, 2)
    assert (seen([], 2), ahead([], 2), first_met([], 2), most_runs([], 2)) == ([], [], [], 0)


def test_prefixes_are_counted():
    assert [count_prefixes(2, 3), count_prefixes(1, 5), count_prefixes(3, 0)] == [7, 5, 0]


@pytest.mark.parametrize(("vocab", "length"), [(50_000, 5), (4, 40), (2, 10**6), (13, 10**9)])
def test_too_many_prefixes_are_refused_with_their_size(vocab, length):
    with pytest.raises(InputError, match=rf"length {length}: the enumeration of .* prefixes .* takes"):
        require_room(vocab, length, experts=2)


@pytest.mark.parametrize("seed", range(12))
def test_blocks_of_any_size_give_one_answer(seed, monkeypatch):
    """Levels cut into blocks of few prefixes."""
    instance = random_instance(random.Random(seed), structures=["sparse", "factorized"], cap=200)
    whole = by_enumeration(instance)
    monkeypatch.setattr(blocks, "NUMBERS_PER_BLOCK", 8)
    assert golden.differences(by_enumeration(instance), whole) == []


@pytest.mark.parametrize("seed", range(4))
def test_error_bounds_hold(seed):
    """`|log Z - exact| <= error`, and so for every log-probability: rows with large and small odds, in fifty digits."""
    decimal.getcontext().prec = 50
    rng = random.Random(seed)
    prefixes, vocab, experts = 200, rng.randint(2, 4), rng.randint(1, 4)
    rows = [[_row(rng, vocab) for _ in range(prefixes)] for _ in range(experts + 1)]
    logs = np.array([[[float(_ln(x)) for x in row] for row in model] for model in rows])
    differs = np.ones((experts, prefixes), dtype=bool)
    block = compose_block(logs[0], logs[1:], np.ones(experts), differs, differs, "cancel")
    errors = []
    for h in range(prefixes):
        base, *own = (model[h] for model in rows)
        weights = [b * _product(row[y] / b for row in own) for y, b in enumerate(base)]
        normalizer = sum(weights)
        found = [*block.log_probs[h], block.log_normalizer[h]]
        exact = [*(_ln(w / normalizer) for w in weights), _ln(normalizer)]
        if not block.settled[h]:
            errors += [(abs(Decimal(float(f)) - e), block.error[h]) for f, e in zip(found, exact, strict=True)]
    assert all(off <= Decimal(float(bound)) for off, bound in errors)


def test_error_bounds_hold_far_from_the_background():
    """Two experts, 10^6 nats off in opposite directions: what remains of them is of the size of their rounding."""
    decimal.getcontext().prec = 50
    rng = random.Random(0)
    first, second = ([10**6 + Decimal(rng.randint(0, 10**9)) / 10**9 for _ in range(50)] for _ in range(2))
    background = np.full((50, 2), float(-Decimal(2).ln()))
    experts = np.array([[[0.0, -float(x)] for x in first], [[-float(x), 0.0] for x in second]])
    differs = np.ones((2, 50), dtype=bool)
    block = compose_block(background, experts, None, differs, differs, "cancel")
    for h, (x, y) in enumerate(zip(first, second, strict=True)):
        total = (1 + (y - x).exp()).ln()
        exact = [-total, y - x - total, Decimal(2).ln() - y + total]
        found = [*block.log_probs[h], block.log_normalizer[h]]
        bound = Decimal(float(block.error[h]))
        assert all(abs(Decimal(float(f)) - e) <= bound < 1e-6 for f, e in zip(found, exact, strict=True))


def _row(rng: random.Random, vocab: int) -> list[Fraction]:
    weights = [Fraction(rng.randint(1, 10**6), 10 ** rng.choice([0, 0, 3, 30])) for _ in range(vocab)]
    return [w / sum(weights) for w in weights]


def _ln(x: Fraction) -> Decimal:
    return Decimal(x.numerator).ln() - Decimal(x.denominator).ln()


def _product(factors) -> Fraction:
    result = Fraction(1)
    for factor in factors:
        result *= factor
    return result
