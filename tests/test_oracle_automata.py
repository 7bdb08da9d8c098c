"""The oracle for every length: by hand, by theorems, and by the oracle for one length at the lengths that decide."""

import math
import random
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import pytest

from factorcomp.certificates.claims import (
    Findings,
    MarginalWitness,
    PairWitness,
    Positions,
    PositionWitness,
    PrefixWitness,
    Question,
    Verdict,
)
from tests import oracle
from tests.automata import STRUCTURES, AutomataInstance, random_automata, unroll
from tests.oracle_automata import Product, canonical, decide, decisive_length

HOLDS, REFUTED, UNDECIDED, BOUNDED = Verdict.HOLDS, Verdict.REFUTED, Verdict.UNDECIDED, Verdict.BOUNDED
SEQUENCES = 256
"""The most sequences that the oracle for one length enumerates here; more in a campaign."""
HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


def model(eos: str | None = None, **states: tuple[Mapping, Mapping]) -> dict:
    """A file's contents from `state=(probabilities, next)`; the first state is the initial one."""
    return {
        "vocabulary": ["a", "b"] if eos is None else ["a", eos],
        "eos": eos,
        "initial": next(iter(states)),
        "states": {name: {"probabilities": row, "next": after} for name, (row, after) in states.items()},
    }


def ask(background: dict, question: Question | None = None, **experts: dict) -> Findings:
    tokens = tuple(background["vocabulary"])
    question = question or Question("every")
    return decide(AutomataInstance(tokens, background["eos"], background, experts, question))


def at_length(instance: AutomataInstance, length: int) -> Findings:
    """What the oracle for one length says of the tables."""
    masks = instance.question.masks
    if isinstance(masks, Mapping):
        masks = {name: mask.below(length) for name, mask in masks.items()}
    return oracle.decide(
        instance.vocabulary,
        instance.eos,
        unroll(instance, "background", length),
        {name: unroll(instance, name, length) for name in instance.experts},
        replace(instance.question, length=length, masks=masks),
    )


FAIR, LEFT, RIGHT = {"a": "1/2", "b": "1/2"}, {"a": "1/4", "b": "3/4"}, {"a": "3/4", "b": "1/4"}
EVEN, ODD = {"a": "odd", "b": "odd"}, {"a": "even", "b": "even"}
UNIFORM = model(even=(FAIR, EVEN), odd=(FAIR, ODD))


# By hand


def test_experts_that_take_turns_are_pointwise_but_not_interval_joint():
    """A clock of period 2: up deviates at even lengths, down at odd ones, for ever; both are active from 'a' on."""
    up = model(even=(LEFT, EVEN), odd=(FAIR, ODD))
    down = model(even=(FAIR, EVEN), odd=(RIGHT, ODD))
    findings = ask(UNIFORM, Question("every", "auto"), up=up, down=down)
    assert findings["pointwise_joint"].verdict == HOLDS
    interval = findings["interval_joint"]
    assert (interval.verdict, interval.residual, interval.length) == (REFUTED, 1, "every")
    assert interval.witness == PrefixWitness(("a",), Fraction(1, 4), ("up", "down"))
    assert findings.masks == {"up": Positions((), ((0, 2),)), "down": Positions((), ((1, 2),))}
    for claim in ("mask_agreement", "factorized_conditionals", "projective:up", "projective:down"):
        assert findings[claim].verdict == HOLDS, claim
    measures = findings.measures.experts["up"]
    assert (measures.activity_probability, measures.expected_active_steps, measures.runs) == (1, math.inf, math.inf)
    assert measures.max_oscillation == pytest.approx(math.log(3))
    assert findings.states == 2
    assert findings.invariant.phases is None


def test_stages_have_disjoint_intervals():
    """Up acts in state s until 'b' comes, down in the next state; phases are as they must be."""
    line = {"s": {"a": "s", "b": "m"}, "m": {"a": "e", "b": "e"}, "e": {"a": "e", "b": "e"}}
    background = model(**{name: (FAIR, after) for name, after in line.items()})
    up = model(**{name: (LEFT if name == "s" else FAIR, after) for name, after in line.items()})
    down = model(**{name: (LEFT if name == "m" else FAIR, after) for name, after in line.items()})
    findings = ask(background, up=up, down=down)
    assert findings["interval_joint"].verdict == HOLDS
    assert findings.invariant.states == (("s",) * 3, ("m",) * 3, ("e",) * 3)
    assert findings.invariant.next == ((0, 1), (2, 2), (2, 2))
    assert findings.invariant.phases == ((("active", "before"),), (("after", "active"),), (("after", "after"),))
    up_, down_ = findings.measures.experts.values()
    assert (up_.expected_active_steps, up_.runs) == (Fraction(4, 3), 1)
    assert (down_.expected_active_steps, down_.activity_probability) == (1, 1)


