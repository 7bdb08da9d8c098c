"""Theory.md 8.2, 7.2, 1.5 (4), 2.9-2.11 on random instances: each number is its definition, and each bound holds.

The definitions are summed over all sequences in fractions (`tests.oracle`); logs are floats at the very end.
"""

import math
import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from factorcomp.certificates.claims import Question, Verdict
from factorcomp.enumeration.levelwise import levels
from factorcomp.factorization.decision import decide
from factorcomp.factorization.reference import Budget, against
from factorcomp.factorization.robust import robust
from factorcomp.inequalities import Bound, Comparison, Robust
from factorcomp.models.tabular import TabularModel
from factorcomp.verification import verify
from tests import golden, oracle
from tests.strategies import STRUCTURES, Instance, random_instance
from tests.subjects import models

CLOSE = 1e-9


def found(instance: Instance) -> Robust | None:
    """The subject; `None` where the composition is undefined."""
    background, experts = models(instance)
    seen = levels(background, experts, instance.question, keep_rows=True)
    findings = decide(background, experts, instance.question, seen=seen)
    if findings.measures is None:
        return None
    return robust(seen, findings, instance.vocabulary, instance.eos, instance.question)


class Truth:
    """What the definitions say, in fractions."""

    def __init__(self, instance: Instance):
        self.case = oracle.tabulate(
            instance.vocabulary, instance.eos, instance.background, instance.experts, instance.question
        )
        case = self.case
        self.components = [case.background, *(case.experts[name] for name in case.names)]
        self.deviating = {name: {h for h in case.scope if oracle.deviates(case, name, h)} for name in case.names}

    def kernel(self, name: str) -> oracle.Kernel:
        """The switching model, or S*, on the scope; the background elsewhere, where no number depends on it."""
        case, kernel = self.case, dict(self.case.background)
        for h in case.scope:
            who = [n for n in case.names if h in self.deviating[n]]
            gaps = oracle.component_gaps(case, h)
            nearest = next(row for gap, row in gaps if gap == min(g for g, _ in gaps))
            if name == "nearest" or len(who) > 1:
                kernel[h] = nearest
            else:
                kernel[h] = case.experts[who[0]][h] if who else case.background[h]
        return kernel

    def law(self, kernel: oracle.Kernel) -> oracle.Law:
        return oracle.law_of(kernel, self.case.size, self.case.length)


def crowded(case: oracle.Case, h) -> bool:
    """Whether two experts differ from the background."""
    return sum(case.experts[name][h] != case.background[h] for name in case.names) > 1


def log(x: Fraction) -> float:
    return oracle.log(x)


def law_kl(p, q) -> float:
    """`KL(P || Q)` of laws or rows given as mappings without zeros."""
    if any(y not in q for y in p):
        return math.inf
    return sum(float(mass) * log(mass / q[y]) for y, mass in p.items())


def as_law(row):
    return {y: x for y, x in enumerate(row) if x > 0}


def times(probability: Fraction, value: float) -> float:
    return float(probability) * value if probability else 0.0


