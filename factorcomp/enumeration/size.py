"""How much a complete enumeration takes, and the refusal before anything is allocated."""

import math

from factorcomp.models import memory


def count_prefixes(vocab: int, length: int) -> int:
    """`1 + V + … + V^(T-1)`: the number of prefixes shorter than `length`."""
    return length if vocab == 1 else (vocab**length - 1) // (vocab - 1)


def require_room(vocab: int, length: int, experts: int) -> None:
    """Raises `InputError`, with the size it would take, where the level-wise enumeration does not fit into memory.

    A sequence (and as many prefixes again) takes one float per model and per law, and about eight more.
    """
    counted = min(length, math.ceil(690 / math.log(vocab))) if vocab > 1 else length  # 10^300 is enough to refuse
    prefixes = count_prefixes(vocab, counted)
    needed = 8 * (vocab**counted + prefixes) * (2 * experts + 8)
    number = f"{prefixes:,}" if prefixes < 10**12 else f"{prefixes:.3g}" if counted == length else "more than 1e299"
    memory.require(needed, f"length {length}", f"the enumeration of {number} prefixes over {vocab} tokens")
