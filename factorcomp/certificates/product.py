"""The product of finite-state models: what it reaches, each state once, with the first prefix that leads to it."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

from factorcomp.certificates.automata import Automaton
from factorcomp.certificates.claims import Question, Tokens
from factorcomp.certificates.documents import KernelError
from factorcomp.certificates.enclosure import Value
from factorcomp.certificates.positions import Clock
from factorcomp.certificates.setting import Setting
from factorcomp.certificates.step import Step

MOST_STATES = 500_000
States = tuple[int | None, ...]
Key = TypeVar("Key", bound=Hashable)


class TooManyStatesError(KernelError):
    """A search met more states than it may."""


class Search(Generic[Key]):
    """What can be reached from a start, breadth first.

    States come in the order of the first word that leads to them: the shorter first, then by the place of its letters.

    **Fields:** `keys`: the states. `next[n]`: the places of the successors of `keys[n]`. `depth[n]`: the length of the
    first word to `keys[n]`. `found`: the place of the first state that `wanted` accepts, where the search ends; it ends
    with words of the length `longest`, too.

    **Raises** `TooManyStatesError` beyond `most` states, `MOST_STATES` if not given.
    """

    def __init__(
        self,
        start: Key,
        successors: Callable[[Key], Sequence[Key | None]],
        wanted: Callable[[Key], bool] = lambda key: False,
        most: int | None = None,
        longest: int | None = None,
    ) -> None:
        most = MOST_STATES if most is None else most
        self.keys, self.depth, self.next = [start], [0], []
        self.found = 0 if wanted(start) else None
        self._origin, places = [(0, 0)], {start: 0}
        for n, key in enumerate(self.keys):
            if self.found is not None or self.depth[n] == longest:
                return
            row: list[int | None] = []
            for letter, after in enumerate(successors(key)):
                if after is not None and after not in places:
                    places[after] = len(self.keys)
                    self.keys.append(after)
                    self.depth.append(self.depth[n] + 1)
                    self._origin.append((n, letter))
                    if self.found is None and wanted(after):
                        self.found = places[after]
                row.append(None if after is None else places[after])
            self.next.append(tuple(row))
            if len(self.keys) > most:
                raise TooManyStatesError(f"got more than {most} states, needed at most these")

    def word(self, n: int) -> tuple[int, ...]:
        """The letters of the first word that leads to `keys[n]`."""
        letters = []
        while n:
            n, letter = self._origin[n]
            letters.append(letter)
        return tuple(reversed(letters))

    def before(self, targets: set[int]) -> list[int | None]:
        """How many steps each state is from the nearest of `targets`; `None` where none can be reached."""
        origins: list[list[int]] = [[] for _ in self.keys]
        for n, row in enumerate(self.next):
            for m in set(row):
                if m is not None:
                    origins[m].append(n)
        steps = dict.fromkeys(targets, 0)
        queue = [*steps]
        for m in queue:
            for n in origins[m]:
                if n not in steps:
                    steps[n] = steps[m] + 1
                    queue.append(n)
        return [steps.get(n) for n in range(len(self.keys))]


class Product:
    """The product of background and experts, in scope: every token from every state, or where the composition goes.

    A place `(t, n)` is the state n with its first prefix, of length t. With a `clock`, states at different positions
    of the masks are different.

    **Fields:** `models`: background and experts, their tokens in one order. `keys[n]`: the models' states and the
    clock's. `steps[n]`: what happens there. A broken state has no successors. `ended`: the key's part of the state in
    which the sequence has ended.
    """

    def __init__(
        self, setting: Setting, models: Sequence[Automaton], everything: bool, clock: Clock | None = None
    ) -> None:
        self.setting, self.models, self.everything = setting, models, everything
        self.question, self.experts, self.names = setting.question, setting.experts, setting.names
        self.vocabulary, self.eos, self.zero, self.one = models[0].vocabulary, models[0].eos, setting.zero, setting.one
        self._rows = [[setting.read(m, row) for row in model.kernels] for m, model in enumerate(models)]
        self._leads = [model.leads for model in models]
        self._clock = clock
        nowhere = (None,) * len(self.vocabulary)

        def successors(key: tuple[States, int]) -> Sequence[tuple[States, int] | None]:
            states, now = key
            step = self.step(states)
            if step.broken:
                return nowhere
            then = clock.next[now] if clock else 0
            leads = zip(*(lead[q] for lead, q in zip(self._leads, states, strict=True) if q is not None), strict=True)
            return [(s, then) if y or everything else None for s, y in zip(leads, step.support, strict=True)]

        start: States = tuple(model.initial for model in models)
        self.search = Search((start, 0), successors)
        self.keys, self.next, self.depth = self.search.keys, self.search.next, self.search.depth
        self.steps = [self.step(states) for states, _ in self.keys]

    def step(self, states: States) -> Step:
        """What happens where the models are in these states."""
        return self.setting.step(
            tuple(None if q is None else rows[q] for rows, q in zip(self._rows, states, strict=True))
        )

    def ended(self, n: int) -> bool:
        """Whether the sequence has ended in state n."""
        return self.keys[n][0][0] == self.models[0].ended

    def named(self, n: int) -> tuple[str, ...] | None:
        """The names of the models' states in state n; `None` where the sequence has ended."""
        states = zip(self.models, self.keys[n][0], strict=True)
        return None if self.ended(n) else tuple(model.states[q] for model, q in states if q is not None)

    def prefixes(self) -> Iterator[tuple[int, int, Step]]:
        """The places in scope, the shorter prefixes first, then in vocabulary order."""
        yield from zip(self.depth, range(len(self.keys)), self.steps, strict=True)

    def tokens(self, t: int, n: int) -> Tokens:
        """The first prefix to state n."""
        return tuple(self.vocabulary[y] for y in self.search.word(n))

    def probability(self, t: int, n: int) -> Value:
        """`P^` of the first prefix to state n."""
        return self.mass(self.search.word(n))

    def mass(self, word: Sequence[int]) -> Value:
        """`P^` of a prefix."""
        states: States = self.keys[0][0]
        result = self.one
        for y in word:
            step = self.step(states)
            if step.broken or not step.support[y]:
                return self.zero
            result = result * step.composition.probabilities[y]
            states = tuple(None if q is None else lead[q][y] for lead, q in zip(self._leads, states, strict=True))
        return result

    def at_fault(self, t: int, n: int) -> int:
        """The experts that deviate in state n, as bits."""
        return self.steps[n].deviating

    def meets(self, bad: Callable[[int, int], bool]) -> Value | None:
        """Nothing: that a path ever meets a state takes linear equations, which the kernel does not solve."""
        return None


def product_of(
    background: Automaton, experts: Mapping[str, Automaton], question: Question
) -> tuple[Setting, list[Automaton]]:
    """The setting of a question, and the models, their tokens in the background's order."""
    vocabulary, eos = background.vocabulary, background.eos
    models = [background, *(model.aligned(vocabulary, eos, name) for name, model in experts.items())]
    return Setting(question, tuple(experts), len(vocabulary), [model.scale for model in models]), models
