"""Conditions B, I1, I2 and (c) of Theorem 2.3 by the numbers of the tables, against all pairs of rows in fractions."""

import tracemalloc
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from factorcomp.factorization import conditionals
from factorcomp.factorization.conditionals import BACKGROUND, Failure, decide_conditionals
from factorcomp.models.rows import FloatRows, RationalRows, Scale, TiltedRows
from factorcomp.streaming import conditionals as streaming
from factorcomp.streaming.conditionals import Agreement, agreement

SIZES = [(1, 1), (8, 3), (20, 1 << 15), (1 << 14, 1 << 15)]
"""Least numbers of a subtree, and most of a piece: all heads, some of each, all tail."""


@dataclass(frozen=True)
class Case:
    """A background, experts, and masks by place."""

    background: list[FloatRows]
    experts: list[list[FloatRows]]
    masks: dict[int, tuple[int, ...]]

    @property
    def vocab(self) -> int:
        return self.background[0].shape[1]

    def block(self, position: int) -> tuple[int | None, tuple[int, ...]]:
        """Whose block a position lies in, and the block."""
        for i, mask in self.masks.items():
            if position in mask:
                return i, mask
        taken = [t for mask in self.masks.values() for t in mask]
        return None, tuple(t for t in range(len(self.background)) if t not in taken)

    def decide(self) -> conditionals.Conditionals:
        return decide_conditionals(self.background, self.experts, self.masks)


# The literal truth


def law(rows: FloatRows, index: int) -> tuple:
    """A row as what it determines: proportions to the sum, or differences of logs to the first that is finite.

    A ratio of probabilities is the exponential of no such difference but 0 (Lindemann): a row of logs is a row of
    rational probabilities only where it is uniform.
    """
    row = [None if x == -np.inf else Fraction(float(x)) for x in rows.values[index]]
    if rows.scale != "probs":
        first = next(x for x in row if x is not None)
        if any(x not in (None, first) for x in row):
            return ("logs", *(None if x is None else x - first for x in row))
        row = [Fraction(x is not None) for x in row]
    return tuple(x / sum(row) for x in row)


def possible(rows: FloatRows, index: int) -> list[bool]:
    return [x > (0 if rows.scale == "probs" else -np.inf) for x in rows.values[index].astype(float)]


def distance(rows: FloatRows, h: int, other: FloatRows, g: int) -> float:
    p, q = (np.exp(r.log_probs(0, r.shape[0])[n]) for r, n in ((rows, h), (other, g)))
    return 0.5 * float(np.abs(p - q).sum())


def reached(steps: list[FloatRows], length: int) -> list[int]:
    """The indices of the prefixes that a model reaches, one prefix at a time."""
    vocab, found = steps[0].shape[1], []
    for index, prefix in enumerate(product(range(vocab), repeat=length)):
        at = 0
        for rows, token in zip(steps, prefix, strict=False):
            if not possible(rows, at)[token]:
                break
            at = at * vocab + token
        else:
            found.append(index)
    return found


def failing(case: Case) -> tuple[set[Failure], float]:
    """Every failing pair of every condition, by all pairs; and the largest total variation between such rows."""
    failures, largest = set(), 0.0
    for t, base in enumerate(case.background):
        owner, block = case.block(t)
        prefixes = list(product(range(case.vocab), repeat=t))
        cell = [tuple(prefix[s] for s in block if s < t) for prefix in prefixes]
        in_base = reached(case.background, t)
        comparisons = [("B", BACKGROUND, base, in_base, base, in_base)]
        for i, steps in enumerate(case.experts):
            own = reached(steps, t)
            if i == owner:
                comparisons.append(("I1", i, steps[t], own, steps[t], own))
                for h in own:
                    admitted = [possible(base, g) for g in in_base if cell[g] == cell[h]]
                    mine = possible(steps[t], h)
                    if any(mine[y] and not any(row[y] for row in admitted) for y in range(case.vocab)):
                        failures.add(Failure(t, h, h, conditionals.CONDITIONS.index("c"), i))
            else:
                comparisons.append(("I2", i, steps[t], own, base, in_base))
        for condition, who, rows, mine, other, theirs in comparisons:
            for h, g in product(mine, theirs):
                if cell[h] == cell[g] and law(rows, h) != law(other, g):
                    failures.add(Failure(t, h, g, conditionals.CONDITIONS.index(condition), who))
                    largest = max(largest, distance(rows, h, other, g))
    return failures, largest


