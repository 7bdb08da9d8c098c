"""Laws that every autoregressive model can be held to."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from factorcomp.testing.comparison import (
    NoRowsError,
    Subject,
    Tolerance,
    as_rows,
    as_tokens,
    distances,
    of_rows,
    one_batch,
    rows_after,
    size_of,
)
from factorcomp.testing.drawing import Draw
from factorcomp.testing.examined import Examined
from factorcomp.testing.families import Prefix
from factorcomp.testing.results import LawResult

STAND_IN = -1e4
"""A finite log-probability below this is a stand-in for -inf, not one that a model computed."""


@dataclass(frozen=True)
class Asked:
    """The prefixes (or sequences) that a law asks a model about."""

    prefixes: tuple[Prefix, ...]
    shared: int = 0


@dataclass(frozen=True)
class ModelLaw:
    """A law: its name, what it says, the prefixes that it draws, the check, and what it needs the model to offer."""

    name: str
    says: str
    draw: Callable[[Draw, Examined], Asked]
    verify: Callable[[Examined, Asked, Subject], LawResult]
    needs: Callable[[Examined], str] = lambda examined: ""
    """Why the law says nothing of this model; empty if it says something."""

    def check(self, examined: Examined, asked: Asked) -> LawResult:
        """Whether the law holds of the model on these prefixes. What the model raises is raised, with the prefixes."""
        subject = Subject(self.name, self.says, examined.vocabulary, asked)
        try:
            return self.verify(examined, asked, subject)
        except NoRowsError as error:
            answer = f"one row of {len(examined.vocabulary)} log-probabilities for each prefix"
            return subject.broken("its answer", str(error), answer, np.inf, Tolerance(0.0, "a shape is right or wrong"))
        except Exception as error:
            tokens = [" ".join(examined.vocabulary[y] for y in prefix) for prefix in asked.prefixes]
            error.add_note(f"raised by the model, asked by the law {self.name} about the prefixes {tokens}")
            raise


# What is drawn


def token_after(draw: Draw, examined: Examined, prefix: Prefix, *, ends: bool) -> int | None:
    """A token that the model knows after a prefix, EOS only if it `ends`; `None` where there is none."""
    vocab = len(examined.vocabulary)
    token = draw.integer(0, vocab - 1)
    for other in range(vocab):  # the drawn one, or the next that will do
        y = (token + other) % vocab
        known = examined.knows is None or examined.knows((*prefix, y))
        if known and (ends or y != examined.eos):
            return y
    return None


def prefix_of(draw: Draw, examined: Examined, length: int) -> Prefix:
    """A prefix that has not ended and that the model knows; shorter than `length` where there is none so long."""
    prefix: Prefix = ()
    while len(prefix) < length and (token := token_after(draw, examined, prefix, ends=False)) is not None:
        prefix = (*prefix, token)
    return prefix


def batch(draw: Draw, examined: Examined) -> Asked:
    """A few prefixes of one length."""
    drawn = [prefix_of(draw, examined, draw.integer(0, examined.longest))]
    drawn += [prefix_of(draw, examined, len(drawn[0])) for _ in range(draw.integer(0, 3))]
    return Asked(tuple(one for one in drawn if len(one) == len(drawn[0])))


def ragged(draw: Draw, examined: Examined) -> Asked:
    """A few prefixes, of different lengths where the model takes those together."""
    if examined.ragged is None:
        return batch(draw, examined)
    return Asked(tuple(prefix_of(draw, examined, draw.integer(0, examined.longest)) for _ in range(draw.integer(1, 4))))


def ended(draw: Draw, examined: Examined) -> Asked:
    """A prefix that has ended: EOS, and then EOS again."""
    if examined.eos is None or not examined.longest:
        return Asked(())
    before = prefix_of(draw, examined, draw.integer(0, examined.longest - 1))
    return Asked(((*before, *[examined.eos] * draw.integer(1, examined.longest - len(before))),))


def sequence(draw: Draw, examined: Examined) -> Asked:
    """One sequence, ended at times."""
    if examined.eos is not None and examined.longest and draw.one_in(3):
        return ended(draw, examined)
    return Asked((prefix_of(draw, examined, draw.integer(0, examined.longest)),))


def two_futures(draw: Draw, examined: Examined) -> Asked:
    """Two sequences of one length that begin alike."""
    first = prefix_of(draw, examined, draw.integer(0, examined.longest))
    shared = draw.integer(0, len(first))
    second = first[:shared]
    while len(second) < len(first) and (token := token_after(draw, examined, second, ends=True)) is not None:
        second = (*second, token)
    return Asked((first[: len(second)], second), shared)


# The checks


def check_normalised(examined: Examined, asked: Asked, subject: Subject) -> LawResult:
    """`sum_y p(y|h) = 1`; no NaN, no +inf, and -inf is a real one."""
    rows = rows_after(examined.rows, asked.prefixes, len(examined.vocabulary))
    return normalised(
        rows, of_rows(examined.dtype, len(examined.vocabulary), size_of(rows)), subject, examined.tolerance
    )


def normalised(rows: Any, tolerance: Tolerance, subject: Subject, declared: Tolerance | None = None) -> LawResult:
    """The rows are normalised log-probabilities."""
    allowed = declared or tolerance
    for h, row in rows.items():
        for token, value in enumerate(row):
            name = f"log p({subject.vocabulary[token]!r}) = {value:.6g}"
            if np.isnan(value) or value == np.inf:
                return subject.broken(h, name, "a number, or -inf", np.inf, allowed)
            if -np.inf < value < STAND_IN:
                return subject.broken(h, name, "-inf itself, no stand-in for it", np.inf, allowed)
        with np.errstate(divide="ignore"):
            off = abs(float(np.log(np.exp(row).sum())))
        if not off <= allowed.value:
            return subject.broken(h, f"probabilities that sum to {np.exp(row).sum():.6g}", "1", off, allowed)
    return subject.holds()


def check_repeatable(examined: Examined, asked: Asked, subject: Subject) -> LawResult:
    """The same prefix has the same row when it is asked for again, whatever was asked in between."""
    vocab = len(examined.vocabulary)
    first = rows_after(examined.rows, asked.prefixes[:1], vocab)
    rows_after(examined.rows, asked.prefixes[1:], vocab)
    return subject.compare(rows_after(examined.rows, asked.prefixes[:1], vocab), first, examined.rounding(first))


def check_batch_invariant(examined: Examined, asked: Asked, subject: Subject) -> LawResult:
    """A prefix's row does not depend on what else is in its batch, on the order, or on padding."""
    vocab, prefixes = len(examined.vocabulary), list(dict.fromkeys(asked.prefixes))
    alone = {h: one_batch(examined.rows, [h], vocab)[0] for h in prefixes}
    for together in (prefixes, prefixes[::-1], [*prefixes, prefixes[0]]):
        if examined.ragged is None:
            rows = one_batch(examined.rows, together, vocab)
        else:
            rows = as_rows(examined.ragged(together), (len(together), vocab))
        result = subject.compare(dict(zip(together, rows, strict=True)), alone, examined.rounding(alone))
        if not result.holds:
            return result
    return subject.holds()


