"""Laws that every composer by logits can be held to: theory.md, sections 1, 2 and 4."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

import numpy as np

from factorcomp.testing import families
from factorcomp.testing.comparison import NoRowsError, Rows, Subject, Tolerance, distances, rows_after
from factorcomp.testing.components import logs
from factorcomp.testing.composed import Case, Declared, Examination, fresh, weights_of
from factorcomp.testing.drawing import Draw, normalised
from factorcomp.testing.families import Family, Prefix, Row, Shape
from factorcomp.testing.model_laws import normalised as rows_normalised
from factorcomp.testing.results import LawResult

TEMPERATURES = (Fraction(2), Fraction(1, 2), Fraction(3))


@dataclass(frozen=True)
class ComposerLaw:
    """A law: its name, what it says, its number in theory.md, the cases that it draws, the check, and what it needs."""

    name: str
    says: str
    number: str
    draw: Callable[[Draw, Declared], Case]
    verify: Callable[[Examination, Case, Subject], LawResult]
    needs: Callable[[Declared], str] = lambda declared: ""
    """Why the law says nothing of a composer that declares this; empty if it says something."""

    def check(self, examination: Examination, case: Case) -> LawResult:
        """Whether the law holds of the composer in this case. What the composer raises is raised, with the case."""
        subject = Subject(self.name, f"{self.says} ({self.number})", case.family.vocabulary, case)
        try:
            return self.verify(examination, case, subject)
        except NoRowsError as error:
            needed = f"one row of {case.family.size} log-probabilities for each prefix"
            return subject.broken("its answer", str(error), needed, np.inf, Tolerance(0.0, "a shape is right or wrong"))
        except Exception as error:
            error.add_note(f"raised by the composer, asked by the law {self.name} about\n{everything(case)}")
            raise


def everything(case: Case) -> str:
    """The whole case as text."""
    places = (Subject("", "", case.family.vocabulary, case).after(h) for h in case.family.prefixes)
    blocks = zip(places, map(case.lines, case.family.prefixes), strict=True)
    return "\n".join(line for place, lines in blocks for line in (place, *(f"  {line}" for line in lines)))


# What is drawn


def sized(draw: Draw, declared: Declared, *, sizes: tuple[int, int] = (1, 3), shortest: int = 1) -> Shape:
    """A small shape, |V| = 1 and one expert included; zeros at times, if they are taken."""
    return families.shape(draw, sizes=sizes, zeros=None if declared.zeros else False, shortest=shortest)


def composed(draw: Draw, declared: Declared, of: Shape | None = None, *, opening: bool = True) -> Case:
    """A case that is defined everywhere; with `opening`, experts open tokens where the convention allows it."""
    of = of or sized(draw, declared)
    family = families.composable(draw, of, opening=opening and declared.null_tokens != "strict")
    if declared.zeros and draw.one_in(4):
        family = families.ending(family, draw.integer(0, family.size - 1))
    return Case(family, weights_of(draw, declared, family))


def dominated(draw: Draw, declared: Declared) -> Case:
    """A case in which no expert opens a token."""
    return composed(draw, declared, opening=False)


def with_copy(draw: Draw, declared: Declared) -> Case:
    """A case, the place at which a copy of the background joins the experts, and its weight."""
    case = composed(draw, declared)
    place = draw.integer(0, len(case.weights))
    return replace(case, choice=(place, draw.integer(1, 3) if declared.weighted else 1))


def with_order(draw: Draw, declared: Declared) -> Case:
    """A case and an order of its experts."""
    case = composed(draw, declared)
    return replace(case, choice=draw.shuffled(range(len(case.weights))[::-1]))


def with_labels(draw: Draw, declared: Declared) -> Case:
    """A case and an order of its tokens."""
    case = composed(draw, declared)
    return replace(case, choice=draw.shuffled(range(case.family.size)[::-1]))


def with_temperature(draw: Draw, declared: Declared) -> Case:
    """A case in which no expert opens a token, and a temperature."""
    return replace(dominated(draw, declared), choice=draw.pick(TEMPERATURES))


def with_shifts(draw: Draw, declared: Declared) -> Case:
    """A case, with opened tokens wherever they are taken, and a shift for every component."""
    case = composed(draw, declared, replace(sized(draw, declared, sizes=(2, 3)), zeros=declared.zeros))
    return replace(case, choice=tuple(draw.pick((1, -2, 3, 0)) for _ in case.family.kernels))


def with_two_weights(draw: Draw, declared: Declared) -> Case:
    """A case in which no expert opens a token, one of its experts, and two weights for it."""
    case = dominated(draw, declared)
    low = draw.integer(1, 2)
    return replace(case, choice=(draw.integer(0, len(case.weights) - 1), low, low + draw.integer(1, 2)))


def with_paths(draw: Draw, declared: Declared) -> Case:
    """A case and two paths: numbers that choose among the tokens possible at each step.

    Three steps or more: a cache that has read nothing is the same for all.
    """
    case = composed(draw, declared, sized(draw, declared, sizes=(2, 3), shortest=3))
    paths = [tuple(draw.integer(0, 2) for _ in range(case.family.length)) for _ in range(2)]
    return replace(case, choice=paths)


def joint(draw: Draw, declared: Declared) -> Case:
    """JF-pt: at most one expert deviates at a prefix; it opens tokens under `cancel` alone."""
    family = families.pointwise_joint(draw, sized(draw, declared), dominated=declared.null_tokens != "cancel")
    return Case(family, (1,) * len(family.experts))


def constrained(draw: Draw, declared: Declared) -> Case:
    """Hard constraints: experts that are the background given a set of tokens."""
    family = families.hard_constraints(draw, sized(draw, declared))
    return Case(family, weights_of(draw, declared, family))


def factorized(draw: Draw, declared: Declared) -> Case:
    """Factorized conditionals, with masks."""
    family = families.factorized(draw, sized(draw, declared, sizes=(2, 3)))
    return Case(family, (1,) * len(family.experts))


# The checks


def check_normalised(examination: Examination, case: Case, subject: Subject) -> LawResult:
    """`sum_y p^(y|h) = 1`; no NaN, no +inf, and -inf is a real one."""
    rows = examination.rows(case, case.exact(examination.declared.null_tokens).prefixes)
    return rows_normalised(rows, examination.rounding(case), subject)


def check_known_answer(examination: Examination, case: Case, subject: Subject) -> LawResult:
    """`p^(.|h)` is what `factorcomp.compose` says in rational numbers."""
    exact = case.exact(examination.declared.null_tokens)
    return subject.compare(examination.rows(case, exact.prefixes), exact.logs, examination.rounding(case))


def check_support(examination: Examination, case: Case, subject: Subject) -> LawResult:
    """A token is -inf exactly where the composition excludes it: `supp p_b ∩ ⋂ supp p_i`, and what `cancel` opens."""
    exact = case.exact(examination.declared.null_tokens).logs
    rows = examination.rows(case, list(exact))

    def support(row):
        return np.where(row > -np.inf, 0.0, np.where(np.isnan(row), np.nan, -np.inf))

    found, needed = ({h: support(row) for h, row in one.items()} for one in (rows, exact))
    return subject.compare(found, needed, Tolerance(0.0, "a support has no rounding; log p is shown as 0 where p > 0"))


def check_identity(examination: Examination, case: Case, subject: Subject) -> LawResult:
    """The background as its own expert is the background; so is no expert, unless the composer refuses it."""
    needed = _reached(case.family.background, case.family)
    one = fresh(case, [case.family.background], [1])
    result = subject.compare(examination.rows(one, list(needed)), needed, examination.rounding(one))
    if not result.holds:
        return result
    nobody = fresh(case, [], [])
    try:
        rows = examination.rows(nobody, list(needed))
    except ValueError:  # a composer may ask for at least one expert
        return result
    return subject.compare(rows, needed, examination.rounding(one))


def check_neutral_expert(examination: Examination, case: Case, subject: Subject) -> LawResult:
    """An expert equal to the background changes nothing."""
    place, weight = case.choice
    experts, weights = list(case.family.experts), list(case.weights)
    experts.insert(place, case.family.background)
    weights.insert(place, weight)
    more = fresh(case, experts, weights)
    prefixes = case.exact(examination.declared.null_tokens).prefixes
    shown = replace(subject, case=more)
    return shown.compare(examination.rows(more, prefixes), examination.rows(case, prefixes), examination.rounding(more))


def check_permutation(examination: Examination, case: Case, subject: Subject) -> LawResult:
    """The order of the experts, with their weights, is irrelevant."""
    other = fresh(case, [case.family.experts[i] for i in case.choice], [case.weights[i] for i in case.choice])
    prefixes = case.exact(examination.declared.null_tokens).prefixes
    rounding = examination.rounding(case)
    return subject.compare(examination.rows(other, prefixes), examination.rows(case, prefixes), rounding)


def check_relabelling(examination: Examination, case: Case, subject: Subject) -> LawResult:
    """Composing with the tokens in another order is composing, and then putting them into that order."""
    order, family = case.choice, case.family
    place = {token: new for new, token in enumerate(order)}

    def relabel(prefix: Prefix) -> Prefix:
        return tuple(place[y] for y in prefix)

    names = [family.vocabulary[y] for y in order]
    eos = None if family.eos is None else place[family.eos]
    components = [
        examination.component({relabel(h): row[list(order)] for h, row in logs(kernel).items()}, names, eos, i)
        for i, kernel in enumerate(family.kernels)
    ]
    prefixes = case.exact(examination.declared.null_tokens).prefixes
    ask = examination.compose(components, case.weights)
    found = rows_after(ask, [relabel(h) for h in prefixes], family.size)
    back = {h: found[relabel(h)][[place[y] for y in range(family.size)]] for h in prefixes}
    return subject.compare(back, examination.rows(case, prefixes), examination.rounding(case))


def check_common_temperature(examination: Examination, case: Case, subject: Subject) -> LawResult:
    """Tempering all components at one β is tempering the composition (where no expert opens a token)."""
    beta = float(case.choice)

    def tempered(rows: Rows) -> Rows:
        return {h: beta * row - np.logaddexp.reduce(beta * row) for h, row in rows.items()}

    prefixes = case.exact(examination.declared.null_tokens).prefixes
    found = examination.rows(case, prefixes, lambda _, rows: tempered(rows))
    needed = tempered(examination.rows(case, prefixes))
    return subject.compare(found, needed, examination.rounding(case, scale=max(beta, 1.0)))


def check_logit_shift(examination: Examination, case: Case, subject: Subject) -> LawResult:
    """A constant added to a component's logits at a prefix changes nothing."""

    def shifted(i: int, rows: Rows) -> Rows:
        return {h: row + case.choice[i] * (1.0 + len(h) + sum(h)) for h, row in rows.items()}

    largest = max(abs(shift) for shift in case.choice) * (1.0 + 3 * case.family.length)
    prefixes = case.exact(examination.declared.null_tokens).prefixes
    found, needed = examination.rows(case, prefixes, shifted), examination.rows(case, prefixes)
    return subject.compare(found, needed, examination.rounding(case, shift=largest))


