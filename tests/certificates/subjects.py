"""Instances and golden cases as the kernel takes them: in memory, and in files."""

import json
from pathlib import Path

from factorcomp.certificates import Model, read_model
from factorcomp.certificates.claims import Findings
from factorcomp.certificates.kernel import decide
from tests.strategies import Instance


def model(instance: Instance, name: str) -> Model:
    """One model of an instance, in memory."""
    steps = tuple(tuple(tuple(row) for row in step) for step in instance.model(name))
    return Model(instance.vocabulary, instance.eos, steps)


def decided(instance: Instance) -> Findings:
    """The kernel's findings on an instance."""
    experts = {name: model(instance, name) for name in instance.experts}
    return decide(model(instance, "background"), experts, instance.question)


def written(instance: Instance, folder: Path) -> tuple[Path, dict[str, Path]]:
    """The models of an instance in files: the background's, and the experts'."""
    paths = {}
    for name in ("background", *instance.experts):
        paths[name] = folder / f"{name}.json"
        paths[name].write_text(json.dumps(instance.model_json(name)), encoding="utf-8")
    return paths.pop("background"), paths


def decided_from_files(instance: Instance, folder: Path) -> Findings:
    """The same findings, from the files."""
    background, experts = written(instance, folder)
    return decide(read_model(background), {n: read_model(path) for n, path in experts.items()}, instance.question)
