"""The oracle against the golden cases, against theorems, and against instances broken on purpose."""

import math
import random
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from factorcomp.certificates.claims import Findings, PairWitness, PositionWitness, PrefixWitness, Question, Verdict
from tests import golden
from tests.oracle import active_set, decide, deviates, exceeds_in_nats, law_of, spans, tabulate
from tests.strategies import STRUCTURES, Instance, instances, random_instance

HOLDS, REFUTED, UNDECIDED = Verdict.HOLDS, Verdict.REFUTED, Verdict.UNDECIDED
few = settings(max_examples=40, deadline=None)
needs_golden = pytest.mark.skipif(not golden.names(), reason=f"no golden cases in {golden.DIRECTORY}")


def ask(instance: Instance, **changes: object) -> Findings:
    """The oracle's findings, with the question changed."""
    question = replace(instance.question, **changes)
    return decide(instance.vocabulary, instance.eos, instance.background, instance.experts, question)


def case_of(instance: Instance):
    return tabulate(instance.vocabulary, instance.eos, instance.background, instance.experts, instance.question)


def halves(*steps: list[tuple[str, ...]]) -> list[list[tuple[Fraction, ...]]]:
    """Steps from rows of strings."""
    return [[tuple(Fraction(cell) for cell in row) for row in step] for step in steps]


UNIFORM = halves([("1/2", "1/2")], [("1/2", "1/2"), ("1/2", "1/2")])
TILTED_ROOT = halves([("1/4", "3/4")], [("1/2", "1/2"), ("1/2", "1/2")])


# Golden cases


@needs_golden
@pytest.mark.parametrize("name", golden.names())
def test_golden_case(name):
    """Every golden case is reproduced exactly."""
    instance, expected = golden.load(name)
    assert golden.compare(ask(instance), expected) == []


@needs_golden
@pytest.mark.parametrize("name", golden.names())
def test_golden_comparison_can_fail(name):
    """Negative control: a verdict turned around, or a TV off by 1e-6, is a difference."""
    instance, expected = golden.load(name)
    findings = ask(instance)
    for claim, verdict in expected["claims"].items():
        turned = {**expected["claims"], claim: "REFUTED" if verdict != "REFUTED" else "HOLDS"}
        assert golden.compare(findings, {**expected, "claims": turned})
    for measure in ("tv_to_switching", "tv_local_global", "overlap_probability") if expected["measures"] else ():
        off = str(Fraction(expected["measures"][measure]) + Fraction(1, 10**6))
        assert golden.compare(findings, {**expected, "measures": {**expected["measures"], measure: off}})


