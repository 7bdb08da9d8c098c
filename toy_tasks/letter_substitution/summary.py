"""The results as tables to read."""

from collections.abc import Mapping
from typing import Any

from rich.console import Group
from rich.table import Table


def summary(numbers: Mapping[str, Any]) -> Group:
    """All tables of a run."""
    return Group(_success(numbers["success"], numbers["by_length"]))


def _success(success: Mapping[str, Any], curves: Mapping[str, Any]) -> Table:
    lengths = next(iter(curves.values()))
    title = f"Whole answers right, on {success['prompts']} held-out prompts of {success['lengths'][0]} to "
    table = Table(title=f"{title}{success['lengths'][1]} letters, and on longer ones")
    table.add_column("")
    for name in ("greedy", "sampled", "fails with probability", *(f"length {length}" for length in lengths)):
        table.add_column(name, justify="right")
    for name, curve in curves.items():
        row = success[name]
        long = (f"{at['sampled']:.2%}" for at in curve.values())
        table.add_row(name, f"{row['greedy']:.2%}", f"{row['sampled']:.2%}", f"{row['failure_mean']:.1e}", *long)
    return table
