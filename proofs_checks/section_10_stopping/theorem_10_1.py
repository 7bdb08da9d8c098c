"""Theorem 10.1 (exact EOS rule): log-odds of stopping add up, less the logarithm of the content's normalizer."""

import math
from collections.abc import Iterator
from fractions import Fraction

from factorcomp.testing.drawing import Draw, Row
from factorcomp.testing.families import Family, pointwise_joint, shape
from proofs_checks.definitions.ending import Hazards, hazard, joined, odds, stopping_family
from proofs_checks.definitions.laws import ONE, ZERO, law_of, log, row, support
from proofs_checks.definitions.operator import compose
from proofs_checks.definitions.references import inside
from proofs_checks.definitions.skills import switching
from proofs_checks.statement import Control, Relation, Statement, close, constant, equal, fact

BETWEEN = "0 < e_b, e_i < 1"
DOMINATED = "q_i << q_b"
NEW_TOKEN = Hazards((row("1/2 1/2 0"), row("1/2 1/4 1/4"), row("1/4 3/4 0")), 0)


def hazards(draw: Draw, *, alive: bool = True) -> Hazards:
    """One to three content tokens, EOS anywhere among them; experts inside the background's content, with a token in
    common if `alive`."""
    size = draw.integer(1, 3)
    base = draw.row(size, zeros=True)
    anchor = draw.pick(sorted(support(base)))

    def expert() -> Row:
        return inside(draw, base, anchor) if alive else draw.row_inside(base, zeros=True)

    end = draw.integer(0, size)
    contents = [base, *(expert() for _ in range(draw.integer(1, 4)))]
    return Hazards(tuple(joined(hazard(draw), q, end) for q in contents), end)


def rule(instance: Hazards) -> Fraction:
    """`odds_b prod_i (odds_i/odds_b) / Z_q`."""
    base, *experts = map(odds, instance.hazards)
    return base * math.prod((one / base for one in experts), start=ONE) / instance.content_normalizer


def check(instance: Hazards) -> Iterator[Relation]:
    """In fractions, and as the sum of k+2 logarithms."""
    composed = instance.composed()
    if composed is None:
        return
    after = odds(composed[instance.end])
    yield equal("odds^ = odds_b prod_i (odds_i/odds_b) / Z_q", after, rule(instance))
    base, *experts = (log(odds(e)) for e in instance.hazards)
    terms = [base, *(one - base for one in experts), -log(instance.content_normalizer)]
    yield close("logit e^ = logit e_b + sum_i (logit e_i - logit e_b) - log Z_q", log(after), math.fsum(terms))


def check_without_content(instance: Hazards) -> Iterator[Relation]:
    """False: without `Z_q`."""
    composed = instance.composed()
    if composed is not None:
        rest = rule(instance) * instance.content_normalizer
        yield equal("odds^ = odds_b prod_i (odds_i/odds_b)", odds(composed[instance.end]), rest)


def opening(draw: Draw) -> Hazards:
    """One expert has a content token that the background excludes."""
    rows = [joined(hazard(draw), q, 0) for q in ((ONE, ZERO), draw.row(2), (ONE, ZERO))]
    return Hazards(tuple(rows), 0)


def boundary(draw: Draw, *, stopping: bool = True) -> Hazards:
    """Hazards of 0 and of 1 among the experts; contents that may exclude each other. The background's is between."""
    size, end = draw.integer(1, 3), 0
    base = draw.row(size)
    rows = [joined(hazard(draw), base, end)]
    for _ in range(draw.integer(1, 4)):
        e = draw.pick((hazard(draw), ZERO, ONE) if stopping else (hazard(draw),))
        rows.append(joined(e, draw.row_inside(base, zeros=True), end))
    return Hazards(tuple(rows), end)


def no_content(instance: Hazards) -> bool:
    """`Z_q = 0`, or a model without content: no content token is possible under all experts."""
    return not any(all(row[y] for row in instance.rows) for y in range(len(instance.rows[0])) if y != instance.end)


def check_boundary(instance: Hazards) -> Iterator[Relation]:
    """Where the rule divides by 0."""
    composed = instance.composed()
    experts = instance.hazards[1:]
    never, always, no_word = 0 in experts, 1 in experts, no_content(instance)
    if never:
        yield equal("e_b > 0, some e_i = 0: dead iff Z_q = 0", composed is None, no_word)
        if composed is not None:
            yield equal("e_b > 0, some e_i = 0: e^ = 0", composed[instance.end], 0)
    elif always:
        yield equal("0 < e_b < 1, some e_i = 1, all e_j > 0: e^ = 1", composed and composed[instance.end], 1)
    elif no_word:
        yield equal("Z_q = 0: e^ = 1", composed and composed[instance.end], 1)
    else:
        yield fact("else 0 < e^ < 1", composed is not None and 0 < composed[instance.end] < 1)


