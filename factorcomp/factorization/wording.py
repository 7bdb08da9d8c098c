"""Prefixes and tokens in a sentence."""

from collections.abc import Sequence


def quoted(tokens: Sequence[str]) -> str:
    """The tokens of a prefix as a person would write them.

    >>> print(quoted(()), quoted(("a", "b")), quoted(("<s>",)), sep="; ")
    the empty prefix; 'a b'; '<s>'
    """
    return repr(" ".join(tokens)) if tokens else "the empty prefix"


def listed(names: Sequence[str]) -> str:
    """
    >>> listed(["up"]), listed(["up", "down"]), listed(["a", "b", "c"])
    ('up', 'up and down', 'a, b and c')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else "none"