def check_reference(truth: Truth, kernel: oracle.Kernel, seen: Comparison):
    """Theorem 8.2 against a reference: every value by its definition, and then every inequality."""
    case, size = truth.case, truth.case.size
    law = truth.law(kernel)
    tv = oracle.law_tv(case.local, law)
    assert float(seen.tv) == pytest.approx(float(tv), abs=CLOSE)
    if seen.same:
        assert tv == 0
        return
    kl, reverse = law_kl(law, case.local), law_kl(case.local, law)
    assert seen.kl == pytest.approx(kl, abs=CLOSE)
    assert seen.reverse_kl == pytest.approx(reverse, abs=CLOSE)
    sums = dict.fromkeys(("distances", "distances_met", "tanh", "oscillation", "cross"), 0.0)
    chain = 0.0
    reached = [h for h in case.reachable if oracle.mass_of(law, h) > 0]
    smallest = float(min((oracle.row_tv(case.composition[h], kernel[h]) for h in reached), default=0))
    if smallest > CLOSE:  # 7.2
        floor = next(bound for bound in seen.bounds if bound.name == "floor")
        assert (floor.below, floor.value) == (
            True,
            pytest.approx(1 - (1 - smallest**2) ** (case.length / 2), abs=CLOSE),
        )
    for h in case.reachable:
        p, s, w = case.composition[h], kernel[h], case.weights[h]
        mine, theirs = case.probability(h), oracle.mass_of(law, h)
        d = float(oracle.row_tv(p, s))
        ratios = [w[y] / s[y] for y in range(size) if s[y] > 0]
        o = math.inf if min(ratios) == 0 else log(max(ratios) / min(ratios))
        cross = sum(abs(w[y] - s[y]) for y in range(size) if s[y] > 0)
        cross /= max(Fraction(1), sum(w[y] for y in range(size) if s[y] > 0))
        chain += times(theirs, law_kl(as_law(s), as_law(p)))
        sums["distances"] += times(theirs, d)
        sums["distances_met"] += times(mine, d)
        sums["tanh"] += times(theirs, math.tanh(o / 4))
        sums["oscillation"] += times(theirs, o**2 / 8)
        sums["cross"] += times(theirs, float(cross)) if p != s else 0.0
    assert chain == pytest.approx(kl, abs=CLOSE)  # the chain rule, 8.2 (1)
    covered = all(oracle.support(case.composition[h]) <= oracle.support(kernel[h]) for h in reached)
    overlap = {h for h in case.reachable if case.composition[h] != kernel[h]}
    equal = {h for h in set(case.reachable) - overlap if crowded(case, h)}  # where floats cannot tell

    def hits(path):
        return any(path[:t] in overlap for t in range(case.length))

    expected = {
        **sums,
        "overlap": float(oracle.probability_that(case.local, hits)),
        "minimum": 1
        - float(
            sum(
                math.prod(
                    (min(case.composition[y[:t]][y[t]], kernel[y[:t]][y[t]]) for t in range(case.length)),
                    start=Fraction(1),
                )
                for y in case.local
            )
        ),
        "pinsker": math.sqrt(chain / 2),
        "exponential": math.sqrt(-math.expm1(-chain)),
        "pinsker_oscillation": math.sqrt(sums["oscillation"] / 2),
    }
    needs_cover = {"tanh", "oscillation", "cross", "pinsker_oscillation", "small_deviations"}
    for bound in seen.bounds:
        if bound.value is None:
            assert bound.name in needs_cover
            assert bound.why
            assert not covered or (bound.name == "small_deviations" and "dropped" in bound.why)
            continue
        assert covered or bound.name not in needs_cover
        if bound.name in ("overlap", "cross") and equal:
            assert bound.value >= expected[bound.name] - CLOSE
        elif bound.name in expected:
            rooted = bound.name.startswith(("pinsker", "exponential"))  # of a KL that may be rounding
            assert bound.value == pytest.approx(expected[bound.name], abs=1e-6 if rooted else CLOSE), bound
        holds(bound, float(tv) if bound.quantity == "tv" else kl)
    assert set(expected) <= {bound.name for bound in seen.bounds}
    if hits and overlap:  # 8.2 (3): both laws hit the overlap with one probability
        assert oracle.probability_that(case.local, hits) == oracle.probability_that(law, hits)


def holds(bound: Bound, truth: float):
    """The inequality, and that the truth beside it is the truth."""
    assert float(bound.truth) == pytest.approx(truth, abs=CLOSE)
    assert bound.value is not None
    if bound.below:
        assert bound.value <= truth + CLOSE, bound
    else:
        assert truth <= bound.value + CLOSE, bound


@pytest.mark.parametrize("structure", STRUCTURES)
def test_theorem_8_2(structure):
    """Against the switching model and against S*."""
    rng, tried = random.Random(f"8.2 {structure}"), 0
    for _ in range(8):
        instance = random_instance(rng, structures=[structure], cap=32)
        subject = found(instance)
        if subject is None:
            continue
        truth, names = Truth(instance), {comparison.name for comparison in subject.comparisons}
        check_reference(truth, truth.kernel("switching"), subject["switching"])
        check_reference(truth, truth.kernel("nearest"), subject["nearest" if "nearest" in names else "switching"])
        tried += 1
    assert tried > 0


