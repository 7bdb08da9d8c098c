"""What models and composers can be held to: laws, and random instances by construction.

| name | what it is |
|---|---|
| `ComposerLaws`, `ModelLaws` | test classes for pytest: they name a composer or a model, with one test for each law |
| `check_composer`, `check_model` | the same laws without pytest: a result for each, which explains itself |
| `assert_composer`, `assert_model`, `assert_holds` | raise `LawError` where a law is broken |
| `Composer`, `Component` | what a composer is, and what it is given |
| `vocabularies`, `tabular_models`, `finite_state_models`, `function_models` | Hypothesis strategies of models |
| `families_of`, `near_misses_of` | Hypothesis strategies: a background and experts that factorize, or just do not |

Every name is imported when it is first used. The test classes need pytest, they and the strategies need Hypothesis:
`pip install factorcomp[testing]`.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from factorcomp.testing.checking import assert_composer, assert_model, check_composer, check_model
    from factorcomp.testing.components import Component, Composer
    from factorcomp.testing.results import LawError, LawResult, assert_holds
    from factorcomp.testing.strategies import (
        families_of,
        finite_state_models,
        function_models,
        near_misses_of,
        tabular_models,
        vocabularies,
    )
    from factorcomp.testing.suites import ComposerLaws, ModelLaws

_ORIGINS = {
    "Component": "components",
    "Composer": "components",
    "ComposerLaws": "suites",
    "LawError": "results",
    "LawResult": "results",
    "ModelLaws": "suites",
    "assert_composer": "checking",
    "assert_holds": "results",
    "assert_model": "checking",
    "check_composer": "checking",
    "check_model": "checking",
    "families_of": "strategies",
    "finite_state_models": "strategies",
    "function_models": "strategies",
    "near_misses_of": "strategies",
    "tabular_models": "strategies",
    "vocabularies": "strategies",
}

__all__ = [
    "Component",
    "Composer",
    "ComposerLaws",
    "LawError",
    "LawResult",
    "ModelLaws",
    "assert_composer",
    "assert_holds",
    "assert_model",
    "check_composer",
    "check_model",
    "families_of",
    "finite_state_models",
    "function_models",
    "near_misses_of",
    "tabular_models",
    "vocabularies",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _ORIGINS:
        raise AttributeError(f"module 'factorcomp.testing' has no attribute {name!r}")
    try:
        value = getattr(import_module(f"factorcomp.testing.{_ORIGINS[name]}"), name)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in ("hypothesis", "pytest"):
            raise
        needed = f"factorcomp.testing.{name} needs {package}, which is not installed: pip install factorcomp[testing]"
        raise ModuleNotFoundError(needed, name=package) from error
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
