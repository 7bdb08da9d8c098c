"""A report and a diagnosis on a terminal: verdict, what was checked, claims, witness, numbers.

Everything is built of `rich.text.Text`, never of markup: a token `[red]` is shown, not obeyed. Without colours the same
is said by words and signs; where the output cannot show a sign, ASCII stands for it.
"""

import io
from collections.abc import Iterable, Iterator

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from factorcomp.certificates.claims import Verdict
from factorcomp.report import features, inequalities, pieces, witnesses, words
from factorcomp.verdicts import Diagnosis, Finding, Report

_STYLES = {
    "HOLDS": ("✓", "bold green"),
    "REFUTED": ("✗", "bold red"),
    "BOUNDED": ("≤", "bold yellow"),
    "UNDECIDED": ("?", "bold magenta"),
    "blocks": ("✗", "bold red"),
    "matters": ("!", "bold yellow"),
    "fine": ("✓", "green"),
}
_BY_ROUNDING = "the models differ by rounding alone? try --threshold 1e-3 (factorcomp doctor says more)"
_SPELLED = {"…": "...", "≥": ">", "×": "x", "δ": "delta", "κ": "kappa", "²": "^2"}
_ASCII = str.maketrans("✓✗≤≈·–━─◂", "+x<~----<") | str.maketrans(_SPELLED)


def show(what: Report | Diagnosis, console: Console) -> str:
    """What `console` has to write for `what`, with its colours and its width; in ASCII if that is all it can encode."""
    parts = _report(what, console.width) if isinstance(what, Report) else _diagnosis(what, console.width)
    return written(parts, console)


def written(parts: Iterable[RenderableType], console: Console) -> str:
    """What `console` has to write for these parts, in ASCII if that is all it can encode."""
    with console.capture() as capture:
        for part in parts:
            console.print(part, markup=False, highlight=False, emoji=False)
    shown = "\n".join(line.rstrip() for line in capture.get().split("\n"))
    if not console.options.ascii_only:
        return shown
    return shown.translate(_ASCII).encode("ascii", "backslashreplace").decode("ascii")


def text(what: Report | Diagnosis, width: int = 100) -> str:
    """`what` without colours, `width` characters wide."""
    return show(what, plain(width)).rstrip("\n")


def plain(width: int) -> Console:
    """A console without colours, for text."""
    return Console(file=io.StringIO(), width=width, color_system=None, force_terminal=False, legacy_windows=False)


def _sign(word: str) -> Text:
    sign, style = _STYLES[word]
    return Text(f"{sign} {word}", style=style)


def _report(report: Report, width: int) -> Iterator[RenderableType]:
    yield Text.assemble((str(report.verdict), _STYLES[report.verdict][1]), (f": {words.headline(report)}", "bold"))
    yield Text("")
    yield pieces.indented(_checked(report))
    yield pieces.title("Claims")
    yield from (pieces.indented(part) for part in _claims(report, width))
    for result in witnesses.shown(report):
        yield from witnesses.witness(report, result, width)
        if witnesses.by_rounding(report, result):
            yield Text("")
            yield pieces.indented(Text(_BY_ROUNDING))
    if report.measures is not None:
        if report.measures.experts:
            yield pieces.title("Experts")
            yield from (pieces.indented(part) for part in _experts(report, width))
        yield pieces.title("Composition")
        yield pieces.indented(_numbers(report))
    yield from inequalities.bounds(report)
    yield from inequalities.guarantees(report)
    if report.features is not None:
        yield from features.features(report.features)
    if report.notes:
        yield pieces.title("Notes")
        yield from (pieces.bullet(words.printable(note)) for note in report.notes)