@pytest.mark.parametrize("structure", STRUCTURES)
def test_theorem_1_5_4(structure):
    """Local against global: both KL <= osc(S)²/8, TV <= tanh(osc(S)/4)."""
    rng = random.Random(f"1.5 {structure}")
    for _ in range(8):
        instance = random_instance(rng, structures=[structure], cap=32)
        subject = found(instance)
        if subject is None:
            continue
        case = Truth(instance).case
        whole = oracle.global_law(case)
        seen = subject["local_global"]
        assert float(seen.tv) == pytest.approx(float(oracle.law_tv(case.local, whole)), abs=CLOSE)
        assert seen.kl == pytest.approx(law_kl(case.local, whole), abs=CLOSE)
        assert seen.reverse_kl == pytest.approx(law_kl(whole, case.local), abs=CLOSE)
        if seen.same:
            continue
        paths = [math.prod((case.normalizer[y[:t]] for t in range(case.length)), start=Fraction(1)) for y in case.local]
        o = log(max(paths) / min(paths))
        tv, kl, reverse = (next(b for b in seen.bounds if b.quantity == q) for q in ("tv", "kl", "reverse_kl"))
        assert (tv.value, kl.value, reverse.value) == pytest.approx((math.tanh(o / 4), o**2 / 8, o**2 / 8), abs=CLOSE)
        for bound in (tv, kl, reverse):
            holds(bound, {"tv": seen.tv, "kl": seen.kl, "reverse_kl": seen.reverse_kl}[bound.quantity])


def blocks_of(case, masks):
    owned = {t for positions in masks.values() for t in positions}
    return {**masks, None: tuple(t for t in range(case.length) if t not in owned)}


def product_of(laws, blocks, case):
    """The product of laws on blocks, as a law of sequences."""
    found = {}
    for y in case.sequences():
        mass = Fraction(1)
        for law, block in zip(laws, blocks, strict=True):
            mass *= law.get(tuple(y[t] for t in block), Fraction(0))
        if mass:
            found[y] = mass
    return found


@pytest.mark.parametrize("structure", ["factorized", "agreeing", "free", "sparse"])
def test_theorems_2_9_to_2_11(structure):
    """The gap on each mask; KL <= D_i wherever it is given; TV(P_G, target) <= tanh(osc/4); and 8.2 for the target."""
    rng, given, leaks = random.Random(f"2 {structure}"), 0, 0
    for _ in range(24):
        instance = random_instance(rng, structures=[structure], cap=32)
        masks = instance.question.given_masks
        if masks is None:
            owners = [rng.choice([None, *instance.experts]) for _ in range(instance.question.length)]
            masks = {n: tuple(t for t, o in enumerate(owners) if o == n) for n in instance.experts}
            instance = replace(instance, question=replace(instance.question, masks=masks))
        subject = found(instance)
        if subject is None:
            continue
        truth = Truth(instance)
        case = truth.case
        laws = {n: truth.law(case.experts[n]) for n in case.names}
        if any(sum(law.values()) != 1 for law in laws.values()):
            assert not any(c.name.startswith("projective") for c in subject.comparisons)
            continue
        base = truth.law(case.background)
        for name, positions in masks.items():
            seen = subject[f"projective:{name}"]
            mine, own = (oracle.marginal(law, positions) for law in (case.local, laws[name]))
            assert float(seen.tv) == pytest.approx(float(oracle.law_tv(mine, own)), abs=CLOSE)
            if seen.same:
                assert mine == own
                continue
            kl = law_kl(mine, own)
            assert seen.kl == pytest.approx(kl, abs=CLOSE)
            for bound in seen.bounds:
                if bound.value is None:
                    agrees = all(
                        case.composition[h] == case.experts[name][h] for h in case.reachable if len(h) in positions
                    )
                    assert kl == math.inf or not agrees
                    continue
                given += 1
                assert bound.quantity != "kl" or bound.value == pytest.approx(
                    directed_information(case, laws[name], name, positions), abs=CLOSE
                )
                holds(bound, kl if bound.quantity == "kl" else float(seen.tv))
        names = {c.name for c in subject.comparisons}
        of = blocks_of(case, {n: masks.get(n, ()) for n in case.names})
        parts = {n: oracle.marginal(laws[n] if n else base, block) for n, block in of.items()}
        target = product_of(list(parts.values()), list(of.values()), case)
        if "target" not in names:
            assert oracle.law_tv(case.local, target) == 0
            continue
        assert float(subject["target"].tv) == pytest.approx(float(oracle.law_tv(case.local, target)), abs=CLOSE)
        for bound in subject["target"].bounds:
            if bound.value is not None:
                holds(bound, float(subject["target"].tv) if bound.quantity == "tv" else subject["target"].kl)
        whole = oracle.global_law(case)
        seen = subject["global_target"]
        assert float(seen.tv) == pytest.approx(float(oracle.law_tv(whole, target)), abs=CLOSE)
        bound = seen.bounds[0]
        of_base = {n: oracle.marginal(base, block) for n, block in of.items()}
        product_b = product_of(list(of_base.values()), list(of.values()), case)
        products = {
            n: product_of([parts[m] if m == n else of_base[m] for m in of], list(of.values()), case) for n in case.names
        }
        hypotheses = (
            set(base) == set(product_b)
            and all(set(laws[n]) == set(products[n]) for n in case.names)
            and all(set(parts[n]) <= set(of_base[n]) for n in case.names)
        )
        assert (bound.value is not None) == hypotheses
        if bound.value is None:
            continue
        leaks += 1
        exponents = [
            math.prod((laws[n][y] / products[n][y] for n in case.names), start=Fraction(1))
            / (base[y] / product_b[y]) ** (len(case.names) - 1)
            for y in target
        ]
        assert bound.value == pytest.approx(math.tanh(log(max(exponents) / min(exponents)) / 4), abs=CLOSE)
        holds(bound, float(seen.tv))
    assert structure == "factorized" or leaks > 0
    assert structure != "agreeing" or given > 0


