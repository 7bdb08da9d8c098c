"""What is timed: an engine of ours or a peer, as functions from a case to an answer.

An answer names what was computed; an engine that cannot compute a thing leaves it out. Two tasks:

`survey`, the pass over all conditionals:

| answer | is |
|---|---|
| `projective` | for each expert the total variation between composition and expert on the expert's mask |
| `active` | for each expert how many prefixes it is active at: it deviates there or before, and there or later |
| `conflict` | the probability that a path of the composition meets a prefix where both are active |
| `first` | the first such prefix, as length and index; `None` where there is none |

`masks`, the check whether the conditionals factorize over the masks:

| answer | is |
|---|---|
| `factorized` | the background's blocks are independent, and each expert changes its own block alone (theory.md 2.1) |
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import metadata, util
from typing import Any, Literal

from benchmarks.workloads import Case

Task = Literal["survey", "masks"]
TASKS: tuple[Task, ...] = ("survey", "masks")
Answer = Mapping[str, Any]
TOLERANCE = 1e-9
"""Up to which total variations and probabilities of two engines agree; both sum at most 2^24 products in float64."""


@dataclass(frozen=True)
class Engine:
    """One row of the tables.

    **Fields:** `imports`, `packages`: the modules it needs, and the distributions whose versions are noted. `prepare`:
    brings a case into the engine's own form; not timed with the tasks, its time is a column. `tasks`: from that form to
    an answer. `how`: what it computes, and how, in a few words. `largest`: the most sequences it is asked about.
    """

    name: str
    imports: tuple[str, ...]
    packages: tuple[str, ...]
    prepare: Callable[[Case], Any]
    tasks: Mapping[Task, Callable[[Any], Answer]]
    how: str
    largest: int = 1 << 62

    def missing(self) -> str | None:
        """Why it cannot run here: the modules that are not installed."""
        absent = [name for name in self.imports if not _exists(name)]
        return f"not installed: {', '.join(absent)}" if absent else None

    def declines(self, vocab: int, length: int) -> str | None:
        """Why it is not asked about tables of this size."""
        return f"asked up to {self.largest:,} sequences" if vocab**length > self.largest else None

    def versions(self) -> dict[str, str]:
        """The installed versions of its packages."""
        return {name: version for name in self.packages if (version := installed(name))}


def installed(package: str) -> str | None:
    """The version of a distribution, `None` where it is not installed (but may be on the path)."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _exists(module: str) -> bool:
    try:
        return util.find_spec(module) is not None
    except ModuleNotFoundError:  # of a package that is not there itself
        return False


def differences(found: Answer, expected: Answer) -> list[str]:
    """Where two answers, of the things that both name, are not equal: one line each. Nothing in common is one too."""
    common = [name for name in expected if name in found]
    if not common:
        return [f"nothing to compare: {sorted(found)} and {sorted(expected)}"]
    unequal = [name for name in common if not _agree(found[name], expected[name])]
    return [f"{name}: {found[name]}, expected {expected[name]}" for name in unequal]


def _agree(found: Any, expected: Any) -> bool:
    if isinstance(expected, list | tuple):
        same_length = isinstance(found, list | tuple) and len(found) == len(expected)
        return same_length and all(_agree(one, other) for one, other in zip(found, expected, strict=True))
    if isinstance(expected, float):
        return isinstance(found, float) and abs(found - expected) <= TOLERANCE
    return type(found) is type(expected) and found == expected
