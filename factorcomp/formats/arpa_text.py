r"""N-gram files in the ARPA format, line by line: every problem told with its line, nothing repaired.

    \data\
    ngram 1=4
    ngram 2=2

    \1-grams:
    -1.0  a  -0.3          log10 p(a), the word, log10 of its back-off weight (none where no longer n-gram needs one)

    \2-grams:
    -0.5  <s> a

    \end\

Sources: ngram-format(5) of SRILM, also for -99, which stands for log 0; KenLM's reader for a weight of 0 where none is
needed. Of the libraries on PyPI, kenlm cannot list n-grams, and arpa (2018) takes what is not well-formed.
"""

import math
import re
from collections import Counter
from typing import NamedTuple

from factorcomp.models.errors import Problems, shortened, shown

BEGIN, EOS = "<s>", "</s>"
MAX_ORDER = 5
_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?")
_COUNT = re.compile(rb"ngram\s+(\d{1,4})\s*=\s*(\d{1,18})")
_SECTION = re.compile(rb"\\(\d{1,4})-grams:")

Words = tuple[int, ...]


class NGram(NamedTuple):
    """What a line says: logs to base 10, -inf for 0; `weight` is `None` where none is written."""

    log: float
    weight: float | None
    line: int


class NGrams(dict[Words, NGram]):
    """The n-grams of a file, by their words, in the order of the file.

    **Fields:** `words`: the 1-grams, each with its place. `order`: the number of words of the longest n-grams. `zeros`:
    how many times -99 stands for minus infinity. `problems`: told of what is wrong.
    """

    def __init__(self, data: bytes, problems: Problems):
        self.problems = problems
        self.words: dict[str, int] = {}
        self.zeros = 0
        self._counts: dict[int, int] = {}
        numbered = ((number, line.strip()) for number, line in enumerate(data.split(b"\n"), 1))
        lines = [(number, line) for number, line in numbered if line]
        begin = next((place for place, (_, line) in enumerate(lines, 1) if line == b"\\data\\"), None)
        if begin is None:
            problems.add("", "found no line \\data\\; needed an n-gram model in the ARPA format")
        else:  # what stands before is a comment
            self._read(lines[begin:])

    @property
    def order(self) -> int:
        return len(self._counts)

    def shown(self, words: Words) -> str:
        """An n-gram for a message."""
        names = list(self.words)
        return shown(" ".join(names[word] for word in words))

    def _read(self, lines: list[tuple[int, bytes]]) -> None:
        section, found = 0, Counter()
        for place, (number, line) in enumerate(lines, 1):
            if line == b"\\end\\":
                if place < len(lines):
                    self._tell(lines[place][0], "found text after \\end\\; needed none")
                break
            if line.startswith(b"\\"):
                if line != b"\\%d-grams:" % (section + 1):
                    self._tell(number, f"found {_text(line)}; needed \\{section + 1}-grams:")
                section = int(title[1]) if (title := _SECTION.fullmatch(line)) else section + 1
            elif section:
                found[section] += 1
                self._ngram(number, line.split(), section)
            else:
                self._count(number, line)
        else:
            self.problems.add("", "found no line \\end\\; needed one: this may be a part of a file")
        for order in sorted({*self._counts, *found}):
            if found[order] != self._counts.get(order, 0):
                needed = f"needed {self._counts.get(order, 0)}, as \\data\\ says"
                self.problems.add(f"\\{order}-grams", f"found {found[order]} n-grams; {needed}")

    def _tell(self, number: int, message: str) -> None:
        self.problems.add(f"line {number}", message)

    def _count(self, number: int, line: bytes) -> None:
        count = _COUNT.fullmatch(line)
        if count is None or int(count[1]) != self.order + 1:
            self._tell(number, f"found {_text(line)}; needed ngram {self.order + 1}=COUNT, or \\1-grams:")
        elif int(count[1]) > MAX_ORDER:
            self._tell(number, f"found n-grams of {int(count[1])} words; needed at most {MAX_ORDER}")
        if count is not None:
            self._counts[int(count[1])] = int(count[2])

    def _ngram(self, number: int, fields: list[bytes], order: int) -> None:
        if len(fields) - order not in (1, 2):
            words = f"{order} word{'s' * (order > 1)}"
            needed = f"needed a log-probability, {words}, and a back-off weight or none"
            self._tell(number, f"found {len(fields)} fields; {needed}")
            return
        log = self._log(number, fields[0])
        weight = self._log(number, fields[order + 1]) if len(fields) == order + 2 else None
        words = self._words(number, fields[1 : order + 1])
        if log > 0 and (order > 1 or fields[1] != BEGIN.encode()):
            self._tell(number, f"found the log-probability {_text(fields[0])}; needed at most 0")
        if weight and order == self.order:
            needed = "needed none, as no n-gram is longer"
            self._tell(number, f"found the back-off weight {_text(fields[-1])}; {needed}")
        if words is None:
            return
        if words in self:
            self._tell(number, f"found {self.shown(words)}, as in line {self[words].line}; needed each n-gram once")
        elif order > 1 and words[:-1] not in self:
            needed = f"needed {self.shown(words[:-1])} as well, with its back-off weight"
            self._tell(number, f"found {self.shown(words)}; {needed}")
        self.setdefault(words, NGram(log, weight, number))

    def _log(self, number: int, field: bytes) -> float:
        if field == b"-inf":
            return -math.inf
        if not _NUMBER.fullmatch(field) or math.isinf(log := float(field)):
            self._tell(number, f"found {_text(field)}; needed a number, a logarithm to base 10")
            return -math.inf
        if log == -99:
            self.zeros += 1
            return -math.inf
        return log

    def _words(self, number: int, fields: list[bytes]) -> Words | None:
        try:
            words = [field.decode() for field in fields]
        except UnicodeDecodeError:
            self._tell(number, f"found {_text(b' '.join(fields))}; needed UTF-8")
            return None
        if len(words) == 1:
            self.words.setdefault(words[0], len(self.words))
        if BEGIN in words[1:] or EOS in words[:-1]:
            self._tell(number, f"found {shown(' '.join(words))}; needed {BEGIN} only first and {EOS} only last")
            return None
        unknown = [word for word in words if word not in self.words]
        if unknown:
            self._tell(number, f"found the word {shown(unknown[0])}; needed words that are 1-grams")
            return None
        return tuple(self.words[word] for word in words)


def _text(found: bytes) -> str:
    return shortened(found.decode(errors="backslashreplace"))
