"""CE 1.7: `Z` may depend on the prefix, and local and global composition agree all the same."""

from collections.abc import Iterator
from fractions import Fraction

from factorcomp.testing.families import Family, Shape, common_support
from proofs_checks.definitions.laws import kernel
from proofs_checks.definitions.operator import compose
from proofs_checks.library import verdicts
from proofs_checks.statement import Control, Relation, Statement, constant, equal, fact

UNIFORM = kernel(dict.fromkeys(("", "0", "1", "00", "01", "10", "11"), "1/2 1/2"))
OVERLAPPING = UNIFORM | kernel(dict.fromkeys(("0", "10", "11"), "1/4 3/4"))
FAMILY = Family(2, 3, UNIFORM, (OVERLAPPING, OVERLAPPING))


def check(family: Family) -> Iterator[Relation]:
    """`Z` by prefix, the constant path product, and both laws."""
    composed = compose(family, "strict")
    z = composed.normalizer
    yield fact("Z = 5/4 at step 2 if y_1 = 0, 1 if y_1 = 1", (z[0,], z[1,]) == (Fraction(5, 4), 1))
    late = {z[h] for h in ((1, 0), (1, 1))}
    yield fact("Z = 5/4 at step 3 if y_1 = 1, 1 if y_1 = 0", late == {Fraction(5, 4)} and z[0, 0] == z[0, 1] == 1)
    products = {z[y[:0]] * z[y[:1]] * z[y[:2]] for y in composed.local}
    yield equal("e^S = 5/4 on every path", products, {Fraction(5, 4)})
    yield equal("P_G = P_L", composed.global_, composed.local)
    yield equal("verify(): local_equals_global is about every prefix", verdicts(family)["local_equals_global"], True)


STATEMENTS = (
    Statement(
        number="1.7",
        kind="counterexample",
        sentence="local and global composition can agree although Z depends on the prefix",
        equation="Z = 5/4 once on every path, at step 2 if y_1 = 0, at step 3 if y_1 = 1: P_G = P_L",
        cases=constant(FAMILY),
        check=check,
        controls=(Control("once on every path", lambda draw: common_support(draw, Shape(2, 3, 2, zeros=False))),),
    ),
)
