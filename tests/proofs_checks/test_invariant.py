"""What the kernel finds for every length is accepted by checkers that are proved right (proofs_checks/coq/invariant.v).

They run inside Coq, on the models themselves: an invariant must be closed under every step of the product that Coq
makes of them, and a word must lead there to what it refutes.
"""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import pytest

from factorcomp.certificates import read_model
from factorcomp.certificates.automata import Automaton
from factorcomp.certificates.claims import Findings, PrefixWitness, Question, Verdict
from factorcomp.certificates.kernel import decide
from factorcomp.certificates.models import Entry
from factorcomp.certificates.product import Product, product_of
from tests.automata import random_automata
from tests.coq import compiled, evaluated, written

CLAIMS = ("pointwise_joint", "interval_joint")
PREAMBLE = """From mathcomp Require Import all_ssreflect.
From factorcomp Require Import decision invariant.
Definition cell (table : seq (seq nat)) (q y : nat) := nth 0 (nth [::] table q) y.
Section Case.
Variables (size : nat) (rows leads : seq (seq (seq nat))) (start : seq nat).
Definition tokens := iota 0 size.
Definition experts := iota 0 (seq.size rows).-1.
Definition lead (q : seq nat) y := [seq cell (nth [::] leads m) (nth 0 q m) y | m <- iota 0 (seq.size rows)].
Definition row m (q : seq nat) y := cell (nth [::] rows m) (nth 0 q m) y.
Definition next := product_next 0 tokens experts lead (row 0) (fun i => row i.+1).
Definition deviants := product_deviants tokens experts (row 0) (fun i => row i.+1).
Definition pointwise (states : seq (seq nat)) := proves_pointwise tokens start next deviants states.
Definition interval (states : seq (seq nat)) (over : seq (seq nat)) (phases : seq (seq nat * seq nat)) :=
  proves_interval tokens experts start next deviants (fun q => nth [::] over (index q states)) phases.
Definition not_pointwise i j h := refutes_pointwise start next deviants i j h.
Definition not_interval i j h u v := refutes_interval start next deviants i j h u v.
End Case.
"""


@dataclass(frozen=True)
class Subject:
    """Finite-state models, and what the kernel finds of them."""

    models: Sequence[Automaton]
    product: Product
    findings: Findings

    @property
    def system(self) -> str:
        """The models as the arguments of a checker: a fraction is told by its place in a list that begins with 0."""
        numbers = {Fraction(0): 0}

        def told(row: Sequence[Entry]) -> list[int]:
            total = sum(map(Fraction, row)) or 1  # without EOS no sequence ends, and the row after that is empty
            return [numbers.setdefault(Fraction(n) / total, len(numbers)) for n in row]

        rows = [[told(row) for row in m.kernels] for m in self.models]
        leads = [[list(lead) for lead in m.leads] for m in self.models]
        return f"{len(self.product.vocabulary)} {written(rows)} {written(leads)} {written(self.state(0))}"

    def state(self, n: int) -> list[int]:
        return list(self.product.keys[n][0])

    def checks(self) -> dict[str, str]:
        """For each claim the term that must be true."""
        return {claim: self.accepted(claim) if self.holds(claim) else self.refuted(claim) for claim in CLAIMS}

    def holds(self, claim: str) -> bool:
        return self.findings[claim].verdict is Verdict.HOLDS

    def accepted(self, claim: str) -> str:
        invariant = self.findings.invariant
        states = [self.state(n) for n in range(len(invariant.states))]
        if claim == "pointwise_joint":
            return f"pointwise {self.system} {written(states)}"
        over = [[i for i, phase in enumerate(phases[0]) if phase == "after"] for phases in invariant.phases]
        pairs = [
            f"({written(state)}, {written([i for i, phase in enumerate(vector) if phase == 'active'])})"
            for state, vectors in zip(states, invariant.phases, strict=True)
            for vector in vectors
        ]
        return f"interval {self.system} {written(states)} {written(over)} [:: {'; '.join(pairs)}]"

    def refuted(self, claim: str) -> str:
        witness = self.findings[claim].witness
        assert isinstance(witness, PrefixWitness)
        word = [self.product.vocabulary.index(token) for token in witness.prefix]
        i, j = (self.product.experts.index(name) for name in witness.experts[:2])
        if claim == "pointwise_joint":
            return f"not_pointwise {self.system} {i} {j} {written(word)}"
        words = (word, self.way(word, i), self.way(word, j))
        return f"not_interval {self.system} {i} {j} {' '.join(map(written, words))}"

    def way(self, word: Sequence[int], i: int) -> list[int]:
        """The first word that leads on to a deviation of expert i."""
        n = 0
        for y in word:
            n = self.product.next[n][y]
        found, queue = {n: ()}, [n]
        for m in queue:
            if self.product.steps[m].deviating >> i & 1:
                return list(found[m])
            for y, after in enumerate(self.product.next[m]):
                if after is not None and after not in found:
                    found[after] = (*found[m], y)
                    queue.append(after)
        raise AssertionError("an active expert can deviate")


def subjects(folder: Path, seed: int, count: int) -> list[Subject]:
    """Random models, asked what the proofs are about: on R^, under `cancel`, exactly, without weights or masks."""
    rng, found = random.Random(seed), []
    while len(found) < count:
        instance = random_automata(rng)
        paths = {}
        for name in ("background", *instance.experts):
            paths[name] = folder / f"{name}.json"
            paths[name].write_text(json.dumps(instance.model_json(name)), encoding="utf-8")
        models = {name: read_model(path) for name, path in paths.items()}
        if any(lead is None for model in models.values() for row in model.leads for lead in row):
            continue
        question, background = Question("every"), models.pop("background")
        findings = decide(background, models, question)
        if findings["well_defined"].verdict is Verdict.HOLDS:
            setting, aligned = product_of(background, models, question)
            found.append(Subject(aligned, Product(setting, aligned, False), findings))
    return found


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the checkers, compiled."""
    return compiled(tmp_path_factory.mktemp("coq"), "decision", "invariant")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[Subject]:
    return subjects(tmp_path_factory.mktemp("models"), seed=0, count=60)


def test_what_the_kernel_finds_is_accepted(library: Path, found: list[Subject]):
    checks = [(subject, claim, term) for subject in found for claim, term in subject.checks().items()]
    for (subject, claim, _), true in zip(
        checks, evaluated(library, PREAMBLE, [term for *_, term in checks]), strict=True
    ):
        assert true is True, (claim, subject.models)
    for claim in CLAIMS:
        assert 5 <= sum(subject.holds(claim) for subject in found) <= len(found) - 5


def test_what_is_not_so_is_not_accepted(library: Path, found: list[Subject]):
    """An invariant without its last state is not closed; nor does a word refute what holds."""
    holding = [subject for subject in found if subject.holds("interval_joint") and len(subject.product.keys) > 1]
    terms = []
    for subject in holding:
        states, phases = subject.findings.invariant.states[:-1], subject.findings.invariant.phases[:-1]
        cut = replace(subject.findings.invariant, states=states, phases=phases)
        shorter = replace(subject, findings=replace(subject.findings, invariant=cut))
        terms += shorter.checks().values()
        terms.append(f"not_interval {subject.system} 0 1 {written([])} {written([])} {written([])}")
    assert terms
    assert evaluated(library, PREAMBLE, terms) == [False] * len(terms)
