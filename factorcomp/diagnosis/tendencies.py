"""What a survey says: supports that do not fit, prefixes that die, and how often and how much experts deviate."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from jaxtyping import Float

from factorcomp.certificates.claims import Tokens
from factorcomp.diagnosis.survey import Survey, number_of
from factorcomp.verdicts import Finding

Add = Callable[[Finding], None]


def _after(prefix: Tokens) -> str:
    if len(prefix) > 8:
        return f"after {len(prefix)} tokens that end in {' '.join(prefix[-6:])!r}"
    return f"after {' '.join(prefix)!r}" if prefix else "at the start"


def support(survey: Survey, add: Add) -> None:
    """Tokens that an expert opens, tokens that two open, places at which nothing is left or a model says nothing."""
    places = number_of(survey.unit, 2).removeprefix("2 ")
    strict, cancel = survey.null_tokens == "strict", survey.null_tokens == "cancel"
    for name, seen in survey.opened.items():
        if seen.first is None:
            continue
        prefix, token, _ = seen.first
        consequence = "its probability there never counts, and the composition is not the expert even where it is alone"
        cure = "use --null-tokens cancel, which takes the expert's probability where one expert alone opens a token"
        if strict:
            consequence = "a ratio with denominator 0: the composition is undefined there, and nothing else is decided"
        elif cancel:
            consequence = "where no other expert opens the token too, the composition takes the expert's probability"
            cure = (
                "nothing, if the expert is to add tokens; otherwise give the token some probability in the background"
            )
        add(
            Finding(
                "blocks" if strict else "matters",
                f"support of {name}",
                f"{name} makes possible what the background excludes, {_times(seen.reachable)}; first {token!r} "
                f"{_after(prefix)}",
                consequence,
                cure,
            )
        )
    if cancel and survey.clashes.first is not None:
        prefix, token, guilty = survey.clashes.first
        add(
            Finding(
                "blocks",
                "support of several experts",
                f"{' and '.join(guilty)} make the same token possible that the background excludes, "
                f"{_times(survey.clashes.reachable)}; first {token!r} {_after(prefix)}",
                "0/0 twice: the composition is undefined there, and every claim but well_defined is UNDECIDED",
                "give the token some probability in the background, or use --null-tokens drop",
            )
        )
    if survey.dead.first is not None:
        add(
            Finding(
                "blocks",
                "dead prefixes",
                f"no next token is possible in all models, {_times(survey.dead.reachable)} at reachable {places}; "
                f"first {_after(survey.dead.first[0])}",
                "the composition gets stuck there, and every claim but well_defined is UNDECIDED",
                "smooth the experts: give every token that the background can say some probability",
            )
        )
    for name, seen in survey.silent.items():
        if seen.first is None:
            continue
        add(
            Finding(
                "blocks",
                f"next states of {name}",
                f"{name} has no next state, {_times(seen.reachable)} at reachable {places}; first "
                f"{_after(seen.first[0])}",
                "what it says there is undefined, and every claim but well_defined is UNDECIDED",
                'give it a "next" also for a token of probability 0 that the composition can take',
            )
        )
    hidden = sum(seen.elsewhere for seen in survey.silent.values())
    hidden += survey.clashes.elsewhere * cancel + survey.dead.elsewhere
    hidden += sum(seen.elsewhere for seen in survey.opened.values()) * strict
    if hidden:
        add(
            Finding(
                "matters",
                f"{places} that the composition cannot reach",
                f"{number_of('place', hidden)} there at which it would be undefined or dead",
                "nothing with --scope reachable; with --scope all well_defined is REFUTED",
                "keep --scope reachable",
            )
        )
    if not any(seen.first for seen in (*survey.opened.values(), *survey.silent.values(), survey.dead)):
        none = f"no expert makes possible what the background excludes, no {survey.unit} is dead"
        add(Finding("fine", "support", none))


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def deviation(survey: Survey, add: Add) -> None:
    """How often, and by how much, each expert differs from the background where the composition can go."""
    total, reachable = survey.total, number_of(f"reachable {survey.unit}", survey.total)
    for name in survey.experts:
        count = survey.deviating[name]
        sizes = np.sort(np.concatenate([np.zeros(0), *survey.oscillations[name]]))
        if total and not count:
            add(
                Finding(
                    "matters",
                    f"{name} against the background",
                    f"{name} is the background at {reachable}, that is at all of them",
                    "it adds nothing to the composition and never deviates; every claim about it holds for this reason",
                    f"check that {name} is the model that you mean, or leave it out",
                )
            )
            continue
        found = f"deviates at {count:,} of {reachable}"
        if count:
            found += f"; oscillation there, in nats: {_quantiles(sizes[total - count :])}"
        add(Finding("fine", f"{name} against the background", found))
        _rounding(survey, name, sizes, add)
    by_states = survey.unit == "state"
    enough = 1 if by_states else 2
    everywhere = f"every one of {reachable}" if total > 1 else "the one state that there is"
    crowd = [name for name in survey.experts if total >= enough and survey.deviating[name] == total]
    if len(crowd) > 1:
        excused = ", ".join(
            f"{name} {float(np.median(np.concatenate(survey.oscillations[name]))):.3g}" for name in crowd
        )
        add(
            Finding(
                "matters",
                "agreement with the background",
                f"{' and '.join(crowd)} deviate at {everywhere}, as trained models do",
                "they overlap everywhere: at threshold 0 the joint claims are REFUTED at the very first prefix",
                f"declare what difference does not count, --threshold X nats (the median oscillation: {excused})",
            )
        )
    for one, other in survey.twins:
        if survey.deviating[one]:
            add(
                Finding(
                    "matters",
                    f"{one} and {other}",
                    f"{one} and {other} are the same at every {'reachable state' if by_states else 'prefix'}",
                    "what they do is multiplied twice, and they overlap wherever they deviate",
                    f"leave one out; for more of it use --weights {one}=2",
                )
            )


def _rounding(survey: Survey, name: str, sizes: Float[np.ndarray, " _"], add: Add) -> None:
    tiny = sizes[(sizes > 0) & (sizes <= survey.coarseness)]
    if not len(tiny):
        return
    largest = float(tiny[-1])
    noun = "state" if survey.unit == "state" else "row"
    digit = 10.0 ** math.floor(math.log10(largest))
    suggested = Fraction(math.ceil(largest / digit * (1 + 1e-9))) * Fraction(repr(digit))
    add(
        Finding(
            "matters",
            f"rounding in {name}",
            f"{number_of(noun, len(tiny))} within {largest:.1e} nats of the background's, the size of rounding",
            "at threshold 0 each of them is a deviation, and overlaps of such rows refute the joint claims",
            f"store these rows with the background's own digits, or use --threshold {float(suggested):g}",
        )
    )


def _quantiles(sizes: Float[np.ndarray, " _"]) -> str:
    """The least, the quartiles and the largest of sorted numbers."""
    at = [sizes[round(share * (len(sizes) - 1))] for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
    if at[0] == at[-1]:
        return f"{at[0]:.3g}"
    words = ("least", "quarter", "median", "three quarters", "largest")
    return ", ".join(f"{word} {value:.3g}" for word, value in zip(words, at, strict=True))
