"""compose(): the composition as a model of its own."""

from collections.abc import Mapping

from factorcomp.certificates.claims import NullTokens
from factorcomp.composition.automata import compose_automata
from factorcomp.composition.tables import compose_tables
from factorcomp.models.alignment import Model, aligned, as_table
from factorcomp.models.errors import InputError
from factorcomp.models.finite_state import FiniteStateModel
from factorcomp.models.tabular import TabularModel
from factorcomp.questions import Numeric, ask


def compose(
    background: Model,
    experts: Mapping[str, Model],
    *,
    length: int | None = None,
    null_tokens: NullTokens = "cancel",
    weights: Mapping[str, Numeric] | None = None,
    sequence_level: bool = False,
) -> TabularModel | FiniteStateModel:
    """The composition `p^(y|h) ∝ p_b prod_i (p_i/p_b)^λ_i`, as a table of `length` steps.

    Without a length, finite-state models compose to a finite-state model, for every length. Rational models and whole
    weights compose to a rational one, exactly. With `sequence_level` the rows are the conditionals of the
    sequence-level composition (theory.md 1.2), a table.

    **Raises** `InputError` where models or options do not fit together, and where the composition is undefined.

    >>> base = TabularModel.from_probabilities([["1/2", "1/2"]], ["a", "b"])
    >>> up = TabularModel.from_probabilities([["1/4", "3/4"]], ["a", "b"])
    >>> print(*compose(base, {"up": up, "same": up}).steps[0].exact(0).factors)
    1/10 9/10
    """
    background, experts = aligned(background, experts)
    automata = {name: expert for name, expert in experts.items() if isinstance(expert, FiniteStateModel)}
    all_finite_state = isinstance(background, FiniteStateModel) and len(automata) == len(experts)
    if all_finite_state and length is None and not sequence_level:
        question = ask(background, experts, length="every", null_tokens=null_tokens, weights=weights)
        return compose_automata(background, automata, null_tokens, question.weights)
    if length is None and not any(isinstance(model, TabularModel) for model in (background, *experts.values())):
        what = "the sequence-level composition is of one length" if all_finite_state else "functions have no horizon"
        raise InputError(f"length: got none, and {what}; needed a number of tokens, --length N")
    question = ask(background, experts, length=length, null_tokens=null_tokens, weights=weights)
    base = as_table(background, question.horizon)
    tables = {name: as_table(expert, question.horizon) for name, expert in experts.items()}
    return compose_tables(base, tables, question.horizon, null_tokens, question.weights, sequence_level=sequence_level)