def directed_information(case, law, name, positions) -> float:
    """`D_i` of 2.10 by its definition."""
    total = 0.0
    for h in case.reachable:
        if len(h) not in positions:
            continue
        before = [t for t in positions if t < len(h)]
        alike = {y: m for y, m in law.items() if all(y[t] == h[t] for t in before)}
        mass = sum(alike.values(), Fraction(0))
        conditional = {}
        for y, m in alike.items():
            conditional[y[len(h)]] = conditional.get(y[len(h)], Fraction(0)) + m / mass
        total += times(case.probability(h), law_kl(as_law(case.experts[name][h]), conditional))
    return total


@pytest.mark.parametrize("structure", STRUCTURES)
def test_effects(structure):
    """ι(h) is the smallest TV to a component; without an expert the composition is that of the others."""
    rng = random.Random(f"effects {structure}")
    for _ in range(6):
        instance = random_instance(rng, structures=[structure], cap=32)
        subject = found(instance)
        if subject is None:
            continue
        case = Truth(instance).case
        gaps = {h: min(gap for gap, _ in oracle.component_gaps(case, h)) for h in case.reachable}
        assert subject.switching_defect is not None
        assert float(subject.switching_defect.largest) == pytest.approx(float(max(gaps.values(), default=0)), abs=CLOSE)
        expected = sum((case.probability(h) * gap for h, gap in gaps.items()), Fraction(0))
        assert float(subject.switching_defect.expected) == pytest.approx(float(expected), abs=CLOSE)
        for name, effect in subject.leave_one_out.items():
            others = {n: steps for n, steps in instance.experts.items() if n != name}
            weights = {n: w for n, w in instance.question.weights.items() if n != name}
            rest = oracle.tabulate(
                instance.vocabulary,
                instance.eos,
                instance.background,
                others,
                replace(instance.question, weights=weights, masks=None),
            )
            moved = {h: oracle.row_tv(case.composition[h], rest.composition[h]) for h in case.reachable}
            assert float(effect.largest) == pytest.approx(float(max(moved.values(), default=0)), abs=CLOSE)
            if effect.prefix is not None:
                h = tuple(instance.vocabulary.index(token) for token in effect.prefix)
                assert float(moved[h]) == pytest.approx(float(effect.largest), abs=CLOSE)


# Hypotheses that fail, equality that is attained


