"""What a repair is: the experts as repaired, what was given up for it, and where."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from factorcomp.certificates.claims import Question, Tokens
from factorcomp.models.finite_state import FiniteStateModel
from factorcomp.models.tabular import TabularModel
from factorcomp.repair.prices import Cost
from factorcomp.verdicts import ModelName, Report

SCHEMA = "factorcomp-repair/1"
HEAVIEST = 3
"""So many of the dearest resets of an expert are named."""


@dataclass(frozen=True)
class Reset:
    """A prefix at which an expert was reset to the background (for every length the first that leads to a state).

    **Fields:** `probability`: of the prefix under the given composition. `tv`: between the expert and the background
    there. `cost`: of this reset.
    """

    prefix: Tokens
    probability: float | None
    tv: float
    cost: float


@dataclass(frozen=True)
class RepairedExpert:
    """What was given up of one expert.

    **Fields:** `given`: the expert as it was. `resets`: at how many prefixes (states) it was reset. `heaviest`: the
    dearest of them. `law_tv`: between the laws of the expert as given and as repaired; `None` for every length.
    """

    given: ModelName
    resets: int
    cost: float
    law_tv: float | None
    heaviest: tuple[Reset, ...]


@dataclass(frozen=True)
class Repair:
    """The experts as repaired, and what was given up.

    **Fields:** `models`: all experts, by name. `report`: of `verify` on them; its verdict is HOLDS. `cost`: in total.
    `lower_bound`: no repair costs less; equal to `cost` where that is the least; `None` for every length, where at
    each state the dearest expert stays, whatever the states weigh. `spent`: the expected total variation given up along
    a path of the repaired composition. `composition_tv`: between the given and the repaired composition; `None` where
    the given one is not defined, and for every length. `weights`: which weights alone make the given experts exact, in
    words; `None` where that was not found.
    """

    models: Mapping[str, TabularModel | FiniteStateModel]
    report: Report
    claim: str
    kind: Cost
    cost: float
    lower_bound: float | None
    spent: float | None
    composition_tv: float | None
    experts: Mapping[str, RepairedExpert]
    weights: str | None = None

    @property
    def least(self) -> bool:
        """Whether nothing cheaper repairs these models."""
        return self.lower_bound == self.cost

    @property
    def question(self) -> Question:
        """What was asked."""
        return self.report.question

    def __str__(self) -> str:
        from factorcomp.repair.showing import text

        return text(self)

    __repr__ = __str__

    def to_json_text(self, digests: Mapping[str, str] | None = None) -> str:
        """The numbers as JSON text. `digests`: of the files in which the models lie."""
        return json.dumps(self.to_json() | {"sha256": dict(digests or {})}, ensure_ascii=False, indent=1) + "\n"

    def to_json(self) -> dict[str, Any]:
        """The numbers as data; infinite ones are the string `"inf"`."""
        question = self.question
        return {
            "schema": SCHEMA,
            "models": {
                "background": _name(self.report.background),
                "experts": {name: _name(expert.given) for name, expert in self.experts.items()},
            },
            "claim": self.claim,
            "verdict": str(self.report.verdict),
            "vocabulary": list(self.report.vocabulary),
            "length": question.length,
            "scope": question.scope,
            "null_tokens": question.null_tokens,
            "threshold": float(question.threshold),
            "weights": {name: float(weight) for name, weight in question.weights.items()},
            "cost": {"kind": self.kind, "total": _json(self.cost), "lower_bound": _json(self.lower_bound)},
            "expected_tv_given_up": _json(self.spent),
            "composition_tv": self.composition_tv,
            "experts": {
                name: {
                    "resets": expert.resets,
                    "cost": _json(expert.cost),
                    "law_tv": expert.law_tv,
                    "heaviest": [
                        {"prefix": list(r.prefix), "probability": r.probability, "tv": r.tv, "cost": _json(r.cost)}
                        for r in expert.heaviest
                    ],
                }
                for name, expert in self.experts.items()
            },
            "exact_weights": self.weights,
        }


def _name(model: ModelName) -> dict[str, str | None]:
    """The model as given."""
    return {"name": model.name, "sha256": model.sha256}


def _json(number: float | None) -> float | str | None:
    return number if number is None or math.isfinite(number) else str(number)
