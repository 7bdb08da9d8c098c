"""The claims about deviation and about the composition, one judge each (theory.md 1, 3, 4 and 10)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction

from factorcomp.certificates.claims import Verdict
from factorcomp.certificates.enclosure import (
    Value,
    excess,
    largest,
    least,
    logarithm,
    positive,
    surely_less,
    total,
)
from factorcomp.certificates.judgement import (
    UNSETTLED,
    Judgement,
    Places,
    after,
    at,
    beyond,
    everywhere,
    listed,
)
from factorcomp.certificates.step import Step
from factorcomp.certificates.tree import Levels, Tree

DISJOINT = "the experts' active intervals are disjoint on every path"
HOLDS, REFUTED, BOUNDED, UNDECIDED = Verdict.HOLDS, Verdict.REFUTED, Verdict.BOUNDED, Verdict.UNDECIDED


def well_defined(places: Places) -> Judgement:
    """No undefined ratio, no dead prefix, and none of which a model says nothing (1.1, 1.3, 7, and 1.9 for weights)."""
    broken = next(((t, h, step) for t, h, step in places.prefixes() if step.broken), None)
    if broken is None:
        return Judgement(HOLDS, f"every ratio is defined and some token is possible {everywhere(places)}", places.zero)
    t, h, step = broken
    at_all = {(t, h) for t, h, step in places.prefixes() if step.broken}
    token, openers = step.error or (None, ())
    bits = step.gaps >> 1 if step.gaps else sum(1 << i for i in openers)
    where, who = after(places.tokens(t, h)), places.names(bits)
    why = f"{where} background and experts leave no token possible: all mass vanishes"
    if step.gaps:
        silent = ["the background"] * (step.gaps & 1) + list(who)
        verbs = ("has", "it says") if len(silent) == 1 else ("have", "they say")
        why = f"{where} {listed(silent)} {verbs[0]} no next state: what {verbs[1]} there is undefined"
    elif token is not None:
        verb = "makes" if len(who) == 1 else "make"
        why = f"{where} {listed(who)} {verb} possible what the background excludes: the ratio is undefined"
    return Judgement(REFUTED, why, places.meets(lambda t, h: (t, h) in at_all), at(places, t, h, bits))


def several(bits: int) -> bool:
    """Whether two experts or more are in a set."""
    return bits & (bits - 1) != 0


def joint(places: Places, sets: Callable[[int, int], int], verb: str, holds: str) -> Judgement:
    """No prefix in scope belongs to the sets of two experts (4.1, 4.2)."""
    first = next(((t, h) for t, h, _ in places.prefixes() if several(sets(t, h))), None)
    if first is None:
        return Judgement(HOLDS, holds, places.zero)
    bits = sets(*first)
    both = "both " if bits.bit_count() == 2 else ""
    why = f"{after(places.tokens(*first))} {both}{listed(places.names(bits))} {verb}"
    return Judgement(REFUTED, why, places.meets(lambda t, h: several(sets(t, h))), at(places, *first, bits))


def pointwise_joint(places: Places) -> Judgement:
    """At most one expert deviates at a prefix."""
    holds = f"at most one expert deviates{beyond(places)} {everywhere(places)}"
    return joint(places, places.at_fault, "deviate", holds)


def interval_joint(tree: Tree) -> Judgement:
    """At most one expert is active at a prefix."""
    return joint(tree, lambda t, h: tree.active[t][h], "are active", DISJOINT)


def vanishing(
    places: Places,
    sites: Iterable[tuple[int, int, bool | None]],
    residual: Value | float | None,
    holds: str,
    fails: str,
) -> Judgement:
    """A claim that holds unless it fails at a prefix; `None` says that the numbers cannot tell."""
    unknown = None
    for t, h, failing in sites:
        if failing:
            return Judgement(REFUTED, f"{after(places.tokens(t, h))} {fails}", residual, at(places, t, h))
        unknown = unknown or (None if failing is False else (t, h))
    if unknown:
        return Judgement(UNDECIDED, f"{UNSETTLED} {after(places.tokens(*unknown))}", residual)
    return Judgement(HOLDS, holds, residual)


def exact_switching(places: Places) -> Judgement:
    """At every prefix the composition is one of its components (4.4)."""
    gaps = {step: least(step.distances) for step in _steps(places)}
    sites = ((t, h, positive(gaps[step])) for t, h, step in places.prefixes())
    holds = f"the composition is one of its components {everywhere(places)}"
    return vanishing(places, sites, largest(gaps.values(), places.zero), holds, "the composition is no component")


def unit_normalizer(places: Places) -> Judgement:
    """`Z = 1` at every prefix (1.8)."""
    gaps = {step: positive(abs(step.normalizer - step.one)) for step in _steps(places)}
    sites = [(t, h, gaps[step]) for t, h, step in places.prefixes()]
    low, high = log_normalizers(places)
    residual = places.zero if not any(gaps.values()) else None if low is None or high is None else max(-low, high)
    return vanishing(places, sites, residual, f"Z = 1 {everywhere(places)}", "Z is not 1")


def log_normalizers(places: Places) -> tuple[float | None, float | None]:
    """The smallest and the largest `log Z` in scope, in nats."""
    values = [step.normalizer for step in _steps(places)]
    if not values:
        return None, None
    low, high = least(values), largest(values, places.zero)
    return _log(low), _log(high)


def _log(value: Value) -> float | None:
    bounds = (value, value) if isinstance(value, Fraction) else (value.lower, value.upper)
    if not 0 < bounds[0] <= bounds[1] < float("inf"):
        return None
    low, high = logarithm(bounds[0])[0], logarithm(bounds[1])[1]
    return float((low + high) / 2) if high - low < Fraction(1, 10**9) else None


def local_equals_global(tree: Tree) -> Judgement:
    """Theorem 1.5 (3): the two laws are one iff `B(hy)` is constant in `y` on the support, at every prefix of R^."""
    sites = list(_constancy(tree))
    residual = tree.zero if all(failing is False for _, _, failing in sites) else tv_local_global(tree)
    holds = "stepwise and sequence-level composition are one distribution"
    fails = "the stepwise and the sequence-level next token differ"
    return vanishing(tree, sites, residual, holds, fails)


def _constancy(tree: Tree) -> Iterator[tuple[int, int, bool | None]]:
    """Whether `B` varies among the children of each prefix in R^; `B` itself backwards from the leaves."""
    varies: list[list[bool | None]] = []
    below = [tree.one] * len(tree.reach[-1])
    for steps, reach in zip(reversed(tree.steps), reversed(tree.reach[:-1]), strict=True):
        level, known = [], {}
        varies.append([False] * len(steps))
        for h, step in enumerate(steps):
            above = tree.one
            if reach[h]:
                pairs = zip(step.weights, tree.children(below, h), strict=True)
                children = [pair for pair, possible in zip(pairs, step.support, strict=True) if possible]
                values = [b for _, b in children]
                varies[-1][h] = differ(values)
                above = values[0] if varies[-1][h] is False else total((w * b for w, b in children), tree.zero)
                if varies[-1][h] is False and step.normalizer is not step.one:
                    above = known.setdefault((step, id(above)), step.normalizer * above)
            level.append(above)
        below = level
    for t, level in enumerate(reversed(varies)):
        yield from ((t, h, level[h]) for h in range(len(level)) if tree.reach[t][h])


def differ(values: list[Value]) -> bool | None:
    """Whether the values are not all the same; `None` where enclosures cannot tell."""
    first = values[0]
    if all(value is first for value in values) or isinstance(first, Fraction):
        return any(value != first for value in values)
    return True if max(value.lower for value in values) > min(value.upper for value in values) else None


def tv_local_global(tree: Tree) -> Value:
    """Theorem 1.5 (1): `P_G = P_L e^S / Z_G` with `Z_G = E_L e^S`, and `e^S` is known one token before the end."""
    if not tree.length:
        return tree.zero
    paths: Levels = [[tree.one]]
    for steps in tree.steps:
        pairs = zip(paths[-1], steps, strict=True)
        factors = [tree.zero if step.broken or not path else path * step.normalizer for path, step in pairs]
        paths.append([factor for factor in factors for _ in range(tree.size)])
    return reweighted(list(zip(tree.composition[-2], paths[-1][:: tree.size], strict=True)), tree.zero)


def reweighted(masses: Sequence[tuple[Value, Value]], zero: Value) -> Value:
    """The total variation between a law and the same multiplied by factors: pairs of a mass and its factor."""
    mean = total((p * factor for p, factor in masses), zero)
    lighter = [(p, factor) for p, factor in masses if surely_less(factor, mean)]
    lost = total((p for p, _ in lighter), zero)
    return excess(lost, total((p * factor for p, factor in lighter), zero) / mean)


def tv_to_switching(tree: Tree) -> Value:
    """The total variation between the composition and the switching model (section 4)."""
    if all(step.switching is step.composition for step in tree.reached):
        return tree.zero
    switching = tree.law(lambda step: step.switching, tree.reach)[-1]
    return total((excess(p, s) for p, s in zip(tree.composition[-1], switching, strict=True)), tree.zero)


def terminates(tree: Tree) -> Judgement:
    """All mass has ended by the horizon, or the mass that has not bounds it (10)."""
    alive = [h for h, reached in enumerate(tree.reach[-1]) if reached and not tree.ended(tree.length, h)]
    residual = total((tree.composition[-1][h] for h in alive), tree.zero)
    if not alive:
        return Judgement(HOLDS, "every sequence has ended by the horizon", tree.zero)
    first, ends = None, [r and tree.ended(tree.length, h) for h, r in enumerate(tree.reach[-1])]
    for t in reversed(range(tree.length)):
        ends = [r and (tree.ended(t, h) or any(tree.children(ends, h))) for h, r in enumerate(tree.reach[t])]
        first = next(((t, h) for h, r in enumerate(tree.reach[t]) if r and not ends[h]), first)
    why = f"a sequence has not ended by the horizon with probability {float(residual):.4g}"
    if first:
        why += f"; {after(tree.tokens(*first))} EOS cannot be reached"
    return Judgement(BOUNDED, why, residual, at(tree, *first, 0) if first else None)


def _steps(places: Places) -> list[Step]:
    return list(dict.fromkeys(step for _, _, step in places.prefixes()))