def check_monotone_weight(examination: Examination, case: Case, subject: Subject) -> LawResult:
    """`E_p^ log p_i/p_b` increases with `λ_i`, where the ratio is not constant: its derivative is a variance."""
    expert, *weights = case.choice
    settings = [replace(case, weights=_with(case.weights, expert, weight)) for weight in weights]
    truths = [one.exact(examination.declared.null_tokens).kernel for one in settings]
    rows = [examination.rows(one, list(truth)) for one, truth in zip(settings, truths, strict=True)]
    base, own = logs(case.family.background), logs(case.family.experts[expert])
    rounding = examination.rounding(settings[1])
    for h in truths[0]:
        possible = np.array([cell > 0 for cell in truths[0][h]])
        ratio = own[h][possible] - base[h][possible]
        low, high = (float(np.exp(one[h][possible]) @ ratio) for one in rows)
        true = [float(np.array(truth[h], dtype=float)[possible] @ ratio) for truth in truths]
        allowed = replace(rounding, value=rounding.value * (1 + 2 * float(np.abs(ratio).max())))
        more, needed = high - low, true[1] - true[0]
        if not (more > -allowed.value and (more > allowed.value or needed <= 3 * allowed.value)):
            name = families.NAMES[expert]
            return replace(subject, case=settings[1]).broken(
                h,
                f"mean log-ratio of {name} {low:.6g} at weight {weights[0]}, {high:.6g} at weight {weights[1]}",
                f"an increase (by {needed:.6g})",
                abs(needed - more),
                allowed,
            )
    return subject.holds()


