"""A repair on a terminal: what was reset, where, and what it costs."""

from collections.abc import Iterator

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from factorcomp.repair.outcome import Repair, RepairedExpert
from factorcomp.report import pieces, words
from factorcomp.report.terminal import plain, written

_KINDS = {
    "tv": "total variation to the background that is given up, expected under the given composition",
    "kl": "KL divergence from the background that is given up, expected under the given composition",
    "count": "number of resets",
}
_ENDLESS_KINDS = {
    "tv": "at each state the expert of largest total variation to the background stays",
    "kl": "at each state the expert of largest KL divergence from the background stays",
    "count": "at each state the first expert that deviates stays",
}


def show(repair: Repair, console: Console) -> str:
    """What `console` has to write, with its colours and its width; in ASCII if that is all it can encode."""
    return written(_parts(repair), console)


def text(repair: Repair, width: int = 100) -> str:
    """The same without colours, `width` characters wide."""
    return show(repair, plain(width)).rstrip("\n")


def _parts(repair: Repair) -> Iterator[RenderableType]:
    report, question = repair.report, repair.question
    resets = sum(expert.resets for expert in repair.experts.values())
    what = "state" if question.length == "every" else "prefix"
    after = f", with {words.count('row', resets)} reset to the background" if resets else ""
    head = "REPAIRED" if resets else "NOTHING TO REPAIR"
    yield Text.assemble((head, "bold green"), (f": {words.headline(report).removesuffix('.')}{after}.", "bold"))
    yield Text("")
    scope = "every prefix" if question.scope == "all" else "every prefix that the repaired composition can reach"
    rows = {
        "background": words.printable(report.background.name, 60),
        "experts": "\n".join(
            f"{words.names([name])} = {words.printable(model.name, 60)}" for name, model in report.experts.items()
        ),
        "checked": f"{words.at_length(report, 'length')} · {scope} · null tokens: {question.null_tokens}",
        "required": repair.claim,
        "cost": (_ENDLESS_KINDS if question.length == "every" else _KINDS)[repair.kind],
    }
    yield pieces.indented(pieces.pairs(rows))
    if resets:
        yield pieces.title("Given up")
        yield pieces.indented(_given_up(repair, f"{what}es" if what == "prefix" else f"{what}s"))
        yield Text("")
        yield pieces.indented(pieces.pairs(_totals(repair)))
        yield pieces.title("Dearest resets")
        for name, expert in repair.experts.items():
            yield from _dearest(name, expert)
    if repair.weights is not None:
        yield pieces.title("Weights for the given experts")
        yield pieces.indented(Text(words.printable(repair.weights)))
    if report.notes:
        yield pieces.title("Notes")
        yield from (pieces.bullet(words.printable(note)) for note in report.notes)


def _given_up(repair: Repair, places: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_edge=False)
    table.add_column("", style="dim", no_wrap=True)
    for heading in (f"{places} reset", "cost", "TV to the given law"):
        table.add_column(Text(heading, style="bold"), justify="right")
    for name, expert in repair.experts.items():
        cells = (f"{expert.resets:,}", _number(expert.cost), _number(expert.law_tv))
        table.add_row(Text(words.printable(name, 24)), *map(Text, cells))
    return table


def _totals(repair: Repair) -> dict[str, str]:
    rows = {}
    if repair.lower_bound is not None:
        cost = _number(repair.cost)
        least = "the least" if repair.least else f"the least is at least {words.number(repair.lower_bound)}"
        rows["cost in all"] = f"{cost}, {least}"
    rows["expected TV given up by the repaired composition"] = _number(repair.spent)
    rows["TV of repaired to given composition"] = _number(repair.composition_tv)
    return rows


def _number(value: float | None) -> str:
    """Without the rounding of sums, so that equal numbers look equal."""
    return words.number(None if value is None else float(f"{value:.12g}"))


def _dearest(name: str, expert: RepairedExpert) -> Iterator[RenderableType]:
    for reset in expert.heaviest:
        numbers = [f"TV {words.number(reset.tv)}"]
        if reset.probability is not None:
            numbers = [f"probability {words.number(reset.probability)}", *numbers]
        yield pieces.indented(Text(f"{words.printable(name, 24)} {words.after(reset.prefix)}: {', '.join(numbers)}"))
    if expert.resets > len(expert.heaviest):
        more = expert.resets - len(expert.heaviest)
        yield pieces.indented(Text(f"{words.printable(name, 24)}: {more:,} more"))
