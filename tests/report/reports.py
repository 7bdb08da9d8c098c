"""Reports made by hand, for tests of how they look and of what they are as data."""

import math
from dataclasses import replace
from fractions import Fraction

from factorcomp.certificates.claims import (
    ClaimResult,
    ExpertMeasures,
    FeatureWitness,
    Findings,
    MarginalWitness,
    Measures,
    PairWitness,
    PositionWitness,
    PrefixWitness,
    Question,
    SequenceWitness,
    Termination,
    Verdict,
    Witness,
)
from factorcomp.verdicts import ModelName, Report, Step

HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)


def interleaving(first: str = "a", second: str = "b") -> Report:
    """`up` deviates at the start and after two `first`, `down` after one: never at once, but the intervals overlap."""
    witness = PrefixWitness((first,), QUARTER, ("up", "down"))
    claims = (
        ClaimResult("well_defined", Verdict.HOLDS, "enumeration", 3, "every ratio is defined", Fraction(0)),
        ClaimResult("pointwise_joint", Verdict.HOLDS, "enumeration", 3, "at most one deviates", Fraction(0)),
        ClaimResult("interval_joint", Verdict.REFUTED, "enumeration", 3, "both are active", QUARTER, witness),
        ClaimResult("unit_normalizer", Verdict.UNDECIDED, "enumeration", 3, "rounding is in the way", 1e-17),
        ClaimResult("projective", Verdict.HOLDS, "enumeration", 3, "the marginals agree", 0.0, None, "up"),
    )
    here = ((0, 1),)
    measures = Measures(
        tv_to_switching=Fraction(0),
        tv_local_global=0.0,
        log_normalizer_min=-1e-17,
        log_normalizer_max=0.0,
        experts={
            "up": ExpertMeasures(2, 3, Fraction(1), Fraction(3, 2), 1.0986, 2),
            "down": ExpertMeasures(1, 2**53 + 1, 0.5, 0.5, math.inf, 1),
        },
        overlap_probability=Fraction(0),
        termination=None,
    )
    deviating = {"up": (here, (), here), "down": ((), here, ())}
    active = {"up": (here, here, here), "down": ((), here, ())}
    step = Step((first,), (HALF, HALF), {"up": (HALF, HALF), "down": (QUARTER, 1 - QUARTER)}, (0.2503, 0.7497))
    return Report(
        background=ModelName("base.json", "0" * 64),
        experts={"up": ModelName("up.json", "1" * 64), "down": ModelName("python:mine:down")},
        vocabulary=(first, second),
        eos=None,
        question=Question(3, masks={"up": (0, 2)}),
        required=("interval_joint",),
        findings=Findings(claims, measures, deviating, active, {"up": (0, 2)}),
        notes=("base.json: 3 rows of step 2 renormalised, by at most 2e-8",),
        steps={"interval_joint": (step,)},
        prefixes=7,
    )


def answering(
    claim: str, verdict: Verdict, witness: Witness | None = None, mask: str | None = None, why: str = "so it is"
) -> Report:
    """The report on one required claim."""
    result = ClaimResult(claim, verdict, "enumeration", 3, why, QUARTER, witness, mask)
    report = interleaving()
    findings = replace(report.findings, claims=(result,))
    return replace(report, required=(result.name,), findings=findings, steps={}, eos="b")


def ending() -> Report:
    """A report with EOS, of a composition that does not always end."""
    report = answering("terminates", Verdict.BOUNDED, PrefixWitness(("a",), QUARTER))
    assert report.measures is not None
    lengths = Termination(QUARTER, Fraction(5, 2), 2.25, {"up": Fraction(2), "down": 2.0})
    return replace(report, findings=replace(report.findings, measures=replace(report.measures, termination=lengths)))


def undefined() -> Report:
    """The report on a composition that is undefined."""
    claims = (
        ClaimResult("well_defined", Verdict.REFUTED, "rational", 3, "0/0", QUARTER, PrefixWitness(("a",), QUARTER, ())),
        ClaimResult("interval_joint", Verdict.UNDECIDED, "rational", 3, "the composition is undefined"),
    )
    return replace(interleaving(), findings=Findings(claims, None, {}, {}, None), steps={})


WITNESSES: dict[str, tuple[ClaimResult, dict]] = {
    "prefix": (
        ClaimResult(
            "interval_joint",
            Verdict.REFUTED,
            "rational",
            3,
            "",
            QUARTER,
            PrefixWitness(("a",), QUARTER, ("up", "down")),
        ),
        {"prefix": ["a"], "experts": ["up", "down"], "probability": 0.25},
    ),
    "pair": (
        ClaimResult(
            "factorized_conditionals",
            Verdict.REFUTED,
            "rational",
            3,
            "",
            QUARTER,
            PairWitness((("a",), ("b",)), ("up", "background"), "I2"),
        ),
        {"prefixes": [["a"], ["b"]], "models": ["up", "background"], "condition": "I2"},
    ),
    "marginal": (
        ClaimResult(
            "projective",
            Verdict.REFUTED,
            "rational",
            3,
            "",
            QUARTER,
            MarginalWitness((0, 2), ("a", "b"), QUARTER, HALF),
            "up",
        ),
        {"positions": [0, 2], "tokens": ["a", "b"], "composition": 0.25, "expert": 0.5},
    ),
    "feature": (
        ClaimResult(
            "feature_projective",
            Verdict.REFUTED,
            "rational",
            3,
            "",
            QUARTER,
            FeatureWitness((0, 2), ("x", "y"), QUARTER, HALF),
            "up",
        ),
        {"coordinates": [0, 2], "tokens": ["x", "y"], "composition": 0.25, "expert": 0.5},
    ),
    "sequence": (
        ClaimResult(
            "feature_commutes",
            Verdict.REFUTED,
            "rational",
            3,
            "",
            QUARTER,
            SequenceWitness(("a", "b", "a"), ("x", "y"), QUARTER, HALF),
        ),
        {"sequence": ["a", "b", "a"], "features": ["x", "y"], "in_tokens": 0.25, "in_features": 0.5},
    ),
    "position": (
        ClaimResult(
            "mask_agreement",
            Verdict.REFUTED,
            "rational",
            3,
            "",
            None,
            PositionWitness(1, ("up", "down"), (("a",), ("b",))),
        ),
        {"position": 1, "experts": ["up", "down"], "prefixes": [["a"], ["b"]]},
    ),
}
