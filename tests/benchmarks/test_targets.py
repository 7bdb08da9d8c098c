"""What was promised is held against what was measured, and nothing that failed counts as kept."""

import json
import math
from dataclasses import replace

import pytest

from benchmarks import tables
from benchmarks.measurement import Absent, Measurement
from benchmarks.results import SCHEMA, Results, tables_bytes
from benchmarks.targets import Target, targets
from benchmarks.workloads import Size, factorized

US = "factorcomp, streaming"


def measured(engine: str, task: str, size: Size, seconds: float, first: float = 0.0, peak: float = 1.0) -> Measurement:
    first = first or seconds
    return Measurement(engine, task, *size, 0.1, 0.1, first, [seconds, 2 * seconds], peak, peak, {"conflict": 1.0})


def run(size: Size = (8, 8), **changed: float) -> Results:
    """A run in which every promise is kept by a little, unless a number is changed."""
    results = Results(US, bandwidth={"numpy": 1e10, "jax": 2e10})
    floor = tables_bytes(*size) / 2e10
    times = {"pass": 3.9, "mask": 3.4, "NumPy": 39.1, "PyTorch": 19.6, **changed}
    first = times["pass"] * floor + changed.get("compile", 2.4)
    results.measurements = [
        measured(US, "survey", size, times["pass"] * floor, first, changed.get("memory", 9.9)),
        measured(US, "masks", size, times["mask"] * floor),
        measured("NumPy", "survey", size, times["NumPy"] * floor),
        measured("PyTorch", "survey", size, times["PyTorch"] * floor),
    ]
    results.start_up = {"factorcomp --help": changed.get("help", 0.49), "import jax": 3.0}
    results.on_the_fly = [
        {"vocab": 8, "length": 10, "sequences": 8**10, "seconds": changed.get("billion", 14.9) * 8**10 / 1e9}
    ]
    one, two = {"processes": 1, "seconds": changed.get("one", 1.81)}, {"processes": 2, "seconds": 1.0}
    results.processes = [{"vocab": 8, "length": 9, **row} for row in (one, two)]
    return results


def test_all_promises_kept():
    found = targets(run())
    assert len(found) == 9
    assert [target.what for target in found if not target.met] == []


@pytest.mark.parametrize(
    ("name", "value", "missed"),
    [
        ("pass", 4.1, ["(8, 8) one pass", "(8, 8) against NumPy", "(8, 8) against PyTorch"]),
        ("mask", 3.6, ["(8, 8) mask check"]),
        ("memory", 10.1, ["(8, 8) memory"]),
        ("NumPy", 38.9, ["(8, 8) against NumPy"]),
        ("PyTorch", 19.4, ["(8, 8) against PyTorch"]),
        ("compile", 2.6, ["(8, 8) compilation"]),
        ("help", 0.51, ["factorcomp --help"]),
        ("billion", 15.1, ["1.1e+09 sequences on the fly, for 10^9"]),
        ("one", 1.79, ["two processes against one"]),
    ],
)
def test_a_promise_missed(name: str, value: float, missed: list[str]):
    assert [target.what for target in targets(run(**{name: value})) if not target.met] == missed


def test_a_failure_is_a_promise_missed():
    """Asked and without an answer: missed. Not installed: nothing was promised."""
    results = run()
    results.measurements = results.measurements[2:]
    results.absent = [Absent(US, 8, 8, "no result in 120 s", asked=True)]
    results.on_the_fly = [{"vocab": 8, "length": 10, "sequences": 8**10, "why": "no result in 480 s", "asked": True}]
    missed = {target.what for target in targets(results) if not target.met}
    assert missed >= {"(8, 8) one pass", "(8, 8) mask check", "(8, 8) memory", "(8, 8) compilation"}
    assert "1.1e+09 sequences on the fly, for 10^9" in missed
    results.absent = [Absent(US, 8, 8, "not installed: factorcomp.streaming", asked=False)]
    results.on_the_fly[0]["asked"] = False
    assert all(target.met for target in targets(results))
    assert "0 of" not in tables.one_line(results, targets(results))


@pytest.mark.parametrize("bound", ["at most", "at least"])
def test_nan_keeps_no_promise(bound):
    assert not Target("x", math.nan, bound, 1.0).met
    assert not Target("x", None, bound, 1.0).met


def test_one_run_proves_nothing_about_compilation():
    results = run()
    results.measurements[0] = replace(results.measurements[0], later_s=[], peak_mb=None)
    missed = {target.what for target in targets(results) if not target.met}
    assert missed >= {"(8, 8) compilation", "(8, 8) memory"}


def test_small_tables_are_promised_nothing_but_compilation():
    assert [t.what for t in targets(run((4, 10)))][:1] == ["(4, 10) compilation"]


def test_the_last_line_has_the_ratios():
    assert tables.one_line(run(), targets(run())) == (
        "(8,8) 3.9× floor, NumPy 10.0×, masks 3.4× floor · all 9 targets met"
    )
    missed = run(mask=7.0)
    assert tables.one_line(missed, targets(missed)).endswith("masks 7.0× floor · 1 of 9 targets missed")


def test_the_bytes_are_those_of_the_tables():
    for size in ((2, 5), (3, 4), (1, 3)):
        assert tables_bytes(*size) == factorized(*size).bytes


def test_the_best_bandwidth_counts():
    results = Results(US)
    results.faster({"numpy": 3.0, "jax": 1.0})
    results.faster({"numpy": 2.0, "jax": 4.0})
    assert results.bandwidth == {"numpy": 3.0, "jax": 4.0}
    assert results.floor_s((2, 1)) == 3 * 8 * 2 / 4.0


def test_results_are_written_as_data(tmp_path):
    results = run()
    results.write(tmp_path / "results.json")
    data = json.loads((tmp_path / "results.json").read_text())
    assert data["schema"] == SCHEMA
    assert [Measurement(**one) for one in data["measurements"]] == results.measurements
    assert data["floors"] == [
        {"vocab": 8, "length": 8, "bytes": tables_bytes(8, 8), "seconds": tables_bytes(8, 8) / 2e10}
    ]
    assert data["machine"]["cores"] >= 1
    assert {"python", "numpy", "jax"} <= data["versions"].keys()
