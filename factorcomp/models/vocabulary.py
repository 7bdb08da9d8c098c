"""Vocabularies: what is allowed as one, and which prefixes have ended."""

import numpy as np
from jaxtyping import Bool

from factorcomp.models.errors import Problems, shown

NOT_THE_EOS_ROW = (
    "found another token possible after EOS; needed the EOS row, probability 1 for EOS: this prefix has ended"
)


def check_vocabulary(vocabulary: object, eos: object, problems: Problems) -> None:
    """Adds what is wrong: a vocabulary is a list of one token or more, all different; `eos` one of them or `None`."""
    if not isinstance(vocabulary, list | tuple):
        problems.add("vocabulary", f"found {shown(vocabulary)}; needed a list of tokens")
    else:
        if not vocabulary:
            problems.add("vocabulary", "found no token; needed at least one")
        places: dict[str, list[int]] = {}
        for index, token in enumerate(vocabulary):
            if not isinstance(token, str):
                problems.add(f"vocabulary[{index}]", f"found {shown(token)}; needed a token, that is a string")
                continue
            places.setdefault(token, []).append(index)
            if not encodable(token):
                problems.add(
                    f"vocabulary[{index}]", f"found {shown(token)}, half a surrogate pair; needed Unicode text"
                )
        for token, found in places.items():
            if len(found) > 1:
                where = " and ".join(map(str, found[:2])) + (" and more" if len(found) > 2 else "")
                problems.add("vocabulary", f"found {shown(token)} at {where}; needed each token once")
    if eos is not None and not isinstance(eos, str):
        problems.add("eos", f"found {shown(eos)}; needed a token or null")
    elif isinstance(eos, str) and isinstance(vocabulary, list | tuple) and eos not in vocabulary:
        problems.add("eos", f"found {shown(eos)}; needed a token of the vocabulary, or null")


def encodable(token: str) -> bool:
    """Whether this is Unicode text, which a file can hold: no half of a surrogate pair."""
    try:
        token.encode()
    except UnicodeEncodeError:
        return False
    return True


def prefix_count(vocab: int, length: int) -> int | None:
    """`vocab ** length`, or `None` beyond 2^62, which no table holds.

    >>> prefix_count(4, 3), prefix_count(1, 10**6), prefix_count(4, 10**6)
    (64, 1, None)
    """
    return vocab**length if length * (vocab.bit_length() - 1) <= 62 else None


class EndedPrefixes:
    """Which prefixes of a length contain EOS, in the order of their index; to be asked for increasing lengths.

    >>> ended = EndedPrefixes(vocab=2, eos=1)
    >>> ended(0).tolist(), ended(2).tolist()
    ([False], [False, True, True, True])
    """

    def __init__(self, vocab: int, eos: int | None):
        self.eos = eos
        self._is_eos = np.arange(vocab) == (-1 if eos is None else eos)
        self._length = 0
        self._ended = np.zeros(1, dtype=bool)

    def __call__(self, length: int) -> Bool[np.ndarray, " prefixes"]:
        while self._length < length:
            self._ended = (self._ended[:, None] | self._is_eos).reshape(-1)
            self._length += 1
        return self._ended