def check_caches_apart(examination: Examination, case: Case, subject: Subject) -> LawResult:
    """Two sequences decoded alternately, step by step, then once more and together, as each prefix by itself."""
    exact = case.exact(examination.declared.null_tokens)
    paths = [_path(numbers, exact.kernel) for numbers in case.choice]
    turns = [path[:t] for t in range(case.family.length) for path in paths]
    alone = {h: examination.rows(case, [h])[h] for h in dict.fromkeys(turns)}
    decoder = examination.compose(examination.components(case), case.weights)
    rounding = examination.rounding(case)
    for asked in ([[h] for h in turns], [[h] for h in reversed(turns)], [[h] for h in paths_of(paths)]):
        for prefixes in asked:
            result = subject.compare(
                rows_after(decoder, prefixes, case.family.size), {h: alone[h] for h in prefixes}, rounding
            )
            if not result.holds:
                return result
    together = rows_after(decoder, list(alone), case.family.size)
    return subject.compare(together, alone, rounding)


def paths_of(paths: list[Prefix]) -> list[Prefix]:
    """The prefixes of one path after the other."""
    return [path[:t] for path in paths for t in range(len(path))]


def check_sole_deviator(examination: Examination, case: Case, subject: Subject) -> LawResult:
    """Where one expert deviates the composition is that expert, where none does the background."""
    family = case.family

    def deviator(h: Prefix) -> Row:
        return next((expert[h] for expert in family.experts if expert[h] != family.background[h]), family.background[h])

    needed = _reached({h: deviator(h) for h in family.prefixes}, family)
    return subject.compare(examination.rows(case, list(needed)), needed, examination.rounding(case))


