"""The golden cases of ../shared/golden, read as instances; and what it means for findings to agree with them.

A case is `(Instance, expected)`. `compare` holds the findings of any engine against the expected part of a golden case,
`differences` one engine's findings against another's. Fractions must be equal; where either side is a float, within
1e-9 (or both infinite).
"""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from pathlib import Path

import pytest

from factorcomp import load_features
from factorcomp.certificates.claims import Findings, Number, Positions, PrefixWitness, Question
from tests.automata import AutomataInstance
from tests.strategies import Instance, Steps

DIRECTORY = Path(__file__).resolve().parents[2] / "shared" / "golden"
EXAMPLES = Path(__file__).resolve().parents[1] / "factorcomp" / "examples"
CLOSE = 1e-9
"""The rounding allowed to a float: far above what some hundred operations lose, far below every golden number."""


def names() -> list[str]:
    """The names of the golden cases, sorted; empty where the folder is absent."""
    return sorted(path.stem for path in DIRECTORY.glob("*.json"))


def load(name: str) -> tuple[Instance, dict]:
    """The golden case `name` and what is expected of it; skips the test where the folder is absent."""
    if not DIRECTORY.exists():
        pytest.skip(f"{DIRECTORY} is not there")
    case = json.loads((DIRECTORY / f"{name}.json").read_text(encoding="utf-8"))
    return instance_of(case["background"], case["experts"], case["options"], case["statement"]), case["expected"]


def example_names() -> list[str]:
    """The names of the shipped examples, sorted."""
    return sorted(path.parent.name for path in EXAMPLES.glob("*/example.json"))


def about_example(name: str) -> dict:
    """The `example.json` of the shipped example `name`."""
    return json.loads((EXAMPLES / name / "example.json").read_text(encoding="utf-8"))


def load_automata(name: str) -> tuple[AutomataInstance, dict]:
    """The shipped example `name` about every length, and its `example.json`."""
    about, folder = about_example(name), EXAMPLES / name
    models = {stem: json.loads((folder / f"{stem}.json").read_text()) for stem in ("background", *about["experts"])}
    background = models.pop("background")
    masks = {owner: positions_of(text) for owner, text in about["options"].get("masks", {}).items()}
    instance = AutomataInstance(
        tuple(background["vocabulary"]), background["eos"], background, models, Question("every", masks or None)
    )
    return instance, about


def positions_of(text: str) -> Positions:
    """A mask such as `0,2,5` or `0::3`."""
    start, slices, step = text.partition("::")
    return Positions((), ((int(start), int(step)),)) if slices else Positions(tuple(map(int, text.split(","))))


def load_example(name: str) -> tuple[Instance, dict]:
    """The shipped example `name` about one length, and its `example.json`."""
    folder = EXAMPLES / name
    about = about_example(name)
    models = {stem: json.loads((folder / f"{stem}.json").read_text()) for stem in ("background", *about["experts"])}
    experts = {stem: models[stem] for stem in about["experts"]}
    options = {option: value for option, value in about["options"].items() if option != "features"}
    return instance_of(models["background"], experts, options, about["statement"]), about


def options_of_example(name: str) -> dict:
    """The options of `verify` of the shipped example `name`, its feature map read."""
    options = about_example(name)["options"]
    return options | (
        {"features": load_features(EXAMPLES / name / options["features"])} if "features" in options else {}
    )


def features_of_example(name: str) -> dict | None:
    """The file of the feature map of the shipped example `name`, if it has one."""
    file = about_example(name)["options"].get("features")
    return None if file is None else json.loads((EXAMPLES / name / file).read_text(encoding="utf-8"))


def instance_of(background: dict, experts: Mapping[str, dict], options: dict, structure: str) -> Instance:
    """The instance of tabular model files and of the options of `verify`; raises where they do not fit together."""
    unknown = set(options) - {"masks", "null_tokens", "scope", "threshold", "weights"}
    if unknown:
        raise ValueError(f"unknown options {sorted(unknown)}")
    for name, model in experts.items():
        for key in ("format", "kind", "vocabulary", "eos"):
            if model[key] != background[key]:
                raise ValueError(f"{name}: {key} is {model[key]}, the background's {background[key]}")
    masks = options.get("masks")
    if isinstance(masks, dict):
        masks = {name: tuple(positions) for name, positions in masks.items()}
    question = Question(
        length=len(background["steps"]),
        masks=masks,
        threshold=Fraction(options.get("threshold", 0)),
        scope=options.get("scope", "reachable"),
        null_tokens=options.get("null_tokens", "cancel"),
        weights={name: Fraction(weight) for name, weight in options.get("weights", {}).items()},
    )
    vocabulary = tuple(background["vocabulary"])
    return Instance(
        vocabulary=vocabulary,
        eos=background["eos"],
        background=steps_of(background, len(vocabulary)),
        experts={name: steps_of(model, len(vocabulary)) for name, model in experts.items()},
        question=question,
        structure=structure,
    )


