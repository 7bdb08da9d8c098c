"""theory.md 11.4: which weights are exact, against the definition on grids of weights."""

import random
from fractions import Fraction
from itertools import product

import pytest

import factorcomp
from factorcomp.factorization.affine import Subspace, positive_solution
from factorcomp.factorization.logarithms import Echelon, Log, coprime_base, independent, sign_of_determinant
from factorcomp.factorization.weights import ExactWeights, exact_weights
from factorcomp.models.errors import InputError
from tests.strategies import NAMES, normalised

GRID = [Fraction(n, 2) for n in (-2, 0, 1, 2, 3, 4)]
Row = tuple[Fraction, ...]


def is_exact(background: Row, experts: list[Row], weights: tuple[Fraction, ...]) -> bool:
    """Whether `p_b prod r_j^λ_j` is proportional to a component, by powers of rationals: no logs, no linear algebra."""
    support = [y for y, p in enumerate(background) if p]
    scale = 2  # the grid's denominators
    ratios = [[row[y] / background[y] for y in support] for row in experts]
    composed = [Fraction(1)] * len(support)
    for ratio, weight in zip(ratios, weights, strict=True):
        composed = [c * r ** int(scale * weight) for c, r in zip(composed, ratio, strict=True)]
    for target in [[Fraction(1)] * len(support), *ratios]:
        if len({c / t**scale for c, t in zip(composed, target, strict=True)}) == 1:
            return True
    return False


def random_models(seed: int):
    """Experts that are powers of few tilts of the background, so that their log-ratios often depend on one another."""
    rng = random.Random(seed)
    size, length, count = rng.choice([2, 2, 3]), rng.choice([1, 2, 2]), rng.choice([1, 2, 2, 3])
    tilts = [[Fraction(rng.randint(1, 3)) for _ in range(size)] for _ in range(2)]
    background, experts = [], [[] for _ in range(count)]
    for step in range(length):
        rows = [normalised([rng.randint(1, 4) for _ in range(size)]) for _ in range(size**step)]
        background.append(rows)
        for expert in experts:
            mine = []
            for row in rows:
                powers = [rng.choice([0, 0, 0, 1, 1, -1, 2]), rng.choice([0, 0, 0, 1])]
                cells = [p * tilts[0][y] ** powers[0] * tilts[1][y] ** powers[1] for y, p in enumerate(row)]
                mine.append(tuple(c / sum(cells) for c in cells))
            expert.append(mine)
    return background, dict(zip(NAMES, experts, strict=False)), size


def table(steps, size: int):
    return factorcomp.TabularModel.from_probabilities(
        [[list(row) for row in step] for step in steps], list("abcd"[:size])
    )


def find(background, experts, size: int, **options) -> ExactWeights:
    return exact_weights(table(background, size), {n: table(e, size) for n, e in experts.items()}, **options)


def check_on_a_grid(seed: int) -> None:
    background, experts, size = random_models(seed)
    found = find(background, experts, size)
    rows = [
        (base, [expert[t][h] for expert in experts.values()])
        for t, step in enumerate(background)
        for h, base in enumerate(step)
    ]
    positive = False
    for weights in product(GRID, repeat=len(experts)):
        exact = all(is_exact(base, own, weights) for base, own in rows)
        assert found.contains(dict(zip(experts, weights, strict=True))) == exact
        positive |= exact and min(weights) > 0
    if positive:
        assert found.positive is True
    if found.positive is False:
        assert found.witness is not None
        assert not positive
    if found.example is not None:
        assert min(found.example.values()) > 0
        assert found.contains(found.example)
    assert all(not a.within(b) for a in found.parts for b in found.parts if a is not b)


@pytest.mark.parametrize("seed", range(60))
def test_exact_weights_on_a_grid(seed):
    """`λ` is in the set iff at every prefix the composition with weights `λ` is a component; so is the example."""
    check_on_a_grid(seed)


@pytest.mark.campaign
def test_exact_weights_on_a_grid_campaign(pytestconfig):
    for seed in range(1000, 1000 + pytestconfig.getoption("--campaign")):
        check_on_a_grid(seed)


def test_there_are_cases_of_every_kind():
    found = [find(*random_models(seed)) for seed in range(60)]
    assert {part.dimension for f in found for part in f.parts} >= {0, 1, 2}
    assert any(part.logs for f in found for part in f.parts)
    assert any(f.positive is False for f in found)
    assert any(f.positive and not f.contains() for f in found)


