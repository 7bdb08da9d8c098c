"""verify() and compose() on finite-state models, as a caller in Python sees them."""

import json
import math
import random
from fractions import Fraction

import pytest

from factorcomp.certificates.claims import Positions, Verdict
from factorcomp.composition import compose
from factorcomp.formats import load, save
from factorcomp.models.errors import InputError
from factorcomp.models.finite_state import NOWHERE, FiniteStateModel
from factorcomp.models.tabular import TabularModel
from factorcomp.verdicts import Report
from factorcomp.verification import verify
from tests import small_automata
from tests.automata import random_automata
from tests.test_verdicts import check_contract

BASE = small_automata.model("base")
LENGTHS = ("every", 5_000)


def small(*names: str) -> dict[str, FiniteStateModel]:
    return {name: small_automata.model(name) for name in names}


def plain(report: Report) -> dict:
    """The report as data, through the text of a file without NaN and without bare infinities."""
    data = report.to_json()
    text = json.dumps(data, allow_nan=False)
    assert json.loads(report.to_json_text()) == json.loads(text)
    assert json.loads(text) == data
    return data


@pytest.mark.parametrize("exact", [False, True])
def test_every_length(exact):
    report = verify(BASE, small("start", "second"), length="every", masks="auto", exact=exact)
    assert (report.verdict, report.question.length) == (Verdict.HOLDS, "every")
    assert report.findings.masks == {"start": Positions((0,)), "second": Positions((1,))}
    assert {result.verdict for result in report.claims} == {Verdict.HOLDS}
    assert (report.findings.states, report.prefixes) == (3, None)
    invariant = report.findings.invariant
    assert invariant is not None
    assert invariant.states == (("s", "s", "s"), ("s", "t", "t"), ("s", "t", "u"))
    assert invariant.phases == ((("active", "before"),), (("after", "active"),), (("after", "after"),))


@pytest.mark.parametrize("length", LENGTHS)
def test_who_deviates_and_who_is_active_on_the_way(length):
    """`even` deviates, then `odd` while `even` waits for its next turn; of other prefixes nothing is said."""
    report = verify(BASE, small("even", "odd"), length=length)
    assert report["interval_joint"].witness.prefix == ("a",)
    assert (report.deviating(()), report.active(())) == (("even",), ("even",))
    assert (report.deviating(["a"]), report.active(["a"])) == (("odd",), ("even", "odd"))
    assert (report.deviating(["b"]), report.active(["b", "a"])) == ((), ())
    assert report.findings.deviating == report.findings.active == {}


def test_the_marks_are_what_enumeration_says():
    """On the way to every witness, at a length long enough for all that `even` and `late` will do."""
    models = small("even", "late")
    for claim in ("pointwise_joint", "interval_joint"):
        every, table = (verify(BASE, models, length=length, require=claim) for length in ("every", 8))
        prefix = every[claim].witness.prefix
        assert prefix == table[claim].witness.prefix
        for length in range(len(prefix) + 1):
            assert every.deviating(prefix[:length]) == table.deviating(prefix[:length])
            assert every.active(prefix[:length]) == table.active(prefix[:length])


@pytest.mark.parametrize("seed", range(20))
def test_the_marks_of_random_models_are_those_of_enumeration(seed):
    """Deviating experts are the same on the way to every witness; whoever is marked as active is."""
    models = random_models(seed)
    every, table = verify(*models, length="every"), verify(*models, length=9)
    for prefix in every.marks:
        assert every.deviating(prefix) == table.deviating(prefix)
        assert {*every.deviating(prefix)} <= {*every.active(prefix)} <= {*table.active(prefix)}


def test_random_models_have_marks():
    """The test above compares something, also experts that are active and do not deviate."""
    found = [
        marks
        for seed in range(20)
        for marks in verify(*random_models(seed), length="every").marks.values()
        if {*marks.active} - {*marks.deviating}
    ]
    assert found


def random_models(seed: int) -> tuple[FiniteStateModel, dict[str, FiniteStateModel]]:
    return random_automata(random.Random(seed), ("free", "shared", "interleaving", "ending")).models()


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("names", [("start", "second"), ("even", "odd"), ("even", "late"), ("only_a", "only_b")])
def test_a_report_about_every_length_as_data(names, exact):
    data = plain(verify(BASE, small(*names), length="every", masks="auto", exact=exact))
    check_contract(data)
    assert data["length"] == "every"


@pytest.mark.parametrize("names", [("start", "second"), ("even", "odd"), ("even", "late"), ("only_a", "only_b")])
def test_a_report_about_a_long_length_as_data(names):
    data = plain(verify(BASE, small(*names), length=5_000, masks={names[0]: "0::2"}))
    check_contract(data)
    assert data["masks"][names[0]] == list(range(0, 5_000, 2))


def test_infinite_numbers_are_words():
    models = small_automata.model("ending"), small("trapped", "hurried")
    report = verify(*models, length="every", require="terminates")
    assert report.measures is not None
    assert report.measures.termination is not None
    assert report.measures.termination.composition == math.inf
    data = plain(report)
    assert data["measures"]["termination"]["expected_length"]["composition"] == "inf"
    assert data["measures"]["experts"]["trapped"]["runs"] == 1


def test_a_gap_as_data():
    """Where nothing more can be said: no measures, and the masks as they were given."""
    report = verify(small_automata.model("narrow"), {"up": BASE}, length="every", masks={"up": "1::2"})
    data = plain(report)
    check_contract(data)
    assert (data["measures"], data["masks"]) == ({}, {"up": "1::2"})
    assert report["well_defined"].witness.experts == ()
    assert report.deviating(()) == report.active(()) == ("up",)
    assert report.deviating(["b"]) == report.active(["b"]) == ()


