"""JSON as it was written: numbers keep their text, and repeated keys are told."""

import json
from typing import Any

from factorcomp.models.errors import Problems, shown


def decoded(data: bytes, problems: Problems) -> Any:
    """The value of a JSON text; numbers are `bytes` (`b"0.25"`). Adds to `problems` and returns `None` if it is not JSON.

    NaN and Infinity, which JSON does not know, come out as the texts of numbers, for the reader of numbers to refuse.
    """
    if data.startswith(b"\xef\xbb\xbf"):
        problems.add("", "starts with a byte order mark; needed UTF-8 without one")
        return None
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        problems.add("", f"byte {error.start} is {data[error.start]:#04x}, which is not UTF-8; needed a JSON text in UTF-8")
        return None

    def unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in pairs]
        for key in dict.fromkeys(keys) if len(set(keys)) < len(keys) else ():
            if keys.count(key) > 1:
                problems.add("", f"found the key {shown(key)} {keys.count(key)} times in one object; needed it once")
        return dict(pairs)

    # With these hooks the scanner is still the one in C: 1.4 million numbers take half a second.
    as_written = {"parse_float": str.encode, "parse_int": str.encode, "parse_constant": str.encode}
    try:
        return json.JSONDecoder(object_pairs_hook=unrepeated, **as_written).decode(text)
    except json.JSONDecodeError as error:
        empty = " (the file is empty)" if not text.strip() else ""
        problems.add("", f"not JSON at line {error.lineno}, column {error.colno}: {error.msg}{empty}")
    except RecursionError:
        problems.add("", "lists or objects are nested too deeply; a table needs three levels")
    return None
