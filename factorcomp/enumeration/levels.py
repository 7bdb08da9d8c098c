"""The prefixes of one length, and the step to the next: rows composed block by block in JAX, laws extended."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import jax
import numpy as np
from jaxtyping import Bool, Float

from factorcomp.bounds.oscillation import exceeds, oscillation
from factorcomp.certificates.claims import Question
from factorcomp.enumeration.block import Block, compose_block
from factorcomp.models.tabular import TabularModel

NUMBERS_PER_BLOCK = (1 << 10, 1 << 16)
"""How many numbers of each model a block holds: for small trees, so that they do not wait, and for large ones."""


def block_size(vocab: int, length: int) -> int:
    """Prefixes per block, one number for all levels of a tree: a single shape is compiled, whatever the length."""
    small, large = (1 << max(0, (numbers // vocab).bit_length() - 1) for numbers in NUMBERS_PER_BLOCK)
    return small if vocab ** max(0, length - 1) <= 8 * small else large


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
class Step:
    """What happens at the prefixes of one length: who deviates, and the fields of `Block` for all of them."""

    in_scope: Bool[np.ndarray, " prefixes"]
    deviates: Bool[np.ndarray, "experts prefixes"]
    oscillation: Float[np.ndarray, "experts prefixes"]
    log_probs: Float[np.ndarray, "prefixes vocab"]
    log_normalizer: Float[np.ndarray, " prefixes"]
    nearest_tv: Float[np.ndarray, " prefixes"]
    expert_tv: Float[np.ndarray, "experts prefixes"]
    settled: Bool[np.ndarray, " prefixes"]
    undefined: Bool[np.ndarray, " prefixes"]
    dead: Bool[np.ndarray, " prefixes"]
    switches: Bool[np.ndarray, " prefixes"]
    error: Float[np.ndarray, " prefixes"]


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

    log_probs, switching = np.empty((prefixes, vocab)), np.empty((prefixes, vocab))
    components = np.empty((count + 1, prefixes, vocab))
    numbers = {name: np.empty(prefixes) for name in ("log_normalizer", "nearest_tv", "error")}
    flags = {name: np.empty(prefixes, dtype=bool) for name in ("settled", "undefined", "dead", "switches")}
    expert_tv = np.empty((count, prefixes))
    size = block_size(vocab, question.length)
    for start in range(0, prefixes, size):
        part = slice(start, min(start + size, prefixes))
        logs = np.stack([rows.log_probs(part.start, part.stop) for rows in (base, *own)])
        for i in range(count):
            raw = oscillation(logs[i + 1], logs[0])
            oscillations[i, part] = np.where(differs[i, part], float(weights[i]) * raw, 0.0)
        block = _compose(logs, weights, differs[:, part], deviates[:, part], question, size)
        log_probs[part], switching[part] = block.log_probs, block.switching
        components[:, part], expert_tv[:, part] = block.components, block.expert_tv
        for name in numbers:
            numbers[name][part] = getattr(block, name)
        for name in flags:
            flags[name][part] = getattr(block, name)

    in_scope = laws.reachable if question.scope == "reachable" else np.ones(prefixes, dtype=bool)
    step = Step(
        in_scope=in_scope,
        deviates=deviates,
        oscillation=oscillations,
        log_probs=log_probs,
        expert_tv=expert_tv,
        **numbers,
        **flags,
    )
    open_ended = laws.reachable & ~step.undefined & ~step.dead
    log_composition = _extend(laws.log_composition, log_probs)
    following = Laws(
        reachable=(open_ended[:, None] & (log_probs > -np.inf)).reshape(-1),
        log_composition=log_composition,
        log_switching=_extend(laws.log_switching, switching),
        log_models=np.stack([_extend(law, rows) for law, rows in zip(laws.log_models, components, strict=True)]),
        path_log_normalizer=np.repeat(laws.path_log_normalizer + step.log_normalizer, vocab),
        path_error=np.repeat(laws.path_error + step.error, vocab),
        ended=_ended(laws.ended, background),
    )
    return step, following


def _compose(
    logs: Float[np.ndarray, "components prefixes vocab"],
    weights: Sequence[Fraction],
    differs: Bool[np.ndarray, "experts prefixes"],
    deviates: Bool[np.ndarray, "experts prefixes"],
    question: Question,
    size: int,
) -> Block:
    """`compose_block` in float64, on a block padded to `size` prefixes with its own last row."""
    count = logs.shape[1]
    missing = size - count
    logs = np.pad(logs, ((0, 0), (0, missing), (0, 0)), mode="edge")
    differs, deviates = (np.pad(flags, ((0, 0), (0, missing)), mode="edge") for flags in (differs, deviates))
    with jax.enable_x64(True):
        floats = np.array([float(weight) for weight in weights])
        block = compose_block(logs[0], logs[1:], floats, differs, deviates, question.null_tokens)
        block = jax.device_get(block)
    by_component = {"components", "expert_tv"}
    return Block(**{k: x[:, :count] if k in by_component else x[:count] for k, x in block._asdict().items()})


def _extend(
    law: Float[np.ndarray, " prefixes"], rows: Float[np.ndarray, "prefixes vocab"]
) -> Float[np.ndarray, " longer"]:
    """The law of the prefixes one token longer: `log P(hy) = log P(h) + log p(y|h)`."""
    return (law[:, None] + rows).reshape(-1)


def _ended(ended: Bool[np.ndarray, " prefixes"], model: TabularModel) -> Bool[np.ndarray, " longer"]:
    """Which of the longer prefixes contain EOS."""
    is_eos = np.array([token == model.eos for token in model.vocabulary])
    return (ended[:, None] | is_eos).reshape(-1)
