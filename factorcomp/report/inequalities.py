"""Bounds and guarantees on a terminal: what is bounded, by what, and what it really is."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from factorcomp.inequalities import Bound, Comparison, Effect, Guarantee, Guarantees, Robust
from factorcomp.report import pieces, words
from factorcomp.verdicts import Report

ALL_ZERO = "all 0: the composition is the switching model exactly, stepwise and as whole sequences"
_BEST = 5
"""So many bounds of one quantity are shown, the best ones; the data hold all."""
_VACUOUS = {"tv": 1.0, "kl": float("inf"), "reverse_kl": float("inf")}
_QUANTITIES = {"tv": "TV", "kl": "KL", "reverse_kl": "KL, reversed"}


def bounds(report: Report) -> Iterator[RenderableType]:
    """The part about bounds; nothing where none were asked for."""
    found = report.robust
    if found is None:
        return
    yield pieces.title("Bounds")
    if found.skipped:
        yield pieces.indented(Text(f"not computed: {found.skipped}"))
    elif all(comparison.same for comparison in found.comparisons):
        yield pieces.indented(Text(ALL_ZERO))
    else:
        yield pieces.indented(_table(found))
        yield pieces.indented(pieces.pairs(_effects(found)))


def _table(found: Robust) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_edge=False)
    table.add_column("", overflow="fold", min_width=44)
    for head in ("bound", "truth"):
        table.add_column(Text(head, style="bold"), justify="right", no_wrap=True, min_width=7)
    for comparison in found.comparisons:
        if comparison.same:
            table.add_row(Text(f"TV: {comparison.words}"), "", Text("0"))
            continue
        for quantity in _QUANTITIES:
            for row in _rows(comparison, quantity):
                table.add_row(*row)
        for why in dict.fromkeys(bound.why for bound in comparison.bounds if bound.why):
            table.add_row(Text(f"  not bounded further: {words.printable(why)}", style="dim"), "", "")
    return table


def _rows(comparison: Comparison, quantity: str) -> Iterator[tuple[Text, Text, Text]]:
    """What is compared and the truth; then its bounds that say something, the best first."""
    known = {"tv": comparison.tv, "kl": comparison.kl, "reverse_kl": comparison.reverse_kl}[quantity]
    saying = sorted((b for b in comparison.bounds if b.quantity == quantity and _says(b)), key=lambda b: b.value or 0)
    if quantity != "tv" and not saying:
        return
    title = Text(f"{_QUANTITIES[quantity]}: {words.printable(comparison.words)}")
    dust = isinstance(known, float) and known < words.DUST
    yield title, Text(""), Text("≈ 0" if dust else words.number(known))
    for bound in [b for b in saying if not b.below][:_BEST] + [b for b in saying if b.below]:
        sign = "≥" if bound.below else "≤"
        yield Text(f"  {sign} {bound.words} ({bound.source})", style="dim"), Text(words.number(bound.value)), Text("")


def _says(bound: Bound) -> bool:
    """Whether the bound is not what is true of any two laws."""
    if bound.value is None:
        return False
    return bound.value > 0 if bound.below else bound.value < _VACUOUS[bound.quantity]


def _effects(found: Robust) -> dict[str, str]:
    rows = {}
    if found.switching_defect is not None and found.switching_defect.prefix is not None:
        rows["TV to the nearest component"] = _effect(found.switching_defect)
    for name, effect in found.leave_one_out.items():
        rows[f"TV to the composition without {words.printable(name, 16)}"] = _effect(effect)
    ending = found.ending
    if ending is not None:
        shifts = [(words.printable(name, 16), shift) for name, shift in ending.shifts.items()]
        terms = [("background", ending.background), *shifts, ("content", -ending.log_content)]
        rows[f"log-odds of EOS {words.after(ending.prefix)}"] = (
            f"{words.number(ending.composition)} = {' '.join(_signed(who, term) for who, term in terms)}; the nearest "
            f"component's are {words.number(ending.component)}"
        )
    return rows


def _signed(who: str, term: float) -> str:
    return f"{'-' if term <= -words.DUST else '+'} {words.settled(abs(term), True)} {who}"


def _effect(effect: Effect) -> str:
    if effect.prefix is None:
        return "0"
    largest, expected = words.number(effect.largest), words.number(effect.expected)
    return f"{largest} {words.after(effect.prefix)}; {expected} expected on a path"


def guarantees(report: Report) -> Iterator[RenderableType]:
    """The part about guarantees; nothing where none were given."""
    found = report.guarantees
    if found is None:
        return
    yield pieces.title("Guarantees")
    if found.skipped:
        yield pieces.indented(Text(f"nothing is known of them: {found.skipped}"))
        return
    for guarantee in found.experts:
        yield pieces.indented(
            Text(f"{words.names([guarantee.expert])} on {words.printable(guarantee.pattern, 48)}", style="bold")
        )
        yield pieces.indented(pieces.pairs(_of_expert(guarantee)), 4)
    yield pieces.indented(Text("all experts that are entered", style="bold"))
    yield pieces.indented(pieces.pairs(_of_all(found)), 4)


def _of_expert(guarantee: Guarantee) -> dict[str, str]:
    number, expert = words.number, words.names([guarantee.expert])
    if guarantee.worst is None or guarantee.failure is None:
        alone = (
            f"; alone it succeeds with probability {number(guarantee.own_succeeds)}" if guarantee.own_entered else ""
        )
        return {"entered": f"never in the composition: nothing is promised{alone}"}
    rows = {
        "succeeds": f"{number(guarantee.own_succeeds)} alone, {number(guarantee.succeeds)} in the composition",
        "entered": f"{number(guarantee.own_entered)} alone, {number(guarantee.entered)} in the composition; "
        f"drift: TV {number(guarantee.drift)} of the entries, {number(guarantee.segment_drift)} of the segments",
        "fails": f"{number(guarantee.fails)} ≤ {number(guarantee.failure_bound)}: with probability "
        f"{number(guarantee.failure)} {words.after(guarantee.worst)}, its worst entry",
    }
    if guarantee.average_bound < guarantee.entered:
        rows["fails, on average"] = (
            f"≤ {number(guarantee.average_bound)}: {number(guarantee.own_fails)} alone, and no entry becomes more than "
            f"{number(guarantee.ratio)} times as likely"
        )
    else:
        rows["fails, on average"] = (
            f"not bounded: {number(guarantee.own_fails)} alone, and an entry becomes {number(guarantee.ratio)} times "
            "as likely"
        )
    exact = f"as under {expert}, whatever the entry"
    rows["segments"] = (
        exact if guarantee.exact_segments else f"off those of {expert} by a TV of {number(guarantee.segment_tv)}"
    )
    return rows


def _of_all(found: Guarantees) -> dict[str, str]:
    succeed = words.number(found.succeed)
    best = max((bound for bound in found.bounds if bound.value is not None), key=lambda b: b.value or 0, default=None)
    if best is not None and best.value is not None and best.value > 0:
        return {"succeed": f"{succeed} ≥ {words.number(best.value)} = {best.words} ({best.source})"}
    whys = "; ".join(dict.fromkeys(bound.why for bound in found.bounds if bound.why))
    return {"succeed": f"{succeed} ≥ 0: no bound says more", **({"not bounded": whys} if whys else {})}