def test_an_opened_token_leaves_the_reference():
    """8.2 needs P^ << S: `p_b = p_1 = (1, 0)`, `p_2 = (1/2, 1/2)` under cancel. With S = p_b, o = 0 and TV 1/2."""
    from factorcomp.factorization.reference import against, comparison

    instance, _ = golden.load("opened_token")
    background, experts = models(instance)
    seen = levels(background, experts, instance.question, keep_rows=True)
    base = [step.rows.components[0] for step in seen.steps]
    compared = comparison("switching", "", against(seen, base, [b[:, 0].astype(int) * 0 for b in base]), len(base))
    by_name = {bound.name: bound for bound in compared.bounds}
    assert compared.tv > 0
    for name in ("tanh", "oscillation", "cross", "pinsker_oscillation", "small_deviations"):
        assert by_name[name].value is None
        assert "cannot" in by_name[name].why
    assert by_name["distances"].value >= compared.tv


SURE = ["1", "0", "0"]
BASE, NO_B, NO_C = ["98/100", "1/100", "1/100"], ["99/100", "0", "1/100"], ["99/100", "1/100", "0"]


def nearest_to(base: list, up: list, down: list) -> tuple[oracle.Case, Comparison]:
    """Against S*; a step is the rows after each prefix."""
    steps = [[[[Fraction(x) for x in row] for row in step] for step in steps] for steps in (base, up, down)]
    case = oracle.tabulate("abc", None, steps[0], {"up": steps[1], "down": steps[2]}, Question(len(base)))
    models_ = [TabularModel.from_probabilities(step, ["a", "b", "c"]) for step in steps]
    report = verify(models_[0], {"up": models_[1], "down": models_[2]})
    return case, report.robust["switching"]


@pytest.mark.parametrize(("late", "more"), [("1/2", []), ("1/3", ["target", "global_target"])])
def test_factorized_models_have_no_target_to_miss(late, more):
    """Theorem 2.11 bounds how far the composition is from the product of the blocks, where it is not that product."""

    def table(first: str, last: str) -> TabularModel:
        rows = [[p, 1 - p] for p in map(Fraction, (first, last))]
        return TabularModel.from_probabilities([[rows[0]], [rows[1], [Fraction(1, 2)] * 2]], ["a", "b"])

    report = verify(table("1/2", "1/2"), {"up": table("1/4", late)}, masks={"up": (0,)})
    holds_ = report["factorized_conditionals"].verdict is Verdict.HOLDS
    names = [c.name for c in report.robust.comparisons]
    assert holds_ is (not more)
    assert names[names.index("projective:up") + 1 :] == more


@pytest.mark.parametrize("late", [False, True])
def test_the_log_odds_of_eos_are_shown_where_they_are_farthest(late):
    """Odds of EOS 6 against the nearest component's 3 at one prefix, 9/4 against 3/2 at the other."""
    far, near = [["1/4", "3/4"], ["1/3", "2/3"]], [["2/5", "3/5"], ["2/5", "3/5"]]
    first, second = (near, far) if late else (far, near)

    def table(first: list[str], second: list[str]) -> TabularModel:
        return TabularModel.from_probabilities([[first], [second, ["0", "1"]]], ["a", "end"], eos="end")

    half = ["1/2", "1/2"]
    experts = {name: table(first[i], second[i]) for i, name in enumerate(("up", "down"))}
    ending = verify(table(half, half), experts).robust.ending
    assert ending.prefix == (("a",) if late else ())
    assert (ending.composition, ending.component) == (pytest.approx(math.log(6)), pytest.approx(math.log(3)))


def test_a_token_that_only_the_reference_says():
    """Up excludes `b`, down `c`, the composition both; the nearest is up, which says `c`: `KL(S || P^)` is infinite."""
    case, seen = nearest_to([[BASE]], [[NO_B]], [[NO_C]])
    assert case.local == {(0,): 1}
    assert (seen.kl, seen.reverse_kl) == (math.inf, pytest.approx(math.log(100 / 99)))
    assert seen.tv == pytest.approx(1 / 100)