def _checked(report: Report) -> Table:
    question = report.question
    experts = [f"{words.names([name])} = {words.printable(model.name, 60)}" for name, model in report.experts.items()]
    if len(experts) > 6:
        experts = [*experts[:5], f"and {len(experts) - 5} more"]
    tokens = words.path(report.vocabulary, most=6)
    eos = "no EOS" if report.eos is None else f"EOS {words.token(report.eos)}"
    scope = "every prefix" if question.scope == "all" else "every prefix that the composition can reach"
    methods = dict.fromkeys(result.method for result in report.claims)
    threshold = "any difference is a deviation"
    if question.threshold:
        threshold = f"a deviation is an oscillation of more than {words.number(question.threshold)} nats"
    rows = {
        "background": words.printable(report.background.name, 60),
        "experts": "\n".join(experts),
        "vocabulary": f"{words.count('token', len(report.vocabulary))}: {tokens} · {eos}",
        "checked": f"{words.at_length(report, 'length')} · {scope}{_size(report)}",
        "method": f"{', '.join(methods)} · {threshold} · null tokens: {question.null_tokens}",
    }
    weights = [f"{words.names([name])} {words.number(weight)}" for name, weight in question.weights.items()]
    if weights:
        rows["weights"] = " · ".join(weights)
    if report.findings.masks:
        rows["masks"] = " · ".join(
            f"{words.names([name])} {pieces.positions(positions)}" for name, positions in report.findings.masks.items()
        )
    if report.features is not None:
        rows["features"] = words.printable(report.features.map.name, 60)
    rows["required"] = ", ".join(words.printable(name) for name in report.required)
    return pieces.pairs(rows)


def _size(report: Report) -> str:
    """How much that is: prefixes, or states of the models' product."""
    question, size = report.question, report.prefixes
    if report.findings.states is not None:
        return f" ({words.count('product state', report.findings.states)})"
    if size is None and question.scope == "all" and question.length != "every":
        size = sum(len(report.vocabulary) ** length for length in range(question.length))
    return "" if size is None else f" ({pieces.count(size)})"


def _claims(report: Report, width: int) -> Iterator[RenderableType]:
    """A line per claim; where the terminal is narrow the reason stands below."""
    required = set(report.required)
    labels = {result.name: words.printable(result.name, 32) for result in report.claims}
    widest = max((len(label) for label in labels.values()), default=0)
    residuals = {result.name: words.residual(report, result) for result in report.claims}
    room = max((len(residual) for residual in residuals.values()), default=0)
    wide = width >= 2 + 12 + widest + room + 36
    for result in report.claims:
        mark = "*" if required & {result.claim, result.name} else " "
        grid = Table.grid(padding=(0, 1, 0, 0))
        grid.add_column(width=11, no_wrap=True)
        grid.add_column(width=widest + 1, no_wrap=True)
        grid.add_column(width=room, no_wrap=True)
        label = Text(f"{labels[result.name]}{mark}", style="bold" if mark == "*" else "")
        residual = residuals[result.name]
        why = Text(words.printable(result.why), style="dim")
        if wide:
            grid.add_column(overflow="fold")
            grid.add_row(_sign(result.verdict), label, Text(residual), why)
            yield grid
        else:
            grid.add_row(_sign(result.verdict), label, Text(residual))
            yield Group(grid, pieces.indented(why, 12 if width >= 80 else 2))
    if required:
        yield Text("* required", style="dim")


def _experts(report: Report, width: int) -> Iterator[RenderableType]:
    """A line per measure, a column per expert; of many experts as many columns as fit, then the next ones below."""
    assert report.measures is not None
    experts = report.measures.experts
    heads = {name: words.printable(name, 16) for name in experts}
    room = max(1, (width - 2 - 30) // (max([9, *map(len, heads.values())]) + 2))
    listed = list(experts)
    for start in range(0, len(listed), room):
        part = listed[start : start + room]
        table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_edge=False)
        table.add_column("", style="dim", no_wrap=True, min_width=28)
        for name in part:
            table.add_column(Text(heads[name], style="bold"), justify="right", no_wrap=True, min_width=7)
        rows = {
            "deviating prefixes": [_counted(experts[name].deviating_prefixes) for name in part],
            "active prefixes": [_counted(experts[name].active_prefixes) for name in part],
            "probability to be active": [words.number(experts[name].activity_probability) for name in part],
            "expected active steps": [words.number(experts[name].expected_active_steps) for name in part],
            "largest oscillation, nats": [words.number(experts[name].max_oscillation) for name in part],
            "most separate runs": [words.number(experts[name].runs) for name in part],
        }
        for label, cells in rows.items():
            if label.endswith("prefixes") and set(cells) == {_UNCOUNTED}:
                continue
            table.add_row(Text(label), *(Text(cell) for cell in cells))
        yield table


