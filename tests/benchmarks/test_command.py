"""`python -m benchmarks`: what it prints and writes, and its exit status."""

import json
from pathlib import Path

import pytest

from benchmarks import agreement, measuring, running
from benchmarks.__main__ import main
from benchmarks.apart import ROOT
from benchmarks.measurement import Absent, Measurement
from benchmarks.results import SCHEMA
from benchmarks.targets import HELP_S


@pytest.fixture(autouse=True)
def here(monkeypatch):
    """No triad, and engines answer in this process."""
    monkeypatch.setattr(running, "bandwidth", lambda results: results.faster({"numpy": 1e10}))
    monkeypatch.setattr(running.start_up, "measure", lambda names: dict.fromkeys(names, HELP_S / 2))

    def measure(engine, vocab, length, *, runs, limit, check, tasks):
        if why := engine.missing() or engine.declines(vocab, length):
            return Absent(engine.name, vocab, length, why, asked=False)
        found = measuring.in_this_process(engine.name, vocab, length, runs, limit, tasks, check=check)
        return [Measurement(**one) for one in found]

    monkeypatch.setattr(running, "measure", measure)


def test_two_engines_on_two_sizes(tmp_path: Path, capsys):
    output = tmp_path / "results.json"
    engines = ["NumPy", "factorcomp, level-wise"]
    assert main(size=["2,3", "3,2"], engine=engines, runs=1, output=output) == 0
    printed = capsys.readouterr().out
    for expected in ("|V| = 2, T = 3", "|V| = 3, T = 2", "× floor", "Targets", "What each computes"):
        assert expected in printed
    assert printed.splitlines()[-1].startswith("(2,3) ")
    data = json.loads(output.read_text())
    assert data["schema"] == SCHEMA
    assert {(one["engine"], one["task"]) for one in data["measurements"]} == {
        (engine, task) for engine in engines for task in ("survey", "masks")
    }


def test_a_missed_target_is_a_status(monkeypatch, capsys):
    monkeypatch.setattr(running.start_up, "measure", lambda names: dict.fromkeys(names, 2 * HELP_S))
    assert main(size=["2,3"], engine=["NumPy"], runs=1) == 1
    assert capsys.readouterr().out.splitlines()[-1].endswith("1 of 1 targets missed")


def test_an_engine_that_is_wrong_is_an_error(monkeypatch, capsys):
    """Nothing is printed but the error."""

    def wrong(*_, **__):
        raise agreement.DisagreementError("NumPy disagrees")

    monkeypatch.setattr(running, "measure", wrong)
    assert main(size=["2,3"], engine=["NumPy"], runs=1) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.splitlines()[-1] == "error: NumPy disagrees"


def test_a_quick_run_is_about_the_floor_and_numpy(monkeypatch):
    asked = []
    monkeypatch.setattr(running, "time_tables", lambda _, sizes, engines, **__: asked.append((sizes, engines)))
    assert main(quick=True) == 0
    ((sizes, engines),) = asked
    assert list(sizes) == [(4, 10), (8, 8), (4, 12)]
    assert [(engine.name.partition(",")[0], list(tasks)) for engine, tasks in engines] == [
        ("factorcomp", ["survey", "masks"]),
        ("NumPy", ["survey"]),
    ]


def test_the_group_of_peers_names_their_packages():
    """Every peer that has to be installed is in the group, and nothing else."""
    import tomllib

    from benchmarks.peers import PEERS

    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())
    group = {requirement.partition(">")[0] for requirement in declared["dependency-groups"]["benchmarks"]}
    own = {requirement.partition(">")[0] for requirement in declared["project"]["dependencies"]}
    assert group == {package for peer in PEERS for package in peer.packages} - own - {"jaxlib"}
