"""Can these models be composed at all, and what will their composition's verdicts mean? What `doctor` looks at.

It asks what is wrong or worth knowing before `verify`: whether the models speak of the same tokens and lengths,
whether the composition is defined wherever it can go (theory.md, Definition 1.3 and Lemma 1.4), and whether "any
difference is a deviation" means what the user thinks it does for numbers that were trained or rounded.
"""

from collections.abc import Callable, Mapping, Sequence

from factorcomp.certificates.claims import NullTokens
from factorcomp.diagnosis.states import survey_of_states
from factorcomp.diagnosis.survey import number_of, survey_of
from factorcomp.diagnosis.tendencies import deviation, support
from factorcomp.models.alignment import Model, as_table
from factorcomp.models.errors import InputError
from factorcomp.models.finite_state import FiniteStateModel
from factorcomp.models.rows import AbstractRows, FloatRows
from factorcomp.models.tabular import TabularModel
from factorcomp.verdicts import Diagnosis, Finding
from factorcomp.verification.story import check_models

Add = Callable[[Finding], None]


def doctor(
    background: Model,
    experts: Mapping[str, Model],
    *,
    length: int | None = None,
    null_tokens: NullTokens = "cancel",
) -> Diagnosis:
    """What is in the way of composing `experts` over `background`, and what to know before.

    **Arguments:** `length`: the horizon to look at; by default what all tables have, or every length where all models
    are finite-state. `null_tokens`: the convention that decides what a token means that the background excludes
    (theory.md 1.3).

    **Returns:** a `Diagnosis`: findings, the gravest first, each with its consequence under composition and its cure.

    **Raises:** `InputError` without experts, or for functions without a length.

    >>> coin = TabularModel.from_probabilities([["1/2", "1/2"]], ["h", "t"], name="coin")
    >>> doctor(coin, {"up": TabularModel.from_probabilities([["1/4", "3/4"]], ["h", "t"])}).blocked
    False
    """
    check_models(background, experts)
    if not experts:
        raise InputError("no experts: got none, needed at least one to compose")
    findings: list[Finding] = []
    models = {"background": background, **experts}
    if _vocabularies(models, findings.append) and _eos(models, findings.append):
        horizon = _horizon(models, length, findings.append)
        _normalisation(models, findings.append)
        ordered = {name: model.aligned(background.vocabulary) for name, model in models.items()}
        automata = {name: model for name, model in ordered.items() if isinstance(model, FiniteStateModel)}
        if len(automata) == len(models):
            _precision({name: (model.rows,) for name, model in automata.items()}, findings.append)
            survey = survey_of_states(automata.pop("background"), automata, null_tokens, horizon)
        else:
            assert horizon is not None
            tables = {name: as_table(model, horizon) for name, model in ordered.items()}
            _precision({name: table.steps for name, table in tables.items()}, findings.append)
            survey = survey_of(tables.pop("background"), tables, null_tokens)
        support(survey, findings.append)
        deviation(survey, findings.append)
    gravity = ("blocks", "matters", "fine")
    ordered = sorted(findings, key=lambda finding: gravity.index(finding.severity))
    return Diagnosis(background.source.name, tuple(experts), tuple(ordered))


def _vocabularies(models: Mapping[str, Model], add: Add) -> bool:
    """Whether all models have the same tokens."""
    base = models["background"].vocabulary
    others, reordered = False, []
    for name, model in models.items():
        missing = [token for token in base if token not in set(model.vocabulary)]
        extra = [token for token in model.vocabulary if token not in set(base)]
        if missing or extra:
            others = True
            lacks = f"lacks {_tokens(missing)}" if missing else ""
            adds = f"has {_tokens(extra)}, which the background has not" if extra else ""
            add(
                Finding(
                    "blocks",
                    f"vocabulary of {name}",
                    f"{name} {' and '.join(filter(None, (lacks, adds)))}",
                    "a product of next-token probabilities needs the same tokens in every model",
                    "export all models with one tokenizer; a token that a model never says has probability 0 in it",
                )
            )
        elif model.vocabulary != base:
            reordered.append(name)
    if others:
        return False
    found = f"the same {len(base)} tokens in every model"
    if reordered:
        found += f"; {', '.join(reordered)} in another order, aligned to the background's"
    add(Finding("fine", "vocabulary", found))
    return True


