r"""N-gram models in the ARPA format, their back-off made explicit as states.

    p(w | h) = 10^(the number of `h w`)              where `h w` is listed,
    p(w | h) = b(h) p(w | h without its first word)  where it is not; `b(h) = 1` where no back-off weight is written.

States are the contexts: the empty one, and every n-gram that begins a longer one. After a history the state is its
longest suffix that is a context: the beginning of an n-gram is listed too, so that the context after `h w` ends in `w`
and begins within the context after `h`. `<s>` is the context in which sequences begin, and never follows; `</s>` is
EOS; `<unk>` is a token like any other.
"""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from factorcomp.formats.arpa_text import BEGIN, EOS, NGrams, Words
from factorcomp.models import memory
from factorcomp.models.errors import Problems
from factorcomp.models.finite_state import FiniteStateModel
from factorcomp.models.notes import renormalised, rounded_up, rounding
from factorcomp.models.rows import EPS, FloatRows
from factorcomp.models.tabular import Source

TOLERANCE = 1e-6
"""How far from 1 a row may sum (interface.md, "Model files")."""
QUANTISED = 1e-3
"""How far, where a back-off weight says that the row is made up from others: files hold few digits, or few values."""
MEMORY_PER_BYTE = 12
"""A line of forty characters is two tuples, two floats and a place in a dictionary."""
MEMORY_PER_CELL = 32
"""A log-probability, a next state, and each once more on the way."""


class _Context(NamedTuple):
    """A state: `suffix`: the place of the longest shorter context that ends it. `follow`: the words listed after it."""

    words: Words
    suffix: int
    follow: list[int]


def read_arpa(data: bytes, source: Source) -> FiniteStateModel:
    """The n-gram model of an ARPA file; rows are logs, `ln 10` times the numbers, added where it backs off.

    Equal numbers give equal rows. A row of a context with a back-off weight may sum to 1 within 1e-3, any other within
    1e-6. Logs define a distribution up to a constant; the notes say how many rows need one, and how much it is.

    **Raises:** `InputError`, with every problem: its line, what was found, what was needed.
    """
    problems = Problems(source.name)
    ngrams = NGrams(data, problems)
    vocabulary = tuple(word for word in ngrams.words if word != BEGIN)
    if not vocabulary and not problems.count:
        problems.add("\\1-grams", f"found no word but {BEGIN}; needed one at least")
    problems.raise_any()
    contexts = _contexts(ngrams)
    needed = len(contexts) * len(vocabulary) * MEMORY_PER_CELL
    memory.require(needed, source.name, f"a row for each of {len(contexts)} contexts and {len(vocabulary)} tokens")
    places = {word: place for place, word in enumerate(vocabulary)}
    columns = np.array([places.get(word, -1) for word in ngrams.words])
    logs = _rows(ngrams, contexts, columns, len(vocabulary))
    notes = _check_sums(ngrams, contexts, logs, problems)
    problems.raise_any()
    following = _following(ngrams, contexts, columns, len(vocabulary))
    rows = logs * math.log(10)
    eos = EOS if EOS in vocabulary else None
    if eos is not None:
        end = np.array([[word == EOS for word in vocabulary]])
        rows = np.vstack([rows, np.where(end, 0.0, -np.inf)])
        following[:, end[0]] = len(contexts)
        following = np.vstack([following, np.full_like(following[:1], len(contexts))])
    names = list(ngrams.words)
    states = tuple(" ".join(names[word] for word in context.words) for context in contexts)
    initial = next((place for place, state in enumerate(states) if state == BEGIN), 0)
    times = f"{ngrams.zeros} time{'s' * (ngrams.zeros > 1)}"
    zeros = f"{source.name}: {times} -99 taken for log 0, as the format has it"
    source = Source(source.name, source.sha256, (*notes, *([zeros] if ngrams.zeros else [])))
    return FiniteStateModel(vocabulary, states, initial, FloatRows(rows, "logits"), following, eos, source)


def _contexts(ngrams: NGrams) -> list[_Context]:
    """The contexts, shorter ones first, otherwise in the order of the file."""
    follow: dict[Words, list[int]] = {(): []}
    for words in ngrams:
        follow.setdefault(words[:-1], []).append(words[-1])
    places = {words: place for place, words in enumerate(sorted(follow, key=len))}
    return [_Context(words, _longest(words[1:], places), follow[words]) for words in places]


