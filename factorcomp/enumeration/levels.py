"""The prefixes of one length, and the step to the next: rows composed, laws extended by a token."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Bool, Float

from factorcomp.bounds.oscillation import exceeds, oscillation
from factorcomp.certificates.claims import Question
from factorcomp.enumeration.blocks import compose_level
from factorcomp.models.tabular import TabularModel


@dataclass(frozen=True)
class Laws:
    """What the models say of the prefixes of one length. `log_models[0]` is the background, then the experts.

    `reachable`: by the composition (theory.md 1.1), decided by supports. `path_log_normalizer`: the sum of `log Z`
    on the way. `path_error`: a bound on the rounding error of each log here. `ended`: the prefix contains EOS.
    """

    reachable: Bool[np.ndarray, " prefixes"]
    log_composition: Float[np.ndarray, " prefixes"]
    log_switching: Float[np.ndarray, " prefixes"]
    log_models: Float[np.ndarray, "components prefixes"]
    path_log_normalizer: Float[np.ndarray, " prefixes"]
    path_error: Float[np.ndarray, " prefixes"]
    ended: Bool[np.ndarray, " prefixes"]

    @property
    def probability(self) -> Float[np.ndarray, " prefixes"]:
        """Under the composition; 0 at prefixes that it does not reach."""
        return np.where(self.reachable, np.exp(self.log_composition), 0.0)


@dataclass(frozen=True)
class Rows:
    """The rows at the prefixes of one length: of the background, the (tilted) experts, and the switching model."""

    components: Float[np.ndarray, "components prefixes vocab"]
    switching: Float[np.ndarray, "prefixes vocab"]


@dataclass(frozen=True)
class Step:
    """What happens at the prefixes of one length: who deviates, and the fields of `Block` for all of them.

    `differs`: at threshold 0. `rows`: only where they are kept.
    """

    in_scope: Bool[np.ndarray, " prefixes"]
    differs: Bool[np.ndarray, "experts prefixes"]
    deviates: Bool[np.ndarray, "experts prefixes"]
    oscillation: Float[np.ndarray, "experts prefixes"]
    log_probs: Float[np.ndarray, "prefixes vocab"]
    log_normalizer: Float[np.ndarray, " prefixes"]
    nearest_tv: Float[np.ndarray, " prefixes"]
    expert_tv: Float[np.ndarray, "experts prefixes"]
    settled: Bool[np.ndarray, " prefixes"]
    undefined: Bool[np.ndarray, " prefixes"]
    dead: Bool[np.ndarray, " prefixes"]
    error: Float[np.ndarray, " prefixes"]
    rows: Rows | None = None


def root(components: int) -> Laws:
    """The level of the empty prefix."""
    zero, one = np.zeros(1), np.ones(1, dtype=bool)
    return Laws(one, zero, zero, np.zeros((components, 1)), zero, zero, ~one)


def advance(
    laws: Laws,
    length: int,
    background: TabularModel,
    experts: Sequence[TabularModel],
    weights: Sequence[Fraction],
    question: Question,
    *,
    keep_rows: bool = False,
) -> tuple[Step, Laws]:
    """Composes at every prefix of `length` tokens, and extends every law by one token."""
    base, own = background.steps[length], [expert.steps[length] for expert in experts]
    prefixes, vocab = base.shape
    count = len(own)
    everywhere = np.arange(prefixes)
    oscillations = np.empty((count, prefixes))
    differs, deviates = np.empty((count, prefixes), dtype=bool), np.empty((count, prefixes), dtype=bool)
    for i, rows in enumerate(own):
        differs[i] = exceeds(rows, everywhere, base, everywhere)
        limit = question.threshold / weights[i]
        deviates[i] = exceeds(rows, everywhere, base, everywhere, limit) if limit else differs[i]

    for i, rows in enumerate(own):
        raw = oscillation(rows.log_probs(0, prefixes), base.log_probs(0, prefixes))
        oscillations[i] = np.where(differs[i], float(weights[i]) * raw, 0.0)

    gap = np.zeros(prefixes, dtype=bool)
    for model in (background, *experts):
        gap |= False if model.gaps is None else model.gaps[length]
    differs, deviates = differs & ~gap, deviates & ~gap
    block = compose_level((base, *own), weights, differs, deviates, question)
    block = block._replace(undefined=block.undefined | gap, dead=block.dead & ~gap)
    in_scope = laws.reachable if question.scope == "reachable" else np.ones(prefixes, dtype=bool)
    kept = {name: value for name, value in block._asdict().items() if name not in ("components", "switching")}
    rows = Rows(block.components, block.switching) if keep_rows else None
    step = Step(in_scope, differs, deviates, oscillations, **kept, rows=rows)
    open_ended = laws.reachable & ~step.undefined & ~step.dead
    log_composition = _extend(laws.log_composition, block.log_probs)
    following = Laws(
        reachable=(open_ended[:, None] & (block.log_probs > -np.inf)).reshape(-1),
        log_composition=log_composition,
        log_switching=_extend(laws.log_switching, block.switching),
        log_models=np.stack([_extend(law, rows) for law, rows in zip(laws.log_models, block.components, strict=True)]),
        path_log_normalizer=np.repeat(laws.path_log_normalizer + step.log_normalizer, vocab),
        path_error=np.repeat(laws.path_error + step.error, vocab),
        ended=_ended(laws.ended, background),
    )
    return step, following


def _extend(
    law: Float[np.ndarray, " prefixes"], rows: Float[np.ndarray, "prefixes vocab"]
) -> Float[np.ndarray, " longer"]:
    """The law of the prefixes one token longer: `log P(hy) = log P(h) + log p(y|h)`."""
    return (law[:, None] + rows).reshape(-1)


def _ended(ended: Bool[np.ndarray, " prefixes"], model: TabularModel) -> Bool[np.ndarray, " longer"]:
    """Which of the longer prefixes contain EOS."""
    is_eos = np.array([token == model.eos for token in model.vocabulary])
    return (ended[:, None] | is_eos).reshape(-1)