# Random cases


def masks_at_random(rng: np.random.Generator, length: int, count: int) -> dict[int, tuple[int, ...]]:
    """Disjoint masks, of which some may be empty or missing."""
    owners = rng.integers(-1, count, length)
    masks = {i: tuple(int(t) for t in np.flatnonzero(owners == i)) for i in range(count)}
    return {i: mask for i, mask in masks.items() if mask or rng.random() < 0.5}


def factorized(rng: np.random.Generator, masks: dict[int, tuple[int, ...]], vocab: int, length: int, count: int):
    """Integers of models that factorize: own-history kernels, of the background off each mask; some have zeros."""
    case = Case([FloatRows(np.ones((1, vocab)), "probs")] * length, [], masks)
    least = rng.choice([0, 1, 1])
    tables = []
    for t in range(length):
        owner, block = case.block(t)
        cells = [[prefix[s] for s in block if s < t] for prefix in product(range(vocab), repeat=t)]
        places = np.array([sum(y * vocab**n for n, y in enumerate(cell)) for cell in cells], dtype=int)
        drawn = rng.integers(least, 4, (2, int(places.max()) + 1, vocab))
        drawn[0, drawn.sum(2)[0] == 0] = 1
        drawn[1, drawn.sum(2)[1] == 0] = 1
        drawn[1][drawn[0] == 0] = 0
        empty = drawn.sum(2)[1] == 0
        drawn[1, empty] = drawn[0, empty]
        tables.append([drawn[1 if i == owner else 0][places] for i in range(-1, count)])
    return [[tables[t][m].astype(float) for t in range(length)] for m in range(count + 1)]


def spoil(rng: np.random.Generator, values: np.ndarray, scale: Scale) -> None:
    """Changes one row, or one number of it, in place: by an ulp, a factor, a shift, a zero, anything."""
    h, y = rng.integers(values.shape[0]), rng.integers(values.shape[1])
    how = rng.choice(["ulp", "same law", "almost the same law", "zero", "other", "swap"])
    if how == "ulp" and np.isfinite(values[h, y]):
        values[h, y] = np.nextafter(values[h, y], values.dtype.type(9))
    elif how == "same law":
        values[h] = values[h] * 2 if scale == "probs" else values[h] + values.dtype.type(0.5)
    elif how == "almost the same law":
        values[h] = values[h] / 3 if scale == "probs" else values[h] + values.dtype.type(0.1)
    elif how == "zero" and np.count_nonzero(values[h] > (0 if scale == "probs" else -np.inf)) > 1:
        values[h, y] = 0 if scale == "probs" else -np.inf
        if not (values[h] > (0 if scale == "probs" else -np.inf)).any():
            values[h] = 1
    elif how == "other":
        values[h] = rng.integers(1, 4, values.shape[1])
    elif how == "swap":
        values[h] = values[h][::-1].copy()


def case_at_random(seed: int) -> Case:
    """Models that factorize, or all but; of one kind of numbers, mostly; with EOS (the last token), sometimes."""
    rng = np.random.default_rng(seed)
    vocab = int(rng.integers(1, 5))
    length = int(rng.integers(1, {1: 6, 2: 6, 3: 4, 4: 4}[vocab]))
    count = int(rng.integers(1, 4))
    masks = masks_at_random(rng, length, count)
    tables = factorized(rng, masks, vocab, length, count)
    if rng.random() < 0.2:
        for model in tables:
            for t, rows in enumerate(model):
                ended = [vocab - 1 in prefix for prefix in product(range(vocab), repeat=t)]
                rows[ended] = np.eye(vocab)[-1]
    logs = rng.random() < 0.5
    kinds = ["log_probs", "logits"] if logs else ["probs"]
    types = (
        [np.float64, np.float32, np.float16] if rng.random() < 0.3 else [[np.float64], [np.float32]][rng.integers(2)]
    )
    models = []
    for model in tables:
        steps, kind = [], str(rng.choice(kinds))
        if rng.random() < 0.05:
            kind = "probs" if logs else "logits"
        dtype = types[rng.integers(len(types))]
        for rows in model:
            with np.errstate(divide="ignore"):
                values = (rows if kind == "probs" else np.log(rows)).astype(dtype)
            steps.append(FloatRows(np.asfortranarray(values) if rng.random() < 0.1 else values, kind))
        models.append(steps)
    for _ in range(rng.choice([0, 0, 1, 2, 4])):
        rows = models[rng.integers(len(models))][rng.integers(length)]
        spoil(rng, rows.values, rows.scale)
    return Case(models[0], models[1:], masks)