def check_hard_constraints(examination: Examination, case: Case, subject: Subject) -> LawResult:
    """Experts `p_b(.|A_i)` of any weights compose to `p_b(.|⋂ A_i)`."""
    family = case.family

    def conditioned(h: Prefix) -> Row:
        allowed = [all(expert[h][y] for expert in family.experts) for y in range(family.size)]
        return normalised([cell if kept else 0 for cell, kept in zip(family.background[h], allowed, strict=True)])

    needed = _reached({h: conditioned(h) for h in family.prefixes}, family)
    return subject.compare(examination.rows(case, list(needed)), needed, examination.rounding(case))


def check_projective(examination: Examination, case: Case, subject: Subject) -> LawResult:
    """Under factorized conditionals the composition reads on each mask as that expert, elsewhere as the background."""
    family = case.family
    rows = examination.rows(case, case.exact(examination.declared.null_tokens).prefixes)
    rounding = examination.rounding(case)
    allowed = replace(rounding, value=(rounding.value + 1e-15) * (family.length + 1))
    blocks = [*zip(family.masks, family.experts, strict=True), (family.background_positions, family.background)]
    for block, owner in blocks:
        found, needed = _marginal(rows, block, family), _marginal(logs(owner), block, family)
        for tokens in sorted({*found, *needed}):
            one, other = (np.array([side.get(tokens, -np.inf)]) for side in (found, needed))
            off = float(distances(one, other)[0])
            if not off <= allowed.value:
                words = " ".join(family.vocabulary[y] for y in tokens)
                where = f"{words!r} at the positions {', '.join(map(str, block))}"
                got = f"log-probability {one[0]:.6g}"
                return subject.broken(where, got, f"{other[0]:.6g}", off, allowed)
    return subject.holds()


