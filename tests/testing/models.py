"""Models as functions of prefixes: a right one with all that a model can offer, and wrong ones."""

from collections.abc import Sequence

import numpy as np

VOCABULARY = ("a", "b", "<eos>")
EOS = 2


class Scorer:
    """A small model that reads its whole prefix: rows after prefixes, along sequences, of ragged batches; and sums."""

    vocabulary = VOCABULARY
    eos = "<eos>"

    def row(self, prefix: Sequence[int]) -> np.ndarray:
        """`log p(. | prefix)`."""
        if EOS in prefix:
            return np.array([-np.inf, -np.inf, 0.0])
        state = sum((token + 1) * 1.7 ** (place % 5) for place, token in enumerate(prefix))
        logits = np.sin(np.arange(3) * (1 + state))
        return logits - np.log(np.exp(logits).sum())

    def __call__(self, prefixes: np.ndarray) -> np.ndarray:
        return np.array([self.row(prefix) for prefix in prefixes.tolist()])

    def along(self, sequences: np.ndarray) -> np.ndarray:
        """Row t after the first t tokens."""
        rows = [[self.row(tokens[:t]) for t in range(len(tokens))] for tokens in sequences.tolist()]
        return np.array(rows).reshape(*sequences.shape, 3)

    def sequence_log_probs(self, sequences: np.ndarray) -> np.ndarray:
        """The logs of the sequences' probabilities."""
        return np.array([sum(self.row(s[:t])[y] for t, y in enumerate(s)) for s in sequences.tolist()], dtype=float)

    def ragged(self, prefixes: Sequence[Sequence[int]]) -> np.ndarray:
        """Rows after prefixes of any lengths."""
        return np.array([self.row(prefix) for prefix in prefixes])


class Unnormalised(Scorer):
    """Logits, not log-probabilities."""

    def row(self, prefix):
        return super().row(prefix) + (0.0 if EOS in prefix else 0.01)


class SeesTheFuture(Scorer):
    """Along a sequence, the row at a position is that after the token there."""

    def along(self, sequences):
        rows = [[self.row(tokens[: t + 1]) for t in range(len(tokens))] for tokens in sequences.tolist()]
        return np.array(rows).reshape(*sequences.shape, 3)


class DependsOnItsBatch(Scorer):
    """Normalised by the batch's statistics."""

    def __call__(self, prefixes):
        rows = super().__call__(prefixes)
        if EOS in prefixes:
            return rows
        logits = rows - rows.mean(axis=0) * (len(rows) > 1)
        return logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))

    ragged = None


class ReadsItsPadding(Scorer):
    """A batch is padded on the left, and the padding is read."""

    def ragged(self, prefixes):
        longest = max(map(len, prefixes))
        return np.array([self.row([0] * (longest - len(prefix)) + list(prefix)) for prefix in prefixes])


class GoesOnAfterTheEnd(Scorer):
    """After EOS anything may come."""

    def row(self, prefix):
        return super().row([token for token in prefix if token != EOS])


class AlmostStops(Scorer):
    """After EOS a little may come."""

    def row(self, prefix):
        return np.array([-40.0, -np.inf, 0.0]) if EOS in prefix else super().row(prefix)


class RemembersTheLastCall(Scorer):
    """A cache that is never emptied."""

    calls = 0

    def row(self, prefix):
        self.calls += 1
        return np.roll(super().row(prefix), 0 if EOS in prefix else self.calls % 2)


class DividesByTheLength(Scorer):
    """The mean log-probability, not the sum."""

    def sequence_log_probs(self, sequences):
        return super().sequence_log_probs(sequences) / max(1, sequences.shape[1])


class SaysNan(Scorer):
    """NaN for one token after one prefix."""

    def row(self, prefix):
        return np.array([np.nan, -0.7, -0.7]) if list(prefix) == [1] else super().row(prefix)


class StandsIn(Scorer):
    """A large negative number instead of -inf."""

    def row(self, prefix):
        return np.maximum(super().row(prefix), -1e9)


class OfTheWrongShape(Scorer):
    """The vocabulary comes first."""

    def __call__(self, prefixes):
        return super().__call__(prefixes).T


WRONG = {
    Unnormalised: "normalised",
    SaysNan: "normalised",
    OfTheWrongShape: "normalised",
    SeesTheFuture: "causal",
    DependsOnItsBatch: "batch_invariant",
    ReadsItsPadding: "batch_invariant",
    GoesOnAfterTheEnd: "eos_absorbing",
    AlmostStops: "eos_absorbing",
    StandsIn: "eos_absorbing",
    RemembersTheLastCall: "repeatable",
    DividesByTheLength: "chain_rule",
}
"""A wrong model -> the law that it breaks."""