def check_always(instance: Hazards) -> Iterator[Relation]:
    """False: that one expert which must stop is enough."""
    if 1 in instance.hazards[1:]:
        composed = instance.composed()
        yield equal("some e_i = 1: e^ = 1", composed and composed[instance.end], 1)


def check_new_token(instance: Hazards) -> Iterator[Relation]:
    """`cancel` keeps the new token's weight, which `Z_q` does not know."""
    composed, dropped = instance.composed("cancel"), instance.composed("drop")
    predicted = rule(instance)
    yield equal("the rule says 2/5", predicted / (1 + predicted), Fraction(2, 5))
    yield equal("under cancel e^ = 2/7", composed and composed[instance.end], Fraction(2, 7))
    yield equal("under drop e^ = 2/5", dropped and dropped[instance.end], Fraction(2, 5))


def check_rule(instance: Hazards) -> Iterator[Relation]:
    """What the counterexample refutes."""
    composed = instance.composed()
    yield equal("odds^ = the rule", odds(composed[instance.end]) if composed else None, rule(instance))


def joint(draw: Draw) -> Family:
    """JF-pt with up to eight experts, the last token EOS; experts may open tokens."""
    of = shape(draw, experts=(1, 3))
    wide = shape(draw, sizes=(2, 2), experts=(4, 8))
    return stopping_family(draw, pointwise_joint(draw, draw.pick((of, wide))))


def disjointly(draw: Draw) -> Family:
    """Nothing is joint: two experts deviate at the root."""
    rows = [draw.row(2) for _ in range(3)]
    return Family(2, 1, {(): rows[0]}, ({(): rows[1]}, {(): rows[2]}))


def check_joint(family: Family) -> Iterator[Relation]:
    """Lengths are those of the switching model, whatever the number of experts."""
    composed, end = compose(family), family.size - 1
    switched = law_of(switching(family, family.prefixes), family.size, family.length)
    for step in range(1, family.length + 1):
        stopped = [
            sum((mass for y, mass in law.items() if end in y[:step]), ZERO) for law in (composed.local, switched)
        ]
        yield equal("P^(length <= t) = S(length <= t)", *stopped)
    for h in composed.reachable:
        at = Hazards((family.background[h], *(expert[h] for expert in family.experts)), end)
        if all(0 < e < 1 for e in at.hazards) and all(support(one) <= support(at.rows[0]) for one in at.rows):
            moved = sum(e != at.hazards[0] for e in at.hazards)
            yield fact("at most one log-odds term is not 0", moved <= 1)
            yield equal("Z_q = 1", at.content_normalizer, 1)


STATEMENTS = (
    Statement(
        number="10.1",
        kind="theorem",
        sentence="the log-odds of stopping add up, less the logarithm of the content's normalizer",
        equation="odds^ = odds_b prod_i (odds_i/odds_b) / Z_q",
        hypotheses=(BETWEEN, DOMINATED, "Z_q > 0"),
        draw=hazards,
        check=check,
        controls=(
            Control(DOMINATED, opening),
            Control("the factor Z_q", hazards, check_without_content),
        ),
    ),
    Statement(
        number="10.1 (boundary)",
        kind="theorem",
        sentence="where the rule divides by zero: no common content stops, an expert that never stops prevents it",
        equation="Z_q = 0: e^ = 1;   some e_i = 0: e^ = 0 or dead;   some e_i = 1, all e_j > 0: e^ = 1",
        hypotheses=("0 < e_b < 1", DOMINATED),
        draw=boundary,
        check=check_boundary,
        controls=(Control("all e_j > 0", boundary, check_always),),
        not_checked="e_b in {0, 1}, where q_b or the ratio of the hazards is not defined",
    ),
    Statement(
        number="10.1 (new tokens)",
        kind="counterexample",
        sentence="under cancel the rule fails where an expert has content that the background excludes",
        equation="p_b = (1/2, 1/2, 0), p_1 = (1/2, 1/4, 1/4), p_2 = (1/4, 3/4, 0), EOS first:   2/5 against 2/7",
        cases=constant(NEW_TOKEN),
        check=check_new_token,
        controls=(Control(f"that it does not hold where {DOMINATED}", lambda draw: NEW_TOKEN, check_rule),),
    ),
    Statement(
        number="10.1 (joint)",
        kind="theorem",
        sentence="with one deviator at each prefix termination is right for every number of experts",
        equation="JF-pt:   P^(length <= t) = S(length <= t),   Z_q = 1, at most one term logit e_i - logit e_b not 0",
        hypotheses=("JF-pt; for Z_q, 0 < e < 1 and q_i << q_b",),
        draw=joint,
        check=check_joint,
        controls=(Control("JF-pt", disjointly),),
    ),
)
