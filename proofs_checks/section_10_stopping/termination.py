"""Section 10, termination check: whether a finite-state composition stops, and after how many tokens."""

from collections.abc import Iterator

from factorcomp.testing.drawing import Draw
from proofs_checks.definitions.laws import ZERO, total
from proofs_checks.definitions.operator import compose
from proofs_checks.definitions.product_chains import Machine, Product, machine
from proofs_checks.statement import Control, Relation, Statement, at_most, equal, fact

HORIZON = {2: 4, 3: 3}


def product_of(draw: Draw, *, zeros: bool) -> Product:
    """A background of full support and up to two experts, one or two states each; two or three tokens."""
    size = draw.integer(2, 3)
    background = machine(draw, size, draw.integer(1, 2), zeros=False)
    experts = [machine(draw, size, draw.integer(1, 2), zeros=zeros) for _ in range(draw.integer(1, 2))]
    return Product((background, *experts))


def products(draw: Draw) -> Product:
    """Experts may exclude tokens, EOS too."""
    return product_of(draw, zeros=True)


def terminates(product: Product) -> bool:
    """EOS is reachable from every reachable state, and none is dead."""
    return all(row is not None for row in product.reachable.values()) and all(map(product.ends, product.reachable))


def check_criterion(product: Product) -> Iterator[Relation]:
    """Survival over `|R|` steps is below 1 from everywhere, so it falls geometrically; or it stays 1 somewhere."""
    count = len(product.reachable)
    once, longer = product.alive(count), product.alive(5 * count)
    worst = max(once.values())
    yield equal("terminates iff P(alive after |R| steps) < 1 from every state", terminates(product), worst < 1)
    if worst < 1:
        yield at_most("P(alive after 5|R| steps) <= the fifth power", max(longer.values()), worst**5)
    else:
        yield equal("somewhere it goes on for ever", max(longer.values()), 1)


def check_criterion_from_start(product: Product) -> Iterator[Relation]:
    """False: that EOS is reachable from the start is enough."""
    reachable = product.ends(product.start) and None not in product.reachable.values()
    yield equal("terminates iff EOS is reachable", reachable, max(product.alive(len(product.reachable)).values()) < 1)


def check_criterion_without_dead(product: Product) -> Iterator[Relation]:
    """False: that the states with a row reach EOS is enough."""
    ending = all(product.ends(state) for state, row in product.reachable.items() if row is not None)
    yield equal("terminates iff", ending, max(product.alive(len(product.reachable)).values()) < 1)


def check_length(product: Product) -> Iterator[Relation]:
    """Against the sequences up to a horizon `n`: `E length = sum_{m<n} P(length > m) + E[rest; length > n]`."""
    if not terminates(product):
        return
    horizon, end = HORIZON[product.size], product.size - 1
    law = compose(product.family(horizon)).local
    expected = product.mean_lengths()
    short = total(total(mass for y, mass in law.items() if end not in y[:m]) for m in range(horizon))
    rest = total(mass * expected[product.at(y)] for y, mass in law.items() if end not in y)
    yield equal("E length = ((I-Q)^{-1} 1)_start", short + rest, expected[product.start])


def check_length_off(product: Product) -> Iterator[Relation]:
    """False: without the last token."""
    if terminates(product):
        horizon, end = HORIZON[product.size], product.size - 1
        law = compose(product.family(horizon)).local
        expected = {state: length - 1 for state, length in product.mean_lengths().items()}
        short = total(total(mass for y, mass in law.items() if end not in y[:m]) for m in range(horizon))
        rest = total(mass * expected[product.at(y)] for y, mass in law.items() if end not in y)
        yield equal("E length = ((I-Q)^{-1} 1)_start - 1", short + rest, expected[product.start])


def ending(draw: Draw) -> Product:
    """Every expert may stop in every state, and has one content token in common: it terminates."""
    product = product_of(draw, zeros=False)
    rows = []
    for one in product.machines[1:]:
        kept = [
            tuple(cell if y in (0, product.size - 1) or draw.one_in(2) else ZERO for y, cell in enumerate(row))
            for row in one.rows
        ]
        rows.append(Machine(tuple(tuple(cell / sum(row) for cell in row) for row in kept), one.following))
    return Product((product.machines[0], *rows))


def check_floor(product: Product) -> Iterator[Relation]:
    """`P(length > n) <= (1 - e_0)^n`."""
    floor = min(row[-1] for row in product.reachable.values() if row is not None)
    yield fact("full support and finitely many states: e_0 > 0", floor > 0 or not full(product))
    for steps in range(8):
        yield at_most("P(length > n) <= (1-e_0)^n", product.alive(steps)[product.start], (1 - floor) ** steps)


def full(product: Product) -> bool:
    """Whether all rows have full support."""
    return all(all(row) for one in product.machines for row in one.rows)


def check_floor_at_start(product: Product) -> Iterator[Relation]:
    """False: with the hazard of the first state."""
    row = product.reachable[product.start]
    hazard = row[-1] if row else ZERO
    for steps in range(8):
        yield at_most("P(length > n) <= (1-e)^n", product.alive(steps)[product.start], (1 - hazard) ** steps)


STATEMENTS = (
    Statement(
        number="10 (termination)",
        kind="proposition",
        sentence="a finite-state composition stops surely iff every reachable state reaches EOS and none is dead",
        equation="P^(length < ∞) = 1 iff every reachable state reaches EOS and has Z > 0",
        draw=products,
        check=check_criterion,
        controls=(
            Control("from every reachable state: from the start", products, check_criterion_from_start),
            Control("none is dead", products, check_criterion_without_dead),
        ),
        weight=2,
    ),
    Statement(
        number="10 (termination, length)",
        kind="proposition",
        sentence="the mean length solves a linear system over the product states",
        equation="E length = ((I-Q)^{-1} 1)_start",
        hypotheses=("it stops surely",),
        draw=ending,
        check=check_length,
        controls=(Control("that EOS counts as a token", ending, check_length_off),),
        weight=2,
    ),
    Statement(
        number="10 (termination, floor)",
        kind="proposition",
        sentence="a floor under the hazard gives a geometric tail; finitely many states of full support have one",
        equation="e^(h) >= e_0 on R^:   P^(length > n) <= (1-e_0)^n",
        draw=ending,
        check=check_floor,
        controls=(Control("the least hazard of all states", ending, check_floor_at_start),),
        weight=2,
    ),
)
