"""What does not fit is refused, with its size."""

import resource

import pytest

from factorcomp.models import memory
from factorcomp.models.errors import InputError


def test_more_than_there_is_is_refused_with_both_sizes(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 2_000_000)
    memory.require(2_000_000, "base.json", "this table")
    with pytest.raises(InputError, match=r"base\.json: this table takes 2\.5 GB; there are 2 MB of memory"):
        memory.require(2_500_000_000, "base.json", "this table")


def test_a_system_that_says_nothing_refuses_nothing(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: None)
    memory.require(10**300, "base.json", "this table")


def test_the_least_of_the_limits_counts(monkeypatch):
    assert 0 < memory.available() < 10**15
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1, 1))
    assert memory.available() == 0
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert memory.available() > 0
