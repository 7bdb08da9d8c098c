"""What comes of holding a model or a composer to a law: a result that explains itself."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class LawResult:
    """Whether a law holds of one instance; if not, where it fails first, by how much, and what was tolerated.

    **Fields:** `law`: its name. `says`: the law in words. `where`: the prefix and token. `got`, `needed`: what was
    found there and what the law asks for. `off`: the largest distance, in nats unless `got` says otherwise; infinite
    where a possible token meets an impossible one, and for NaN. `tolerance`: the largest distance that rounding
    explains, `why`: how it was derived. `instance`: the case, as lines of text; `case`: the case itself.

    >>> print(LawResult("normalised", "rows sum to 1", holds=True))
    normalised holds: rows sum to 1
    """

    law: str
    says: str
    holds: bool
    where: str = ""
    got: str = ""
    needed: str = ""
    off: float = 0.0
    tolerance: float = 0.0
    why: str = ""
    instance: tuple[str, ...] = ()
    case: Any = None

    def __str__(self) -> str:
        if self.holds:
            return f"{self.law} holds: {self.says}"
        lines = [
            f"{self.law} is broken: {self.says}",
            f"  {self.where}: got {self.got}; needed {self.needed}",
            f"  off by {self.off:.3g}; tolerated {self.tolerance:.2g}, because {self.why}",
        ]
        return "\n".join(lines + [f"  {line}" for line in self.instance])


class LawError(AssertionError):
    """A law is broken; `result` says how."""

    def __init__(self, result: LawResult):
        super().__init__(str(result))
        self.result = result


def assert_holds(result: LawResult) -> None:
    """Raises `LawError`, with all that the result says, if its law is broken.

    >>> assert_holds(LawResult("normalised", "rows sum to 1", holds=True))
    """
    if not result.holds:
        raise LawError(result)
