"""The streaming engine says what the level-wise one says, and what the definitions say, wherever the tree is cut."""

import math
import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from factorcomp.certificates.claims import Findings
from factorcomp.factorization.decision import decide_from
from factorcomp.models.rows import FloatRows
from factorcomp.models.tabular import TabularModel
from factorcomp.streaming import plan as plans
from factorcomp.streaming import suits, survey
from factorcomp.surveys import Survey
from tests.strategies import STRUCTURES, Instance, random_instance
from tests.streaming.eager import without_compiling
from tests.streaming.tables import differences, random_tables
from tests.subjects import by_definition
from tests.test_engines_agree import disagreements

CUTS = [(1, 1, 1), (2, 1, 4), (2, 2, 1), (4, 4, 64), (9, 2, 10**4), (4, 1, 10**4), (1, 9, 64), (10**3, 16, 10**4)]
"""Leaves below a head, lanes, and numbers of a stretch: every seam falls everywhere, or there is none."""


def cut(monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    """Trees are cut in the `n`-th way."""
    leaves, lanes, numbers = CUTS[n % len(CUTS)]
    monkeypatch.setattr(plans.plan, "__defaults__", (leaves,))
    monkeypatch.setattr(plans, "LANES", lanes)
    monkeypatch.setattr(plans, "NUMBERS", numbers)


@pytest.mark.parametrize("part", range(8))
def test_streaming_agrees_with_levels(part: int, monkeypatch: pytest.MonkeyPatch):
    """All fields of a survey, for tables of every kind and questions with every option."""
    without_compiling(monkeypatch)
    defined = 0
    for seed in range(40 * part, 40 * (part + 1)):
        cut(monkeypatch, seed)
        tables = random_tables(seed)
        expected = tables.by_level()
        found = survey(tables.background, tables.experts, tables.question)
        assert differences(found, expected, tables.question) == [], (seed, tables.question)
        defined += expected.undefined.first is None
    assert defined > 5
