"""Every length at once: answers derived by hand, and the kernel's own answers at lengths that decide (theory.md 7)."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

import pytest

from factorcomp.certificates import Automaton, Findings, KernelError, Model, Question, decide
from factorcomp.certificates import automata as automata_module
from factorcomp.certificates import levels as levels_module
from factorcomp.certificates import product as product_module
from factorcomp.certificates import twins as twins_module
from factorcomp.certificates import witnesses as witnesses_module
from factorcomp.certificates.claims import (
    ClaimResult,
    MarginalWitness,
    PairWitness,
    Positions,
    PositionWitness,
    PrefixWitness,
    Verdict,
)
from factorcomp.certificates.positions import read_positions, repeating
from tests.automata import AutomataInstance, random_automata

EVERY = Question("every")
UNIFORM = ("1/2", "1/2")
HOLDS, REFUTED, UNDECIDED = Verdict.HOLDS, Verdict.REFUTED, Verdict.UNDECIDED
ODDS, EVENS = Positions((), ((1, 2),)), Positions((), ((0, 2),))


def automaton(text: str, rows: Mapping[str, tuple] | None = None, eos: str | None = None) -> Automaton:
    """`"s:tu t:t-"`: state s goes to t after the first token and to u after the second; rows are uniform unless given.

    The tokens are a, b, ...; the first state is the initial one.
    """
    lines = [line.split(":") for line in text.split()]
    names, rows = [name for name, _ in lines], rows or {}
    tokens = tuple("abcd"[: len(lines[0][1])])
    following = tuple(tuple(None if q == "-" else names.index(q) for q in targets) for _, targets in lines)
    even = (Fraction(1, len(tokens)),) * len(tokens)
    kernels = tuple(tuple(map(Fraction, rows[name])) if name in rows else even for name in names)
    return Automaton(tokens, eos, tuple(names), 0, kernels, following)


FREE = automaton("s:ss")


def verdicts(found: Findings) -> dict[str, Verdict]:
    return {result.name: result.verdict for result in found.claims}


# Answers by hand


def test_interleaving_is_pointwise_but_not_interval_joint() -> None:
    """CE 4.3: up deviates at the start and after `aa`, down after `a`, where up is between its deviations."""
    up = automaton("s:tz t:uz u:zz z:zz", {"s": ("3/4", "1/4"), "u": ("1/4", "3/4")})
    down = automaton("s:tz t:zz z:zz", {"t": ("1/3", "2/3")})
    found = decide(FREE, {"up": up, "down": down}, EVERY)
    assert found["pointwise_joint"].verdict is HOLDS
    interval = found["interval_joint"]
    assert interval.verdict is REFUTED
    assert interval.witness == PrefixWitness(("a",), Fraction(3, 4), ("up", "down"))
    assert interval.why == "after 'a' both up and down are active, at length 3 and beyond"
    assert (interval.length, interval.residual, found.invariant.phases) == ("every", None, None)


def test_three_are_not_both() -> None:
    """All that are active are named; the conflict begins at the length at which the second one deviates again."""
    up = automaton("s:ss", {"s": ("1/4", "3/4")})
    found = decide(FREE, {"up": up, "down": up, "left": up}, EVERY)
    assert found["interval_joint"].why == "at the start up, down and left are active, at length 1 and beyond"
    assert found["pointwise_joint"].why == "at the start up, down and left deviate"


def test_the_phases_of_one_deviation() -> None:
    """Up deviates once, after the first `b`; the phase `before` lasts while nothing but `a` has come."""
    up = automaton("s:st t:zz z:zz", {"t": ("1/4", "3/4")})
    found = decide(FREE, {"up": up}, EVERY)
    assert found["interval_joint"].verdict is HOLDS
    assert found.states == 3
    assert found.invariant.states == (("s", "s"), ("s", "t"), ("s", "z"))
    assert found.invariant.next == ((0, 1), (2, 2), (2, 2))
    assert found.invariant.phases == ((("before",),), (("active",),), (("after",),))
    assert found.measures is None
    assert (found.deviating, found.active, found.prefixes) == ({}, {}, None)


def test_a_state_with_two_phases() -> None:
    """Up deviates after a `b`, again and again: state s is `before` at the start and `active` after a `b`."""
    up = automaton("s:st t:st", {"t": ("1/4", "3/4")})
    found = decide(FREE, {"up": up}, EVERY)
    assert found.invariant.phases == ((("before",), ("active",)), (("active",),))


def remembering(first: str, row: tuple) -> Automaton:
    """Every second position, from the first (`"own"`) or the second one (`"other"`), repeats what stood at the last.

    States o, p own the position and have last read a, b; q, r read a token of the other block.
    """
    text = "o:qr p:qr q:oo r:pp" if first == "own" else "q:oo o:qr r:pp p:qr"
    return automaton(text, {"o": row, "p": row[::-1]})


def test_parity_masks_factorize_at_every_length() -> None:
    """Each expert reads and writes its own parity alone: FC, and everything that follows from it (Theorem 2.2)."""
    experts = {"up": remembering("own", ("2/3", "1/3")), "down": remembering("other", ("1/5", "4/5"))}
    masks = {"up": EVENS, "down": ODDS}
    found = decide(FREE, experts, Question("every", masks=masks))
    expected = dict.fromkeys(verdicts(found), HOLDS) | {"interval_joint": REFUTED}
    assert verdicts(found) == expected
    assert {"mask_agreement", "factorized_conditionals", "projective:up", "projective:down"} <= expected.keys()
    assert {result.length for result in found.claims} == {"every"}
    auto = decide(FREE, experts, Question("every", masks="auto"))
    assert auto.masks == masks
    assert verdicts(auto) == expected
    swapped = decide(FREE, experts, Question("every", masks={"up": ODDS, "down": EVENS}))
    agreement = swapped["mask_agreement"]
    assert agreement.witness == PrefixWitness((), Fraction(1), ("up",))
    assert agreement.residual == Fraction(3, 10)
    assert (swapped["factorized_conditionals"].verdict, swapped["factorized_conditionals"].length) == (REFUTED, 1)


def test_an_expert_that_reads_the_other_block_fails_at_length_3() -> None:
    """Up owns 0, 2, ... but what it writes at 2 depends on the token at 1: `a a` and `a b` must agree and do not."""
    up = automaton("s:tt t:uv u:tt v:tt", {"u": ("1/4", "3/4")})
    found = decide(FREE, {"up": up}, Question("every", masks={"up": EVENS}))
    conditionals = found["factorized_conditionals"]
    assert (conditionals.verdict, conditionals.length, conditionals.residual) == (REFUTED, 3, Fraction(1, 4))
    assert conditionals.witness == PairWitness((("a", "a"), ("a", "b")), ("up", "up"), "I1")
    assert found["mask_agreement"].verdict is HOLDS
    assert found["projective:up"].verdict is UNDECIDED
    assert "up to the length 12" in found["projective:up"].why


def test_a_correlated_background_fails_b() -> None:
    """The background copies the last token with probability 3/4: its parities are not independent."""
    copies = automaton("s:st t:st", {"s": ("3/4", "1/4"), "t": ("1/4", "3/4")})
    found = decide(copies, {"up": copies}, Question("every", masks={"up": EVENS}))
    conditionals = found["factorized_conditionals"]
    assert (conditionals.verdict, conditionals.length) == (REFUTED, 2)
    assert conditionals.witness == PairWitness((("a",), ("b",)), ("background", "background"), "B")
    assert verdicts(found)["unit_normalizer"] is HOLDS


def test_projectivity_refuted_at_the_first_length() -> None:
    """CE 2.8 with masks 0, 2, ... and 1, 3, ...: 5/8 against 9/16 at position 1."""
    base = automaton("s:tu t:tt u:tt", dict.fromkeys("stu", ("1/4", "3/4")))
    up = replace(base, rows=(tuple(map(Fraction, UNIFORM)), *base.rows[1:]))
    down = replace(base, rows=(*base.rows[:2], tuple(map(Fraction, UNIFORM))))
    found = decide(base, {"up": up, "down": down}, Question("every", masks={"up": EVENS, "down": ODDS}))
    result = found["projective:down"]
    assert (result.verdict, result.length, result.residual) == (REFUTED, 2, Fraction(1, 16))
    assert result.witness == MarginalWitness((1,), ("a",), Fraction(3, 8), Fraction(7, 16))


def test_a_failure_too_late_to_be_enumerated() -> None:
    """What stands at position 1, off its mask, up repeats at position 40: the first such prefixes, and no residual."""
    names = ["s", "t", *(f"{y}{t}" for t in range(2, 41) for y in "ab")]
    place = {name: i for i, name in enumerate(names)}
    following = [(1, 1), (place["a2"], place["b2"])]
    following += [(place[f"{y}{min(t + 1, 40)}"],) * 2 for t in range(2, 41) for y in "ab"]
    rows = [tuple(map(Fraction, ("1/4", "3/4") if name == "a40" else UNIFORM)) for name in names]
    up = Automaton(("a", "b"), None, tuple(names), 0, tuple(rows), tuple(following))
    result = decide(FREE, {"up": up}, Question("every", masks={"up": EVENS}))["factorized_conditionals"]
    prefixes = (("a",) * 40, ("a", "b", *("a",) * 38))
    assert (result.verdict, result.length, result.residual) == (REFUTED, 41, None)
    assert result.witness == PairWitness(prefixes, ("up", "up"), "I1")


def test_masks_found_before_and_after_they_repeat() -> None:
    """Up deviates at 1, and at 3, 6, 9, ...: `1,3::3`."""
    up = automaton(
        "s:tt t:uu u:vv v:ww w:xx x:vv", {"t": ("1/4", "3/4"), "v": ("1/4", "3/4")}
    )  # the cycle v w x begins at position 3
    found = decide(FREE, {"up": up}, Question("every", masks="auto"))
    assert str(found.masks["up"]) == "1,3::3"
    assert found["mask_agreement"].verdict is HOLDS


def test_masks_that_clash() -> None:
    """Up deviates after `a`, down after `b`: never at one prefix, but both at position 1."""
    up = automaton("s:tz t:zz z:zz", {"t": ("1/4", "3/4")})
    down = automaton("s:zt t:zz z:zz", {"t": ("1/4", "3/4")})
    found = decide(FREE, {"up": up, "down": down}, Question("every", masks="auto"))
    witness = PositionWitness(1, ("up", "down"), (("a",), ("b",)))
    names = ("mask_agreement", "factorized_conditionals", "projective:up", "projective:down")
    assert all(found[name].witness == witness for name in names)
    assert found.masks is None
    assert found["interval_joint"].verdict is HOLDS


def test_an_overlap_out_of_reach() -> None:
    """Both deviate after `b`, which is impossible: nothing where the composition goes, an overlap of probability 0."""
    never = {"s": (1, 0)}
    base = automaton("s:st t:tt", never)
    expert = automaton("s:st t:tt", never | {"t": ("1/4", "3/4")})
    experts = {"up": expert, "down": expert}
    assert set(verdicts(decide(base, experts, EVERY)).values()) == {HOLDS}
    found = decide(base, experts, Question("every", scope="all"))
    assert found["pointwise_joint"].witness == PrefixWitness(("b",), Fraction(0), ("up", "down"))
    assert found["unit_normalizer"].verdict is REFUTED
    assert found["local_equals_global"].verdict is HOLDS
    assert found.states == 2


def test_a_gap_is_where_a_model_says_nothing() -> None:
    """Up opens `b` (cancel), where the background has no next state: undefined after `b`, and not before."""
    base = automaton("s:s-", {"s": (1, 0)})
    found = decide(base, {"up": FREE}, EVERY)
    defined = found["well_defined"]
    assert defined.verdict is REFUTED
    assert defined.witness == PrefixWitness(("b",), Fraction(1, 2), ())
    assert defined.why == "after 'b' the background has no next state: what it says there is undefined"
    assert defined.residual is None
    assert {result.verdict for result in found.claims[1:]} == {UNDECIDED}
    assert (found.invariant, found.measures) == (None, None)
    short = [decide(base, {"up": FREE}, Question(length)) for length in (1, 2)]
    assert short[0]["well_defined"].verdict is HOLDS
    assert (short[1]["well_defined"].witness, short[1]["well_defined"].residual) == (defined.witness, Fraction(1, 2))
    assert short[1]["well_defined"].why == defined.why


def test_the_experts_at_a_gap_are_the_witness() -> None:
    silent = automaton("s:t- t:--", {"s": (1, 0), "t": (1, 0)})
    silent = replace(silent, next=((1, None), (0, None)))
    base = automaton("s:ss", {"s": (1, 0)})
    found = decide(base, {"up": silent, "out": base, "down": silent}, Question("every", scope="all"))
    assert found["well_defined"].witness == PrefixWitness(("b",), Fraction(0), ("up", "down"))
    assert found["well_defined"].why == "after 'b' up and down have no next state: what they say there is undefined"
    assert decide(base, {"up": silent}, EVERY)["well_defined"].verdict is HOLDS


@pytest.mark.parametrize(("null_tokens", "verdict"), [("cancel", HOLDS), ("drop", HOLDS), ("strict", REFUTED)])
def test_null_tokens(null_tokens: str, verdict: Verdict) -> None:
    """Up opens `b` (1.3): an error under strict, its own under cancel, dropped (so that Z = 1/2) under drop."""
    base = automaton("s:ss", {"s": (1, 0)})
    found = decide(base, {"up": FREE}, Question("every", null_tokens=null_tokens))
    assert found["well_defined"].verdict is verdict
    if null_tokens == "drop":
        assert found["unit_normalizer"].verdict is REFUTED
        assert found["local_equals_global"].verdict is HOLDS
    if null_tokens == "strict":
        assert found["well_defined"].witness == PrefixWitness((), Fraction(1), ("up",))


def test_weights_and_thresholds() -> None:
    """A threshold of log 3 lets (3/4, 1/4) against (1/2, 1/2) pass; with the weight 2 it does not (1.9)."""
    up = automaton("s:ss", {"s": ("3/4", "1/4")})
    bound = Fraction(11, 10)  # log 3 is 1.0986
    assert decide(FREE, {"up": up, "down": up}, Question("every", threshold=bound))["pointwise_joint"].verdict is HOLDS
    weighted = Question("every", threshold=bound, weights={"up": Fraction(2), "down": Fraction(2)})
    found = decide(FREE, {"up": up, "down": up}, weighted)
    assert found["pointwise_joint"].verdict is REFUTED
    assert decide(FREE, {"up": up}, weighted_for_one(bound))["exact_switching"].verdict is HOLDS


def weighted_for_one(bound: Fraction) -> Question:
    return Question("every", threshold=bound, weights={"up": Fraction(2)}, masks={"up": Positions((), ((0, 1),))})


def test_a_tilted_expert_without_a_law() -> None:
    """1.9: up, weighted, shares no token with the background after `b`: FC and projectivity say nothing then."""
    base = automaton("s:st t:tt", {"t": (1, 0)})
    up = automaton("s:st t:tt", {"t": (0, 1)})
    masks = {"up": Positions((), ((0, 1),))}
    found = decide(base, {"up": up}, Question("every", weights={"up": Fraction(2)}, masks=masks, null_tokens="drop"))
    assert found["well_defined"].verdict is REFUTED


def test_normalizers_that_depend_on_the_prefix() -> None:
    """CE 1.6: Z is 1 after `a` and 4/3 after `b`; at length 2 the two laws are 1/20 apart."""
    rows = dict.fromkeys("stu", ("1/4", "3/4"))
    base, expert = (automaton("s:tu t:tt u:tt", rows | changed) for changed in ({}, {"u": UNIFORM}))
    found = decide(base, {"up": expert, "down": expert}, EVERY)
    result = found["local_equals_global"]
    assert (result.verdict, result.length, result.residual) == (REFUTED, 2, Fraction(1, 20))
    assert result.witness == PairWitness((("a",), ("b",)), ("composition", "composition"), "Z")


def test_normalizers_that_depend_on_the_length_alone() -> None:
    """Z = 4/3 at every second position and 1 between: the laws are one at every length, though Z is not 1."""
    rows = dict.fromkeys("st", ("1/4", "3/4"))
    base, expert = (automaton("s:tt t:ss", rows | changed) for changed in ({}, {"s": UNIFORM}))
    found = decide(base, {"up": expert, "down": expert}, EVERY)
    assert found["local_equals_global"].verdict is HOLDS
    assert found["unit_normalizer"].verdict is REFUTED
    assert found["unit_normalizer"].residual == pytest.approx(0.28768207245178096)


def test_normalizers_that_meet_late() -> None:
    """Cycles of 2 and 3 states part at the first token; Z = 4/3 in one state of each: they differ at length 2 first."""
    text = "s:tx t:uu u:tt x:yy y:zz z:xx"
    base = automaton(text, dict.fromkeys("stuxyz", ("1/4", "3/4")))
    expert = automaton(text, dict.fromkeys("suyz", ("1/4", "3/4")))
    found = decide(base, {"up": expert, "down": expert}, EVERY)
    result = found["local_equals_global"]
    assert (result.verdict, result.length) == (REFUTED, 4)
    assert result.witness.prefixes == (("a", "a", "a"), ("b", "a", "a"))
    assert decide(base, {"up": expert, "down": expert}, Question(4))["local_equals_global"].residual == result.residual


def test_termination() -> None:
    """b is EOS: s may end, t never: after `a` there is no way back."""
    ends = automaton("s:ss", eos="b")
    never = automaton("s:t- t:t-", {"t": (1, 0)}, eos="b")
    assert decide(ends, {"up": ends}, EVERY)["terminates"].verdict is HOLDS
    found = decide(never, {"up": never}, EVERY)
    assert found["terminates"].verdict is REFUTED
    assert found["terminates"].witness == PrefixWitness(("a",), Fraction(1, 2), ())
    assert (found["terminates"].residual, found["terminates"].length) == (None, "every")
    assert found.invariant.states == (("s", "s"), ("t", "t"), None)
    assert found.invariant.next == ((1, 2), (1, None), (None, 2))


def test_parities_of_eos_keep_a_composition_from_ending() -> None:
    """Section 10, M4: up may end after even, down after odd lengths; together they never do."""
    even, odd = (automaton("s:t- t:s-", {name: (1, 0)}, eos="b") for name in "ts")
    found = decide(automaton("s:s-", eos="b"), {"up": even, "down": odd}, EVERY)
    assert found["terminates"].witness == PrefixWitness((), Fraction(1), ())
    assert all(decide(even, {"up": even}, EVERY)[name].verdict is HOLDS for name in ("terminates", "unit_normalizer"))


def test_no_experts_and_one_token() -> None:
    one = automaton("s:s")
    assert set(verdicts(decide(one, {}, EVERY)).values()) == {HOLDS}
    assert set(verdicts(decide(one, {"up": one}, Question("every", masks="auto"))).values()) == {HOLDS}


def test_a_clock_too_large_for_the_product_leaves_its_claims_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but the claims that need the larger product is undecided."""
    up = automaton("s:tt t:ss", {"t": ("1/4", "3/4")})
    monkeypatch.setattr(product_module, "MOST_STATES", 5)
    found = decide(FREE, {"up": up}, Question("every", masks={"up": Positions((), ((1, 7),))}))
    assert found["mask_agreement"].verdict is UNDECIDED
    assert "got more than 5 states" in found["mask_agreement"].why
    assert found["interval_joint"].verdict is HOLDS