@pytest.mark.parametrize("seeds", [range(n, n + 50) for n in range(0, 300, 50)], ids=str)
def test_theorem_2_3_against_all_pairs(seeds, monkeypatch):
    """The same first failure and distance as without a look at the numbers, a failing pair, and none iff none fails."""
    for seed in seeds:
        case = case_at_random(seed)
        failures, largest = failing(case)
        with monkeypatch.context() as small:
            subtree, piece = SIZES[seed % len(SIZES)]
            small.setattr(streaming, "SUBTREE", subtree)
            small.setattr(streaming, "PIECE", piece)
            found = case.decide()
        with monkeypatch.context() as blind:
            blind.setattr(conditionals, "agreement", lambda *_: Agreement(full=False, suspects=None))
            assert found == case.decide(), seed
        assert found.hold == (not failures), seed
        assert found.failure is None or found.failure in failures, seed
        assert found.largest_tv == pytest.approx(largest, abs=1e-9), seed


def test_the_random_cases_are_of_all_kinds():
    """Enough that hold, that fail by each condition, with zeros and without, settled by numbers and not."""
    cases = [case_at_random(seed) for seed in range(300)]
    found = [case.decide().failure for case in cases]
    conditions = [failure.condition for failure in found if failure]
    assert min(conditions.count(c) for c in ("c", "B", "I1", "I2")) >= 5
    assert found.count(None) >= 50
    seen = [conditionals._positions(case.background, case.experts, case.masks) for case in cases]
    kinds = {(p.agreement.rows, p.agreement.full) for positions in seen for p in positions}
    assert kinds == set(product([True, False], repeat=2))
    assert sum(p.settled for positions in seen for p in positions) >= 100
    agree = [all(p.agreement.rows for p in positions) for positions in seen]
    assert sum(not failure and not numbers for failure, numbers in zip(found, agree, strict=True)) >= 10, (
        "cases that hold although their numbers differ"
    )


def says(*arguments) -> tuple[bool, bool]:
    found = agreement(*arguments)
    return found.rows, found.full


def cell_of(index: int, vocab: int, length: int, block: tuple[int, ...]) -> set[int]:
    """The prefixes with the tokens on the block that this one has."""
    prefixes = list(product(range(vocab), repeat=length))
    return {n for n, p in enumerate(prefixes) if all(p[s] == prefixes[index][s] for s in block)}


@pytest.mark.parametrize(("subtree", "piece", "order"), [(1, 5, "C"), (8, 3, "C"), (*SIZES[-1], "F")])
def test_every_number_counts(subtree, piece, order, monkeypatch):
    """One ulp anywhere in any table is seen; so is a zero, where it is in every row."""
    monkeypatch.setattr(streaming, "SUBTREE", subtree)
    monkeypatch.setattr(streaming, "PIECE", piece)
    rng = np.random.default_rng(7)
    for vocab, length, block in [(2, 4, (0, 2)), (2, 3, (1,)), (3, 2, (0,)), (2, 3, ()), (4, 1, ())]:
        models = factorized(rng, {0: (*block, length)}, vocab, length + 1, 2)
        base, own, copy = (np.array(model[length], order=order) + 1 for model in models)
        copy[:] = base
        tables = [FloatRows(values, "probs") for values in (base, own, copy)]
        assert says(tables[0], tables[1:], 0, (*block, length), length) == (True, True)
        for rows in tables:
            for place in np.ndindex(rows.shape):
                kept = rows.values[place]
                rows.values[place] = np.nextafter(kept, 0)
                seen = agreement(tables[0], tables[1:], 0, (*block, length), length)
                assert (seen.rows, seen.full) == (False, True), (vocab, length, block, place)
                assert set(seen.suspects) == cell_of(place[0], vocab, length, block)
                rows.values[place] = 0
                assert not agreement(tables[0], tables[1:], 0, (*block, length), length).full
                rows.values[place] = kept
        own[:, 0] = 0
        assert says(tables[0], tables[1:], 0, (*block, length), length) == (True, False)


