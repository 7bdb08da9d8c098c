"""How robust a composition is: its distance from what it ought to be, each bound beside the truth.

Source: theory.md, sections 8, 2.9 to 2.11, 1.5 (4), 7.2 and 10.1. All is float64, on the levels of one enumeration.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from factorcomp.bounds.ending import eos_terms
from factorcomp.bounds.per_prefix import total_variation
from factorcomp.bounds.sequences import tilted_kl, tilted_tv
from factorcomp.certificates.claims import Findings, Positions, Question, Verdict
from factorcomp.composition.operator import compose_rows
from factorcomp.enumeration.levelwise import NUMBERS_TO_KEEP
from factorcomp.enumeration.summary import Summary
from factorcomp.enumeration.tree import log_sum, spelled
from factorcomp.factorization.dependence import Masks, lawful, projective, robust_factorization, target_rows
from factorcomp.factorization.reference import against, assigned_to, comparison, nearest
from factorcomp.inequalities import Bound, Comparison, Effect, Ending, Robust

SKIPPED = f"the tables hold more than {NUMBERS_TO_KEEP:,} numbers"


def robust(seen: Summary, findings: Findings, vocabulary: Sequence[str], eos: str | None, question: Question) -> Robust:
    """All bounds on a well-defined composition; only why not, where the levels hold no rows.

    `seen`: the levels, with their rows kept. `findings`: what is claimed of the same models, in the experts' order.
    """
    if any(step.rows is None for step in seen.steps):
        return Robust(skipped=SKIPPED)
    names, length = list(findings.active), len(seen.steps)
    switching = [step.rows.switching for step in seen.steps if step.rows is not None]
    who, nearby = nearest(seen)
    exact = findings["exact_switching"].verdict is Verdict.HOLDS
    comparisons = []
    if not _equal_where_reached(seen, switching, nearby):
        found = against(seen, switching, assigned_to(seen, switching))
        comparisons = [comparison("switching", "the switching model", found, length)]
        words, name = "the nearest component at each prefix", "nearest"
    else:
        words, name = "the switching model", "switching"
    found = None if exact else against(seen, nearby, who)
    same = Comparison(name, words, True, 0.0, 0.0, 0.0)
    comparisons.append(same if found is None else comparison(name, words, found, length))
    comparisons.append(local_global(seen, same=findings["local_equals_global"].verdict is Verdict.HOLDS))
    comparisons += _about_masks(seen, findings, names, question)
    defect = [np.zeros_like(step.nearest_tv) if exact else step.nearest_tv for step in seen.steps]
    return Robust(
        comparisons=tuple(comparisons),
        switching_defect=_effect(seen, defect, vocabulary),
        leave_one_out={
            name: _effect(seen, effects, vocabulary)
            for name, effects in zip(names, leave_one_out(seen, names, question), strict=True)
        },
        ending=None if eos is None else ending(seen, who, names, vocabulary, vocabulary.index(eos)),
    )


def _equal_where_reached(
    seen: Summary, rows: Sequence[Float[np.ndarray, "_ vocab"]], others: Sequence[Float[np.ndarray, "_ vocab"]]
) -> bool:
    levels = zip(rows, others, seen.laws, strict=False)
    return not any(((a != b).any(axis=1) & law.reachable).any() for a, b, law in levels)


def local_global(seen: Summary, *, same: bool) -> Comparison:
    """Theorem 1.5 (4): `P_G = P_L e^S / Z_G` with `S` the sum of `log Z` on the path."""
    words = "stepwise and sequence-level composition"
    if same:
        return Comparison("local_global", words, True, 0.0, 0.0, 0.0)
    leaves = seen.laws[-1]
    on = leaves.reachable
    log_l, s = leaves.log_composition[on], leaves.path_log_normalizer[on]
    log_total = log_sum(log_l + s)
    law = np.exp(log_l)
    tv = float((law * -np.expm1(np.minimum(s - log_total, 0.0))).sum())
    kl = max(0.0, log_total - float((law * s).sum()))
    reverse = max(0.0, float((np.exp(log_l + s - log_total) * s).sum()) - log_total)
    oscillation = float(s.max() - s.min())
    bounds = (
        Bound("oscillation", "osc(S)²/8, S = log Z summed", "1.5 (4)", "kl", kl, tilted_kl(oscillation)),
        Bound(
            "oscillation", "the same, from global to local", "1.5 (4)", "reverse_kl", reverse, tilted_kl(oscillation)
        ),
        Bound("tanh", "tanh(osc(S)/4)", "1.5 (4)", "tv", tv, tilted_tv(oscillation)),
    )
    return Comparison("local_global", words, False, tv, kl, reverse, bounds)


def _about_masks(seen: Summary, findings: Findings, names: Sequence[str], question: Question) -> list[Comparison]:
    """2.9 and 2.10 on each mask; 2.11, and 8.2 against the same target; nothing where an expert has no law."""
    if findings.masks is None or not lawful(seen):
        return []
    masks: Masks = {
        names.index(name): mask.below(question.horizon) if isinstance(mask, Positions) else mask
        for name, mask in findings.masks.items()
    }
    verdicts = {result.name: result.verdict for result in findings.claims}
    found = [
        projective(seen, i, names[i], block, holds=verdicts.get(f"projective:{names[i]}") is Verdict.HOLDS)
        for i, block in masks.items()
    ]
    if verdicts["factorized_conditionals"] is Verdict.HOLDS:
        return found
    target = comparison(
        "target", "the product of the blocks", against(seen, target_rows(seen, masks), None), len(seen.steps)
    )
    return [*found, target, robust_factorization(seen, masks)]


def leave_one_out(seen: Summary, names: Sequence[str], question: Question) -> list[list[Float[np.ndarray, "_"]]]:
    """For each expert `TV(p^, p^_{-i})` at every prefix, level by level; `p^_{-i}`: the background in its place."""
    effects = []
    for i in range(len(names)):
        levels = []
        for law, step in zip(seen.laws, seen.steps, strict=False):
            assert step.rows is not None
            effect = np.zeros(len(law.reachable))
            on = np.flatnonzero(law.reachable & step.differs[i])
            rows = step.rows.components[:, on]
            others = np.where(np.arange(len(rows) - 1)[:, None, None] == i, rows[0], rows[1:])
            without = compose_rows(rows[0], others, None, question.null_tokens)  # the components are tilted already
            effect[on] = total_variation(step.log_probs[on], without.log_probs)
            levels.append(effect)
        effects.append(levels)
    return effects


def _effect(seen: Summary, levels: Sequence[Float[np.ndarray, "_"]], vocabulary: Sequence[str]) -> Effect:
    """The largest at a prefix that the composition reaches, with the first such prefix, and the expected sum."""
    largest, prefix, expected = 0.0, None, 0.0
    for length, (law, values) in enumerate(zip(seen.laws, levels, strict=False)):
        values = np.where(law.reachable, values, 0.0)
        expected += float((law.probability * values).sum())
        if values.max(initial=0.0) > largest:
            largest, index = float(values.max()), int(values.argmax())
            prefix = spelled(index, length, vocabulary)
    return Effect(largest, prefix, expected)


def ending(
    seen: Summary, who: Sequence[np.ndarray], names: Sequence[str], vocabulary: Sequence[str], eos: int
) -> Ending | None:
    """The log-odds of EOS taken apart where they are farthest from the nearest component's; `None` if nowhere."""
    found, largest = None, 0.0
    for length, (law, step) in enumerate(zip(seen.laws, seen.steps, strict=False)):
        assert step.rows is not None
        on = np.flatnonzero(law.reachable & ~law.ended)
        components = step.rows.components[:, on]
        terms = eos_terms(components, eos)
        own = np.concatenate([terms.background[None], terms.background + terms.shifts])
        component = np.take_along_axis(own, who[length][on][None], axis=0)[0]
        distance = np.where(terms.applies & ~step.settled[on], np.abs(terms.composition - component), 0.0)
        if distance.max(initial=0.0) > max(largest, float(4 * step.error.max(initial=0.0))):
            at = int(distance.argmax())
            largest = float(distance[at])
            found = Ending(
                prefix=spelled(int(on[at]), length, vocabulary),
                composition=float(terms.composition[at]),
                component=float(component[at]),
                background=float(terms.background[at]),
                shifts={name: float(shift) for name, shift in zip(names, terms.shifts[:, at], strict=True)},
                log_content=float(terms.log_content[at]),
            )
    return found
