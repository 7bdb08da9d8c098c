"""What `doctor` finds: each trouble that a model can bring, with its severity, consequence and cure; and none where
there is none."""

import random
from fractions import Fraction

import numpy as np
import pytest

from factorcomp.certificates.claims import Verdict
from factorcomp.diagnosis import doctor
from factorcomp.models.errors import InputError
from factorcomp.models.finite_state import FiniteStateModel
from factorcomp.models.function import FunctionModel
from factorcomp.models.tabular import Source, TabularModel
from factorcomp.verdicts import Diagnosis, Finding
from factorcomp.verification import verify
from tests import small_automata
from tests.automata import random_automata

AB = ["a", "b"]
COIN = ["1/2", "1/2"]
BENT = ["1/4", "3/4"]


def table(*steps: list, vocabulary: list[str] | None = None, eos: str | None = None) -> TabularModel:
    return TabularModel.from_probabilities(list(steps), vocabulary or AB, eos)


def floats(steps: list, kind: type = np.float64) -> TabularModel:
    return TabularModel.from_log_probs([np.asarray(rows, dtype=kind) for rows in steps], AB)


def finding(diagnosis: Diagnosis, subject: str) -> Finding:
    """The one finding on `subject`."""
    (found,) = [finding for finding in diagnosis.findings if finding.subject == subject]
    return found


def subjects(diagnosis: Diagnosis, severity: str) -> list[str]:
    return [finding.subject for finding in diagnosis.findings if finding.severity == severity]


FAIR = table(COIN, [COIN, COIN])
UP = table(BENT, [COIN, COIN])
DOWN = table(COIN, [COIN, BENT])


def test_nothing_is_in_the_way_of_healthy_models():
    diagnosis = doctor(FAIR, {"up": UP, "down": DOWN})
    assert not diagnosis.blocked
    assert {finding.severity for finding in diagnosis.findings} == {"fine"}
    assert finding(diagnosis, "up against the background").found.startswith("deviates at 1 of 3 reachable prefixes")
    assert "COMPOSABLE: nothing is in the way of composing up and down" in str(diagnosis)


def test_other_tokens_block_and_are_named():
    diagnosis = doctor(FAIR, {"up": table(BENT, vocabulary=["a", "c"])})
    assert diagnosis.blocked
    found = finding(diagnosis, "vocabulary of up")
    assert found.severity == "blocks"
    assert "lacks 'b'" in found.found
    assert "has 'c'" in found.found
    assert found.consequence
    assert found.cure


def test_another_order_of_tokens_is_aligned():
    """An expert that is the background with its tokens in another order is the background."""
    background = table(BENT)
    diagnosis = doctor(background, {"same": table(["3/4", "1/4"], vocabulary=["b", "a"])})
    assert "same in another order" in finding(diagnosis, "vocabulary").found
    assert subjects(diagnosis, "matters") == ["same against the background"]


def test_another_eos_blocks():
    diagnosis = doctor(FAIR, {"up": table(BENT, eos="b")})
    assert subjects(diagnosis, "blocks") == ["EOS"]
    assert "the background has none, up 'b'" in finding(diagnosis, "EOS").found


@pytest.mark.parametrize(
    ("length", "expert", "blocked", "cure"),
    [
        (None, table(BENT), True, "--length 1"),
        (1, table(BENT), False, ""),
        (3, UP, True, "--length 2"),
        (0, UP, False, ""),
    ],
)
def test_horizons(length, expert, blocked, cure):
    found = finding(doctor(FAIR, {"up": expert}, length=length), "horizon")
    assert (found.severity == "blocks") == blocked
    assert cure in found.cure


def test_renormalised_rows_are_told():
    noted = TabularModel(UP.vocabulary, UP.steps, source=Source("up.json", None, ("up.json: 1 row renormalised",)))
    assert finding(doctor(FAIR, {"up": noted}), "normalisation").found == "up.json: 1 row renormalised"


def test_numbers_of_few_digits_matter():
    """A background and an expert in float32, whose second step was to be the background's and is so up to rounding."""
    half, near_half = np.log([0.5, 0.5]), np.log([0.5, 0.5]) + np.array([1e-7, -1e-7])
    base = floats([half, [half, half]], np.float32)
    near = floats([np.log([0.25, 0.75]), [near_half, half]], np.float32)
    diagnosis = doctor(base, {"up": near})
    assert subjects(diagnosis, "matters") == ["numbers", "rounding in up"]
    assert finding(diagnosis, "numbers").found == "float32 in every model"
    rounding = finding(diagnosis, "rounding in up")
    assert rounding.found.startswith("1 row within 2.4e-07 nats of the background")
    threshold = float(rounding.cure.split("--threshold ")[1])
    assert 1e-7 < threshold < 1e-6