def test_one_deviator_per_prefix():
    """`λ_a = 1` (or 0, which is the background), the others free where they do not deviate."""
    half, up, down = (Fraction(1, 2),) * 2, (Fraction(1, 4), Fraction(3, 4)), (Fraction(1, 3), Fraction(2, 3))
    found = find([[half], [half, half]], {"up": [[up], [half, half]], "down": [[half], [half, down]]}, 2)
    assert len(found.parts) == 4
    assert str(found) == "exact with positive weights where up = 1, down = 1"
    assert found.example == {"up": 1, "down": 1}
    assert found.witness is None


def test_one_deviator_or_both():
    """After `b` both deviate, so that of the four parts above that with both weights 1 goes."""
    half, up, down = (Fraction(1, 2),) * 2, (Fraction(1, 4), Fraction(3, 4)), (Fraction(1, 3), Fraction(2, 3))
    found = find([[half], [half, half]], {"up": [[up], [half, up]], "down": [[half], [down, down]]}, 2)
    one, zero = Fraction(1), Fraction(0)
    points = ((zero, zero), (one, zero), (zero, one))
    assert set(found.parts) == {Subspace(2, ((one, zero, a), (zero, one, b))) for a, b in points}
    assert not found.contains()
    assert (found.positive, found.witness, found.alone) == (False, ("b",), False)


def test_two_independent_deviators_have_no_positive_weights():
    """`|V| = 3`: log-ratios independent modulo constants; the witness is the prefix."""
    base, up, down = normalised([1, 1, 1]), normalised([1, 2, 3]), normalised([5, 2, 1])
    found = find([[base]], {"up": [[up]], "down": [[down]]}, 3)
    assert sorted(part.rational for part in found.parts) == sorted(
        ((Fraction(1), Fraction(0), Fraction(a)), (Fraction(0), Fraction(1), Fraction(b)))
        for a, b in ((0, 0), (1, 0), (0, 1))
    )
    assert found.positive is False
    assert (found.witness, found.alone) == ((), True)
    assert str(found) == "no positive weights are exact: at the start there are none"


def test_two_tokens_leave_a_line_of_irrational_slope():
    """`|V| = 2`, ratios 2 and 3, `λ_1 log 2 + λ_2 log 3 ∈ {0, log 2, log 3}`: lines with one rational point each."""
    base, up, down = normalised([1, 1]), normalised([1, 2]), normalised([1, 3])
    found = find([[base]], {"up": [[up]], "down": [[down]]}, 2)
    assert [part.dimension for part in found.parts] == [1, 1, 1]
    assert [part.positive for part in found.parts] == [False, True, True]
    assert all(part.logs for part in found.parts)
    assert found.example is None  # no rational ones
    assert found.contains({"up": 0, "down": 1})
    assert not found.contains({"up": "1/2", "down": "1/2"})
    assert "log(2))·up + (log(3))·down = log(2)" in str(found)


def test_two_lines_meet_in_an_irrational_point():
    """Two prefixes with different ratios: points `e_a`, and points that no fractions describe, known by signs."""
    base = normalised([1, 1])
    first, second = [normalised([1, 2]), normalised([1, 3])], [normalised([1, 5]), normalised([2, 7])]
    steps = {name: [[base], [first[i], second[i]]] for i, name in enumerate(("up", "down"))}
    found = find([[base], [base, base]], steps, 2)
    assert {part.dimension for part in found.parts} == {0}
    assert found.contains({"up": 1, "down": 0})
    assert len(found.parts) == 9 - 3 + 1 + 2  # three of the nine pairs meet in 0, e_1, e_2
    irrational = [part for part in found.parts if part.logs]
    assert len(irrational) == 6
    assert None not in {part.positive for part in irrational}


