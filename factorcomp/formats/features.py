"""Feature maps by name: read from a file or from Python."""

import hashlib
import os
from dataclasses import replace
from pathlib import Path

from factorcomp.formats.json_features import MEMORY_PER_BYTE, read_features
from factorcomp.formats.python_objects import SCHEME, find_python
from factorcomp.models import memory
from factorcomp.models.errors import InputError
from factorcomp.models.feature_maps import FeatureFunction, FeatureMap
from factorcomp.models.tabular import Source


def load_features(name: str | os.PathLike[str]) -> FeatureMap:
    """The feature map of this name: a path that ends in `.json`, or `python:module:attribute`.

    The last names a map, or a function from a tuple of tokens to a tuple of feature tokens; it runs the module's code.

    **Raises:** `InputError`, with every problem of the file: its place, what was found, what was needed.
    """
    name = os.fspath(name)
    if name.startswith(SCHEME):
        return _from_python(name)
    path = Path(name.replace("\0", ""))
    if path.suffix != ".json":
        raise InputError(f"{name}: needed a file that ends in .json, or {SCHEME}module:attribute")
    try:
        memory.require(path.stat().st_size * MEMORY_PER_BYTE, name, "reading this map")
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{name}: there is no such file") from None
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror or error}") from None
    return read_features(data, Source(name, hashlib.sha256(data).hexdigest()))


def _from_python(name: str) -> FeatureMap:
    found = find_python(name)
    if isinstance(found, FeatureMap):
        return replace(found, source=Source(name))
    if isinstance(found, type) or not callable(found):
        kind = "a class" if isinstance(found, type) else f"a {type(found).__name__}"
        raise InputError(f"{name}: found {kind}; needed a function from a tuple of tokens to a tuple of feature tokens")
    return FeatureFunction(found, getattr(found, "masks", None), Source(name))
