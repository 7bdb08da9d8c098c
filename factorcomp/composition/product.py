"""The product of finite-state models along the composition's support. Source: theory.md, section 7.

A state of the product is one state of each model. From it leads an edge for every token of positive weight `w(y|h)`, in
scope `all` for every token. A product state at which a model says nothing (a gap), a ratio is undefined or all mass
vanishes is *broken*: nothing leads on from it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Int

from factorcomp.certificates.claims import NullTokens
from factorcomp.composition.graph import reached_from
from factorcomp.composition.search import Members, Progress, Search, breadth_first
from factorcomp.models.finite_state import NOWHERE, FiniteStateModel


@dataclass(frozen=True)
class Product:
    """The states of the product in scope, as a search found them: `search.members` are the models' states.

    **Fields:** `support`: the tokens of positive weight, none at a broken state. `undefined`: a ratio has no value
    (1.3). `complete`: whether every state that can be reached is here.
    """

    search: Search
    support: Bool[np.ndarray, "states vocab"]
    undefined: Bool[np.ndarray, " states"]
    complete: bool

    def __len__(self) -> int:
        return len(self.search)

    @property
    def members(self) -> Members:
        """The models' states, `NOWHERE` at a gap; the background's first."""
        return self.search.members

    @property
    def gaps(self) -> Bool[np.ndarray, "models states"]:
        """Where a model says nothing."""
        return np.asarray(self.members == NOWHERE)

    @property
    def broken(self) -> Bool[np.ndarray, " states"]:
        """Where the composition has no next token."""
        return np.asarray(~self.support.any(axis=1))

    @cached_property
    def followed(self) -> Int[np.ndarray, "states vocab"]:
        """`next` along the composition's support alone."""
        return np.where(self.support, self.search.next, NOWHERE)

    @cached_property
    def reachable(self) -> Bool[np.ndarray, " states"]:
        """The states that the composition reaches (R^ of Definition 1.1); in scope `all` there may be others."""
        return reached_from(self.followed, np.zeros(1, dtype=np.int64))


@dataclass(frozen=True)
class Following:
    """What may follow under composition. `weighted`: whether each expert's weight is not 1."""

    weighted: tuple[bool, ...]
    null_tokens: NullTokens

    def __call__(
        self, base: Bool[np.ndarray, "states vocab"], experts: Bool[np.ndarray, "experts states vocab"]
    ) -> tuple[Bool[np.ndarray, "states vocab"], Bool[np.ndarray, " states"]]:
        """From the models' supports: the tokens with `w(y|h) > 0`, and where a ratio is undefined (Definition 1.3).

        An expert whose weight is not 1 must not open a token (1.9 needs `p_i << p_b`).
        """
        openers = (experts & ~base).sum(axis=0)
        tolerated = {"strict": 0, "cancel": 1, "drop": len(experts)}[self.null_tokens]
        error = openers > tolerated
        for expert, weighted in zip(experts, self.weighted, strict=True):
            error |= expert & ~base & weighted
        opened = ~base & (openers == 1) if self.null_tokens == "cancel" else np.zeros_like(base)
        undefined = error.any(axis=1)
        return (base & experts.all(axis=0) | opened) & ~undefined[:, None], undefined


def explore(
    models: Sequence[FiniteStateModel],
    following: Following,
    *,
    everything: bool = False,
    depth: int | None = None,
    progress: Progress | None = None,
) -> Product:
    """The product of the background `models[0]` and the experts, from the initial states on.

    **Arguments:** `everything`: scope `all`: every token leads on, whatever its weight. `depth`: the longest prefixes
    looked at; `None`: all. `progress`: called with the states looked at, and the number of those found.
    """
    supports = [model.rows.support() for model in models]

    def follow(members: Members) -> tuple[Bool[np.ndarray, "_ vocab"], Bool[np.ndarray, " _"]]:
        said = np.asarray(members != NOWHERE)
        possible = np.stack([s[q] & here[:, None] for s, q, here in zip(supports, members, said, strict=True)])
        support, undefined = following(possible[0], possible[1:])
        everyone = np.asarray(said.all(axis=0))
        return support & everyone[:, None], undefined & everyone

    def expand(members: Members) -> tuple[Bool[np.ndarray, "_ vocab"], Int[np.ndarray, "models _ vocab"]]:
        support, _ = follow(members)
        after = [
            np.where((q != NOWHERE)[:, None], model.next[q], NOWHERE) for model, q in zip(models, members, strict=True)
        ]
        return support | everything & support.any(axis=1, keepdims=True), np.stack(after)

    sizes = [len(support) for support in supports]
    search = breadth_first([model.initial for model in models], sizes, expand, depth=depth, progress=progress)
    support, undefined = follow(search.members)
    leads = support | everything & support.any(axis=1, keepdims=True)
    return Product(search, support, undefined, complete=not (leads & (search.next == NOWHERE)).any())
