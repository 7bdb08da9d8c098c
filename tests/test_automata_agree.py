"""About every length, and about one, all engines say the same of finite-state models; and Theorems 7.3 and 7.4.

The engine in floating point may leave a claim to the kernel; with it nothing may differ from the oracle of definitions.
What one engine does not compute (`None`) is no difference where the other proves a 0.
"""

import math
import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from factorcomp.certificates.claims import ClaimResult, Findings, Question, Verdict
from factorcomp.composition.automata import compose_automata
from factorcomp.factorization import state_masks
from factorcomp.factorization.at_length import decide_at_length
from factorcomp.factorization.decision import decide
from factorcomp.finite_state import carrying
from factorcomp.verification.kernel import decide_all_lengths, settle
from tests import golden, oracle
from tests.automata import AutomataInstance, random_automata, unroll
from tests.oracle_automata import decide as by_definition
from tests.oracle_automata import decisive_length

HOLDS, REFUTED, UNDECIDED = Verdict.HOLDS, Verdict.REFUTED, Verdict.UNDECIDED
SEEDS = range(40)
NOT_COMPUTED = (".tv_to_switching: found None", ".tv_local_global: found None")
COUNTS = (".deviating_prefixes: found None", ".active_prefixes: found None")


def instance_of(seed: int) -> AutomataInstance:
    return random_automata(random.Random(seed))


def by_engine(instance: AutomataInstance, *, exact: bool = False) -> Findings:
    """The engine with the kernel for what it leaves open; or `exact`, the kernel with the engine's long run."""
    return decide_all_lengths(*instance.models(), instance.question, exact=exact)


def differences(found: Findings, truth: Findings) -> list[str]:
    lines = golden.differences(replace(found, unsettled=frozenset()), truth)
    return [line for line in lines if not any(part in line for part in NOT_COMPUTED)]


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("part", range(5))
def test_every_length_agrees_with_the_definitions(part: int, exact: bool):
    """Verdicts, witnesses, residuals, measures, invariants; with `exact` the same fractions."""
    for seed in SEEDS[part::5]:
        instance = instance_of(seed)
        assert differences(by_engine(instance, exact=exact), by_definition(instance)) == [], f"{seed}: {instance}"


def test_a_difference_is_seen():
    """With every expert replaced by the background something is found to differ."""
    instance = next(i for i in map(instance_of, SEEDS) if refuted(by_engine(i), "pointwise_joint"))
    broken = replace(instance, experts=dict.fromkeys(instance.experts, instance.background))
    assert differences(by_engine(broken), by_definition(instance))


def test_without_enumeration_the_first_twins_are_the_same(monkeypatch: pytest.MonkeyPatch):
    """The first failing pair of factorized conditionals by following pairs of states, as by enumeration."""
    monkeypatch.setattr(state_masks, "NUMBERS_TO_ENUMERATE", 1)
    failed = 0
    for seed in SEEDS:
        instance = instance_of(seed)
        truth = by_definition(instance)
        if instance.question.masks and truth.measures is not None and refuted(truth, "factorized_conditionals"):
            found, wanted = (f["factorized_conditionals"] for f in (by_engine(instance), truth))
            assert (found.witness, found.length) == (wanted.witness, wanted.length), f"seed {seed}: {instance}"
            failed += 1
    assert failed > 5


def refuted(findings: Findings, claim: str) -> bool:
    return any(result.name == claim and result.verdict is REFUTED for result in findings.claims)


# Theorems 7.3 and 7.4


def test_every_length_is_the_decisive_length():
    """7.3, 7.4: what holds of every state holds at the length |X| + |R| - 1, first refuted by one prefix."""
    compared = 0
    for seed in SEEDS:
        instance = instance_of(seed)
        if len(instance.vocabulary) ** (length := decisive_length(instance)) > 2**10:
            continue
        every, one = by_engine(instance), at_length(instance, length)
        assert (every.measures is None) is (one.measures is None)
        for claim in ("pointwise_joint", "interval_joint", "exact_switching", "unit_normalizer"):
            pair = (replace(result, residual=None, length="every") for result in (every[claim], one[claim]))
            assert golden.differences(*pair) == [], f"seed {seed}: {instance}"
        compared += 1
    assert compared > 10


def test_interval_joint_fails_from_some_length_on():
    """7.4: monotone in the length, and at every length iff at each; pointwise but not interval joint cases occur."""
    turning, pointwise_only = 0, 0
    for seed in SEEDS:
        instance = instance_of(seed)
        every = by_engine(instance)
        if every.measures is None:
            continue
        longest = min(decisive_length(instance), 6 if len(instance.vocabulary) > 2 else 8)
        verdicts = [at_length(instance, length)["interval_joint"].verdict for length in range(longest + 1)]
        assert verdicts == sorted(verdicts, key=[HOLDS, REFUTED].index), f"seed {seed}: {instance}"
        assert every["interval_joint"].verdict is REFUTED or REFUTED not in verdicts
        turning += HOLDS in verdicts and REFUTED in verdicts
        pointwise_only += every["pointwise_joint"].verdict is HOLDS and every["interval_joint"].verdict is REFUTED
    assert turning > 3
    assert pointwise_only > 2


def at_length(instance: AutomataInstance, length: int) -> Findings:
    """The oracle for one length on the tables."""
    tables = {name: unroll(instance, name, length) for name in ("background", *instance.experts)}
    background = tables.pop("background")
    return oracle.decide(instance.vocabulary, instance.eos, background, tables, bounded(instance.question, length))