def _longest(words: Words, places: dict[Words, int]) -> int:
    """The place of the longest suffix that is a context."""
    while words not in places:
        words = words[1:]
    return places[words]


def _rows(
    ngrams: NGrams, contexts: list[_Context], columns: Int[np.ndarray, " words"], vocab: int
) -> Float[np.ndarray, "contexts vocab"]:
    """The logs to base 10 of every word after every context."""
    logs = np.full((len(contexts), vocab + 1), -np.inf)  # the last column is <s>, which `columns` puts there
    for place, (words, suffix, follow) in enumerate(contexts):
        if words:
            weight = ngrams[words].weight
            logs[place] = logs[suffix] + (0.0 if weight is None else weight)
        logs[place, columns[follow]] = [ngrams[*words, word].log for word in follow]
    return logs[:, :vocab]


def _following(
    ngrams: NGrams, contexts: list[_Context], columns: Int[np.ndarray, " words"], vocab: int
) -> Int[np.ndarray, "contexts vocab"]:
    """The place of the context after every context and word: that of a shorter context, if there is no longer one."""
    places = {context.words: place for place, context in enumerate(contexts)}
    following = np.zeros((len(contexts), vocab + 1), dtype=np.int64)
    for place, (words, suffix, follow) in enumerate(contexts):
        if words:
            following[place] = following[suffix]
        for word in follow:
            if (longer := places.get((*words, word))) is not None:
                following[place, columns[word]] = longer
    return following[:, :vocab]


def _check_sums(
    ngrams: NGrams, contexts: list[_Context], logs: Float[np.ndarray, "contexts vocab"], problems: Problems
) -> tuple[str, ...]:
    """Adds the rows that are no distributions to the problems, and returns the notes on those that nearly are."""
    with np.errstate(over="ignore"):
        totals = np.array([(10.0**row).sum() for row in logs])
    backs_off = np.array([bool(words) and ngrams[words].weight is not None for words, _, _ in contexts])
    off = np.abs(totals - 1)
    allowed = np.where(backs_off, QUANTISED, TOLERANCE)
    for place in np.flatnonzero(~(off <= allowed)):
        words = contexts[place].words
        where = f"line {ngrams[words].line}" if words else "\\1-grams"
        row = f"the row after {ngrams.shown(words)} sums" if words else f"without {BEGIN} they sum"
        why = "1e-3, which its back-off weight allows" if backs_off[place] else "1e-6"
        problems.add(where, f"{row} to {totals[place]:.9g}; needed 1 within {why}")
    unused = _unused_weights(ngrams, contexts, problems)
    noted = (off > rounding(logs.shape[1], EPS)) & (off <= allowed)
    plain, quantised = off[noted & ~backs_off], off[noted & backs_off]
    notes = renormalised(problems.name, None, len(plain), float(plain.max(initial=0.0)))
    for changes, one, what in (
        (quantised.tolist(), "row", "of contexts with a back-off weight renormalised, by"),
        (unused, "back-off weight", "of contexts that no n-gram continues taken for 1, which is off by"),
    ):
        if changes:
            count = f"{len(changes)} {one}{'s' * (len(changes) > 1)}"
            notes += (f"{problems.name}: {count} {what} at most {rounded_up(max(changes))}",)
    return notes


def _unused_weights(ngrams: NGrams, contexts: list[_Context], problems: Problems) -> list[float]:
    """How far from 1 the weights are that stand at n-grams which begin no longer one: their rows sum to the weight."""
    begin, changes = {context.words for context in contexts}, []
    end = ngrams.words.get(EOS)
    for words, ngram in ngrams.items():
        if ngram.weight and words not in begin and words[-1] != end and len(words) < ngrams.order:
            off = abs(10.0**ngram.weight - 1) if ngram.weight < 300 else math.inf
            if off <= QUANTISED:
                changes.append(off)
            else:
                words = ngrams.shown(words)
                needed = f"needed 0 (or nearly, a factor within 1e-3 of 1), as no n-gram continues {words}"
                problems.add(f"line {ngram.line}", f"found the back-off weight {ngram.weight:g}; {needed}")
    return changes
