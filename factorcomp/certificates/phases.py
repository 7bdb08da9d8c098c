"""Who is active when, with no end in sight; and what a certificate shows of it (theory.md 7.4)."""

from collections.abc import Sequence

from factorcomp.certificates.claims import Invariant, Phase, PrefixWitness, Verdict
from factorcomp.certificates.composition import DISJOINT, several
from factorcomp.certificates.judgement import Judgement, after, listed, number
from factorcomp.certificates.product import Product, Search


class Phases:
    """A well-defined product with the experts that have begun and can deviate again: those active.

    **Fields:** `alive[n]`: the experts, as bits, of which a deviation can be reached from state n. `search`: the pairs
    of a state and the active experts, up to the first with two of them.
    """

    def __init__(self, product: Product) -> None:
        self.product = product
        deviating = [step.deviating for step in product.steps]
        each = [{n for n, bits in enumerate(deviating) if bits >> i & 1} for i in range(len(product.experts))]
        self.away = [product.search.before(states) for states in each]
        self.alive = [
            sum(1 << i for i, away in enumerate(self.away) if away[n] is not None) for n in range(len(deviating))
        ]

        def successors(key: tuple[int, int]) -> Sequence[tuple[int, int] | None]:
            n, active = key
            return [None if m is None else (m, (active | deviating[m]) & self.alive[m]) for m in self.product.next[n]]

        most = (len(product.experts) + 1) * len(product.keys)
        self.search = Search((0, deviating[0]), successors, lambda key: several(key[1]), most)

    def interval_joint(self) -> Judgement:
        """At most one expert is active at a prefix, at every length."""
        product, search = self.product, self.search
        if search.found is None:
            return Judgement(Verdict.HOLDS, f"{DISJOINT}, at every length", product.zero)
        (n, active), letters = search.keys[search.found], search.word(search.found)
        prefix = tuple(product.vocabulary[y] for y in letters)
        ways = sorted(steps[n] or 0 for i, steps in enumerate(self.away) if active >> i & 1)
        names, length = product.names(active), len(letters) + ways[1] + 1
        both = "both " if len(names) == 2 else ""
        why = f"{after(prefix)} {both}{listed(names)} are active, at length {length} and beyond"
        return Judgement(Verdict.REFUTED, why, None, PrefixWitness(prefix, number(product.mass(letters)), names))

    def invariant(self) -> Invariant:
        """The states, closed under every step, with the phases that occur (none if two experts can be active)."""
        product = self.product
        states = tuple(product.named(n) for n in range(len(product.keys)))
        phases = None
        if self.search.found is None:
            found: list[dict[tuple[Phase, ...], None]] = [{} for _ in states]
            for n, active in self.search.keys:
                found[n][self._phase(n, active)] = None
            phases = tuple(map(tuple, found))
        return Invariant(states, tuple(product.next), phases)

    def _phase(self, n: int, active: int) -> tuple[Phase, ...]:
        bits = ((active >> i & 1, self.alive[n] >> i & 1) for i in range(len(self.product.experts)))
        return tuple("active" if now else "before" if later else "after" for now, later in bits)


def terminates(product: Product) -> Judgement:
    """The sequence ends with probability 1: EOS can be reached from every state of R^ (10)."""
    ends = product.search.before({n for n in range(len(product.keys)) if product.ended(n)})
    first = next((n for n, away in enumerate(ends) if away is None), None)
    if first is None:
        return Judgement(Verdict.HOLDS, "EOS can be reached wherever the composition goes: it ends", product.zero)
    place = product.depth[first], first
    prefix = product.tokens(*place)
    why = f"{after(prefix)} EOS cannot be reached"
    return Judgement(Verdict.REFUTED, why, None, PrefixWitness(prefix, number(product.probability(*place))))