def bounded(question: Question, length: int) -> Question:
    masks = question.masks
    if isinstance(masks, Mapping):
        masks = {name: mask.below(length) for name, mask in masks.items()}
    return replace(question, length=length, masks=masks)


# One length by two scans


def length_for(instance: AutomataInstance, seed: int) -> int:
    return random.Random(seed).randint(1, 7 if len(instance.vocabulary) < 3 else 5)


@pytest.mark.parametrize("numbers", [1 << 18, 20])
def test_one_length_agrees_with_enumeration(numbers: int, monkeypatch: pytest.MonkeyPatch):
    """All that is decided; measures; and bounds that hold, also where next to nothing may be enumerated."""
    monkeypatch.setattr(state_masks, "NUMBERS_TO_ENUMERATE", numbers)
    for seed in SEEDS:
        assert disagreements(instance_of(seed), seed) == [], f"seed {seed}: {instance_of(seed)}"


def disagreements(instance: AutomataInstance, seed: int) -> list[str]:
    """What the scans say otherwise than enumeration does of the same models, at a length drawn by the seed."""
    (background, experts), length = instance.models(), length_for(instance, seed)
    question = bounded(instance.question, length)
    base, tables = background.tabulate(length), {name: model.tabulate(length) for name, model in experts.items()}
    found = decide_at_length(background, experts, question)
    truth = settle(decide(base, tables, question), base, tables, question)
    lines = [] if found.masks == truth.masks else [f"masks: {found.masks}, {truth.masks}"]
    if [c.name for c in found.claims] != [c.name for c in truth.claims]:
        return [f"claims: {[c.name for c in found.claims]}, {[c.name for c in truth.claims]}"]
    for mine, theirs in zip(found.claims, truth.claims, strict=True):
        if mine.verdict is UNDECIDED and theirs.verdict is not UNDECIDED:
            continue
        lines += [f"{mine.name}: {line}" for line in _claim(mine, theirs)]
    if found.measures is None or truth.measures is None:
        return lines + ([] if found.measures is truth.measures else ["measures"])
    for name, (low, high) in found.measures.bounds.items():
        true = float(getattr(truth.measures, name))
        lines += [] if low - 1e-9 <= true <= high + 1e-9 else [f"{name}: {true} is not in {low} to {high}"]
    exact = replace(truth.measures, bounds=found.measures.bounds)
    places = [p for p in golden.differences(found.measures, exact) if not any(c in p for c in (*COUNTS, *NOT_COMPUTED))]
    return lines + places


def _claim(mine: ClaimResult, theirs: ClaimResult) -> list[str]:
    """A refuted total variation may be bounded from below, and its marginal refuted by fewer positions."""
    lines = golden.differences(mine, theirs)
    if mine.verdict is REFUTED and mine.claim in ("projective", "factorized_conditionals", "local_equals_global"):
        lines = [line for line in lines if ".residual" not in line]
        if mine.claim == "projective":
            lines = [line for line in lines if ".witness" not in line]
        if not float(mine.residual or 0) <= float(theirs.residual or 0) + 1e-9:
            lines.append(f"residual: at least {mine.residual}, but it is {theirs.residual}")
    return lines


def test_what_settles_goes_on_as_it_does(monkeypatch: pytest.MonkeyPatch):
    """At length 80, by a geometric series as soon as shapes settle and step by step: the same numbers."""
    compared = 0
    for seed in SEEDS:
        (background, experts), question = instance_of(seed).models(), bounded(instance_of(seed).question, 80)
        question = replace(question, masks=None)
        monkeypatch.setattr(carrying, "EVERY", 3)
        quick = decide_at_length(background, experts, question)
        monkeypatch.setattr(carrying, "EVERY", 1000)
        slow = decide_at_length(background, experts, question)
        assert golden.differences(quick, slow) == [], f"seed {seed}"
        compared += quick.measures is not None
    assert compared > 25


# Storm


def test_storm_agrees(tmp_path: Path):
    """Storm reads the composed model as PRISM text: overlap, termination and expected length are the same fractions."""
    pytest.importorskip("stormpy", reason="the model checker Storm is the oracle here: pip install stormpy")
    from tests.finite_state.test_storm import storm

    asked = 0
    for seed in SEEDS:
        instance = instance_of(seed)
        findings = by_engine(instance, exact=True)
        measures, question = findings.measures, instance.question
        if measures is None or question.threshold or question.weights or question.scope == "all":
            continue
        background, experts = instance.models()
        composed = compose_automata(background, experts, question.null_tokens, question.weights)
        assert storm(composed, composed.labels, 'P=? [F "overlap"]', tmp_path) == measures.overlap_probability
        asked += 1
        if measures.termination is not None:
            assert storm(composed, {}, 'P=? [F "ended"]', tmp_path) == 1 - measures.termination.unended
            length = storm(composed, {}, 'R{"steps"}=? [F "ended"]', tmp_path)
            assert length == measures.termination.composition or math.isinf(length)
            assert math.isinf(length) == math.isinf(measures.termination.composition)
    assert asked > 10


@pytest.mark.campaign
@pytest.mark.parametrize("part", range(8))
def test_campaign(part: int, request: pytest.FixtureRequest):
    """Engine, kernel, oracle and enumeration on many finite-state models, named by their seeds."""
    for seed in range(part, request.config.getoption("--campaign"), 8):
        instance = instance_of(seed)
        truth = by_definition(instance)
        assert differences(by_engine(instance), truth) == [], f"seed {seed}: {instance}"
        assert differences(by_engine(instance, exact=True), truth) == [], f"seed {seed}: {instance}"
        assert disagreements(instance, seed) == [], f"seed {seed}: {instance}"
