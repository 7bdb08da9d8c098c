"""The claims about the laws, under masks without an end: the twin automaton of Theorem 7.5."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from factorcomp.certificates import factorization
from factorcomp.certificates.automata import Automaton
from factorcomp.certificates.claims import Positions, Verdict
from factorcomp.certificates.documents import KernelError
from factorcomp.certificates.judgement import Judgement
from factorcomp.certificates.levels import together
from factorcomp.certificates.positions import Clock
from factorcomp.certificates.product import Search, States, TooManyStatesError
from factorcomp.certificates.rows import Row, same
from factorcomp.certificates.setting import Setting
from factorcomp.certificates.tree import Tree
from factorcomp.certificates.witnesses import first_pair

MOST_TWINS = 1_000_000
MOST_SEQUENCES = 2**12
Twin = tuple[int, int, int]


class Law:
    """What one model reaches by itself, tilted by its weight: it lives on its own states, or on pairs with the
    background's (`paired`).

    **Fields:** `rows[n]`: the next token in state n; `bases[n]`: the background's, `None` where it says nothing.
    `next[n]`: the places of the states after the possible tokens. `lost`: the length of the first prefix after which a
    tilted law has no next token, or `None`.
    """

    def __init__(self, setting: Setting, models: Sequence[Automaton], member: int, paired: bool) -> None:
        parts = (0, member) if paired else (member,)
        tables = [[setting.read(m, row) for row in models[m].kernels] for m in parts]
        weight = setting.weights[member - 1] if member else 1

        def rows(states: States) -> list[Row | None]:
            return [None if q is None else table[q] for table, q in zip(tables, states, strict=True)]

        def law(states: States) -> Row:
            base, own = rows(states)[0], rows(states)[-1]
            if own is None or base is None:
                return own or setting.rows.rational([])
            return own if weight == 1 else setting.rows.tilted(base, own, weight)

        def successors(states: States) -> Sequence[States | None]:
            leads = [models[m].leads[q] if q is not None else None for m, q in zip(parts, states, strict=True)]
            possible = enumerate(law(states).support)
            return [tuple(None if lead is None else lead[y] for lead in leads) if yes else None for y, yes in possible]

        search = Search(tuple(models[m].initial for m in parts), successors)
        self.next = search.next
        self.rows, self.bases = [law(states) for states in search.keys], [rows(states)[0] for states in search.keys]
        self.lost = next((search.depth[n] for n, row in enumerate(self.rows) if not any(row.support)), None)


class Twins:
    """Background and experts under masks without an end; `unroll(T)` gives the tree of the question at the length T."""

    def __init__(
        self,
        setting: Setting,
        models: Sequence[Automaton],
        masks: Mapping[str, Positions],
        unroll: Callable[[int], Tree],
        residuals: bool,
    ) -> None:
        self.setting, self.models, self.masks = setting, models, masks
        self.unroll, self.residuals = unroll, residuals
        self.clock = Clock(masks)
        self.unknown = False

    @cached_property
    def factorized_conditionals(self) -> Judgement:
        """Theorem 7.5: (B), (I1), (I2) and (c) at every length; if one fails, at the first length it is enumerated."""
        members = range(1, len(self.models))
        try:
            paired = {m: Law(self.setting, self.models, m, True) for m in members}
            weights = self.setting.weights
            lost = {m: law.lost for m, law in paired.items() if law.lost is not None and weights[m - 1] != 1}
            limit, failed = min(lost.values(), default=MOST_TWINS), False
            for search in self._searches(paired):
                depth = search(limit - 1) if limit else None
                if depth is not None:
                    limit, failed = depth, True
        except TooManyStatesError:
            why = f"the twin automaton of Theorem 7.5 has more than {MOST_TWINS} states"
            return Judgement(Verdict.UNDECIDED, why)
        if failed:
            return self._enumerated(limit + 1)
        if lost:
            return Judgement(Verdict.UNDECIDED, factorization.LAWLESS.format(self.setting.experts[min(lost) - 1]))
        if self.unknown:
            return Judgement(Verdict.UNDECIDED, "rows tilted by such weights cannot be told apart")
        return Judgement(Verdict.HOLDS, f"{factorization.FACTORIZED}, at every length", self.setting.zero)

    def _searches(self, paired: Mapping[int, Law]) -> list[Callable[[int], int | None]]:
        """One search for each part of the theorem, (ii) and (c) first; it is told how long a prefix may be."""
        searches: list[Callable[[int], int | None]] = []
        for m, law in paired.items():
            searches.append(lambda most, m=m, law=law: self._differing(law, self.setting.experts[m - 1], most))
        background = Law(self.setting, self.models, 0, False)
        for block in dict.fromkeys(self.clock.owners):
            searches.append(lambda most, block=block: self._twins(background, block, most))
        for m, pairs in paired.items():
            name = self.setting.experts[m - 1]
            if self.masks.get(name):
                own = pairs if self.setting.weights[m - 1] != 1 else Law(self.setting, self.models, m, False)
                searches.append(lambda most, own=own, name=name: self._twins(own, name, most))
        return searches

    def _differing(self, law: Law, name: str, most: int) -> int | None:
        """(ii) and (c): along `supp p_i`, off its mask the rows are the background's, on it within its support."""

        def fails(key: tuple[int, int]) -> bool:
            row, base = law.rows[key[0]], law.bases[key[0]]
            if base is None:
                return True
            if self.clock.owners[key[1]] != name:
                return self._differ(row, base)
            return self._opens(row, base)

        return _depth(self._clocked(law, fails, most))

    @staticmethod
    def _opens(row: Row, base: Row | None) -> bool:
        """Whether a row makes possible what the background's excludes (c)."""
        return base is None or any(own and not other for own, other in zip(row.support, base.support, strict=True))

    def _clocked(
        self, law: Law, wanted: Callable[[tuple[int, int]], bool] = lambda key: False, longest: int | None = None
    ) -> Search[tuple[int, int]]:
        """The states of a law with the clock of the masks."""

        def successors(key: tuple[int, int]) -> Sequence[tuple[int, int] | None]:
            n, now = key
            return [None if m is None else (m, self.clock.next[now]) for m in law.next[n]]

        return Search((0, 0), successors, wanted, MOST_TWINS, longest)

    def _twins(self, law: Law, block: str | None, most: int) -> int | None:
        """(i): two prefixes that are equal on the block have the same next token wherever that lies in the block.

        The equivalence that twins generate is small, and tells whether they agree; the twins, where they first do not.
        """
        if self._agree(law, block):
            return None

        def successors(key: Twin) -> Sequence[Twin]:
            left, right, now = key
            then = self.clock.next[now]
            if self.clock.owners[now] == block:
                pairs = zip(law.next[left], law.next[right], strict=True)
            else:
                pairs = ((n, m) for n in dict.fromkeys(law.next[left]) for m in dict.fromkeys(law.next[right]))
            return [(min(n, m), max(n, m), then) for n, m in pairs if n is not None and m is not None]

        def fails(key: Twin) -> bool:
            left, right, now = key
            return self.clock.owners[now] == block and self._differ(law.rows[left], law.rows[right])

        return _depth(Search((0, 0, 0), successors, fails, MOST_TWINS, most))

    def _agree(self, law: Law, block: str | None) -> bool:
        """Whether the rows are equal within every class of the equivalence: then those of all twins are."""

        search = self._clocked(law)
        inside = [self.clock.owners[now] == block for _, now in search.keys]
        firsts: dict[int, Row] = {}
        for (n, _), root, own in zip(search.keys, together(search.next, inside.__getitem__), inside, strict=True):
            if own and self._differ(firsts.setdefault(root, law.rows[n]), law.rows[n]):
                return False
        return True

    def _differ(self, left: Row, right: Row) -> bool:
        agree = same(left, right)
        self.unknown = self.unknown or agree is None
        return agree is False

    def _enumerated(self, length: int) -> Judgement:
        """The judgement at the first length at which the claim fails."""
        try:
            tree = self.unroll(length)
        except KernelError:
            return replace(self._without_enumeration(length - 1), length=length)
        said = factorization.factorized_conditionals(tree, self.below(length), self.residuals)
        return replace(said, length=length)

    def _without_enumeration(self, t: int) -> Judgement:
        """The first two prefixes of length t, where the claim fails first, and no residual."""
        clock = [0]
        for _ in range(t):
            clock.append(self.clock.next[clock[-1]])
        owner = self.clock.owners[clock[t]]
        forced = [self.clock.owners[c] == owner for c in clock[:t]]
        background = Law(self.setting, self.models, 0, False)
        try:
            found = [(self._first(background, background, forced), 1, 0)]
            for m, name in enumerate(self.setting.experts, start=1):
                pairs = Law(self.setting, self.models, m, True)
                law = pairs if self.setting.weights[m - 1] != 1 else Law(self.setting, self.models, m, False)
                if name != owner:
                    found.append((self._first(law, background, forced), 3, m))
                    continue
                opened = [self._opens(row, base) for row, base in zip(pairs.rows, pairs.bases, strict=True)]
                always = first_pair(pairs.next, pairs.next, [True] * t, lambda pair, opened=opened: opened[pair[0]])
                found += [(self._first(law, law, forced), 2, m), (always, 0, m)]
        except TooManyStatesError as error:
            why = f"it fails at the length {t + 1}, and no witness is found: {error}"
            return Judgement(Verdict.UNDECIDED, why)
        words, condition, m = min((words, condition, m) for words, condition, m in found if words is not None)
        first, second = (tuple(self.models[0].vocabulary[y] for y in letters) for letters in words)
        name = self.setting.experts[m - 1] if m else factorization.BACKGROUND
        return factorization.refuted((first, second), name, condition, None)

    def _first(self, left: Law, right: Law, forced: list[bool]) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        return first_pair(
            left.next, right.next, forced, lambda pair: self._differ(left.rows[pair[0]], right.rows[pair[1]])
        )

    def below(self, length: int) -> dict[str, tuple[int, ...]]:
        """The masks of the question at that length."""
        return {name: mask.below(length) for name, mask in self.masks.items()}

    def projective(self, name: str) -> Judgement:
        """Theorem 2.2, or the first length at which the marginals on the mask differ, if it is short."""
        holds = f"on its mask the composition has the law of {name}, at every length"
        if not self.masks[name] or self.factorized_conditionals.verdict is Verdict.HOLDS:
            return Judgement(Verdict.HOLDS, holds, self.setting.zero)
        longest = 0
        while longest < MOST_SEQUENCES and self.setting.size ** (longest + 1) <= MOST_SEQUENCES:
            longest += 1
            if longest - 1 in self.masks[name]:
                said = factorization.projective(self.unroll(longest), self.below(longest), name)
                if said.verdict is not Verdict.HOLDS:
                    return replace(said, length=longest)
        why = f"the marginals agree up to the length {longest}, and neither that nor Theorem 2.2 covers every length"
        return Judgement(Verdict.UNDECIDED, why)


def _depth(search: Search) -> int | None:
    return None if search.found is None else search.depth[search.found]