def _tokens(tokens: Sequence[str]) -> str:
    shown = ", ".join(repr(token) for token in tokens[:3])
    return shown if len(tokens) <= 3 else f"{shown} and {len(tokens) - 3} more tokens"


def _eos(models: Mapping[str, Model], add: Add) -> bool:
    """Whether all models agree on EOS."""
    base = models["background"].eos
    differing = {name: model.eos for name, model in models.items() if model.eos != base}
    if not differing:
        add(Finding("fine", "EOS", "none in any model" if base is None else f"{base!r} in every model"))
        return True
    shown = ", ".join(f"{name} {'none' if eos is None else repr(eos)}" for name, eos in differing.items())
    add(
        Finding(
            "blocks",
            "EOS",
            f"the background has {'none' if base is None else repr(base)}, {shown}",
            "one model would go on where another has ended, so that no prefix after it means the same in both",
            'give every model the same "eos"',
        )
    )
    return False


def _horizon(models: Mapping[str, Model], length: int | None, add: Add) -> int | None:
    """The horizon to look at; `None`: every length."""
    if length is None and all(isinstance(model, FiniteStateModel) for model in models.values()):
        add(Finding("fine", "horizon", "every length: all models are finite-state"))
        return None
    horizons = {name: model.horizon for name, model in models.items() if isinstance(model, TabularModel)}
    if length is None and not horizons:
        raise InputError("length: got none, and functions have no horizon; needed a number of tokens, --length N")
    shortest = min(horizons.values(), default=length or 0)
    shown = ", ".join(f"{name} {horizon}" for name, horizon in horizons.items())
    if length is not None and length > shortest:
        short = ", ".join(f"{name} ends at {horizon}" for name, horizon in horizons.items() if horizon < length)
        add(
            Finding(
                "blocks",
                "horizon",
                f"length {length} was asked for, and {short}",
                "there are no rows for the prefixes beyond",
                f"use --length {shortest}, or longer tables",
            )
        )
    elif length is None and len(set(horizons.values())) > 1:
        add(
            Finding(
                "blocks",
                "horizon",
                f"the tables have different horizons: {shown}",
                "it is not said up to which length the models are to be composed",
                f"use --length {shortest}, or less",
            )
        )
    else:
        add(Finding("fine", "horizon", number_of("token", shortest if length is None else length)))
    return shortest if length is None else min(length, shortest)


def _normalisation(models: Mapping[str, Model], add: Add) -> None:
    notes = list(dict.fromkeys(note for model in models.values() for note in model.source.notes))
    if not notes:
        add(Finding("fine", "normalisation", "every row sums to 1"))
        return
    shown = "; ".join(notes[:3]) + (f"; and {len(notes) - 3} notes more" if len(notes) > 3 else "")
    add(
        Finding(
            "fine",
            "normalisation",
            shown,
            "rows mean their proportions: two rows are the same if one is a multiple of the other",
        )
    )


def _precision(tables: Mapping[str, Sequence[AbstractRows]], add: Add) -> None:
    kinds = {name: _kind(steps) for name, steps in tables.items()}
    shown = ", ".join(f"{name} {kind}" for name, kind in kinds.items())
    if len(set(kinds.values())) == 1:
        shown = f"{next(iter(kinds.values()))} in every model"
    coarse = any(kind not in ("float64", "exact fractions", "no rows") for kind in kinds.values())
    mixed = len({kind for kind in kinds.values() if kind != "no rows"}) > 1
    if not coarse and not mixed:
        add(Finding("fine", "numbers", shown))
        return
    what = "stored with few digits" if coarse else "stored in different ways"
    add(
        Finding(
            "matters",
            "numbers",
            shown,
            f"rows that were meant to be equal and are {what} are equal only if their digits are; at threshold 0 one "
            "unit in the last place is a deviation",
            "copy the background's rows into the experts where they should agree, or declare a --threshold",
        )
    )


def _kind(steps: Sequence[AbstractRows]) -> str:
    kinds = {str(rows.values.dtype) if isinstance(rows, FloatRows) else "exact fractions" for rows in steps}
    return " and ".join(sorted(kinds)) or "no rows"
