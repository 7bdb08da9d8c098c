"""The ideal models of skill_segments against the grammar read literally off the text, and what is proved of them."""

import doctest
import re
from fractions import Fraction

import numpy as np
import pytest

from factorcomp import FiniteStateModel, check, compose, save, verify
from factorcomp.cli import main
from toy_tasks.skill_segments import grammar, ideal, reading, texts
from toy_tasks.skill_segments.grammar import EOS, FILLER, SKILLS, VARIANTS, Grammar, ideals

HALF, ONE = Fraction(1, 2), Fraction(1)


def literal_row(text: str, variant: str, skill: str | None, digits: int, longest: int) -> dict[str, Fraction]:
    """What comes next after `text` by the words of the task: regular expressions on all that was written.

    What is closed is cut out; what is left shows whether a segment is open, and which.
    """
    bar = "" if variant == "feeding" else r"\|\d+"
    rest = re.sub(rf"\[\d+{bar}\]", "", text)
    squares, rounds = text.count("["), text.count("(")
    uniform = {str(digit): Fraction(1, digits) for digit in range(digits)}

    def grown(written: str, end: str) -> dict[str, Fraction]:
        if not written:
            return uniform
        return {digit: share * HALF for digit, share in uniform.items()} | {end: HALF}

    if "[" in rest:
        inside = rest[rest.index("[") + 1 :]
        if variant == "feeding":
            string, answer = re.findall(r"\(((?:\d\d)+)\)", rest)[0][1::2][-longest:], inside
        elif "|" in inside:
            string, answer = inside.split("|")
        else:
            return {"|": ONE} if len(inside) == longest else grown(inside, "|")
        row = grown(answer, "]")
        if skill == "square":
            return {string[::-1][len(answer)] if len(answer) < len(string) else "]": ONE}
        return row
    opened = re.sub(r"\(\d+\)", "", rest)
    if "(" in opened:
        inside = opened[opened.index("(") + 1 :]
        if len(inside) % 2:
            before = int(inside[-2]) if len(inside) > 1 else 0
            return {str((before + int(inside[-1])) % digits): ONE} if skill == "round" else uniform
        if not inside:
            return uniform
        if variant == "nested" and not squares:
            return {digit: share / 4 for digit, share in uniform.items()} | {")": HALF / 2, "[": HALF}
        return {digit: share * HALF for digit, share in uniform.items()} | {")": HALF}
    may_round = variant == "repeated" or not rounds
    may_square = {
        "plain": not squares,
        "repeated": True,
        "nested": False,
        "feeding": rounds and not squares,
    }[variant]
    weights = {"(": 3 if may_round else 0, "[": 3 if may_square else 0, FILLER: 1, EOS: 1}
    return {token: Fraction(weight, sum(weights.values())) for token, weight in weights.items() if weight}


def row_after(model: FiniteStateModel, text: str) -> dict[str, Fraction]:
    tokens = [model.vocabulary.index(token) for token in text]
    factors = model.rows.exact(model.path(tokens)[-1]).factors
    return {token: share for token, share in zip(model.vocabulary, factors, strict=True) if share}


