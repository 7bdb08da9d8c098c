"""Storm, a probabilistic model checker, answers as the oracle does: ever overlapping, ever ending, expected lengths.

Storm sees nothing but the program of `factorcomp.formats.prism` and calculates with rationals, so that numbers must be
equal.
"""

import math
import random
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from factorcomp.certificates.claims import Verdict
from factorcomp.formats.prism import write_prism
from factorcomp.models.finite_state import NOWHERE, FiniteStateModel
from factorcomp.models.rows import RationalRows
from tests.automata import ENDED, AutomataInstance, random_automata
from tests.oracle_automata import Product, decide

stormpy = pytest.importorskip("stormpy", reason="the model checker Storm is the oracle here: pip install stormpy")


def storm(model: FiniteStateModel, labels: Mapping[str, np.ndarray], formula: str, folder: Path) -> Fraction | float:
    """Storm's exact answer for the initial state to a formula such as `P=? [F "overlap"]`; infinity is `math.inf`.

    Labels: those given, and `ended`; rewards: `steps`. `folder` is a place for the program.
    """
    path = folder / "model.prism"
    path.write_text(write_prism(model, "storm", labels), encoding="utf-8")
    properties = stormpy.parse_properties(formula)
    chain = stormpy.build_model[stormpy.Rational](stormpy.parse_prism_program(str(path)), properties)
    answer = stormpy.model_checking(chain, properties[0])[chain.initial_states[0]]
    text = str(getattr(answer, "value", answer))
    return math.inf if "inf" in text else Fraction(text)


def composition(product: Product) -> FiniteStateModel:
    """The composition of the oracle's product as a model: states are its places, breadth first."""
    ended = (ENDED,) * len(product.start)
    places = [place for place in product.reachable if place != ended]
    numbers = {place: number for number, place in enumerate(places)} | {ended: len(places)}
    eos = product.instance.eos
    kept = places if eos is None else [*places, ended]
    rows = [product.here(place).composition for place in kept]
    following = np.full((len(kept), product.size), NOWHERE)
    for number, place in enumerate(kept):
        for token, child in product.followers(place, "reachable").items():
            following[number, token] = numbers[child]
    if eos is not None:
        rows[-1] = tuple(Fraction(int(token == eos)) for token in product.vocabulary)
        following[:, product.vocabulary.index(eos)] = len(places)
        following[-1, :] = len(places)
    return FiniteStateModel(
        product.vocabulary,
        tuple(f"q{number}" for number in range(len(places))),
        0,
        RationalRows(
            np.array([[cell.numerator for cell in row] for row in rows], dtype=object),
            np.array([[cell.denominator for cell in row] for row in rows], dtype=object),
        ),
        following,
        eos,
    )


def label(product: Product, model: FiniteStateModel, condition) -> np.ndarray:
    """The states of `composition(product)` whose place fulfils the condition."""
    places = [place for place in product.reachable if ENDED not in place]
    flags = [bool(condition(place)) for place in places]
    return np.array(flags + [False] * (model.next.shape[0] - len(flags)))


def instances(count: int, *structures: str) -> list[AutomataInstance]:
    """Random instances that are defined everywhere in their scope."""
    rng, found = random.Random(str(structures)), []
    while len(found) < count:
        instance = random_automata(rng, structures)
        if decide(instance)["well_defined"].verdict is Verdict.HOLDS:
            found.append(instance)
    return found


def test_probability_of_overlap(tmp_path):
    """`P(F overlap)` is the residual of `pointwise_joint`: 0, 1, and in between."""
    seen = set()
    for structure in ("free", "shared", "ending", "alternating", "opening", "constrained", "reciprocal"):
        for instance in instances(7, structure):
            product = Product(instance)
            model = composition(product)
            overlap = label(product, model, lambda place, product=product: len(product.deviants(place)) > 1)
            found = storm(model, {"overlap": overlap}, 'P=? [F "overlap"]', tmp_path)
            assert found == decide(instance).measures.overlap_probability
            seen.add(found if found in (0, 1) else "between")
    assert seen == {0, 1, "between"}


@pytest.mark.parametrize("structure", ["free", "shared", "interleaving", "ending", "staged"])
def test_probability_of_activity(structure, tmp_path):
    """`P(F deviates)` is the probability that an expert ever becomes active."""
    for instance in instances(5, structure):
        product, measures = Product(instance), decide(instance).measures
        model = composition(product)
        for name in instance.experts:
            acts = label(product, model, lambda place, name=name, product=product: name in product.deviants(place))
            found = storm(model, {"acts": acts}, 'P=? [F "acts"]', tmp_path)
            assert found == measures.experts[name].activity_probability


def with_eos(count: int) -> list[AutomataInstance]:
    return instances(count, "ending", "alternating")


def test_probability_to_end(tmp_path):
    """`P(F ended)` is 1 less the residual of `terminates`: 0, 1, and in between."""
    seen = set()
    for instance in with_eos(25):
        found = storm(composition(Product(instance)), {}, 'P=? [F "ended"]', tmp_path)
        assert found == 1 - decide(instance)["terminates"].residual
        seen.add(found if found in (0, 1) else "between")
    assert seen == {0, 1, "between"}


def test_expected_length(tmp_path):
    """`R[F ended]` is the expected length of the composition, infinite where it need not end; and of each model."""
    seen = set()
    for instance in with_eos(25):
        termination = decide(instance).measures.termination
        found = storm(composition(Product(instance)), {}, 'R{"steps"}=? [F "ended"]', tmp_path)
        assert found == termination.composition
        seen.add(math.isinf(found))
        assert storm(instance.model("background"), {}, 'R{"steps"}=? [F "ended"]', tmp_path) == termination.background
        for name in set(instance.experts) - set(instance.question.weights):
            length = storm(instance.model(name), {}, 'R{"steps"}=? [F "ended"]', tmp_path)
            assert length == termination.experts[name]
    assert seen == {True, False}


def test_storm_can_disagree(tmp_path):
    """Negative control: another label, another number."""
    instance = next(i for i in instances(20, "alternating") if decide(i).measures.overlap_probability > 0)
    product = Product(instance)
    model = composition(product)
    nowhere = label(product, model, lambda place: False)
    assert storm(model, {"overlap": nowhere}, 'P=? [F "overlap"]', tmp_path) == 0