def test_fractions_beside_floats_matter():
    third = floats([np.log([1 / 3, 2 / 3])])
    diagnosis = doctor(table(["1/3", "2/3"]), {"up": third})
    assert "background exact fractions, up float64" in finding(diagnosis, "numbers").found
    assert finding(diagnosis, "rounding in up").severity == "matters"


OPENS = table(COIN)
CLOSED = table([1, 0])


@pytest.mark.parametrize(("convention", "severity"), [("cancel", "matters"), ("drop", "matters"), ("strict", "blocks")])
def test_a_token_that_one_expert_opens(convention, severity):
    diagnosis = doctor(CLOSED, {"up": OPENS, "down": CLOSED}, null_tokens=convention)
    found = finding(diagnosis, "support of up")
    assert found.severity == severity
    assert "once; first 'b' at the start" in found.found


@pytest.mark.parametrize(("convention", "blocked"), [("cancel", True), ("drop", False), ("strict", True)])
def test_a_token_that_two_experts_open(convention, blocked):
    diagnosis = doctor(CLOSED, {"up": OPENS, "down": OPENS}, null_tokens=convention)
    assert diagnosis.blocked == blocked
    assert ("support of several experts" in subjects(diagnosis, "blocks")) == (convention == "cancel")


def test_a_dead_prefix_blocks():
    """Lemma 1.4, the smallest: after `b` one expert insists on `a`, the other on `b`."""
    diagnosis = doctor(FAIR, {"up": table(COIN, [COIN, [1, 0]]), "down": table(COIN, [COIN, [0, 1]])})
    assert subjects(diagnosis, "blocks") == ["dead prefixes"]
    assert "once at reachable prefixes; first after 'b'" in finding(diagnosis, "dead prefixes").found


def test_what_cannot_be_reached_does_not_block():
    """The same, where no model ever says `b`: only the scope `all` would meet it."""
    only_a = [1, 0]
    diagnosis = doctor(
        table(only_a, [COIN, COIN]),
        {"up": table(only_a, [COIN, [1, 0]]), "down": table(only_a, [COIN, [0, 1]])},
    )
    assert not diagnosis.blocked
    assert "prefixes that the composition cannot reach" in subjects(diagnosis, "matters")


def test_an_opened_token_is_reached_under_cancel_only():
    """After the token that `up` opens, `down` and `up` leave nothing."""
    background = table([1, 0], [COIN, COIN])
    experts = {"up": table(COIN, [COIN, [1, 0]]), "down": table([1, 0], [COIN, [0, 1]])}
    assert doctor(background, experts, null_tokens="cancel").blocked
    assert not doctor(background, experts, null_tokens="drop").blocked


def test_nothing_is_reached_below_an_undefined_prefix():
    """Under `strict` the composition ends where `up` opens a token: the empty prefix is all that is looked at."""
    background, up = table([1, 0], [COIN, COIN]), table(COIN, [BENT, BENT])
    assert (
        "1 of 1 reachable"
        in finding(doctor(background, {"up": up}, null_tokens="strict"), "up against the background").found
    )
    assert (
        "3 of 3 reachable"
        in finding(doctor(background, {"up": up}, null_tokens="cancel"), "up against the background").found
    )


def test_an_expert_that_is_the_background():
    diagnosis = doctor(FAIR, {"up": UP, "same": FAIR})
    assert subjects(diagnosis, "matters") == ["same against the background"]


def test_experts_that_are_the_same():
    diagnosis = doctor(FAIR, {"up": UP, "again": UP, "down": DOWN})
    assert subjects(diagnosis, "matters") == ["up and again"]


def test_trained_models_agree_nowhere_and_the_quantiles_say_by_how_much():
    rng = np.random.default_rng(0)

    def trained() -> TabularModel:
        logits = [rng.normal(size=(2**length, 2)) for length in range(4)]
        return floats([rows - np.log(np.exp(rows).sum(1, keepdims=True)) for rows in logits])

    diagnosis = doctor(trained(), {"up": trained(), "down": trained()})
    found = finding(diagnosis, "agreement with the background")
    assert found.severity == "matters"
    assert "up and down deviate at every one of 15 reachable prefixes" in found.found
    assert "--threshold" in found.cure
    assert "median" in finding(diagnosis, "up against the background").found


