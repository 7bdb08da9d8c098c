"""Processes of their own, their peak memory, and the command."""

import subprocess
import sys

import numpy as np
import pytest

from benchmarks import agreement, apart, automata, floor, measuring, on_the_fly, ours, start_up
from benchmarks.apart import ROOT
from benchmarks.engines import named
from benchmarks.measurement import Absent
from benchmarks.memory import STATUS, Peak
from factorcomp import Question
from factorcomp.enumeration.levelwise import survey


def test_a_function_apart():
    assert apart.call("benchmarks.results:tables_bytes", {"vocab": 2, "length": 2}, limit=60) == 3 * 8 * 6


def test_what_goes_wrong_apart_is_told():
    with pytest.raises(apart.ApartError, match="KeyError: 'nobody'") as raised:
        apart.call("benchmarks.engines:named", {"name": "nobody"}, limit=60)
    assert raised.value.kind == "KeyError"
    with pytest.raises(apart.ApartError, match="ended with status 7") as raised:
        apart.call("os:_exit", {"status": 7}, limit=60)
    assert raised.value.kind == "exit"
    with pytest.raises(apart.ApartError, match=r"no result in 0\.01 s") as raised:
        apart.call("benchmarks.results:machine", limit=0.01)
    assert raised.value.kind == "timeout"


@pytest.mark.skipif(not STATUS.exists(), reason="the system does not tell a process its peak memory")
def test_the_peak_is_what_was_held_at_once():
    """Ten times 8 MB one after another is 8 MB; at once it is 80."""
    peak = Peak()
    for _ in range(10):
        np.ones(10**6).sum()
    one = peak.megabytes()
    peak = Peak()
    kept = [np.ones(10**6) for _ in range(10)]
    assert 7 < one < 30
    assert 75 < peak.megabytes() < 110
    del kept


def test_an_engine_measured():
    found = measuring.measure(named("NumPy"), 2, 4, runs=2, limit=120, check=True)
    assert [one.task for one in found] == ["survey", "masks"]
    assert [len(one.later_s) for one in found] == [2, 2]
    assert found[0].answer["conflict"] == pytest.approx(1.0)
    agreement.check_at_size(found, 2, 4)
    assert 0 < found[0].best_s <= found[0].first_s


def test_an_absent_engine_says_why():
    assert measuring.measure(named("dit"), 2, 21, runs=1, limit=1, check=False).why in (
        "asked up to 1,048,576 sequences",
        "not installed: dit",
    )
    late = measuring.measure(named("NumPy"), 2, 4, runs=1, limit=0.01, check=False)
    assert late == Absent("NumPy", 2, 4, "no result in 0.01 s", asked=True)


def test_different_answers_at_one_size_are_found_out():
    (first,) = measuring.in_this_process("NumPy", 2, 4, 1, 10.0, ["survey"], check=False)
    other = {**first, "engine": "another", "answer": {**first["answer"], "conflict": 0.9}}
    measurements = [measuring.Measurement(**one) for one in (first, other)]
    with pytest.raises(agreement.DisagreementError, match=r"another against NumPy: conflict: 0\.9"):
        agreement.check_at_size(measurements, 2, 4)
    agreement.check_at_size(measurements, 2, 5)


@pytest.mark.parametrize("triad", [floor.numpy_triad, floor.jax_triad])
def test_the_triad_moves_bytes(triad):
    assert 1e7 < triad(numbers=1 << 16, runs=1) < 1e13


def enumerated(background, experts, question):
    """The functions' tables, laid out after all, and surveyed."""
    tables = {name: expert.tabulate(question.horizon) for name, expert in experts.items()}
    return ours.answer(survey(background.tabulate(question.horizon), tables, question))


def test_functions_are_the_finite_state_models(monkeypatch):
    """The enumeration of the functions and the finite-state engine give one probability of a conflict."""
    monkeypatch.setattr(ours, "on_the_fly", enumerated)
    found = on_the_fly.in_this_process(3, 6, runs=1)
    assert 0.01 < found["conflict"] < 0.99
    background, experts = automata.shared(on_the_fly.STATES, 3, on_the_fly.CHANGED)
    assert found["conflict"] == pytest.approx(ours.conflict_at_length(background, experts, Question(6)), abs=1e-6)


def test_a_wrong_answer_on_the_fly_is_found_out(monkeypatch):
    monkeypatch.setattr(ours, "on_the_fly", lambda *models: {"conflict": enumerated(*models)["conflict"] + 1e-4})
    with pytest.raises(ArithmeticError, match="probability of a conflict"):
        on_the_fly.in_this_process(3, 6, runs=1)


def test_a_wrong_call_is_told():
    command = [
        sys.executable,
        "-m",
        "benchmarks",
        "--size",
        "4x3",
        "--engine",
        "nobody",
        "--runs",
        "0",
        "--output",
        "no/where",
    ]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert "--size: found '4x3'; needed V,T, as 4,10" in run.stderr
    assert "--engine: no engine is called 'nobody'; there are 'factorcomp, streaming'" in run.stderr
    assert "--runs: found 0; needed at least 1" in run.stderr
    assert "--output" in run.stderr


def test_the_command_lines_that_are_timed_run():
    times = start_up.measure(runs=1)
    assert times.keys() == start_up.COMMANDS.keys()
    assert min(times.values()) > 0


def test_a_slow_engine_runs_once():
    """Where the first run took all the time there is no other; where it compiled, there is."""
    (once,) = measuring.in_this_process("NumPy", 2, 4, 3, 0.0, ["survey"], check=False)
    assert once["later_s"] == []
    assert measuring.Measurement(**once).ran_once
    assert measuring.Measurement(**once).best_s == once["first_s"]
    assert measuring.Measurement(**once).compile_s is None
    assert once["peak_mb"] is None
    (more,) = measuring.in_this_process("NumPy", 2, 4, 3, 60.0, ["survey"], check=False)
    assert len(more["later_s"]) == 3
    assert measuring.Measurement(**more).compile_s >= 0


def test_an_engine_of_ours_that_is_not_there_has_not_kept_its_promise(monkeypatch):
    """A machine with one core cannot try; everything else that gives no answer has failed."""

    def raises(kind):
        def call(*_, **__):
            raise apart.ApartError(kind, "no answer")

        return call

    for kind, asked in (("ModuleNotFoundError", True), ("timeout", True), ("TooFewCoresError", False)):
        monkeypatch.setattr(on_the_fly.apart, "call", raises(kind))
        assert on_the_fly.measure(8, 2, limit=1) == {
            "vocab": 8,
            "length": 2,
            "sequences": 64,
            "why": "no answer",
            "asked": asked,
        }
        assert [row["asked"] for row in on_the_fly.by_processes(8, 2, limit=1)] == [asked, asked]


def test_of_processes_that_share_the_work_the_last_one_counts(monkeypatch):
    """One process, then two: the slower of these two."""
    answers = iter([{"seconds": 3.0}, {"seconds": 1.0}, {"seconds": 2.0}])
    monkeypatch.setattr(on_the_fly.apart, "call", lambda *_, **__: next(answers))
    assert [row["seconds"] for row in on_the_fly.by_processes(8, 2, limit=1)] == [3.0, 2.0]
