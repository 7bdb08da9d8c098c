"""The kernel decides as the functions proved right do (proofs_checks/coq/decision.v): on the same random cases.

The functions run inside Coq. They ask of a number only whether it is zero and whether two are equal, so that each
fraction is told by its place in a list that begins with 0.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from factorcomp.certificates import composition
from factorcomp.certificates.claims import PrefixWitness, Question, Verdict
from factorcomp.certificates.judgement import Judgement
from factorcomp.certificates.tree import Tree
from tests.certificates.subjects import model
from tests.coq import compiled, evaluated, written
from tests.strategies import Instance, random_instance

CLAIMS: dict[str, Callable[[Tree], Judgement]] = {
    "decide_well_defined": composition.well_defined,
    "decide_pointwise": composition.pointwise_joint,
    "decide_interval": composition.interval_joint,
}
PREAMBLE = """From mathcomp Require Import all_ssreflect.
From factorcomp Require Import decision.
Definition row_of (size : nat) (rows : seq (seq (seq nat))) (h : seq nat) (y : nat) : nat :=
  nth 0 (nth [::] (nth [::] rows (seq.size h)) (foldl (fun n y => n * size + y) 0 h)) y.
Definition answers (size horizon : nat) (background : seq (seq (seq nat))) (experts : seq (seq (seq (seq nat)))) :=
  let f T (decide : nat -> seq nat -> seq nat -> (seq nat -> nat -> nat) ->
                    (nat -> seq nat -> nat -> nat) -> nat -> T) :=
    decide 0 (iota 0 size) (iota 0 (seq.size experts)) (row_of size background)
      (fun i => row_of size (nth [::] experts i)) horizon in
  [:: f _ (@decide_well_defined _ _ _); f _ (@decide_pointwise _ _ _); f _ (@decide_interval _ _ _)].
"""


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the functions, compiled."""
    return compiled(tmp_path_factory.mktemp("coq"), "decision")


def question_of(instance: Instance) -> Instance:
    """The same models, asked what the proofs are about: on R^, under `cancel`, exactly, without weights."""
    question = instance.question
    return replace(
        instance,
        question=replace(
            question, scope="reachable", null_tokens="cancel", threshold=Fraction(0), weights={}, masks=None
        ),
    )


def sparse(rng: random.Random) -> Instance:
    """An instance with many zeros, in which ratios are undefined and prefixes dead as often as not."""
    size, horizon = rng.choice(((2, 2), (2, 3), (3, 2)))

    def row() -> tuple[Fraction, ...]:
        cells = [rng.choice((0, 0, 1, 1, 2)) for _ in range(size)]
        return tuple(map(Fraction, cells)) if any(cells) else row()

    background = tuple(tuple(row() for _ in range(size**t)) for t in range(horizon))
    experts = {
        name: tuple(tuple(row() if rng.random() < 0.3 else base for base in level) for level in background)
        for name in ("one", "two", "three")[: rng.randint(1, 3)]
    }
    return Instance(tuple("abc"[:size]), None, background, experts, Question(horizon))


def cases(seed: int, count: int) -> list[Instance]:
    """Random instances that fit into small tables, as many of every structure as sparse ones."""
    rng = random.Random(seed)
    return [sparse(rng) if n % 2 else question_of(random_instance(rng, cap=40)) for n in range(count)]


def asked(instance: Instance) -> str:
    """The command that answers for one instance."""
    names = ["background", *instance.experts]
    numbers = {Fraction(0): 0}
    tables = []
    for name in names:
        normal = [
            [[Fraction(cell) / sum(map(Fraction, row)) for cell in row] for row in step]
            for step in instance.model(name)
        ]
        tables.append([[[numbers.setdefault(n, len(numbers)) for n in row] for row in step] for step in normal])
    size, horizon = len(instance.vocabulary), instance.question.horizon
    return f"answers {size} {horizon} {written(tables[0])} {written(tables[1:])}"


def by_coq(library: Path, instances: Sequence[Instance]) -> list[list[tuple[int, ...] | None]]:
    """What the proved functions answer: for each claim the prefix that refutes it, or `None`."""
    answers = evaluated(library, PREAMBLE, map(asked, instances))
    return [[prefix if prefix is None else tuple(prefix) for prefix in answer] for answer in answers]


def by_kernel(instance: Instance) -> list[tuple[int, ...] | None]:
    """The same of the kernel."""
    experts = {name: model(instance, name) for name in instance.experts}
    tree = Tree(model(instance, "background"), experts, instance.question)
    answers: list[tuple[int, ...] | None] = []
    for judge in CLAIMS.values():
        said = judge(tree)
        assert said.verdict is not Verdict.UNDECIDED
        if said.verdict is Verdict.HOLDS:
            answers.append(None)
        else:
            assert isinstance(said.witness, PrefixWitness)
            answers.append(tuple(map(instance.vocabulary.index, said.witness.prefix)))
    return answers


def test_the_kernel_answers_what_the_proved_functions_answer(library: Path):
    instances = cases(seed=0, count=160)
    proved, kernel = by_coq(library, instances), [by_kernel(instance) for instance in instances]
    assert len(proved) == len(instances)
    for instance, mine, other in zip(instances, kernel, proved, strict=True):
        assert mine == other, instance
    for claim, answers in zip(CLAIMS, zip(*kernel, strict=True), strict=True):
        refuted = sum(prefix is not None for prefix in answers)
        assert 10 <= refuted <= len(instances) - 10, f"{claim}: {refuted} of {len(instances)} refuted"
