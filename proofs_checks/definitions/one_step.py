"""Families of one step: a row for the background and one for each expert."""

from collections.abc import Sequence

from factorcomp.testing.drawing import Row
from factorcomp.testing.families import Family, Kernel


def one_step(rows: Sequence[Row]) -> Family:
    """The background's row, then the experts'."""
    background, *experts = rows
    kernels: list[Kernel] = [{(): row} for row in experts]
    return Family(len(background), 1, {(): background}, tuple(kernels))