def check_eos_absorbing(examined: Examined, asked: Asked, subject: Subject) -> LawResult:
    """`p(EOS|h) = 1` once EOS is in h, exactly (theory.md 0.1)."""
    certain = np.where(np.arange(len(examined.vocabulary)) == examined.eos, 0.0, -np.inf)
    rows = rows_after(examined.rows, asked.prefixes, len(examined.vocabulary))
    return subject.compare(rows, dict.fromkeys(asked.prefixes, certain), Tolerance(0.0, "these numbers are exact"))


def along(examined: Examined, sequences: Sequence[Prefix]) -> Float[np.ndarray, "batch length vocab"]:
    """The rows at every position of the sequences: at t the one after the first t tokens."""
    if examined.along is None:
        raise TypeError("the model offers no rows along a sequence")
    shape = (len(sequences), len(sequences[0]), len(examined.vocabulary))
    return as_rows(examined.along(as_tokens(sequences)), shape)


def check_causal(examined: Examined, asked: Asked, subject: Subject) -> LawResult:
    """The row at a position depends on the tokens before it alone, and is the row of that prefix."""
    (first, second), shared = asked.prefixes, asked.shared
    if not first:
        return subject.holds()
    ones, others = along(examined, [first]), along(examined, [second])
    known = {first[:t]: ones[0, t] for t in range(len(first))}
    again = {second[:t]: others[0, t] for t in range(min(shared + 1, len(second)))}
    result = subject.compare(again, {h: known[h] for h in again}, examined.rounding(known))
    if not result.holds:
        return result
    alone = rows_after(examined.rows, list(known), len(examined.vocabulary))
    return subject.compare(known, alone, examined.rounding(alone))


def check_chain_rule(examined: Examined, asked: Asked, subject: Subject) -> LawResult:
    """`log P(y_1 … y_n) = sum_t log p(y_t | y_<t)`."""
    (tokens,) = asked.prefixes
    if examined.sequence_log_probs is None:
        raise TypeError("the model offers no log-probabilities of sequences")
    answer = np.asarray(examined.sequence_log_probs(as_tokens([tokens])), dtype=np.float64)
    if answer.shape != (1,):
        raise NoRowsError(f"an array of the shape {answer.shape} instead of (1,), one number for each sequence")
    rows = rows_after(examined.rows, [tokens[:t] for t in range(len(tokens))], len(examined.vocabulary))
    terms = [rows[tokens[:t]][y] for t, y in enumerate(tokens)]
    total = float(np.sum(terms)) if -np.inf not in terms else -np.inf
    one = examined.rounding(rows)
    steps = len(tokens) + 1
    allowed = Tolerance(one.value * steps**2, f"{len(tokens)} terms and their partial sums are added; {one.why}")
    off = float(distances(answer, np.array([total]))[0])
    if off <= allowed.value:
        return subject.holds()
    return subject.broken(tokens, f"log P = {answer[0]:.6g}", f"{total:.6g}, the sum of the conditionals", off, allowed)


MODEL_LAWS = (
    ModelLaw("normalised", "rows sum to 1, without NaN, and 0 is a real -inf", batch, check_normalised),
    ModelLaw("repeatable", "the same prefix has the same row again", batch, check_repeatable),
    ModelLaw("batch_invariant", "a row does not depend on the rest of its batch", ragged, check_batch_invariant),
    ModelLaw(
        "eos_absorbing",
        "after EOS only EOS is possible",
        ended,
        check_eos_absorbing,
        lambda examined: (
            "" if examined.eos is not None and examined.longest else "the model has no EOS before its horizon"
        ),
    ),
    ModelLaw(
        "causal",
        "a row along a sequence is that of the tokens before it",
        two_futures,
        check_causal,
        lambda examined: "" if examined.along is not None else "the model offers no rows along a sequence (`along`)",
    ),
    ModelLaw(
        "chain_rule",
        "the probability of a sequence is the product of its conditionals",
        sequence,
        check_chain_rule,
        lambda examined: (
            ""
            if examined.sequence_log_probs is not None
            else "the model offers no probabilities of sequences (`sequence_log_probs`)"
        ),
    ),
)
"""Every law of models."""
