"""Statements, tried: instances, relations, slacks, and whether every negative control is refuted."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from factorcomp.testing.drawing import seeded, strategy
from proofs_checks.statement import Check, Control, Recipe, Statement, failures

CONTROL_TRIES = 20_000
"""So many instances are tried before a control counts as not refuted."""


@dataclass
class Outcome:
    """What came of a statement.

    **Fields:** `instances`: of which it said something. `vacuous`: of which it said nothing. `relations`: how often
    each was compared. `slacks`: of each inequality the smallest. `violation`: what does not hold, and of which
    instance. `controls`: by the hypothesis that is dropped, after how many instances it was refuted, `None` if never.
    """

    number: str
    instances: int = 0
    vacuous: int = 0
    relations: Counter[str] = field(default_factory=Counter)
    slacks: dict[str, float] = field(default_factory=dict)
    violation: tuple[str, Any] | None = None
    controls: dict[str, int | None] = field(default_factory=dict)

    @property
    def faults(self) -> list[str]:
        """Everything that is off; nothing if the statement stands."""
        found = []
        if self.violation is not None:
            found.append(f"violated: {self.violation[0]}")
        if not self.instances:
            found.append("vacuous: it said nothing of any instance")
        if not self.controls:
            found.append("there is no negative control")
        return found + [f"not refuted: {drops}" for drops, after in self.controls.items() if after is None]


def run(statement: Statement, examples: int, seed: int) -> Outcome:
    """Tries the statement on all its cases and on `examples` drawn instances, then its controls; stops at a violation.

    The same seed draws the same instances.
    """
    outcome = Outcome(statement.number)
    for instance in instances(statement, examples, seed):
        try:
            relations = list(statement.check(instance))
        except Exception as error:  # whatever stops a check is a fault of the statement, and the table goes on
            outcome.violation = (f"the check stopped: {error!r}", instance)
            break
        outcome.instances += bool(relations)
        outcome.vacuous += not relations
        for relation in relations:
            outcome.relations[relation.says] += 1
            if relation.slack is not None:
                outcome.slacks[relation.says] = min(relation.slack, outcome.slacks.get(relation.says, relation.slack))
        if broken := [relation.says for relation in relations if not relation.holds]:
            outcome.violation = ("; ".join(broken), instance)
            break
    for control in statement.controls:
        outcome.controls[control.drops] = refuted_after(control, statement.check, seed)
    return outcome


def instances(statement: Statement, examples: int, seed: int) -> Iterator[Any]:
    """All cases of the statement, then `examples / weight` drawn ones."""
    if statement.cases is not None:
        yield from statement.cases()
    if statement.draw is not None:
        draw = seeded(f"{statement.number}/{seed}")
        for _ in range(max(1, examples // statement.weight)):
            yield statement.draw(draw)


def refuted_after(control: Control, check: Check, seed: int) -> int | None:
    """How many instances it took to refute the control; `None` if none did."""
    draw = seeded(f"{control.drops}/{seed}")
    for tried in range(1, CONTROL_TRIES + 1):
        if refutes(control.check or check, control.draw(draw)):
            return tried
    return None


def refutes(check: Check, instance: Any) -> bool:
    """Whether a relation fails of the instance. One of which the check has no meaning (no law, a mass of 0 to divide
    by), as can be where a hypothesis is dropped, refutes nothing.
    """
    try:
        return bool(failures(check, instance))
    except (ArithmeticError, LookupError, ValueError):
        return False


def smallest(recipe: Recipe, check: Check) -> Any:
    """The simplest instance of the recipe of which the check fails, shrunk by Hypothesis; raises if there is none."""
    from hypothesis import HealthCheck, Phase, find, settings

    quiet = settings(
        max_examples=5_000,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    return find(strategy(recipe), lambda instance: refutes(check, instance), settings=quiet)


def find_statements() -> list[Statement]:
    """Every statement of the sections, in the order of theory.md."""
    import importlib
    import pkgutil

    import proofs_checks

    found: list[Statement] = []
    for module in pkgutil.walk_packages(proofs_checks.__path__, "proofs_checks."):
        if ".section_" in module.name and not module.ispkg:
            found += importlib.import_module(module.name).STATEMENTS
    return sorted(found, key=order)


def order(statement: Statement) -> tuple[Any, ...]:
    """The place of a statement in theory.md: by section, number and part; what has no number of its own comes last."""
    number, _, part = statement.number.partition(" ")
    section, _, rest = number.partition(".")
    digits = "".join(character for character in rest if character.isdigit())
    return int(section), int(digits or 99), rest, part


def run_numbered(number: str, examples: int, seed: int) -> Outcome:
    """`run`, in another process: a statement holds functions and does not travel, its number does."""
    return run(next(statement for statement in find_statements() if statement.number == number), examples, seed)


def chosen(statements: Iterable[Statement], numbers: Iterable[str]) -> list[Statement]:
    """The statements with these numbers; `4.4` means all its parts, `4` the section."""
    wanted = tuple(numbers)

    def fits(statement: Statement) -> bool:
        whole = statement.number.partition(" ")[0]
        return any(number in (statement.number, whole, str(statement.section)) for number in wanted)

    return [statement for statement in statements if not wanted or fits(statement)]
