"""Theorem 4.5 (segment law): what intervals add to exact kernels; and CE 4.6, where they are missing."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family, Kernel, Shape, interval_joint, palette, pointwise_joint, shape
from proofs_checks.definitions.laws import Law, Prefix, kernel, law_of, marginal, mass_of, pushforward, sequences
from proofs_checks.definitions.operator import NullTokens, compose
from proofs_checks.definitions.skills import active, canonical_times, deviating, switching
from proofs_checks.definitions.stopping import Times, stopping_times, window
from proofs_checks.library import verdicts
from proofs_checks.statement import Control, Relation, Statement, constant, equal, fact


@dataclass(frozen=True)
class Segment:
    """A family, a convention, one of its experts, and stopping times `σ_1 <= σ_2`."""

    family: Family
    null: NullTokens
    expert: int
    first: Times
    last: Times


def segment(draw: Draw) -> Segment:
    """Any stopping times; in between the other experts are the background, elsewhere all have one support."""
    size, length = draw.pick(((2, 3), (2, 2), (3, 2), (1, 3)))
    first, other = (draw.pick(stopping_times(size, length)) for _ in range(2))
    last = {path: max(start, other[path]) for path, start in first.items()}
    inside = {path[:step] for path, step in window(first, last)}
    of = Shape(size, length, draw.integer(1, 3), draw.one_in(2))
    null: NullTokens = draw.pick(("cancel", "strict", "drop"))
    row, place = palette(draw, of), draw.integer(0, of.experts - 1)
    background = {h: row() for h in of.prefixes}

    def kernel_of(expert: int) -> Kernel:
        rows = {h: draw.row_inside(base) for h, base in background.items()}
        for h in inside:
            inner = draw.row_inside(background[h], zeros=of.zeros)
            acting = draw.row(size, zeros=of.zeros) if null == "cancel" else inner
            rows[h] = acting if expert == place else background[h]
        return rows

    family = Family(size, length, background, tuple(map(kernel_of, range(of.experts))))
    return Segment(family, null, place, first, last)


def canonical(draw: Draw) -> Segment:
    """JF-int, and the canonical times of an expert on `R^`."""
    family = interval_joint(draw, shape(draw, sizes=(1, 3)))
    return with_canonical_times(family, draw.integer(0, len(family.experts) - 1))


def pointwise_only(draw: Draw) -> Segment:
    """JF-pt."""
    family = pointwise_joint(draw, Shape(2, 3, 2, zeros=False))
    return with_canonical_times(family, draw.integer(0, 1))


def with_canonical_times(family: Family, expert: int) -> Segment:
    """`σ_1*, σ_2*` on `R^`."""
    found = deviating(family.experts[expert], family.background, compose(family).reachable)
    times = canonical_times(found, family.size, family.length)
    first, last = ({path: pair[i] for path, pair in times.items()} for i in range(2))
    return Segment(family, "cancel", expert, first, last)


def onwards(rows: Kernel, entry: Prefix, family: Family) -> Law:
    """The law of whole sequences that start with the entry prefix, by the kernels from there."""
    sure = {entry[:step]: tuple(Fraction(y == token) for y in range(family.size)) for step, token in enumerate(entry)}
    return law_of({**rows, **sure}, family.size, family.length)


def entries(instance: Segment, law: Law) -> set[Prefix]:
    """The prefixes at which the interval is entered, of positive probability."""
    return {y[: instance.first[y]] for y in law if instance.first[y] < instance.last[y]}


def check_segments(instance: Segment) -> Iterator[Relation]:
    """The law of exit and segment, given each entry prefix: of the composition, and of the expert's kernels."""
    family = instance.family
    composed = compose(family, instance.null)

    def segment_of(y: Prefix) -> tuple[int, Prefix]:
        return instance.last[y], y[instance.first[y] : instance.last[y]]

    for g in entries(instance, composed.local):
        mass = mass_of(composed.local, g)
        here = {y: p / mass for y, p in composed.local.items() if y[: len(g)] == g}
        there = onwards(family.experts[instance.expert], g, family)
        yield equal(
            "(σ_2, y_{σ_1+1:σ_2}) given the entry has one law under P^ and P_i",
            pushforward(here, segment_of),
            pushforward(there, segment_of),
        )


def check(instance: Segment) -> Iterator[Relation]:
    """The hypothesis, and the segments."""
    composed, expert = compose(instance.family, instance.null), instance.family.experts[instance.expert]
    inside = {path[:step] for path, step in window(instance.first, instance.last)} & set(composed.reachable)
    yield fact("p^ = p_i on R^ where σ_1 <= |h| < σ_2", all(composed.kernel.get(h) == expert[h] for h in inside))
    yield from check_segments(instance)