def steps_of(model: dict, size: int) -> Steps:
    """The rows of a tabular file in fractions; every row a distribution, every step complete."""
    steps = [[tuple(Fraction(cell) for cell in row) for row in step] for step in model["steps"]]
    for length, step in enumerate(steps):
        if len(step) != size**length:
            raise ValueError(f"step {length} has {len(step)} rows and needs {size**length}")
        for index, row in enumerate(step):
            if len(row) != size or sum(row) != 1 or min(row) < 0:
                raise ValueError(f"step {length} row {index} is no distribution over {size} tokens: {row}")
    return steps


def agree(found: Number | None, expected: Number | None) -> bool:
    """Equal fractions; or, with a float on either side, both infinite or within 1e-9."""
    if found is None or expected is None:
        return found is expected
    if isinstance(found, Fraction | int) and isinstance(expected, Fraction | int):
        return found == expected
    if math.isinf(found) or math.isinf(expected):
        return found == expected
    return abs(float(found) - float(expected)) <= CLOSE


def compare(findings: Findings, expected: Mapping) -> list[str]:
    """Every difference between findings and the `expected` part of a golden case, one line each.

    With `well_defined` refuted a golden case states no other claim: then all others must be UNDECIDED.
    """
    problems: list[str] = []

    def check(what: str, found: object, wanted: object) -> None:
        numbers = all(isinstance(value, Fraction | float | int | None) for value in (found, wanted))
        if not (agree(found, wanted) if numbers else found == wanted):
            problems.append(f"{what}: found {found}, expected {wanted}")

    found = {result.name: result for result in findings.claims}
    claims, measures = expected["claims"], expected["measures"]
    for name, verdict in claims.items():
        check(f"{name}: verdict", str(found[name].verdict) if name in found else None, verdict)
    if claims["well_defined"] == "REFUTED":
        for name in found.keys() - claims.keys():
            check(f"{name}: verdict", str(found[name].verdict), "UNDECIDED")
        check("measures", findings.measures, None)
        return problems
    check("claims", sorted(found), sorted(claims))
    if problems:
        return problems
    if findings.measures is None:
        return [f"measures: found None, expected {sorted(measures)}"]
    for claim in ("pointwise_joint", "interval_joint"):
        wanted, result = measures[claim], found[claim]
        check(f"{claim}: residual", result.residual, Fraction(wanted["residual"]))
        witness = result.witness
        if wanted["witness"] is None or not isinstance(witness, PrefixWitness):
            check(f"{claim}: witness", witness, wanted["witness"])
            continue
        check(f"{claim}: witness", witness.prefix, tuple(wanted["witness"]))
        check(f"{claim}: probability", witness.probability, Fraction(wanted["probability"]))
        check(f"{claim}: experts", witness.experts, tuple(wanted["experts"]))
    for name in ("overlap_probability", "tv_to_switching", "tv_local_global"):
        check(name, getattr(findings.measures, name), Fraction(measures[name]))
    check("local_equals_global: residual", found["local_equals_global"].residual, Fraction(measures["tv_local_global"]))
    check("log_normalizer_min", findings.measures.log_normalizer_min, math.log(Fraction(measures["Z_min"])))
    check("log_normalizer_max", findings.measures.log_normalizer_max, math.log(Fraction(measures["Z_max"])))
    for expert, wanted in measures["experts"].items():
        for name, value in wanted.items():
            check(f"{expert}: {name}", getattr(findings.measures.experts[expert], name), Fraction(value))
    for mask, residual in measures.get("projective", {}).items():
        check(f"projective:{mask}: residual", found[f"projective:{mask}"].residual, Fraction(residual))
    if "unended" in measures:
        check("terminates: residual", found["terminates"].residual, Fraction(measures["unended"]))
        check(
            "unended",
            findings.measures.termination and findings.measures.termination.unended,
            Fraction(measures["unended"]),
        )
    return problems


def differences(found: Findings, expected: Findings) -> list[str]:
    """Every difference between two engines' findings on one input, one line each; `method` and `why` are their own."""
    return list(_differences("findings", found, expected))


def _differences(place: str, found: object, expected: object) -> Iterator[str]:
    if isinstance(expected, Fraction | float | int | None) and isinstance(found, Fraction | float | int | None):
        if not agree(found, expected):
            yield f"{place}: found {found}, expected {expected}"
    elif is_dataclass(expected) and type(found) is type(expected):
        for entry in fields(expected):
            if entry.name not in ("method", "why"):
                label = f"{place}.{entry.name}"
                yield from _differences(label, getattr(found, entry.name), getattr(expected, entry.name))
    elif isinstance(expected, Mapping) and isinstance(found, Mapping):
        if list(found) != list(expected):
            yield f"{place}: found keys {list(found)}, expected {list(expected)}"
        for key in expected.keys() & found.keys():
            yield from _differences(f"{place}[{key}]", found[key], expected[key])
    elif isinstance(expected, tuple) and isinstance(found, tuple) and len(found) == len(expected):
        for index, (one, other) in enumerate(zip(found, expected, strict=True)):
            label = getattr(other, "name", index)
            yield from _differences(f"{place}[{label}]", one, other)
    elif found != expected or type(found) is not type(expected):
        yield f"{place}: found {found}, expected {expected}"
