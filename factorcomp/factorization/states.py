"""What the claims about finite-state models share, for every length and for one: where they are undefined, measures."""

from factorcomp.certificates.claims import (
    ClaimResult,
    ExpertMeasures,
    Measures,
    Number,
    Termination,
    Verdict,
)
from factorcomp.factorization import joint
from factorcomp.factorization.context import Context
from factorcomp.finite_state.at_length import AtLength
from factorcomp.finite_state.every_length import EveryLength
from factorcomp.finite_state.seen import AbstractSeen

METHOD = "finite-state"


def well_defined(context: Context, found: AbstractSeen) -> ClaimResult:
    """No undefined ratio, no dead prefix, and none of which a model says nothing, in scope."""
    broken = found.product.broken
    if not broken.any():
        return joint.well_defined(context, ())
    state = int(broken.argmax())
    gaps = found.product.gaps[:, state]
    if gaps.any():
        return joint.undefined_at_gap(context, gaps.tolist())
    rows = [
        model.rows.support()[q]
        for model, q in zip(
            (found.background, *found.experts.values()), found.product.members[:, state].tolist(), strict=True
        )
    ]
    return joint.well_defined(context, joint.openers(rows[0], rows[1:], context.names, context.question))


def measures(context: Context, found: EveryLength | AtLength, equal: ClaimResult, unended: Number | None) -> Measures:
    """The numbers of a report. `equal`: the claim `local_equals_global`; `unended`: the mass that does not end."""
    composed = found.composed
    termination = None
    if found.background.eos is not None:
        termination = Termination(
            unended=unended,
            background=found.expected_length(0),
            composition=found.expected_length(),
            experts={name: found.expected_length(i + 1) for i, name in enumerate(context.names)},
        )
    return Measures(
        tv_to_switching=0.0 if follows_switching(found) else None,
        tv_local_global=0.0 if equal.verdict is Verdict.HOLDS else None,
        log_normalizer_min=float(composed.log_normalizer.min()),
        log_normalizer_max=float(composed.log_normalizer.max()),
        experts={
            name: ExpertMeasures(
                deviating_prefixes=None,
                active_prefixes=None,
                activity_probability=found.activity(i),
                expected_active_steps=found.active_steps(i),
                max_oscillation=float(composed.oscillation[i].max()),
                runs=found.runs(i),
            )
            for i, name in enumerate(context.names)
        },
        overlap_probability=found.overlap.probability,
        termination=termination,
    )


def follows_switching(found: AbstractSeen) -> bool:
    """Whether the composition certainly is the switching model: at most one expert differs, and it deviates."""
    composed = found.composed
    same = composed.settled & (composed.differs == composed.deviates).all(axis=0)
    return bool(same[found.product.reachable].all())