def test_beyond_what_the_reference_reaches_nothing_counts():
    """Up opens `b`, after which the composition is all `a` and up says `c`; but the nearest is down, which has no `b`.

    So `KL(S || P^)` is that of the first token: `.4 log(.4/.392) + .6 log(.6/.588)`, that is `log(1/.98)`.
    """
    base = [[["1/2", "0", "1/2"]], [SURE, BASE, SURE]]
    up = [[["49/100", "2/100", "49/100"]], [SURE, NO_B, SURE]]
    down = [[["4/10", "0", "6/10"]], [SURE, NO_C, SURE]]
    case, seen = nearest_to(base, up, down)
    assert case.local == {(0, 0): Fraction(392, 1000), (1, 0): Fraction(2, 100), (2, 0): Fraction(588, 1000)}
    assert seen.kl == pytest.approx(math.log(100 / 98))
    assert seen.reverse_kl == math.inf


def test_overlap_is_attained():
    """8.2 (3): kernels of disjoint supports on the overlap make TV = q; CE 5.5's q is 81/100."""
    from factorcomp import TabularModel

    base = TabularModel.from_probabilities([[["1/3", "1/3", "1/3"]]], ["a", "b", "c"])
    up = TabularModel.from_probabilities([[["1/2", "1/2", "0"]]], ["a", "b", "c"])
    down = TabularModel.from_probabilities([[["1/2", "0", "1/2"]]], ["a", "b", "c"])
    report = verify(base, {"up": up, "down": down})
    overlap = next(b for b in report.robust["switching"].bounds if b.name == "overlap")
    assert overlap.value == 1
    assert report.robust["switching"].tv == pytest.approx(0.5)
    shipped = load_example("overlap_amplified")
    overlap = next(b for b in verify(*shipped).robust["switching"].bounds if b.name == "overlap")
    assert overlap.value == pytest.approx(0.81)


def load_example(name):
    from factorcomp.formats import load

    about, folder = golden.about_example(name), golden.EXAMPLES / name
    return load(str(folder / "background.json")), {n: load(str(folder / f"{n}.json")) for n in about["experts"]}


def test_the_directed_information_needs_agreement():
    """2.10's negative control: without agreement at the mask the bound is not given, and would fail."""
    from factorcomp.factorization.dependence import directed_information

    broken = 0
    rng = random.Random(7)
    for _ in range(200):
        instance = random_instance(rng, structures=["free"], cap=16)
        if len(instance.experts) < 2 or instance.question.length < 1:
            continue
        first = next(iter(instance.experts))
        question = replace(instance.question, masks={first: (0,)}, weights={})
        instance = replace(instance, question=question)
        subject = found(instance)
        if subject is None or subject[f"projective:{first}"].same:
            continue
        comparison = subject[f"projective:{first}"]
        background, experts = models(instance)
        seen = levels(background, experts, question, keep_rows=True)
        if comparison.bounds[0].value is None and comparison.kl > directed_information(seen, 0, (0,)) + CLOSE:
            broken += 1
            break
    assert broken > 0


def test_exact_compositions_have_nothing_to_bound():
    """All comparisons of a joint factorization are the same, and the report says it in a line."""
    report = verify(*load_example("drift"))
    assert all(comparison.same for comparison in report.robust.comparisons)
    assert "all 0: the composition is the switching model exactly" in str(report)


def test_the_composition_that_is_the_background():
    """4.4 (3'): p^ = p_b though two deviate: floats cannot tell, the kernel can, and the distance is 0."""
    report = verify(*load_example("composition_is_the_background"))
    assert report["exact_switching"].verdict is Verdict.HOLDS
    assert report.robust["switching"].same
    assert report.robust.switching_defect.largest == 0


def test_bounds_can_be_left_out():
    report = verify(*load_example("overlap_amplified"), bounds=False)
    assert report.robust is None
    assert report.to_json()["robust"] is None
    assert "\nBounds" not in str(report)


def test_large_tables_are_skipped(monkeypatch):
    from factorcomp.enumeration import levelwise

    monkeypatch.setattr(levelwise, "NUMBERS_TO_KEEP", 1)
    report = verify(*load_example("overlap_amplified"))
    assert report.robust.skipped
    assert "not computed: the tables hold more than" in str(report)
    assert report.to_json()["robust"]["skipped"]


