"""The first two prefixes of one length that refute a claim about laws, without enumerating the prefixes."""

from collections.abc import Callable, Iterator, Sequence

from factorcomp.certificates.product import TooManyStatesError

MOST_VISITS = 1_000_000
Table = Sequence[Sequence[int | None]]
Pair = tuple[int, int]


def first_pair(
    left: Table, right: Table, forced: Sequence[bool], fails: Callable[[Pair], bool]
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The first words of the length `len(forced)`, equal where `forced`, to states that fail: first by the left one.

    **Arguments:** `left`, `right`: the states after each letter, `None` where it is impossible; both start in state 0.

    **Raises** `TooManyStatesError` where too many pairs of states would have to be visited.
    """

    def after(pair: Pair, t: int) -> Iterator[tuple[int, int, Pair]]:
        for a, n in enumerate(left[pair[0]]):
            for b, m in ((a, right[pair[1]][a]),) if forced[t] else enumerate(right[pair[1]]):
                if n is not None and m is not None:
                    yield a, b, (n, m)

    length = len(forced)
    levels, visits = [{(0, 0)}], 0
    for t in range(length):
        levels.append({then for pair in levels[t] for _, _, then in after(pair, t)})
        visits += len(levels[-1])
        if visits > MOST_VISITS:
            raise TooManyStatesError(f"got more than {MOST_VISITS} pairs of states, needed at most these")
    good = [{pair for pair in levels[length] if fails(pair)}]
    for t in reversed(range(length)):
        good.append({pair for pair in levels[t] if any(then in good[-1] for _, _, then in after(pair, t))})
    good.reverse()
    if not good[0]:
        return None
    first, now, mine = [], {(0, 0)}, [{(0, 0)}]
    for t in range(length):
        letter = min(a for pair in now for a, _, then in after(pair, t) if then in good[t + 1])
        now = {then for pair in now for a, _, then in after(pair, t) if a == letter and then in good[t + 1]}
        first.append(letter)
        mine.append(now)
    for t in reversed(range(length)):
        follow = [(pair, {then for a, _, then in after(pair, t) if a == first[t]}) for pair in mine[t]]
        mine[t] = {pair for pair, ways in follow if ways & mine[t + 1]}
    second, here = [], (0, 0)
    for t in range(length):
        letter, here = min((b, then) for a, b, then in after(here, t) if a == first[t] and then in mine[t + 1])
        second.append(letter)
    return tuple(first), tuple(second)
