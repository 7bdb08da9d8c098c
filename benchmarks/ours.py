"""Our own engines. Which module answers for which engine is said in `SURVEYS` and `MASK_CHECK` alone."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module

from benchmarks.engine import Answer, Engine
from benchmarks.workloads import Case, Table
from factorcomp import FiniteStateModel, FunctionModel, Question, TabularModel
from factorcomp.surveys import Survey

SURVEYS = {"streaming": "factorcomp.streaming", "level-wise": "factorcomp.enumeration.levelwise"}
"""Whose `survey(background, experts, question)` is timed; the first module that is there is held to the targets."""
MASK_CHECK = "factorcomp.factorization.conditionals:decide_conditionals"
ON_THE_FLY = "factorcomp.streaming"
"""Whose `survey` takes functions in place of tables, asks for their rows as it goes, and spreads over processes."""
EXPERTS = ("up", "down")


@dataclass(frozen=True)
class Prepared:
    """Tables, checked once; `models` makes new ones of the same rows, without what was computed from them before."""

    background: TabularModel
    experts: tuple[TabularModel, ...]
    question: Question

    def models(self) -> tuple[TabularModel, dict[str, TabularModel]]:
        """Background and experts."""
        background, *experts = (_fresh(model) for model in (self.background, *self.experts))
        return background, dict(zip(EXPERTS, experts, strict=True))


def prepare(case: Case) -> Prepared:
    """The tables as models."""
    vocabulary = [f"t{y}" for y in range(case.vocab)]

    def model(table: Table) -> TabularModel:
        return TabularModel.from_probabilities(table, vocabulary)

    masks = dict(zip(EXPERTS, case.masks, strict=True))
    return Prepared(model(case.background), tuple(map(model, case.experts)), Question(case.length, masks))


def _fresh(model: TabularModel) -> TabularModel:
    return TabularModel(model.vocabulary, tuple(type(rows)(rows.values, rows.scale) for rows in model.steps))


def surveyor(module: str) -> Callable[[Prepared], Answer]:
    """The task `survey` of one of our engines: where conditionals factorize, marginals agree by Theorem 2.2."""

    def survey(prepared: Prepared) -> Answer:
        found = import_module(module).survey(*prepared.models(), prepared.question)
        return answer(found, factorized=check_masks(prepared)["factorized"])

    return survey


def answer(survey: Survey, *, factorized: bool = False) -> Answer:
    """What the peers compute, out of a survey; `factorized`: the marginals are known to agree."""
    conflict = survey.conflict
    return {
        "projective": [0.0 if factorized else survey.marginal(expert).tv for expert in survey.masks or ()],
        "active": [expert.active for expert in survey.experts],
        "conflict": float(conflict.probability),
        "first": None if conflict.first is None else [conflict.first.length, conflict.first.index],
    }


def check_masks(prepared: Prepared) -> Answer:
    """The task `masks`: factorized conditionals, decided on the rows."""
    background, experts = prepared.models()
    module, name = MASK_CHECK.split(":")
    decide = getattr(import_module(module), name)
    masks = dict(enumerate(prepared.question.given_masks.values()))
    return {"factorized": decide(background.steps, [e.steps for e in experts.values()], masks).hold}


def verified(prepared: Prepared) -> Answer:
    """The whole of `factorcomp.verify`: every claim, with masks and bounds."""
    from factorcomp import verify

    background, experts = prepared.models()
    report = verify(background, experts, masks=prepared.question.masks)
    joint = report["interval_joint"]
    prefix = None if joint.witness is None else [background.vocabulary.index(y) for y in joint.witness.prefix]
    index = sum(y * len(background.vocabulary) ** place for place, y in enumerate(reversed(prefix or ())))
    return {
        "projective": [float(report[f"projective:{name}"].residual) for name in EXPERTS],
        "active": [report.measures.experts[name].active_prefixes for name in EXPERTS],
        "conflict": float(joint.residual),
        "first": None if prefix is None else [len(prefix), index],
        "factorized": report["factorized_conditionals"].verdict.value == "HOLDS",
    }


ENGINES = (
    *(
        Engine(
            f"factorcomp, {name}",
            (module, "jax"),
            ("factorcomp", "jax", "numpy"),
            prepare,
            {"survey": surveyor(module), "masks": check_masks},
            "all that the claims need: also TVs to the switching model and to the sequence-level composition, log Z, "
            "runs, rounding errors; deviations decided exactly; factorized conditionals, and marginals where they fail",
        )
        for name, module in SURVEYS.items()
    ),
    Engine(
        "factorcomp.verify",
        ("factorcomp", "jax"),
        ("factorcomp", "jax", "numpy"),
        prepare,
        {"survey": verified},
        "the whole report: survey, mask check, bounds, every claim",
    ),
)


LEVELWISE = next(engine for engine in ENGINES if engine.name == "factorcomp, level-wise")
"""Against which peers are checked on small cases."""


def subject() -> Engine:
    """The engine of ours that is held to the targets."""
    return next(engine for engine in ENGINES if engine.missing() is None)


def on_the_fly(background: FunctionModel, experts: Mapping[str, FunctionModel], question: Question) -> Answer:
    """A survey of functions, their tables never laid out. Raises `ImportError` where no engine does that."""
    return answer(import_module(ON_THE_FLY).survey(background, experts, question))


def conflict_at_length(
    background: FiniteStateModel, experts: Mapping[str, FiniteStateModel], question: Question
) -> float:
    """The probability that a path meets two active experts: by the finite-state engine, linear in the length."""
    from factorcomp.factorization.at_length import decide_at_length

    claims = {claim.name: claim for claim in decide_at_length(background, experts, question).claims}
    return float(claims["interval_joint"].residual)