def test_floats_are_exact_numbers():
    """Rows of logs: `log r` is rational up to a constant; twice the log-ratio is exactly twice, and not nearly."""
    import numpy as np

    def logs(*row):
        row = np.array([row])
        return factorcomp.TabularModel(("a", "b", "c"), (factorcomp.models.rows.FloatRows(row, "logits"),))

    base, up = logs(0.0, 0.0, 0.0), logs(0.0, 0.1, 0.3)
    found = exact_weights(base, {"up": up, "twice": logs(0.0, 0.2, 0.6)})
    assert found.contains({"up": 1, "twice": "1/2"}) == found.contains({"up": 2, "twice": 0})
    assert found.contains({"up": "1/2", "twice": "1/4"})
    tilted = logs(0.25, 1.0, -0.5)  # the log-ratios are differences: (0, 1/8, 3/8) and twice as much
    given = {"up": logs(0.25, 1.125, -0.125), "twice": logs(0.25, 1.25, 0.25)}
    assert exact_weights(tilted, given).contains({"up": "1/2", "twice": "1/4"})
    off = exact_weights(base, {"up": up, "twice": logs(0.0, 0.2, np.nextafter(0.6, 1))})
    assert not off.contains({"up": "1/2", "twice": "1/4"})


def test_a_common_support_is_needed():
    half, sure = normalised([1, 1]), normalised([1, 0])
    with pytest.raises(InputError, match="at the start it does not make possible the same tokens"):
        find([[half]], {"up": [[sure]]}, 2)
    found = find([[sure], [half, half]], {"up": [[sure], [half, sure]]}, 2)  # out of the background's reach
    assert found.contains()
    with pytest.raises(InputError, match="after 'b' it does not make possible"):
        find([[sure], [half, half]], {"up": [[sure], [half, sure]]}, 2, scope="all")


def test_too_many_parts():
    """Five experts over two tokens: after each prefix six times as many, and none of them rational."""
    rng = random.Random(0)

    def steps():
        return [[normalised([rng.randint(1, 30) for _ in range(2)]) for _ in range(2**t)] for t in range(3)]

    with pytest.raises(InputError, match="more than 150 irrational parts"):
        find(steps(), {f"e{i}": steps() for i in range(5)}, 2)


@pytest.mark.parametrize("length", [0, 1])
def test_nothing_to_decide(length):
    base = [[normalised([1])]][:length]
    found = find(base, {"up": base}, 1)
    assert found.contains({"up": 17})
    assert found.positive is True
    assert str(found) == "exact with positive weights where up any"


def test_wrong_weights():
    found = find([], {"up": []}, 1)
    with pytest.raises(InputError, match="no expert"):
        found.contains({"down": 1})
    with pytest.raises(InputError, match="finite decimal or fraction"):
        found.contains({"up": float("nan")})


# The arithmetic


def test_coprime_base():
    """Every number is a product of powers of the base, whose members share nothing."""
    from math import gcd

    rng = random.Random(0)
    for _ in range(50):
        numbers = [rng.randint(1, 10**6) * rng.choice([1, 1009 * 10007, 10007**2]) for _ in range(4)]
        base = coprime_base(numbers)
        assert all(gcd(a, b) == 1 for a in base for b in base if a != b)
        for number in numbers:
            for factor in base:
                while number % factor == 0:
                    number //= factor
            assert number == 1


def test_signs_of_determinants():
    """log 2 · log 9 - log 3 · log 4 = 0 is left open; anything else is decided."""
    two, three = Log(Fraction(2)), Log(Fraction(3))
    assert sign_of_determinant([[two, three], [Log(Fraction(4)), Log(Fraction(9))]]) is None
    nothing, one = Log(), Log(shift=Fraction(1))  # zeros do not shrink the error of what is 0 by log 4 = 2 log 2 alone
    flat = [[two, three, nothing], [Log(Fraction(4)), Log(Fraction(9)), nothing], [nothing, nothing, one]]
    assert sign_of_determinant(flat) is None
    assert sign_of_determinant([[two, three], [three, two]]) == -1
    assert sign_of_determinant([]) == 1
    tiny = Log(Fraction(10**30 + 1, 10**30))
    assert sign_of_determinant([[tiny]]) == 1
    assert independent([(two, three, Log()), (Log(Fraction(4)), Log(Fraction(9)), Log())], 2)[0] == [1]
    assert independent([(two,)], 0) == ([], [])
    near, twice = (Log(Fraction(3**n, 2**m)) for n, m in ((1000, 1585), (2000, 3170)))  # twice the log: it is 0
    assert sign_of_determinant([[near, twice], [one, Log(shift=Fraction(2))]]) is None


