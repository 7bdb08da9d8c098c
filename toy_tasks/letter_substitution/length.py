"""Which networks generalise from the trained lengths to longer ones?

Tied positions and a window do: what `y_t` needs is at its own position. Positions in the text do not, learned or
rotary: where `x_t` stands relative to `y_t` depends on the length. Without positions the order is hard to know at all.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.progress import Progress

from toy_tasks.letter_substitution.configuration import Configuration
from toy_tasks.letter_substitution.letters import Letters
from toy_tasks.letter_substitution.success import at_lengths, subjects
from toy_tasks.networks import Positions
from toy_tasks.training import Family, train_family

OTHERS: tuple[Positions, ...] = ("rotary", "learned", "none")


def curves(
    configuration: Configuration,
    families: Mapping[str, Family],
    seed: int,
    *,
    progress: Progress | None = None,
    cache: Path | None = None,
) -> dict[str, Any]:
    """Success at the lengths of the configuration, of the families given and of the other architectures."""
    found: dict[str, Any] = {
        name: at_lengths(subjects(family), configuration, seed) for name, family in families.items()
    }
    for positions in OTHERS:
        other = configuration.at(positions)
        family = train_family(
            Letters(), other.shape, other.training, other.names, seed=seed, progress=progress, cache=cache
        )
        found[positions] = at_lengths(subjects(family), other, seed)
    return found
