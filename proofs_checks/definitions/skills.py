"""Deviation, activity and switching: theory.md 0.1, 3.3, 3.6, 4.1, 4.4."""

from collections.abc import Collection, Iterable, Mapping

from factorcomp.testing.families import Family
from proofs_checks.definitions.laws import Kernel, Prefix, sequences


def deviating(expert: Kernel, background: Kernel, scope: Iterable[Prefix]) -> set[Prefix]:
    """`Dev_i = {h in R: p_i(.|h) != p_b(.|h)}`."""
    return {prefix for prefix in scope if expert[prefix] != background[prefix]}


def canonical_times(deviations: Collection[Prefix], size: int, length: int) -> Mapping[Prefix, tuple[int, int]]:
    """`σ_1*, σ_2*` of Definition 3.3 on every sequence."""
    alive = {prefix[:step] for prefix in deviations for step in range(len(prefix) + 1)}
    times = {}
    for path in sequences(size, length):
        start = min((step for step in range(length) if path[:step] in deviations), default=length)
        exit_ = min((step for step in range(length) if path[:step] not in alive), default=length)
        times[path] = (start, max(start, exit_))
    return times


def active(deviations: Collection[Prefix], size: int, length: int) -> set[Prefix]:
    """`Act_i`, path by path: `h` is active iff `σ_1* <= |h| < σ_2*` on the paths through `h`."""
    times = canonical_times(deviations, size, length)
    return {path[:step] for path, (start, stop) in times.items() for step in range(start, stop)}


def runs(deviations: Collection[Prefix], size: int, length: int) -> int:
    """The most separate runs of deviating prefixes on a path (3.6)."""
    most = 0
    for path in sequences(size, length):
        marks = [path[:step] in deviations for step in range(length)]
        most = max(most, sum(mark and not before for before, mark in zip([False, *marks], marks, strict=False)))
    return most


def pointwise_joint(sets: Iterable[Collection[Prefix]]) -> bool:
    """Whether no prefix lies in two of the sets: JF-pt of deviations, JF-int of activities (4.1, 4.2)."""
    seen: set[Prefix] = set()
    for one in sets:
        if seen & set(one):
            return False
        seen |= set(one)
    return True


def switching(family: Family, scope: Iterable[Prefix]) -> Kernel:
    """The switching model under JF-pt: the sole deviator's kernel, the background's where none deviates (section 4)."""
    kernel = dict(family.background)
    for prefix in scope:
        for expert in family.experts:
            if expert[prefix] != family.background[prefix]:
                kernel[prefix] = expert[prefix]
    return kernel