def test_signs_of_logarithms():
    """log 2 is between 1/2 and 1, so that log 2 - 1 < 0 < log 2 - 1/2."""
    half, one = Fraction(1, 2), Fraction(1)
    assert [Log(2 * one, -half).sign, Log(half, one).sign, Log(shift=half).sign] == [1, 1, 1]
    assert [Log(2 * one, -one).sign, Log(half, half).sign, Log(shift=-half).sign] == [-1, -1, -1]
    assert Log().sign == 0


def logs(*factors: int) -> tuple[Log, ...]:
    """An equation with the logs of `n`, or of `1/n` where it is negative."""
    return tuple(Log(Fraction(n) if n > 0 else Fraction(1, -n)) for n in factors)


def test_a_subspace_that_certainly_is_empty():
    """λ = 1 and λ = 2; λ = log 3 / log 2 and λ = log 5 / log 2."""
    one, two = (Subspace(1, ((Fraction(1), Fraction(n)),)) for n in (1, 2))
    assert one.meet(two) is None
    assert Subspace.of(1, [], [logs(2, 3), logs(2, 5)]) is None
    assert Subspace.of(1, [], [logs(2, 2), logs(3, 3)]) == one
    assert Subspace(1, (), (logs(2, 2), logs(3, 3))).dimension == 0


def test_what_digits_do_not_tell_apart_is_kept_apart():
    """`λ log 3 = log 3` and `λ log 2 = log 2 + 1e-30` have no solution, but too nearly to be seen: both are kept."""
    nearly = (Log(Fraction(2)), Log(Fraction(2), Fraction(1, 10**30)))
    found = Subspace.of(1, [], [logs(3, 3), nearly])
    assert found is not None
    assert not found.contains([Fraction(1)])
    assert found.positive is None
    same = Subspace.of(1, [], [logs(2, 3), logs(4, 9)])
    assert same is not None
    assert (same.positive, same.dimension) == (None, None)


@pytest.mark.parametrize(
    ("equation", "positive"),
    [
        ((2, 3, 5, -2), False),  # a sum of positive numbers that is negative
        ((-2, -3, -5, 2), False),
        ((2, 3, 5, 1), False),
        ((-2, -3, -5, 1), False),
        ((2, 3, 1, -2), False),  # log 1 is 0
        ((2, 3, 1, 1), False),
        ((2, -3, 1, 1), None),
        ((2, 3, 5, 2), None),
    ],
)
def test_signs_that_exclude_positive_weights(equation, positive):
    """One equation of several, each with the signs of its logs; the other has positive solutions."""
    assert Subspace(3, (), (logs(*equation), logs(7, -11, 13, 1))).positive is positive


@pytest.mark.parametrize(
    ("equation", "point"),
    [((1, 0, 2), (2, 1)), ((1, -1, -1), (1, 2)), ((1, 1, 1), ("1/2", "1/2")), ((2, 2, 3), ("1/2", 1))],
)
def test_the_positive_solution_that_is_preferred(equation, point):
    """1 where that can be; `y = 1` makes `x = y - 1` and `x = 1 - y` 0, which is not above 0."""
    assert positive_solution(Echelon(2, [tuple(map(Fraction, equation))])) == tuple(map(Fraction, point))


@pytest.mark.parametrize("seed", range(30))
def test_positive_solutions(seed):
    """Fourier-Motzkin against the linear program of scipy."""
    import numpy as np
    from scipy.optimize import linprog

    rng = random.Random(seed)
    count, rows = rng.randint(1, 5), rng.randint(0, 3)
    equations = Echelon(count, [tuple(Fraction(rng.randint(-2, 2)) for _ in range(count + 1)) for _ in range(rows)])
    if not equations.consistent:
        return
    point = positive_solution(equations)
    a = np.array([[float(x) for x in row] for row in equations.key]).reshape(-1, count + 1)
    # maximise s with x_i >= s, s <= 1
    program = linprog(
        [0.0] * count + [-1.0],
        A_ub=np.hstack([-np.eye(count), np.ones((count, 1))]),
        b_ub=np.zeros(count),
        A_eq=np.hstack([a[:, :-1], np.zeros((len(a), 1))]) if len(a) else None,
        b_eq=a[:, -1] if len(a) else None,
        bounds=[(None, None)] * count + [(None, 1.0)],
    )
    assert (point is not None) == (program.status == 0 and -program.fun > 1e-9)
    if point is not None:
        assert min(point) > 0
        assert Subspace(count, equations.key).contains(point)