def test_overlap_is_met_with_the_probability_of_a_chain():
    """From s: 'a' stays (1/4), 'b' (3/4) splits into overlap and rest; up doubles the odds, so 3/4 is up's own."""
    after = {"a": "s", "b": "o"}
    stay = {"a": "o", "b": "o"}
    background = model(s=(FAIR, after), o=(FAIR, stay))
    up = model(s=(LEFT, after), o=(LEFT, stay))
    down = model(s=(FAIR, after), o=(RIGHT, stay))
    findings = ask(background, up=up, down=down)
    assert findings["pointwise_joint"].witness == PrefixWitness(("b",), Fraction(3, 4), ("up", "down"))
    assert findings["pointwise_joint"].residual == 1
    assert findings["unit_normalizer"].residual == pytest.approx(math.log(4 / 3))  # Z = 2 (2 · 1/4 · 3/4) = 3/4
    local = findings["local_equals_global"]
    assert local.witness == PairWitness((("a",), ("b",)), ("composition", "composition"), "Z")
    # At length 2: E Z = 1/4 + 3/4 · 3/4 = 13/16; TV = 1/2 (1/4 · 3/13 + 3/4 · 1/13).
    assert (local.length, local.residual) == (2, Fraction(3, 52))


def test_ending_by_turns_never_ends():
    """Theory.md 10, M4: up may stop at even lengths, down at odd ones; each stops, together they do not."""
    go, may = {"a": 1}, {"a": "1/2", "$": "1/2"}
    background = model("$", even=(may, {"a": "odd"}), odd=(may, {"a": "even"}))
    up = model("$", even=(may, {"a": "odd"}), odd=(go, {"a": "even"}))
    down = model("$", even=(go, {"a": "odd"}), odd=(may, {"a": "even"}))
    findings = ask(background, up=up, down=down)
    termination = findings.measures.termination
    assert findings["terminates"].verdict == REFUTED
    assert findings["terminates"].witness == PrefixWitness((), Fraction(1))
    assert (termination.unended, termination.composition, termination.background) == (1, math.inf, 2)
    assert termination.experts == {"up": 3, "down": 4}


def test_mean_lengths_of_common_odds():
    """Theory.md 10, M1: EOS odds 1/99, factor 1/2 in each expert: mean length 1 + 99 · 2^k."""
    odds = lambda factor: {"a": str(1 - 1 / (1 + 99 / factor)), "$": str(1 / (1 + 99 / factor))}  # noqa: E731
    background = model("$", s=(odds(Fraction(1)), {"a": "s"}))
    expert = model("$", s=(odds(Fraction(1, 2)), {"a": "s"}))
    for experts in (1, 2, 3):
        findings = ask(background, **{f"up{place}": expert for place in range(experts)})
        termination = findings.measures.termination
        assert termination.experts["up0"] == 199
        # With Z = 1 for k = 1 alone: else content conflicts add -log Z_q, and Z_q = 1 as there is one content token.
        assert termination.composition == 1 + 99 * 2**experts


def test_gap_after_an_opened_token():
    """Up opens 'b', after which the background has no next state: the longer prefix is at fault, no expert is."""
    background = model(s=({"a": 1}, {"a": "s"}))
    up = model(s=({"a": "2/3", "b": "1/3"}, {"a": "s", "b": "t"}), t=(FAIR, {"a": "t", "b": "t"}))
    findings = ask(background, up=up)
    assert findings["well_defined"].verdict == REFUTED
    assert findings["well_defined"].witness == PrefixWitness(("b",), THIRD, ())
    assert findings["well_defined"].residual == 1
    assert findings.measures is None
    assert {result.verdict for result in findings.claims[1:]} == {UNDECIDED}


def test_gap_names_the_expert():
    """Down is the one without a next state."""
    background = model(s=({"a": 1}, {"a": "s", "b": "s"}))
    up = model(s=({"a": "2/3", "b": "1/3"}, {"a": "s", "b": "s"}))
    down = model(s=({"a": 1}, {"a": "s"}))
    assert ask(background, up=up, down=down)["well_defined"].witness == PrefixWitness(("b",), THIRD, ("down",))