def test_a_block_of_all_positions_or_a_vocabulary_of_one_token():
    """Every cell is one prefix: only the copies are compared."""
    base = FloatRows(np.arange(1.0, 10.0).reshape(3, 3), "probs")
    other = FloatRows(np.ones((3, 3)), "probs")
    assert says(base, [base, other], 1, (0, 1), 1) == (True, True)
    assert not agreement(base, [base, other], None, (0, 1), 1).rows
    one = FloatRows(np.ones((1, 1)), "probs")
    assert says(one, [one], None, (), 40) == (True, True)


def test_numbers_of_other_kinds_say_nothing():
    """A probability is no log; rational and tilted rows are decided exactly."""
    probs, logs = FloatRows(np.ones((1, 2)), "probs"), FloatRows(np.ones((1, 2)), "logits")
    exact = RationalRows(np.ones((1, 2), dtype=np.int64), np.full((1, 2), 2))
    for other in (logs, exact, TiltedRows(probs, probs, Fraction(1, 2))):
        assert says(probs, [other], None, (), 0) == (False, False)
        assert decide_conditionals([probs], [[other]], {}).hold


def test_an_empty_row_of_an_expert_is_no_law():
    """1.9 also for floats as given, where the expert reaches the row, and only there."""
    base = [FloatRows(np.ones((1, 2)), "probs"), FloatRows(np.ones((2, 2)), "probs")]
    empty = FloatRows(np.array([[1.0, 1.0], [0.0, 0.0]]), "probs")
    assert decide_conditionals(base, [[base[0], empty]], {0: (0, 1)}).lawless == (0,)
    never = FloatRows(np.array([[1.0, 0.0]]), "probs")
    assert decide_conditionals(base, [[never, empty]], {0: (0, 1)}).hold


def test_what_a_zero_cuts_off_stays_unreached():
    """No prefix starts with b; what the rows after b say is nothing, at the next position and at that after it."""
    start, even = FloatRows(np.array([[1.0, 0.0]]), "probs"), FloatRows(np.ones((2, 2)), "probs")
    odd = FloatRows(np.array([[1.0, 1.0], [1.0, 1.0], [1.0, 2.0], [1.0, 1.0]]), "probs")
    steps = [start, even, odd]
    assert decide_conditionals(steps, [steps], {0: (0,)}).hold
    start.values[0, 1] = 0.5
    assert decide_conditionals(steps, [steps], {0: (0,)}).failure == Failure(2, 0, 2, 1, BACKGROUND)


def large(vocab: int, length: int) -> Case:
    """Own-history kernels on interleaved masks, of full support."""
    rng = np.random.default_rng(0)
    masks = {i: tuple(range(i, length, 3)) for i in (0, 1)}
    models = [[], [], []]
    for t in range(length):
        cells = np.zeros((), dtype=np.int64)
        for s in range(t):
            cells = cells[..., None] * vocab + np.arange(vocab) if s % 3 == t % 3 else np.stack([cells] * vocab, -1)
        drawn = rng.dirichlet(np.ones(vocab), (2, int(cells.max()) + 1))
        for m, steps in enumerate(models):
            steps.append(FloatRows(drawn[1 if m and t % 3 == m - 1 else 0][cells.reshape(-1)], "probs"))
    return Case(models[0], models[1:], masks)


def test_large_tables_are_read_without_arrays_of_their_size(monkeypatch):
    """Nothing is compared exactly, no logs are worked out, and the memory is a fraction of the largest table."""
    case = large(4, 9)
    with monkeypatch.context() as never:
        never.setattr(conditionals, "exceeds", None)
        tracemalloc.start()
        try:
            assert case.decide() == conditionals.Conditionals(None, 0.0)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < case.background[-1].values.nbytes / 10
    assert not any(rows.has_logs for rows in case.background)


def test_in_a_large_table_one_row_is_found():
    """The last row of an expert at its own position, moved by an ulp: against the first of its cell."""
    case = large(4, 8)
    case.experts[1][7].values[-1, 0] = np.nextafter(case.experts[1][7].values[-1, 0], 1)
    found = case.decide()
    index = 4**7 - 1
    cell = sum(3 * 4 ** (6 - s) for s in (1, 4))
    assert found.failure == Failure(7, cell, index, conditionals.CONDITIONS.index("I1"), 1)
    assert 0 < found.largest_tv < 1e-15
    case.experts[1][7].values[-1] /= 2
    case.experts[1][7].values[-1] *= 4
    assert case.decide().failure == found.failure
