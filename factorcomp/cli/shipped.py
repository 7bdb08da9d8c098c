"""The shipped examples: folders with a background, experts, and an `example.json` that says what they show."""

import difflib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "examples"


@dataclass(frozen=True)
class Example:
    """A shipped example: its name and folder, one line on what it shows, its experts in order, options of `verify`."""

    name: str
    folder: Path
    title: str
    statement: str
    options: dict[str, Any]
    experts: tuple[str, ...]

    @property
    def background(self) -> str:
        """The path of the background's file."""
        return str(self.folder / "background.json")

    @property
    def given(self) -> dict[str, Any]:
        """The options, the feature map by its path."""
        features = self.options.get("features")
        return self.options | ({} if features is None else {"features": str(self.folder / features)})

    def expert(self, name: str) -> str:
        """The path of an expert's file."""
        return str(self.folder / f"{name}.json")


def examples() -> tuple[str, ...]:
    """The names of the shipped examples, sorted."""
    return tuple(sorted(path.parent.name for path in FOLDER.glob("*/example.json")))


def example(name: str) -> Example:
    """The shipped example `name`; raises `InputError` where there is none."""
    known = examples()
    if name not in known:
        from factorcomp.models.errors import InputError

        close = difflib.get_close_matches(name, known, n=1)
        meant = f" (did you mean {close[0]!r}?)" if close else ""
        raise InputError(f"no example is named {name!r}{meant}; `factorcomp examples` lists them")
    about = json.loads((FOLDER / name / "example.json").read_text(encoding="utf-8"))
    return Example(
        name=name,
        folder=FOLDER / name,
        title=about["title"],
        statement=about["statement"],
        options=about.get("options", {}),
        experts=tuple(about["experts"]),
    )
