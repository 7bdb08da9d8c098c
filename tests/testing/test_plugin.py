"""One short test file and the plugin: names of tests, options, what a failure prints, excuses; and what it costs."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import factorcomp.testing

pytest_plugins = ["pytester"]
ROOT = Path(__file__).parents[2]

HEAD = """
import factorcomp.testing
from tests.testing import composers, models
"""


@pytest.fixture
def run(pytester, monkeypatch):
    """Runs a test file with the plugin, in a process of its own: NumPy cannot be imported twice in one."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    def run_file(text, *options):
        pytester.makepyfile(HEAD + textwrap.dedent(text))
        return pytester.runpytest_subprocess("-p", "pytest_factorcomp", "-p", "no:cacheprovider", *options)

    return run_file


def composer(name, more=""):
    return f"""
    class TestMine(factorcomp.testing.ComposerLaws):
        composer = staticmethod(composers.{name})
        {more}
    """


@pytest.mark.parametrize(
    ("name", "law", "lines"),
    [
        (
            "dividing_by_the_sum_of_weights",
            "neutral_expert",
            [
                "neutral_expert is broken: an expert equal to the background changes nothing (1.1)",
                "  after *: got log p('?') = -*; needed -*",
                "  off by *; tolerated *e-1?, because float64 rounds by 2 eps *",
                "  background  a *",
            ],
        ),
        (
            "sharing_one_cache",
            "caches_apart",
            [
                "caches_apart is broken: decoding step by step, sequences in turn, changes nothing (1.1)",
                "  after '* *': got log p('?') = -*; needed -*",
            ],
        ),
        (
            "in_half_precision",
            "normalised",
            [
                "normalised is broken: rows sum to 1, without NaN, and 0 is a real -inf (1.1)",
                "  after *: got probabilities that sum to *; needed 1",
                "  off by *; tolerated *e-1?, because float64 rounds by *",
            ],
        ),
    ],
)
def test_a_wrong_composer_fails_the_test_of_its_law(run, name, law, lines):
    result = run(composer(name), "-k", law, "-rf")
    result.assert_outcomes(failed=1, deselected=13)
    result.stdout.fnmatch_lines([*lines, f"FAILED *::TestMine::test_law[[]{law}[]]*"])
    assert "Traceback" not in result.stdout.str()
    assert "Falsifying" not in result.stdout.str()


def test_a_right_composer_passes_one_test_for_each_law(run):
    result = run(composer("by_logits"), "--factorcomp-examples", "2")
    result.assert_outcomes(passed=14)


def test_declarations_skip_with_their_reason(run):
    result = run(composer("by_logits", "zeros = weighted = False"), "-k", "support or monotone", "-rs")
    result.assert_outcomes(skipped=2, deselected=12)
    result.stdout.fnmatch_lines(["*the composer declares that it takes no tokens of probability 0*"])


def test_options_are_taken(run):
    options = ["-k", "normalised", "--factorcomp-examples", "5", "--factorcomp-dtype", "float16"]
    run(composer("in_half_precision", "zeros = False"), *options).assert_outcomes(passed=1, deselected=13)
    options = ["-k", "normalised", "--factorcomp-examples", "5", "--factorcomp-tolerance", "0.1"]
    run(composer("in_half_precision", "zeros = False"), *options).assert_outcomes(passed=1, deselected=13)


@pytest.mark.parametrize("option", [("examples", "0"), ("examples", "many"), ("tolerance", "nan"), ("tolerance", "-1")])
def test_options_are_checked(run, option):
    name, value = option
    result = run(composer("by_logits"), f"--factorcomp-{name}={value}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*--factorcomp-{name}: invalid * value: '{value}'*"])


def test_an_excuse_needs_a_reason_to_be(run):
    excuse = 'excused = {"monotone_weight": "weights are fixed", "%s": "no"}'
    wrong = run(composer("ignoring_weights", excuse % "known_answer"), "-k", "monotone", "-rx")
    wrong.assert_outcomes(xfailed=1, deselected=13)
    wrong.stdout.fnmatch_lines(["*weights are fixed*"])
    options = ["-k", "identity", "--factorcomp-examples", "3"]
    right = run(composer("by_logits", excuse % "identity"), *options)
    right.assert_outcomes(failed=1, deselected=13)
    right.stdout.fnmatch_lines(["identity is excused (no), and was not broken: remove the excuse"])
    run(composer("by_logits", excuse % "identiti"), *options).stdout.fnmatch_lines(
        ["excused: got identiti; needed names of laws: *"]
    )


def test_a_class_without_a_composer_or_a_model_says_what_it_needs(run):
    result = run("class TestMine(factorcomp.testing.ComposerLaws): ...", "-k", "identity")
    result.stdout.fnmatch_lines(["TestMine: found no composer; needed `composer = staticmethod(…)`"])
    result = run("class TestMine(factorcomp.testing.ModelLaws): ...", "-k", "normalised")
    result.stdout.fnmatch_lines(["TestMine: found no model; needed `model = …`"])


def test_a_wrong_model_fails_the_test_of_its_law(run):
    text = """
    class TestMine(factorcomp.testing.ModelLaws):
        model = models.SeesTheFuture()
        dtype = "float64"
    """
    result = run(text, "-rf", "--factorcomp-examples", "10")
    result.assert_outcomes(failed=1, passed=5)
    result.stdout.fnmatch_lines(
        ["causal is broken: a row along a sequence is that of the tokens before it", "FAILED *test_law[[]causal[]]*"]
    )


def test_the_smallest_case_is_found(run):
    """One step, one expert that deviates nowhere else: nothing that the failure does not need."""
    result = run(composer("dividing_by_the_sum_of_weights"), "-k", "monotone_weight")
    result.stdout.fnmatch_lines(["  after the empty prefix: *"])


def loaded(statement):
    code = f"import sys; {statement}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_the_plugin_imports_nothing():
    assert not {"factorcomp", "jax", "numpy", "hypothesis"} & loaded("import pytest_factorcomp")


def test_the_kit_is_lazy_and_needs_no_jax():
    assert not {"jax", "numpy", "hypothesis", "pytest"} & loaded("import factorcomp.testing")
    names = loaded("from factorcomp.testing import check_composer, check_model, Component")
    assert "numpy" in names
    assert not {"jax", "hypothesis", "pytest"} & names
    names = loaded("from factorcomp.testing import ComposerLaws, families_of, near_misses_of")
    assert {"hypothesis", "pytest"} <= names
    assert "jax" not in names


@pytest.mark.parametrize(("name", "missing"), [("ComposerLaws", "pytest"), ("families_of", "hypothesis")])
def test_a_missing_package_is_named_with_the_extra(name, missing):
    code = f"import sys; sys.modules[{missing!r}] = None; import factorcomp.testing; factorcomp.testing.{name}()"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    needed = f"factorcomp.testing.{name} needs {missing}, which is not installed: pip install factorcomp[testing]"
    assert needed in run.stderr


def test_every_public_name_is_there():
    assert all(getattr(factorcomp.testing, name) for name in factorcomp.testing.__all__)
    assert factorcomp.testing.__all__ == sorted(factorcomp.testing.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        factorcomp.testing.nothing  # noqa: B018
