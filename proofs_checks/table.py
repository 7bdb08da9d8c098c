"""What came of the statements, as a table, and one by one."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from factorcomp.testing.families import Family
from proofs_checks.formal import formally, proof_of
from proofs_checks.running import Outcome, smallest
from proofs_checks.statement import Statement


def table(statements: Sequence[Statement], outcomes: Sequence[Outcome]) -> Table:
    """One line per statement: instances, worst slack of each inequality, negative controls, formal proof."""
    result = Table("statement", "", "says", title_justify="left", box=None, pad_edge=False)
    for column in ("instances", "worst slack", "control refuted after", "formal proof"):
        result.add_column(column, justify="right")
    for statement, outcome in zip(statements, outcomes, strict=True):
        result.add_row(
            statement.number,
            Text("✗", "red") if outcome.faults else Text("✓", "green"),
            statement.sentence,
            f"{outcome.instances:,}",
            ", ".join(f"{slack:.2g}" for slack in outcome.slacks.values()),
            ", ".join("never" if after is None else f"{after:,}" for after in outcome.controls.values()) or "none",
            proof_of(statement.number),
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
    lines.append(Text(f"  {formally(statement.number)}"))
    if statement.not_checked:
        lines.append(Text(f"  not checked: {statement.not_checked}"))
    if outcome.violation is not None:
        lines += [Text(f"  VIOLATED: {outcome.violation[0]}", "red"), *map(Text, described(outcome.violation[1]))]
    return Group(*lines, Text())


def described(instance: Any) -> list[str]:
    """The instance in a few lines: of a family the rows of every model by prefix; of a record or tuple its parts."""
    if isinstance(instance, tuple) and any(isinstance(part, Family) for part in instance):
        return [line for part in instance for line in described(part)]
    if is_dataclass(instance) and not isinstance(instance, Family | type):
        return [line for field in fields(instance) for line in _field(field.name, getattr(instance, field.name))]
    if not isinstance(instance, Family):
        return [plain(instance)]
    models = {"p_b": instance.background, **{f"p_{i}": e for i, e in enumerate(instance.experts, start=1)}}
    lines = [f"|V| = {instance.size}, T = {instance.length}" + (f", masks {instance.masks}" if instance.masks else "")]
    for name, kernel in models.items():
        rows = (f"{''.join(map(str, h)) or '∅'}: ({', '.join(map(str, row))})" for h, row in kernel.items())
        lines.append(f"{name}  {'  '.join(rows)}")
    return lines


def _field(name: str, value: Any) -> list[str]:
    """A field of an instance: beside its name, or below it where it takes several lines."""
    lines = described(value)
    return [f"{name}: {lines[0]}"] if len(lines) == 1 else [f"{name}:", *(f"  {line}" for line in lines)]


def plain(value: Any) -> str:
    """In the notation of theory.md: fractions as `1/2`, prefixes as `01`, `∅`.

    >>> from fractions import Fraction
    >>> plain({(0, 1): Fraction(1, 4), (): (Fraction(1, 2), Fraction(1, 2))})
    '{01: 1/4, ∅: (1/2, 1/2)}'
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{plain(key)}: {plain(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, set | frozenset):
        return "{" + ", ".join(sorted(map(plain, value))) + "}"
    if isinstance(value, tuple) and all(type(entry) is int and 0 <= entry < 10 for entry in value):
        return "".join(map(str, value)) or "∅"
    if isinstance(value, tuple | list):
        return "(" + ", ".join(map(plain, value)) + ")"
    if is_dataclass(value) and not isinstance(value, type):
        return "[" + ", ".join(f"{field.name} {plain(getattr(value, field.name))}" for field in fields(value)) + "]"
    return str(value)
