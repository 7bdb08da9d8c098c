"""The streaming engine says what the level-wise one says, and what the definitions say, wherever the tree is cut."""

import math
import os
import random
import subprocess
import sys
import tempfile
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from factorcomp.certificates.claims import Findings, Question, Spans
from factorcomp.composition.precision import float64
from factorcomp.enumeration.tree import spans
from factorcomp.factorization.decision import decide_from
from factorcomp.models.rows import FloatRows
from factorcomp.models.tabular import TabularModel
from factorcomp.streaming import plan as plans
from factorcomp.streaming import suits, summary, survey
from factorcomp.streaming.tables import _on as on_device
from factorcomp.streaming.tables import part
from factorcomp.surveys import Survey
from tests.strategies import STRUCTURES, Instance, random_instance
from tests.streaming.eager import without_compiling
from tests.streaming.tables import Recipe, Tables, differences, random_tables, shifted
from tests.subjects import by_definition
from tests.test_engines_agree import disagreements

ROOT = Path(__file__).resolve().parents[2]
CUTS = [(1, 1, 1), (2, 1, 4), (2, 2, 1), (4, 4, 64), (9, 2, 10**4), (4, 1, 10**4), (1, 9, 64), (10**3, 16, 10**4)]
"""Leaves below a head, lanes, and numbers of a stretch: every seam falls everywhere, or there is none."""


