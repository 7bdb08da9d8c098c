"""Test classes for pytest: a subclass that names a model or a composer has one test for every law.

Every test draws its cases by Hypothesis, the same ones on every run, and shrinks what breaks a law to a smallest case.
"""

import random
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import pytest

from factorcomp.testing.composed import Declared, Examination
from factorcomp.testing.composer_laws import COMPOSER_LAWS, ComposerLaw
from factorcomp.testing.drawing import Draw, strategy
from factorcomp.testing.examined import examined
from factorcomp.testing.model_laws import MODEL_LAWS, ModelLaw
from factorcomp.testing.results import LawError, LawResult

EXAMPLES = 50
"""Cases of each law, where neither the class nor the command line says otherwise."""
SHRINKS = 200
"""So many smaller cases are tried once a law is broken."""


class ComposerLaws:
    """The laws of composers. A subclass whose name begins with `Test` is collected.

    **Attributes** to set: `composer`, as a `staticmethod`; and what it declares, if that is not the default: `dtype`,
    `null_tokens`, `weighted`, `zeros`, `logits`, `tolerance` (see `Declared`); `examples`; `excused`: a law that the
    composer is known to break -> why (it must then be broken).
    """

    composer: ClassVar[Any] = None
    dtype: ClassVar[str] = "float64"
    null_tokens: ClassVar[Any] = "cancel"
    weighted: ClassVar[bool] = True
    zeros: ClassVar[bool] = True
    logits: ClassVar[bool] = True
    tolerance: ClassVar[float | None] = None
    examples: ClassVar[int] = EXAMPLES
    excused: ClassVar[Mapping[str, str]] = {}

    @pytest.mark.parametrize("law", COMPOSER_LAWS, ids=lambda law: law.name)
    def test_law(self, law: ComposerLaw, pytestconfig: pytest.Config) -> None:
        """The composer keeps the law."""
        if type(self).composer is None:
            pytest.fail(f"{type(self).__name__}: found no composer; needed `composer = staticmethod(…)`", pytrace=False)
        declared = Declared(
            _option(pytestconfig, "dtype", self.dtype),
            self.null_tokens,
            self.weighted,
            self.zeros,
            self.logits,
            _option(pytestconfig, "tolerance", self.tolerance),
        )
        examination = Examination(self.composer, declared)
        if reason := law.needs(declared):
            pytest.skip(reason)
        found = search(
            lambda draw: law.draw(draw, declared),
            lambda case: law.check(examination, case),
            _option(pytestconfig, "examples", self.examples),
        )
        _judge(found, law.name, self.excused, {law.name for law in COMPOSER_LAWS})


class ModelLaws:
    """The laws of models. A subclass whose name begins with `Test` is collected.

    **Attributes** to set: `model`, a model of factorcomp or a function of prefixes (as a `staticmethod`); where the
    model does not say it itself, `vocabulary`, `eos`, `longest`, `along`, `sequence_log_probs`, `ragged`, `dtype`,
    `tolerance` (see `examined`); `examples`; `excused`: a law that the model is known to break -> why (it must then be
    broken).
    """

    model: ClassVar[Any] = None
    vocabulary: ClassVar[Any] = None
    eos: ClassVar[str | None] = None
    longest: ClassVar[int | None] = None
    dtype: ClassVar[str | None] = None
    tolerance: ClassVar[float | None] = None
    along: ClassVar[Any] = None
    sequence_log_probs: ClassVar[Any] = None
    ragged: ClassVar[Any] = None
    examples: ClassVar[int] = EXAMPLES
    excused: ClassVar[Mapping[str, str]] = {}

    @pytest.mark.parametrize("law", MODEL_LAWS, ids=lambda law: law.name)
    def test_law(self, law: ModelLaw, pytestconfig: pytest.Config) -> None:
        """The model keeps the law."""
        if type(self).model is None:
            pytest.fail(f"{type(self).__name__}: found no model; needed `model = …`", pytrace=False)
        subject = examined(
            self.model,
            vocabulary=self.vocabulary,
            eos=self.eos,
            longest=self.longest,
            dtype=_option(pytestconfig, "dtype", self.dtype),
            tolerance=_option(pytestconfig, "tolerance", self.tolerance),
            along=self.along,
            sequence_log_probs=self.sequence_log_probs,
            ragged=self.ragged,
        )
        if reason := law.needs(subject):
            pytest.skip(reason)
        found = search(
            lambda draw: law.draw(draw, subject),
            lambda asked: law.check(subject, asked),
            _option(pytestconfig, "examples", self.examples),
        )
        _judge(found, law.name, self.excused, {law.name for law in MODEL_LAWS})


class _Enough(KeyboardInterrupt):
    """Stops Hypothesis: it lets nothing else through, and would shrink for up to five minutes."""


def search(recipe: Callable[[Draw], Any], check: Callable[[Any], LawResult], examples: int) -> LawResult | None:
    """The smallest case found that breaks the law, of so many drawn by Hypothesis; `None` if it holds of all.

    What the model or composer raises is raised.
    """
    from hypothesis import HealthCheck, Phase, given, settings

    broken: list[LawResult] = []
    shrinks = 0

    def holds(case: Any) -> None:
        nonlocal shrinks
        shrinks += bool(broken)
        if shrinks > SHRINKS:
            raise _Enough
        result = check(case)
        if not result.holds:
            broken.append(result)
            raise LawError(result)

    quiet = settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        print_blob=False,
        report_multiple_bugs=False,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    state = random.getstate()
    try:
        quiet(given(strategy(recipe))(holds))()
    except (LawError, _Enough):
        return min(broken, key=lambda result: len(repr(result.case)))
    finally:
        random.setstate(state)
    return None


def _option(config: pytest.Config, name: str, otherwise: Any) -> Any:
    """What the command line says, if the plugin is there and it says something."""
    given = config.getoption(f"factorcomp_{name}", default=None)
    return otherwise if given is None else given


def _judge(found: LawResult | None, name: str, excused: Mapping[str, str], names: set[str]) -> None:
    """Fails a test whose law is broken, unless it is excused; and one that is excused without need."""
    if unknown := sorted(set(excused) - names):
        known = ", ".join(sorted(names))
        pytest.fail(f"excused: got {', '.join(unknown)}; needed names of laws: {known}", pytrace=False)
    if name not in excused:
        if found is not None:
            pytest.fail(str(found), pytrace=False)
    elif found is None:
        pytest.fail(f"{name} is excused ({excused[name]}), and was not broken: remove the excuse", pytrace=False)
    else:
        pytest.xfail(excused[name])