def test_what_comes_after_eos_is_not_counted():
    """Three prefixes of two tokens contain EOS or not: only the empty one and `a` are looked at."""
    ended = [0, 1]
    background = table(COIN, [COIN, ended], eos="b")
    diagnosis = doctor(background, {"up": table(BENT, [BENT, ended], eos="b")})
    assert "2 of 2 reachable prefixes" in finding(diagnosis, "up against the background").found


def test_a_function_needs_a_length():
    coin = FunctionModel(lambda prefixes: np.full((len(prefixes), 2), np.log(0.5)), ("a", "b"))
    with pytest.raises(InputError, match="length: got none, and functions have no horizon"):
        doctor(coin, {"up": coin})
    assert finding(doctor(coin, {"up": coin}, length=3), "horizon").found == "3 tokens"
    assert finding(doctor(FAIR, {"up": coin}), "horizon").found == "2 tokens"


def test_no_experts():
    with pytest.raises(InputError, match="no experts: got none"):
        doctor(FAIR, {})


def small(*names: str) -> dict[str, FiniteStateModel]:
    return {name: small_automata.model(name) for name in names}


BASE = small_automata.model("base")


def test_finite_state_models_are_looked_at_for_every_length():
    """By the states that the composition reaches: the toss that is bent, the next one, and all others."""
    diagnosis = doctor(BASE, small("start", "second"))
    assert {finding.severity for finding in diagnosis.findings} == {"fine"}
    assert finding(diagnosis, "horizon").found == "every length: all models are finite-state"
    assert finding(diagnosis, "start against the background").found.startswith("deviates at 1 of 3 reachable states")
    assert "no state is dead" in finding(diagnosis, "support").found


@pytest.mark.parametrize(
    ("length", "states", "horizon"),
    [(0, "0 of 0 reachable states", "0 tokens"), (1, "1 of 1 reachable state;", "1 token"), (9_999, "1 of 2", "9,999")],
)
def test_finite_state_models_are_looked_at_up_to_a_length(length, states, horizon):
    diagnosis = doctor(BASE, small("start"), length=length)
    assert states in finding(diagnosis, "start against the background").found
    assert finding(diagnosis, "horizon").found.startswith(horizon)


@pytest.mark.parametrize("length", [None, 3])
def test_a_gap_that_the_composition_reaches_blocks(length):
    """After `b`, which the expert opens under `cancel`, the background has no next state."""
    diagnosis = doctor(small_automata.model("narrow"), small("base"), length=length)
    found = finding(diagnosis, "next states of background")
    assert found.severity == "blocks"
    assert found.found == "background has no next state, once at reachable states; first after 'b'"
    assert "well_defined is UNDECIDED" in found.consequence
    assert '"next"' in found.cure


def test_a_gap_in_a_table_blocks_too():
    """The same beside a table of two tokens: prefixes are counted."""
    diagnosis = doctor(small_automata.model("narrow"), {"up": FAIR})
    found = finding(diagnosis, "next states of background")
    assert found.found == "background has no next state, once at reachable prefixes; first after 'b'"
    assert finding(diagnosis, "up against the background").found.startswith("deviates at 2 of 2 reachable prefixes")
    assert not doctor(small_automata.model("narrow"), {"up": FAIR}, null_tokens="drop").blocked


@pytest.mark.parametrize("expert", [small_automata.model("narrow"), small_automata.model("narrow").tabulate(2)])
def test_a_gap_that_cannot_be_reached_matters_only(expert):
    """The composition never says `b`: one state there, one prefix."""
    diagnosis = doctor(BASE, {"narrow": expert}, length=2)
    assert not diagnosis.blocked
    (subject,) = subjects(diagnosis, "matters")
    assert "that the composition cannot reach" in subject
    assert finding(diagnosis, subject).found.startswith("1 place there")