def test_what_drop_drops_is_nobody_elses_deviation():
    """8.2 (4) fails under `drop`: `T = k = 1`, `p_b = (1, 0)`, `p_1 = (1/2, 1/2)`: nobody is off duty, TV is 1/2."""
    from factorcomp import TabularModel

    base, up = (TabularModel.from_probabilities([[row]], ["a", "b"]) for row in (["1", "0"], ["1/2", "1/2"]))
    switching = verify(base, {"up": up}, null_tokens="drop").robust["switching"]
    small = next(bound for bound in switching.bounds if bound.name == "small_deviations")
    assert switching.tv == pytest.approx(0.5)
    assert small.value is None
    assert "is dropped" in small.why
    assert verify(base, {"up": up}, null_tokens="cancel").robust["switching"].same


def test_small_deviations_count_who_is_off_duty():
    """8.2 (4): at the start down is, by log 3/2; after `a` all three are, and deviate not at all: `k = 3`."""
    even = ["1/2", "1/2"]

    def table(first: list[str], after_b: list[str]) -> TabularModel:
        return TabularModel.from_probabilities([[first], [even, after_b]], ["a", "b"])

    base, up, down = table(even, even), table(["1/4", "3/4"], ["1/4", "3/4"]), table(["2/5", "3/5"], even)
    switching = verify(base, {"up": up, "down": down, "same": base}).robust["switching"]
    small = next(bound for bound in switching.bounds if bound.name == "small_deviations")
    reach = 3 * math.log(1.5) / 4
    assert small.value == pytest.approx(min(2 * math.tanh(reach), math.sqrt(2) * reach), abs=CLOSE)


def test_a_token_that_nobody_says_is_not_dropped():
    """8.2 (4) is withheld where `drop` drops a token of the reference, and not where all exclude one alike."""
    rows = (["1/2", "1/2", "0"], ["1/4", "3/4", "0"], ["2/5", "3/5", "0"])
    base, up, down = (TabularModel.from_probabilities([[row]], ["a", "b", "c"]) for row in rows)
    switching = verify(base, {"up": up, "down": down}, null_tokens="drop").robust["switching"]
    small = next(bound for bound in switching.bounds if bound.name == "small_deviations")
    assert small.value == pytest.approx(math.log(1.5) / 4, abs=1e-3)


def test_a_token_the_expert_never_says_on_its_mask():
    """Up opens `b`, after which all say `b`, which same by itself never reaches: `D` is no number, nor is the KL."""

    def table(first: list[str]) -> TabularModel:
        return TabularModel.from_probabilities([[first], [["1", "0"], ["0", "1"]]], ["a", "b"])

    experts = {"same": table(["1", "0"]), "up": table(["1/2", "1/2"])}
    found = verify(table(["1", "0"]), experts, masks={"same": (1,), "up": (0,)}).robust["projective:same"]
    assert found.kl == math.inf
    assert [bound.value for bound in found.bounds] == [None] * 3
    assert all("not all possible under the expert" in bound.why for bound in found.bounds)


def test_nothing_times_infinity_is_nothing():
    """A prefix that the law never reaches adds nothing to a budget, whatever stands there."""
    budget = Budget({})
    for _ in range(2):
        budget.add("kl", np.array([0.0, 0.5]), np.array([math.inf, 2.0]))
    assert (budget["kl"], budget["tanh"]) == (2.0, 0.0)
    budget.add("kl", np.array([0.5]), np.array([math.inf]))
    assert budget["kl"] == math.inf


def test_equal_floats_are_no_proof_that_laws_are_the_same():
    """After `b` up and down cancel, 1/3 · 2/3 over 1/2: that the floats are the background's is not certain."""
    names = ["a", "b"]

    def table(last: list[str]) -> TabularModel:
        return TabularModel.from_probabilities([[["1/2", "1/2"]], [["1/2", "1/2"], last]], names)

    base, up, down = table(["1/2", "1/2"]), table(["1/3", "2/3"]), table(["2/3", "1/3"])
    for experts, same in (({"up": base, "down": base}, True), ({"up": up, "down": down}, False)):
        seen = levels(base, experts, Question(2), keep_rows=True)
        found = against(seen, [step.rows.components[0] for step in seen.steps])
        assert found.tv == pytest.approx(0.0, abs=1e-15)
        assert found.same is same
    sure = table(["1", "0"])  # but a row of one token is no result of rounding
    seen = levels(base, {"up": sure, "down": sure}, Question(2), keep_rows=True)
    assert against(seen, [step.rows.components[1] for step in seen.steps]).same
