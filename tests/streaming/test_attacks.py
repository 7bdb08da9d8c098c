"""Where a streamed tree is easily wrong: what lies in one stretch of many, within rounding, or in a thread."""

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from factorcomp.certificates.claims import Question
from factorcomp.models.rows import FloatRows, Scale
from factorcomp.models.tabular import TabularModel
from factorcomp.streaming import survey
from factorcomp.streaming.engine import Visit
from factorcomp.surveys import Survey
from tests.streaming.tables import Recipe, Tables, differences
from tests.streaming.test_engine import cut_into

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def in_small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trees of many stretches: subtrees of 4 leaves, two at a time."""
    cut_into(monkeypatch, 4, 8)


def compared(tables: Tables) -> Survey:
    """What the streaming engine sees, which is what the level-wise one does."""
    found = survey(tables.background, tables.experts, tables.question)
    assert differences(found, tables.by_level(), tables.question) == []
    return found


def altered(model: TabularModel, step: int, rows: slice | int, row: list[float] | np.ndarray) -> TabularModel:
    """With other numbers at some prefixes."""
    values = model.steps[step].values.copy()
    values[rows] = row
    steps = list(model.steps)
    steps[step] = FloatRows(values, model.steps[step].scale)
    return replace(model, steps=tuple(steps))


def fair(horizon: int, scale: Scale = "probs", vocab: int = 2) -> TabularModel:
    value = 1 / vocab if scale == "probs" else -np.log(vocab)
    steps = tuple(FloatRows(np.full((vocab**t, vocab), value), scale) for t in range(horizon))
    return TabularModel(tuple("abcde"[:vocab]), steps)


@pytest.mark.parametrize("scale", ["probs", "log_probs"])
@pytest.mark.parametrize("threshold", [Fraction(0), Fraction(np.log(2.0)), Fraction(1, 2)])
def test_rows_one_rounding_apart(scale: Scale, threshold: Fraction, monkeypatch: pytest.MonkeyPatch):
    """In most stretches some rows differ by one unit in the last place: decided exactly."""
    decided, exactly = [], Visit._decided
    monkeypatch.setattr(Visit, "_decided", lambda self, models: (exactly(self, models), decided.append(models))[0])
    rng = np.random.default_rng(0)
    background, experts = Recipe(2, 6, 2, scale, own=0.1, zeros=False).models(rng)
    near = background
    for t in (2, 4, 5):
        values = background.steps[t].values.copy()
        some = rng.random(len(values)) < 0.5
        values[some, 1] = np.nextafter(values[some, 1], 1.0)
        doubled = rng.random(len(values)) < 0.3  # proportional rows are one distribution
        values[doubled] = values[doubled] * 2 if scale == "probs" else values[doubled] + 1.0
        near = altered(near, t, slice(None), values)
    seen = compared(Tables(background, {"e0": near, "e1": experts["e1"]}, Question(6, threshold=threshold)))
    assert len(decided) > 8  # floats could not tell in most stretches
    assert seen.who is not None
    for t in range(6):
        rows = [background.steps[t], near.steps[t]]
        for index in range(2**t):
            differ = rows[0].exact(index) != rows[1].exact(index)
            if scale == "probs":  # by proportions
                (a, b), (c, d) = (r.exact(index).factors for r in rows)
                differ = a * d != b * c
            elif differ:
                (a, b), (c, d) = (r.exact(index).shifts for r in rows)
                differ = b - a != d - c
            if not threshold:
                assert (0 in seen.who(t, index)[0]) == differ, (t, index)


@pytest.mark.parametrize("at", [0, 1, 31])
def test_one_odd_prefix_in_one_stretch(at: int):
    """Undefined, dead, or with an infinite ratio: in the first stretch, beside it, in the last one."""
    background = fair(6)
    holed = altered(background, 5, at, [1.0, 0.0])
    other = altered(background, 5, at, [0.0, 1.0])
    for null in ("strict", "cancel", "drop"):
        opened = Tables(holed, {"e0": background, "e1": background}, Question(6, null_tokens=null))
        assert (compared(opened).undefined.first is None) == (null == "drop")
        dead = Tables(background, {"e0": holed, "e1": other}, Question(6, null_tokens=null))
        first = compared(dead).undefined.first
        assert first is not None
        assert (first.length, first.index) == (5, at)
        assert first.probability == 1 / 32
        closed = compared(Tables(background, {"e0": holed, "e1": background}, Question(6, null_tokens=null)))
        assert closed.experts[0].max_oscillation == np.inf


def test_what_lies_below_a_dead_prefix_is_out_of_reach():
    """And is seen all the same with `scope="all"`."""
    background, experts = Recipe(2, 6, 2, own=0.3, zeros=False).models(np.random.default_rng(1))
    cut_off = altered(background, 1, 1, [1.0, 0.0])
    experts = {name: altered(model, 1, 1, [1.0, 0.0]) for name, model in experts.items()}
    experts["e0"] = altered(experts["e0"], 4, 15, [1.0, 0.0])
    experts["e1"] = altered(experts["e1"], 4, 15, [0.0, 1.0])
    assert compared(Tables(cut_off, experts, Question(6))).undefined.first is None
    first = compared(Tables(cut_off, experts, Question(6, scope="all"))).undefined.first
    assert first is not None
    assert (first.length, first.index, first.probability) == (4, 15, 0.0)


@pytest.mark.parametrize("scale", ["probs", "logits"])
def test_zeros_in_tables_of_short_floats(scale: Scale):
    """A zero is a zero, though 1e-290 is one too in 32 bits."""
    recipe = Recipe(2, 6, 2, scale, own=0.2, dtype=np.float32)
    compared(Tables(*recipe.models(np.random.default_rng(5)), Question(6, null_tokens="drop")))


def test_twenty_experts():
    """As many as there are bits for."""
    background = fair(4)
    experts = {f"e{i}": altered(background, i % 4, 0, [0.25, 0.75]) for i in range(20)}
    seen = compared(Tables(background, experts, Question(4)))
    assert seen.overlap is not None
    assert seen.overlap.first is not None
    assert seen.overlap.first.experts == (0, 4, 8, 12, 16)


def test_one_expert_deviates_everywhere():
    """Lemma 1.8: the composition is the expert, in every stretch."""
    background = fair(6)
    lean = [FloatRows(np.tile([0.25, 0.75], (2**t, 1)), "probs") for t in range(6)]
    seen = compared(Tables(background, {"e0": replace(background, steps=tuple(lean))}, Question(6)))
    assert seen.experts[0].deviating == 63
    assert seen.log_normalizer_range == (0.0, 0.0)


def overlapping() -> Tables:
    return Tables(*Recipe(2, 6, 2, own=0.5).models(np.random.default_rng(3)), Question(6, null_tokens="drop"))


def test_an_error_in_a_thread_is_told(monkeypatch: pytest.MonkeyPatch):
    """At once: what has not been begun is not done."""
    began = []

    def broken(self, number: int):
        began.append(number)
        raise MemoryError("no room")

    monkeypatch.setattr(Visit, "_stretch", broken)
    tables, threads = overlapping(), threading.active_count()
    with pytest.raises(MemoryError, match="no room"):
        survey(tables.background, tables.experts, tables.question)
    assert len(began) <= 2 * (os.cpu_count() or 1) + 1
    assert threading.active_count() == threads


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_progress_callback_that_raises_stops_the_work(error: type[BaseException]):
    tables, told, threads = overlapping(), [], threading.active_count()

    def progress(done: int, total: int) -> None:
        told.append((done, total))
        raise error

    with pytest.raises(error):
        survey(tables.background, tables.experts, tables.question, progress)
    assert len(told) == 1
    assert threading.active_count() == threads


def test_progress_grows_to_the_whole():
    tables, told = overlapping(), []
    survey(tables.background, tables.experts, tables.question, lambda done, total: told.append((done, total)))
    assert told[-1][0] == told[-1][1]
    assert {total for _, total in told} == {told[0][1]}


INTERRUPTED = """
import time, numpy as np
from factorcomp.streaming import survey
from factorcomp.streaming.engine import Visit
from tests.streaming.test_attacks import cut_into, overlapping
import pytest
cut_into(pytest.MonkeyPatch(), 4, 8)

def slow(self, number):
    print("began", flush=True)
    time.sleep(0.5)
    raise AssertionError("was not interrupted")

Visit._stretch = slow
tables = overlapping()
try:
    survey(tables.background, tables.experts, tables.question)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c_ends_a_run():
    """As soon as the pieces that were begun are done."""
    command = [sys.executable, "-c", INTERRUPTED]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "began\n"
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert out.splitlines()[-1] == "interrupted"
    assert process.returncode == 0
