"""The texts of the task, as finite-state models: filler, and segments of two kinds that a trigger opens.

| segment | for instance | what the skill knows |
|---|---|---|
| round | `( 1 1 2 0 )` | after each digit, the sum so far: `s_t = s_{t-1} + d_t` modulo the number of digits |
| square | `[ 0 2 | 2 0 ]` | after the bar, the string in reverse, and when it is complete |

The background knows the format and none of the skills: sums and answers are uniform digits, and after each digit of an
answer it closes with probability 1/2. An expert knows one skill and is the background elsewhere: it deviates where a
sum is due (round), and from the bar to the closing bracket (square). What comes next depends on a finite state, so what
the library proves of these models it proves for texts of every length.

The variants differ in where segments may stand:

| variant | segments | joint factorizability |
|---|---|---|
| `plain` | each kind at most once, one after the other, in any order | intervals disjoint |
| `repeated` | any number of both, one after the other | pointwise: a skill comes back after the other's turn |
| `nested` | one round segment, a square one between its sums | pointwise: the round interval encloses the other |
| `feeding` | one round segment, then `[ … ]` that reverses its last sums | intervals disjoint; the round one feeds |
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple

from factorcomp import FiniteStateModel

Variant = Literal["plain", "repeated", "nested", "feeding"]
Skill = Literal["round", "square"]
VARIANTS: tuple[Variant, ...] = ("plain", "repeated", "nested", "feeding")
SKILLS: tuple[Skill, ...] = ("round", "square")
FILLER, EOS = ".", "E"
HALF = Fraction(1, 2)

Row = dict[str, Fraction]
"""The tokens that can come next, and their probabilities."""


class State(NamedTuple):
    """All that the rest of a text depends on.

    **Fields:** `place`: in the `text` between segments; `opened`, before the first digit of a round segment; after a
    `digit` of it, where a sum is due; after a `sum`; in the `string` of a square segment, or in its `answer`. `total`:
    the sum that was written last. `digit`: to be added to it. `string`: what a square segment is to reverse. `written`:
    how many digits of the answer are there, the longest string's at most. `left`: the kinds that may still be opened.
    """

    place: str = "text"
    total: int = 0
    digit: int = 0
    string: tuple[int, ...] = ()
    written: int = 0
    left: tuple[Skill, ...] = SKILLS

    def __str__(self) -> str:
        string = "".join(map(str, self.string))
        return f"{self.place} {self.total}+{self.digit} '{string}':{self.written} {'/'.join(self.left)}"


@dataclass(frozen=True)
class Grammar:
    """The format: which tokens there are, and where segments may stand.

    **Fields:** `digits`: how many, and the modulus of the sums. `longest`: the longest string. `likely`: the
    probability of the last digit among those to be added; by default all are alike.

    >>> grammar = Grammar("plain", digits=2)
    >>> grammar.vocabulary
    ('0', '1', '(', ')', '[', '|', ']', '.', 'E')
    >>> state = grammar.after("( 1".split())
    >>> grammar.row(state), grammar.right(state)
    ({'0': Fraction(1, 2), '1': Fraction(1, 2)}, '1')
    """

    variant: Variant = "plain"
    digits: int = 3
    longest: int = 2
    likely: Fraction | None = None

    @property
    def numerals(self) -> tuple[str, ...]:
        """The digits as tokens."""
        return tuple(map(str, range(self.digits)))

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The tokens; no bar where the square segments have no string of their own."""
        bar = () if self.variant == "feeding" else ("|",)
        return (*self.numerals, "(", ")", "[", *bar, "]", FILLER, EOS)

    @property
    def start(self) -> State:
        """The state before the first token."""
        return State(left=("round",) if self.variant in ("nested", "feeding") else SKILLS)

    def row(self, state: State) -> Row:
        """What the background says: the tokens that the format allows."""
        match state.place:
            case "text":
                weights = {"(": 3 * ("round" in state.left), "[": 3 * ("square" in state.left), FILLER: 1, EOS: 1}
                return {token: Fraction(weight, sum(weights.values())) for token, weight in weights.items() if weight}
            case "opened":
                return self._added(Fraction(1))
            case "digit":
                return self._any_digit(Fraction(1))
            case "sum":
                if self.variant == "nested" and "square" in state.left:
                    return {**self._added(HALF / 2), ")": HALF / 2, "[": HALF}
                return {**self._added(HALF), ")": HALF}
            case "string" if len(state.string) == self.longest:
                return {"|": Fraction(1)}
            case "string":
                return self._growing(len(state.string), "|")
            case _:
                return self._growing(state.written, "]")

    def _added(self, mass: Fraction) -> Row:
        """A digit to be added, with this probability in all."""
        if self.likely is None:
            return self._any_digit(mass)
        others = (1 - self.likely) / (self.digits - 1)
        shares = dict.fromkeys(self.numerals, others) | {self.numerals[-1]: self.likely}
        return {digit: mass * share for digit, share in shares.items()}

    def _any_digit(self, mass: Fraction) -> Row:
        return dict.fromkeys(self.numerals, mass / self.digits)

    def _growing(self, length: int, end: str) -> Row:
        """One digit or more, after each an end with probability 1/2."""
        return self._any_digit(Fraction(1)) if length == 0 else {**self._any_digit(HALF), end: HALF}

    def skill(self, state: State) -> Skill | None:
        """The skill that decides what comes next; `None` where the format alone does."""
        if state.place == "digit":
            return "round"
        return "square" if state.place == "answer" else None

    def right(self, state: State) -> str:
        """What the skill says where it decides."""
        if state.place == "digit":
            return str((state.total + state.digit) % self.digits)
        rest = state.string[::-1][state.written :]
        return str(rest[0]) if rest else "]"

    def next(self, state: State, token: str) -> State:
        """The state after one token more, which the format must allow."""
        match state.place, token:
            case ("text", "."):
                return state
            case ("text", "("):
                return State("opened", left=self._left(state, "round"))
            case ("text" | "sum", "["):
                place = "answer" if self.variant == "feeding" else "string"
                string = state.string if self.variant == "feeding" else ()
                return State(place, state.total, 0, string, 0, self._left(state, "square"))
            case ("opened" | "sum", digit) if digit in self.numerals:
                return state._replace(place="digit", digit=int(digit))
            case ("digit", digit):
                sums = (*state.string, int(digit))[-self.longest :] if self.variant == "feeding" else ()
                return State("sum", int(digit), 0, sums, 0, state.left)
            case ("sum", ")"):
                feeds = self.variant == "feeding"
                return State("text", string=state.string, left=("square",) if feeds else self._outside(state))
            case ("string", "|"):
                return state._replace(place="answer")
            case ("string", digit):
                return state._replace(string=(*state.string, int(digit)))
            case ("answer", "]"):
                place = "sum" if self.variant == "nested" else "text"
                return State(place, state.total, left=state.left)
            case ("answer", _):
                return state._replace(written=min(state.written + 1, self.longest))
        raise ValueError(f"{token!r} cannot follow where the state is {state}")

    def _left(self, state: State, opened: Skill) -> tuple[Skill, ...]:
        """The kinds of segments that may still be opened after one was."""
        match self.variant, opened:
            case ("repeated", _):
                return SKILLS
            case ("nested", "round"):
                return ("square",)
        return tuple(kind for kind in state.left if kind != opened)

    def _outside(self, state: State) -> tuple[Skill, ...]:
        """The kinds that may still be opened after a round segment; a nested one cannot."""
        return () if self.variant == "nested" else state.left

    def after(self, tokens: Sequence[str]) -> State:
        """The state after these tokens, EOS not among them."""
        state = self.start
        for token in tokens:
            if token not in self.row(state):
                raise ValueError(f"{token!r} cannot follow in {' '.join(tokens)!r}; needed one of {[*self.row(state)]}")
            state = self.next(state, token)
        return state