def _reached(kernel: families.Kernel, family: Family) -> Rows:
    """The rows after the prefixes that a kernel reaches, in logs."""
    reached = [h for h in family.prefixes if all(kernel[h[:t]][y] for t, y in enumerate(h))]
    return logs({h: kernel[h] for h in reached})


def _with(weights: tuple[int, ...], place: int, weight: int) -> tuple[int, ...]:
    return (*weights[:place], weight, *weights[place + 1 :])


def _path(numbers: tuple[int, ...], kernel: families.Kernel) -> Prefix:
    """The path that takes at each step one of the possible tokens."""
    path: Prefix = ()
    for number in numbers:
        possible = [y for y, cell in enumerate(kernel[path]) if cell]
        path = (*path, possible[number % len(possible)])
    return path


def _marginal(rows: Rows, positions: tuple[int, ...], family: Family) -> dict[Prefix, float]:
    """The log-probabilities of the tokens at some positions, without the impossible ones."""
    found: dict[Prefix, float] = {}
    for sequence in product(range(family.size), repeat=family.length):
        mass = 0.0
        for t, y in enumerate(sequence):
            if mass == -np.inf or sequence[:t] not in rows:  # what goes where the composition does not is lost
                mass = -np.inf
                break
            mass += float(rows[sequence[:t]][y])
        if mass != -np.inf:
            cell = tuple(sequence[position] for position in positions)
            found[cell] = float(np.logaddexp(found.get(cell, -np.inf), mass))
    return found


def _zeros(declared: Declared) -> str:
    return "" if declared.zeros else "the composer declares that it takes no tokens of probability 0 (`zeros`)"


def _logits(declared: Declared) -> str:
    return "" if declared.logits else "the composer declares that it takes log-probabilities alone (`logits`)"


def _weighted(declared: Declared) -> str:
    return "" if declared.weighted else "the composer declares that it takes no weights (`weighted`)"


COMPOSER_LAWS = (
    ComposerLaw("normalised", "rows sum to 1, without NaN, and 0 is a real -inf", "1.1", composed, check_normalised),
    ComposerLaw("known_answer", "p^ ∝ p_b prod_i (p_i/p_b)^λ_i", "1.1, 1.3, 1.9", composed, check_known_answer),
    ComposerLaw("support", "what is excluded is -inf, and nothing else", "1.3, 1.4", composed, check_support, _zeros),
    ComposerLaw("identity", "the background alone composes to the background", "1.1", composed, check_identity),
    ComposerLaw(
        "neutral_expert", "an expert equal to the background changes nothing", "1.1", with_copy, check_neutral_expert
    ),
    ComposerLaw("permutation", "the order of the experts is irrelevant", "1.1", with_order, check_permutation),
    ComposerLaw("relabelling", "the order of the tokens is irrelevant", "1.1", with_labels, check_relabelling),
    ComposerLaw(
        "common_temperature",
        "tempering all components is tempering the composition",
        "1.9 (c)",
        with_temperature,
        check_common_temperature,
    ),
    ComposerLaw(
        "logit_shift", "a constant added to logits changes nothing", "1.3", with_shifts, check_logit_shift, _logits
    ),
    ComposerLaw(
        "monotone_weight",
        "more weight on an expert raises its mean log-ratio",
        "1.9 (a)",
        with_two_weights,
        check_monotone_weight,
        _weighted,
    ),
    ComposerLaw(
        "caches_apart",
        "decoding step by step, sequences in turn, changes nothing",
        "1.1",
        with_paths,
        check_caches_apart,
    ),
    ComposerLaw("sole_deviator", "a sole deviator is reproduced", "4.4 (2)", joint, check_sole_deviator),
    ComposerLaw(
        "hard_constraints",
        "constraints compose to their conjunction, whatever the weights",
        "1.9 (b)",
        constrained,
        check_hard_constraints,
        _zeros,
    ),
    ComposerLaw(
        "projective", "under factorized conditionals each expert keeps its mask", "2.2", factorized, check_projective
    ),
)
"""Every law of composers."""