@pytest.mark.parametrize(
    ("length", "exact"), [*((length, exact) for length in ("every", 2, 3) for exact in (False, True)), (5_000, False)]
)
@pytest.mark.parametrize(
    ("names", "experts", "why"),
    [
        (("narrow", "base"), (), "after 'b' the background has no next state: what it says there is undefined"),
        (("base", "narrow"), ("narrow",), "after 'b' narrow has no next state: what it says there is undefined"),
    ],
)
def test_a_model_that_says_nothing(names, experts, why, length, exact):
    """By enumeration, by states and by the kernel alike; the composition opens `b`, or the scope is all."""
    background, expert = names
    scope = "all" if experts else "reachable"
    report = verify(small_automata.model(background), small(expert), length=length, scope=scope, exact=exact)
    result = report["well_defined"]
    assert (result.verdict, result.why) == (Verdict.REFUTED, why)
    assert (result.witness.prefix, result.witness.experts) == (("b",), experts)
    assert result.residual == pytest.approx(result.witness.probability if length == 2 or experts else _met(length))
    assert {other.verdict for other in report.claims if other.claim != "well_defined"} == {Verdict.UNDECIDED}


def _met(length: int | str) -> float:
    """The probability that a fair coin has shown `b` before its last toss."""
    return 1.0 if length == "every" else 1 - 0.5 ** (length - 1)


def test_a_gap_beyond_the_length_does_not_matter():
    """After one token nothing is asked of what follows it."""
    report = verify(small_automata.model("narrow"), small("base"), length=1)
    assert report["well_defined"].verdict is Verdict.HOLDS
    assert report.verdict is Verdict.HOLDS


def test_compositions_of_finite_state_models():
    """Exact rows, a state for each that the composition reaches, and labels for those who check it elsewhere."""
    composed = compose(BASE, small("even", "late"))
    assert isinstance(composed, FiniteStateModel)
    assert isinstance(composed.rows.exact(0).factors[0], Fraction)
    assert composed.rows.exact(0).factors == (Fraction(1, 4), Fraction(3, 4))
    assert set(composed.labels) == {"overlap", "deviates_even", "deviates_late"}
    assert composed.labels["overlap"].sum() == 1
    assert (composed.next != NOWHERE).all()


@pytest.mark.parametrize("length", [0, 1, 4])
def test_a_composition_by_states_is_the_composition_by_tables(length):
    experts = small("even", "late", "second")
    composed, table = compose(BASE, experts), compose(BASE, experts, length=length)
    assert isinstance(composed, FiniteStateModel)
    assert isinstance(table, TabularModel)
    unrolled = composed.tabulate(length)
    for mine, theirs in zip(unrolled.steps, table.steps, strict=True):
        for row in range(theirs.shape[0]):
            assert mine.exact(row).factors == theirs.exact(row).factors


def test_a_table_among_finite_state_models_needs_a_length():
    """Whether it is the background or an expert: the composition is then no model of every length."""
    even, late = small("even", "late").values()
    for background, second in ((BASE.tabulate(2), late), (BASE, late.tabulate(2))):
        with pytest.raises(InputError, match="no horizon of its own; give the length"):
            compose(background, {"even": even, "late": second})
        assert isinstance(compose(background, {"even": even, "late": second}, length=2), TabularModel)


def test_a_composition_is_used_again(tmp_path):
    """Written and read, it is the one expert that does what all did: the verdict is about it alone."""
    composed = compose(BASE, small("start", "second"))
    save(composed, tmp_path / "composed.json")
    report = verify(BASE, {"both": load(tmp_path / "composed.json")}, length="every", masks="auto")
    assert report.findings.masks == {"both": Positions((0, 1))}
    assert report.measures.experts["both"].expected_active_steps == 2


@pytest.mark.parametrize(
    ("background", "experts", "options", "message"),
    [
        ("narrow", ("base",), {}, "the composition is undefined after 'b': a model has no next state there"),
        ("base", ("only_a", "only_b"), {}, "undefined after the empty prefix: all mass vanishes there"),
        ("only_a", ("base",), {"null_tokens": "strict"}, r"a ratio has no value there \(strict\)"),
        ("base", ("even",), {"sequence_level": True}, "length: got none, and the sequence-level composition is of one"),
        ("base", ("even",), {"weights": {"even": 0}}, "the weight of even is 0; it must be greater than 0"),
    ],
)
def test_compositions_that_there_are_not(background, experts, options, message):
    with pytest.raises(InputError, match=message):
        compose(small_automata.model(background), small(*experts), **options)


def test_every_length_needs_models_without_an_end():
    with pytest.raises(InputError, match="a table ends at its horizon"):
        verify(BASE, {"up": BASE.tabulate(3)}, length="every")
    assert verify(BASE, {"up": BASE.tabulate(3)}, length=3).verdict is Verdict.HOLDS


def test_length_zero_and_one_token():
    """Nothing can fail where nothing happens, or where nothing else can."""
    one = FiniteStateModel.from_states({"s": {"probabilities": {"a": 1}, "next": {"a": "s"}}}, ["a"], "s")
    for length in (0, 1, "every"):
        assert {result.verdict for result in verify(one, {"x": one}, length=length).claims} == {Verdict.HOLDS}


def test_a_sequence_that_ends_at_once():
    """EOS is the only token: every prefix but the empty one has ended."""
    end = FiniteStateModel.from_states({"s": {"probabilities": {"$": 1}, "next": {}}}, ["$"], "s", "$")
    report = verify(end, {"x": end}, length="every", require="terminates")
    assert report.verdict is Verdict.HOLDS
    assert report.measures.termination.composition == 1