def test_beyond_a_limit_a_claim_is_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words of one length that are too many, or too long, to be followed: never another verdict."""
    rows = dict.fromkeys("stu", ("1/4", "3/4"))
    base, expert = (automaton("s:tu t:tt u:tt", rows | changed) for changed in ({}, {"u": UNIFORM}))
    for limit, value in (("MOST_LEVELS", 1), ("MOST_VISITS", 0)):
        with monkeypatch.context() as patch:
            patch.setattr(levels_module, limit, value)
            found = decide(base, {"up": expert, "down": expert}, EVERY)
            assert found["local_equals_global"].verdict is UNDECIDED
            assert "too long to be found" in found["local_equals_global"].why
            masks = decide(base, {"up": expert}, Question("every", masks="auto"))
            assert masks["mask_agreement"].verdict is masks["projective:up"].verdict is UNDECIDED
            assert "do not repeat within" in masks["mask_agreement"].why


def test_too_many_twins_leave_factorized_conditionals_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin automaton of Theorem 7.5, and the marginals that enumeration is left for."""
    up = automaton("s:tt t:uv u:tt v:tt", {"u": ("1/4", "3/4")})
    question = Question("every", masks={"up": EVENS})
    with monkeypatch.context() as patch:
        patch.setattr(twins_module, "MOST_TWINS", 2)
        found = decide(FREE, {"up": up}, question)["factorized_conditionals"]
        assert (found.verdict, found.residual, found.witness) == (UNDECIDED, None, None)
        assert "more than 2 states" in found.why
    monkeypatch.setattr(twins_module, "MOST_SEQUENCES", 7)
    assert "up to the length 2," in decide(FREE, {"up": up}, question)["projective:up"].why
    monkeypatch.setattr(twins_module, "MOST_SEQUENCES", 8)
    assert "up to the length 3," in decide(FREE, {"up": up}, question)["projective:up"].why


