"""When a trained expert starts and stops to deviate, against the times at which the task itself opens and closes.

An expert deviates at a prefix if its row differs from the background's by more than a threshold: in oscillation of the
log-ratio (nats), as theory.md has it; the same on the tokens that the background finds possible (`restricted`: at least
`CUTOFF`); or in total variation. Along a text its interval goes from its first deviation to
behind its last (in hindsight: theory.md, 3.5). The task's own goes from the first to behind the last token that the
skill decides.
"""

from typing import Any, Literal

import numpy as np
from jaxtyping import Bool, Float, Int

from toy_tasks.skill_segments.grammar import SKILLS
from toy_tasks.skill_segments.measured import Logs, Sample, drawn_from

Measure = Literal["oscillation", "restricted", "total_variation"]
THRESHOLDS: dict[Measure, tuple[float, ...]] = {
    "oscillation": (0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0),
    "restricted": (0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0),
    "total_variation": (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5),
}
CUTOFF = 0.02
"""Less than any token that the format allows has in the background."""
NEVER = -1
Times = Int[np.ndarray, "texts 2"]


def deviation(logs: Logs, measure: Measure) -> Float[np.ndarray, "experts texts prefixes"]:
    """How far each expert's row is from the background's, which comes first.

    >>> halves, bent = np.log([[[0.5, 0.5]]]), np.log([[[0.25, 0.75]]])
    >>> deviation(np.stack([halves, bent]), "total_variation").round(3).tolist()
    [[[0.25]]]
    """
    background, experts = logs[0], logs[1:]
    if measure != "total_variation":
        possible = (background > -np.inf) & (experts > -np.inf)
        counted = (background >= np.log(CUTOFF)) | (measure == "oscillation")
        ratio = np.where(possible, experts, 0.0) - np.where(possible, background, 0.0)
        top, bottom = (np.where(possible & counted, ratio, sign * np.inf) for sign in (-1, 1))
        opened = counted & ((background > -np.inf) != (experts > -np.inf))
        return np.where(opened.any(axis=-1), np.inf, top.max(axis=-1) - bottom.min(axis=-1))
    return np.abs(np.exp(experts) - np.exp(background)).sum(axis=-1) / 2


def spans(deviates: Bool[np.ndarray, "texts prefixes"]) -> Times:
    """The first deviation on each text, and behind the last; `NEVER` where there is none.

    >>> spans(np.array([[False, True, False, True, False], [False] * 5])).tolist()
    [[1, 4], [-1, -1]]
    """
    met = deviates.any(axis=1)
    last = deviates.shape[1] - deviates[:, ::-1].argmax(axis=1)
    return np.where(met[:, None], np.stack([deviates.argmax(axis=1), last], axis=1), NEVER)


def own_spans(sample: Sample, skill: str) -> Times:
    """From the first token that the skill decides to behind the last, whichever segment they are in."""
    found = []
    for reading in sample.readings:
        decided = [length for segment in reading.segments if segment.kind == skill for length in segment.decided]
        found.append((decided[0], decided[-1] + 1) if decided else (NEVER, NEVER))
    return np.array(found)


def closings(sample: Sample, skill: str) -> Int[np.ndarray, " texts"]:
    """When the last segment of a kind is closed: the canonical exit, where no segment of the kind can follow."""
    closed = [[s.closed for s in reading.segments if s.kind == skill] for reading in sample.readings]
    return np.array([times[-1] if times and times[-1] is not None else NEVER for times in closed])


def stopping_times(sample: Sample, logs: Logs, eos: int) -> dict[str, Any]:
    """The agreement of inferred times with the task's, by measure and threshold, on texts that keep the format."""
    kept = np.array([reading.broken is None for reading in sample.readings])
    sample = Sample(sample.texts[kept], [reading for reading in sample.readings if reading.broken is None])
    counted = drawn_from(sample.texts, eos) > 0
    found: dict[str, Any] = {"texts": int(kept.sum())}
    for measure, thresholds in THRESHOLDS.items():
        size = np.where(counted, deviation(logs[:, kept], measure), 0.0)
        found[measure] = {
            "curve": [at_threshold(size, sample, x) for x in thresholds],
            **separation(size, sample, counted),
        }
    return found


def at_threshold(size: Float[np.ndarray, "experts texts prefixes"], sample: Sample, threshold: float) -> dict[str, Any]:
    """Of the texts with a segment of the kind, in how many the inferred times are the task's; and false alarms.

    `closed`: the last deviation is followed by the closing bracket at once, or is before it: the exit is canonical.
    `overlap`: the texts on which both experts deviate at one prefix; `both_active`: on which their intervals meet.
    """
    deviates = size > threshold
    result: dict[str, Any] = {"threshold": threshold, "overlap": int(deviates.all(axis=0).any(axis=1).sum())}
    inferred = {skill: spans(here) for skill, here in zip(SKILLS, deviates, strict=True)}
    one, other = inferred.values()
    meet = (one[:, 0] != NEVER) & (other[:, 0] != NEVER) & (one[:, 0] < other[:, 1]) & (other[:, 0] < one[:, 1])
    result["both_active"] = int(meet.sum())
    for skill, times in inferred.items():
        own = own_spans(sample, skill)
        has, same = own[:, 0] != NEVER, times == own
        result[skill] = {
            "texts": int(has.sum()),
            "entry": int(same[has, 0].sum()),
            "exit": int(same[has, 1].sum()),
            "both": int(same[has].all(axis=1).sum()),
            "closed": int((times[has, 1] == closings(sample, skill)[has]).sum()),
            "false_alarms": int((times[~has, 0] != NEVER).sum()),
            "texts_without": int((~has).sum()),
        }
    return result


def separation(
    size: Float[np.ndarray, "experts texts prefixes"], sample: Sample, counted: Bool[np.ndarray, "texts prefixes"]
) -> dict[str, Any]:
    """How large deviations are where the skill decides and elsewhere: the first and the last percent of each."""
    found = {}
    for skill, here in zip(SKILLS, size, strict=True):
        decides = np.zeros(counted.shape, dtype=bool)
        for text, reading in enumerate(sample.readings):
            for segment in reading.segments:
                if segment.kind == skill:
                    decides[text, list(segment.decided)] = True
        where, elsewhere = here[decides & counted], here[~decides & counted]
        found[skill] = {
            "where_it_decides": [float(x) for x in np.quantile(where, [0.01, 0.5])] if len(where) else None,
            "elsewhere": [float(x) for x in np.quantile(elsewhere, [0.5, 0.99])] if len(elsewhere) else None,
        }
    return found
