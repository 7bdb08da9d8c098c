"""The third truth: every claim and measure by brute force in fractions, from the definitions of theory.md alone.

It shares no code with the engines or the kernel (only the words of `factorcomp.certificates.claims`), stands on the
literal definitions of `proofs_checks`, enumerates every sequence of `V^T`, and prefers the literal reading to the quick
one. Meant for `V <= 5, T <= 4` or `V = 2, T <= 6`.

Words: a *prefix* and a *sequence* are tuples of token numbers; a *row* is a tuple of Fractions; a *kernel* is a dict
from every prefix to its row; a *law* is a dict from sequence to probability, without the zeros. A *model* that comes in
is a list of steps, each a list of rows by prefix index (first token most significant); a row of `None` is a gap: there
the model says nothing, and a prefix in scope that meets one is undefined.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from itertools import combinations, product

from factorcomp.certificates.claims import (
    ClaimResult,
    ExpertMeasures,
    Findings,
    MarginalWitness,
    Measures,
    Number,
    PairWitness,
    PositionWitness,
    PrefixWitness,
    Question,
    Spans,
    Termination,
    Verdict,
    Witness,
)
from proofs_checks.definitions.laws import (
    ONE,
    ZERO,
    Kernel,
    Law,
    Prefix,
    Row,
    law_of,
    law_tv,
    log,
    log_ratio_range,
    marginal,
    mass_of,
    probability_that,
    reach,
    row_tv,
    support,
)
from proofs_checks.definitions.operator import tilted, weight_of
from proofs_checks.definitions.skills import active as active_set

Model = Sequence[Sequence[Sequence[Fraction] | None]]

BACKGROUND = "background"


# Numbers


def exceeds_in_nats(ratio: Fraction, threshold: Fraction) -> bool:
    """Whether `log ratio > threshold`, exactly, for `ratio >= 1` and `threshold >= 0`.

    For a positive rational threshold equality is impossible (Lindemann), so enough digits decide.
    """
    if threshold == 0:
        return ratio > 1
    if ratio == 1:
        return False
    digits = 30
    while True:
        context = Context(prec=digits)
        logs = [Decimal(part).ln(context) for part in (ratio.numerator, ratio.denominator)]
        bound = context.divide(Decimal(threshold.numerator), Decimal(threshold.denominator))
        difference = context.subtract(context.subtract(logs[0], logs[1]), bound)
        # Each of the five roundings errs by at most one unit in the last of `digits` places of a number below `size`.
        size = sum(abs(number) for number in (*logs, bound)) + 1
        if abs(difference) > 8 * size * Decimal(10) ** (1 - digits):
            return difference > 0
        digits *= 2


# Models and laws


def kernel_of(model: Model, size: int, length: int) -> Kernel:
    """The model as a dict from every prefix of length `< length` to its row."""
    kernel = {}
    for step in range(length):
        for index, prefix in enumerate(product(range(size), repeat=step)):
            row = model[step][index]
            kernel[prefix] = None if row is None else tuple(Fraction(number) for number in row)
    return kernel


# The operator, one prefix at a time


def in_error(token: int, background: Row, experts: Sequence[Row], weights: Sequence[Fraction], null: str) -> bool:
    """Whether the cell of `token` is undefined: an error of Definition 1.3, or 1.9 without absolute continuity."""
    if background[token] > 0:
        return False
    opening = [weight for row, weight in zip(experts, weights, strict=True) if row[token] > 0]
    if any(weight != 1 for weight in opening):
        return True
    return (null == "strict" and len(opening) >= 1) or (null == "cancel" and len(opening) >= 2)


# The scope


@dataclass(frozen=True)
class Case:
    """Everything the definitions speak of, tabulated: `w`, `Z` and `p^` where they are defined, `R`, and the laws."""

    vocabulary: tuple[str, ...]
    eos: str | None
    question: Question
    names: tuple[str, ...]
    background: Kernel
    experts: Mapping[str, Kernel]
    undefined: Mapping[Prefix, tuple[str, ...]]
    normalizer: Mapping[Prefix, Fraction]
    weights: Kernel
    composition: Kernel
    reachable: tuple[Prefix, ...]
    scope: tuple[Prefix, ...]
    local: Law

    @property
    def length(self) -> int:
        return self.question.length

    @property
    def size(self) -> int:
        return len(self.vocabulary)

    def prefixes(self, length: int | None = None) -> list[Prefix]:
        """Every prefix, shorter first, then by index; or those of one length."""
        lengths = range(self.length) if length is None else (length,)
        return [prefix for step in lengths for prefix in product(range(self.size), repeat=step)]

    def sequences(self) -> Iterable[Prefix]:
        return product(range(self.size), repeat=self.length)

    def tokens(self, prefix: Prefix) -> tuple[str, ...]:
        return tuple(self.vocabulary[token] for token in prefix)

    def witness(self, prefix: Prefix, experts: Iterable[str] = ()) -> PrefixWitness:
        return PrefixWitness(self.tokens(prefix), self.probability(prefix), tuple(experts))

    def probability(self, prefix: Prefix) -> Fraction:
        """`P^(h)`: the composed kernels along `h`; zero below an undefined or dead prefix."""
        mass = ONE
        for step, token in enumerate(prefix):
            if mass == 0 or prefix[:step] not in self.composition:
                return ZERO
            mass *= self.composition[prefix[:step]][token]
        return mass


def tabulate(
    vocabulary: Sequence[str], eos: str | None, background: Model, experts: Mapping[str, Model], question: Question
) -> Case:
    """The case that the models and the question make."""
    size, length, null = len(vocabulary), question.length, question.null_tokens
    names = tuple(experts)
    factors = [question.weights.get(name, ONE) for name in names]
    base = kernel_of(background, size, length)
    raw = {name: kernel_of(experts[name], size, length) for name in names}
    tilts = {
        name: {
            prefix: None if row is None or base[prefix] is None else tilted(row, base[prefix], factor)
            for prefix, row in raw[name].items()
        }
        for name, factor in zip(names, factors, strict=True)
    }
    undefined, normalizer, weights, composition = {}, {}, {}, {}
    for prefix, row in base.items():
        given = [raw[name][prefix] for name in names]
        if row is None or None in given:
            undefined[prefix] = tuple(name for name in names if raw[name][prefix] is None)
            continue
        wrong = [token for token in range(size) if in_error(token, row, given, factors, null)]
        if wrong:
            undefined[prefix] = tuple(name for name in names if raw[name][prefix][wrong[0]] > 0)
            continue
        rows = [tilts[name][prefix] for name in names]
        weights[prefix] = tuple(weight_of(token, row, rows, null) for token in range(size))
        normalizer[prefix] = sum(weights[prefix], ZERO)
        if normalizer[prefix] > 0:
            composition[prefix] = tuple(weight / normalizer[prefix] for weight in weights[prefix])

    def reached(prefix: Prefix) -> bool:
        """Definition 1.1: the root, and `hy` with `h` in `R^` and `w(y|h) > 0`."""
        if prefix == ():
            return True
        parent, token = prefix[:-1], prefix[-1]
        return parent in weights and weights[parent][token] > 0 and reached(parent)

    everything = [prefix for step in range(length) for prefix in product(range(size), repeat=step)]
    reachable = tuple(prefix for prefix in everything if reached(prefix))
    healthy = all(prefix in composition for prefix in reachable)
    return Case(
        vocabulary=tuple(vocabulary),
        eos=eos,
        question=question,
        names=names,
        background=base,
        experts=tilts,
        undefined=undefined,
        normalizer=normalizer,
        weights=weights,
        composition=composition,
        reachable=reachable,
        scope=reachable if question.scope == "reachable" else tuple(everything),
        local=law_of(_total(composition, base, size), size, length) if healthy else {},
    )


def _total(partial: Kernel, like: Kernel, size: int) -> Kernel:
    """`partial` with a row of zeros where it has none: no path of positive weight comes there."""
    return {prefix: partial.get(prefix, (ZERO,) * size) for prefix in like}


# Deviation and activity


def deviates(case: Case, name: str, prefix: Prefix) -> bool:
    """`osc log p_i/p_b > threshold` at `prefix` (sections 0.1 and `Dev_i`)."""
    ratio = log_ratio_range(case.experts[name][prefix], case.background[prefix])
    return ratio is None or exceeds_in_nats(ratio, case.question.threshold)


def runs_on(case: Case, deviating: set[Prefix]) -> int:
    """The most maximal runs of consecutive deviating prefixes on a path in scope (Definition 3.6)."""
    most, scope = 0, set(case.scope)
    for path in case.sequences():
        marks = [path[:step] in deviating for step in range(case.length) if path[:step] in scope]
        most = max(most, sum(mark and not before for before, mark in zip([False, *marks], marks, strict=False)))
    return most


def spans(case: Case, prefixes: set[Prefix]) -> tuple[Spans, ...]:
    """The prefixes as half-open ranges of indices, one tuple per length."""
    result = []
    for step in range(case.length):
        inside: list[tuple[int, int]] = []
        for index, prefix in enumerate(case.prefixes(step)):
            if prefix not in prefixes:
                continue
            if inside and inside[-1][1] == index:
                inside[-1] = (inside[-1][0], index + 1)
            else:
                inside.append((index, index + 1))
        result.append(tuple(inside))
    return tuple(result)


# Masks


Masks = Mapping[str, tuple[int, ...]]


def found_masks(case: Case, deviating: Mapping[str, set[Prefix]]) -> Masks | PositionWitness:
    """`--masks auto`: each expert owns the positions at which it deviates in scope; a witness if two own one."""
    owned = {name: {len(prefix) for prefix in deviating[name]} for name in case.names}
    for position in range(case.length):
        owners = [name for name in case.names if position in owned[name]]
        if len(owners) > 1:
            first, second = owners[:2]
            places = tuple(
                case.tokens(next(prefix for prefix in case.prefixes(position) if prefix in deviating[name]))
                for name in (first, second)
            )
            return PositionWitness(position, (first, second), places)
    return {name: tuple(sorted(owned[name])) for name in case.names if owned[name]}


def block_of(position: int, masks: Masks, length: int) -> tuple[int, ...]:
    """`B(t)`: the mask that owns the position, or the positions of no expert."""
    for positions in masks.values():
        if position in positions:
            return tuple(positions)
    return tuple(free for free in range(length) if all(free not in positions for positions in masks.values()))


def mask_agreement(case: Case, masks: Masks, deviating: Mapping[str, set[Prefix]]) -> tuple[Fraction, Witness | None]:
    """Definition 2.6a on the scope: off its mask no expert deviates; the largest TV there, deviation or not."""
    off = [(prefix, name) for prefix in case.scope for name in case.names if len(prefix) not in masks.get(name, ())]
    gaps = [row_tv(case.experts[name][prefix], case.background[prefix]) for prefix, name in off]
    failures = [(prefix, name) for prefix, name in off if prefix in deviating[name]]
    witness = case.witness(failures[0][0], (failures[0][1],)) if failures else None
    return max(gaps, default=ZERO), witness


def factorized_conditionals(case: Case, masks: Masks) -> tuple[Fraction, Witness | None]:
    """Theorem 2.3: (c), (B), (I1) and (I2) over all pairs of prefixes of one length."""
    length, order = case.length, {prefix: index for index, prefix in enumerate(case.prefixes())}
    of_background = reach(law_of(case.background, case.size, length), length)
    of_expert = {name: reach(law_of(case.experts[name], case.size, length), length) for name in case.names}
    ranks = {"c": 0, "B": 1, "I1": 2, "I2": 3}
    failures: list[tuple[tuple[int, int, int, int], PairWitness]] = []
    gaps = [ZERO]

    def fail(first: Prefix, second: Prefix, condition: str, expert: str | None, models: tuple[str, str]) -> None:
        place = case.names.index(expert) if expert is not None else 0
        pair = PairWitness((case.tokens(first), case.tokens(second)), models, condition)
        failures.append(((order[first], order[second], ranks[condition], place), pair))

    for step in range(length):
        prefixes = case.prefixes(step)
        history = [position for position in block_of(step, masks, length) if position < step]

        def alike(first: Prefix, second: Prefix, history: Sequence[int] = tuple(history)) -> bool:
            return all(first[position] == second[position] for position in history)

        known = [prefix for prefix in prefixes if prefix in of_background]
        for first, second in combinations(known, 2):
            if alike(first, second):
                gap = row_tv(case.background[first], case.background[second])
                gaps.append(gap)
                if gap > 0:
                    fail(first, second, "B", None, (BACKGROUND, BACKGROUND))
        for name in case.names:
            kernel, owns = case.experts[name], step in masks.get(name, ())
            seen = [prefix for prefix in prefixes if prefix in of_expert[name]]
            if owns:
                for first, second in combinations(seen, 2):
                    if alike(first, second):
                        gap = row_tv(kernel[first], kernel[second])
                        gaps.append(gap)
                        if gap > 0:
                            fail(first, second, "I1", name, (name, name))
                for prefix in seen:
                    possible = set().union(
                        *(support(case.background[other]) for other in known if alike(prefix, other))
                    )
                    if not support(kernel[prefix]) <= possible:
                        fail(prefix, prefix, "c", name, (name, BACKGROUND))
            else:
                for first, second in product(seen, known):
                    if alike(first, second):
                        gap = row_tv(kernel[first], case.background[second])
                        gaps.append(gap)
                        if gap > 0:
                            fail(first, second, "I2", name, (name, BACKGROUND))
    return max(gaps), min(failures, key=lambda failure: failure[0])[1] if failures else None


def projective(case: Case, name: str, positions: tuple[int, ...]) -> tuple[Fraction, Witness | None]:
    """The marginals of composition and expert on the mask: their TV, and the first cell that differs most."""
    here = marginal(case.local, positions)
    there = marginal(law_of(case.experts[name], case.size, case.length), positions)
    gap = law_tv(here, there)
    if gap == 0:
        return gap, None
    cells = list(product(range(case.size), repeat=len(positions)))
    largest = max(abs(here.get(cell, ZERO) - there.get(cell, ZERO)) for cell in cells)
    cell = next(cell for cell in cells if abs(here.get(cell, ZERO) - there.get(cell, ZERO)) == largest)
    return gap, MarginalWitness(positions, case.tokens(cell), here.get(cell, ZERO), there.get(cell, ZERO))


# The composition against its neighbours


def global_law(case: Case) -> Law:
    """Definition 1.2: `P_G = W / Z_G`."""
    weights = law_of(_total(case.weights, case.background, case.size), case.size, case.length)
    total = sum(weights.values(), ZERO)
    return {sequence: weight / total for sequence, weight in weights.items()}


def component_gaps(case: Case, prefix: Prefix) -> list[tuple[Fraction, Row]]:
    """The TV from the composition to each component at `prefix`: background first, then the experts in order."""
    rows = [case.background[prefix], *(case.experts[name][prefix] for name in case.names)]
    return [(row_tv(case.composition[prefix], row), row) for row in rows]


def switching_law(case: Case, deviating: Mapping[str, set[Prefix]]) -> Law:
    """The law of the switching model (section 4), restricted to the paths on which the composition is defined."""
    kernel = {}
    for prefix in case.reachable:
        deviants = [name for name in case.names if prefix in deviating[name]]
        if not deviants:
            kernel[prefix] = case.background[prefix]
        elif len(deviants) == 1:
            kernel[prefix] = case.experts[deviants[0]][prefix]
        else:
            gaps = component_gaps(case, prefix)
            nearest = min(gap for gap, _ in gaps)
            kernel[prefix] = next(row for gap, row in gaps if gap == nearest)
    return law_of(_total(kernel, case.background, case.size), case.size, case.length)


# Length and termination


def ended(case: Case, sequence: Prefix) -> bool:
    """Whether the sequence contains EOS."""
    return case.eos is not None and case.vocabulary.index(case.eos) in sequence


def expected_length(case: Case, law: Law) -> Fraction:
    """`E[min(len, T)]`, the length counted up to and with EOS."""
    total = ZERO
    for sequence, mass in law.items():
        stop = sequence.index(case.vocabulary.index(case.eos)) + 1 if ended(case, sequence) else case.length
        total += mass * stop
    return total


# The answer


def decide(
    vocabulary: Sequence[str], eos: str | None, background: Model, experts: Mapping[str, Model], question: Question
) -> Findings:
    """Every claim and measure about `background` and `experts` that the `question` asks for, in exact fractions."""
    case = tabulate(vocabulary, eos, background, experts, question)
    masks = question.masks

    def result(
        claim: str,
        verdict: Verdict,
        residual: Number | None = None,
        witness: Witness | None = None,
        mask: str | None = None,
    ) -> ClaimResult:
        return ClaimResult(claim, verdict, "oracle", case.length, "", residual, witness, mask)

    def settled(claim: str, residual: Number, witness: Witness | None, mask: str | None = None) -> ClaimResult:
        return result(claim, Verdict.REFUTED if witness is not None else Verdict.HOLDS, residual, witness, mask)

    # well_defined
    broken = [prefix for prefix in case.scope if prefix not in case.composition]
    if broken:
        first = broken[0]
        claims = [
            result(
                "well_defined",
                Verdict.REFUTED,
                sum((case.probability(prefix) for prefix in broken), ZERO),
                case.witness(first, case.undefined.get(first, ())),
            )
        ]
        others = ["pointwise_joint", "interval_joint", "exact_switching", "unit_normalizer", "local_equals_global"]
        others += ["mask_agreement", "factorized_conditionals"] if masks is not None else []
        claims += [result(claim, Verdict.UNDECIDED) for claim in others]
        given = masks if isinstance(masks, Mapping) else {}
        claims += [result("projective", Verdict.UNDECIDED, mask=name) for name in case.names if name in given]
        claims += [result("terminates", Verdict.UNDECIDED)] if eos is not None else []
        given = dict(masks) if isinstance(masks, Mapping) else None
        return Findings(tuple(claims), None, {}, {}, given, len(case.scope))
    claims = [settled("well_defined", ZERO, None)]

    # pointwise_joint, interval_joint
    deviating = {name: {prefix for prefix in case.scope if deviates(case, name, prefix)} for name in case.names}
    active = {name: active_set(deviating[name], case.size, case.length) for name in case.names}

    def at_fault(sets: Mapping[str, set[Prefix]], prefix: Prefix) -> list[str]:
        return [name for name in case.names if prefix in sets[name]]

    def meets(bad: set[Prefix]) -> Fraction:
        return probability_that(case.local, lambda path: any(path[:step] in bad for step in range(case.length)))

    met = {}
    for claim, sets in (("pointwise_joint", deviating), ("interval_joint", active)):
        bad = [prefix for prefix in case.scope if len(at_fault(sets, prefix)) > 1]
        met[claim] = meets(set(bad))
        claims.append(settled(claim, met[claim], case.witness(bad[0], at_fault(sets, bad[0])) if bad else None))

    # exact_switching, unit_normalizer, local_equals_global
    def first_of(prefixes: Iterable[Prefix], fails: Callable[[Prefix], bool]) -> PrefixWitness | None:
        for prefix in prefixes:
            if fails(prefix):
                return case.witness(prefix, [name for name in case.names if deviates(case, name, prefix)])
        return None

    nearest = {prefix: min(gap for gap, _ in component_gaps(case, prefix)) for prefix in case.scope}
    worst = max(nearest.values(), default=ZERO)
    claims.append(settled("exact_switching", worst, first_of(case.scope, lambda prefix: nearest[prefix] > 0)))
    logs = [log(case.normalizer[prefix]) for prefix in case.scope]
    worst_log = max((abs(number) for number in logs), default=0.0)
    claims.append(
        settled("unit_normalizer", worst_log, first_of(case.scope, lambda prefix: case.normalizer[prefix] != 1))
    )
    whole = global_law(case)

    def conditional_differs(prefix: Prefix) -> bool:
        mass = mass_of(whole, prefix)
        return any(
            mass_of(whole, (*prefix, token)) != mass * case.composition[prefix][token] for token in range(case.size)
        )

    local_global = law_tv(case.local, whole)
    claims.append(settled("local_equals_global", local_global, first_of(case.reachable, conditional_differs)))

    # The claims about masks
    if masks is not None:
        found = found_masks(case, deviating) if masks == "auto" else dict(masks)
        if isinstance(found, PositionWitness):
            claims += [
                result(claim, Verdict.REFUTED, None, found) for claim in ("mask_agreement", "factorized_conditionals")
            ]
            claims += [
                result("projective", Verdict.REFUTED, None, found, name) for name in case.names if deviating[name]
            ]
            found = None
        else:
            claims.append(settled("mask_agreement", *mask_agreement(case, found, deviating)))
            claims.append(settled("factorized_conditionals", *factorized_conditionals(case, found)))
            claims += [
                settled("projective", *projective(case, name, found[name]), name)
                for name in case.names
                if name in found
            ]
    else:
        found = None

    # terminates
    termination = None
    if eos is not None:
        unended = probability_that(case.local, lambda path: not ended(case, path))
        hopeless = None
        if unended > 0:
            for prefix in case.reachable:
                through = {path: mass for path, mass in case.local.items() if path[: len(prefix)] == prefix}
                if not ended(case, prefix) and not any(ended(case, path) for path in through):
                    hopeless = case.witness(prefix)
                    break
        claims.append(result("terminates", Verdict.BOUNDED if unended > 0 else Verdict.HOLDS, unended, hopeless))
        termination = Termination(
            unended=unended,
            background=expected_length(case, law_of(case.background, case.size, case.length)),
            composition=expected_length(case, case.local),
            experts={
                name: expected_length(case, law_of(case.experts[name], case.size, case.length)) for name in case.names
            },
        )

    def largest_oscillation(name: str) -> float:
        ratios = [log_ratio_range(case.experts[name][prefix], case.background[prefix]) for prefix in case.scope]
        return max((math.inf if ratio is None else log(ratio) for ratio in ratios), default=0.0)

    measures = Measures(
        tv_to_switching=_excess(case.local, switching_law(case, deviating)),
        tv_local_global=local_global,
        log_normalizer_min=min(logs, default=None),
        log_normalizer_max=max(logs, default=None),
        experts={
            name: ExpertMeasures(
                deviating_prefixes=len(deviating[name]),
                active_prefixes=len(active[name]),
                activity_probability=meets(deviating[name]),
                expected_active_steps=sum((case.probability(prefix) for prefix in active[name]), ZERO),
                max_oscillation=largest_oscillation(name),
                runs=runs_on(case, deviating[name]),
            )
            for name in case.names
        },
        overlap_probability=met["pointwise_joint"],
        termination=termination,
    )
    return Findings(
        claims=tuple(claims),
        measures=measures,
        deviating={name: spans(case, deviating[name]) for name in case.names},
        active={name: spans(case, active[name]) for name in case.names},
        masks=found,
        prefixes=len(case.scope),
    )


def _excess(law: Law, other: Law) -> Fraction:
    """`sum_y (law(y) - other(y))_+`: the TV where `law` has mass 1 and `other` may lie partly elsewhere."""
    return sum((max(mass - other.get(sequence, ZERO), ZERO) for sequence, mass in law.items()), ZERO)