def test_a_failure_too_late_for_a_witness_is_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond enumeration, and beyond following pairs of states, it is known to fail, and not where."""
    up = automaton("s:tt t:uv u:tt v:tt", {"u": ("1/4", "3/4")})
    monkeypatch.setattr(automata_module, "MOST_ROWS", 3)
    question = Question("every", masks={"up": EVENS})
    found = decide(FREE, {"up": up}, question, claims={"factorized_conditionals"})["factorized_conditionals"]
    assert (found.verdict, found.length, found.residual) == (REFUTED, 3, None)
    assert found.witness == PairWitness((("a", "a"), ("a", "b")), ("up", "up"), "I1")
    monkeypatch.setattr(witnesses_module, "MOST_VISITS", 1)
    found = decide(FREE, {"up": up}, question, claims={"factorized_conditionals"})["factorized_conditionals"]
    assert (found.verdict, found.witness) == (UNDECIDED, None)
    assert "it fails at the length 3, and no witness is found" in found.why


def test_normalizers_that_enclosures_cannot_tell_apart() -> None:
    """Z is 19/18 after `a` and after `b`, where the tokens are exchanged; an idle expert in logs forbids fractions."""
    shape, half = "s:pq p:rr q:rr r:rr", ("1/2", "1/2")
    up, down = (
        automaton(shape, {"p": row, "q": row[::-1], "s": half, "r": half}) for row in (("1/3", "2/3"), ("5/12", "7/12"))
    )
    claim, experts = "local_equals_global", {"up": up, "down": down}
    assert decide(automaton(shape), experts, EVERY)[claim].verdict is HOLDS
    idle = Automaton(("a", "b"), None, ("s",), 0, ((0.0, 0.0),), ((0, 0),), "logs")
    found = decide(automaton(shape), experts | {"idle": idle}, EVERY)[claim]
    assert (found.verdict, found.residual) == (UNDECIDED, None)
    assert "cannot be told apart" in found.why


@pytest.mark.parametrize("rows", [automata_module.MOST_ROWS, 1])
def test_the_background_says_nothing_after_a_token_that_an_expert_opens(rows, monkeypatch: pytest.MonkeyPatch) -> None:
    """(c) fails after `a`, where up opens `b`; after `a b` there is no background. Enumerated, and beyond that."""
    base = automaton("s:tt t:t-", {"t": (1, 0)})
    monkeypatch.setattr(automata_module, "MOST_ROWS", rows)
    question = Question("every", masks={"up": ODDS}, null_tokens="drop")
    up = automaton("s:tt t:tt")
    found = decide(base, {"up": up}, question, claims={"factorized_conditionals"})["factorized_conditionals"]
    assert (found.verdict, found.length) == (REFUTED, 2)
    assert found.witness == PairWitness((("a",), ("a",)), ("up", "background"), "c")
    assert (found.residual is None) == (rows == 1)


# What cannot be asked


TABLE = Model(("a", "b"), None, ((tuple(map(Fraction, UNIFORM)),),))


@pytest.mark.parametrize(
    ("question", "match"),
    [
        (Question("every", masks={"up": EVENS, "down": Positions((4,))}), "overlap at 4"),
        (Question("every", masks={"up": Positions((3, 1))}), 'up: got the mask "3,1", needed increasing'),
        (Question("every", masks={"up": Positions((), ((0, 0),))}), "needed increasing"),
        (Question("every", masks={"up": Positions((10**9,))}), "repeat after 1000000002 positions"),
        (Question("every", masks={"left": EVENS}), "'left'"),
        (Question("every", weights={"up": Fraction(0)}), "weight"),
        (Question(2, masks={"up": EVENS}), "up: got the mask 0::2 without an end"),
        (Question(-1), "needed the length -1"),
        (Question(25), "table of more than 1048576 rows for the length 25"),
    ],
)
def test_questions_that_cannot_be_asked(question: Question, match: str) -> None:
    with pytest.raises(KernelError, match=match):
        decide(FREE, {"up": FREE, "down": FREE}, question)


def test_a_table_has_no_answer_for_every_length() -> None:
    with pytest.raises(KernelError, match="up: got a table of 1 steps, needed a finite-state model"):
        decide(FREE, {"up": TABLE}, EVERY)


@pytest.mark.parametrize("text", ["", "0", "0,5,7::3", "1::2,3::4", "12"])
def test_positions_are_read_as_written(text: str) -> None:
    assert str(read_positions(text, "masks.up")) == text


@pytest.mark.parametrize("text", ["00", "a", "1,", "0::0", "1::2,0", "-1", "0 ", "1::02", "::2", "٣"])
def test_other_positions_are_refused(text: str) -> None:
    with pytest.raises(KernelError, match=r"masks\.up: got"):
        read_positions(text, "masks.up")


@pytest.mark.parametrize(
    ("flags", "start", "text"),
    [("10", 0, "0::2"), ("1111", 2, "0::1"), ("0000", 1, ""), ("0110", 3, "1,2"), ("01011", 1, "1::4,3::4,4::4")],
)
def test_the_shortest_mask(flags: str, start: int, text: str) -> None:
    mask = repeating([flag == "1" for flag in flags], start)
    period = len(flags) - start
    wanted = [flags[t if t < len(flags) else start + (t - start) % period] == "1" for t in range(40)]
    assert [t in mask for t in range(40)] == wanted
    assert str(mask) == text


# The kernel's own answers at bounded lengths


def read(instance: AutomataInstance) -> tuple[Automaton, dict[str, Automaton]]:
    """The models of an instance, built by hand: no reader is involved."""
    built = {}
    for name in ("background", *instance.experts):
        contents = instance.model_json(name)
        names, tokens = [*contents["states"]], contents["vocabulary"]
        states = contents["states"].values()
        rows = tuple(tuple(Fraction(q["probabilities"].get(token, 0)) for token in tokens) for q in states)
        following = tuple(
            tuple(names.index(q["next"][token]) if token in q["next"] else None for token in tokens) for q in states
        )
        initial = names.index(contents["initial"])
        built[name] = Automaton(tuple(tokens), contents["eos"], tuple(names), initial, rows, following)
    return built.pop("background"), built


def at_length(question: Question, length: int) -> Question:
    masks = question.masks
    if isinstance(masks, Mapping):
        masks = {name: mask.below(length) for name, mask in masks.items()}
    return replace(question, length=length, masks=masks)


def bounded(instance: AutomataInstance, most: int) -> Iterator[Findings]:
    """The kernel's findings at the lengths 0, 1, 2, ... with at most `most` sequences."""
    background, experts = read(instance)
    length = 0
    while len(background.vocabulary) ** length <= most and length < 9:
        yield decide(background, experts, at_length(instance.question, length))
        length += 1


