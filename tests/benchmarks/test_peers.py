"""A peer is timed only for the right answer; and an engine that answers wrongly is found out."""

from dataclasses import replace

import pytest

from benchmarks import agreement, ours
from benchmarks.engine import TASKS, Engine, differences
from benchmarks.engines import ENGINES, named
from benchmarks.peers.numpy_ import NUMPY
from benchmarks.workloads import entangled, factorized

REQUIRED = {"NumPy", "JAX, level-wise", "factorcomp, level-wise", "factorcomp.verify"}


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
@pytest.mark.filterwarnings("ignore")  # the peers' own warnings, on import and after
def test_every_engine_agrees_with_ours(engine: Engine):
    if (why := engine.missing()) and engine.name not in REQUIRED:
        pytest.skip(why)
    agreement.check(engine, agreement.many_cases() if engine.name != "JAX, level-wise" else agreement.few_cases())


@pytest.mark.parametrize("name", ["projective", "active", "conflict", "first", "factorized"])
def test_an_engine_that_answers_wrongly_is_found_out(name: str):
    """One thing at a time, changed a little."""
    wrong = {
        "projective": lambda tvs: [tvs[0] + 1e-6, tvs[1]],
        "active": lambda counts: [counts[0], counts[1] + 1],
        "conflict": lambda probability: float("nan"),
        "first": lambda first: [first[0], first[1] + 1],
        "factorized": lambda holds: not holds,
    }[name]

    def spoilt(task):
        def work(case):
            answer = dict(NUMPY.tasks[task](case))
            return {**answer, name: wrong(answer[name])} if name in answer else answer

        return work

    engine = replace(NUMPY, name="spoilt", tasks={task: spoilt(task) for task in TASKS})
    with pytest.raises(agreement.DisagreementError, match=f"spoilt disagrees.*(?s:.)*{name}: "):
        agreement.check(engine, agreement.few_cases())


def test_nothing_in_common_is_a_difference():
    """An engine that answers nothing has not agreed."""
    assert differences({}, {"conflict": 0.5})
    assert differences({"conflict": 0.5}, {"conflict": 0.5}) == []
    assert differences({"active": [1]}, {"active": [1, 2]})
    assert differences({"factorized": 1}, {"factorized": True})


@pytest.mark.parametrize("cases", [agreement.few_cases(), agreement.many_cases()], ids=["few", "many"])
def test_the_small_cases_tell_answers_apart(cases):
    """Some factorize and some do not; conflicts happen on some paths; each mask sees something."""
    answers = [{**ours_of(case, "survey"), **ours_of(case, "masks")} for case in cases]
    assert {answer["factorized"] for answer in answers} == {True, False}
    assert any(0.01 < answer["conflict"] < 0.99 for answer in answers)
    assert any(min(answer["projective"]) > 0.01 for answer in answers)


def test_there_is_a_case_without_a_conflict():
    assert any(ours_of(case, "survey")["first"] is None for case in agreement.many_cases())


def ours_of(case, task):
    return ours.LEVELWISE.tasks[task](ours.LEVELWISE.prepare(case))


@pytest.mark.parametrize(("vocab", "length"), [(2, 6), (3, 5), (5, 3), (1, 4), (4, 1)])
def test_the_timed_models_factorize(vocab: int, length: int):
    """On its mask each expert is projective, to rounding; off it its rows are the background's own numbers."""
    case = factorized(vocab, length)
    answer = {**NUMPY.tasks["survey"](case), **NUMPY.tasks["masks"](case)}
    assert answer["factorized"]
    assert max(answer["projective"]) <= 1e-14
    for expert, mask in zip(case.experts, case.masks, strict=True):
        for t, (own, base) in enumerate(zip(expert, case.background, strict=True)):
            assert (own == base).all() == (t not in mask or vocab == 1)


def test_entangled_models_do_not():
    case = entangled(3, 4)
    assert not NUMPY.tasks["masks"](case)["factorized"]
    assert case.bytes == 3 * 8 * (3 + 9 + 27 + 81)


def test_engines_have_names_of_their_own():
    assert len({engine.name for engine in ENGINES}) == len(ENGINES)
    assert named("NumPy") is NUMPY
