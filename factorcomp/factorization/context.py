"""What the claims share: the models' names, the vocabulary, the question, and what a survey saw."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from factorcomp.certificates.claims import ClaimResult, PrefixWitness, Question, Tokens, Verdict
from factorcomp.enumeration.tree import spelled
from factorcomp.factorization.wording import quoted
from factorcomp.finite_state.seen import AbstractSeen
from factorcomp.surveys import Sighting, Survey

S = TypeVar("S", bound="Survey | AbstractSeen")


@dataclass(frozen=True)
class Context(Generic[S]):
    """One survey of the experts `names` over `vocabulary`, by an engine called `method`, and the words for it."""

    vocabulary: tuple[str, ...]
    names: tuple[str, ...]
    question: Question
    survey: S
    method: str = "enumeration"

    def result(self, claim: str, verdict: Verdict, why: str, **fields: Any) -> ClaimResult:
        """The result of a claim about the length asked for."""
        return ClaimResult(claim, verdict, self.method, self.question.length, why, **fields)

    def tokens(self, length: int, index: int) -> Tokens:
        """The tokens of the prefix of `length` tokens with this index."""
        return spelled(index, length, self.vocabulary)

    def spelled(self, tokens: Sequence[int]) -> Tokens:
        """Tokens by their places."""
        return tuple(self.vocabulary[y] for y in tokens)

    def who(self, experts: Sequence[int]) -> tuple[str, ...]:
        """The names of experts."""
        return tuple(self.names[i] for i in experts)

    def witness(self, sighting: Sighting) -> PrefixWitness:
        """A sighted prefix as a witness."""
        prefix = self.tokens(sighting.length, sighting.index)
        return PrefixWitness(prefix, sighting.probability, self.who(sighting.experts))

    def after(self, sighting: Sighting) -> str:
        """`after 'a b'`, or `at the start`."""
        return f"after {quoted(self.tokens(sighting.length, sighting.index))}" if sighting.length else "at the start"

    @property
    def beyond(self) -> str:
        """How far a deviation must go, in words."""
        return f" by more than {float(self.question.threshold):g} nats" if self.question.threshold else ""

    @property
    def everywhere(self) -> str:
        """The scope, in words."""
        where = "at every prefix" if self.question.scope == "all" else "wherever the composition goes"
        return where + self.always

    @property
    def always(self) -> str:
        """For how long, in words."""
        return ", at every length" if self.question.length == "every" else ""
