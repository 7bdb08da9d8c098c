"""Section 10, mechanisms M1 to M4: four ways in which composing many experts ends too early or too late."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from factorcomp.testing.drawing import Draw
from proofs_checks.definitions.ending import Hazards, hazard, joined, odds
from proofs_checks.definitions.laws import ONE, ZERO, row_tv
from proofs_checks.statement import Control, Relation, Statement, at_most, close, constant, equal

RARE = Fraction(1, 100)
MEAN_LENGTHS = {
    Fraction(1, 2): {1: "199", 2: "397", 3: "793", 5: "3169", 8: "25345"},
    Fraction(2): {1: "50.5", 2: "25.8", 3: "13.4", 5: "4.1", 8: "1.4"},
}
SHIFTS = {Fraction(1, 2): ".0050", Fraction(2): ".0098"}


@dataclass(frozen=True)
class Common:
    """Every expert has the background's content, and odds of stopping `factor` times the background's."""

    base: Fraction
    factor: Fraction
    experts: int
    content: tuple[Fraction, ...]

    @property
    def hazards(self) -> Hazards:
        """One step; EOS last."""
        moved = odds(self.base) * self.factor
        expert = joined(moved / (1 + moved), self.content, len(self.content))
        return Hazards(
            (joined(self.base, self.content, len(self.content)), *((expert,) * self.experts)), len(self.content)
        )


def common(draw: Draw) -> Common:
    """Any hazard, factor, content; up to eight experts."""
    return Common(hazard(draw), draw.fraction(), draw.integer(1, 8), draw.row(draw.integer(1, 3), zeros=True))


def composed_hazard(instance: Hazards) -> Fraction:
    """`e^`."""
    composed = instance.composed()
    return composed[instance.end] if composed else ZERO


def check_common(instance: Common) -> Iterator[Relation]:
    """The mean length is that of a constant hazard, `1/e^`: the first twenty terms of `sum_n P(length > n)` and the
    rest from the twenty-first step on."""
    k, base, factor = instance.experts, instance.base, instance.factor
    after = composed_hazard(instance.hazards)
    yield equal("odds^ = odds_b ρ^k", odds(after), odds(base) * factor**k)
    stated = 1 + (1 - base) / (base * factor**k)
    alive = [(1 - after) ** n for n in range(21)]
    yield equal("mean length = 1 + (1-e_b)/(e_b ρ^k)", sum(alive[:20], ZERO) + alive[20] * stated, stated)


def check_common_once(instance: Common) -> Iterator[Relation]:
    """False: the factor counts once, whatever the number of experts."""
    yield equal("odds^ = odds_b ρ", odds(composed_hazard(instance.hazards)), odds(instance.base) * instance.factor)


def check_common_numbers(base: Fraction) -> Iterator[Relation]:
    """The two series of mean lengths."""
    for factor, lengths in MEAN_LENGTHS.items():
        for k, stated in lengths.items():
            instance = Common(base, factor, k, (ONE,)).hazards
            mean = 1 / composed_hazard(instance)
            shown = str(mean) if mean.denominator == 1 else f"{float(mean):.1f}"
            yield equal(f"ρ = {factor}, k = {k}: mean length {stated}", shown, stated)
            shift = f"{float(row_tv(instance.rows[0], instance.rows[1])):.4f}".lstrip("0")
            yield equal(f"ρ = {factor}: per-step TV {SHIFTS[factor]}", shift, SHIFTS[factor])


def conflict(first: str, second: str) -> Hazards:
    """All stop with probability 1/100; contents `(1/2, 1/2)`, `(first, 1-first)`, `(second, 1-second)`; EOS last."""
    contents = [(Fraction(share), 1 - Fraction(share)) for share in ("1/2", first, second)]
    return Hazards(tuple(joined(RARE, q, 2) for q in contents), 2)


def check_conflict_numbers(shares: tuple[str, str]) -> Iterator[Relation]:
    """Two experts that want different tokens, mildly and strongly; and two that want the same."""
    like, dislike = shares
    yield equal(
        "(9/10, 1/10) against (1/10, 9/10): e^ = 25/916", composed_hazard(conflict(like, dislike)), Fraction(25, 916)
    )
    yield equal("(9/10, 1/10) twice: e^ = 25/4084", composed_hazard(conflict(like, like)), Fraction(25, 4084))
    strongly = composed_hazard(conflict("999/1000", "1/1000"))
    yield equal(".999 against .001: e^ = .717", f"{float(strongly):.3f}", "0.717")


@dataclass(frozen=True)
class Contents:
    """Two experts that prefer token 0, or one each, with shares above one half."""

    shares: tuple[Fraction, Fraction]
    agree: bool

    @property
    def hazards(self) -> Hazards:
        """All stop with probability 1/100."""
        one, other = self.shares
        return conflict(str(one), str(other if self.agree else 1 - other))


def contents(draw: Draw) -> Contents:
    """Shares strictly between 1/2 and 1."""

    def share() -> Fraction:
        return 1 - Fraction(1, draw.integer(3, 1000))

    return Contents((share(), share()), draw.one_in(2))


def check_conflict(instance: Contents) -> Iterator[Relation]:
    """Nobody shifts EOS; conflict makes it likelier, agreement rarer; `odds^ Z_q = odds_b`."""
    hazards = instance.hazards
    after = composed_hazard(hazards)
    yield equal("odds^ = odds_b / Z_q", odds(after), odds(RARE) / hazards.content_normalizer)
    if instance.agree:
        yield at_most("they agree: e^ < e_b", after, RARE * (1 - Fraction(1, 10**6)))
    else:
        yield at_most("they conflict: e_b < e^", RARE * (1 + Fraction(1, 10**6)), after)


def check_no_shift(instance: Contents) -> Iterator[Relation]:
    """False: where no expert shifts EOS, the composition does not."""
    yield equal("e^ = e_b", composed_hazard(instance.hazards), RARE)


@dataclass(frozen=True)
class Wrong:
    """Experts that share the hazard `true`; the background subtracted has another. One content for all."""

    true: Fraction
    subtracted: Fraction
    experts: int
    content: tuple[Fraction, ...]

    @property
    def hazards(self) -> Hazards:
        """EOS last."""
        end = len(self.content)
        expert = joined(self.true, self.content, end)
        return Hazards((joined(self.subtracted, self.content, end), *((expert,) * self.experts)), end)


def wrong(draw: Draw) -> Wrong:
    """Any two hazards."""
    return Wrong(hazard(draw), hazard(draw), draw.integer(1, 6), draw.row(draw.integer(1, 3), zeros=True))


def check_wrong(instance: Wrong) -> Iterator[Relation]:
    """`k-1` factors too many."""
    true, subtracted = odds(instance.true), odds(instance.subtracted)
    after = odds(composed_hazard(instance.hazards))
    yield equal("odds^ = odds_0 (odds_0/odds_b)^{k-1}", after, true * (true / subtracted) ** (instance.experts - 1))


def check_wrong_k(instance: Wrong) -> Iterator[Relation]:
    """False: `k` factors."""
    true, subtracted = odds(instance.true), odds(instance.subtracted)
    after = odds(composed_hazard(instance.hazards))
    yield equal("odds^ = odds_0 (odds_0/odds_b)^k", after, true * (true / subtracted) ** instance.experts)


@dataclass(frozen=True)
class Alternating:
    """The background may stop anywhere; expert 1 only at even lengths, expert 2 only at odd ones, if `apart`."""

    background: Fraction
    experts: tuple[Fraction, Fraction]
    apart: bool = True

    def at(self, step: int) -> Hazards:
        """The step after `step` tokens; one content token, EOS last."""
        first = self.experts[0] if step % 2 == 0 else ZERO
        second = self.experts[1] if step % 2 == 1 or not self.apart else ZERO
        return Hazards(tuple(joined(e, (ONE,), 1) for e in (self.background, first, second)), 1)


def alternating(draw: Draw) -> Alternating:
    """Positive hazards."""
    return Alternating(hazard(draw), (hazard(draw), hazard(draw)))


def overlapping(draw: Draw) -> Alternating:
    """Expert 2 may stop anywhere."""
    return Alternating(hazard(draw), (hazard(draw), hazard(draw)), apart=False)


def check_alternating(instance: Alternating) -> Iterator[Relation]:
    """The composition never stops; each component does."""
    steps = [instance.at(step) for step in range(12)]
    yield equal("e^ = 0 at every step", {composed_hazard(step) for step in steps}, {ZERO})
    for model in range(3):
        alive = math.prod((1 - step.hazards[model] for step in steps), start=ONE)
        floor = min(max(step.hazards[model] for step in steps[t : t + 2]) for t in range(11))
        yield at_most("a component outlives 2n steps with probability at most (1-e)^n", alive, (1 - floor) ** 6)
        yield at_most("e > 0", Fraction(1, 10**9), floor)


def survival(last: int, exponent: float = 0.5) -> tuple[float, float]:
    """From t = 4 on, with `e_b = t^{-exponent}` and `e_i = 1/t`: the survival under `P^` up to `last`, and the largest
    `e^ t^{3/2}`."""
    alive, largest = 0.0, 0.0
    for t in range(4, last + 1):
        base = t**-exponent
        moved = (1 / (t - 1)) ** 2 * (1 - base) / base
        alive += math.log1p(-moved / (1 + moved))
        largest = max(largest, moved / (1 + moved) * t**1.5)
    return math.exp(alive), largest


def check_positive_hazards(exponent: float) -> Iterator[Relation]:
    """Two experts; survival does not go to 0, since the hazards have a finite sum."""
    for t in (4, 9, 16, 100, 10_000):
        root = math.isqrt(t)
        instance = Hazards(tuple(joined(Fraction(1, d), (ONE,), 1) for d in (root, t, t)), 1)
        yield close("the rule is the composition", float(composed_hazard(instance)), _rule(t, exponent))
    alive, constant_ = survival(200_000, exponent)
    yield equal("survival at t = 2·10⁵ is .397", f"{alive:.3f}", "0.397")
    # sum over t > n of t^{-3/2} is below 2 n^{-1/2}, and log(1-e) > -1.01 e for e < 0.01.
    yield at_most("survival for ever >= .39", 0.39, alive * math.exp(-1.01 * constant_ * 2 / math.sqrt(200_000)))
    ratio = _rule(10**8, exponent) * 10**12
    yield at_most("e^ ~ t^{-3/2}", abs(ratio - 1), 1e-3)
    yield close("an expert survives with probability 3/t", math.prod(1 - 1 / t for t in range(4, 1001)), 3 / 1000)


def _rule(t: int, exponent: float) -> float:
    """`e^` at step t by theorem 10.1."""
    base = t**-exponent
    moved = (1 / (t - 1)) ** 2 * (1 - base) / base
    return moved / (1 + moved)


STATEMENTS = (
    Statement(
        number="10.1 M1",
        kind="proposition",
        sentence="a common shift of the EOS odds counts k times",
        equation="odds^ = odds_b ρ^k,   mean length 1 + (1-e_b)/(e_b ρ^k)",
        hypotheses=("all experts have the background's content, so Z_q = 1",),
        draw=common,
        check=check_common,
        controls=(Control("the exponent k", common, check_common_once),),
    ),
    Statement(
        number="10.1 M1 (numbers)",
        kind="proposition",
        sentence="a shift too small to see makes sequences a hundred times longer, or nearly empty",
        equation="e_b = 1/100, k = 1, 2, 3, 5, 8:   ρ = 1/2: 199 ... 25345,   ρ = 2: 50.5 ... 1.4",
        cases=constant(RARE),
        check=check_common_numbers,
        controls=(Control("e_b = 1/100", lambda draw: Fraction(1, 50)),),
    ),
    Statement(
        number="10.1 M2",
        kind="proposition",
        sentence="experts that disagree on content make stopping likelier, those that agree rarer; none shifts it",
        equation="odds^ = odds_b / Z_q",
        hypotheses=("all models stop with one probability",),
        draw=contents,
        check=check_conflict,
        controls=(Control("that it moves", contents, check_no_shift),),
    ),
    Statement(
        number="10.1 M2 (numbers)",
        kind="proposition",
        sentence="a mild conflict nearly triples the hazard, a strong one makes stopping the likeliest token",
        equation="e = 1/100, q_b = (1/2, 1/2):   25/916, .717; agreement 25/4084",
        cases=constant(("9/10", "1/10")),
        check=check_conflict_numbers,
        controls=(Control("(9/10, 1/10)", lambda draw: ("4/5", "1/5")),),
    ),
    Statement(
        number="10.1 M3",
        kind="proposition",
        sentence="a hazard that all experts share, but the background does not, counts k-1 times too often",
        equation="odds^ = odds_0 (odds_0/odds_b)^{k-1}",
        hypotheses=("one content for all",),
        draw=wrong,
        check=check_wrong,
        controls=(Control("the exponent k-1", wrong, check_wrong_k),),
        not_checked="contents that differ: 11.1",
    ),
    Statement(
        number="10.1 M4",
        kind="proposition",
        sentence="experts that stop at even and at odd lengths never stop together",
        equation="e_1 = 0 at odd, e_2 = 0 at even lengths:   e^ = 0",
        draw=alternating,
        check=check_alternating,
        controls=(Control("that they exclude each other", overlapping),),
        not_checked="all lengths: the hazards repeat after two steps",
    ),
    Statement(
        number="10.1 M4 (positive hazards)",
        kind="proposition",
        sentence="with positive hazards too, components that stop surely compose to one that may never stop",
        equation="e_b = t^{-1/2}, e_i = 1/t, t >= 4, k = 2:   e^ ~ t^{-3/2}, survival .397 at 2·10⁵",
        cases=constant(0.5),
        check=check_positive_hazards,
        controls=(Control("e_b = t^{-1/2}", lambda draw: 0.4),),
        not_checked="the limit is bounded below with a tail sum, not computed",
    ),
)
