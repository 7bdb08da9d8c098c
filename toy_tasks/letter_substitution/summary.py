"""The results as tables to read."""

from collections.abc import Mapping
from typing import Any

from rich.console import Group
from rich.table import Table


def summary(numbers: Mapping[str, Any]) -> Group:
    """All tables of a run."""
    return Group(
        *(_success(name, rows) for name, rows in numbers["success"].items()),
        _lengths(numbers["by_length"]),
        _exhaustive(numbers["exhaustive"]),
        _proofs(numbers["every_length"]),
    )


def _success(architecture: str, success: Mapping[str, Any]) -> Table:
    first, last = success["lengths"]
    title = (
        f"{architecture}: whole answers right, on {success['prompts']} held-out prompts of {first} to {last} letters"
    )
    table = _table(title, "greedy", "sampled", "probability of failure, mean", "largest")
    for name, row in success.items():
        if isinstance(row, Mapping):
            means = (f"{row[key]:.1e}" for key in ("failure_mean", "failure_max"))
            table.add_row(name, f"{row['greedy']:.2%}", f"{row['sampled']:.2%}", *means)
    return table


def _lengths(curves: Mapping[str, Any]) -> Table:
    lengths = list(next(iter(next(iter(curves.values())).values())))
    table = _table("Longer prompts: probability that a drawn answer is right", *map(str, lengths))
    for architecture, curve in curves.items():
        for name, row in curve.items():
            table.add_row(f"{architecture}: {name}", *(f"{row[length]['sampled']:.2%}" for length in lengths))
    return table


def _exhaustive(found: Mapping[str, Any]) -> Table:
    table = _table(
        "All prompts of so many letters, every prefix: at most one expert deviates by more than a threshold",
        "nats", "pointwise joint", "interval joint", "two deviate, with probability", "TV to switching",
    )  # fmt: skip
    for name, entry in found.items():
        for subject, row in (("ideal", entry["ideal"]), *(("trained", row) for row in entry["thresholds"])):
            told = (row["pointwise_joint"], row["interval_joint"])
            numbers = (f"{row[key]:.1e}" for key in ("overlap_probability", "tv_to_switching"))
            table.add_row(f"{name}: {subject}", f"{row['threshold']:g}", *told, *numbers)
    return table


def _proofs(found: Mapping[str, Any]) -> Group:
    table = _table("Every length: the networks with a window, as finite-state models", "nats", "verdict", "states")
    for name in ("ideal", "threshold 0", "threshold"):
        if name in found:
            row = found[name]
            table.add_row(name, f"{row['threshold']:g}", row["verdict"], str(row["states"]))
    lines = [
        f"An expert's log-ratio oscillates by at most {found['off']:.3g} nats where it ought to copy, and by at least "
        f"{found['on']:.3g} where it ought to substitute.",
    ]
    if "certificate" in found:
        accepted = "accepted" if found["certificate"]["accepted"] else "REJECTED"
        lines += [
            f"Certificate at that threshold: {accepted} by the checker.",
            f"Wherever it is, the composition is within {found['largest_distance']:.1e} of a component, in total "
            f"variation: after n tokens within n times that.",
            "That a trained network equals another is never proved: at threshold 0 every expert deviates.",
        ]
    return Group(table, *lines)


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("")
    for column in columns:
        table.add_column(column, justify="right")
    return table