def cut(monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    """Trees are cut in the `n`-th way."""
    cut_into(monkeypatch, *CUTS[n % len(CUTS)])


def cut_into(monkeypatch: pytest.MonkeyPatch, leaves: int, lanes: int, numbers: int) -> None:
    """Trees are cut into heads with so many leaves, visited so many at a time, so many numbers a call."""
    monkeypatch.setattr(summary, "plan", partial(plans.plan, leaves=leaves))
    monkeypatch.setattr(plans, "LANES", lanes)
    monkeypatch.setattr(plans, "NUMBERS", numbers)


@pytest.mark.parametrize("part", range(8))
def test_streaming_agrees_with_levels(part: int, monkeypatch: pytest.MonkeyPatch):
    """All fields of a survey, for tables of every kind and questions with every option."""
    without_compiling(monkeypatch)
    defined = 0
    for seed in range(12 * part, 12 * (part + 1)):
        cut(monkeypatch, seed)
        tables = random_tables(seed)
        expected = tables.by_level()
        found = survey(tables.background, tables.experts, tables.question)
        assert differences(found, expected, tables.question) == [], (seed, tables.question)
        defined += expected.undefined.first is None
    assert defined >= 4


def with_proportions(instance: Instance, name: str, rng: random.Random) -> TabularModel:
    """A model of an instance in floats that say exactly the same: integers in the proportions of each row.

    Some rows are doubled, so that equal distributions have different numbers.
    """
    steps = []
    for step in instance.model(name):
        rows = []
        for row in step:
            common = math.lcm(*(cell.denominator for cell in row)) * rng.choice([1, 1, 1, 2])
            rows.append([float(cell * common) for cell in row])
        steps.append(FloatRows(np.array(rows), "probs"))
    return TabularModel(instance.vocabulary, tuple(steps), instance.eos)


def by_streaming(instance: Instance) -> Findings | None:
    """The findings of the streaming engine, with the sets of prefixes that only `who` can tell of; `None`: no tables
    for it."""
    rng = random.Random(0)
    background = with_proportions(instance, "background", rng)
    experts = {name: with_proportions(instance, name, rng) for name in instance.experts}
    if not instance.question.horizon or not suits((background, *experts.values()), instance.question):
        return None
    seen = survey(background, experts, instance.question)
    if seen.who is not None:
        seen = replace(seen, deviating=_spans(seen, instance, 0), active=_spans(seen, instance, 1))
    return decide_from(seen, background, experts, instance.question)


def _spans(seen: Survey, instance: Instance, which: int) -> tuple[tuple[Spans, ...], ...]:
    """By expert and length, the prefixes at which it deviates (0) or is active (1)."""
    assert seen.who is not None
    levels = []
    for length in range(instance.question.horizon):
        who = [seen.who(length, index)[which] for index in range(len(instance.vocabulary) ** length)]
        levels.append([[i in experts for experts in who] for i in range(len(instance.experts))])
    return tuple(tuple(spans(np.array(level[i])) for level in levels) for i in range(len(instance.experts)))


@pytest.mark.parametrize("structure", STRUCTURES)
def test_streaming_agrees_with_the_definitions(structure: str, monkeypatch: pytest.MonkeyPatch):
    """Verdicts, witnesses, measures, sets of prefixes: by brute force in fractions, of the very same models."""
    without_compiling(monkeypatch)
    rng, compared = random.Random(structure), 0
    for n in range(8):
        cut(monkeypatch, n)
        instance = random_instance(rng, structures=[structure], cap=64)
        if (found := by_streaming(instance)) is not None:
            assert disagreements(found, by_definition(instance)) == [], instance
            compared += 1
    assert compared >= 5


def test_a_difference_is_seen():
    """The comparison can fail: the same tables under another question."""
    tables = Tables(*Recipe(2, 4, 2, zeros=False).models(np.random.default_rng(0)), Question(4))
    seen = tables.by_level()
    other = replace(tables, question=replace(tables.question, threshold=Fraction(1, 2)))
    assert differences(seen, seen, tables.question) == []
    assert differences(other.by_level(), seen, tables.question)


def read_only(values: np.ndarray) -> np.ndarray:
    copy = shifted(values, 3)
    copy.flags.writeable = False
    return copy


def mapped(values: np.ndarray) -> np.ndarray:
    """On disk, behind a header of 8 bytes."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"8 bytes." + values.tobytes())
        file.flush()
        return np.memmap(file.name, values.dtype, "r", offset=8, shape=values.shape)


LAYOUTS = {
    "at a multiple of 64 bytes": lambda values: shifted(values, 0),
    "one number later": lambda values: shifted(values, 1),
    "one number before": lambda values: shifted(values, 64 // values.itemsize - 1),
    "token by token": np.asfortranarray,
    "every other number": lambda values: np.repeat(values, 2, axis=1)[:, ::2],
    "read-only": read_only,
    "on disk": mapped,
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_numbers_may_lie_anywhere(layout: str, monkeypatch: pytest.MonkeyPatch):
    """The first block is read from its copy where the numbers do not start at a multiple of 64 bytes."""
    without_compiling(monkeypatch)
    for n, scale in enumerate(["probs", "logits"]):
        cut(monkeypatch, n + 2)
        recipe = Recipe(2, 6, 2, scale, dtype=[np.float64, np.float32][n])
        tables = Tables(*recipe.models(np.random.default_rng(n)), Question(6, null_tokens="drop"))
        elsewhere = tables.laid_out(LAYOUTS[layout])
        found = survey(elsewhere.background, elsewhere.experts, elsewhere.question)
        assert found.undefined.first is None
        assert differences(found, tables.by_level(), tables.question) == []


@pytest.mark.parametrize("by", [0, 1, 7])
def test_parts_of_a_table_in_jax(by: int):
    """Every block is the one of the table, in place or from its copy; also where a block is shorter than 64 bytes."""
    import jax

    for block in (2, 8, 32):
        values = shifted(np.arange(64.0).reshape(-1, 2), by)
        with float64():
            table = on_device(jax.local_devices()[0], values, block)
            read = jax.jit(part, static_argnums=(2, 3))
            blocks = [np.asarray(read(table, start, block, 64)) for start in range(0, 64, block)]
        assert np.concatenate(blocks).tolist() == list(range(64))


ONE_PLAN = Question(5, masks={"e0": (0, 4)})
"""Programs are compiled for each plan and shape: tables of one shape under one question share them."""


def test_compiled_programs_agree_with_levels(monkeypatch: pytest.MonkeyPatch):
    """JAX's own arithmetic, with overlaps (`tv_local_global`), marginals, several stretches and threads."""
    cut_into(monkeypatch, 4, 2, 16)
    apart = 0.0
    for seed in range(5):
        recipe = Recipe(2, 5, 2, own=0.3, zeros=seed % 2 == 1)
        tables = Tables(*recipe.models(np.random.default_rng(seed)), ONE_PLAN).laid_out(lambda x: shifted(x, 0))
        expected = tables.by_level()
        found = survey(tables.background, tables.experts, tables.question)
        assert differences(found, expected, tables.question) == [], seed
        apart = max(apart, expected.tv_local_global)
    assert apart > 0


SEVERAL_DEVICES = """
import jax, numpy as np
from dataclasses import replace
from functools import partial
from factorcomp.streaming import plan as plans, summary, survey
from factorcomp.streaming.workers import Workers
from tests.streaming.tables import Recipe, Tables, differences, shifted
from tests.streaming.test_engine import ONE_PLAN

used = set()
device = Workers.device.fget
Workers.device = property(lambda self: used.add(device(self)) or device(self))
summary.plan, plans.LANES, plans.NUMBERS = partial(plans.plan, leaves=4), 2, 16
models = Recipe(2, 5, 2, own=0.3).models(np.random.default_rng(1))
tables = Tables(*models, replace(ONE_PLAN, masks=None)).laid_out(lambda values: shifted(values, 0))
found = survey(tables.background, tables.experts, tables.question)
print(len(jax.local_devices()), len(used), differences(found, tables.by_level(), tables.question))
"""


def test_several_devices_agree_with_levels():
    """Two of them, each with its own tables and programs."""
    environment = os.environ | {"XLA_FLAGS": "--xla_force_host_platform_device_count=2", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", SEVERAL_DEVICES], capture_output=True, text=True, env=environment, cwd=ROOT, check=False
    )
    assert done.stdout.split(" ", 2)[::2] == ["2", "[]\n"], done.stderr
    assert int(done.stdout.split()[1]) == min(2, os.cpu_count() or 1)