_UNCOUNTED = "–"


def _counted(number: int | None) -> str:
    return _UNCOUNTED if number is None else pieces.count(number)


def _numbers(report: Report) -> Table:
    measures = report.measures
    assert measures is not None
    holding = {result.claim for result in report.claims if result.verdict is Verdict.HOLDS}
    rows = {
        "probability that two deviate at once": words.number(measures.overlap_probability),
        "TV to the switching model": words.number(measures.tv_to_switching),
        "TV of stepwise to sequence-level": words.settled(measures.tv_local_global, "local_equals_global" in holding),
    }
    for label, name in zip(list(rows)[1:], ("tv_to_switching", "tv_local_global"), strict=True):
        if name in measures.bounds:
            rows[label] = "{} to {}".format(*map(words.number, measures.bounds[name]))
    if measures.log_normalizer_min is not None:
        unit = "unit_normalizer" in holding
        low, high = (words.settled(z, unit) for z in (measures.log_normalizer_min, measures.log_normalizer_max))
        rows["log Z"] = low if low == high else f"{low} to {high}"
    if measures.termination is not None:
        ending = measures.termination
        lengths = {"composition": ending.composition, "background": ending.background, **ending.experts}
        rows["never ends" if report.question.length == "every" else "not ended"] = words.number(ending.unended)
        rows["expected length, tokens"] = " · ".join(
            f"{words.names([name])} {words.number(length)}" for name, length in lengths.items()
        )
    return pieces.pairs(rows)


def _diagnosis(diagnosis: Diagnosis, width: int) -> Iterator[RenderableType]:
    blocking = sum(finding.severity == "blocks" for finding in diagnosis.findings)
    mattering = sum(finding.severity == "matters" for finding in diagnosis.findings)
    experts = words.names(diagnosis.experts)
    background = words.printable(diagnosis.background, 60)
    subject = f"composing {experts} over {background}"
    if blocking:
        verdict, rest = "BLOCKED", f"{words.count('thing', blocking)} in the way of {subject}."
    else:
        verdict, rest = "COMPOSABLE", f"nothing is in the way of {subject}"
        rest += f"; {words.count('thing', mattering)} to know." if mattering else "."
    yield Text.assemble((verdict, "bold red" if blocking else "bold green"), (f": {rest}", "bold"))
    for finding in diagnosis.findings:
        if finding.severity != "fine":
            yield from _trouble(finding, 11 if width >= 80 else 2)
    fine = [finding for finding in diagnosis.findings if finding.severity == "fine"]
    if fine:
        yield Text("")
    for finding in fine:
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(width=9, no_wrap=True)
        grid.add_column(overflow="fold")
        line = Text.assemble((words.printable(finding.subject), "bold"), f": {words.printable(finding.found)}")
        grid.add_row(_sign("fine"), line)
        yield grid


def _trouble(finding: Finding, indent: int) -> Iterator[RenderableType]:
    yield Text("")
    sign, style = _STYLES[finding.severity]
    yield Text.assemble((f"{sign} {finding.severity}".ljust(11), style), (words.printable(finding.subject), "bold"))
    yield pieces.indented(Text(words.printable(finding.found)), indent)
    rows = {"means": words.printable(finding.consequence), "do": words.printable(finding.cure)}
    yield pieces.indented(pieces.pairs({key: value for key, value in rows.items() if value}), indent)
