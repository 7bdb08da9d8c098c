"""What came of the statements, as a table, and one by one."""

from collections.abc import Sequence
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
    """The instance in a few lines: of a family the rows of every model by prefix."""
    if not isinstance(instance, Family):
        return [str(instance)]
    models = {"p_b": instance.background, **{f"p_{i}": e for i, e in enumerate(instance.experts, start=1)}}
    lines = [f"|V| = {instance.size}, T = {instance.length}" + (f", masks {instance.masks}" if instance.masks else "")]
    for name, kernel in models.items():
        rows = (f"{''.join(map(str, h)) or '∅'}: ({', '.join(map(str, row))})" for h, row in kernel.items())
        lines.append(f"{name}  {'  '.join(rows)}")
    return lines