def peeking(draw: Draw) -> Segment:
    """`σ_2` looks one token ahead, and another expert acts after `σ_1 + 1`."""
    half, more = "1/2 1/2", "1/4 3/4"
    base = kernel(dict.fromkeys(("", "0", "1"), half))
    other = base | kernel({"0": more, "1": more})
    first: Times = dict.fromkeys(sequences(2, 2), 0)
    last: Times = {y: 1 + y[1] * draw.integer(0, 1) for y in first}
    return Segment(Family(2, 2, base, (base, other)), "cancel", 0, first, last)


HALF = kernel(dict.fromkeys(("", "0", "1", "00", "01", "10", "11"), "1/2 1/2"))
COPIES = HALF | kernel({"": "3/4 1/4", "00": "3/4 1/4", "10": "3/4 1/4", "01": "1/4 3/4", "11": "1/4 3/4"})
BETWEEN = HALF | kernel({"0": "1/4 3/4", "1": "1/4 3/4"})
INTERRUPTED = Family(2, 3, HALF, (COPIES, BETWEEN))


def check_interrupted(family: Family) -> Iterator[Relation]:
    """Kernels exact, segment law wrong: its rationals."""
    composed = compose(family, "strict")
    yield equal("p^ is the switching model", composed.kernel, switching(family, family.prefixes))
    yield fact("Z = 1", set(composed.normalizer.values()) == {1})
    expert = marginal(law_of(family.experts[0], 2, 3), (0, 2))
    wanted = dict(zip(((0, 0), (0, 1), (1, 0), (1, 1)), (Fraction(n, 8) for n in (3, 3, 1, 1)), strict=True))
    yield equal("(y_1, y_3) under p_1: (3, 3, 1, 1)/8", expert, wanted)
    wanted = dict(zip(wanted, (Fraction(n, 32) for n in (9, 15, 3, 5)), strict=True))
    yield equal("(y_1, y_3) under p^: (9, 15, 3, 5)/32", marginal(composed.local, (0, 2)), wanted)
    says = verdicts(family, "strict")
    claims = says["pointwise_joint"], says["interval_joint"], says["exact_switching"]
    yield equal("verify(): joint by prefix, not by interval, exact", claims, (True, False, True))


def alone(draw: Draw) -> Family:
    """Expert 2 does not act."""
    return Family(2, 3, HALF, (COPIES, HALF))


def check_one_activity(instance: Segment) -> Iterator[Relation]:
    """False: JF-int alone supplies it for prefixes that are not active."""
    composed, expert = compose(instance.family, instance.null), instance.family.experts[instance.expert]
    found = deviating(expert, instance.family.background, composed.reachable)
    outside = set(composed.reachable) - active(found, instance.family.size, instance.family.length)
    yield fact("p^ = p_i off Act_i", all(composed.kernel.get(h) == expert[h] for h in outside))


STATEMENTS = (
    Statement(
        number="4.5",
        kind="theorem",
        sentence="where the composition's kernels are an expert's in an interval, so is the segment's law",
        equation="law of (σ_2, y_{σ_1+1:σ_2}) given g: under P^ as under P_i, for every entry prefix g",
        hypotheses=("σ_1 <= σ_2 stopping times", "p^(.|h) = p_i(.|h) for h in R^ with σ_1 <= |h| < σ_2", "P^(g) > 0"),
        draw=segment,
        check=check,
        controls=(
            Control("p^ = p_i in the interval: JF-pt alone", pointwise_only, check_segments),
            Control("σ_2 a stopping time", peeking, check_segments),
        ),
    ),
    Statement(
        number="4.5 canonical",
        kind="theorem",
        sentence="disjoint intervals supply this with the canonical ones",
        equation="JF-int on R^: p^ = p_i on Act_i",
        hypotheses=("JF-int on R^", "cancel, or p_i << p_b"),
        draw=canonical,
        check=check,
        controls=(
            Control("JF-int: JF-pt alone", pointwise_only),
            Control("Act_i", canonical, check_one_activity),
        ),
    ),
    Statement(
        number="4.6",
        kind="counterexample",
        sentence="exact kernels do not make the segment law exact",
        equation="p_1 starts, p_2 interrupts, p_1 copies: (y_1, y_3) is (3,3,1,1)/8 under p_1, (9,15,3,5)/32 under p^",
        cases=constant(INTERRUPTED),
        check=check_interrupted,
        controls=(Control("expert 2 interrupts", alone),),
    ),
)
