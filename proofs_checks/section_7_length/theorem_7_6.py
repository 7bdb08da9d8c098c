"""Theorem 7.6 (hidden-state models): FC for all T is equality of rational series, decided by a forward span."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family
from proofs_checks.definitions.automata import Clock
from proofs_checks.definitions.hidden import Hidden, Matrix, difference_at, tensor
from proofs_checks.definitions.laws import ZERO, marginal, sequences
from proofs_checks.definitions.masks import background_factorizes, dominated, expert_factorizes
from proofs_checks.definitions.random_automata import clock
from proofs_checks.statement import Control, Relation, Statement, at_most, equal, fact

LONGEST = 7


@dataclass(frozen=True)
class HiddenModels:
    """A background (the first) and experts with hidden states and one clock, and a horizon to compare laws at."""

    models: tuple[Hidden, ...]
    length: int

    @property
    def clock(self) -> Clock:
        """The clock of all."""
        return self.models[0].clock

    def masked(self, length: int) -> Family:
        """Masks and horizon, for the definitions of section 2."""
        return Family(2, length, {}, (), self.clock.masks(len(self.models) - 1, length))


def check_series(case: HiddenModels) -> Iterator[Relation]:
    """Each series against the law, summed path by path."""
    model, length = case.models[0], min(case.length, 4)
    law = model.law(length)
    blocks = [*case.masked(length).masks, case.masked(length).background_positions]
    machines = [model.on(lambda owner, block=block: owner == block) for block in (*range(1, len(case.models)), 0)]
    whole = tensor(machines)
    for word in sequences(2, length):
        yield equal("P(w) = α A_w 1", model.probability(word), law.get(word, ZERO))
        product = Fraction(1)
        for block, machine in zip(blocks, machines, strict=True):
            own = marginal(law, block).get(tuple(word[t] for t in block), ZERO)
            yield equal("a block marginal is the machine with sum_a A_a off the block", machine.probability(word), own)
            product *= own
        yield equal("the product of the marginals is the tensor product", whole.probability(word), product)


def pairs(case: HiddenModels) -> list[tuple[Hidden, Hidden]]:
    """The series that (a) and (b) compare, the background's first."""
    background, *experts = case.models
    every = [background.on(lambda owner, block=block: owner == block) for block in range(len(case.models))]
    compared = [(background, tensor(every))]
    for number, expert in enumerate(experts, start=1):
        own = expert.on(lambda owner, number=number: owner == number)
        rest = background.on(lambda owner, number=number: owner != number)
        compared.append((expert, tensor([own, rest])))
    return compared


def factorized_by_laws(case: HiddenModels, length: int) -> list[bool]:
    """(a), and (b) of every expert (2.1)."""
    family, laws = case.masked(length), [model.law(length) for model in case.models]
    return [
        background_factorizes(family, laws[0]),
        *(expert_factorizes(family, i, laws[0], law) for i, law in enumerate(laws[1:])),
    ]


def check(case: HiddenModels) -> Iterator[Relation]:
    """The forward span against the laws at a horizon, and every word it needs shorter than N."""
    states, experts = len(case.models[0].start), len(case.models) - 1
    bound = len(case.clock.owners) * (states + states ** (experts + 1))
    compared = [difference_at(one, other) for one, other in pairs(case)]
    for (differs, longest, dimension), holds in zip(compared, factorized_by_laws(case, case.length), strict=True):
        agree = differs is None or differs > case.length
        yield equal("factorized at T iff no word of length <= T tells the series apart", holds, agree)
        yield at_most("dimension <= N = q(n + n^(k+1))", dimension, bound)
        yield fact("words of length < N decide", max(longest, differs or 0) < bound)
    if bound - 1 <= LONGEST:
        every = [differs is None for differs, _, _ in compared]
        yield equal("T = N - 1 decides", factorized_by_laws(case, bound - 1), every)


