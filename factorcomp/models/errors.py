"""The one exception for input that cannot be used."""

from collections.abc import Iterable


class InputError(ValueError):
    """A file or a call that cannot be used: every problem found, each with its file and place.

    **Fields:** `problems`: one line each, that says the place, what was found, what was needed and what to do.
    """

    def __init__(self, problems: Iterable[str] | str):
        self.problems = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(self.problems))
