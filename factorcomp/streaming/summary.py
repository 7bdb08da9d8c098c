"""What was seen, as the survey from which claims are decided."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, overload

import numpy as np

from factorcomp.certificates.claims import Question
from factorcomp.enumeration.summary import compare_marginals, masks_of
from factorcomp.models.function import FunctionModel
from factorcomp.models.rows import FloatRows, Scale
from factorcomp.models.tabular import TabularModel
from factorcomp.streaming.engine import Visit
from factorcomp.streaming.functions import Functions, Model
from factorcomp.streaming.kept import KeptWork, identity
from factorcomp.streaming.plan import plan
from factorcomp.streaming.tables import Tables
from factorcomp.streaming.totals import MARKS, NOWHERE
from factorcomp.streaming.workers import Workers, place
from factorcomp.surveys import ExpertSurvey, Marginal, Meeting, Progress, Sighting, Survey, TerminationSurvey, Vanishing

MOST_EXPERTS = 20
"""A set of experts is some bits of a word, three times."""


def suits(models: Sequence[Model], question: Question) -> bool:
    """Whether these models can be streamed: functions, and tables of floats that say something everywhere; all of
    probabilities, or all of logs."""
    tables = [model for model in models if isinstance(model, TabularModel)]
    if any(not isinstance(model, TabularModel | FunctionModel) for model in models):
        return False
    rows = [rows for table in tables for rows in table.steps[: question.horizon]]
    kinds = {isinstance(r, FloatRows) and r.scale == "probs" for r in rows}
    kinds |= {False for model in models if isinstance(model, FunctionModel)}
    whole = all(isinstance(r, FloatRows) for r in rows) and len(kinds) == 1 and all(t.gaps is None for t in tables)
    return whole and 2 <= len(models) <= MOST_EXPERTS + 1 and len(models[0].vocabulary) > 1


def survey(
    background: FunctionModel | TabularModel,
    experts: Mapping[str, FunctionModel | TabularModel],
    question: Question,
    progress: Progress | None = None,
    resume: str | os.PathLike[str] | None = None,
) -> Survey:
    """The survey of models that `suits`, for sequences of at least one token.

    `resume`: the file in which the work is kept, and from which it goes on. Raises `TooExtremeError` where a
    probability is below 1e-290, `InputError` where the file does not belong to this survey.
    """
    models, names = (background, *experts.values()), list(experts)
    eos = None if background.eos is None else background.vocabulary.index(background.eos)
    tables = [model for model in models if isinstance(model, TabularModel)]
    functions = len(tables) < len(models)
    scale = "log_probs" if functions else scale_of(tables[0])
    asked = plan(question, names, len(background.vocabulary), eos, scale)
    kept = None
    if resume is not None:
        number, _ = place()
        kept = KeptWork(f"{resume}.{number}" if number else resume, identity(asked, question, models))
    source = Functions(models) if functions else Tables.of(tables, question.horizon)
    threads = 1 if functions else None  # functions may not bear to be called by several
    return summarize(Visit(asked, source, Workers(progress, kept, threads=threads)), question, names)


def scale_of(table: TabularModel) -> Scale:
    """What the numbers of a table of floats are."""
    rows = table.steps[0]
    assert isinstance(rows, FloatRows)
    return rows.scale


def summarize(visit: Visit, question: Question, names: Sequence[str]) -> Survey:
    """The survey of experts `names`; only its first fields if the composition is undefined in scope."""
    totals, k = visit.totals, len(names)
    seen = Seen(visit)
    prefixes = int(totals.counted[0, 0])
    undefined = Meeting(seen.first("undefined"), float(totals.masses[0]))
    if undefined.first is not None:
        return Survey(undefined, prefixes)
    low, high = -visit.largest("minus_log_z_min"), visit.largest("log_z_max")
    following = seen.vanishing("following", "following_unsure", visit.largest("following"))
    experts = tuple(_expert(visit, seen, i) for i in range(k))
    masks = masks_of(experts, question, names)
    return Survey(
        undefined=undefined,
        prefixes=prefixes,
        overlap=Meeting(seen.first("overlap", "deviate"), float(visit.root.overlap[0, 0])),
        conflict=Meeting(seen.first("conflict", "active"), float(visit.root.conflict[0, 0])),
        normalizer=seen.vanishing("z_differs", "z_unsure", max(abs(low), abs(high))),
        log_normalizer_range=(low, high),
        switching=seen.vanishing("far", "far_unsure", visit.largest("far")),
        tv_to_switching=float(totals.masses[1]),
        tv_local_global=visit.tv_local_global() if following.any else 0.0,
        following=following,
        experts=experts,
        masks=masks,
        marginal=None if masks is None else lambda i: _marginal(visit, question, names, i, masks[i]),
        who=seen.who,
        termination=None if visit.plan.eos is None else _termination(visit, seen),
    )


def _expert(visit: Visit, seen: "Seen", i: int) -> ExpertSurvey:
    totals, k = visit.totals, visit.plan.experts
    return ExpertSurvey(
        deviating=int(totals.counted[1 + i, 0]),
        active=int(totals.counted[1 + 2 * k + i, 0]),
        activity_probability=float(totals.counted[1 + k + i, 1]),
        expected_active_steps=float(totals.counted[1 + 2 * k + i, 1]),
        max_oscillation=float(totals.oscillation[i]),
        runs=int(totals.runs[i]),
        deviates_at=tuple(t for t in range(visit.plan.horizon) if seen.any(t, len(MARKS) + i)),
        first_deviation=Deviations(seen, i),
        largest_tv=tuple(float(tv) for tv in totals.distance[i]),
    )


def _marginal(
    visit: Visit, question: Question, names: Sequence[str], expert: int, positions: tuple[int, ...]
) -> Marginal:
    """The marginals on a mask, from a visit to the prefixes that just contain it."""
    asked = replace(question, length=max(positions, default=0) + 1, masks=None)
    shorter = plan(asked, names, visit.plan.vocab, visit.plan.eos, visit.plan.scale)
    there = Visit(shorter, visit.source, visit.workers) if shorter.horizon < visit.plan.horizon else visit
    laws, relative = there.marginal(expert, positions)
    return compare_marginals(expert, positions, visit.plan.vocab, *laws, relative)


def _termination(visit: Visit, seen: "Seen") -> TerminationSurvey:
    background, *experts, composition = (float(x) for x in visit.totals.lengths)
    return TerminationSurvey(
        unended=float(visit.totals.masses[2]),
        ends=visit.largest("unended") == 0,
        endless=seen.first("endless"),
        composition=composition,
        background=background,
        experts=tuple(experts),
    )


Who = Literal["nobody", "deviate", "active"]


class Seen:
    """Where the marks are: the shortest marked prefix, the first among the shortest."""

    def __init__(self, visit: Visit):
        self.visit = visit

    def first(self, mark: str, who: Who = "nobody") -> Sighting | None:
        """The first prefix with this mark, with the experts that deviate (are active) there."""
        bit = MARKS.index(mark)
        for length in range(self.visit.plan.horizon):
            if (sighting := self.at(length, bit, who)) is not None:
                return sighting
        return None

    def vanishing(self, differs: str, unsure: str, largest: float) -> Vanishing:
        """A quantity by its two marks, with its largest value."""
        return Vanishing(self.first(differs, "deviate"), self.first(unsure), largest)

    def any(self, length: int, bit: int) -> bool:
        """Whether a prefix of this length is marked."""
        plan, top = self.visit.plan, self.visit.top
        if length < plan.above:
            return bool((top.marks[length] >> np.uint32(bit) & np.uint32(1)).any())
        return bool(self.visit.totals.first[length, bit] < NOWHERE)

    def who(self, length: int, index: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The experts that deviate, and those that are active, at a prefix."""
        plan = self.visit.plan
        if length < plan.above:
            place, tally, level = (index, 0), self.visit.top, self.visit.levels[length]
        else:
            number, row = divmod(index, plan.stretch * plan.vocab ** (length - plan.above))
            part = self.visit.part(number)
            place, tally, level = (row, 0), part.tally, part.levels[length - plan.above]
        return self._experts(level.deviates[place]), self._experts(tally.active[length][place])

    def _experts(self, bits: np.uint32) -> tuple[int, ...]:
        return tuple(i for i in range(self.visit.plan.experts) if int(bits) >> i & 1)

    def at(self, length: int, bit: int, who: Who = "nobody") -> Sighting | None:
        """The first prefix of this length with this bit among its marks."""
        if not self.any(length, bit):
            return None
        visit, above = self.visit, self.visit.plan.above
        tally, levels, first = visit.top, visit.levels, 0
        if length >= above:
            number = int(visit.totals.first[length, bit])
            tally, levels = visit.part(number).tally, visit.part(number).levels
            first = number * visit.plan.stretch * visit.plan.vocab ** (length - above)
        level = levels[length - above if length >= above else length]
        row = int((tally.marks[length][:, 0] >> np.uint32(bit) & np.uint32(1)).argmax())
        bits = tally.active[length] if who == "active" else level.deviates
        experts = () if who == "nobody" else self._experts(bits[row, 0])
        return Sighting(length, first + row, float(level.inherited.reach[row, 0]), experts)


class Deviations(Sequence[Sighting | None]):
    """Of an expert: the first prefix at which it deviates, by position; looked for when asked for."""

    def __init__(self, seen: Seen, expert: int):
        self._seen = seen
        self._expert = expert

    def __len__(self) -> int:
        return self._seen.visit.plan.horizon

    @overload
    def __getitem__(self, index: int) -> Sighting | None: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Sighting | None]: ...
    def __getitem__(self, index: int | slice) -> Sighting | Sequence[Sighting | None] | None:
        if isinstance(index, slice):
            return [self[t] for t in range(len(self))[index]]
        if not 0 <= index < len(self):
            raise IndexError(index)
        sighting = self._seen.at(index, len(MARKS) + self._expert)
        return None if sighting is None else replace(sighting, experts=(self._expert,))
