"""What a judge of one claim says, and the words for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from factorcomp.certificates.claims import Length, Number, PrefixWitness, Tokens, Verdict, Witness
from factorcomp.certificates.documents import KernelError
from factorcomp.certificates.enclosure import DIGITS, UP, Value
from factorcomp.certificates.product import Product
from factorcomp.certificates.tree import Tree

PRECISION = Decimal("1e-9")
UNSETTLED = (
    "exponentials of the logs given (or powers by fractional weights) are irrational, and "
    f"{DIGITS} digits cannot tell the residual from 0"
)


Places = Tree | Product
"""Where a claim is looked at: every prefix, or one for each state of a product.

A place is a pair: the length of the prefix, and a number that tells it from the others.
"""


@dataclass(frozen=True)
class Judgement:
    """A verdict, the line that says why, the residual, the witness, and the length if it is not the question's."""

    verdict: Verdict
    why: str
    residual: Value | float | None = None
    witness: Witness | None = None
    length: Length | None = None


def number(value: Any) -> Number:
    """A value as a report states it: a fraction, or the middle of an enclosure; raises `KernelError` if wide."""
    if isinstance(value, Fraction | float):
        return value
    if not value.upper.is_finite() or not UP.subtract(value.upper, value.lower) <= PRECISION:
        raise KernelError(f"got a number between {value.lower} and {value.upper}, needed nine digits of it")
    return float(value)


def after(tokens: Tokens) -> str:
    """Where a prefix stands: `at the start`, or `after 'a b'`."""
    return f"after {' '.join(tokens)!r}" if tokens else "at the start"


def listed(names: Sequence[str]) -> str:
    """`up`, `up and down`, `up, down and out`: the subject of a sentence."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names) or "none"


def everywhere(places: Places) -> str:
    """The scope, in words."""
    where = "at every prefix" if places.question.scope == "all" else "wherever the composition goes"
    return where + ", at every length" * (places.question.length == "every")


def beyond(places: Places) -> str:
    """How far a deviation must go, in words."""
    return f" by more than {float(places.question.threshold):g} nats" if places.question.threshold else ""


def at(places: Places, t: int, h: int, bits: int | None = None) -> PrefixWitness:
    """A prefix as a witness, with the experts of `bits`, or those that deviate there."""
    experts = places.names(places.at_fault(t, h) if bits is None else bits)
    return PrefixWitness(places.tokens(t, h), number(places.probability(t, h)), experts)
