"""Random and golden instances as models, and every engine by the same call: `engine(instance) -> Findings`."""

from collections.abc import Callable

from factorcomp.certificates.claims import Findings, Verdict
from factorcomp.factorization.decision import decide
from factorcomp.models.tabular import TabularModel
from factorcomp.verification.kernel import decide_exactly
from tests import oracle
from tests.strategies import Instance

Engine = Callable[[Instance], Findings]


def model(instance: Instance, name: str) -> TabularModel:
    """The background (`"background"`) or an expert of an instance, from its model file's contents."""
    contents = instance.model_json(name)
    return TabularModel.from_probabilities(contents["steps"], contents["vocabulary"], contents["eos"], name=name)


def models(instance: Instance) -> tuple[TabularModel, dict[str, TabularModel]]:
    """Background and experts."""
    return model(instance, "background"), {name: model(instance, name) for name in instance.experts}


def by_enumeration(instance: Instance) -> Findings:
    """The level-wise engine alone."""
    return decide(*models(instance), instance.question)


def by_kernel(instance: Instance) -> Findings:
    """The rational kernel."""
    return decide_exactly(*models(instance), instance.question)


def by_definition(instance: Instance) -> Findings:
    """The brute-force oracle."""
    return oracle.decide(instance.vocabulary, instance.eos, instance.background, instance.experts, instance.question)


ENGINES: dict[str, Engine] = {"enumeration": by_enumeration, "kernel": by_kernel, "oracle": by_definition}


def undecided(findings: Findings) -> set[str]:
    """The claims that an engine left open."""
    return {result.name for result in findings.claims if result.verdict is Verdict.UNDECIDED}
