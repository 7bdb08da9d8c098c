"""The numbers of a run, for people."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Group
from rich.table import Table

from toy_tasks.skill_segments.grammar import SKILLS

Numbers = Mapping[str, Any]


def summary(numbers: Numbers) -> Group:
    """The tables of a run."""
    return Group(ideal_table(numbers["ideal"]), drift_table(numbers["drift"]), *_trained(numbers["trained"]))


def ideal_table(ideal: Numbers) -> Table:
    """The verdicts on the ideal models."""
    table = Table("variant", "pointwise", "intervals", "both active", "after", title="Ideal models, every length")
    for variant, found in ideal.items():
        verdicts = found["pointwise_joint"], found["interval_joint"]
        both = f"{found['both_active_with_probability']:.3f}"
        table.add_row(variant, *verdicts, both, f"[dim]{found['witness'] or ''}[/]".replace("[ ", r"\[ "))
    return table


def drift_table(drift: Numbers) -> Table:
    """What guarantees are worth where the other expert feeds."""
    table = Table("square expert", "right alone", "right composed", "fails", "≤ uniform", "≤ average", title="Drift")
    for name, found in drift.items():
        table.add_row(
            name,
            *(f"{found[key]:.3f}" for key in ("succeeds_alone", "succeeds_composed")),
            *(f"{found[key]:.4f}" for key in ("fails_composed", "uniform_bound", "average_bound")),
        )
    return table


def _trained(trained: Numbers) -> Iterator[Table]:
    for variant, found in trained.items():
        yield success_table(variant, found)
        if "fed" in found:
            yield fed_table(variant, found)
        yield stopping_table(variant, found["stopping"])
        yield verified_table(variant, found["verified"])


def success_table(variant: str, found: Numbers) -> Table:
    """How often segments are right, and the divergence from the ideal model."""
    table = Table("network", *SKILLS, "broken", "KL per token", title=f"{variant}: segments right, of those ended")
    for name, rates in found["success"].items():
        right = [f"{rates[skill]['right']}/{rates[skill]['segments']}" for skill in SKILLS]
        broken = f"{rates['broken']}/{rates['texts']}"
        table.add_row(name, *right, broken, f"{found['divergence'][name]['token']:.4f}")
    return table


def fed_table(variant: str, found: Numbers) -> Table:
    """What the square segments are fed: how often the round one before is right."""
    table = Table("network", "entries", "after right sums", title=f"{variant}: where the square skill is entered")
    for name, fed in found["fed"].items():
        table.add_row(name, str(fed["entries"]), f"{fed['right'] / max(1, fed['entries']):.1%}")
    return table


def stopping_table(variant: str, found: Numbers) -> Table:
    """Per measure the threshold with the most agreement."""
    title = f"{variant}: inferred start and stop, of texts with a segment"
    table = Table("deviation in", "threshold", *SKILLS, "false alarms", "both at once", title=title)
    for measure in ("oscillation", "restricted", "total_variation"):
        best = max(found[measure]["curve"], key=lambda row: sum(row[skill]["both"] for skill in SKILLS))
        agreed = [f"{best[skill]['both']}/{best[skill]['texts']}" for skill in SKILLS]
        alarms = sum(best[skill]["false_alarms"] for skill in SKILLS)
        table.add_row(measure, f"{best['threshold']:g}", *agreed, str(alarms), f"{best['overlap']}/{found['texts']}")
    return table


def verified_table(variant: str, found: list[Numbers]) -> Table:
    """The verdicts on every prefix, by threshold: for the networks as they are, and within the format."""
    title = f"{variant}: verified on every prefix of length < {found[0]['length']}"
    table = Table("", "threshold", "pointwise", "intervals", "overlap", "TV", title=title)
    for case in found:
        for models in ("as_they_are", "within_the_format"):
            named = f"{models.replace('_', ' ')}, after {case['prompt'] or 'nothing'}".replace("[", r"\[")
            for row in case[models]["curve"]:
                verdicts = row["pointwise_joint"], row["interval_joint"]
                numbers = f"{row['overlap']:.2g}", f"{row['tv_to_switching']:.3f}"
                table.add_row(named, f"{row['threshold']:g}", *verdicts, *numbers)
                named = ""
    return table
