"""Every statement is proved formally, or there is a reason why not; the theorems that are named are there."""

import re
from pathlib import Path

from proofs_checks.formal import INFORMAL, PROVED, formally
from proofs_checks.running import find_statements

COQ = Path(__file__).parents[2] / "proofs_checks" / "coq"
DECLARED = re.compile(r"^\s*(?:Theorem|Lemma|Corollary|Proposition|Remark) +([\w']+)", re.MULTILINE)
NUMBERED = re.compile(r"(?:theorem|lemma|corollary|proposition|definition|remark|counterexample|inclusion)_")
NUMBERS = {statement.number for statement in find_statements()}


def declared() -> set[str]:
    """The names of all that is proved."""
    return {name for path in COQ.glob("*.v") for name in DECLARED.findall(path.read_text(encoding="utf-8"))}


def test_every_statement_has_a_proof_or_a_reason():
    assert PROVED.keys() | INFORMAL.keys() == NUMBERS
    assert PROVED.keys() & INFORMAL.keys() == set()


def test_the_theorems_are_there():
    assert len(declared()) > 300
    assert {name for proof in PROVED.values() for name in proof.theorems} <= declared()


def test_no_numbered_theorem_is_forgotten():
    named = {name for proof in PROVED.values() for name in proof.theorems}
    assert {name for name in declared() if NUMBERED.match(name)} <= named


def test_nothing_is_admitted():
    for path in COQ.glob("*.v"):
        assert not re.search(r"\b(Admitted|Axiom|Parameter|Conjecture|admit)\b", path.read_text(encoding="utf-8")), path


def test_what_is_known_is_said():
    assert formally("2.2") == "proved formally: theorem_2_2"
    assert formally("8.4") == "proved formally: lemma_8_4; there: the part on TV"
    assert formally("13.1") == "not proved formally: open"
