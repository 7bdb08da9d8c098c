"""Every law of a model or a composer, without pytest: cases from a seed, and a result for each law."""

from collections.abc import Callable
from typing import Any

from factorcomp.certificates.claims import NullTokens
from factorcomp.testing.components import Composer
from factorcomp.testing.composed import Declared, Examination
from factorcomp.testing.composer_laws import COMPOSER_LAWS
from factorcomp.testing.drawing import Draw, seeded
from factorcomp.testing.examined import examined
from factorcomp.testing.model_laws import MODEL_LAWS
from factorcomp.testing.results import LawResult, assert_holds


def check_composer(
    composer: Composer,
    *,
    dtype: str = "float64",
    null_tokens: NullTokens = "cancel",
    weighted: bool = True,
    zeros: bool = True,
    logits: bool = True,
    tolerance: float | None = None,
    examples: int = 50,
    seed: int = 0,
) -> list[LawResult]:
    """A result for each law that says something of the composer: the first case that breaks it, or that it holds.

    **Arguments:** `dtype` … `tolerance`: what the composer declares (`composed.Declared`). `examples`: cases of each
    law. What the composer raises is raised, with a note on the case.

    >>> def to_the_background(background, experts, weights):
    ...     return background
    >>> broken = {result.law for result in check_composer(to_the_background, examples=20) if not result.holds}
    >>> "sole_deviator" in broken, "neutral_expert" in broken
    (True, False)
    """
    declared = Declared(dtype, null_tokens, weighted, zeros, logits, tolerance)
    examination = Examination(composer, declared)
    return [
        _first_broken(lambda draw, law=law: law.check(examination, law.draw(draw, declared)), law.name, examples, seed)
        for law in COMPOSER_LAWS
        if not law.needs(declared)
    ]


def check_model(model: Any, *, examples: int = 50, seed: int = 0, **offered: Any) -> list[LawResult]:
    """A result for each law that says something of the model: the first case that breaks it, or that it holds.

    **Arguments:** `offered`: what the model does not say itself (`vocabulary`, `eos`, `longest`, `dtype`, `tolerance`,
    `along`, `sequence_log_probs`, `ragged`; see `examined.examined`).

    >>> import numpy as np
    >>> def coin(prefixes):
    ...     return np.full((len(prefixes), 2), -0.7)
    >>> results = check_model(coin, vocabulary=["heads", "tails"])
    >>> [result.law for result in results if not result.holds], results[0].got
    (['normalised'], 'probabilities that sum to 0.993171')
    """
    subject = examined(model, **offered)
    return [
        _first_broken(lambda draw, law=law: law.check(subject, law.draw(draw, subject)), law.name, examples, seed)
        for law in MODEL_LAWS
        if not law.needs(subject)
    ]


def assert_composer(composer: Composer, **declared: Any) -> None:
    """Raises `LawError` for the first law that the composer breaks; the arguments are those of `check_composer`."""
    for result in check_composer(composer, **declared):
        assert_holds(result)


def assert_model(model: Any, **offered: Any) -> None:
    """Raises `LawError` for the first law that the model breaks; the arguments are those of `check_model`."""
    for result in check_model(model, **offered):
        assert_holds(result)


def _first_broken(try_one: Callable[[Draw], LawResult], name: str, examples: int, seed: int) -> LawResult:
    if examples < 1:
        raise ValueError(f"examples: got {examples}; needed at least 1")
    draw = seeded(f"{name}/{seed}")
    result = try_one(draw)
    for _ in range(examples - 1):
        if not result.holds:
            break
        result = try_one(draw)
    return result
