"""What the library proves of the trained networks: every prefix at small lengths, at thresholds, next to the ideal ones."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from factorcomp import FunctionModel, Report, TabularModel, verify
from factorcomp.models.tabular import Source
from toy_tasks.networks import Transformer
from toy_tasks.skill_segments.grammar import EOS, SKILLS, ideals
from toy_tasks.skill_segments.task import Segments

BATCH = 1024
"""Prefixes that a network is given together: always as many, so that one program serves all."""
THRESHOLDS = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)


@eqx.filter_jit
def _rows(
    network: Transformer, texts: Int[Array, "batch length"], place: Int[Array, ""]
) -> Float[Array, "batch vocab"]:
    logits = jax.vmap(network, (None, 0))(jnp.array([network.shape.eos]), texts)
    return jax.nn.log_softmax(logits[:, place])


def after_prompt(network: Transformer, task: Segments, prompt: Sequence[str], length: int, name: str) -> FunctionModel:
    """A network as a model of the library: what follows a prompt, up to a length."""
    begun = np.array([task.vocabulary.index(token) for token in prompt], dtype=np.int64)
    width = len(begun) + length - 1

    def log_probs(prefixes: Int[Any, "batch length"]) -> Float[np.ndarray, "batch vocab"]:
        count, size = prefixes.shape
        texts = np.full((-(-count // BATCH) * BATCH, width), task.eos)
        texts[:count, : len(begun)] = begun
        texts[:count, len(begun) : len(begun) + size] = prefixes
        place = jnp.array(len(begun) + size)
        parts = [_rows(network, jnp.asarray(texts[i : i + BATCH]), place) for i in range(0, len(texts), BATCH)]
        return np.concatenate([np.asarray(part) for part in parts])[:count]

    return FunctionModel(log_probs, task.vocabulary, EOS, Source(name))


def tables(
    networks: Sequence[Transformer], task: Segments, prompt: Sequence[str], length: int
) -> tuple[TabularModel, dict[str, TabularModel]]:
    """Background and experts after every prefix shorter than `length` that follows the prompt."""
    names = ("background", *SKILLS)
    first, *rest = (
        after_prompt(network, task, prompt, length, name).tabulate(length)
        for network, name in zip(networks, names, strict=True)
    )
    return first, dict(zip(SKILLS, rest, strict=True))


def exhaustive(networks: Sequence[Transformer], task: Segments, prompt: Sequence[str], length: int) -> dict[str, Any]:
    """The verdicts after one prompt at each threshold, on every prefix; bounds beside the truth; the ideal verdict."""
    background, experts = tables(networks, task, prompt, length)
    base, own = ideals(task.grammar, prompt)
    reports = [verify(background, experts, threshold=x, bounds=False) for x in THRESHOLDS]
    return {
        "prompt": " ".join(prompt),
        "length": length,
        "prefixes": reports[0].prefixes,
        "ideal": occupancy(verify(base, own, length=length, bounds=False)),
        "curve": [{"threshold": x, **occupancy(report)} for x, report in zip(THRESHOLDS, reports, strict=True)],
        "bounds": bounds(verify(background, experts, threshold=THRESHOLDS[len(THRESHOLDS) // 2])),
    }


def occupancy(report: Report) -> dict[str, Any]:
    """The joint claims, the probability to meet a prefix against each, and how long each expert is active."""
    measures = report.measures
    return {
        **{claim: str(report[claim].verdict) for claim in ("pointwise_joint", "interval_joint")},
        "overlap": float(report["pointwise_joint"].residual),
        "both_active": float(report["interval_joint"].residual),
        "tv_to_switching": float(measures.tv_to_switching),
        "active_steps": {name: float(found.expected_active_steps) for name, found in measures.experts.items()},
    }


def bounds(report: Report) -> dict[str, Any]:
    """The distances to the switching model and to the nearest component, with what bounds them (theory.md 8.2)."""
    found = {}
    for name in ("switching", "nearest"):
        comparison = report.robust[name]
        found[name] = {
            "tv": float(comparison.tv),
            "bounds": {bound.name: _number(bound.value) for bound in comparison.bounds if bound.quantity == "tv"},
        }
    return {"threshold": float(report.question.threshold), **found}


def _number(value: Any) -> float | None:
    return None if value is None or not np.isfinite(float(value)) else float(value)
