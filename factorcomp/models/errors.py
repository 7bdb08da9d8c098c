"""The one exception for input that cannot be used, and the list of problems that it reports."""

import json
from collections.abc import Iterable


class InputError(ValueError):
    """A file or a call that cannot be used: every problem found, each with its file and place.

    **Fields:** `problems`: one line each, that says the place, what was found, what was needed and what to do.
    """

    def __init__(self, problems: Iterable[str] | str):
        self.problems = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(self.problems))


class Problems:
    """Collects the problems of one input, in the order found: all are counted, the first `limit` are listed.

    >>> problems = Problems("base.json")
    >>> problems.add("eos", "found 3; needed a token or null")
    >>> problems.raise_any()
    Traceback (most recent call last):
    factorcomp.models.errors.InputError: base.json: eos: found 3; needed a token or null
    """

    def __init__(self, name: str, limit: int = 100):
        self.name = name
        self.limit = limit
        self.count = 0
        self.lines: list[str] = []

    def add(self, place: str, message: str) -> None:
        """Notes one problem; `place` is "" where it concerns the whole input."""
        self.count += 1
        if self.count <= self.limit:
            self.lines.append(f"{self.name}: {place}: {message}" if place else f"{self.name}: {message}")

    def raise_any(self) -> None:
        """Raises `InputError` if there was a problem."""
        if self.count:
            more = self.count - len(self.lines)
            raise InputError(self.lines + ([f"{self.name}: and {more} more"] if more else []))


def shown(value: object) -> str:
    """What was found, as JSON writes it, short enough for one line.

    >>> shown(None), shown("a"), shown(b"-0.5"), shown([1, 2]), shown({})
    ('null', '"a"', '-0.5', 'a list of 2', 'an object')
    """
    match value:
        case None | True | False:
            return {None: "null", True: "true", False: "false"}[value]
        case list() | tuple():
            return f"a list of {len(value)}"
        case dict():
            return "an object"
        case bytes():
            return shortened(value.decode())
        case str():
            text = json.dumps(value, ensure_ascii=False)[1:-1].encode(errors="backslashreplace").decode()
            return f'"{shortened(text)}"'
    return f"a {type(value).__name__}"


def shortened(text: str, length: int = 40) -> str:
    """The text, cut in the middle if it is longer than `length`."""
    return text if len(text) <= length else f"{text[: length - 10]}…{text[-9:]}"
