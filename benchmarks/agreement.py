"""Before an engine is timed, it answers small cases; so do its reference, and all that they both name must be equal."""

from collections.abc import Sequence

from benchmarks import ours
from benchmarks.engine import Engine, differences
from benchmarks.measurement import Measurement
from benchmarks.peers.numpy_ import NUMPY
from benchmarks.workloads import Case, entangled, factorized


class DisagreementError(ArithmeticError):
    """Two engines answer differently: one of them is wrong, and no time of it means anything."""


def few_cases() -> list[Case]:
    """Models whose conditionals factorize, and models where every answer is a number of its own."""
    return [factorized(2, 7), entangled(3, 5, share=0.3)]


def many_cases() -> list[Case]:
    """Also rare deviations, none, a single step, a single token."""
    rare = [entangled(3, 5, seed, share) for seed, share in enumerate((0.05, 0.0))]
    return [*few_cases(), *rare, factorized(3, 5), entangled(2, 6, 3, 0.02), entangled(2, 1), entangled(1, 3)]


def check(engine: Engine, cases: Sequence[Case]) -> None:
    """Raises `DisagreementError`, with every difference, between an engine and ours (NumPy, for ours)."""
    reference = NUMPY if engine in ours.ENGINES else ours.LEVELWISE
    problems = []
    for case in cases:
        given, expected = engine.prepare(case), reference.prepare(case)
        for task, work in engine.tasks.items():
            lines = differences(work(given), reference.tasks[task](expected))
            problems += [f"|V| = {case.vocab}, T = {case.length}, {task}: {line}" for line in lines]
    if problems:
        raise DisagreementError(f"{engine.name} disagrees with {reference.name}:\n" + "\n".join(problems))


def check_at_size(measurements: Sequence[Measurement], vocab: int, length: int) -> None:
    """Raises `DisagreementError` where the engines timed on this size gave different answers."""
    problems, first = [], {}
    for one in (m for m in measurements if (m.vocab, m.length) == (vocab, length)):
        for name, value in one.answer.items():
            other = first.setdefault(name, one)
            lines = differences({name: value}, {name: other.answer[name]})
            problems += [f"{one.engine} against {other.engine}: {line}" for line in lines]
    if problems:
        raise DisagreementError(f"different answers at |V| = {vocab}, T = {length}:\n" + "\n".join(problems))
