"""Pointwise repair for every length, against walking through all prefixes of one length."""

import random
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import factorcomp
from factorcomp.models.errors import InputError
from factorcomp.repair import repair
from tests import oracle, small_automata
from tests.automata import STRUCTURES, AutomataInstance, random_automata, unroll

LENGTH = 4


def options(instance: AutomataInstance) -> dict:
    question = instance.question
    return {
        "threshold": question.threshold,
        "scope": question.scope,
        "null_tokens": question.null_tokens,
        "weights": question.weights,
    }


def may_stay(base, own, weight: Fraction, null: str) -> bool:
    """Whether the composition is defined and alive with this expert alone."""
    if oracle.in_error(next((y for y, p in enumerate(base) if not p and own[y]), 0), base, [own], [weight], null):
        return False
    return null != "drop" or bool(oracle.support(base) & oracle.support(own))


def expected(instance: AutomataInstance, length: int) -> dict | None:
    """What each expert says at each prefix in the scope of the repaired composition; `None` if the background does not.

    At each prefix the deviating expert of largest total variation stays (the first of them), others become the
    background's row, and so do those that say nothing.
    """
    question, size = instance.question, len(instance.vocabulary)
    base = oracle.kernel_of(unroll(instance, "background", length), size, length)
    own = {name: oracle.kernel_of(unroll(instance, name, length), size, length) for name in instance.experts}
    found, scope = {}, {()}
    for step in range(length):
        for prefix in product(range(size), repeat=step):
            if prefix not in scope:
                continue
            here = base[prefix]
            if here is None:
                return None
            kept, furthest = None, Fraction(-1)
            deviating = set()
            for name in own:
                row, weight = own[name][prefix], question.weight(name)
                if row is None:
                    continue
                ratio = oracle.log_ratio_range(row, here)
                if ratio is not None and not oracle.exceeds_in_nats(ratio, question.threshold / weight):
                    continue
                deviating.add(name)
                tv = oracle.row_tv(oracle.tilted(row, here, weight), here)
                if may_stay(here, row, weight, question.null_tokens) and tv > furthest:
                    kept, furthest = name, tv
            for name in own:
                given = own[name][prefix]
                found[name, prefix] = here if given is None or (name in deviating and name != kept) else given
            tokens = oracle.support(here if kept is None else own[kept][prefix])
            if question.null_tokens == "drop":
                tokens &= oracle.support(here)
            scope |= {(*prefix, y) for y in (range(size) if question.scope == "all" else tokens)}
    return found


@pytest.mark.parametrize("seed", range(30))
def test_at_each_state_the_dearest_stays(seed):
    """Rows in scope as above; out of it an expert goes on as it was; and the repaired models are verified."""
    instance = random_automata(random.Random(seed))
    length = next(n for n in range(LENGTH, 0, -1) if len(instance.vocabulary) ** n < 300)
    wanted = expected(instance, length)
    if wanted is None:
        with pytest.raises(InputError, match="the background has no next state"):
            repair(*instance.models(), length="every", require="pointwise_joint", **options(instance))
        return
    done = repair(*instance.models(), length="every", require="pointwise_joint", **options(instance))
    size = len(instance.vocabulary)
    for name, model in done.models.items():
        table = model.tabulate(length)
        own = oracle.kernel_of(unroll(instance, name, length), size, length)
        for step in range(length):
            for index, prefix in enumerate(product(range(size), repeat=step)):
                row = wanted.get((name, prefix), own[prefix])
                if row is not None and not table.says_nothing(step, index):
                    assert table.steps[step].exact(index).factors == row, (name, prefix)
                assert (name, prefix) not in wanted or not table.says_nothing(step, index)
    assert done.report["pointwise_joint"].verdict == "HOLDS"
    assert done.question.length == "every"


def test_there_are_cases_of_every_kind():
    kinds = set()
    for seed in range(30):
        instance = random_automata(random.Random(seed))
        try:
            done = repair(*instance.models(), length="every", require="pointwise_joint", **options(instance))
        except InputError:
            kinds.add("silent")
        else:
            kinds.add("repaired" if done.cost else "nothing to repair")
    assert kinds >= {"repaired", "nothing to repair"}