SEEDS = range(40)
MOST = 600


@pytest.mark.parametrize("seed", SEEDS)
def test_agrees_with_bounded_lengths(seed: int) -> None:
    """What holds at every length holds at each; what is refuted is refuted at its length first, by the same witness."""
    instance = random_automata(random.Random(seed))
    found, short = decide(*read(instance), instance.question), list(bounded(instance, MOST))
    for result in found.claims:
        first = next((t for t, f in enumerate(short) if verdicts(f).get(result.name) is REFUTED), None)
        if result.verdict is HOLDS and result.claim != "terminates":
            assert first is None, result
        length = decisive_length(result) if result.verdict is REFUTED else None
        if length is not None and length < len(short) and result.name in verdicts(short[length]):
            same = short[length][result.name]
            assert same.verdict is REFUTED, result
            if result.claim not in ("interval_joint", "local_equals_global"):
                assert same.witness == result.witness
            if result.length != "every":
                assert same.residual == result.residual
            if result.claim not in ("interval_joint",) and not isinstance(result.witness, PositionWitness):
                assert first == length, result


def decisive_length(result: ClaimResult) -> int | None:
    """The length at which a refuted claim is refuted first."""
    if result.claim == "interval_joint":
        return int(result.why.split("at length ")[1].split()[0])
    if result.claim == "terminates":
        return None
    if isinstance(result.witness, PositionWitness):
        return result.witness.position + 1
    return result.length if result.length != "every" else len(result.witness.prefix) + 1


