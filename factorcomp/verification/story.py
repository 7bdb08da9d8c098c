"""verify(): the whole story, from models to a report."""

import os
from collections.abc import Mapping, Sequence

from factorcomp.certificates.claims import NullTokens, Scope
from factorcomp.enumeration.survey import Progress
from factorcomp.factorization.decision import decide
from factorcomp.models.alignment import Model, aligned
from factorcomp.models.function import as_table
from factorcomp.models.tabular import TabularModel
from factorcomp.questions import Masks, Numeric, ask
from factorcomp.verdicts import ModelName, Report
from factorcomp.verification.kernel import decide_exactly, settle
from factorcomp.verification.witnesses import steps_to_show


def verify(
    background: Model,
    experts: Mapping[str, Model],
    *,
    length: int | None = None,
    masks: Masks = None,
    threshold: Numeric = 0,
    scope: Scope = "reachable",
    null_tokens: NullTokens = "cancel",
    weights: Mapping[str, Numeric] | None = None,
    exact: bool = False,
    require: Sequence[str] | str = ("interval_joint",),
    progress: Progress | None = None,
) -> Report:
    """Proves, refutes with a witness, or leaves open whether a background and its experts are jointly factorizable.

    Composes `p^(y|h) ∝ p_b(y|h) prod_i p_i(y|h)/p_b(y|h)` at every prefix `h` shorter than `length` and decides the
    claims of theory.md, sections 1-4 and 10.

    **Arguments:** `length`: the horizon in tokens; by default that of the tables. `masks`: expert name -> the positions
    (from 0) that it owns, or `"auto"`. `threshold`: in nats; an expert deviates at a prefix if the oscillation of its
    log-ratio to the background exceeds it. `scope`: the prefixes that the composition can reach, or all. `null_tokens`:
    theory.md 1.3. `weights`: expert name -> the factor of its log-ratio. `exact`: decide by the rational kernel alone.
    `require`: the claim or claims that make the verdict. `progress`: called with the prefixes done and their number.

    **Returns:** a `Report`. **Raises** `InputError`, with every problem, where models or options do not fit together.

    >>> base = TabularModel.from_probabilities([["1/2", "1/2"]], ["a", "b"])
    >>> up = TabularModel.from_probabilities([["1/4", "3/4"]], ["a", "b"])
    >>> report = verify(base, {"up": up, "same": base})
    >>> print(report.verdict, report.measures.experts["up"].deviating_prefixes)
    HOLDS 1
    """
    check_models(background, experts)
    require = (require,) if isinstance(require, str) else tuple(require)
    background, aligned_experts = aligned(background, experts)
    question = ask(
        background,
        aligned_experts,
        length=length,
        masks=masks,
        threshold=threshold,
        scope=scope,
        null_tokens=null_tokens,
        weights=weights,
        require=require,
    )
    base = as_table(background, question.length, progress)
    tables = {name: as_table(expert, question.length, progress) for name, expert in aligned_experts.items()}
    if exact:
        findings = decide_exactly(base, tables, question, progress)
    else:
        findings = settle(decide(base, tables, question, progress), base, tables, question)
    models = (base, *tables.values())
    return Report(
        background=_name(base),
        experts={name: _name(table) for name, table in tables.items()},
        vocabulary=base.vocabulary,
        eos=base.eos,
        question=question,
        required=require,
        findings=findings,
        notes=tuple(dict.fromkeys(note for model in models for note in model.source.notes)),
        steps=steps_to_show(findings, base, tables, question),
        prefixes=findings.prefixes,
    )


def check_models(background: object, experts: object) -> None:
    """Raises `TypeError` unless these are a model and a mapping from names to models."""
    if not isinstance(experts, Mapping):
        given = f"a {type(experts).__name__}"
        raise TypeError(f"experts: got {given}, needed a mapping from names to models, such as {{'up': model}}")
    for name, model in {"background": background, **experts}.items():
        if not isinstance(model, Model):
            given = repr(model) if isinstance(model, str | os.PathLike) else f"a {type(model).__name__}"
            raise TypeError(f"{name}: got {given}, needed a model: factorcomp.load(path) reads one")


def _name(model: TabularModel) -> ModelName:
    return ModelName(model.source.name, model.source.sha256)