def test_two_owners_of_a_position():
    """Both deviate at length 1, after different tokens."""
    after = {"a": "p", "b": "q"}
    loop = {"p": {"a": "e", "b": "e"}, "q": {"a": "e", "b": "e"}, "e": {"a": "e", "b": "e"}}
    background = model(s=(FAIR, after), **{name: (FAIR, line) for name, line in loop.items()})
    up = model(s=(FAIR, after), **{name: (LEFT if name == "p" else FAIR, line) for name, line in loop.items()})
    down = model(s=(FAIR, after), **{name: (LEFT if name == "q" else FAIR, line) for name, line in loop.items()})
    findings = ask(background, Question("every", "auto"), up=up, down=down)
    assert findings["interval_joint"].verdict == HOLDS
    witness = PositionWitness(1, ("up", "down"), (("a",), ("b",)))
    assert all(findings[claim].witness == witness for claim in ("mask_agreement", "projective:up"))


def test_masks_agree_and_marginals_differ():
    """Theory.md CE 2.8 as automata: `projective:down` fails at length 2, 9/16 against 5/8."""
    after, then = {"a": "l", "b": "r"}, {"a": "e", "b": "e"}
    rows = {"s": LEFT, "l": LEFT, "r": LEFT, "e": LEFT}
    lines = {"s": after, "l": then, "r": then, "e": then}
    background = model(**{name: (rows[name], lines[name]) for name in lines})
    up = model(**{name: (FAIR if name == "s" else LEFT, lines[name]) for name in lines})
    down = model(**{name: (FAIR if name == "r" else LEFT, lines[name]) for name in lines})
    masks = {"up": Positions((0,)), "down": Positions((1,))}
    findings = ask(background, Question("every", masks), up=up, down=down)
    assert findings["mask_agreement"].verdict == HOLDS
    projective = findings["projective:down"]
    assert (projective.verdict, projective.length, projective.residual) == (REFUTED, 2, Fraction(1, 16))
    assert projective.witness == MarginalWitness((1,), ("a",), Fraction(3, 8), Fraction(7, 16))
    factorized = findings["factorized_conditionals"]
    assert (factorized.length, factorized.residual) == (2, Fraction(1, 4))
    assert factorized.witness == PairWitness((("a",), ("b",)), ("down", "down"), "I1")


@pytest.mark.parametrize(
    ("marks", "lead", "period", "expected"),
    [
        ([True, True, True, True], 0, 4, "0::1"),
        ([True, False, True, False], 1, 2, "0::2"),
        ([True, False, False], 1, 2, "0"),
        ([False, False, True, True, False, True], 3, 3, "2::3,3::3"),
        ([False], 0, 1, ""),
    ],
)
def test_masks_have_one_form(marks, lead, period, expected):
    """The least period and the least pre-period."""
    assert str(canonical(marks, lead, period)) == expected


# Against the oracle for one length


def lengths(instance: AutomataInstance, sequences: int = SEQUENCES) -> list[int]:
    """The lengths that the oracle for one length can enumerate."""
    size = len(instance.vocabulary)
    return [length for length in range(1, 12) if size**length <= sequences]


def compare(instance: AutomataInstance, sequences: int = SEQUENCES) -> None:
    """What every length implies for one, and what one implies for every length."""
    every = decide(instance)
    decisive, possible = decisive_length(instance), lengths(instance, sequences)
    bounded = {length: at_length(instance, length) for length in {*possible[-1:], *possible[2:5]}}
    for length, findings in bounded.items():
        for result in findings.claims:
            verdict = every[result.name].verdict
            if every["well_defined"].verdict == REFUTED:
                continue
            if result.claim == "terminates":
                if verdict == REFUTED:
                    assert result.verdict == BOUNDED
                    assert result.residual >= every["terminates"].residual
            elif result.verdict == REFUTED and instance.question.masks != "auto" and result.claim != "projective":
                # A failure at one length persists, but for the laws and marginals of that length.
                assert verdict == REFUTED, (length, result, every[result.name])
    longest = max(bounded)
    findings = bounded[longest]
    if longest >= decisive:
        for claim in ("well_defined", "pointwise_joint", "interval_joint", "exact_switching", "unit_normalizer"):
            one, other = every[claim], findings[claim]
            assert one.verdict == other.verdict, claim
            if one.witness is not None:
                assert one.witness == other.witness, claim
            if claim in ("exact_switching", "unit_normalizer"):
                assert one.residual == other.residual, claim
        if isinstance(instance.question.masks, Mapping) and every["well_defined"].verdict == HOLDS:
            check_at(every, findings, "mask_agreement")
    for result in every.claims:
        if isinstance(result.length, int) and result.length in possible:
            there = at_length(instance, result.length)[result.name]
            if instance.question.masks == "auto" and result.claim in ("factorized_conditionals", "projective"):
                continue  # found masks may be smaller at that length
            assert (there.verdict, there.residual) == (REFUTED, result.residual), result
            if result.claim != "local_equals_global":
                assert there.witness == result.witness
            earlier = at_length(instance, result.length - 1)[result.name]
            assert earlier.verdict == HOLDS
    if findings.measures is not None and every.measures is not None:
        for tv in ("tv_to_switching", "tv_local_global"):
            assert getattr(every.measures, tv) is None or getattr(findings.measures, tv) == 0
        # Limits grow towards those of every length.
        assert findings.measures.overlap_probability <= every.measures.overlap_probability
        for name, measures in findings.measures.experts.items():
            limit = every.measures.experts[name]
            assert measures.activity_probability <= limit.activity_probability
            assert measures.expected_active_steps <= limit.expected_active_steps
            assert measures.runs <= limit.runs
        if findings.measures.termination is not None:
            there, limit = findings.measures.termination, every.measures.termination
            assert there.unended >= limit.unended
            assert there.composition <= limit.composition
            assert there.background <= limit.background


