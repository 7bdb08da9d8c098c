"""JSON from strangers: parsed without surprises, and held against the shape that is needed."""

import json
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

MOST_DIGITS = 4300
LARGEST_EXPONENT = 5000
_REAL = re.compile(r"-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,6}))?")


class KernelError(ValueError):
    """A file, a model or a question that the kernel refuses: where, what it got, what it needed."""


def brief(value: Any) -> str:
    """`value` in at most 40 characters, for an error message."""
    if type(value) in (list, dict):
        return f"a {'list' if type(value) is list else 'mapping'} of {len(value)}"
    text = str(value) if type(value) is Decimal else json.dumps(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def parse(data: bytes, place: str, real: Callable[[str], object] = Decimal) -> Any:
    """The JSON value in `data`; numbers with a point or an exponent are made by `real` from the text that was written.

    **Raises** `KernelError` for anything but JSON in UTF-8, for a repeated key, for NaN and the infinities, for nesting
    beyond the interpreter's depth and for numbers too long to handle (4300 digits, exponents beyond 5000).
    """

    def whole(text: str) -> int:
        if len(text) > MOST_DIGITS:
            raise KernelError(f"got an integer of {len(text)} digits, needed at most {MOST_DIGITS}")
        return int(text)

    def decimal(text: str) -> object:
        match = _REAL.fullmatch(text)
        if not match or abs(int(match[3] or 0)) > LARGEST_EXPONENT or len(text) > MOST_DIGITS:
            needed = f"at most {MOST_DIGITS} digits and an exponent within {LARGEST_EXPONENT}"
            raise KernelError(f"got the number {brief(text)}, needed {needed}")
        return real(text)

    def constant(text: str) -> object:
        raise KernelError(f"got {text}, needed a finite number")

    def mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) < len(pairs):
            keys = [key for key, _ in pairs]
            raise KernelError(f"got the key {brief(next(key for key in keys if keys.count(key) > 1))} twice")
        return result

    try:
        return json.loads(
            data.decode(), parse_int=whole, parse_float=decimal, parse_constant=constant, object_pairs_hook=mapping
        )
    except RecursionError:
        raise KernelError(f"{place}: got brackets nested too deeply, needed a plain document") from None
    except KernelError as error:
        raise KernelError(f"{place}: {error}") from None
    except ValueError as error:
        raise KernelError(f"{place}: got {error}, needed JSON in UTF-8") from None


def conform(value: Any, shape: Any, place: str) -> None:
    """Raises `KernelError`, with the place, unless `value` has this `shape`.

    A shape is a type, `None`, `[shape]` (a list of it), `{key: shape}` (exactly these keys), `{"*": shape}` (any keys),
    or a tuple of shapes with different outer types. Booleans are not numbers.
    """
    options = shape if isinstance(shape, tuple) else (shape,)
    outer = [option if isinstance(option, type) else type(option) for option in options]
    if type(value) not in outer:
        names = {dict: "a mapping", list: "a list", str: "a string", int: "an integer", float: "a number"}
        needed = " or ".join(names.get(kind, "a decimal" if kind is Decimal else "null") for kind in outer)
        raise KernelError(f"{place}: got {brief(value)}, needed {needed}")
    inner = options[outer.index(type(value))]
    if type(inner) is list:
        for number, item in enumerate(value):
            conform(item, inner[0], f"{place}[{number}]")
    elif type(inner) is dict:
        for key in value:
            if key not in inner and "*" not in inner:
                raise KernelError(f"{place}: got the key {brief(key)}, needed {', '.join(inner)}")
        for key in inner:
            if key != "*" and key not in value:
                raise KernelError(f"{place}: got no {brief(key)}, needed {', '.join(inner)}")
        for key, item in value.items():
            conform(item, inner.get(key, inner.get("*")), f"{place}.{key}")
