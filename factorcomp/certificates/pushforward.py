"""Features for every length: the pushforward of a finite-state model under a transducer (theory.md, Theorem 6.2)."""

import math
from collections.abc import Collection, Mapping
from dataclasses import replace
from fractions import Fraction

from factorcomp.certificates.automata import Automaton
from factorcomp.certificates.claims import (
    CLAIMS,
    ClaimResult,
    FeatureWitness,
    Findings,
    MarginalWitness,
    Question,
    Verdict,
)
from factorcomp.certificates.documents import KernelError
from factorcomp.certificates.every_length import METHOD, decide_every_length, endless, finite_state
from factorcomp.certificates.feature_maps import RELABELS, FeatureMap
from factorcomp.certificates.models import Model, check_tokens
from factorcomp.certificates.positions import Clock


def push_forward(model: Automaton, features: FeatureMap) -> Automaton:
    """The model of the features: its states are pairs of a state of the model and one of the map. It has no EOS."""
    if features.machine is None:
        raise KernelError("features: got a map up to a length, needed a transducer for every length")
    check_tokens((features.vocabulary, None), model.vocabulary, None, "features")
    initial, states = features.machine
    nothing = Fraction(0) if model.scale == "probs" else -math.inf
    names = [*model.states, "the end"]
    pairs = [(model.initial, initial)]
    numbers = {pairs[0]: 0}
    rows, following = [], []
    for q, s in pairs:
        said = {states[s]["output"][token]: (y, states[s]["next"][token]) for y, token in enumerate(model.vocabulary)}
        row, leads = [], []
        for z in features.features:
            y, after = said.get(z, (None, s))
            row.append(nothing if y is None else model.kernels[q][y])
            lead = None if y is None else model.leads[q][y]
            leads.append(None)
            if lead is not None:
                if (lead, after) not in numbers:
                    numbers[lead, after] = len(pairs)
                    pairs.append((lead, after))
                leads[-1] = numbers[lead, after]
        rows.append(tuple(row))
        following.append(tuple(leads))
    labels = tuple(f"{n}: {names[q]}, {s}" for n, (q, s) in enumerate(pairs))
    return Automaton(features.features, None, labels, 0, tuple(rows), tuple(following), model.scale)


def with_features(
    findings: Findings,
    background: Model | Automaton,
    experts: Mapping[str, Model | Automaton],
    question: Question,
    features: FeatureMap,
    claims: Collection[str] | None,
    residuals: bool,
) -> Findings:
    """The findings about every length, with the claims about features: those about masks of the pushforwards.

    **Raises** `KernelError` for masks that overlap or are malformed, whatever is asked, and for a map of one length.
    """
    masks = question.feature_masks or {}
    Clock({name: endless(mask) for name, mask in masks.items()})
    base = push_forward(finite_state(background, "background"), features)
    own = {name: push_forward(finite_state(model, name), features) for name, model in experts.items()}
    about = replace(question, masks=masks, feature_masks=None, scope="reachable", threshold=Fraction(0))
    asked = [("feature_projective", name) for name in experts if name in masks] + [("feature_commutes", None)]
    asked = [(c, m) for c, m in asked if claims is None or c in claims or f"{c}:{m}" in claims]
    wanted = {f"projective:{name}" for _, name in asked if name}
    answer = decide_every_length(base, own, about, None, wanted, residuals) if wanted else None
    results = list(findings.claims)
    for claim, name in asked:
        if findings["well_defined"].verdict is not Verdict.HOLDS:
            why = "the composition is not well defined"
            results.append(ClaimResult(claim, Verdict.UNDECIDED, METHOD, "every", why, mask=name))
        elif answer is not None and name is not None:
            results.append(of_features(answer[f"projective:{name}"]))
        else:
            results.append(ClaimResult(claim, Verdict.HOLDS, METHOD, "every", RELABELS, Fraction(0)))
    return replace(findings, claims=tuple(sorted(results, key=lambda result: CLAIMS.index(result.claim))))


def of_features(result: ClaimResult) -> ClaimResult:
    """`projective` of the pushforwards is `feature_projective`."""
    witness = result.witness
    if isinstance(witness, MarginalWitness):
        witness = FeatureWitness(witness.positions, witness.tokens, witness.composition, witness.expert)
    return replace(result, claim="feature_projective", witness=witness)