def check_at(every: Findings, findings: Findings, claim: str) -> None:
    """Off-mask deviations of a place and phase may come later than the length; a witness that came is the same."""
    if findings[claim].verdict == REFUTED:
        assert every[claim].witness == findings[claim].witness
        assert every[claim].residual >= findings[claim].residual


@pytest.mark.parametrize("structure", STRUCTURES)
def test_agrees_with_the_oracle_for_one_length(structure):
    """Verdicts at the decisive length of Theorem 7.4, witnesses, and what is refuted at a length of its own."""
    rng = random.Random(structure)
    for _ in range(8):
        compare(random_automata(rng, [structure]))


@pytest.mark.campaign
@pytest.mark.parametrize("part", range(8))
def test_campaign(part, request):
    """The same on many instances, named by their seeds."""
    for seed in range(part, request.config.getoption("--campaign"), 8):
        compare(random_automata(random.Random(seed)), sequences=1024)


def test_interval_joint_is_monotone_and_decided_at_the_decisive_length():
    """Theorem 7.4: a failure persists, and no failure first appears beyond `|X| + |R| - 1`."""
    rng, seen = random.Random(7), {HOLDS: 0, REFUTED: 0}
    while min(seen.values()) < 4:
        instance = random_automata(rng, ["shared", "interleaving", "staged", "reciprocal"])
        every, possible = decide(instance)["interval_joint"].verdict, lengths(instance)
        if every == UNDECIDED or possible[-1] < decisive_length(instance) + 1:
            continue
        verdicts = [at_length(instance, length)["interval_joint"].verdict for length in possible]
        assert verdicts == sorted(verdicts, key=lambda verdict: verdict == REFUTED)
        assert set(verdicts[decisive_length(instance) - 1 :]) == {every}
        seen[every] += 1


def test_every_region_occurs():
    """Each verdict of each claim, pointwise without interval, overlap out of reach, gaps, errors, dead ends."""
    rng, seen = random.Random(1), set()
    for _ in range(400):
        instance = random_automata(rng)
        findings = decide(instance)
        seen |= {(result.claim, result.verdict) for result in findings.claims}
        if findings["interval_joint"].verdict == REFUTED and findings["pointwise_joint"].verdict == HOLDS:
            seen.add("pointwise, not interval")
        if findings["well_defined"].verdict == REFUTED:
            seen.add(trouble(instance))
        if instance.question.scope == "all" and findings["pointwise_joint"].verdict == REFUTED:
            seen.add("overlap out of reach" if findings["pointwise_joint"].residual == 0 else "overlap")
    claims = ("pointwise_joint", "interval_joint", "exact_switching", "unit_normalizer", "local_equals_global")
    claims += ("mask_agreement", "factorized_conditionals", "projective", "terminates", "well_defined")
    assert {(claim, verdict) for claim in claims for verdict in (HOLDS, REFUTED)} <= seen
    assert {"pointwise, not interval", "gap", "error", "dead", "overlap out of reach", "overlap"} <= seen


def trouble(instance: AutomataInstance) -> str:
    """What is wrong at the first broken place in scope, or the empty string."""
    product = Product(instance)
    for place in product.scope:
        here = product.here(place)
        if here.composition is None:
            return "gap" if None in place else "error" if here.faulty else "dead"
    return ""
