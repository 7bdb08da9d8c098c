"""compose(): the composed table has the law of the definitions, exactly for rational tables and in floats for logs."""

import random
from fractions import Fraction

import numpy as np
import pytest

from factorcomp.composition import compose
from factorcomp.models.errors import InputError
from factorcomp.models.finite_state import FiniteStateModel
from factorcomp.models.rows import FloatRows, RationalRows
from factorcomp.models.tabular import TabularModel
from tests import oracle
from tests.strategies import STRUCTURES, Instance, random_instance
from tests.subjects import models


def instances(count: int) -> list[Instance]:
    rng = random.Random(0)
    return [random_instance(rng, structures=[structure], cap=64) for structure in STRUCTURES for _ in range(count)]


def case_of(instance: Instance) -> oracle.Case:
    parts = instance.vocabulary, instance.eos, instance.background, instance.experts
    return oracle.tabulate(*parts, instance.question)


def composed(instance: Instance, *, sequence_level: bool, logs: bool = False) -> TabularModel:
    background, experts = models(instance)
    if logs:
        background, experts = in_logs(background), {name: in_logs(expert) for name, expert in experts.items()}
    question = instance.question
    options = {"null_tokens": question.null_tokens, "weights": question.weights, "length": question.length}
    return compose(background, experts, sequence_level=sequence_level, **options)


def in_logs(model: TabularModel) -> TabularModel:
    """The same model in float64."""
    rows = tuple(FloatRows(rows.log_probs(0, rows.shape[0]), "log_probs") for rows in model.steps)
    return TabularModel(model.vocabulary, rows, model.eos)


def law(model: TabularModel) -> dict[tuple[int, ...], Fraction]:
    """The probability of every sequence, from the table's exact rows."""
    size = len(model.vocabulary)
    steps = [[rows.exact(h).factors for h in range(rows.shape[0])] for rows in model.steps]
    return oracle.law_of(oracle.kernel_of(steps, size, model.horizon), size, model.horizon)


def positive(found: dict) -> dict:
    return {sequence: mass for sequence, mass in found.items() if mass}


def test_stepwise_and_sequence_level_laws():
    """Definitions 1.1 and 1.2, exactly; refused where the composition reaches an undefined ratio or has no mass."""
    seen = {"composed": 0, "refused": 0}
    for instance in instances(25):
        case = case_of(instance)
        undefined = any(prefix in case.undefined for prefix in case.reachable)
        healthy = all(prefix in case.composition for prefix in case.reachable)
        weights = oracle.law_of(oracle._total(case.weights, case.background, case.size), case.size, case.length)
        for sequence_level, possible, truth in (
            (False, healthy, lambda case=case: case.local),
            (True, not undefined and any(weights.values()), lambda case=case: oracle.global_law(case)),
        ):
            seen["composed" if possible else "refused"] += 1
            if not possible:
                with pytest.raises(InputError, match=r"undefined after|no sequence is possible"):
                    composed(instance, sequence_level=sequence_level)
                continue
            model = composed(instance, sequence_level=sequence_level)
            assert all(isinstance(rows, RationalRows) for rows in model.steps)
            assert positive(law(model)) == positive(truth())
            assert all(sum(rows.exact(h).factors) == 1 for rows in model.steps for h in range(rows.shape[0]))
    assert min(seen.values()) > 10, seen


def test_every_defined_row_is_the_composition():
    """Also at prefixes that the composition does not reach; where it has no row there, the background's stands in."""
    stand_ins = 0
    for instance in instances(15):
        case = case_of(instance)
        if not all(prefix in case.composition for prefix in case.reachable):
            continue
        model = composed(instance, sequence_level=False)
        for prefix in case.prefixes():
            index = int("".join(map(str, prefix)) or "0", case.size) if case.size > 1 else 0
            stand_ins += prefix not in case.composition
            expected = case.composition.get(prefix, case.background[prefix])
            assert model.steps[len(prefix)].exact(index).factors == tuple(expected)
        assert bool(model.source.notes) == any(prefix not in case.composition for prefix in case.prefixes())
    assert stand_ins > 0


def test_logs_compose_like_rationals():
    """In float64, to 1e-12, with the same zeros."""
    compared = 0
    for instance in instances(10):
        for sequence_level in (False, True):
            try:
                exact = composed(instance, sequence_level=sequence_level)
            except InputError:
                with pytest.raises(InputError):
                    composed(instance, sequence_level=sequence_level, logs=True)
                continue
            floats = composed(instance, sequence_level=sequence_level, logs=True)
            for mine, theirs in zip(exact.steps, floats.steps, strict=True):
                a, b = mine.log_probs(0, mine.shape[0]), theirs.log_probs(0, mine.shape[0])
                assert ((a > -np.inf) == (b > -np.inf)).all()
                assert np.allclose(np.exp(a), np.exp(b), rtol=0, atol=1e-12)
                compared += 1
    assert compared > 50


@pytest.mark.parametrize("which", ["background", "up"])
def test_logs_among_rationals_make_floats(which):
    """Up alone deviates: the composition is up, whichever of the two is given in logs, here of unnormalised rows."""
    rows = {"background": [1 / 2, 1 / 2], "up": [1 / 4, 3 / 4]}
    rational = {name: TabularModel.from_probabilities([[row]], ["a", "b"]) for name, row in rows.items()}
    logs = TabularModel(("a", "b"), (FloatRows(np.log([rows[which]]) + 0.5, "logits"),))
    given = rational | {which: logs}
    found = compose(given["background"], {"up": given["up"]}, length=1)
    np.testing.assert_allclose(np.exp(found.steps[0].log_probs(0, 1)), [rows["up"]], atol=1e-15)


def test_where_it_is_undefined_the_first_such_prefix_is_named():
    """In the order of its tokens; a prefix that the composition does not reach is no obstacle."""

    def table(*last: str) -> TabularModel:
        rows = [["1/2 1/2"], ["1/2 1/2", "1/2 1/2"], last]
        return TabularModel.from_probabilities([[row.split() for row in step] for step in rows], ["a", "b"])

    base, dead = table("1/2 1/2", "1 0", "1/2 1/2", "1 0"), table("1/2 1/2", "0 1", "1/2 1/2", "0 1")
    with pytest.raises(InputError, match=r"undefined after 'a b': all mass vanishes there"):
        compose(base, {"up": dead}, null_tokens="drop")
    with pytest.raises(InputError, match=r"undefined after 'a b': a ratio has no value there \(strict\)"):
        compose(base, {"up": dead}, null_tokens="strict")


def test_where_a_model_has_no_next_state_it_is_undefined():
    """Up opens `b`, after which the background says nothing: no table of two steps, unless it is never reached."""
    states = [{"probabilities": {"a": 1}, "next": {"a": "s"}}]
    states.append({"probabilities": {"a": "1/2", "b": "1/2"}, "next": {"a": "s", "b": "s"}})
    base, up = (FiniteStateModel.from_states({"s": state}, ["a", "b"], "s") for state in states)
    for experts in ({"up": up}, {"up": up, "same": base}, {"same": base, "up": up}):
        for sequence_level in (False, True):
            with pytest.raises(InputError, match=r"undefined after 'b': a model has no next state there"):
                compose(base, experts, length=2, sequence_level=sequence_level)
    assert compose(base, {"up": up}, length=1).steps[0].exact(0).factors == (Fraction(1, 2), Fraction(1, 2))
    assert compose(base, {"up": up}, length=2, null_tokens="drop").steps[1].exact(0).factors == (1, 0)