@pytest.mark.parametrize(("convention", "blocked"), [("cancel", True), ("drop", False), ("strict", True)])
def test_a_token_that_two_finite_state_experts_open(convention, blocked):
    diagnosis = doctor(small_automata.model("only_a"), {"one": BASE, "two": BASE}, null_tokens=convention)
    assert diagnosis.blocked == blocked
    assert "first 'b' at the start" in finding(diagnosis, "support of one").found
    assert ("support of several experts" in subjects(diagnosis, "blocks")) == (convention == "cancel")


def test_a_dead_state_blocks():
    """One expert says `a` alone, the other `b` alone."""
    diagnosis = doctor(BASE, small("only_a", "only_b"))
    assert subjects(diagnosis, "blocks") == ["dead prefixes"]
    assert "once at reachable states; first at the start" in finding(diagnosis, "dead prefixes").found


def test_finite_state_experts_that_add_nothing_or_the_same():
    diagnosis = doctor(BASE, small("even") | {"again": small_automata.model("even"), "same": BASE})
    assert subjects(diagnosis, "matters") == ["same against the background", "even and again"]
    assert "the same at every reachable state" in finding(diagnosis, "even and again").found


def test_finite_state_experts_that_deviate_everywhere():
    """One state is every prefix: there is nothing to be alone at."""
    one = {"up": build_one("1/4"), "down": build_one("1/3")}
    found = finding(doctor(BASE, one), "agreement with the background")
    assert "up and down deviate at the one state that there is" in found.found
    assert "--threshold" in found.cure


def build_one(share: str) -> FiniteStateModel:
    row = {"a": share, "b": str(1 - Fraction(share))}
    return FiniteStateModel.from_states({"s": small_automata.on(row, "s")}, AB, "s")


def test_a_state_after_the_end_is_not_counted():
    diagnosis = doctor(small_automata.model("ending"), small("hurried"))
    assert "deviates at 1 of 1 reachable state;" in finding(diagnosis, "hurried against the background").found


def test_finite_state_rows_that_differ_by_rounding_matter():
    near = FiniteStateModel.from_states({"s": small_automata.on({"a": 0.5000001, "b": 0.4999999}, "s")}, AB, "s")
    found = finding(doctor(BASE, {"near": near}), "rounding in near")
    assert found.found.startswith("1 state within 4.0e-07 nats of the background's")
    assert 4e-7 < float(found.cure.split("--threshold ")[1]) < 1e-6


def test_other_tokens_in_another_order_are_aligned_in_automata():
    mirrored = FiniteStateModel.from_states({"s": small_automata.on({"a": "1/2", "b": "1/2"}, "s")}, ["b", "a"], "s")
    diagnosis = doctor(BASE, {"same": mirrored})
    assert "same in another order" in finding(diagnosis, "vocabulary").found
    assert subjects(diagnosis, "matters") == ["same against the background"]


SEEDS = range(12)


def random_models(seed: int):
    return random_automata(random.Random(seed), ("free", "opening", "constrained")).models()


@pytest.mark.parametrize("convention", ["cancel", "drop", "strict"])
@pytest.mark.parametrize("seed", SEEDS)
def test_what_blocks_is_what_makes_the_composition_undefined(seed, convention):
    """`doctor` is in the way exactly where `well_defined` is REFUTED."""
    background, experts = random_models(seed)
    report = verify(background, experts, length="every", null_tokens=convention)
    refuted = report["well_defined"].verdict is Verdict.REFUTED
    assert doctor(background, experts, null_tokens=convention).blocked == refuted


@pytest.mark.parametrize("length", [1, 3])
@pytest.mark.parametrize("seed", SEEDS)
def test_states_and_prefixes_say_the_same(seed, length):
    """The walks over states and over prefixes share no code: the same things are in the way, with the same prefixes."""
    background, experts = random_models(seed)
    tables = {name: expert.tabulate(length) for name, expert in experts.items()}
    by_states = doctor(background, experts, length=length, null_tokens="strict")
    by_prefixes = doctor(background.tabulate(length), tables, length=length, null_tokens="strict")
    assert subjects(by_states, "blocks") == subjects(by_prefixes, "blocks")
    for subject in subjects(by_states, "blocks"):
        first, second = (
            finding(diagnosis, subject).found.split("; first ")[1] for diagnosis in (by_states, by_prefixes)
        )
        assert first == second


def test_the_random_models_are_blocked_at_times():
    """The tests above compare something: some of their instances are in the way, some are not."""
    assert {doctor(*random_models(seed), null_tokens="strict").blocked for seed in SEEDS} == {True, False}
