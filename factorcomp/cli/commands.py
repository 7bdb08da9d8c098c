"""The commands and their options."""

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from factorcomp.cli import output
from factorcomp.cli.arguments import Arguments
from factorcomp.cli.shipped import Example, example, examples

if TYPE_CHECKING:
    from factorcomp.models.function import FunctionModel
    from factorcomp.models.tabular import TabularModel

SCOPES = ("reachable", "all")
NULL_TOKENS = ("cancel", "strict", "drop")
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
    help_epilogue="A model is FILE.json, FILE.safetensors or python:module:attribute.",
    help_format="plaintext",
    version=_version,
    default_parameter=Parameter(negative=(), show_default=False),
    suppress_keyboard_interrupt=False,
)

Background = Annotated[str | None, Parameter(help="the background model")]
Experts = Annotated[str, Parameter(name="NAME=EXPERT", help="an expert model and its name; one or more")]
Length = Annotated[
    str | None,
    Parameter(help="horizon: sequences of N tokens [the tables' common horizon]", allow_leading_hyphen=True),
]
NullTokens = Annotated[
    str | None, Parameter(help="what a token that the background excludes means: cancel, strict or drop [cancel]")
]
Weights = Annotated[
    list[str] | None, Parameter(help="NAME=X: that expert's log-ratio is multiplied by X > 0; repeatable [1]")
]


def _usage(command: str, rest: str = "[OPTIONS]") -> str:
    return f"Usage: factorcomp {command} BACKGROUND NAME=EXPERT [NAME=EXPERT ...] {rest}"


@app.command(usage=_usage("verify"))
def verify(
    background: Background = None,
    /,
    *experts: Experts,
    example: Annotated[
        str | None, Parameter(help="a shipped example, in place of models (`factorcomp examples`)")
    ] = None,
    length: Length = None,
    masks: Annotated[
        list[str] | None,
        Parameter(help="NAME=0,2,5 or NAME=0::3: the positions that expert owns, from 0; repeatable; or auto [none]"),
    ] = None,
    threshold: Annotated[
        str | None,
        Parameter(help="nats: what oscillates more is a deviation [0: any difference]", allow_leading_hyphen=True),
    ] = None,
    scope: Annotated[str | None, Parameter(help="the prefixes: reachable or all [reachable]")] = None,
    null_tokens: NullTokens = None,
    weights: Weights = None,
    exact: Annotated[bool, Parameter(help="decided by the rational kernel [off]")] = False,
    require: Annotated[
        list[str] | None,
        Parameter(help="a claim that decides verdict and exit status; repeatable [interval_joint]"),
    ] = None,
    json: Annotated[
        str | None, Parameter(help="write the report as data, - is standard output", allow_leading_hyphen=True)
    ] = None,
    certificate: Annotated[str | None, Parameter(help="write a certificate that `check` re-derives")] = None,
) -> int:
    """Are these models jointly factorizable?

    Exit status: 0 every required claim HOLDS, 1 one is REFUTED, 2 the input or the call is wrong, 3 otherwise.
    """
    arguments = Arguments()
    shipped = _shipped(arguments, example, background, experts)
    options: Mapping[str, Any] = {}
    if shipped is None:
        named = arguments.models(background, experts) if example is None else {}
        place = background
    else:
        named, place = {name: shipped.expert(name) for name in shipped.experts}, shipped.background
        arguments.names, options = shipped.experts, shipped.options
    asked = {
        "length": arguments.length(length),
        "masks": arguments.masks(masks),
        "threshold": arguments.threshold(threshold),
        "scope": arguments.choice("--scope", scope, SCOPES),
        "null_tokens": arguments.choice("--null-tokens", null_tokens, NULL_TOKENS),
        "weights": arguments.weights(weights),
        "require": arguments.required(require),
        "exact": exact or None,
    }
    asked = dict(options) | {option: value for option, value in asked.items() if value is not None}
    outputs = {"--json": json, "--certificate": certificate}
    arguments.outputs(outputs, [place, *named.values()] if place is not None else [])
    if certificate is not None:
        _certifiable(arguments, [p for p in (place, *named.values()) if p is not None])
    base, models = _load(arguments, place, named, shipped)

    from factorcomp.verification import verify

    with output.progress("verifying") as progress:
        report = verify(base, models, progress=progress, **asked)
    if certificate is not None:
        _certify(certificate, place, named, report)
    if json is not None and json != "-":
        report.write_json(json)
    if json == "-":
        output.emit(report.to_json_text())
    else:
        output.show(report)
    return STATUS.get(report.verdict, 3)


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


@app.command(usage="Usage: factorcomp check CERTIFICATE BACKGROUND NAME=EXPERT [NAME=EXPERT ...]")
def check(
    certificate: Annotated[str | None, Parameter(help="the certificate's file")] = None,
    background: Background = None,
    /,
    *experts: Experts,
) -> int:
    """Re-derive a certificate without the engine that made it.

    Exit status: 0 accepted, whatever the verdict it certifies, 1 rejected, 2 unreadable.
    """
    raise NotImplementedError


@app.command(usage=_usage("compose", "--output FILE [OPTIONS]"))
def compose(
    background: Background = None,
    /,
    *experts: Experts,
    output_file: Annotated[str | None, Parameter(name="--output", help="FILE.json or FILE.safetensors")] = None,
    length: Length = None,
    null_tokens: NullTokens = None,
    weights: Weights = None,
    sequence_level: Annotated[
        bool, Parameter(name="--global", help="the conditionals of the sequence-level composition [stepwise]")
    ] = False,
) -> int:
    """Write the composed model."""
    arguments = Arguments()
    named = arguments.models(background, experts)
    asked = {
        "length": arguments.length(length),
        "null_tokens": arguments.choice("--null-tokens", null_tokens, NULL_TOKENS),
        "weights": arguments.weights(weights),
    }
    if output_file is None:
        arguments.problem("no --output: give the file to write, FILE.json or FILE.safetensors")
    elif Path(output_file).suffix not in (".json", ".safetensors"):
        arguments.problem(f"--output {output_file}: needed a name that ends with .json or .safetensors")
    arguments.outputs({"--output": output_file}, [p for p in (background, *named.values()) if p])
    base, models = _load(arguments, background, named)
    assert output_file is not None

    from factorcomp.composition import compose
    from factorcomp.formats import save

    asked = {option: value for option, value in asked.items() if value is not None}
    composed = compose(base, models, sequence_level=sequence_level, **asked)
    save(composed, output_file)
    kind = "sequence-level" if sequence_level else "stepwise"
    output.say(f"wrote {output_file}: the {kind} composition, {len(composed.steps)} steps")
    return 0


@app.command(usage=_usage("doctor"))
def doctor(
    background: Background = None,
    /,
    *experts: Experts,
    length: Length = None,
    null_tokens: NullTokens = None,
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
    widest = max((len(shown.name) for shown in listed), default=0)
    lines = [f"{shown.name:<{widest}}  {printable(shown.title)}" for shown in listed]
    if sys.stdout is not None and sys.stdout.isatty():
        width = os.get_terminal_size().columns
        lines = [line if len(line) <= width else f"{line[: width - 1]}…" for line in lines]
    output.emit("".join(f"{line}\n" for line in lines))
    return 0