Slip = Callable[[State], Fraction]
"""The probability that an expert does not say what is right, by the state."""


def never(_: State) -> Fraction:
    """No slip: the skill is perfect."""
    return Fraction(0)


def expert_row(grammar: Grammar, state: State, skill: Skill | None, slip: Slip = never) -> Row:
    """What an expert says: where its skill decides, what is right, but for slips that are uniform; else the background.

    With no skill, the background.

    >>> grammar = Grammar("plain", digits=2)
    >>> expert_row(grammar, grammar.after("[ 0 1 |".split()), "square")
    {'1': Fraction(1, 1)}
    """
    row = grammar.row(state)
    if skill is None or grammar.skill(state) != skill:
        return row
    right, wrong = grammar.right(state), slip(state)
    shares = {token: 1 - wrong if token == right else wrong / (len(row) - 1) for token in row}
    return {token: share for token, share in shares.items() if share}


def states(grammar: Grammar, start: State | None = None) -> Iterator[State]:
    """The states that the format can reach, the nearest first."""
    first = grammar.start if start is None else start
    seen, waiting = {first}, [first]
    while waiting:
        state = waiting.pop(0)
        yield state
        for token in grammar.row(state):
            if token != EOS and (following := grammar.next(state, token)) not in seen:
                seen.add(following)
                waiting.append(following)


def ideal(
    grammar: Grammar, skill: Skill | None = None, slip: Slip = never, prompt: Sequence[str] = ()
) -> FiniteStateModel:
    """The background, or the expert of one skill, as an exact finite-state model; after a prompt, if there is one.

    >>> ideal(Grammar("plain"), "round").vocabulary[-1]
    'E'
    """
    start = grammar.after(prompt)
    described = {
        str(state): {
            "probabilities": expert_row(grammar, state, skill, slip),
            "next": {token: str(grammar.next(state, token)) for token in grammar.row(state) if token != EOS},
        }
        for state in states(grammar, start)
    }
    return FiniteStateModel.from_states(described, grammar.vocabulary, str(start), EOS, skill or "background")


def ideals(grammar: Grammar, prompt: Sequence[str] = ()) -> tuple[FiniteStateModel, dict[str, FiniteStateModel]]:
    """The background and both perfect experts."""
    return ideal(grammar, prompt=prompt), {skill: ideal(grammar, skill, prompt=prompt) for skill in SKILLS}
