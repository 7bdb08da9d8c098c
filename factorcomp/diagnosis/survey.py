"""What a walk over prefixes or states meets: where the composition can go, what experts open, where they deviate."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int

from factorcomp.bounds.oscillation import exceeds, oscillation
from factorcomp.certificates.claims import NullTokens, Tokens
from factorcomp.models.rows import AbstractRows, FloatRows
from factorcomp.models.tabular import TabularModel

_CHUNK = 1 << 14
_ROUNDING = 1e-6
"""Differences up to here may come from writing decimals: the tolerance that model files are read with."""


@dataclass
class Seen:
    """How often something was met at reachable prefixes (states) and at others, and where first."""

    reachable: int = 0
    elsewhere: int = 0
    first: tuple[Tokens, str, tuple[str, ...]] | None = None
    """Prefix, token, experts."""


@dataclass
class Survey:
    """What a walk over all prefixes, or all states of a product, met; "reachable" is by the composition.

    **Fields:** `unit`: what is counted. `total`: the reachable ones that have not ended. `silent`: where a model says
    nothing, by model; at such a place nothing else is looked at.
    """

    null_tokens: NullTokens
    experts: tuple[str, ...]
    unit: Literal["prefix", "state"] = "prefix"
    total: int = 0
    silent: dict[str, Seen] = field(default_factory=dict)
    opened: dict[str, Seen] = field(default_factory=dict)
    clashes: Seen = field(default_factory=Seen)
    dead: Seen = field(default_factory=Seen)
    oscillations: dict[str, list[Float[np.ndarray, " _"]]] = field(default_factory=dict)
    deviating: dict[str, int] = field(default_factory=dict)
    together: int = 0
    twins: list[tuple[str, str]] = field(default_factory=list)
    coarseness: float = _ROUNDING

    def __post_init__(self) -> None:
        self.silent = {name: Seen() for name in ("background", *self.experts)}
        self.opened = {name: Seen() for name in self.experts}
        self.oscillations = {name: [] for name in self.experts}
        self.deviating = dict.fromkeys(self.experts, 0)


def survey_of(background: TabularModel, experts: Mapping[str, TabularModel], null_tokens: NullTokens) -> Survey:
    """Walk over all prefixes that have not ended, by length."""
    models = {"background": background, **experts}
    survey = Survey(null_tokens, tuple(experts))
    survey.coarseness = coarseness(rows for table in models.values() for rows in table.steps)
    vocab = len(background.vocabulary)
    eos = None if background.eos is None else background.vocabulary.index(background.eos)
    reach, going = np.ones(1, dtype=bool), np.zeros(1, dtype=np.int64)
    twins = set(itertools.combinations(experts, 2))
    for length, base in enumerate(background.steps):
        rows = {name: table.steps[length] for name, table in experts.items()}
        alive = np.zeros((len(going), vocab), dtype=bool)
        for start in range(0, len(going), _CHUNK):
            part = slice(start, start + _CHUNK)
            silent = {name: table.gaps[length][going[part]] for name, table in models.items() if table.gaps is not None}
            alive[part] = _look(survey, background.vocabulary, length, base, rows, silent, going[part], reach[part])
        twins = {(i, j) for i, j in twins if not exceeds(rows[i], going, rows[j], going).any()}
        on = [token for token in range(vocab) if token != eos]
        going = (going[:, None] * vocab + np.array(on, dtype=np.int64)).reshape(-1)
        reach = (alive & reach[:, None])[:, on].reshape(-1)
    survey.twins = [pair for pair in itertools.combinations(experts, 2) if pair in twins]
    return survey


def coarseness(tables: Iterable[AbstractRows]) -> float:
    """How large a difference of logs may be that comes from the type of the numbers: 64 units of rounding."""
    types = [rows.values.dtype for rows in tables if isinstance(rows, FloatRows)]
    return max([_ROUNDING, *(64.0 * float(_epsilon(kind)) for kind in types)])


def _epsilon(kind: np.dtype) -> float:
    import ml_dtypes

    return float(ml_dtypes.finfo(kind).eps)


def _look(
    survey: Survey,
    vocabulary: Sequence[str],
    length: int,
    base: AbstractRows,
    rows: Mapping[str, AbstractRows],
    silent: Mapping[str, Bool[np.ndarray, " prefixes"]],
    going: Int[np.ndarray, " prefixes"],
    reach: Bool[np.ndarray, " prefixes"],
) -> Bool[np.ndarray, "prefixes vocab"]:
    """Look at the prefixes `going` of one length; returns which next tokens the composition can take."""
    start, stop = int(going.min()), int(going.max()) + 1
    said = np.ones(len(going), dtype=bool)
    for gap in silent.values():
        said &= ~gap
    beyond, reach = reach, reach & said
    background = base.log_probs(start, stop)[going - start]
    possible = (background > -np.inf) & said[:, None]
    openers = np.zeros(possible.shape, dtype=np.int64)
    alive = possible.copy()
    deviating = np.zeros(len(going), dtype=np.int64)
    survey.total += int(reach.sum())
    opened = {}
    for name, own in rows.items():
        logs = own.log_probs(start, stop)[going - start]
        opened[name] = (logs > -np.inf) & ~possible & said[:, None]
        openers += opened[name]
        alive &= logs > -np.inf
        differs = exceeds(own, going, base, going) & reach
        deviating += differs
        survey.deviating[name] += int(differs.sum())
        survey.oscillations[name].append(np.where(differs, oscillation(logs, background), 0.0)[reach])
    survey.together += int((deviating > 1).sum())

    def note(seen: Seen, cells: Bool[np.ndarray, "prefixes vocab"]) -> None:
        seen.elsewhere += int((cells & ~reach[:, None]).sum())
        seen.reachable += int((cells & reach[:, None]).sum())
        if seen.first is None and (cells & reach[:, None]).any():
            row, token = (int(i) for i in np.argwhere(cells & reach[:, None])[0])
            guilty = tuple(name for name, cell in opened.items() if cell[row, token])
            seen.first = (_prefix(vocabulary, length, int(going[row])), vocabulary[token], guilty)

    for name in rows:
        note(survey.opened[name], opened[name])
    note(survey.clashes, openers > 1)
    limit = {"cancel": 1, "strict": 0, "drop": len(rows)}[survey.null_tokens]
    undefined = np.any(openers > limit, axis=1)
    if survey.null_tokens == "cancel":
        alive |= openers == 1
    dead = ~alive.any(axis=1) & ~undefined & said
    survey.dead.elsewhere += int((dead & ~reach).sum())
    survey.dead.reachable += int((dead & reach).sum())
    if survey.dead.first is None and (dead & reach).any():
        survey.dead.first = (_prefix(vocabulary, length, int(going[np.argmax(dead & reach)])), "", ())
    for name, gap in silent.items():
        seen = survey.silent[name]
        seen.elsewhere += int((gap & ~beyond).sum())
        seen.reachable += int((gap & beyond).sum())
        if seen.first is None and (gap & beyond).any():
            seen.first = (_prefix(vocabulary, length, int(going[np.argmax(gap & beyond)])), "", ())
    return alive & ~undefined[:, None]


def _prefix(vocabulary: Sequence[str], length: int, index: int) -> Tokens:
    tokens = []
    for _ in range(length):
        index, token = divmod(index, len(vocabulary))
        tokens.append(vocabulary[token])
    return tuple(reversed(tokens))


def number_of(noun: str, count: int) -> str:
    """`1 token`, `2 tokens`, `3 reachable prefixes`."""
    return f"{count:,} {noun}{'' if count == 1 else 'es' if noun.endswith('x') else 's'}"
