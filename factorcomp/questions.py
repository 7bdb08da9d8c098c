"""From a caller's options to a `Question`: every problem of a call is reported together."""

import math
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal

from factorcomp.certificates.claims import CLAIMS, FEATURE_CLAIMS, MASK_CLAIMS, Length, Mask, Positions, Question
from factorcomp.models.alignment import Model
from factorcomp.models.errors import InputError
from factorcomp.models.function import FunctionModel
from factorcomp.models.rows import LARGEST_POWER
from factorcomp.models.tabular import TabularModel

Masks = Mapping[str, Iterable[int] | slice | str | Positions] | Literal["auto"] | None
LONGEST_CLOCK = 100_000
"""Masks for every length must repeat within so many positions."""
Numeric = Fraction | int | float | str


def ask(
    background: Model,
    experts: Mapping[str, Model],
    *,
    length: Any = None,
    masks: Any = None,
    threshold: Any = 0,
    scope: Any = "reachable",
    null_tokens: Any = "cancel",
    weights: Mapping[str, Any] | None = None,
    require: Sequence[str] = ("interval_joint",),
    guarantees: Any = None,
    features: bool = False,
) -> Question:
    """The question that the options of `verify` ask of these models, which share their vocabulary.

    They are taken as a caller gave them, whatever they are. Raises `InputError` with every problem.
    """
    problems = _name_problems(experts)
    horizon = _length(background, experts, length, problems)
    positions = _masks(experts, masks, horizon, problems)
    limit = _number("the threshold", threshold, problems)
    if limit < 0:
        problems.append(f"the threshold is {threshold}; it must be at least 0 nats")
    factors = {name: _number(f"the weight of {name}", weight, problems) for name, weight in (weights or {}).items()}
    for name, factor in factors.items():
        if name not in experts:
            problems.append(f"a weight names {name!r}, which is no expert; the experts are {_list(experts)}")
        if not 0 < factor <= LARGEST_POWER:
            problems.append(
                f"the weight of {name} is {float(factor):g}; it must be greater than 0, at most {LARGEST_POWER}"
            )
    for option, value, values in (
        ("scope", scope, ("reachable", "all")),
        ("null-token convention", null_tokens, ("strict", "drop", "cancel")),
    ):
        if value not in values:
            problems.append(f"the {option} is {value!r}; it must be {' or '.join(values)}")
    problems += _guarantee_problems(experts, guarantees or {}, horizon)
    problems += _requirement_problems(background, require, positions, features)
    if problems:
        raise InputError(problems)
    return Question(horizon, positions, limit, scope, null_tokens, factors)


def ask_features(
    question: Question,
    coordinates: Length,
    experts: Mapping[str, Any],
    given: Any,
    of_the_map: Any,
    require: Sequence[str] = (),
) -> Question:
    """The question with the masks of features: those given, or those of the map.

    Raises `InputError` with every problem: masks of no expert, beyond the map's coordinates, or that overlap.
    """
    problems: list[str] = []
    masks = of_the_map if given is None else given
    owned = _masks(experts, {} if masks is None else masks, coordinates, problems, "feature mask", "coordinate")
    found = owned if isinstance(owned, Mapping) else {}
    for name in require:
        claim, _, mask = name.partition(":")
        if claim == "feature_projective" and not found:
            problems.append(f"the required claim {name!r} is about masks of features, and no expert has one")
        elif claim == "feature_projective" and mask and mask not in found:
            problems.append(f"the required claim {name!r} names {mask!r}, which has no mask of features")
    if problems:
        raise InputError(problems)
    return replace(question, feature_masks=dict(found))


def _name_problems(experts: Mapping[str, Model]) -> list[str]:
    problems = [] if experts else ["there is no expert; give at least one as NAME=EXPERT"]
    if "background" in experts:
        problems.append("an expert is named 'background', which is the word for the background; rename it")
    return problems


def _length(background: Model, experts: Mapping[str, Model], length: Any, problems: list[str]) -> Length:
    """The horizon: given, or that of the tables; or `"every"`, of finite-state models."""
    models = {"background": background, **experts}
    horizons = {name: model.horizon for name, model in models.items() if isinstance(model, TabularModel)}
    if length == "every":
        for model in models.values():
            if isinstance(model, TabularModel):
                problems.append(f"{model.source.name}: a table ends at its horizon; every length needs {_ENDLESS}")
            elif isinstance(model, FunctionModel):
                problems.append(f"{model.source.name}: a function may look far back; every length needs {_ENDLESS}")
        return "every"
    if length is None:
        if len(horizons) < len(models):
            named = _list([name for name in models if name not in horizons])
            every = ", or ask about every length (--every-length)" if not horizons else ""
            problems.append(f"{named}: no table, and so no horizon of its own; give the length (--length N){every}")
        elif len(set(horizons.values())) > 1:
            listed = ", ".join(f"{name} {horizon}" for name, horizon in horizons.items())
            least = min(horizons.values())
            problems.append(f"the horizons differ ({listed}); give a length of at most {least} (--length {least})")
        return min(horizons.values(), default=0)
    if isinstance(length, bool) or not isinstance(length, int) or length < 0:
        problems.append(f"the length is {length!r}; it must be a whole number, at least 0")
        return 0
    for name, horizon in horizons.items():
        if horizon < length:
            short = f"its horizon is {horizon}, shorter than the length {length}"
            problems.append(f"{models[name].source.name}: {short}; give a length it has (--length {horizon})")
    return length


