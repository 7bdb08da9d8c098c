"""Models that are composed speak of the same tokens, in the same order."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from factorcomp.models.errors import InputError, shown
from factorcomp.models.finite_state import FiniteStateModel
from factorcomp.models.function import FunctionModel
from factorcomp.models.tabular import TabularModel

Model = TabularModel | FunctionModel | FiniteStateModel


def aligned(background: Model, experts: Mapping[str, Model]) -> tuple[Model, dict[str, Model]]:
    """The models with every expert's tokens in the background's order; a note says which were put into it.

    >>> background = TabularModel.from_probabilities([["1/4", "3/4"]], ["a", "b"])
    >>> expert = TabularModel.from_probabilities([["1/2", "1/2"]], ["b", "a"], name="up.json")
    >>> _, experts = aligned(background, {"up": expert})
    >>> experts["up"].source.notes
    ('up.json: tokens put into the order of in memory',)

    **Raises:** `InputError`, with every expert that has other tokens (the first one is named) or another EOS.
    """
    problems = [line for expert in experts.values() for line in _differences(background, expert)]
    if problems:
        raise InputError(problems)
    return background, {name: _reordered(expert, background) for name, expert in experts.items()}


def _differences(background: Model, expert: Model) -> list[str]:
    base, own = background.source.name, expert.source.name
    needed, found = dict.fromkeys(background.vocabulary), dict.fromkeys(expert.vocabulary)
    more = [token for token in found if token not in needed]
    less = [token for token in needed if token not in found]
    lines = []
    if more:
        lines.append(f"{own}: vocabulary: found the token {shown(more[0])}, which {base} lacks; needed the same tokens")
    elif less:
        lines.append(f"{own}: vocabulary: lacks the token {shown(less[0])} of {base}; needed the same tokens")
    if expert.eos != background.eos:
        lines.append(f"{own}: eos: found {shown(expert.eos)}; needed {shown(background.eos)}, as in {base}")
    return lines


def _reordered(expert: Model, background: Model) -> Model:
    if expert.vocabulary == background.vocabulary:
        return expert
    note = f"{expert.source.name}: tokens put into the order of {background.source.name}"
    source = replace(expert.source, notes=(*expert.source.notes, note))
    return replace(expert.aligned(background.vocabulary), source=source)


def as_table(model: Model, length: int, progress: Callable[[int, int], None] | None = None) -> TabularModel:
    """The model as a table of `length` steps."""
    if isinstance(model, TabularModel):
        return model.truncated(length)
    return model.tabulate(length, progress) if isinstance(model, FunctionModel) else model.tabulate(length)
