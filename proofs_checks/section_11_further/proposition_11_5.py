"""Proposition 11.5: the cheapest resets of experts to the background that make a family jointly factorizable."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import combinations

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family, Row
from proofs_checks.definitions.laws import Prefix, support
from proofs_checks.definitions.operator import compose
from proofs_checks.definitions.skills import active, deviating, pointwise_joint
from proofs_checks.statement import Control, Relation, Statement, equal

Reset = tuple[int, Prefix]


@dataclass(frozen=True)
class Priced:
    """A family with one support at every prefix, and the cost of resetting expert `i` at `h` where it deviates."""

    family: Family
    costs: Mapping[Reset, int]

    def reset(self, chosen: Collection[Reset]) -> Family:
        """The family with the background's row there."""
        family = self.family
        experts = tuple(
            {h: family.background[h] if (i, h) in chosen else row for h, row in expert.items()}
            for i, expert in enumerate(family.experts)
        )
        return Family(family.size, family.length, family.background, experts)

    def cheapest(self, joint: Callable[[Family], bool]) -> int:
        """Over all sets of resets."""
        pairs = list(self.costs)
        return min(
            sum(self.costs[pair] for pair in chosen)
            for count in range(len(pairs) + 1)
            for chosen in combinations(pairs, count)
            if joint(self.reset(chosen))
        )


def priced(draw: Draw) -> Priced:
    """Two tokens, up to three steps and experts; at most six deviating pairs, on reach; costs from 0 to 4."""
    size, length, count = 2, draw.integer(1, 3), draw.integer(1, 3)
    shell = Family(size, length, {}, ())
    zeros = draw.one_in(3)
    background: dict[Prefix, Row] = {h: draw.row(size, zeros=zeros) for h in shell.prefixes}
    experts: list[dict[Prefix, Row]] = [dict(background) for _ in range(count)]
    reachable = compose(Family(size, length, background, tuple(experts))).reachable
    # Rows with one possible token cannot be changed within their support.
    free = [h for h in reachable if len(support(background[h])) > 1]
    costs: dict[Reset, int] = {}
    for h in free:
        for i in range(count):
            if len(costs) < 6 and draw.one_in(2):
                weights = [cell * (2 if y == 0 else 1) for y, cell in enumerate(background[h])]
                experts[i][h] = tuple(weight / sum(weights) for weight in weights)
                costs[i, h] = draw.integer(0, 4)
    return Priced(Family(size, length, background, tuple(experts)), costs)


def deviations(family: Family) -> list[set[Prefix]]:
    """`Dev_i` on `R^`."""
    scope = compose(family).reachable
    return [deviating(expert, family.background, scope) for expert in family.experts]


def is_pointwise(family: Family) -> bool:
    """JF-pt."""
    return pointwise_joint(deviations(family))


def is_interval(family: Family) -> bool:
    """JF-int."""
    return pointwise_joint(active(found, family.size, family.length) for found in deviations(family))


def check_pointwise(instance: Priced) -> Iterator[Relation]:
    """Keep the dearest at each prefix."""
    by_prefix: dict[Prefix, list[int]] = {}
    for (_, h), cost in instance.costs.items():
        by_prefix.setdefault(h, []).append(cost)
    formula = sum(sum(costs) - max(costs) for costs in by_prefix.values())
    yield equal("sum_h [sum c_i(h) - max c_i(h)] is the least cost", formula, instance.cheapest(is_pointwise))
    after = compose(instance.reset(instance.costs)).reachable
    yield equal("resets leave R^ alone", set(after), set(compose(instance.family).reachable))


def check_keep_first(instance: Priced) -> Iterator[Relation]:
    """False: keep the first deviator."""
    by_prefix: dict[Prefix, list[int]] = {}
    for (_, h), cost in instance.costs.items():
        by_prefix.setdefault(h, []).append(cost)
    formula = sum(sum(costs[1:]) for costs in by_prefix.values())
    yield equal("keeping the first is cheapest", formula, instance.cheapest(is_pointwise))


def planned(instance: Priced, *, once: bool = True) -> int:
    """The dynamic programme; without `once` an expert may act again after it has finished."""
    family, costs = instance.family, instance.costs
    reachable = set(compose(family).reachable)
    everyone = range(len(family.experts))

    @cache
    def least(h: Prefix, finished: frozenset[int], acting: int | None) -> int:
        if h not in reachable:
            return 0
        options = []
        for following in {acting, None, *(i for i in everyone if i not in finished)}:
            done = finished | {acting} if once and acting is not None and following != acting else finished
            here = sum(costs.get((i, h), 0) for i in everyone if i != following)
            options.append(here + sum(least((*h, y), done, following) for y in support(family.background[h])))
        return min(options)

    return least((), frozenset(), None)


def check_interval(instance: Priced) -> Iterator[Relation]:
    """The dynamic programme finds the least cost."""
    yield equal("f(∅, ∅, none) is the least cost", planned(instance), instance.cheapest(is_interval))


def check_again(instance: Priced) -> Iterator[Relation]:
    """False: without the set of finished experts."""
    yield equal("f(∅, none) is the least cost", planned(instance, once=False), instance.cheapest(is_interval))


def interleaved(draw: Draw) -> Priced:
    """Expert 0 deviates before and after expert 1 (4.3)."""
    half = draw.row(2)
    background: dict[Prefix, Row] = dict.fromkeys(Family(2, 3, {}, ()).prefixes, half)
    moved = tuple(weight / sum((half[0] * 2, half[1])) for weight in (half[0] * 2, half[1]))
    first = {**background, (): moved, (0, 0): moved}
    second = {**background, (0,): moved}
    costs: dict[Reset, int] = {
        (0, ()): draw.integer(1, 4),
        (1, (0,)): draw.integer(1, 4),
        (0, (0, 0)): draw.integer(1, 4),
    }
    return Priced(Family(2, 3, background, (first, second)), costs)


STATEMENTS = (
    Statement(
        number="11.5 (JF-pt)",
        kind="proposition",
        sentence="the cheapest change that gives JF-pt keeps the dearest deviator at each prefix",
        equation="cost sum_h [sum_{i in Dev(h)} c_i(h) - max_{i in Dev(h)} c_i(h)]",
        hypotheses=("common support", "costs are not negative"),
        draw=priced,
        check=check_pointwise,
        controls=(Control("the dearest", priced, check_keep_first),),
        weight=4,
    ),
    Statement(
        number="11.5 (JF-int)",
        kind="proposition",
        sentence="for JF-int dynamic programming over the tree finds the cheapest change",
        equation="f(h,F,a) = min_{a'} sum_{i in Dev(h), i != a'} c_i(h) + sum_y f(hy,F',a')",
        hypotheses=("common support", "costs are not negative"),
        draw=lambda draw: interleaved(draw) if draw.one_in(8) else priced(draw),
        check=check_interval,
        controls=(Control("that a finished expert does not act again", interleaved, check_again),),
        not_checked="the cost O(|tree| 2^k k²)",
        weight=8,
    ),
)