def test_what_is_given_up_for_ever():
    """Both bend every toss after the first `a`: the second is reset for ever, the expected TV is infinite."""
    base, late, even = (small_automata.model(name) for name in ("base", "late", "even"))
    done = repair(base, {"late": late, "even": even}, length="every", require="pointwise_joint")
    assert {name: expert.resets for name, expert in done.experts.items()} == {"late": 0, "even": 1}
    assert done.spent == float("inf")
    assert done.to_json()["expected_tv_given_up"] == "inf"


@pytest.mark.parametrize("seed", range(15))
def test_the_expected_total_variation_given_up(seed):
    """`sum_h P^(h) TV(p_i, p_b)` over the resets: what a long length gives, or inf where it only grows."""
    instance = random_automata(random.Random(seed), ["free"] if seed % 2 else STRUCTURES)
    try:
        done = repair(*instance.models(), length="every", require="pointwise_joint", **options(instance))
    except InputError:
        return
    composed = factorcomp.compose(
        instance.model("background"),
        done.models,
        null_tokens=instance.question.null_tokens,
        weights=instance.question.weights,
    )
    base, given = instance.models()
    law, sums = {(composed.initial, *(m.initial for m in (base, *given.values(), *done.models.values()))): 1.0}, []
    logs = {
        id(m): m.rows.log_probs(0, m.rows.shape[0]) for m in (composed, base, *given.values(), *done.models.values())
    }
    machines = [composed, base, *given.values(), *done.models.values()]
    count, total = len(given), 0.0
    for _ in range(400):
        following: dict = {}
        for states, mass in law.items():
            rows = [np.exp(logs[id(m)][q]) if q >= 0 else None for m, q in zip(machines, states, strict=True)]
            for i, name in enumerate(given):
                old, new, weight = rows[2 + i], rows[2 + count + i], float(instance.question.weight(name))
                if old is not None and new is not None and not np.allclose(old, new, atol=1e-12):
                    common = (old > 0) & (rows[1] > 0)
                    tilted = np.where(
                        common, rows[1] * (np.where(common, old, 1) / np.where(common, rows[1], 1)) ** weight, 0
                    )
                    tilted = old if weight == 1 else tilted / tilted.sum() if tilted.sum() else tilted
                    total += mass * 0.5 * np.abs(tilted - rows[1]).sum()
            for y, p in enumerate(rows[0]):
                if p > 0:
                    after = tuple(int(m.next[q, y]) if q >= 0 else -1 for m, q in zip(machines, states, strict=True))
                    following[after] = following.get(after, 0.0) + mass * p
        law = following
        sums.append(total)
    if done.spent == float("inf"):
        assert sums[-1] > 1.5 * sums[len(sums) // 2] - 1
        assert sums[-1] > sums[len(sums) // 2]
    else:
        assert sums[-1] == pytest.approx(done.spent, abs=1e-6)


def test_it_can_be_saved(tmp_path):
    """Finite-state models stay finite-state files, and verify as they are read again."""
    base, late, even = (small_automata.model(name) for name in ("base", "late", "even"))
    done = repair(base, {"late": late, "even": even}, length="every", require="pointwise_joint")
    for name, model in done.models.items():
        factorcomp.save(model, tmp_path / f"{name}.json")
    read = {name: factorcomp.load(tmp_path / f"{name}.json") for name in done.models}
    report = factorcomp.verify(base, read, length="every", require="pointwise_joint")
    assert report.verdict == "HOLDS"


def test_intervals_at_every_length_are_refused():
    base, late = small_automata.model("base"), small_automata.model("late")
    with pytest.raises(InputError, match=r"require pointwise_joint, or give a length \(--length N\)"):
        repair(base, {"late": late}, length="every")


def test_a_table_has_no_every_length():
    with pytest.raises(InputError, match="a table ends at its horizon"):
        repair(small_automata.model("base").tabulate(2), {"late": small_automata.model("late")}, length="every")
