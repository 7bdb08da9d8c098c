"""A witness on a terminal: the path that leads to it, and what each model says there, side by side."""

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from factorcomp.certificates.claims import (
    JOINT_CLAIMS,
    ClaimResult,
    FeatureWitness,
    MarginalWitness,
    Number,
    PairWitness,
    PositionWitness,
    PrefixWitness,
    SequenceWitness,
    Tokens,
    Verdict,
)
from factorcomp.report import pieces, words
from factorcomp.verdicts import Report, Step

_ROWS = 12
"""So many tokens of a row are shown: those where the models differ most."""
_COLUMNS = 6
"""Up to so many models are all shown, also those that do nothing at a prefix."""
_ROUNDING = 1e-4
"""Nats: oscillations of this size come from the rounding of numbers in 16 or 32 bits."""
_PATH = 12
"""So many steps of a witness's path are shown."""


def shown(report: Report) -> tuple[ClaimResult, ...]:
    """The claims whose witness is shown: those that decide; if none has one, the first that has."""
    having = [result for result in report.claims if result.witness is not None]
    deciding = [result for result in report.decisive if result.witness is not None]
    return tuple(deciding or having[:1])


def by_rounding(report: Report, result: ClaimResult) -> bool:
    """Whether a claim that a threshold would save is refuted by deviations as small as those of rounding."""
    if result.verdict is not Verdict.REFUTED or result.claim not in (*JOINT_CLAIMS, "mask_agreement"):
        return False
    experts = () if report.measures is None else report.measures.experts.values()
    largest = max((expert.max_oscillation for expert in experts), default=_ROUNDING)
    return not report.question.threshold and largest < _ROUNDING


def witness(report: Report, result: ClaimResult, width: int) -> Iterator[RenderableType]:
    """The witness of `result`: where it is, the path there, and the models' rows if the report holds them."""
    found = result.witness
    steps = {step.prefix: step for step in report.steps.get(result.name, ())}
    title = f"Witness against {words.printable(result.name)}"
    if result.verdict is not Verdict.REFUTED:
        title = f"Witness for {words.printable(result.name)}"
    match found:
        case PrefixWitness():
            yield pieces.title(f"{title}: a prefix of probability {words.number(found.probability)}")
            yield pieces.indented(_path(report, found))
            if found.prefix in steps:
                yield pieces.indented(_rows(report, steps[found.prefix], found.experts, width - 2))
        case PairWitness():
            yield pieces.title(f"{title}: {words.broken(found)}")
            yield from _pair(report, found, steps, width)
        case PositionWitness():
            yield pieces.title(f"{title}: two experts deviate at position {found.position}")
            for expert, prefix in zip(found.experts, found.prefixes, strict=True):
                yield pieces.indented(Text(f"{words.names([expert])} deviates {words.after(prefix)}"))
            for prefix in dict.fromkeys(found.prefixes):
                if prefix in steps:
                    yield pieces.indented(_rows(report, steps[prefix], found.experts, width - 2))
        case MarginalWitness():
            owner = words.names([result.mask or "the expert"])
            yield pieces.title(f"{title}: where the two marginals differ most")
            rows = {f"position {p}": words.token(t) for p, t in zip(found.positions, found.tokens, strict=True)}
            if len(rows) > _PATH:
                rows = {"positions": pieces.positions(found.positions), "tokens": words.path(found.tokens)}
            rows["composition"] = words.number(found.composition)
            rows[owner] = words.number(found.expert)
            yield pieces.indented(pieces.pairs(rows))
        case FeatureWitness():
            owner = words.names([result.mask or "the expert"])
            yield pieces.title(f"{title}: where the two marginals of features differ most")
            rows = {f"feature {c}": words.token(z) for c, z in zip(found.coordinates, found.tokens, strict=True)}
            if len(rows) > _PATH:
                rows = {"features": pieces.positions(found.coordinates), "tokens": words.path(found.tokens)}
            rows["composition"] = words.number(found.composition)
            rows[owner] = words.number(found.expert)
            yield pieces.indented(pieces.pairs(rows))
        case SequenceWitness():
            yield pieces.title(f"{title}: a sequence whose features differ most")
            rows = {"tokens": words.path(found.sequence), "features": words.path(found.features)}
            rows["composed in tokens"] = words.number(found.in_tokens)
            rows["composed in features"] = words.number(found.in_features)
            yield pieces.indented(pieces.pairs(rows))


