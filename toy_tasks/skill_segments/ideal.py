"""What is proved of the ideal models: for every length, and what a skill's guarantee is worth when another feeds it."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from factorcomp import Report, verify
from factorcomp.inequalities import Guarantee
from toy_tasks.skill_segments.grammar import SKILLS, VARIANTS, Grammar, Slip, State, Variant, ideal, ideals

CLAIMS = ("well_defined", "pointwise_joint", "interval_joint", "local_equals_global", "terminates")
FED = Grammar("feeding", digits=4, longest=1, likely=Fraction(97, 100))
"""Sums, then a copy of the last. The digit added first is nearly always the last one, and then so is the right sum."""
OPENED = ("(",)
"""The text goes on after its trigger: with five more tokens the square segment has its answer."""


def proved(variant: Variant) -> Report:
    """The ideal models of a variant, verified for every length.

    >>> proved("nested")["interval_joint"].witness.prefix
    ('(', '0', '0', '[', '0', '|')
    """
    return verify(*ideals(Grammar(variant)), length="every")


def verdicts() -> dict[str, Any]:
    """The verdicts of every variant, as data."""
    return {variant: as_data(proved(variant)) for variant in VARIANTS}


def as_data(report: Report) -> dict[str, Any]:
    """Verdicts, the witness against disjoint intervals if there is one, and how long each expert is active."""
    witness, measures = report["interval_joint"].witness, report.measures
    return {
        **{claim: str(report[claim].verdict) for claim in CLAIMS},
        "witness": None if witness is None else " ".join(witness.prefix),
        "both_active_with_probability": float(report["interval_joint"].residual),
        "expected_length": float(measures.termination.composition),
        "experts": {
            name: {"active": float(expert.activity_probability), "active_steps": float(expert.expected_active_steps)}
            for name, expert in measures.experts.items()
        },
    }


def lapse(state: State) -> Fraction:
    """An expert that is right but after the last digit, which it always gets wrong."""
    fed = state.place == "answer" and not state.written and state.string == (FED.digits - 1,)
    return Fraction(1) if fed else Fraction(0)


def slips(_: State) -> Fraction:
    """An expert that is wrong once in a hundred, wherever it is entered."""
    return Fraction(1, 100)


def copies(entry: Sequence[str], segment: Sequence[str]) -> bool:
    """Whether the segment is the sum before it."""
    return [*segment] == [token for token in entry if token in FED.numerals][-1:]


def guarantee(slip: Slip) -> Guarantee:
    """What becomes of a square expert's guarantee where the round one, wrong once in a hundred, feeds it.

    >>> found = guarantee(slips)
    >>> f"fails {found.fails / found.entered:.3f} of the entries, at worst {found.failure:.3f}; drift {found.drift:.3f}"
    'fails 0.010 of the entries, at worst 0.010; drift 0.222'
    """
    horizon = 5
    background = ideal(FED, prompt=OPENED).tabulate(horizon)
    experts = {
        skill: ideal(FED, skill, slips if skill == "round" else slip, OPENED).tabulate(horizon) for skill in SKILLS
    }
    report = verify(background, experts, guarantees={"square": copies}, bounds=False)
    return report.guarantees["square"]


def drift() -> dict[str, Any]:
    """The guarantees of both experts, alone and fed."""
    return {"lapse": worth(guarantee(lapse)), "slips": worth(guarantee(slips))}


def worth(found: Guarantee) -> dict[str, Any]:
    """Success after an entry, alone and composed; failures, and their bounds: uniform, on average (theory.md 5.1)."""
    return {
        "succeeds_alone": float(found.own_succeeds / found.own_entered),
        "succeeds_composed": float(found.succeeds / found.entered),
        "fails_alone": float(found.own_fails),
        "fails_composed": float(found.fails),
        "uniform_bound": float(found.failure_bound),
        "average_bound": float(found.average_bound),
        "worst_entry": None if found.worst is None else " ".join((*OPENED, *found.worst)),
        "entry_drift": float(found.drift),
    }