@needs_golden
@pytest.mark.parametrize("name", ["drift", "letters_AAC", "factorized_conditionals", "three_experts_disjoint"])
def test_broken_golden_case_is_refuted(name):
    """Negative control: where the joint claim holds, one more row that deviates refutes it."""
    instance, expected = golden.load(name)
    assert expected["claims"]["pointwise_joint"] == "HOLDS"
    findings = ask(instance)
    first, second = list(instance.experts)[:2]
    step = next(step for step, ranges in enumerate(findings.deviating[first]) if ranges)
    index = findings.deviating[first][step][0][0]
    broken = [list(rows) for rows in instance.experts[second]]
    size = len(instance.vocabulary)
    broken[step][index] = tuple(Fraction(token + 1, size * (size + 1) // 2) for token in range(size))
    after = ask(replace(instance, experts={**instance.experts, second: broken}))
    assert after["pointwise_joint"].verdict == REFUTED
    assert after["interval_joint"].verdict == REFUTED
    assert golden.compare(after, expected)


# Laws


@few
@given(instances(), st.sampled_from(["reachable", "all"]))
def test_one_expert_is_given_back(instance, scope):
    """Theorem 1.5 (5), 4.4 (2): `k=1` under `cancel` gives `p^ = p_1`, `Z = 1`, `P_L = P_G = P_1`."""
    name = next(iter(instance.experts))
    question = Question(instance.question.length, scope=scope)
    alone = replace(instance, experts={name: instance.experts[name]}, question=question)
    findings, case = ask(alone), case_of(alone)
    assert case.local == law_of(case.experts[name], case.size, case.length)
    assert {claim.verdict for claim in findings.claims if claim.claim != "terminates"} == {HOLDS}
    assert findings.measures.tv_to_switching == findings.measures.tv_local_global == 0


@few
@given(instances())
def test_the_order_of_experts_is_irrelevant(instance):
    """`w` is symmetric in the experts: verdicts and residuals do not depend on their order."""
    backwards = replace(instance, experts=dict(reversed(instance.experts.items())))
    here, there = ask(instance), ask(backwards)
    assert {claim.name for claim in here.claims} == {claim.name for claim in there.claims}
    for claim in here.claims:
        assert (claim.verdict, claim.residual) == (there[claim.name].verdict, there[claim.name].residual)
    assert here.deviating == there.deviating
    assert here.active == there.active


@few
@given(instances())
def test_another_expert_that_equals_the_background_is_irrelevant(instance):
    """`r_i = 1` is the unit of the product; only under `cancel` may it move the error cells, never elsewhere."""
    more = replace(instance, experts={**instance.experts, "same": instance.background})
    here, there = ask(instance), ask(more)
    for claim in here.claims:
        if claim.claim != "exact_switching":
            assert (claim.verdict, claim.residual) == (there[claim.name].verdict, there[claim.name].residual)


@few
@given(instances())
def test_a_composition_that_is_undefined_decides_nothing_else(instance):
    """With `well_defined` refuted every other claim is UNDECIDED and there are no measures; otherwise none is."""
    findings = ask(instance)
    broken = findings["well_defined"].verdict == REFUTED
    assert (findings.measures is None) == broken
    assert all((claim.verdict == UNDECIDED) == broken for claim in findings.claims[1:])


@few
@given(instances())
def test_implications(instance):
    """JF-int => JF-pt; under `cancel` and `strict` JF-pt => switching exact, `Z = 1`, `P_L = P_G`; FC => projective."""
    findings = ask(instance, threshold=Fraction(0))
    assume(findings.measures is not None)
    if findings["interval_joint"].verdict == HOLDS:
        assert findings["pointwise_joint"].verdict == HOLDS
    if findings["pointwise_joint"].verdict == HOLDS and instance.question.null_tokens != "drop":
        for claim in ("exact_switching", "unit_normalizer", "local_equals_global"):
            assert findings[claim].verdict == HOLDS
        assert findings.measures.tv_to_switching == 0
    if findings.masks is not None and findings["factorized_conditionals"].verdict == HOLDS:
        assert {claim.verdict for claim in findings.claims if claim.claim == "projective"} <= {HOLDS}
        assert findings.measures.tv_local_global == 0


@few
@given(instances())
def test_active_sets_have_both_descriptions(instance):
    """Definition 3.3: `h in Act_i` iff `h` is alive and some prefix of `h`, itself included, deviates."""
    case = case_of(instance)
    for name in case.names:
        deviating = {prefix for prefix in case.scope if deviates(case, name, prefix)}
        alive = {deviant[:step] for deviant in deviating for step in range(len(deviant) + 1)}
        described = {prefix for prefix in alive if any(prefix[:step] in deviating for step in range(len(prefix) + 1))}
        assert active_set(deviating, case.size, case.length) == described


@few
@given(instances())
def test_theorem_1_5_bounds_local_against_global(instance):
    """`TV(P_L, P_G) <= tanh(osc(S)/4)`, `S(y) = sum_t log Z(y_<t)` over the paths of `P_L`."""
    findings, case = ask(instance), case_of(instance)
    assume(findings.measures is not None)
    products = [
        math.prod((case.normalizer[path[:step]] for step in range(case.length)), start=Fraction(1))
        for path in case.local
    ]
    bound = math.tanh(math.log(max(products) / min(products)) / 4)
    assert float(findings.measures.tv_local_global) <= bound + golden.CLOSE
    assert (findings["local_equals_global"].verdict == HOLDS) == (max(products) == min(products))


@few
@given(instances(structures=["sparse", "constrained", "reciprocal"]), st.integers(2, 3))
def test_weights_are_tilted_experts(instance, weight):
    """Proposition 1.9 (a), `p_i << p_b`: weights compose as the tilted experts do without weights."""
    case = case_of(replace(instance, question=Question(instance.question.length, weights={"up": Fraction(weight)})))
    assert not case.undefined
    up = [[case.experts["up"][prefix] for prefix in case.prefixes(step)] for step in range(case.length)]
    weighted = ask(instance, weights={"up": Fraction(weight)}, scope="all")
    plain = ask(replace(instance, experts={**instance.experts, "up": up}), weights={}, scope="all")
    assert golden.differences(weighted, plain) == []


@few
@given(instances())
def test_every_witness_has_the_probability_it_states(instance):
    """A prefix witness is in scope, has its stated probability, and no residual is negative or above what it can be."""
    findings, case = ask(instance), case_of(instance)
    for claim in findings.claims:
        if isinstance(claim.witness, PrefixWitness):
            prefix = tuple(case.vocabulary.index(token) for token in claim.witness.prefix)
            assert prefix in (case.reachable if claim.claim in ("local_equals_global", "terminates") else case.scope)
            assert claim.witness.probability == case.probability(prefix)
        if claim.residual is not None and claim.claim != "unit_normalizer":
            assert 0 <= claim.residual <= 1
    if findings.measures is not None:
        assert sum(case.local.values()) == 1


# Corners


@pytest.mark.parametrize(
    ("ratio", "threshold", "expected"),
    [
        (Fraction(1), Fraction(0), False),
        (Fraction(10**40 + 1, 10**40), Fraction(0), True),
        (Fraction(1), Fraction(1, 10**9), False),
        (Fraction(2718281828459045235, 10**18), Fraction(1), False),
        (Fraction(2718281828459045236, 10**18), Fraction(1), True),
        (Fraction(271828182845904523536028747135266249775724709369995, 10**50), Fraction(1), False),
        (Fraction(271828182845904523536028747135266249775724709369996, 10**50), Fraction(1), True),
        (Fraction(10**400), Fraction(921), True),
        (Fraction(10**400), Fraction(922), False),
    ],
)
def test_exceeds_in_nats(ratio, threshold, expected):
    """`log ratio > threshold` is decided exactly, also where 30 digits do not tell."""
    assert exceeds_in_nats(ratio, threshold) is expected


def test_length_zero():
    """T = 0: nothing is in scope, every claim holds; with EOS nothing has ended."""
    findings = decide(("a", "<eos>"), "<eos>", [], {"up": []}, Question(0, masks={"up": ()}))
    verdicts = {claim.name: claim.verdict for claim in findings.claims}
    assert verdicts.pop("terminates") == Verdict.BOUNDED
    assert set(verdicts.values()) == {HOLDS}
    assert findings["terminates"].residual == 1
    assert findings["terminates"].witness is None
    assert findings.measures.log_normalizer_min is None
    assert findings.measures.termination.composition == 0
    assert findings.deviating == {"up": ()}


def test_one_token_that_is_eos():
    """V = 1: the only sequence is certain, and it ends with its first token."""
    certain = halves([("1",)], [("1",)])
    findings = decide(("<eos>",), "<eos>", certain, {"up": certain}, Question(2))
    assert {claim.verdict for claim in findings.claims} == {HOLDS}
    assert findings.measures.termination.composition == 1


def test_out_of_reach_overlap_is_refuted_with_residual_zero():
    """Remark 3.7 with `--scope all`: two deviate where the composition never goes."""
    up = halves([("1", "0")], [("1/2", "1/2"), ("1/4", "3/4")])
    down = halves([("1/2", "1/2")], [("1/2", "1/2"), ("3/4", "1/4")])
    near = decide(("a", "b"), None, UNIFORM, {"up": up, "down": down}, Question(2))
    far = decide(("a", "b"), None, UNIFORM, {"up": up, "down": down}, Question(2, scope="all"))
    assert near["pointwise_joint"].verdict == HOLDS
    assert far["pointwise_joint"].verdict == REFUTED
    assert far["pointwise_joint"].residual == 0
    assert far["pointwise_joint"].witness == PrefixWitness(("b",), Fraction(0), ("up", "down"))


def test_auto_masks_found_and_not_found():
    """`--masks auto`: owned positions are found; a position of two owners refutes with a prefix for each."""
    late = halves([("1/2", "1/2")], [("1/2", "1/2"), ("1/4", "3/4")])
    both = halves([("3/4", "1/4")], [("1/2", "1/2"), ("1/2", "1/2")])
    found = decide(("a", "b"), None, UNIFORM, {"up": TILTED_ROOT, "down": late}, Question(2, masks="auto"))
    assert found.masks == {"up": (0,), "down": (1,)}
    none = decide(("a", "b"), None, UNIFORM, {"up": TILTED_ROOT, "down": both}, Question(2, masks="auto"))
    assert none.masks is None
    assert none["projective:down"].witness == PositionWitness(0, ("up", "down"), ((), ()))
    assert none["mask_agreement"].verdict == none["factorized_conditionals"].verdict == REFUTED


def test_condition_c_names_the_same_prefix_twice():
    """Definition 2.1 (c): an expert that opens a token on its mask is refuted without any pair of unequal rows."""
    never = halves([("1", "0")])
    findings = decide(("a", "b"), None, never, {"up": halves([("1/2", "1/2")])}, Question(1, masks={"up": (0,)}))
    result = findings["factorized_conditionals"]
    assert (result.verdict, result.residual) == (REFUTED, 0)
    assert result.witness == PairWitness(((), ()), ("up", "background"), "c")
    assert findings["projective:up"].verdict == HOLDS


def test_drop_can_break_a_sole_deviator():
    """Theorem 4.4, counterexample (2): under `drop` `p^ = (1,0)` and `Z = 1/2` although one expert deviates."""
    never = halves([("1", "0")])
    question = Question(1, null_tokens="drop")
    findings = decide(("a", "b"), None, never, {"up": halves([("1/2", "1/2")])}, question)
    assert findings["pointwise_joint"].verdict == findings["exact_switching"].verdict == HOLDS
    assert findings["unit_normalizer"].residual == pytest.approx(math.log(2), rel=1e-15)
    assert findings.measures.tv_to_switching == Fraction(1, 2)
    assert findings.measures.experts["up"].max_oscillation == math.inf


def test_spans_join_neighbours():
    """Consecutive indices are one range."""
    case = tabulate(("a", "b"), None, UNIFORM, {"up": UNIFORM}, Question(2))
    assert spans(case, {(), (0,), (1,)}) == (((0, 1),), ((0, 2),))
    assert spans(case, {(1,)}) == ((), ((1, 2),))


# The strategies


@few
@given(instances())
def test_instances_are_inside_the_contract(instance):
    """Rows are distributions, EOS absorbs, masks are disjoint, and the JSON form reads back as the same instance."""
    models = {name: instance.model_json(name) for name in instance.experts}
    again = golden.instance_of(instance.model_json("background"), models, instance.options(), "")
    assert again == instance
    masks = instance.question.masks
    if isinstance(masks, dict):
        owned = [position for positions in masks.values() for position in positions]
        assert len(owned) == len(set(owned))
        assert set(owned) <= set(range(instance.question.length))
    for name in ("background", *instance.experts):
        for step, rows in enumerate(instance.model(name)):
            for index, row in enumerate(rows):
                size, last = len(row), len(row) - 1
                prefix = [index // size**place % size for place in range(step)]
                assert instance.eos is None or last not in prefix or row[last] == 1


def test_random_instances_repeat():
    """A seed is an instance."""
    for seed in range(20):
        assert random_instance(random.Random(seed)) == random_instance(random.Random(seed))


@pytest.mark.parametrize("structure", STRUCTURES)
def test_structures_reach_interesting_verdicts(structure):
    """Not vacuous: 60 instances of a class are mostly well defined, and reach the verdicts they are built for."""
    seen: dict[str, set[str]] = {}
    defined = 0
    for seed in range(60):
        findings = ask(random_instance(random.Random(seed), [structure], cap=64))
        defined += findings.measures is not None
        for claim in findings.claims:
            seen.setdefault(claim.claim, set()).add(str(claim.verdict))
    assert defined >= 24
    wanted = {
        "free": {"pointwise_joint": {"HOLDS", "REFUTED"}, "well_defined": {"HOLDS", "REFUTED"}},
        "sparse": {"pointwise_joint": {"HOLDS", "REFUTED"}, "interval_joint": {"HOLDS", "REFUTED"}},
        "factorized": {"factorized_conditionals": {"HOLDS", "REFUTED"}, "projective": {"HOLDS", "REFUTED"}},
        "agreeing": {"mask_agreement": {"HOLDS"}, "factorized_conditionals": {"REFUTED"}, "projective": {"REFUTED"}},
        "opening": {"well_defined": {"REFUTED"}, "unit_normalizer": {"HOLDS", "REFUTED"}},
        "deterministic": {"well_defined": {"HOLDS", "REFUTED"}, "exact_switching": {"HOLDS"}},
        "constrained": {"pointwise_joint": {"REFUTED"}, "local_equals_global": {"HOLDS", "REFUTED"}},
        "memoryless": {"unit_normalizer": {"REFUTED"}, "local_equals_global": {"HOLDS"}},
        "reciprocal": {"exact_switching": {"HOLDS"}, "pointwise_joint": {"REFUTED"}},
    }
    for claim, verdicts in wanted[structure].items():
        assert verdicts <= seen[claim], (claim, seen[claim])
