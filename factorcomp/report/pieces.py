"""The pieces that a page on a terminal is made of."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from factorcomp.certificates.claims import Positions
from factorcomp.report import words


def title(title: str) -> Text:
    """The title of a part, with a blank line above."""
    return Text(f"\n{title}", style="bold")


def indented(part: RenderableType, by: int = 2) -> Padding:
    """A part, further to the right."""
    return Padding(part, (0, 0, 0, by))


def bullet(line: str) -> Padding:
    """A line of a list."""
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_row(Text("·"), Text(line))
    return indented(grid)


def pairs(rows: Mapping[str, str]) -> Table:
    """Words and what belongs to them, in two columns."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for key, value in rows.items():
        grid.add_row(Text(key), Text(value))
    return grid


def positions(positions: Sequence[int] | Positions) -> str:
    """Positions with commas; of many the first and the last; `0::3` for those without an end."""
    if isinstance(positions, Positions):
        finite, endless = positions.finite, [f"{start}::{step}" for start, step in positions.progressions]
    else:
        finite, endless = positions, []
    shown = [*map(str, finite), *endless]
    return ",".join([*shown[:8], "…", shown[-1]] if len(shown) > 12 else shown) or "none"


def count(number: int) -> str:
    """A count, in scientific notation beyond a billion."""
    return f"{number:,}" if number < 10**9 else words.number(Fraction(number))
