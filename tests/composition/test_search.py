"""The search through combinations of states against a plain one, whatever the combinations are looked up by."""

from collections import deque

import numpy as np
import pytest

from factorcomp.composition.search import DENSE, breadth_first
from factorcomp.models.finite_state import NOWHERE

TOKENS = 3


def after(members: tuple[int, ...], token: int) -> tuple[int, ...] | None:
    """Two counters, each with its token; the third token ends the second, where the first is small."""
    x, y = members
    if token == 0:
        return (x + 1) % 5, y
    if token == 1:
        return None if y == NOWHERE else (x, (2 * y + 1) % 11)
    return (x, NOWHERE) if x < 2 else None


def plainly(start: tuple[int, ...], depth: int | None) -> dict[tuple[int, ...], tuple[int, ...]]:
    """The combinations in the order found, each with its first prefix."""
    found, queue = {start: ()}, deque([start])
    while queue:
        members = queue.popleft()
        for token in range(TOKENS):
            longer = after(members, token)
            if longer is not None and longer not in found and len(found[members]) != depth:
                found[longer] = (*found[members], token)
                queue.append(longer)
    return found


def expand(frontier: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    leads, places = np.zeros((frontier.shape[1], TOKENS), bool), np.full((2, frontier.shape[1], TOKENS), 0)
    for n, members in enumerate(frontier.T.tolist()):
        for token in range(TOKENS):
            longer = after(tuple(members), token)
            if longer is not None:
                leads[n, token], places[:, n, token] = True, longer
    return leads, places


@pytest.mark.parametrize("depth", [None, 0, 1, 3])
@pytest.mark.parametrize("size", [11, DENSE, 2**40])
def test_all_combinations_with_their_first_prefixes(size, depth):
    """In a table, in a dictionary of numbers, and of bytes where 64 bits do not number them."""
    found = breadth_first((0, 0), (size, size), expand, depth=depth)
    truth = plainly((0, 0), depth)
    combinations = [tuple(members) for members in found.members.T.tolist()]
    assert combinations == [*truth]
    assert [found.tokens(n) for n in range(len(found))] == [*truth.values()]
    assert found.depth.tolist() == [*map(len, truth.values())]
    for n, members in enumerate(combinations):
        for token, place in enumerate(found.next[n].tolist()):
            longer = after(members, token)
            assert place == (NOWHERE if longer not in truth else combinations.index(longer))
