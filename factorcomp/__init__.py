"""factorcomp: are language models composed by logits jointly factorizable? Proved, refuted with a witness, or bounded.

Every name below is imported when it is first used, so that `import factorcomp` costs nothing.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from factorcomp.certificates import KernelError
    from factorcomp.certificates import check_certificate as check
    from factorcomp.certificates.claims import ClaimResult, Findings, Measures, Question, Verdict
    from factorcomp.composition import compose
    from factorcomp.diagnosis import doctor
    from factorcomp.factorization.weights import ExactWeights, exact_weights
    from factorcomp.formats import load, load_features, save
    from factorcomp.models.errors import InputError
    from factorcomp.models.finite_state import FiniteStateModel
    from factorcomp.models.function import FunctionModel
    from factorcomp.models.pushforward import push_forward
    from factorcomp.models.tabular import TabularModel
    from factorcomp.models.windows import as_finite_state
    from factorcomp.repair import Repair, repair
    from factorcomp.verdicts import Diagnosis, Report
    from factorcomp.verification import verify

    __version__: str

_ORIGINS = {
    "ClaimResult": "certificates.claims:ClaimResult",
    "Diagnosis": "verdicts:Diagnosis",
    "ExactWeights": "factorization.weights:ExactWeights",
    "Findings": "certificates.claims:Findings",
    "FiniteStateModel": "models.finite_state:FiniteStateModel",
    "FunctionModel": "models.function:FunctionModel",
    "InputError": "models.errors:InputError",
    "KernelError": "certificates:KernelError",
    "Measures": "certificates.claims:Measures",
    "Question": "certificates.claims:Question",
    "Repair": "repair:Repair",
    "Report": "verdicts:Report",
    "TabularModel": "models.tabular:TabularModel",
    "Verdict": "certificates.claims:Verdict",
    "as_finite_state": "models.windows:as_finite_state",
    "check": "certificates:check_certificate",
    "compose": "composition:compose",
    "doctor": "diagnosis:doctor",
    "exact_weights": "factorization.weights:exact_weights",
    "load": "formats:load",
    "load_features": "formats:load_features",
    "push_forward": "models.pushforward:push_forward",
    "repair": "repair:repair",
    "save": "formats:save",
    "verify": "verification:verify",
}

__all__ = [
    "ClaimResult",
    "Diagnosis",
    "ExactWeights",
    "Findings",
    "FiniteStateModel",
    "FunctionModel",
    "InputError",
    "KernelError",
    "Measures",
    "Question",
    "Repair",
    "Report",
    "TabularModel",
    "Verdict",
    "__version__",
    "as_finite_state",
    "check",
    "compose",
    "doctor",
    "exact_weights",
    "load",
    "load_features",
    "push_forward",
    "repair",
    "save",
    "verify",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module, metadata

    if name == "__version__":
        value: Any = metadata.version("factorcomp")
    elif name in _ORIGINS:
        module, _, attribute = _ORIGINS[name].partition(":")
        value = getattr(import_module(f"factorcomp.{module}"), attribute)
    else:
        raise AttributeError(f"module 'factorcomp' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
