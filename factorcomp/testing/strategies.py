"""Hypothesis strategies of models, and of a background with experts; every hypothesis holds by construction."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from hypothesis.strategies import SearchStrategy

from factorcomp.testing import families as recipes
from factorcomp.testing.drawing import Draw, strategy
from factorcomp.testing.families import Family, Shape
from factorcomp.testing.near_misses import NEAR_MISSES

if TYPE_CHECKING:
    from factorcomp.models.finite_state import FiniteStateModel
    from factorcomp.models.function import FunctionModel
    from factorcomp.models.tabular import TabularModel
    from factorcomp.testing.models import Numbers

FAMILIES: dict[str, Callable[[Draw, Shape], Family]] = {
    "free": recipes.free,
    "common_support": recipes.common_support,
    "composable": recipes.composable,
    "pointwise_joint": recipes.pointwise_joint,
    "interval_joint": recipes.interval_joint,
    "mask_agreement": recipes.mask_agreeing,
    "factorized_conditionals": recipes.factorized,
    "hard_constraints": recipes.hard_constraints,
}
"""What holds of a family -> its recipe."""


def vocabularies(min_size: int = 1, max_size: int = 4) -> SearchStrategy[tuple[str, ...]]:
    """Different tokens, as a tuple."""
    from factorcomp.testing.models import vocabulary

    return strategy(lambda draw: vocabulary(draw, (min_size, max_size)))


def tabular_models(numbers: "Numbers | None" = None, dtype: str = "float64") -> "SearchStrategy[TabularModel]":
    """Tables of fractions (`"fractions"`) or of floats (`"probs"`, `"log_probs"`, `"logits"`); `None`: of all four."""
    from factorcomp.testing.models import tabular_model

    return strategy(lambda draw: tabular_model(draw, numbers, dtype))


def finite_state_models() -> "SearchStrategy[FiniteStateModel]":
    """Finite-state models of fractions, some without a next state after what is impossible."""
    from factorcomp.testing.models import finite_state_model

    return strategy(finite_state_model)


def function_models() -> "SearchStrategy[FunctionModel]":
    """Functions of the last two tokens."""
    from factorcomp.testing.models import function_model

    return strategy(function_model)


def families_of(
    kind: str = "composable",
    *,
    zeros: bool | None = None,
) -> SearchStrategy[Family]:
    """A background and experts of which the hypothesis holds; `family.models()` are the library's tables of them.

    **Arguments:** `kind`: `free` (nothing holds), `common_support`, `composable` (defined everywhere, `p_i << p_b`),
    `pointwise_joint`, `interval_joint` (theory.md 4.1), `mask_agreement` (2.6a), `factorized_conditionals` (2.1), both
    with `family.masks`, `hard_constraints` (1.9 (b)). `zeros`: tokens of probability 0; `None`: at times.
    """
    if kind not in FAMILIES:
        raise ValueError(f"kind: got {kind!r}; needed one of {', '.join(FAMILIES)}")
    return strategy(lambda draw: FAMILIES[kind](draw, recipes.shape(draw, sizes=(1, 3), zeros=zeros)))


def near_misses_of(clause: str) -> SearchStrategy[Family]:
    """A background and experts that break one clause, at one prefix or position, while the others hold.

    **Arguments:** `clause`: `pointwise_joint`, `interval_joint` (theory.md 4.1; the second needs the first),
    `absolute_continuity` (`p_i << p_b`), `mask_agreement` (2.6a); of factorized conditionals (2.1, 2.3) `(B)` the
    background's independence, `(I1)` an expert's own history, `(I2)` its agreement off the mask, `(c)` the absolute
    continuity on its mask.
    """
    if clause not in NEAR_MISSES:
        raise ValueError(f"clause: got {clause!r}; needed one of {', '.join(NEAR_MISSES)}")
    return strategy(NEAR_MISSES[clause])
