"""Definition 1.3 (null tokens): the table of conventions, and what is said of `cancel` beside it."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from factorcomp.testing.drawing import Draw, normalised
from factorcomp.testing.families import Family, Shape, free, pointwise_joint, shape
from proofs_checks.definitions.laws import Kernel, Row, total
from proofs_checks.definitions.operator import NullTokens, compose, is_error, weight_of
from proofs_checks.definitions.recipes import one_opening
from proofs_checks.library import composed_kernel
from proofs_checks.statement import Control, Relation, Statement, equal, fact

CONVENTIONS: tuple[NullTokens, ...] = ("strict", "drop", "cancel")
ERROR = "error"
TABLE = {
    "strict": {"none": "0", "one": ERROR, "more": ERROR},
    "drop": {"none": "0", "one": "0", "more": "0"},
    "cancel": {"none": "0", "one": "p_i", "more": ERROR},
}
"""The weight of a token that the background excludes, by how many experts allow it."""


@dataclass(frozen=True)
class Step:
    """The rows of one step, and a convention; `shifts`: what each row is multiplied by (a shift of its logits)."""

    background: Row
    experts: tuple[Row, ...]
    null: NullTokens = "cancel"
    shifts: tuple[Fraction, ...] = ()

    @property
    def family(self) -> Family:
        return Family(len(self.background), 1, {(): self.background}, tuple({(): row} for row in self.experts))


def any_step(draw: Draw) -> Step:
    """Any rows, with zeros."""
    family = free(draw, Shape(draw.integer(1, 3), 1, draw.integer(1, 3), zeros=True))
    return Step(family.background[()], tuple(expert[()] for expert in family.experts), draw.pick(CONVENTIONS))


def step_with_null_token(draw: Draw) -> Step:
    """Any rows; the background excludes at least token 0."""
    step = any_step(draw)
    background = (Fraction(0), *draw.row(len(step.background), zeros=True))
    return Step(background, tuple(normalised((row[-1], *row)) for row in step.experts))


def by_table(step: Step) -> list[Fraction | str]:
    """`w` or an error, token by token, as the table says."""
    cells: list[Fraction | str] = []
    for y, mass in enumerate(step.background):
        opening = [row[y] for row in step.experts if row[y] > 0]
        if mass > 0:
            cells.append(mass * math.prod((row[y] / mass for row in step.experts), start=Fraction(1)))
            continue
        word = TABLE[step.null][("none", "one", "more")[min(2, len(opening))]]
        cells.append(ERROR if word == ERROR else opening[0] if word == "p_i" else Fraction(0))
    return cells


def check_table(step: Step, null: NullTokens | None = None) -> Iterator[Relation]:
    """The table against the operator of `definitions`, and the library, which refuses an error and a sum of zero."""
    cells = by_table(step)
    literal = compose(step.family, null or step.null)
    yield equal("compose of definitions/ errs iff there is an error", bool(literal.undefined), ERROR in cells)
    if ERROR not in cells:
        yield equal("compose of definitions/ has these weights", [*literal.weights[()]], cells)
    weights = [cell for cell in cells if not isinstance(cell, str)]
    library = composed_kernel(step.family, null or step.null)
    undefined = len(weights) < len(cells) or not any(weights)
    yield equal("compose() refuses iff there is an error or Z = 0", library is None, undefined)
    if not undefined and library is not None:
        mass = total(weights)
        yield equal("compose() = w/Z of the table", library[()], tuple(weight / mass for weight in weights))


def check_limit(step: Step) -> Iterator[Relation]:
    """`cancel` as the limit of `p_b(y) = p_j(y) = ε`, for the experts `j` that exclude the token, `ε -> 0`."""
    for y, mass in enumerate(step.background):
        if mass > 0:
            continue
        opening = [row[y] for row in step.experts if row[y] > 0]
        error = is_error(y, step.background, step.experts, "cancel")
        for ε in (Fraction(1, 10**3), Fraction(1, 10**6)):
            near = ε * math.prod(((row[y] or ε) / ε for row in step.experts), start=Fraction(1))
            if error:
                growth = near * ε ** (len(opening) - 1)
                yield equal("error: w(ε) ε^(|D|-1) is constant, so w -> ∞", growth, math.prod(opening))
                yield fact("error: |D| >= 2", len(opening) >= 2)
            else:
                limit = weight_of(y, step.background, step.experts, "cancel")
                yield fact("no error: |w(ε) - w| <= ε", abs(near - limit) <= ε)


def check_limit_of_drop(step: Step) -> Iterator[Relation]:
    """False: `drop` is that limit."""
    for y, mass in enumerate(step.background):
        opening = [row[y] for row in step.experts if row[y] > 0]
        if mass == 0 and len(opening) == 1:
            yield equal("drop: w = p_i", weight_of(y, step.background, step.experts, "drop"), opening[0])


def sole_opener(draw: Draw) -> Family:
    """One step; the background excludes token 0, one expert allows it, the others are the background."""
    size, k = draw.integer(2, 3), draw.integer(1, 3)
    background: Kernel = {(): normalised((0, *draw.row(size - 1, zeros=True)))}
    opener: Kernel = {(): draw.row(size) if draw.one_in(2) else normalised((1, *[0] * (size - 1)))}
    place = draw.integer(0, k - 1)
    return Family(size, 1, background, tuple(opener if i == place else background for i in range(k)))


def sole_deviator(draw: Draw) -> Family:
    """One step; one expert deviates within the background's support."""
    return pointwise_joint(draw, Shape(2, 1, 2, zeros=False))