_ENDLESS = "finite-state models (--window W makes one of a function that looks at the last W tokens)"


def _masks(
    experts: Mapping[str, Any],
    masks: Any,
    length: Length,
    problems: list[str],
    kind: str = "mask",
    place: str = "position",
) -> dict[str, Mask] | Literal["auto"] | None:
    """The masks as sorted positions: of known experts, within the length, disjoint."""
    if masks is None or (masks == "auto" and kind == "mask"):
        return masks
    if isinstance(masks, str) or not isinstance(masks, Mapping):
        auto = ", or be 'auto'" if kind == "mask" else ""
        problems.append(f"the {kind}s are {masks!r}; they must map experts to {place}s{auto}")
        return None
    owners: dict[int, str] = {}
    found: dict[str, Mask] = {}
    for name, given in masks.items():
        if name not in experts:
            problems.append(f"a {kind} names {name!r}, which is no expert; the experts are {_list(experts)}")
        if isinstance(given, str):
            given = _as_written(given)
        if given is None or not isinstance(given, slice | Iterable | Positions):
            problems.append(
                f"the {kind} of {name} is {masks[name]!r}; it must be a list of {place}s, such as [0, 2], or a slice"
            )
            continue
        if length == "every":
            found[name] = _without_end(name, given, problems)
            continue
        if isinstance(given, Positions):
            given = _without_end(name, given, problems).below(length)
        if isinstance(given, slice) and given.step == 0:
            problems.append(f"the {kind} of {name} is {given}; a slice goes on by 1 or more")
            continue
        positions = range(length)[given] if isinstance(given, slice) else list(given)
        wrong = [p for p in positions if isinstance(p, bool) or not isinstance(p, int) or not 0 <= p < length]
        found[name] = right = tuple(sorted(set(positions) - set(wrong)))
        for position in (*wrong, *right):
            if position in wrong:
                last = f"{place}s are 0 to {length - 1}" if length else f"there is no {place} in length 0"
                problems.append(f"the {kind} of {name} has {place} {position}; {last}")
            elif owners.setdefault(position, name) != name:
                problems.append(
                    f"the {kind}s of {owners[position]} and {name} share {place} {position}; they must be disjoint"
                )
    if length == "every":
        problems += _shared({name: mask for name, mask in found.items() if isinstance(mask, Positions)})
    return found


def _as_written(text: str) -> slice | list[int] | None:
    """A mask as on the command line: `"0,2,5"`, or a slice such as `"0::3"`; `None` if it is neither."""
    parts = [part.strip() for part in text.split(":")]
    if len(parts) > 3 or not all(part == "" or part.isdecimal() for part in parts[:3] if len(parts) > 1):
        return None
    if len(parts) > 1:
        return slice(*(int(part) if part else None for part in parts))
    places = [place.strip() for place in text.split(",")] if text.strip() else []
    return [int(place) for place in places] if all(place.isdecimal() for place in places) else None


def _without_end(name: str, given: slice | Iterable[Any] | Positions, problems: list[str]) -> Positions:
    """The mask for every length: positions, or a slice that may have no stop."""
    if isinstance(given, Positions):
        mask = given
    elif not isinstance(given, slice):
        positions = list(given)
        wrong = [p for p in positions if isinstance(p, bool) or not isinstance(p, int)]
        problems += [f"the mask of {name} has position {p!r}; positions are whole numbers from 0" for p in wrong]
        mask = Positions(tuple(sorted(set(positions) - set(wrong))))
    else:
        start, stop, step = given.start or 0, given.stop, 1 if given.step is None else given.step
        numbers = (start, step - 1, start if stop is None else stop)
        if min(numbers) < 0 or not all(isinstance(number, int) for number in numbers):
            problems.append(f"the mask of {name} is {given}; for every length a slice counts from 0, forward")
            return Positions()
        within = range(start, start if stop is None else stop, step)
        if len(within) > LONGEST_CLOCK:
            problems.append(f"the mask of {name} has {len(within)} positions; at most {LONGEST_CLOCK} can be listed")
            return Positions()
        mask = Positions(tuple(within)) if stop is not None else Positions((), ((start, step),))
    places = [*mask.finite, *(start for start, _ in mask.progressions)]
    if min(places, default=0) < 0 or min((step for _, step in mask.progressions), default=1) < 1:
        problems.append(f"the mask of {name} is {mask}; positions are 0 or more, and steps 1 or more")
        return Positions()
    return mask


