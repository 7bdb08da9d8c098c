"""The commands and their options."""

import os
import sys
import textwrap
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from factorcomp.cli import output
from factorcomp.cli.arguments import Arguments
from factorcomp.cli.shipped import Example, example, examples

if TYPE_CHECKING:
    from factorcomp.certificates.claims import NullTokens, Scope
    from factorcomp.models.feature_maps import FeatureMap
    from factorcomp.models.function import FunctionModel
    from factorcomp.models.tabular import TabularModel
    from factorcomp.verdicts import Report

SCOPES: "tuple[Scope, ...]" = ("reachable", "all")
NULL_TOKENS: "tuple[NullTokens, ...]" = ("cancel", "strict", "drop")
OUTPUTS = (".json", ".safetensors", ".prism", ".tra", ".lab")
REPAIR = "repair.json"
REPAIR_OPTIONS = {"length", "threshold", "scope", "null_tokens", "weights"}
"""Those of `verify` that a shipped example may have and `repair` has too."""
STATUS = {"HOLDS": 0, "REFUTED": 1}
"""The exit status of a verdict; 3 for every other."""


def _version() -> str:
    from importlib import metadata

    try:
        return f"factorcomp {metadata.version('factorcomp')}"
    except metadata.PackageNotFoundError:
        return "factorcomp (not installed)"


app = App(
    name="factorcomp",
    help="Are language models composed by logits jointly factorizable? Proved, refuted with a witness, or bounded.",
    help_epilogue="A model is FILE.json, FILE.safetensors, FILE.arpa or python:module:attribute.",
    help_format="plaintext",
    version=_version,
    default_parameter=Parameter(negative=(), show_default=False),
    suppress_keyboard_interrupt=False,
)

Background = Annotated[str | None, Parameter(help="the background model")]
Experts = Annotated[str, Parameter(name="NAME=EXPERT", help="an expert model and its name; one or more")]
Length = Annotated[
    str | None,
    Parameter(
        metavar="N", help="horizon: sequences of N tokens [the tables' common horizon]", allow_leading_hyphen=True
    ),
]
ShippedExample = Annotated[
    str | None, Parameter(metavar="NAME", help="a shipped example, in place of models (`factorcomp examples`)")
]
Threshold = Annotated[
    str | None,
    Parameter(
        metavar="X", help="nats: what oscillates more is a deviation [0: any difference]", allow_leading_hyphen=True
    ),
]
ScopeName = Annotated[str | None, Parameter(metavar="SCOPE", help="the prefixes: reachable or all [reachable]")]
Convention = Annotated[
    str | None,
    Parameter(
        metavar="CONVENTION", help="what a token that the background excludes means: cancel, strict or drop [cancel]"
    ),
]
Weights = Annotated[
    list[str] | None,
    Parameter(metavar="NAME=X", help="NAME=X: that expert's log-ratio is multiplied by X > 0; repeatable [1]"),
]


