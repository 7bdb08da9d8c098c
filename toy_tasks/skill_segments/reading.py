"""What stands in a text: its segments, whether each is right, and when the task itself opens and closes them."""

from collections.abc import Sequence
from typing import NamedTuple

from toy_tasks.skill_segments.grammar import EOS, Grammar, Skill


class Segment(NamedTuple):
    """A segment of a text. Times are prefix lengths: how many tokens had been written.

    **Fields:** `opened`: with its trigger. `decided`: before each token that the skill decides. `closed`: with its
    closing bracket; `None` if it never was. `right`: it is closed, and its skill would have said the same.
    """

    kind: Skill
    opened: int
    decided: tuple[int, ...] = ()
    closed: int | None = None
    right: bool = True

    @property
    def interval(self) -> tuple[int, int] | None:
        """The task's own stopping times: from the first token that the skill decides until the segment is closed."""
        return (self.decided[0], self.closed) if self.decided and self.closed is not None else None


class Reading(NamedTuple):
    """The segments of a text in the order of their triggers, and where it leaves the format; `None` if nowhere."""

    segments: tuple[Segment, ...]
    broken: int | None


def read(tokens: Sequence[str], grammar: Grammar) -> Reading:
    """Reads a text, up to EOS or to where it leaves the format: what is open there is wrong.

    >>> first, second = read("( 2 2 1 1 ) [ 0 |".split(), Grammar("plain")).segments
    >>> first
    Segment(kind='round', opened=1, decided=(2, 4), closed=6, right=False)
    >>> second.closed, second.interval
    (None, None)
    """
    state, found, unclosed = grammar.start, list[Segment](), list[int]()
    for length, token in enumerate(tokens):
        broken = token not in grammar.row(state)
        if grammar.skill(state) is not None:
            segment = found[unclosed[-1]]
            right = segment.right and token == grammar.right(state)
            found[unclosed[-1]] = segment._replace(decided=(*segment.decided, length), right=right)
        if broken:
            return Reading(tuple(s if s.closed is not None else s._replace(right=False) for s in found), length)
        if token == EOS:
            break
        following = grammar.next(state, token)
        if (kind := _opened_by(token)) is not None:
            unclosed.append(len(found))
            found.append(Segment(kind, length + 1))
        elif token in (")", "]"):
            place = unclosed.pop()
            found[place] = found[place]._replace(closed=length + 1)
        state = following
    return Reading(tuple(found), None)


def _opened_by(token: str) -> Skill | None:
    return {"(": "round", "[": "square"}.get(token)
