"""Models from Python: `python:module:attribute` names a model, or a function from prefixes to log-probabilities."""

import importlib
import os
import sys
from dataclasses import replace
from typing import Any

from factorcomp.models.errors import InputError, Problems
from factorcomp.models.finite_state import FiniteStateModel
from factorcomp.models.function import FunctionModel
from factorcomp.models.tabular import Source, TabularModel
from factorcomp.models.vocabulary import check_vocabulary

SCHEME = "python:"
TEMPLATE = """
    def model(prefixes):             # integers [batch, length], indices of tokens
        return log_probs             # numbers [batch, len(vocabulary)]
    model.vocabulary = ["a", "b"]
    model.eos = None                 # or a token"""
"""How to write a model, on lines of its own at the end of a message."""
HOW = f"needed a TabularModel, a FunctionModel, or a function with a vocabulary:{TEMPLATE}"


def read_python(name: str) -> TabularModel | FiniteStateModel | FunctionModel:
    """The model that `python:module:attribute` names. This runs the module's code.

    **Raises:** `InputError` if there is no such module or attribute, its code fails, or it is no model.
    """
    return _as_model(find_python(name), name)


def find_python(name: str) -> Any:
    """What `python:module:attribute` names. This runs the module's code.

    **Raises:** `InputError` if there is no such module or attribute, or its code fails.
    """
    module, _, attribute = name.removeprefix(SCHEME).partition(":")
    if not module or not attribute or ":" in attribute:
        raise InputError(f"{name}: needed {SCHEME}module:attribute, such as {SCHEME}my_models:base")
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.insert(0, os.getcwd())  # it stays there: the model may import more when it is called
    importlib.invalidate_caches()
    try:
        found: Any = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (Exception, SystemExit) as error:  # whatever the user's code raises
        raise InputError(f"{name}: {type(error).__name__}: {error}") from error
    return found


def _as_model(found: Any, name: str) -> TabularModel | FiniteStateModel | FunctionModel:
    if isinstance(found, TabularModel | FiniteStateModel | FunctionModel):
        return replace(found, source=Source(name, notes=found.source.notes))
    vocabulary = getattr(found, "vocabulary", None)
    if isinstance(found, type) or not callable(found) or vocabulary is None:
        lacks = "a class" if isinstance(found, type) else f"a {type(found).__name__}"
        lacks += " without a vocabulary" if callable(found) and not isinstance(found, type) else ""
        raise InputError(f"{name}: found {lacks}; {HOW}")
    problems, eos = Problems(name), getattr(found, "eos", None)
    check_vocabulary(vocabulary, eos, problems)
    problems.raise_any()
    return FunctionModel(found, tuple(vocabulary), eos, Source(name))
