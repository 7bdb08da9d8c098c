"""What came of the statements, as a table, and one by one."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from factorcomp.testing.families import Family
from proofs_checks.running import Outcome, smallest
from proofs_checks.statement import Statement


def table(statements: Sequence[Statement], outcomes: Sequence[Outcome]) -> Table:
    """One line per statement: instances, worst slack of its inequalities, negative controls, formal proof."""
    result = Table("statement", "", "says", title_justify="left", box=None, pad_edge=False)
    for column in ("instances", "worst slack", "control refuted after", "formal proof"):
        result.add_column(column, justify="right")
    for statement, outcome in zip(statements, outcomes, strict=True):
        slack = min(outcome.slacks.values(), default=None)
        result.add_row(
            statement.number,
            Text("✗", "red") if outcome.faults else Text("✓", "green"),
            statement.sentence,
            f"{outcome.instances:,}",
            "" if slack is None else f"{slack:.2g}",
            ", ".join("never" if after is None else f"{after:,}" for after in outcome.controls.values()) or "none",
            statement.formal or "–",
        )
    return result


def details(statement: Statement, outcome: Outcome) -> Group:
    """Everything about one statement, with the smallest instance that refutes each control."""
    lines = [
        Text(f"{statement.number}  {statement.sentence}", "bold"),
        Text(f"  {statement.equation}"),
        *(Text(f"  where {hypothesis}") for hypothesis in statement.hypotheses),
    ]
    for says, count in outcome.relations.items():
        slack = f", worst slack {outcome.slacks[says]:.3g}" if says in outcome.slacks else ""
        lines.append(Text(f"  {count:>9,} × {says}{slack}"))
    if outcome.vacuous:
        lines.append(Text(f"  {outcome.vacuous:>9,} instances of which it says nothing"))
    for control in statement.controls:
        after = outcome.controls[control.drops]
        found = "NOT refuted" if after is None else f"refuted after {after:,} instances; the simplest:"
        lines.append(Text(f"  without: {control.drops}: {found}"))
        if after is not None:
            check = control.check or statement.check
            instance = smallest(control.draw, check)
            broken = "; ".join(relation.says for relation in check(instance) if not relation.holds)
            lines += [Text(f"    {line}") for line in (*described(instance), f"does not hold: {broken}")]
    if statement.not_checked:
        lines.append(Text(f"  not checked: {statement.not_checked}"))
    if outcome.violation is not None:
        lines += [Text(f"  VIOLATED: {outcome.violation[0]}", "red"), *map(Text, described(outcome.violation[1]))]
    return Group(*lines, Text())


def described(instance: Any) -> list[str]:
    """The instance in a few lines: of a family the rows of every model by prefix, of a record its fields."""
    if isinstance(instance, Family):
        models = {"p_b": instance.background, **{f"p_{i}": e for i, e in enumerate(instance.experts, start=1)}}
        masks = f", masks {instance.masks}" if instance.masks else ""
        return [
            f"|V| = {instance.size}, T = {instance.length}{masks}",
            *(f"{name}  {plain(kernel)}" for name, kernel in models.items()),
        ]
    if not is_dataclass(instance):
        return [plain(instance)]
    lines = []
    for each in fields(instance):
        value = getattr(instance, each.name)
        lines += described(value) if is_dataclass(value) else [f"{each.name}: {plain(value)}"]
    return lines


def plain(value: Any) -> str:
    """Fractions as `1/2`, rows in parentheses, kernels by prefix, the empty prefix as `∅`."""
    if isinstance(value, Mapping):
        return "  ".join(f"{prefix(key)}: {plain(cell)}" for key, cell in value.items())
    if isinstance(value, tuple | list):
        return f"({', '.join(map(plain, value))})"
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(map(prefix, value))}}}"
    if is_dataclass(value):
        return f"[{'; '.join(described(value))}]"
    return str(value)


def prefix(key: Any) -> str:
    """A prefix as its tokens."""
    whole = isinstance(key, tuple) and all(isinstance(token, int) for token in key)
    return ("".join(map(str, key)) or "∅") if whole else plain(key)
