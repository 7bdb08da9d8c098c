"""Remark 4.7 (toy task): letter substitution, where masks say more than intervals."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family, Kernel
from proofs_checks.definitions.laws import Row, law_of, prefixes
from proofs_checks.definitions.masks import factorized_conditionals
from proofs_checks.definitions.operator import compose
from proofs_checks.definitions.skills import active, deviating, pointwise_joint, switching
from proofs_checks.library import verdicts
from proofs_checks.statement import Control, Relation, Statement, equal, fact

LETTERS = "ABCD"
SUBSTITUTED = {"A": "B", "C": "D"}


@dataclass(frozen=True)
class Task:
    """A prompt of As and Cs, and the noise: every wrong letter has probability `noise`."""

    prompt: str
    noise: Fraction

    def kernel(self, changes: str) -> Kernel:
        """Copies the prompt, and substitutes the letters in `changes`."""

        def row(letter: str) -> Row:
            wanted = SUBSTITUTED[letter] if letter in changes else letter
            return tuple(1 - 3 * self.noise if one == wanted else self.noise for one in LETTERS)

        return {h: row(self.prompt[len(h)]) for h in prefixes(len(LETTERS), len(self.prompt))}

    @property
    def family(self) -> Family:
        masks = tuple(tuple(t for t, one in enumerate(self.prompt) if one == letter) for letter in "AC")
        experts = (self.kernel("A"), self.kernel("C"))
        return Family(len(LETTERS), len(self.prompt), self.kernel(""), experts, masks)


def task(draw: Draw) -> Task:
    """One to three letters; `0 < noise < 1/4`."""
    prompt = "".join(draw.pick("AC") for _ in range(draw.integer(1, 3)))
    return Task(prompt, Fraction(1, draw.integer(5, 40)))


def check(instance: Task) -> Iterator[Relation]:
    """Masks, intervals, exactness and success."""
    family, noise, length = instance.family, instance.noise, len(instance.prompt)
    composed = compose(family, "strict")
    yield fact("the masks of the prompt satisfy FC", factorized_conditionals(family))
    yield equal("P^ = S", composed.local, law_of(switching(family, composed.reachable), family.size, family.length))
    target = tuple(LETTERS.index(SUBSTITUTED[letter]) for letter in instance.prompt)
    yield equal("success (1-3e)^T", composed.local[target], (1 - 3 * noise) ** length)
    found = [deviating(e, family.background, composed.reachable) for e in family.experts]
    joint = pointwise_joint([active(one, family.size, length) for one in found])
    interleaved = instance.prompt in ("ACA", "CAC")
    yield equal("JF-int fails iff the letters interleave", joint, not interleaved)


def check_shipped(instance: Task) -> Iterator[Relation]:
    """The library, of the three prompts."""
    says = verdicts(instance.family, "strict")
    claims = says["factorized_conditionals"], says["projective"], says["interval_joint"]
    joint = instance.prompt not in ("ACA", "CAC")
    yield equal("verify(): FC and projective hold, interval_joint as the letters are", claims, (True, True, joint))
    yield from check(instance)


def task_without_noise_of_its_own(draw: Draw) -> Task:
    """So noisy that no expert deviates."""
    return Task("ACA", Fraction(1, 4))


def check_intervals_only(instance: Task) -> Iterator[Relation]:
    """False: exactness needs disjoint intervals."""
    family = instance.family
    composed = compose(family, "strict")
    found = [deviating(e, family.background, composed.reachable) for e in family.experts]
    exact = composed.local == law_of(switching(family, composed.reachable), family.size, family.length)
    joint = pointwise_joint([active(one, family.size, family.length) for one in found])
    yield equal("P^ = S iff JF-int", exact, joint)


STATEMENTS = (
    Statement(
        number="4.7",
        kind="remark",
        sentence="letter substitution factorizes by masks and composes exactly, also where its intervals overlap",
        equation="A -> B, C -> D with noise e: FC with M_i(x), P^ = S, success (1-3e)^T; JF-int fails for ACA and CAC",
        hypotheses=("0 < e < 1/4",),
        draw=task,
        check=check,
        controls=(
            Control("masks: intervals instead", task, check_intervals_only),
            Control("e < 1/4", task_without_noise_of_its_own),
        ),
        weight=8,
    ),
    Statement(
        number="4.7 prompts",
        kind="remark",
        sentence="of AAC, ACA and CAC the library says so",
        equation="success (1-3e)³, e = 1/30",
        cases=lambda: (Task(prompt, Fraction(1, 30)) for prompt in ("AAC", "ACA", "CAC")),
        check=check_shipped,
        controls=(Control("e < 1/4", task_without_noise_of_its_own),),
    ),
)
