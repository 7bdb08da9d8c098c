"""JSON as it was written: numbers keep their text, and repeated keys are told."""

import json
from collections import Counter
from typing import Any

from factorcomp.models.errors import Problems, shown


def decoded(data: bytes, problems: Problems) -> Any:
    """The value of a JSON text; numbers are `bytes` (`b"0.25"`). If it is not JSON: `None`, and `problems` says why.

    NaN and Infinity, which JSON does not know, come out as the texts of numbers, for the reader of numbers to refuse.
    """
    if data.startswith(b"\xef\xbb\xbf"):
        problems.add("", "starts with a byte order mark; needed UTF-8 without one")
        return None
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        problems.add(
            "", f"byte {error.start} is {data[error.start]:#04x}, which is not UTF-8; needed a JSON text in UTF-8"
        )
        return None

    def unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) < len(pairs):
            for key, count in Counter(key for key, _ in pairs).items():
                if count > 1:
                    problems.add("", f"found the key {shown(key)} {count} times in one object; needed it once")
        return result

    # With these hooks the scanner is still the one in C: 1.4 million numbers take half a second.
    written = str.encode
    decoder = json.JSONDecoder(
        object_pairs_hook=unrepeated, parse_float=written, parse_int=written, parse_constant=written
    )
    try:
        return decoder.decode(text)
    except json.JSONDecodeError as error:
        empty = " (the file is empty)" if not text.strip() else ""
        problems.add("", f"not JSON at line {error.lineno}, column {error.colno}: {error.msg}{empty}")
    except RecursionError:
        problems.add("", "lists or objects are nested too deeply; a table needs three levels")
    return None