def _set(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that were given: for the others the library's defaults stand."""
    return {option: value for option, value in options.items() if value is not None}


def _usage(command: str, rest: str = "[OPTIONS]") -> str:
    return f"Usage: factorcomp {command} BACKGROUND NAME=EXPERT [NAME=EXPERT ...] {rest}"


@app.command(usage=_usage("verify"))
def verify(
    background: Background = None,
    /,
    *experts: Experts,
    example: ShippedExample = None,
    length: Length = None,
    every_length: Annotated[
        bool, Parameter(help="prove it for every length, of finite-state models; excludes --length [off]")
    ] = False,
    window: Annotated[
        str | None,
        Parameter(
            metavar="W",
            help="take a python: function, which looks at the last W tokens alone, as finite-state [off]",
            allow_leading_hyphen=True,
        ),
    ] = None,
    masks: Annotated[
        list[str] | None,
        Parameter(
            metavar="NAME=POSITIONS",
            help="NAME=0,2,5 or NAME=0::3: the positions that expert owns, from 0; repeatable; or auto [none]",
        ),
    ] = None,
    threshold: Threshold = None,
    scope: ScopeName = None,
    null_tokens: Convention = None,
    weights: Weights = None,
    exact: Annotated[bool, Parameter(help="decided by the rational kernel [off]")] = False,
    require: Annotated[
        list[str] | None,
        Parameter(metavar="CLAIM", help="a claim that decides verdict and exit status; repeatable [interval_joint]"),
    ] = None,
    guarantee: Annotated[
        list[str] | None,
        Parameter(
            metavar="NAME=PATTERN",
            help="segments on which that expert succeeds while active: a regular expression of the tokens, joined by "
            "blanks, or python:module:attribute, a predicate of entry prefix and segment; repeatable [none]",
        ),
    ] = None,
    no_bounds: Annotated[bool, Parameter(help="leave out how far the composition is from exact [off]")] = False,
    features: Annotated[
        str | None,
        Parameter(metavar="FILE", help="a feature map: FILE.json or python:module:attribute [none]"),
    ] = None,
    feature_masks: Annotated[
        list[str] | None,
        Parameter(
            metavar="NAME=COORDINATES",
            help="NAME=0,2: the coordinates of the features that expert owns, from 0; repeatable [the map's]",
        ),
    ] = None,
    resume: Annotated[
        str | None,
        Parameter(metavar="FILE", help="keep long work on large tables in FILE, and go on from it [off]"),
    ] = None,
    processes: Annotated[
        str | None,
        Parameter(metavar="N", help="spread long work on large tables over N processes [1]", allow_leading_hyphen=True),
    ] = None,
    json: Annotated[
        str | None,
        Parameter(metavar="FILE", help="write the report as data, - is standard output", allow_leading_hyphen=True),
    ] = None,
    certificate: Annotated[
        str | None, Parameter(metavar="FILE", help="write a certificate that `check` re-derives")
    ] = None,
) -> int:
    """Are these models jointly factorizable?

    Exit status: 0 every required claim HOLDS, 1 one is REFUTED, 2 the input or the call is wrong, 3 otherwise.
    """
    arguments = Arguments()
    words = [word for word in (background, *experts) if word is not None]
    words = arguments.strays("--feature-masks", feature_masks, words)
    words = arguments.strays("--weights", weights, arguments.strays("--masks", masks, words))
    background, experts = words[0] if words else None, tuple(words[1:])
    shipped = _shipped(arguments, example, background, experts)
    options: Mapping[str, Any] = {}
    if shipped is None:
        named = arguments.models(background, experts) if example is None else {}
        place = background
    else:
        named, place = {name: shipped.expert(name) for name in shipped.experts}, shipped.background
        arguments.names, options = shipped.experts, shipped.given
    given: dict[str, Any] = {
        "length": arguments.horizon(length, every_length),
        "window": arguments.window(window),
        "masks": arguments.masks(masks),
        "threshold": arguments.threshold(threshold),
        "scope": arguments.choice("--scope", scope, SCOPES),
        "null_tokens": arguments.choice("--null-tokens", null_tokens, NULL_TOKENS),
        "weights": arguments.weights(weights),
        "require": arguments.required(require),
        "features": features,
        "feature_masks": arguments.feature_masks(feature_masks),
        "exact": exact or None,
        "guarantees": arguments.guarantees(guarantee, every_length),
        "bounds": False if no_bounds else None,
        "resume": resume,
    }
    together = arguments.processes(processes)
    asked = dict(options) | _set(given)
    outputs = {"--json": json, "--certificate": certificate}
    map_place = asked.get("features")
    inputs = [p for p in (place, *named.values(), map_place) if p is not None]
    arguments.outputs(outputs, inputs)
    if certificate is not None:
        _certifiable(arguments, inputs)
    mapped = _load_features(arguments, map_place, shipped if features is None else None)
    base, models = _load(arguments, place, named, shipped)
    if mapped is not None:
        asked["features"] = mapped

    from factorcomp.cli.processes import joined
    from factorcomp.verification import verify

    with joined(together) as alone, output.progress("verifying") as progress:
        report = verify(base, models, progress=progress, **asked)
    if not alone:
        return STATUS.get(report.verdict, 3)
    if certificate is not None:
        _certify(certificate, report)
    if json is not None and json != "-":
        with output.writing(json):
            report.write_json(json)
        output.say(f"wrote {json}")
    if json == "-":
        output.emit(report.to_json_text())
    else:
        output.show(report)
    return STATUS.get(report.verdict, 3)


def _certify(path: str, report: "Report") -> None:
    """Write the certificate of a report on models that are files."""
    from factorcomp.certificates import certificate, write_certificate
    from factorcomp.models.errors import InputError

    beyond_reach = report.findings.states is not None or (report.findings.measures and not report.findings.deviating)
    if report.question.length != "every" and beyond_reach and report.experts:
        raise InputError(
            f"--certificate {path}: at length {report.question.length} there are too many prefixes to be checked; "
            "ask about every length (--every-length), or a shorter one"
        )
    if report.findings.invariant is None and report.findings.measures is not None and report.findings.states:
        raise InputError(f"--certificate {path}: {report.findings.states} product states are too many to be listed")
    data = certificate(
        report.findings,
        report.question,
        required=report.required,
        vocabulary=report.vocabulary,
        eos=report.eos,
        background=(report.background.name, report.background.sha256),
        experts={name: (model.name, model.sha256) for name, model in report.experts.items()},
        features=None if report.features is None else (report.features.map.name, report.features.map.sha256),
    )
    with output.writing(path):
        write_certificate(os.path.realpath(path), data)
    output.say(f"wrote {path}")


def _shipped(
    arguments: Arguments, name: str | None, background: str | None, experts: tuple[str, ...]
) -> Example | None:
    """The example asked for, if one is and can be."""
    if name is None:
        return None
    if background is not None or experts:
        arguments.problem(f"--example {name}: got models too; give the example or the models, not both")
    if name not in examples():
        from factorcomp.models.errors import InputError

        try:
            return example(name)
        except InputError as error:
            arguments.problems += error.problems
            return None
    return example(name)


def _certifiable(arguments: Arguments, places: list[str]) -> None:
    for place in places:
        if place.startswith("python:"):
            arguments.problem(
                f"--certificate: {place} is not a file, so that nobody could check it; save it as one first"
            )
        elif Path(place).suffix == ".arpa":
            arguments.problem(
                f"--certificate: {place}: the checker reads .json and .safetensors; save the model as .json first "
                f"(in Python, factorcomp.save(factorcomp.load({place!r}), 'FILE.json'))"
            )


def _load_features(arguments: Arguments, place: str | None, shipped: Example | None) -> "FeatureMap | None":
    """The feature map, or its problems with those of the call."""
    from factorcomp.formats import load_features
    from factorcomp.models.errors import InputError

    if place is None:
        return None
    try:
        mapped = load_features(place)
    except InputError as error:
        arguments.problems += error.problems
        return None
    if shipped is None:
        return mapped
    return replace(mapped, source=replace(mapped.source, name=f"{shipped.name}/{Path(place).name}"))


def _load(
    arguments: Arguments, background: str | None, experts: Mapping[str, str], shipped: Example | None = None
) -> tuple["TabularModel | FunctionModel", dict[str, "TabularModel | FunctionModel"]]:
    """The models, or every problem of the call and of every file together."""
    from factorcomp.formats import load
    from factorcomp.models.errors import InputError

    loaded: dict[str, Any] = {}
    for place in dict.fromkeys([background, *experts.values()]):
        if place:
            try:
                loaded[place] = load(place)
            except InputError as error:
                arguments.problems += error.problems
    arguments.raise_problems()
    assert background is not None
    if shipped is not None:
        for place, model in loaded.items():
            name = f"{shipped.name}/{Path(place).name}"
            loaded[place] = replace(model, source=replace(model.source, name=name))
    return loaded[background], {name: loaded[place] for name, place in experts.items()}


@app.command(usage="Usage: factorcomp check CERTIFICATE BACKGROUND NAME=EXPERT [NAME=EXPERT ...] [OPTIONS]")
def check(
    certificate: Annotated[str | None, Parameter(help="the certificate's file")] = None,
    background: Background = None,
    /,
    *experts: Experts,
    features: Annotated[
        str | None, Parameter(metavar="FILE", help="the feature map, if the certificate is about one [none]")
    ] = None,
) -> int:
    """Re-derive a certificate without the engine that made it.

    Exit status: 0 accepted, whatever the verdict it certifies, 1 rejected, 2 unreadable.
    """
    from factorcomp.certificates import check_certificate
    from factorcomp.report.words import printable

    arguments = Arguments()
    named = arguments.models(background, experts) if certificate is not None else {}
    if certificate is None:
        arguments.problem("no certificate: give CERTIFICATE, BACKGROUND and one NAME=EXPERT or more")
    else:
        arguments.certificate(certificate)
        arguments.there([place for place in (background, *named.values(), features) if place])
    arguments.raise_problems()
    assert certificate is not None
    assert background is not None
    with output.progress("checking") as progress:
        result = check_certificate(certificate, background, named, progress=progress, features=features)
    place = printable(certificate)
    if result.accepted:
        output.emit(f"ACCEPTED: {place} is true of these models; it certifies the verdict {result.verdict}.\n")
        return 0
    reasons = "".join(f"  {printable(reason)}\n" for reason in result.reasons)
    output.emit(f"REJECTED: {place} is not true of these models, or was altered:\n{reasons}")
    return 1


@app.command(usage=_usage("compose", "--output FILE [OPTIONS]"))
def compose(
    background: Background = None,
    /,
    *experts: Experts,
    output_file: Annotated[
        str | None, Parameter(name="--output", metavar="FILE", help="FILE.json, .safetensors, .prism, .tra or .lab")
    ] = None,
    length: Length = None,
    null_tokens: Convention = None,
    weights: Weights = None,
    sequence_level: Annotated[
        bool, Parameter(name="--global", help="the conditionals of the sequence-level composition [stepwise]")
    ] = False,
) -> int:
    """Write the composed model: a table, or without a length of finite-state models a finite-state model."""
    arguments = Arguments()
    named = arguments.models(background, experts)
    given: dict[str, Any] = {
        "length": arguments.length(length),
        "null_tokens": arguments.choice("--null-tokens", null_tokens, NULL_TOKENS),
        "weights": arguments.weights(weights),
    }
    if output_file is None:
        arguments.problem("no --output: give the file to write, such as FILE.json or FILE.safetensors")
    elif Path(output_file).suffix not in OUTPUTS:
        arguments.problem(f"--output {output_file}: needed a name that ends with {' or '.join(OUTPUTS)}")
    arguments.outputs({"--output": output_file}, [p for p in (background, *named.values()) if p])
    base, models = _load(arguments, background, named)
    assert output_file is not None

    from factorcomp.composition import compose
    from factorcomp.formats import save
    from factorcomp.models.tabular import TabularModel

    composed = compose(base, models, sequence_level=sequence_level, **_set(given))
    with output.writing(output_file):
        save(composed, output_file)
    for note in dict.fromkeys(note for model in (base, *models.values(), composed) for note in model.source.notes):
        output.say(f"note: {note}")
    kind = "sequence-level" if sequence_level else "stepwise"
    table = isinstance(composed, TabularModel)
    size = f"{len(composed.steps)} steps" if table else f"{len(composed.states)} states"
    output.say(f"wrote {output_file}: the {kind} composition, {size}")
    return 0


@app.command(usage=_usage("repair", "[--output DIR] [OPTIONS]"))
def repair(
    background: Background = None,
    /,
    *experts: Experts,
    example: ShippedExample = None,
    output_folder: Annotated[
        str | None,
        Parameter(name="--output", metavar="DIR", help="the folder to make: NAME.json, …, repair.json [write nothing]"),
    ] = None,
    force: Annotated[bool, Parameter(help="replace DIR, if it holds nothing but such files [off]")] = False,
    require: Annotated[
        str | None,
        Parameter(metavar="CLAIM", help="what shall hold: interval_joint or pointwise_joint [interval_joint]"),
    ] = None,
    cost: Annotated[
        str | None,
        Parameter(metavar="KIND", help="what a reset costs: tv, kl (expected under the composition) or count [tv]"),
    ] = None,
    length: Length = None,
    every_length: Annotated[
        bool, Parameter(help="of finite-state models, pointwise_joint at every length [off]")
    ] = False,
    threshold: Threshold = None,
    scope: ScopeName = None,
    null_tokens: Convention = None,
    weights: Weights = None,
) -> int:
    """Write the nearest experts that are jointly factorizable: where they clash, some rows become the background's.

    Without --output it only says what they would be. Exit status: 0 repaired (and verified), 2 the input or the call is
    wrong.
    """
    arguments = Arguments()
    shipped = _shipped(arguments, example, background, experts)
    named = arguments.models(background, experts) if example is None else {}
    options: Mapping[str, Any] = {}
    if shipped is not None:
        background, named = shipped.background, {name: shipped.expert(name) for name in shipped.experts}
        arguments.names = shipped.experts
        options = {option: value for option, value in shipped.options.items() if option in REPAIR_OPTIONS}
    given: dict[str, Any] = {
        "require": arguments.choice("--require", require, ("interval_joint", "pointwise_joint")),
        "cost": arguments.choice("--cost", cost, ("tv", "kl", "count")),
        "length": arguments.horizon(length, every_length),
        "threshold": arguments.threshold(threshold),
        "scope": arguments.choice("--scope", scope, SCOPES),
        "null_tokens": arguments.choice("--null-tokens", null_tokens, NULL_TOKENS),
        "weights": arguments.weights(weights),
    }
    if output_folder is not None:
        arguments.folder(output_folder, force, [p for p in (background, *named.values()) if p])
    elif force:
        arguments.problem("--force: got no --output; give the folder to replace")
    base, models = _load(arguments, background, named, shipped)

    from factorcomp.formats.folders import file_names, save_folder
    from factorcomp.repair import repair
    from factorcomp.repair.showing import show

    file_names(models, REPAIR)
    with output.progress("repairing") as progress:
        done = repair(base, models, progress=progress, **(dict(options) | _set(given)))
    if output_folder is not None:
        with output.writing(output_folder):
            files = save_folder(output_folder, done.models, REPAIR, done.to_json_text, replace=force)
        output.say(f"wrote {output_folder}: {', '.join([*files.values(), REPAIR])}")
    output.print_with(lambda console: show(done, console))
    if output_folder is None:
        output.say("nothing was written; --output DIR writes the repaired experts")
    return 0


@app.command(usage=_usage("doctor"))
def doctor(
    background: Background = None,
    /,
    *experts: Experts,
    length: Length = None,
    null_tokens: Convention = None,
) -> int:
    """Can these models be composed at all?

    Exit status: 0 nothing is in the way, 1 something is, 2 unreadable.
    """
    arguments = Arguments()
    named = arguments.models(background, experts)
    horizon = arguments.length(length)
    convention = arguments.choice("--null-tokens", null_tokens, NULL_TOKENS)
    base, models = _load(arguments, background, named)

    from factorcomp.diagnosis import doctor

    diagnosis = doctor(base, models, length=horizon, null_tokens=convention or "cancel")
    output.show(diagnosis)
    return 1 if diagnosis.blocked else 0


@app.command(name="examples", usage="Usage: factorcomp examples [NAME]")
def list_examples(name: Annotated[str | None, Parameter(help="print where this example lies")] = None, /) -> int:
    """List the shipped examples, or print where one lies."""
    from factorcomp.report.words import printable

    if name is not None:
        output.emit(f"{example(name).folder}\n")
        return 0
    listed = [example(known) for known in examples()]
    width = os.get_terminal_size().columns if sys.stdout is not None and sys.stdout.isatty() else None
    lines = _listed({shown.name: printable(shown.title) for shown in listed}, width)
    output.emit("".join(f"{line}\n" for line in lines))
    return 0


def _listed(titles: Mapping[str, str], width: int | None) -> list[str]:
    """A line per name and title; on a terminal too narrow for one, the title below its name."""
    widest = max(map(len, titles), default=0)
    lines = [f"{name:<{widest}}  {title}" for name, title in titles.items()]
    if width is None or max(map(len, lines), default=0) <= width:
        return lines
    return [
        line
        for name, title in titles.items()
        for line in (name, *textwrap.wrap(title, max(20, width), initial_indent="  ", subsequent_indent="  "))
    ]