@pytest.mark.parametrize("module", [grammar, reading, texts, ideal])
def test_the_documentation(module):
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("digits", "longest", "length"), [(2, 2, 9), (3, 1, 6)])
def test_every_row_is_the_one_that_the_text_itself_says(variant, digits, longest, length):
    """p(y | h) from the state = p(y | h) from the whole text, for every possible text up to a length."""
    described = Grammar(variant, digits, longest)
    background, experts = ideals(described)
    models = {None: background, **experts}
    level = [""]
    for _ in range(length):
        for text in level:
            for skill, model in models.items():
                assert row_after(model, text) == literal_row(text, variant, skill, digits, longest), (text, skill)
        following = [
            text + token
            for text in level
            for token in literal_row(text, variant, None, digits, longest)
            if token != EOS
        ]
        level = following[:: max(1, len(following) // 3000)]


def test_a_token_that_the_format_does_not_allow_is_an_error():
    with pytest.raises(ValueError, match=r"'\]' cannot follow in '\( 1 \]'; needed one of \['0', '1', '2'\]"):
        Grammar("plain").after([*"(1]"])
    with pytest.raises(ValueError, match="cannot follow where the state is opened"):
        Grammar("plain").next(Grammar("plain").after(["("]), "E")


@pytest.mark.parametrize(
    ("variant", "interval", "witness"),
    [
        ("plain", "HOLDS", None),
        ("repeated", "REFUTED", "( 0 0 ) [ 0 |"),
        ("nested", "REFUTED", "( 0 0 [ 0 |"),
        ("feeding", "HOLDS", None),
    ],
)
def test_theorems_7_3_and_7_4_on_the_ideal_models(variant, interval, witness):
    """Every variant is pointwise joint at every length; intervals meet where a skill comes back or encloses."""
    report = ideal.proved(variant)
    assert {str(report[claim].verdict) for claim in ("well_defined", "pointwise_joint", "terminates")} == {"HOLDS"}
    assert report["interval_joint"].verdict == interval
    found = report["interval_joint"].witness
    assert (None if found is None else " ".join(found.prefix)) == witness
    if found is not None:
        deviating, active = report.deviating(found.prefix), report.active(found.prefix)
        assert (deviating, active) == (("square",), ("round", "square"))


def test_two_experts_of_one_skill_are_refuted():
    """The negative control: both deviate where a sum is due."""
    described = Grammar("plain")
    background, experts = ideals(described)
    twice = verify(background, {"round": experts["round"], "again": experts["round"]}, length="every")
    assert twice["pointwise_joint"].verdict == "REFUTED"
    assert twice["pointwise_joint"].witness.prefix == ("(", "0")


def test_the_composition_is_always_right_and_the_background_rarely():
    described = Grammar("repeated")
    background, experts = ideals(described)
    random = np.random.default_rng(0)

    def rate(model: FiniteStateModel) -> dict[str, float]:
        spelled = texts.spelled(texts.draw(model, 400, 40, random), described.vocabulary)
        readings = [reading.read(text, described) for text in spelled]
        assert all(found.broken is None for found in readings)
        done = [segment for found in readings for segment in found.segments if segment.closed is not None]
        return {skill: float(np.mean([s.right for s in done if s.kind == skill])) for skill in SKILLS}

    assert rate(compose(background, experts)) == {"round": 1.0, "square": 1.0}
    for skill, other in (SKILLS, SKILLS[::-1]):
        alone = rate(experts[skill])
        assert alone[skill] == 1.0
        assert alone[other] < 0.4
    assert max(rate(background).values()) < 0.4


@pytest.mark.parametrize("variant", ["plain", "feeding"])
def test_the_tasks_own_stopping_times_are_the_canonical_ones(variant):
    """Definition 3.3: [σ1*, σ2*) of an expert = from the first token its skill decides until the segment is closed.

    The canonical interval is the library's: the phases of the product that it explored.
    """
    described = Grammar(variant)
    background, experts = ideals(described)
    report = verify(background, experts, length="every")
    invariant = report.findings.invariant
    drawn = texts.draw(compose(background, experts), 300, 30, np.random.default_rng(1))
    seen = 0
    for text, tokens in zip(texts.spelled(drawn, described.vocabulary), drawn.tolist(), strict=True):
        active = {skill: [] for skill in SKILLS}
        state = 0
        for length, token in enumerate(tokens):
            (phases,) = invariant.phases[state]
            for skill, phase in zip(SKILLS, phases, strict=True):
                if phase == "active":
                    active[skill].append(length)
            if text[length] == EOS:
                break
            state = invariant.next[state][token]
        for segment in reading.read(text, described).segments:
            if segment.interval is not None:
                assert active[segment.kind] == list(range(*segment.interval))
                seen += 1
    assert seen > 200


def test_theorem_5_1_the_uniform_guarantee_is_inherited_and_the_average_is_not():
    """By hand, in fractions: P^(fails) = 3/10 Σ_{d,s} P(d) P_round(s | d) fail(s); alone s is uniform."""
    size, likely = 4, Fraction(97, 100)
    added = [*[(1 - likely) / (size - 1)] * (size - 1), likely]
    fails = {"lapse": [0, 0, 0, 1], "slips": [Fraction(1, 100)] * size}
    slips, entered = Fraction(1, 100), Fraction(1, 2) * Fraction(3, 5)
    for name, failing in fails.items():
        entry = [added[d] * (1 - slips if s == d else slips / (size - 1)) for d in range(size) for s in range(size)]
        alone = [added[d] / size for d in range(size) for s in range(size)]
        composed_fails = sum(mass * failing[place % size] for place, mass in enumerate(entry)) * entered
        alone_fails = sum(mass * failing[place % size] for place, mass in enumerate(alone)) * entered
        found = ideal.guarantee(getattr(ideal, name))
        assert found.fails == pytest.approx(float(composed_fails), abs=1e-12)
        assert found.own_fails == pytest.approx(float(alone_fails), abs=1e-12)
        assert found.failure == pytest.approx(float(max(failing)), abs=1e-12)
        assert found.drift == pytest.approx(
            float(entered / 2 * sum(abs(p - q) for p, q in zip(entry, alone, strict=True)))
        )
        assert found.fails <= found.failure_bound + 1e-12
    data = ideal.drift()
    assert data["lapse"]["succeeds_alone"] == pytest.approx(3 / 4)
    assert data["lapse"]["succeeds_composed"] < 0.04
    assert data["slips"]["succeeds_composed"] == pytest.approx(data["slips"]["succeeds_alone"])


def test_a_text_is_read_as_it_stands():
    described = Grammar("nested")
    outer, inner = reading.read([*"(11[02|20]12)E"], described).segments
    assert (outer.kind, outer.decided, outer.closed, outer.right) == ("round", (2, 11), 13, True)
    assert (inner.kind, inner.interval, inner.right) == ("square", (7, 10), True)
    broken = reading.read([*"(1]"], described)
    assert (broken.broken, broken.segments[0].right) == (2, False)
    assert reading.read([], described) == ((), None)
    wrong = reading.read([*"[02|0]"], Grammar("plain")).segments[0]
    assert (wrong.right, wrong.closed) == (False, 6)
    assert [*map(int, texts.prefixes_to_draw(np.array([[9, 9], [0, 9], [0, 1]]), 9))] == [1, 2, 2]


def test_the_proof_for_every_length_is_checked_again(tmp_path):
    """The certificate of the plain variant's verdict is derived again by the kernel, from the models' files alone."""
    background, experts = ideals(Grammar("plain", digits=2, longest=1))
    paths = {name: tmp_path / f"{name}.json" for name in ("background", *experts)}
    for name, model in {"background": background, **experts}.items():
        save(model, paths[name])
    called = [str(paths["background"]), *(f"{name}={paths[name]}" for name in experts)]
    assert main(["verify", *called, "--every-length", "--certificate", str(proof := tmp_path / "proof.json")]) == 0
    assert check(proof, paths["background"], {name: paths[name] for name in experts}).accepted
    assert not check(proof, paths["background"], {"round": paths["square"], "square": paths["round"]}).accepted
