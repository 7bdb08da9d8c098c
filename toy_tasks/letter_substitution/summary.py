"""The results as tables to read."""

from collections.abc import Mapping, Sequence
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
        *further(numbers),
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


def further(numbers: Mapping[str, Any]) -> list[Table | Group]:
    """What breaks, ends wrongly, or is added up: where a run has it."""
    tables: list[Table | Group] = []
    if "breaking" in numbers:
        found = numbers["breaking"]
        tables += [_overlap(found["overlap"]), _swept(found), _shifted(found["common_shift"])]
    if "stopping" in numbers:
        tables.append(_stopping(numbers["stopping"]))
    if "arithmetic" in numbers:
        tables.append(_arithmetic(numbers["arithmetic"]))
    return tables


def _overlap(found: Mapping[str, Any]) -> Table:
    columns = (
        "A",
        "B",
        "D",
        "B, smallest",
        "B, largest",
        "log Z",
        "TV to the nearest component",
        "other letters right",
    )
    table = _table("A->B with A->D: what is answered at A", *columns)
    for name, row in found.items():
        shares = (f"{row['at_A'][letter]:.1e}" if letter == "A" else f"{row['at_A'][letter]:.3f}" for letter in "ABD")
        ends = (f"{row[f'first_{end}']:.3f}" for end in ("smallest", "largest"))
        others = min(row["other_letters"].values())
        table.add_row(
            name, *shares, *ends, f"{row['log_normalizer_mean']:.3f}", f"{row['defect_mean']:.3f}", f"{others:.2%}"
        )
    return table


def _swept(found: Mapping[str, Any]) -> Table:
    columns = ("greedy", "probability of failure, mean", "largest", "oscillation to the right component, largest",
               "|log Z|, largest")  # fmt: skip
    table = _table("k experts of different letters, and with another background subtracted", *columns)
    for title in ("experts", "wrong_background"):
        for row in found[title]:
            numbers = (f"{row[key]:.1e}" for key in ("failure_mean", "failure_max"))
            ends = (f"{row[key]:.2f}" for key in ("oscillation_max", "log_normalizer_max"))
            table.add_row(f"{title.replace('_', ' ')}, {row['k']}", f"{row['greedy']:.2%}", *numbers, *ends)
    return table


def _shifted(rows: Sequence[Mapping[str, Any]]) -> Table:
    table = _table("Experts of a shifted ancestor: probability of A at P", *(str(row["k"]) for row in rows))
    for name in rows[0]:
        if name != "k":
            table.add_row(f"subtracted: {name}", *(f"{row[name]:.3f}" for row in rows))
    return table


def _stopping(found: Mapping[str, Any]) -> Table:
    last = range(max(len(entry["trained"]) for entry in found.values() if isinstance(entry, Mapping)))
    title = f"Mean number of tokens with k experts, answers of {found['letters']} letters; the log-odds of EOS with all"
    table = _table(title, "background", "shifts", "-log Z_q", *(f"k={k}" for k in last), "repaired")
    for name, entry in found.items():
        for kind in ("trained", "ideal") if isinstance(entry, Mapping) else ():
            rows = entry[kind]
            terms = (f"{rows[-1][term]:+.2f}" for term in ("background", "shifts", "content"))
            lengths = [f"{row['length']:.1f}" for row in rows] + [""] * (len(last) - len(rows))
            table.add_row(f"{name}: {kind}", *terms, *lengths, f"{rows[-1]['repaired']:.1f}")
    return table


def _arithmetic(found: Mapping[str, Any]) -> Group:
    table = _table(
        "Whole answers right: experts added as weights, and composed", "merged", "fails", "composed", "fails"
    )
    for row in found["success"]:
        cells = ((f"{row[f'{way}_greedy']:.2%}", f"{row[f'{way}_failure']:.1e}") for way in ("merged", "composed"))
        table.add_row(str(row["k"]), *(cell for pair in cells for cell in pair))
    errors = _table("The first two: task vectors times s", "osc(E), mean", "largest", "TV, mean", "largest")
    keys = ("oscillation_mean", "oscillation_max", "tv_mean", "tv_max")
    for row in [*found["scales"], {**found["linearized"], "scale": "linearised"}]:
        errors.add_row(f"{row['scale']}", *(f"{row[key]:.1e}" for key in keys))
    slopes = found["slope"]
    line = (
        f"osc(E) ~ s^{slopes['oscillation_mean']:.2f} in the mean, s^{slopes['oscillation_max']:.2f} at the largest; "
    )
    return Group(
        table, errors, f"{line}of second order at {found['of_second_order']:.0%} of {found['prefixes']} prefixes."
    )


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("")
    for column in columns:
        table.add_column(column, justify="right")
    return table