def _shared(masks: Mapping[str, Positions]) -> list[str]:
    """The first position that two masks without an end share; or that they repeat only after too many positions."""
    ends = [p + 1 for mask in masks.values() for p in (*mask.finite, *(start for start, _ in mask.progressions))]
    length = max(ends, default=0) + math.lcm(*(step for mask in masks.values() for _, step in mask.progressions))
    if length > LONGEST_CLOCK:
        return [f"the masks repeat only after {length} positions; at most {LONGEST_CLOCK} can be followed"]
    owners: dict[int, str] = {}
    shared: list[tuple[int, str]] = []
    for name, mask in masks.items():
        positions = {*mask.finite}.union(*(range(start, length, step) for start, step in mask.progressions))
        shared += [(position, name) for position in positions if owners.setdefault(position, name) != name]
    if not shared:
        return []
    position, name = min(shared, key=lambda pair: pair[0])
    return [f"the masks of {owners[position]} and {name} share position {position}; they must be disjoint"]


def _number(what: str, value: Any, problems: list[str]) -> Fraction:
    """An exact number: a decimal or fraction as written; a float as Python writes it."""
    try:
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError
        text = repr(value) if isinstance(value, float) else value
        if isinstance(text, str) and len(text) > 100:
            raise ValueError
        return _bounded(text)
    except (ValueError, ZeroDivisionError, TypeError):
        problems.append(f"{what} is {str(value)[:40]!r}; it must be a finite decimal or fraction")
        return Fraction(1)


def _bounded(value: Any) -> Fraction:
    """The fraction, unless its decimal exponent alone would fill the memory."""
    if isinstance(value, str):
        exponent = value.lower().partition("e")[2]
        if exponent and abs(int(exponent)) > 300:
            raise ValueError(value)
    return Fraction(value)


def _requirement_problems(
    background: Model, require: Sequence[str], masks: Mapping[str, Mask] | Literal["auto"] | None, features: bool
) -> list[str]:
    """Claims that are required and do not exist, or cannot apply."""
    problems = [] if require else ["no claim is required; require at least one"]
    for name in require:
        claim, _, mask = name.partition(":")
        if claim not in CLAIMS or (mask and claim not in ("projective", "feature_projective")):
            problems.append(f"the required claim {name!r} does not exist; the claims are {_list(CLAIMS)}")
        elif claim in FEATURE_CLAIMS:
            if not features:
                problems.append(f"the required claim {name!r} is about features, and no map is given (--features FILE)")
        elif claim in MASK_CLAIMS and masks is None:
            problems.append(f"the required claim {name!r} is about masks, and none are given; give masks, or 'auto'")
        elif mask and isinstance(masks, Mapping) and mask not in masks:
            problems.append(f"the required claim {name!r} names {mask!r}, which has no mask")
        elif claim == "projective" and isinstance(masks, Mapping) and not masks:
            problems.append(f"the required claim {name!r} is about masks, and no expert has one")
        elif claim == "terminates" and background.eos is None:
            problems.append("the required claim 'terminates' needs an EOS, and the models have none")
    return problems


def _guarantee_problems(experts: Mapping[str, Model], guarantees: Any, length: Length) -> list[str]:
    """Guarantees of no expert, of every length, or that are neither a regular expression nor a predicate."""
    if not isinstance(guarantees, Mapping):
        return [f"the guarantees are {guarantees!r}; they must map experts to patterns or predicates"]
    problems = []
    if guarantees and length == "every":
        problems.append("guarantees are about sequences of one length; give a length instead of every length")
    for name, promised in guarantees.items():
        if name not in experts:
            problems.append(f"a guarantee names {name!r}, which is no expert; the experts are {_list(experts)}")
        if isinstance(promised, str):
            try:
                with warnings.catch_warnings(action="ignore", category=FutureWarning):
                    re.compile(promised)
            except (re.error, RecursionError, OverflowError) as error:
                problems.append(f"the guarantee of {name} is {promised!r}, which is no regular expression: {error}")
        elif not callable(promised):
            problems.append(f"the guarantee of {name} is {promised!r}; it must be a regular expression or a predicate")
    return problems


def _list(names: Iterable[str]) -> str:
    return ", ".join(names)