def check_sole_opener(family: Family) -> Iterator[Relation]:
    """Which convention gives the opener back."""
    opener = next((expert for expert in family.experts if expert != family.background), family.background)
    given_back = [null for null in CONVENTIONS if compose(family, null).kernel == opener]
    yield equal("p^ = p_i under cancel alone", given_back, ["cancel"])


def check_one_expert(family: Family) -> Iterator[Relation]:
    """`k = 1`."""
    yield equal("p^ = p_1 at every prefix", compose(family).kernel, family.experts[0])


def shifted(draw: Draw) -> Step:
    """Any rows under `drop`, or `p_i << p_b` under `strict`, and any shifts."""
    null: NullTokens = draw.pick(("drop", "strict"))
    of = Shape(draw.integer(1, 3), 1, draw.integer(1, 3), zeros=True)
    return _with_shifts(draw, free(draw, of, dominated=null == "strict"), null)


def shifted_under_cancel(draw: Draw) -> Step:
    """One expert opens a token."""
    return _with_shifts(draw, one_opening(draw, Shape(2, 1, draw.integer(1, 2), zeros=True)), "cancel")


def _with_shifts(draw: Draw, family: Family, null: NullTokens) -> Step:
    experts = tuple(expert[()] for expert in family.experts)
    return Step(family.background[()], experts, null, tuple(draw.fraction() for _ in range(len(experts) + 1)))


def check_shifts(step: Step) -> Iterator[Relation]:
    """Rows that are multiplied by numbers, composed."""
    background = tuple(step.shifts[0] * mass for mass in step.background)
    experts = [tuple(s * mass for mass in row) for s, row in zip(step.shifts[1:], step.experts, strict=True)]
    weights = [weight_of(y, background, experts, step.null) for y in range(len(background))]
    kernel = compose(step.family, step.null).kernel
    mass = total(weights)
    yield equal("Z = 0 with shifts iff without", mass == 0, () not in kernel)
    if mass and kernel:
        yield equal("p^ is the same with shifts", tuple(weight / mass for weight in weights), kernel[()])


def check_logits(numbers: tuple[float, float]) -> Iterator[Relation]:
    """What subtraction of logits makes of a null token."""
    expert, background = numbers
    ratio = expert - background
    yield equal("-inf - -inf is NaN", math.isnan(ratio), expert == background == -math.inf)
    error = math.isfinite(expert) and background == -math.inf
    yield equal("finite - -inf is +inf: the error cell", ratio == math.inf, error)


STATEMENTS = (
    Statement(
        number="1.3",
        kind="definition",
        sentence="what a token that the background excludes weighs, by convention and by who allows it",
        equation="D = {i: p_i(y|h) > 0}:  strict 0, error, error;  drop 0, 0, 0;  cancel 0, p_i(y|h), error",
        draw=any_step,
        check=check_table,
        controls=(Control("the convention: drop for all", any_step, lambda step: check_table(step, "drop")),),
    ),
    Statement(
        number="1.3 limit",
        kind="remark",
        sentence="cancel is the limit of a background and other experts that give the token one small probability",
        equation="w = lim_(ε->0) ε prod_i p_i^ε(y)/ε;  infinite at an error",
        draw=step_with_null_token,
        check=check_limit,
        controls=(Control("cancel: drop instead", step_with_null_token, check_limit_of_drop),),
    ),
    Statement(
        number="1.3 sole opener",
        kind="remark",
        sentence="cancel alone reproduces a sole deviator that opens a token",
        equation="p^ = p_i under cancel; an error under strict; other than p_i under drop",
        draw=sole_opener,
        check=check_sole_opener,
        controls=(Control("it opens a token", sole_deviator),),
    ),
    Statement(
        number="1.3 one expert",
        kind="remark",
        sentence="one expert under cancel is its own composition",
        equation="k = 1: p^ = p_1",
        hypotheses=("k = 1", "cancel"),
        draw=lambda draw: free(draw, shape(draw, sizes=(1, 3), experts=(1, 1))),
        check=check_one_expert,
        controls=(Control("k = 1", lambda draw: one_opening(draw, shape(draw, experts=(2, 2)))),),
    ),
    Statement(
        number="1.3 shifts",
        kind="remark",
        sentence="strict and drop do not notice shifts of logits; cancel does",
        equation="p^ of (c_b p_b, c_i p_i) = p^ of (p_b, p_i)",
        hypotheses=("strict or drop",),
        draw=shifted,
        check=check_shifts,
        controls=(Control("strict or drop: cancel instead", shifted_under_cancel),),
    ),
    Statement(
        number="1.3 logits",
        kind="remark",
        sentence="differences of logits are NaN where expert and background both exclude a token",
        equation="-inf - -inf = NaN,   finite - -inf = +inf",
        cases=lambda: [(e, b) for e in (-math.inf, -2.5, 0.0) for b in (-math.inf, -1.0)],
        check=check_logits,
        controls=(Control("logits are at most finite", lambda draw: draw.pick([(math.inf, -math.inf)])),),
    ),
)
