"""Every statement stands on some instances, and every negative control is refuted; the table has no gap."""

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from proofs_checks.running import find_statements, instances, refuted_after, run
from proofs_checks.statement import Control, Statement, at_most, close, equal, failures

THEORY = Path(__file__).parents[2] / "proofs_checks" / "theory.md"
STATEMENTS = find_statements()
BY_NUMBER = {statement.number: statement for statement in STATEMENTS}
CONTROLS = [(statement, control) for statement in STATEMENTS for control in statement.controls]


@pytest.mark.parametrize("number", BY_NUMBER)
def test_the_statement_stands(number):
    statement = BY_NUMBER[number]
    tried = 0
    for instance in instances(statement, 12, seed=0):
        relations = list(statement.check(instance))
        tried += bool(relations)
        assert not [relation.says for relation in relations if not relation.holds], instance
    assert tried


@pytest.mark.parametrize(
    ("statement", "control"), CONTROLS, ids=[f"{statement.number}-{control.drops}" for statement, control in CONTROLS]
)
def test_the_control_fails_as_it_must(statement: Statement, control: Control):
    assert refuted_after(control, statement.check, seed=0) is not None


def test_every_statement_has_a_control():
    assert [statement.number for statement in STATEMENTS if not statement.controls] == []


def test_a_number_names_one_statement():
    assert len(BY_NUMBER) == len(STATEMENTS)


def numbers_of_the_theory() -> set[str]:
    """Every number in bold in theory.md: `**Theorem 1.5 (…)**`, `* **CE 2.5a …**`."""
    kinds = "Definition|Lemma|Theorem|Proposition|Corollary|CE|Remark"
    return set(re.findall(rf"\*\*(?:{kinds}) (\d+\.\d+[a-d]?'?)[ .(]", THEORY.read_text(encoding="utf-8")))


def test_the_numbers_are_found():
    assert {"1.5", "2.3b", "2.4'", "2.5a", "2.6b", "6.4'", "11.7"} <= numbers_of_the_theory()


def test_every_number_of_the_theory_has_a_statement():
    assert numbers_of_the_theory() - {statement.number.partition(" ")[0] for statement in STATEMENTS} == set()


# The meta-tests: what is off is seen to be off.


def false_statement(**changes) -> Statement:
    """`x <= 3` of the integers 0..9, refuted control included."""

    def check(x):
        yield at_most("x <= 3", x, 3)

    statement = Statement(
        number="1.5 (9)",
        kind="theorem",
        sentence="",
        equation="",
        draw=lambda draw: draw.integer(0, 9),
        check=check,
        controls=(Control("nothing", lambda draw: draw.integer(0, 9)),),
    )
    return replace(statement, **changes)


def test_a_false_statement_is_off():
    outcome = run(false_statement(), 100, seed=0)
    assert outcome.violation is not None
    assert outcome.violation[1] > 3
    assert outcome.faults == ["violated: x <= 3"]


def test_a_control_that_holds_is_off():
    true = false_statement(
        draw=lambda draw: draw.integer(0, 3), controls=(Control("nothing", lambda draw: draw.integer(0, 3)),)
    )
    assert run(true, 10, seed=0).faults == ["not refuted: nothing"]


def test_a_statement_that_says_nothing_is_off():
    assert "vacuous: it said nothing of any instance" in run(false_statement(check=lambda x: ()), 10, seed=0).faults


def test_a_check_that_stops_is_off_and_refutes_nothing():
    def check(x):
        yield at_most("1/x <= 1", Fraction(1) / x, 1)

    stops = false_statement(check=check)
    assert run(stops, 100, 0).violation == ("the check stopped: ZeroDivisionError('Fraction(1, 0)')", 0)
    assert refuted_after(Control("x > 0", lambda draw: 0), check, seed=0) is None


def test_a_statement_without_control_is_off():
    assert run(false_statement(controls=(), draw=lambda draw: 0), 10, 0).faults == ["there is no negative control"]


def test_nan_is_neither_equal_nor_at_most():
    nan = float("nan")
    relations = [close("", nan, nan), at_most("", nan, 1.0), at_most("", 1.0, nan), equal("", nan, nan)]
    assert not any(relation.holds for relation in relations)


def test_fractions_are_compared_exactly():
    tiny = Fraction(1, 10**30)
    assert not equal("", Fraction(1), 1 + tiny).holds
    assert not at_most("", 1 + tiny, Fraction(1)).holds


def test_the_same_seed_draws_the_same_instances():
    one, other = ([*instances(BY_NUMBER["2.2"], 5, seed)] for seed in (1, 1))
    assert one == other
    assert one != [*instances(BY_NUMBER["2.2"], 5, 2)]


def test_failures_names_what_fails():
    assert [relation.says for relation in failures(false_statement().check, 7)] == ["x <= 3"]
