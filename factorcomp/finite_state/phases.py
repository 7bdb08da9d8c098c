"""When an expert is active, for every length: before its first deviation, active, after. Source: theory.md 3.3, 7.4.

At a state from which no deviation of an expert can be reached any more that expert is *after*; elsewhere it is *active*
once it has deviated, and *before* until then. So the phases at a prefix are given by the state of the product and the
set of the experts that are active, written as bits.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int

from factorcomp.certificates.claims import Phase
from factorcomp.composition.search import Members, Search, breadth_first
from factorcomp.finite_state.composed import Composed
from factorcomp.models.errors import InputError
from factorcomp.models.finite_state import NOWHERE

MOST_EXPERTS = 60
"""The experts that are active are the bits of a 64-bit integer."""


@dataclass(frozen=True)
class Phases:
    """The states of the product together with who is active there: `search.members` are the state and the bits.

    From a state where two experts are active nothing leads on: what comes after it is of no interest.

    **Fields:** `ahead`: from each product state the fewest steps to a deviation of each expert, -1 where there is none.
    """

    search: Search
    ahead: Int[np.ndarray, "experts states"]

    @property
    def state(self) -> Int[np.ndarray, " _"]:
        """The states of the product."""
        return self.search.members[0]

    @property
    def active(self) -> Int[np.ndarray, " _"]:
        """The experts that are active, as bits."""
        return self.search.members[1]

    @property
    def conflict(self) -> Bool[np.ndarray, " _"]:
        """Where two experts are active."""
        return (self.active & (self.active - 1)) != 0

    def vector(self, place: int) -> tuple[Phase, ...]:
        """The phases of all experts at a place of the search."""
        reach, bits = self.ahead[:, self.state[place]] >= 0, int(self.active[place])
        return tuple(
            "active" if bits >> i & 1 else "before" if possible else "after" for i, possible in enumerate(reach)
        )


def bits_of(flags: Bool[np.ndarray, "experts states"]) -> Int[np.ndarray, " states"]:
    """The set of experts whose flags are up at each state, as bits.

    Raises `InputError` for more experts than a 64-bit integer has room for.
    """
    if len(flags) > MOST_EXPERTS:
        needed = f"at most {MOST_EXPERTS} can be followed from state to state"
        raise InputError(f"found {len(flags)} experts; {needed}: give fewer, or a shorter length")
    return np.where(flags, np.left_shift(1, np.arange(len(flags)))[:, None], 0).sum(axis=0)


def find_phases(composed: Composed) -> Phases:
    """All phases that prefixes of any length lead to."""
    following, deviates = composed.product.search.next, composed.deviates
    experts = len(deviates)
    ahead = composed.ahead
    deviating, alive = bits_of(deviates), bits_of(ahead >= 0)

    def expand(members: Members) -> tuple[Bool[np.ndarray, "_ vocab"], Int[np.ndarray, "parts _ vocab"]]:
        state, bits = members
        after = following[state]
        still = alive[after] & (bits[:, None] | deviating[after])
        return (after != NOWHERE) & ((bits & (bits - 1)) == 0)[:, None], np.stack([after, still])

    search = breadth_first([0, int(deviating[0])], [len(following), 1 << experts], expand)
    return Phases(search, ahead)
