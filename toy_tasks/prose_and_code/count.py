"""Counts the shipped example `prose_and_code`: bigrams of characters, of Python's documentation and of its library.

    python -m toy_tasks.prose_and_code.count [FOLDER]

writes background.json, prose.json and code.json (to the example, if no folder is given). With `c(s, y)` the number of
times that `y` follows `s` in a text, add-one smoothing (Laplace's rule of succession) gives the exact fractions

    p(y | s) = (c(s, y) + 1) / (Σ_z c(s, z) + |V|),

and the background has the counts of both texts together. Nothing is thus impossible that a text happens not to hold. A
line is a sequence, its end is EOS; the state is the kind of the last character, or the beginning. The same Python gives
the same files; another version has another documentation and library.
"""

import importlib
import inspect
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from pydoc_data.topics import topics
from string import ascii_lowercase

from factorcomp.formats import save
from factorcomp.models.finite_state import FiniteStateModel

FOLDER = Path(__file__).resolve().parents[2] / "factorcomp" / "examples" / "prose_and_code"
MODULES = (
    *("argparse", "csv", "dataclasses", "fractions", "heapq", "json.decoder", "json.encoder", "pathlib", "shlex"),
    *("statistics", "subprocess", "tarfile", "textwrap"),
)
"""About as much text as the documentation."""
END, BEGIN = "end", "begin"
CLASSES = {" ": "space", '"': "quote", "'": "quote"} | {sign: sign for sign in ".,:()=_-"}
VOCABULARY = (*ascii_lowercase, *dict.fromkeys(CLASSES.values()), "digit", "other", END)

Counts = Counter[tuple[str, str]]


def kind(character: str) -> str:
    """The token of a character: upper case is lower case, digits are one token, and so is what remains.

    >>> [kind(character) for character in "A 7'é"]
    ['a', 'space', 'digit', 'quote', 'other']
    """
    if character.lower() in ascii_lowercase:
        return character.lower()
    return "digit" if character.isdecimal() else CLASSES.get(character, "other")


def counted(text: str) -> Counts:
    """How often each token follows each state, over the lines that are not empty, without space around them.

    >>> sorted(counted("ab\\n\\n  a\\n").items())
    [(('a', 'b'), 1), (('a', 'end'), 1), (('b', 'end'), 1), (('begin', 'a'), 2)]
    """
    return Counter(pair for line in text.splitlines() if line.strip() for pair in _pairs(line.strip()))


def _pairs(line: str) -> Iterator[tuple[str, str]]:
    tokens = [*map(kind, line), END]
    return zip([BEGIN, *tokens], tokens, strict=False)


def model(counts: Counts, name: str) -> FiniteStateModel:
    """The bigram model of these counts, smoothed, in exact fractions."""
    states = {}
    for state in (BEGIN, *VOCABULARY[:-1]):
        total = sum(counts[state, token] for token in VOCABULARY) + len(VOCABULARY)
        states[state] = {
            "probabilities": {token: f"{counts[state, token] + 1}/{total}" for token in VOCABULARY},
            "next": {token: token for token in VOCABULARY if token != END},
        }
    return FiniteStateModel.from_states(states, VOCABULARY, BEGIN, END, name)


def main(folder: Path) -> None:
    """Writes the three models."""
    prose = counted("\n".join(topics.values()))
    code = counted("\n".join(inspect.getsource(importlib.import_module(name)) for name in MODULES))
    folder.mkdir(parents=True, exist_ok=True)
    for name, counts in (("background", prose + code), ("prose", prose), ("code", code)):
        save(model(counts, name), folder / f"{name}.json")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
