"""From the words of a command line to what is asked: every wrong word is reported, not the first alone.

Each function of `Arguments` returns what a word means and keeps what is wrong with it; `raise_problems` raises them
together. What needs a model to judge (whether a position lies within the length) is left to those who have it.
"""

import difflib
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, TypeVar

Positions = tuple[int, ...] | slice
Choice = TypeVar("Choice", bound=str)

_DIGITS = 100
_START = 4096
"""So many bytes of a file say what it seems to be."""
_DECIMAL = re.compile(r"([+-]?)(\d+\.?\d*|\.\d+)(?:[eE]([+-]?\d{1,4}))?")
_RATIO = re.compile(r"([+-]?\d+)/(\d+)")
_NUMBERS = re.compile(r"[^/\\.:=]+=[\d,:/.]*\d[\d,:/.]*")
_SLICE = re.compile(r"(\d*):(\d*)(?::(\d*))?")


class Arguments:
    """What was given for the named models, and the problems with it so far."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self.names: tuple[str, ...] = ()

    def problem(self, line: str) -> None:
        """Keep a problem: what was given, what was needed, what to do."""
        self.problems.append(line)

    def raise_problems(self) -> None:
        """Raise `InputError` with all problems, if there are any."""
        if self.problems:
            from factorcomp.models.errors import InputError

            raise InputError(self.problems)

    def models(self, background: str | None, experts: Sequence[str]) -> dict[str, str]:
        """The experts' names and where each lies, from words `NAME=EXPERT`."""
        named: dict[str, str] = {}
        if background is None:
            self.problem("no models: give BACKGROUND and one NAME=EXPERT or more")
            return named
        if re.match(r"[^/\\.:=]+=.", background) and not os.path.exists(background):
            self.problem(
                f"BACKGROUND: got {background!r}, which names an expert; give the background first, without a name"
            )
        if not experts:
            self.problem("no experts: give one NAME=EXPERT or more after BACKGROUND")
        for word in experts:
            name, equals, place = word.partition("=")
            if not equals:
                self.problem(
                    f"expert {word!r}: got no name, needed NAME=EXPERT, for instance {_suggested(word)}={word}"
                )
            elif self._name(name, word) and name in named:
                self.problem(f"expert {name!r} is given twice ({named[name]!r} and {place!r}): give each its own name")
            elif not place:
                self.problem(f"expert {name!r}: got no model after '=', needed NAME=EXPERT")
            named.setdefault(name, place)
        self.names = tuple(named)
        return named

    def _name(self, name: str, word: str) -> bool:
        if not name.strip():
            self.problem(f"expert {word!r}: got an empty name, needed NAME=EXPERT")
        elif name == "background":
            self.problem(f"expert {word!r}: 'background' is the word for the background itself; choose another name")
        elif not name.isprintable() or name != name.strip():
            self.problem(f"expert {word!r}: got a name with blanks around it or unprintable characters; choose another")
        else:
            return True
        return False

    def _expert(self, option: str, word: str) -> tuple[str, str] | None:
        """Name and value of a word `NAME=VALUE`, if the name is an expert's."""
        name, equals, value = word.partition("=")
        if not equals:
            self.problem(f"{option}: got {word!r}, needed NAME=VALUE with NAME one of {_listed(self.names)}")
        elif self.names and name not in self.names:
            self.problem(
                f"{option}: no expert is named {name!r}{_meant(name, self.names)}; there are {_listed(self.names)}"
            )
        else:
            return name, value.strip()
        return None

    def strays(self, option: str, given: Sequence[str] | None, words: Sequence[str]) -> list[str]:
        """The models without the words `NAME=NUMBERS` that are no files: they were meant for `option`, given once."""
        if not given:
            return list(words)
        strays = [word for word in words if _NUMBERS.fullmatch(word) and not os.path.exists(word.partition("=")[2])]
        if strays:
            right = " ".join(f"{option} {word}" for word in (*given, *strays))
            self.problem(f"{option}: {strays[0]!r} stands without the option; give it before each one: {right}")
        return [word for word in words if word not in strays]

    def masks(self, given: Sequence[str] | None) -> dict[str, Positions] | Literal["auto"] | None:
        """The masks: `auto`, or for each expert given its positions, listed or as a slice."""
        if not given:
            return None
        if "auto" in given:
            if len(given) > 1:
                self.problem(
                    f"--masks: got 'auto' beside {_listed(w for w in given if w != 'auto')}; give one or the other"
                )
            return "auto"
        masks: dict[str, Positions] = {}
        for word in given:
            pair = self._expert("--masks", word)
            if pair is None:
                continue
            name, value = pair
            if name in masks:
                self.problem(f"--masks: got a mask of {name!r} twice; give all its positions in one, {name}=0,2,5")
            masks[name] = self._positions(name, value)
        return masks

    def feature_masks(self, given: Sequence[str] | None) -> dict[str, Positions] | None:
        """The coordinates of the features that each expert owns, listed or as a slice."""
        if not given:
            return None
        masks: dict[str, Positions] = {}
        for word in given:
            pair = self._expert("--feature-masks", word)
            if pair is not None:
                name, value = pair
                if name in masks:
                    self.problem(f"--feature-masks: got a mask of {name!r} twice; give all its coordinates in one")
                masks[name] = self._positions(name, value, "--feature-masks")
        return masks

    def _positions(self, name: str, value: str, option: str = "--masks") -> Positions:
        match = _SLICE.fullmatch(value)
        if match and match[3] != "0":
            start, stop, step = (int(part) if part else None for part in match.groups())
            return slice(start, stop, step)
        words = [word.strip() for word in value.split(",")]
        if not all(re.fullmatch(r"\d{1,9}", word) for word in words):
            self.problem(
                f"{option} {name}: got {value!r}, needed positions counted from 0, as in {name}=0,2,5, or a slice, as "
                f"in {name}=0::3"
            )
            return ()
        positions = sorted(int(word) for word in words)
        twice = sorted({p for p in positions if positions.count(p) > 1})
        if twice:
            self.problem(f"{option} {name}: got position {twice[0]} twice; give each position once")
        return tuple(positions)

    def weights(self, given: Sequence[str] | None) -> dict[str, Fraction] | None:
        """The weights of the experts, exactly as written."""
        if not given:
            return None
        weights: dict[str, Fraction] = {}
        for word in given:
            pair = self._expert("--weights", word)
            if pair is None:
                continue
            name, value = pair
            if name in weights:
                self.problem(f"--weights: got a weight of {name!r} twice; give one")
            weight = self.number(f"--weights {name}", value)
            if weight is not None and weight <= 0:
                self.problem(f"--weights {name}: got {value}, needed a number above 0; leave an expert of weight 0 out")
            weights[name] = weight or Fraction(1)
        return weights

    def guarantees(self, given: Sequence[str] | None, every_length: bool) -> dict[str, str | Callable[..., Any]] | None:
        """The successful segments of the experts: regular expressions, or predicates from Python."""
        if not given:
            return None
        if every_length:
            self.problem("--guarantee: got --every-length too; guarantees are about one length (--length N)")
        promised: dict[str, str | Callable[..., Any]] = {}
        for word in given:
            pair = self._expert("--guarantee", word)
            if pair is None:
                continue
            name, pattern = pair[0], word.partition("=")[2]
            if name in promised:
                self.problem(f"--guarantee: got a guarantee of {name!r} twice; give one (patterns join with |)")
            promised[name] = pattern
            if pattern.startswith("python:"):
                promised[name] = self._predicate(name, pattern) or pattern
                continue
            try:
                with warnings.catch_warnings(action="ignore", category=FutureWarning):
                    re.compile(pattern)
            except (re.error, RecursionError, OverflowError) as error:
                self.problem(f"--guarantee {name}: got {pattern!r}, needed a regular expression: {error}")
        return promised

    def _predicate(self, name: str, place: str) -> Callable[..., Any] | None:
        from factorcomp.formats.python_objects import find_python
        from factorcomp.models.errors import InputError

        try:
            found = find_python(place)
        except InputError as error:
            self.problems += [f"--guarantee {name}: {line}" for line in error.problems]
            return None
        if callable(found):
            return found
        self.problem(f"--guarantee {name}: {place} is a {type(found).__name__}, needed a function of entry and segment")
        return None

    def threshold(self, given: str | None) -> Fraction | None:
        """The threshold in nats, exactly as written."""
        if given is None:
            return None
        threshold = self.number("--threshold", given)
        if threshold is not None and threshold < 0:
            self.problem(f"--threshold: got {given}, needed a number of nats, 0 or more")
        return threshold

    def number(self, option: str, given: str) -> Fraction | None:
        """The rational number that a decimal or a fraction means, with no rounding."""
        given = given.strip()
        if len(given) <= _DIGITS:
            if match := _RATIO.fullmatch(given):
                if int(match[2]):
                    return self._in_range(option, given, Fraction(int(match[1]), int(match[2])))
            elif (match := _DECIMAL.fullmatch(given)) and abs(int(match[3] or 0)) <= 400:
                return self._in_range(option, given, Fraction(given))
        self.problem(f"{option}: got {given[:60]!r}, needed a finite number such as 0.1, 1e-6 or 1/3")
        return None

    def _in_range(self, option: str, given: str, value: Fraction) -> Fraction | None:
        largest = Fraction(sys.float_info.max)
        if -largest <= value <= largest and (value == 0 or abs(value) >= Fraction(sys.float_info.min)):
            return value
        self.problem(f"{option}: got {given}, needed a number within the range of a float, 2.3e-308 to 1.7e308")
        return None

    def horizon(self, given: str | None, every_length: bool) -> int | Literal["every"] | None:
        """The length, or every length."""
        if not every_length:
            return self.length(given)
        if given is not None:
            self.problem(f"--length {given}: got --every-length too; give one or the other")
        return "every"

    def length(self, given: str | None) -> int | None:
        """The horizon."""
        if given is None:
            return None
        if re.fullmatch(r"\d{1,9}", given.strip()):
            return int(given)
        self.problem(f"--length: got {given[:60]!r}, needed a whole number of tokens, 0 or more (and below 1e9)")
        return None

    def window(self, given: str | None) -> int | None:
        """How many tokens a function looks back."""
        if given is None:
            return None
        if re.fullmatch(r"\d{1,4}", given.strip()):
            return int(given)
        self.problem(f"--window: got {given[:60]!r}, needed a whole number of tokens, 0 or more (and below 10000)")
        return None

    def processes(self, given: str | None) -> int | None:
        """How many processes work together."""
        if given is None:
            return None
        if re.fullmatch(r"[1-9]\d{0,2}", given.strip()):
            return int(given)
        self.problem(f"--processes: got {given[:60]!r}, needed a whole number of processes, 1 or more (and below 1000)")
        return None

    def choice(self, option: str, given: str | None, choices: Sequence[Choice]) -> Choice | None:
        """One of `choices`."""
        if given is None:
            return None
        for choice in choices:
            if given == choice:
                return choice
        self.problem(f"{option}: got {given!r}{_meant(given, choices)}, needed one of {', '.join(choices)}")
        return None

    def required(self, given: Sequence[str] | None) -> tuple[str, ...] | None:
        """The claims that decide, each once."""
        if not given:
            return None
        from factorcomp.certificates.claims import CLAIMS

        for name in given:
            claim, colon, mask = name.partition(":")
            if claim not in CLAIMS or (colon and claim not in ("projective", "feature_projective")):
                needed = f"one of {', '.join(CLAIMS)} (or projective:NAME, feature_projective:NAME)"
                self.problem(f"--require: got {name!r}{_meant(claim, CLAIMS)}, needed {needed}")
            elif colon and self.names and mask not in self.names:
                self.problem(f"--require {name}: no expert is named {mask!r}; there are {_listed(self.names)}")
        return tuple(dict.fromkeys(given))

    def certificate(self, place: str) -> None:
        """Whether a file may be a certificate: there, and neither a report nor a model."""
        self.there([place])
        if not os.path.isfile(place):  # what a pipe holds can be read only once
            return
        try:
            with open(place, "rb") as file:
                start = file.read(_START)
        except OSError:
            return
        if Path(place).suffix == ".safetensors" or re.search(rb'"format"\s*:\s*"factorcomp-model/', start):
            self.problem(f"{place}: seems to be a model; give the certificate first, then the models")
        elif re.search(rb'"schema"\s*:\s*"factorcomp-report/', start):
            self.problem(f"{place}: seems to be a report; `verify --certificate FILE` writes a certificate")

    def there(self, places: Iterable[str]) -> None:
        """Whether these files exist."""
        for place in places:
            if "\0" in place or not os.path.exists(place):
                self.problem(f"{place}: there is no such file")

    def outputs(self, outputs: Mapping[str, str | None], inputs: Iterable[str]) -> None:
        """Whether each file can be written, before the work that fills it begins."""
        taken = {os.path.realpath(place): f"the model {place}" for place in inputs}
        for option, place in outputs.items():
            if place is None or place == "-":
                continue
            if place == "" or (place.startswith("-") and not os.path.exists(place)):
                self.problem(f"{option}: got {place!r}, needed the name of a file")
                continue
            real = os.path.realpath(place)
            if real in taken:
                self.problem(f"{option} {place}: would overwrite {taken[real]}; choose another name")
            taken[real] = f"what {option} writes"
            self._writable(option, Path(place))

    def folder(self, place: str, replace: bool, inputs: Iterable[str]) -> None:
        """Whether a folder can be made, or replaced, without the models in it."""
        from factorcomp.formats.folders import check_folder
        from factorcomp.models.errors import InputError

        try:
            check_folder(place, replace=replace)
        except InputError as error:
            self.problems += error.problems
        for model in inputs:
            if os.path.dirname(os.path.realpath(model)) == os.path.realpath(place):
                self.problem(f"--output {place}: the model {model} lies in this folder; choose another")

    def _writable(self, option: str, place: Path) -> None:
        folder = place.resolve().parent
        if place.is_dir():
            self.problem(f"{option} {place}: is a folder, needed the name of a file")
        elif not folder.is_dir():
            self.problem(f"{option} {place}: the folder {folder} does not exist; make it first")
        elif place.exists() and not place.is_file() and option != "--json":
            self.problem(f"{option} {place}: is no regular file, needed one that can be replaced as a whole")
        elif place.exists() and not os.access(place, os.W_OK):
            self.problem(f"{option} {place}: may not be written; choose another name, or allow it")
        elif (not place.exists() or place.is_file()) and not os.access(folder, os.W_OK | os.X_OK):
            self.problem(f"{option} {place}: the folder {folder} may not be written; choose another, or allow it")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names) or "none"


def _meant(name: str, names: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(names), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def _suggested(place: str) -> str:
    return Path(place).stem.partition("=")[0] or "NAME"
