"""Every prefix up to the horizon: what is reachable, who deviates where, and the laws, computed when asked."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, reduce
from itertools import pairwise
from operator import mul, or_

from factorcomp.certificates.claims import Positions, Question, Spans, Tokens
from factorcomp.certificates.documents import KernelError
from factorcomp.certificates.enclosure import Value, total
from factorcomp.certificates.models import Model
from factorcomp.certificates.rows import Row
from factorcomp.certificates.setting import Setting, check_options
from factorcomp.certificates.step import Step

Progress = Callable[[int, int], None]
Levels = list[list[Value]]


class Tree:
    """The prefixes of length 0 to T-1 in vocabulary order: `steps[t][h]`, and what is said of them as `[t][h]` too.

    **Fields:** `experts`: their names. `exact`: whether all numbers are fractions. `reach`: R^ of Definition 1.1, up to
    length T. `scope`: the prefixes in scope. `deviating`, `active`: the experts, as bits.
    """

    def __init__(
        self, background: Model, experts: Mapping[str, Model], question: Question, progress: Progress | None = None
    ) -> None:
        _check_question(background, experts, question)
        vocabulary, eos = background.vocabulary, background.eos
        models = [background, *(model.aligned(vocabulary, eos, name) for name, model in experts.items())]
        setting = Setting(question, tuple(experts), len(vocabulary), [model.scale for model in models])
        self.question, self.experts, self.names = question, setting.experts, setting.names
        self.vocabulary, self.eos, self.size, self.length = vocabulary, eos, len(vocabulary), question.horizon
        self.exact, self.zero, self.one = setting.exact, setting.zero, setting.one
        self.steps: list[list[Step]] = []
        count = sum(self.size**t for t in range(self.length))
        for t in range(self.length):
            self.steps.append([])
            for h in range(self.size**t):
                read = tuple(setting.read(m, model.steps[t][h]) for m, model in enumerate(models))
                self.steps[t].append(setting.step(read))
                if progress and not h % 256:
                    progress((self.size**t - 1) // max(self.size - 1, 1) + h, count)
        if progress:
            progress(count, count)
        self.reach = self.reachable(lambda step: step.support)
        everything = question.scope == "all"
        self.scope = [[everything or inside for inside in level] for level in self.reach[: self.length]]

    def tokens(self, t: int, h: int) -> Tokens:
        """The prefix with index `h` among those of length `t`."""
        return tuple(self.vocabulary[h // self.size**position % self.size] for position in reversed(range(t)))

    def prefixes(self) -> Iterator[tuple[int, int, Step]]:
        """The prefixes in scope, the shorter first, then in vocabulary order."""
        for t, steps in enumerate(self.steps):
            yield from ((t, h, step) for h, step in enumerate(steps) if self.scope[t][h])

    @cached_property
    def reached(self) -> set[Step]:
        """What happens at the prefixes in R^, each thing once."""
        levels = zip(self.steps, self.reach[: self.length], strict=True)
        return {step for level in levels for step, inside in zip(*level, strict=True) if inside}

    def reachable(self, support: Callable[[Step], Sequence[bool]]) -> list[list[bool]]:
        """Whether each prefix of length 0 to T is possible when `support` says which token may follow."""
        levels = [[True]]
        for steps in self.steps:
            levels.append([r and y for r, step in zip(levels[-1], steps, strict=True) for y in support(step)])
        return levels

    def law(self, row: Callable[[Step], Row], domain: list[list[bool]] | None = None) -> Levels:
        """The product of the kernels along each prefix of length 0 to T; 0 below the first one outside `domain`."""
        levels, nothing = [[self.one]], [self.zero] * self.size
        for t, steps in enumerate(self.steps):
            wanted = [bool(p) and (domain is None or domain[t][h]) for h, p in enumerate(levels[-1])]
            rows = [row(step).probabilities if yes else nothing for yes, step in zip(wanted, steps, strict=True)]
            levels.append([p * q if q else q for p, kernel in zip(levels[-1], rows, strict=True) for q in kernel])
        return levels

    @cached_property
    def composition(self) -> Levels:
        """The law of the composition, `P^`, at each prefix of length 0 to T."""
        return self.law(lambda step: step.composition)

    def probability(self, t: int, h: int) -> Value:
        """`P^` of one prefix, without that of all others."""
        path = [h // self.size ** (t - s) for s in range(t + 1)]
        if not self.reach[t][h]:
            return self.zero
        factors = (self.steps[s][path[s]].composition.probabilities[path[s + 1] % self.size] for s in range(t))
        return reduce(mul, factors, self.one)

    def component(self, index: int) -> Levels:
        """The law of the background (0) or of an expert (from 1)."""
        return self.law(lambda step: step.rows[index])

    def at_fault(self, t: int, h: int) -> int:
        """The experts that deviate at one prefix in scope, as bits."""
        return self.deviating[t][h]

    @cached_property
    def deviating(self) -> list[list[int]]:
        """The experts that deviate at each prefix in scope, as bits."""
        levels = zip(self.steps, self.scope, strict=True)
        return [[step.deviating if inside else 0 for step, inside in zip(*level, strict=True)] for level in levels]

    @cached_property
    def active(self) -> list[list[int]]:
        """The experts that are active at each prefix in scope (Definition 3.3): begun, and able to deviate again."""
        begun, alive, above, below = [], [], [0], [0] * self.size**self.length
        for level in self.deviating:
            begun.append([a | d for a, d in zip(above, level, strict=True)])
            above = [b for b in begun[-1] for _ in range(self.size)]
        for level in reversed(self.deviating):
            below = [reduce(or_, self.children(below, h), d) for h, d in enumerate(level)]
            alive.append(below)
        return [[b & a for b, a in zip(*level, strict=True)] for level in zip(begun, reversed(alive), strict=True)]

    def children(self, level: Sequence, h: int) -> Sequence:
        """The entries of a level that belong to the extensions of the prefix with index `h`."""
        return level[h * self.size : (h + 1) * self.size]

    def meets(self, bad: Callable[[int, int], bool]) -> Value | None:
        """The probability that a path of the composition meets a prefix in scope for which `bad(t, h)`."""
        found, met = [], [False]
        for t in range(self.length):
            now = [self.scope[t][h] and bad(t, h) for h in range(len(met))]
            found += [(t, h) for h, (before, hit) in enumerate(zip(met, now, strict=True)) if hit and not before]
            met = [before or hit for before, hit in zip(met, now, strict=True) for _ in range(self.size)]
        return total((self.probability(t, h) for t, h in found), self.zero)

    def ended(self, t: int, h: int) -> bool:
        """Whether a reachable prefix has ended, with EOS."""
        return t > 0 and self.vocabulary[h % self.size] == self.eos


def spans(flags: Sequence[int | bool]) -> Spans:
    """The true stretches of a level as half-open ranges of indices."""
    edges = [h for h, (before, now) in enumerate(pairwise([0, *flags, 0])) if bool(before) != bool(now)]
    return tuple(zip(edges[::2], edges[1::2], strict=True))


def _check_question(background: Model, experts: Mapping[str, Model], question: Question) -> None:
    """Raises `KernelError` for a question that these models cannot be asked."""
    length = question.horizon
    for name, model in (("background", background), *experts.items()):
        if not 0 <= length <= model.horizon:
            raise KernelError(f"{name}: got a horizon of {model.horizon}, needed the length {length}")
    check_options(question, experts)
    masks = given_masks(question)
    owned = sorted(position for mask in masks.values() for position in mask)
    if len(set(owned)) < len(owned) or any(list(mask) != sorted(mask) for mask in masks.values()):
        raise KernelError("got masks that overlap or do not increase, needed disjoint increasing positions")
    if owned and not 0 <= owned[0] <= owned[-1] < length:
        raise KernelError(f"got masks at {owned[0]} to {owned[-1]}, needed positions from 0 to {length - 1}")


def given_masks(question: Question) -> dict[str, tuple[int, ...]]:
    """The masks of a question with a length, if they are given."""
    masks = question.masks if isinstance(question.masks, Mapping) else {}
    for name, mask in masks.items():
        if isinstance(mask, Positions):
            raise KernelError(f"{name}: got the mask {mask} without an end, needed positions below {question.length}")
    return {name: mask for name, mask in masks.items() if not isinstance(mask, Positions)}