def check_single_letters(case: HiddenModels) -> Iterator[Relation]:
    """False: one-token words decide."""
    for (one, other), holds in zip(pairs(case), factorized_by_laws(case, 4), strict=True):
        agree = all(one.probability(word) == other.probability(word) for word in sequences(2, 1))
        yield equal("factorized at T iff equal on words of length 1", holds, agree)


def check_without_continuity(case: HiddenModels) -> Iterator[Relation]:
    """False: equal series are FC, (c) included."""
    family, laws = case.masked(3), [model.law(3) for model in case.models]
    continuous = all(dominated(family, i, laws[0], law) for i, law in enumerate(laws[1:]))
    same = all(difference_at(one, other)[0] is None for one, other in pairs(case))
    yield equal("FC iff equal series", continuous and all(factorized_by_laws(case, 3)), same)


def check_unsummed(case: HiddenModels) -> Iterator[Relation]:
    """False: the marginal on a block is the machine itself."""
    law, block = case.models[0].law(3), case.masked(3).masks[0]
    for word in sequences(2, 3):
        own = marginal(law, block).get(tuple(word[t] for t in block), ZERO)
        yield equal("the machine itself", case.models[0].probability(word), own)


def hidden(draw: Draw) -> HiddenModels:
    """One or two hidden states; factorized by construction, or with one matrix changed, or at random."""
    experts, states = draw.integer(1, 2), 1 if draw.one_in(4) else 2
    ticks = clock(draw, experts)
    emits = draw.pick(ticks.owners)
    style = draw.integer(0, 3)

    def random_matrices() -> tuple[Matrix, ...]:
        rows = [draw.row(2 * states, zeros=draw.one_in(2)) for _ in range(states)]
        return tuple(tuple(line[token * states : (token + 1) * states] for line in rows) for token in range(2))

    def idle_matrices() -> tuple[Matrix, ...]:
        """The token is drawn without looking at the state, and the state stays."""
        row = draw.row(2)
        return tuple(tuple(tuple(p if i == j else ZERO for j in range(states)) for i in range(states)) for p in row)

    def block_matrices(owner: int) -> tuple[Matrix, ...]:
        """The state moves, and tells on the tokens, at the positions of one block."""
        return random_matrices() if owner == emits or style == 3 else idle_matrices()

    base = Hidden(draw.row(states), tuple(block_matrices(owner) for owner in ticks.owners), ticks)
    models = [base]
    for number in range(1, experts + 1):
        own = [
            block_matrices(owner) if owner == number else old
            for owner, old in zip(ticks.owners, base.matrices, strict=True)
        ]
        models.append(replace(base, matrices=tuple(own)))
    if style == 2:
        which, phase = draw.integer(0, experts), draw.integer(0, len(ticks.owners) - 1)
        changed = list(models[which].matrices)
        changed[phase] = random_matrices()
        models[which] = replace(models[which], matrices=tuple(changed))
    return HiddenModels(tuple(models), draw.integer(0, 6))


STATEMENTS = (
    Statement(
        number="7.6 series",
        kind="theorem",
        sentence="block marginals and their products are weighted automata too",
        equation="P^M(w_M) = α B_w 1, B_a = A_a on M, sum_a A_a off M;   ⊗_j P^{M_j}: tensor product",
        hypotheses=("P(w) = α A_w 1 with a clock",),
        draw=hidden,
        check=check_series,
        controls=(Control("sum_a A_a off the block", hidden, check_unsummed),),
    ),
    Statement(
        number="7.6",
        kind="theorem",
        sentence="factorized at every length iff two rational series agree on the forward span",
        equation="(a), (b) for every T iff equal on words shorter than N <= q(n + n^(k+1))",
        hypotheses=("hidden-state models with a clock of q phases", "given (c), which is about supports"),
        draw=hidden,
        check=check,
        controls=(
            Control("words shorter than N: of one token", hidden, check_single_letters),
            Control("given (c)", hidden, check_without_continuity),
        ),
        not_checked="laws at T > 7",
        weight=2,
    ),
)
