"""Section 10, diagnostics: how the log-odds of stopping move when experts are added one by one."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from factorcomp.testing.drawing import Draw
from proofs_checks.definitions.ending import Hazards, content, hazard, joined, odds
from proofs_checks.definitions.laws import ONE
from proofs_checks.statement import Control, Relation, Statement, equal


@dataclass(frozen=True)
class Sweep:
    """The same model 1, 2, ... times as the expert, EOS last; `shift`: whether it has the background's content."""

    background: tuple[Fraction, ...]
    expert: tuple[Fraction, ...]

    @property
    def odds(self) -> list[Fraction]:
        """`odds^` with 1 to 5 experts."""
        end = len(self.background) - 1
        rows = [Hazards((self.background, *((self.expert,) * k)), end).composed() for k in range(1, 6)]
        return [odds(row[end]) for row in rows if row is not None]

    @property
    def contents(self) -> list[Fraction]:
        """`Z_q` with 1 to 5 experts."""
        base, expert = (content(row, len(row) - 1) for row in (self.background, self.expert))
        return [
            sum((b * math.prod([q / b] * k, start=ONE) for b, q in zip(base, expert, strict=True)), Fraction(0))
            for k in range(1, 6)
        ]


def shifted(draw: Draw) -> Sweep:
    """M1 and M3: another hazard, the same content."""
    base = draw.row(draw.integer(1, 3))
    return Sweep(joined(hazard(draw), base, len(base)), joined(hazard(draw), base, len(base)))


def other_content(draw: Draw) -> Sweep:
    """M2: another content, the same hazard."""
    base, e = draw.row(draw.integer(2, 3)), hazard(draw)
    return Sweep(joined(e, base, len(base)), joined(e, draw.row_inside(base), len(base)))


def check_shifted(instance: Sweep) -> Iterator[Relation]:
    """Linear in k, with the slope of one expert."""
    base, expert = odds(instance.background[-1]), odds(instance.expert[-1])
    slopes = [after / before for before, after in zip(instance.odds, instance.odds[1:], strict=False)]
    yield equal("logit e^ is linear in k with slope logit e_i - logit e_b", set(slopes), {expert / base})


def check_content(instance: Sweep) -> Iterator[Relation]:
    """It follows `-log Z_q`."""
    base = odds(instance.background[-1])
    yield equal(
        "logit e^ - logit e_b = -log Z_q at every k",
        [after / base for after in instance.odds],
        [1 / z for z in instance.contents],
    )


STATEMENTS = (
    Statement(
        number="10 (diagnostics)",
        kind="remark",
        sentence="a shared shift moves the log-odds of stopping linearly in the number of experts",
        equation="M1, M3:   logit e^(k+1) - logit e^(k) = logit e_i - logit e_b",
        hypotheses=("identical experts with the background's content",),
        draw=shifted,
        check=check_shifted,
        controls=(Control("the background's content", other_content),),
        not_checked="(i) is 10.1; (ii), (iii), (v) are what a report shows",
    ),
    Statement(
        number="10 (diagnostics, content)",
        kind="remark",
        sentence="a content conflict moves the log-odds of stopping as -log Z_q",
        equation="M2:   logit e^(k) - logit e_b = -log Z_q(k)",
        hypotheses=("all models stop with one probability",),
        draw=other_content,
        check=check_content,
        controls=(Control("one hazard for all", shifted),),
    ),
)