@pytest.mark.parametrize("seed", SEEDS)
def test_decided_at_the_decisive_length(seed: int) -> None:
    """7.3, 7.4: the length |X| + |R| - 1 decides the joint claims, |R| those about one prefix; where that is short."""
    instance = random_automata(random.Random(seed))
    found = decide(*read(instance), instance.question)
    if found.invariant is None:
        return
    extended = len(found.invariant.states) * 2 ** len(instance.experts)
    if found.invariant.phases is not None:
        extended = sum(map(len, found.invariant.phases))
    short = list(bounded(instance, MOST))
    for name, length in {
        "pointwise_joint": found.states,
        "exact_switching": found.states,
        "unit_normalizer": found.states,
        "interval_joint": extended + found.states - 1,
    }.items():
        if length < len(short):
            assert short[length][name].verdict is found[name].verdict, name


@pytest.mark.parametrize("seed", SEEDS[:20])
def test_refutations_stay(seed: int) -> None:
    """A claim that is refuted at a length is refuted at every greater one: the horizon hides, it does not cure."""
    instance = random_automata(random.Random(seed))
    names = ("pointwise_joint", "interval_joint", "exact_switching", "unit_normalizer", "factorized_conditionals")
    if instance.question.masks == "auto":
        names = names[:-1]
    for before, after in zip(list(bounded(instance, 200)), list(bounded(instance, 200))[1:], strict=False):
        for name in set(names) & verdicts(after).keys():
            if verdicts(after)["well_defined"] is HOLDS and before[name].verdict is REFUTED:
                assert after[name].verdict is REFUTED


@pytest.mark.parametrize("seed", SEEDS)
def test_the_first_twins_are_those_of_enumeration(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same prefixes, whether all prefixes are enumerated or pairs of states are walked (Theorem 7.5)."""
    instance = random_automata(random.Random(seed))
    claims = {"factorized_conditionals"}
    enumerated = decide(*read(instance), instance.question, claims=claims).claims[-1]
    monkeypatch.setattr(automata_module, "MOST_ROWS", 0)
    walked = decide(*read(instance), instance.question, claims=claims).claims[-1]
    assert replace(walked, residual=None) == replace(enumerated, residual=None)


@pytest.mark.parametrize("seed", SEEDS[:20])
def test_masks_found_are_those_of_every_length(seed: int) -> None:
    instance = random_automata(random.Random(seed))
    question = replace(instance.question, masks="auto")
    models = read(instance)
    found = decide(*models, question, claims=())
    if found.masks is None:
        return
    length = 5
    short = decide(*models, replace(question, length=length), claims=())
    owned = {name: mask.below(length) for name, mask in found.masks.items() if mask.below(length)}
    assert short.masks == owned
