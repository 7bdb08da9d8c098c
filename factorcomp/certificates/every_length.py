"""The kernel's answer for every length at once, about finite-state models (theory.md, section 7).

The product of background and experts is explored in scope, each state once; every claim is decided on it, exactly.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import lru_cache, partial

from factorcomp.certificates import composition, factorization
from factorcomp.certificates.automata import Automaton
from factorcomp.certificates.claims import (
    ClaimResult,
    Findings,
    Mask,
    Positions,
    Question,
    Verdict,
)
from factorcomp.certificates.documents import KernelError
from factorcomp.certificates.judgement import Judgement, number
from factorcomp.certificates.levels import deviating_positions, local_equals_global
from factorcomp.certificates.models import Model
from factorcomp.certificates.phases import Phases, terminates
from factorcomp.certificates.positions import Clock
from factorcomp.certificates.product import Product, TooManyStatesError, product_of
from factorcomp.certificates.setting import check_options
from factorcomp.certificates.tree import Progress, Tree
from factorcomp.certificates.twins import Twins

METHOD = "rational"
Named = tuple[str, str | None, Callable[[], Judgement]]
UNDEFINED = Judgement(Verdict.UNDECIDED, "the composition is not well defined")


def decide_every_length(
    background: Model | Automaton,
    experts: Mapping[str, Model | Automaton],
    question: Question,
    progress: Progress | None,
    claims: Collection[str] | None,
    residuals: bool,
) -> Findings:
    """Every claim of `question`, with the arguments of `decide`."""
    masks = _check_question(question, experts)
    base, own = finite_state(background, "background"), {name: finite_state(m, name) for name, m in experts.items()}
    return _Answer(base, own, question, masks, residuals).findings(claims, progress)


def finite_state(model: Model | Automaton, name: str) -> Automaton:
    """The model, which must be a finite-state one."""
    if isinstance(model, Automaton):
        return model
    raise KernelError(f"{name}: got a table of {model.horizon} steps, needed a finite-state model for every length")


def _check_question(question: Question, experts: Mapping[str, object]) -> dict[str, Positions] | None:
    """The masks given; raises `KernelError` for a question that cannot be asked."""
    check_options(question, experts)
    if not isinstance(question.masks, Mapping):
        return None
    masks = {name: endless(mask) for name, mask in question.masks.items()}
    Clock(masks)
    return masks


def endless(mask: Mask) -> Positions:
    """A mask as one for every length."""
    return mask if isinstance(mask, Positions) else Positions(tuple(mask))


class _Answer:
    def __init__(
        self,
        background: Automaton,
        experts: Mapping[str, Automaton],
        question: Question,
        masks: Mapping[str, Positions] | None,
        residuals: bool,
    ) -> None:
        self.question, self.masks, self.residuals = question, masks, residuals
        self.setting, self.models = product_of(background, experts, question)
        self.everything = question.scope == "all"
        self.product = Product(self.setting, self.models, self.everything)
        self.well_defined = composition.well_defined(self.product)
        self.defined = self.well_defined.verdict is Verdict.HOLDS

        @lru_cache(maxsize=1)
        def unroll(length: int) -> Tree:
            tables = [model.unrolled(length) for model in self.models]
            short = replace(question, length=length, masks=None)
            return Tree(tables[0], dict(zip(experts, tables[1:], strict=True)), short)

        self._unroll = unroll

    def findings(self, claims: Collection[str] | None, progress: Progress | None) -> Findings:
        """All that is found, or the claims named."""
        count = len(self.product.keys)
        results = [self._result("well_defined", None, self.well_defined)]
        phases = Phases(self.product) if self.defined else None
        judges = self._judges(phases)
        for claim, mask, judge in judges:
            if claims is None or claim in claims or f"{claim}:{mask}" in claims:
                results.append(self._result(claim, mask, self._said(judge)))
        if progress:
            progress(count, count)
        invariant = phases.invariant() if phases else None
        return Findings(tuple(results), None, {}, {}, self.masks, None, count, invariant)

    def _said(self, judge: Callable[[], Judgement]) -> Judgement:
        try:
            return judge() if self.defined else UNDEFINED
        except TooManyStatesError as error:
            return Judgement(Verdict.UNDECIDED, f"the product with the clock of the masks is too large: {error}")

    def _result(self, claim: str, mask: str | None, said: Judgement) -> ClaimResult:
        residual = None if said.residual is None else number(said.residual)
        length = said.length if said.length is not None and said.verdict is Verdict.REFUTED else self.question.length
        return ClaimResult(claim, said.verdict, METHOD, length, said.why, residual, said.witness, mask)

    def _judges(self, phases: Phases | None) -> list[Named]:
        """The claims but `well_defined`, in the order of a report, each with its judge."""
        product = self.product
        judges: list[Named] = [
            ("pointwise_joint", None, partial(composition.pointwise_joint, product)),
            ("interval_joint", None, phases.interval_joint if phases else lambda: UNDEFINED),
            ("exact_switching", None, partial(composition.exact_switching, product)),
            ("unit_normalizer", None, partial(composition.unit_normalizer, product)),
            ("local_equals_global", None, lambda: local_equals_global(self._reached())),
        ]
        if self.question.masks is not None:
            judges += self._mask_judges()
        if product.eos is not None:
            judges.append(("terminates", None, lambda: terminates(self._reached())))
        return judges

    def _reached(self) -> Product:
        """The product along the composition's support: R^ (1.1)."""
        return Product(self.setting, self.models, False) if self.everything else self.product

    def _mask_judges(self) -> list[Named]:
        """The claims about masks. Those to be found are put into `masks`, or there is a reason against them."""
        owners = [name for name in self.product.experts if name in (self.masks or {})]
        if self.question.masks == "auto" and self.defined:
            bits = 0
            for step in self.product.steps:
                bits |= step.deviating
            owners = list(self.product.names(bits))
            found = deviating_positions(self.product)
            if isinstance(found, Judgement):
                about: list[tuple[str, str | None]] = [("mask_agreement", None), ("factorized_conditionals", None)]
                about += [("projective", name) for name in owners]
                return [(claim, mask, lambda: found) for claim, mask in about]
            self.masks = found
        masks = self.masks or {}
        twins = Twins(self.setting, self.models, masks, self._unroll, self.residuals)
        judges: list[Named] = [
            ("mask_agreement", None, lambda: self._mask_agreement(masks, twins.clock)),
            ("factorized_conditionals", None, lambda: twins.factorized_conditionals),
        ]
        return judges + [("projective", name, partial(twins.projective, name)) for name in owners]

    def _mask_agreement(self, masks: Mapping[str, Positions], clock: Clock) -> Judgement:
        """Off its mask no expert deviates (2.6), in the product with the clock of the masks."""
        return factorization.mask_agreement(Product(self.setting, self.models, self.everything, clock), masks)
