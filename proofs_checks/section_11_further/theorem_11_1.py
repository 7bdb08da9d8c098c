"""Theorem 11.1 (wrong background): what is subtracted is not what the experts share."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from factorcomp.testing.drawing import Draw, Row, normalised
from factorcomp.testing.families import Family
from proofs_checks.definitions.laws import row, support
from proofs_checks.definitions.operator import compose
from proofs_checks.definitions.references import ratio_range
from proofs_checks.statement import Control, Relation, Statement, constant, equal


@dataclass(frozen=True)
class Subtracted:
    """One prefix: the background `p_b` that is subtracted, the true one `p_0`, and the experts' rows.

    `assigned`: the expert that may differ from `p_0`, from 1; 0 for none.
    """

    background: Row
    true: Row
    experts: tuple[Row, ...]
    assigned: int

    @property
    def family(self) -> Family:
        """As a family of one step."""
        return Family(len(self.true), 1, {(): self.background}, tuple({(): one} for one in self.experts))

    @property
    def switched(self) -> Row:
        """`s`: the deviator's row, `p_0` if there is none."""
        return self.experts[self.assigned - 1] if self.assigned else self.true

    @property
    def factors(self) -> Row:
        """`p_0/p_b`, and 1 at a token that both exclude: under `cancel` a sole deviator keeps it."""
        return tuple(p / b if b else Fraction(1) for p, b in zip(self.true, self.background, strict=True))


def subtracted(draw: Draw, *, dominated: bool = True) -> Subtracted:
    """Up to four tokens and experts; the deviator may open tokens; `p_0 << p_b` if `dominated`."""
    size, count = draw.integer(1, 4), draw.integer(1, 4)
    background = draw.row(size, zeros=True)
    true = draw.row_inside(background, zeros=True) if dominated else draw.row(size)
    experts, assigned = [true] * count, draw.integer(0, count)
    if assigned:
        experts[assigned - 1] = draw.row(size, zeros=True)
    return Subtracted(background, true, tuple(experts), assigned)


def reweighted(instance: Subtracted, power: int) -> Row | None:
    """`s (p_0/p_b)^power`, normalised; `None` if it vanishes."""
    cells = [s * f**power for s, f in zip(instance.switched, instance.factors, strict=True)]
    return normalised(cells) if any(cells) else None


def check(instance: Subtracted) -> Iterator[Relation]:
    """`k-1` factors; none for one expert."""
    composed, k = compose(instance.family), len(instance.experts)
    yield equal(
        "p^ ∝ s (p_0/p_b)^{k-1}, dead where that vanishes", composed.kernel.get(()), reweighted(instance, k - 1)
    )
    if k == 1:
        yield equal("k = 1: p^ = p_1", composed.kernel.get(()), instance.experts[0])
    if () in composed.weights and support(instance.switched) <= support(instance.background):
        ranged = ratio_range(composed.weights[()], instance.switched)
        factor = ratio_range(
            tuple(f if s else s for f, s in zip(instance.factors, instance.switched, strict=True)),
            tuple(Fraction(bool(s)) for s in instance.switched),
        )
        expected = Fraction(1) if k == 1 else None if factor is None else factor ** (k - 1)
        yield equal("o(h) = (k-1) osc(log p_0/p_b)", ranged, expected)


def check_k(instance: Subtracted) -> Iterator[Relation]:
    """False: `k` factors."""
    composed, k = compose(instance.family), len(instance.experts)
    yield equal("p^ ∝ s (p_0/p_b)^k", composed.kernel.get(()), reweighted(instance, k))


def check_shift(rows: tuple[Row, Row]) -> Iterator[Relation]:
    """All experts equal `p_c`: off the intervals `p_b (p_c/p_b)^k`; subtracting `p_c` gives `p_c`."""
    base, common = rows
    for k, stated in ((1, "0.60"), (2, "0.69"), (3, "0.77"), (5, "0.88")):
        composed = compose(Subtracted(base, common, (common,) * k, 0).family).kernel[()]
        power = normalised([b * (c / b) ** k for b, c in zip(base, common, strict=True)])
        yield equal("p^ ∝ p_b (p_c/p_b)^k", composed, power)
        yield equal(f"k = {k}: {stated}", f"{float(composed[0]):.2f}", stated)
        remedied = compose(Subtracted(common, common, (common,) * k, 0).family).kernel[()]
        yield equal("subtracting p_c: p_c", remedied, common)


STATEMENTS = (
    Statement(
        number="11.1",
        kind="theorem",
        sentence="subtracting a background that the experts do not share counts the difference k-1 times",
        equation="p^ ∝ s (p_0/p_b)^{k-1},   o(h) = (k-1) osc(log p_0/p_b)",
        hypotheses=("p_0 << p_b", "at most one expert differs from p_0 at h"),
        draw=subtracted,
        check=check,
        controls=(
            Control("p_0 << p_b", lambda draw: subtracted(draw, dominated=False)),
            Control("the exponent k-1", subtracted, check_k),
        ),
        not_checked="that a chat format is such a shift",
    ),
    Statement(
        number="11.1 (numbers)",
        kind="theorem",
        sentence="a common shift from 1/2 to .6 grows to .69, .77, .88 with 2, 3, 5 experts, unless it is subtracted",
        equation="p_b = (1/2, 1/2), p_c = (3/5, 2/5):   p_b (p_c/p_b)^k",
        cases=constant((row("1/2 1/2"), row("3/5 2/5"))),
        check=check_shift,
        controls=(Control("p_b = (1/2, 1/2)", lambda draw: (row("2/5 3/5"), row("3/5 2/5"))),),
    ),
)