def _path(report: Report, witness: PrefixWitness) -> Table:
    """The path to the prefix, a line per step: the token taken, who deviates after it, who is active."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(justify="right", style="dim", no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    lengths = list(range(len(witness.prefix) + 1))
    hidden = lengths[2 : len(lengths) - _PATH + 3] if len(lengths) > _PATH else []
    for length in lengths:
        if hidden and length == hidden[0]:
            grid.add_row(Text("…"), Text(""), Text(f"{words.count('step', len(hidden))} left out", style="dim"))
        if length in hidden:
            continue
        prefix = witness.prefix[:length]
        taken = words.token(prefix[-1]) if prefix else "start"
        line = Text(_who(report, prefix))
        if length == len(witness.prefix):
            line.append("  ◂ here" if line.plain else "◂ here", style="bold red")
        grid.add_row(Text(str(length)), Text(taken), line)
    return grid


def _who(report: Report, prefix: Tokens) -> str:
    deviating = report.deviating(prefix)
    idle = [name for name in report.active(prefix) if name not in deviating]
    parts = []
    if deviating:
        parts.append(f"{words.names(deviating)} {'deviates' if len(deviating) == 1 else 'deviate'}")
    if idle:
        parts.append(f"{words.names(idle)} {'is' if len(idle) == 1 else 'are'} active between deviations")
    return ", ".join(parts)


def _rows(report: Report, step: Step, guilty: Sequence[str], width: int) -> RenderableType:
    """What each model says about the next token: a line per token, a column per model, marks for who deviates."""
    deviating, active = report.deviating(step.prefix), report.active(step.prefix)
    marks = dict.fromkeys(guilty, "at fault") | dict.fromkeys(active, "active")
    marks |= dict.fromkeys(deviating, "deviates")
    columns = [("background", "", step.background)]
    columns += [(words.names([name]), marks[name], step.experts[name]) for name in step.experts if name in marks]
    notes = []
    others = [(words.names([name]), "", row) for name, row in step.experts.items() if name not in marks]
    if len(columns) + len(others) < _COLUMNS:
        columns += others
    elif others:
        notes.append(f"{words.count('more expert', len(others))}, which neither deviate nor are active here")
    if step.composition is None:
        notes.append("the composition has no next token here")
    else:
        columns.append(("composition", "", step.composition))
    return _distributions(report.vocabulary, f"next token {words.after(step.prefix)}", columns, notes, width)


def _pair(report: Report, witness: PairWitness, steps: Mapping[Tokens, Step], width: int) -> Iterator[RenderableType]:
    """The two rows that should agree, side by side."""
    columns = []
    for model, prefix in zip(witness.models, witness.prefixes, strict=True):
        place = words.after(prefix)
        if prefix not in steps or len(place) > 24:
            yield pieces.indented(Text(f"{words.names([model])} {place}"))
        row = _row(steps[prefix], model, witness) if prefix in steps else None
        if row is not None:
            columns.append((words.names([model]), words.printable(place, 24), row))
    if len(columns) == 2:
        yield pieces.indented(_distributions(report.vocabulary, "next token", columns, [], width - 2))


def _row(step: Step, model: str, witness: PairWitness) -> Sequence[Number] | None:
    """What `model` says at a step of a pair; only of a pair of normalizers is "composition" no expert's name."""
    if witness.condition == "Z":
        return step.composition
    return step.background if model == "background" else step.experts[model]


def _distributions(
    vocabulary: Sequence[str],
    title: str,
    columns: Sequence[tuple[str, str, Sequence[Number]]],
    notes: list[str],
    width: int,
) -> RenderableType:
    """Distributions side by side, each `(name, mark, row)`; what does not fit beside the others stands below."""
    spread = [float(max(cells)) - float(min(cells)) for cells in zip(*(row for _, _, row in columns), strict=True)]
    shown = sorted(sorted(range(len(vocabulary)), key=lambda y: (-spread[y], y))[:_ROWS])
    labels = [words.token(vocabulary[y]) for y in shown]
    parts: list[RenderableType] = [Text(f"\n{title}")]
    for block in _blocks(columns, width - max(map(len, labels), default=0) - 2):
        table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_edge=False)
        table.add_column("", no_wrap=True)
        for name, mark, _ in block:
            table.add_column(Text(f"{name}\n{mark}".rstrip()), justify="right", style="bold" if mark else "")
        for y, label in zip(shown, labels, strict=True):
            table.add_row(Text(label), *(Text(words.number(row[y])) for _, _, row in block))
        parts.append(table)
    if len(vocabulary) > len(shown):
        notes = [f"{words.count('more token', len(vocabulary) - len(shown))}, on which they differ less", *notes]
    return Group(*parts, *(Text(f"({note})", style="dim") for note in notes))


def _blocks(
    columns: Sequence[tuple[str, str, Sequence[Number]]], room: int
) -> Iterator[list[tuple[str, str, Sequence[Number]]]]:
    """The columns in groups that are at most `room` characters wide, at least one in each."""
    block: list[tuple[str, str, Sequence[Number]]] = []
    used = 0
    for column in columns:
        needed = max(9, len(column[0]), len(column[1])) + 2
        if block and used + needed > room:
            yield block
            block, used = [], 0
        block.append(column)
        used += needed
    yield block
