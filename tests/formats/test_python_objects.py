"""`python:module:attribute`: whatever can be taken for a model is one, and anything else is told how to become one."""

import sys

import numpy as np
import pytest

from factorcomp.formats import load
from factorcomp.models.errors import InputError
from factorcomp.models.function import FunctionModel
from factorcomp.models.tabular import TabularModel

MODULE = """
import jax.numpy as jnp
from factorcomp.models.function import FunctionModel
from factorcomp.models.tabular import TabularModel

def half(prefixes):
    return jnp.full((len(prefixes), 2), jnp.log(0.5))

half.vocabulary = ["a", "b"]

def ending(prefixes):
    return half(prefixes)

ending.vocabulary, ending.eos = ("a", "b"), "b"

class Coin:
    vocabulary = ["a", "b"]

    def __call__(self, prefixes):
        return half(prefixes)

class Box:
    coin = Coin()

table = TabularModel.from_probabilities([["1/2", "1/2"]], ["a", "b"])
function = FunctionModel(half, ("a", "b"))
number = 3

def bare(prefixes):
    return half(prefixes)

def twice(prefixes):
    return half(prefixes)

twice.vocabulary = ["a", "a"]
"""


@pytest.fixture(autouse=True)
def module(tmp_path, monkeypatch):
    """A module of the user's in the current directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    (tmp_path / "users_models.py").write_text(MODULE)
    (tmp_path / "users_broken.py").write_text("raise RuntimeError('no weights here')")
    (tmp_path / "users_exit.py").write_text("raise SystemExit(3)")
    (tmp_path / "users_syntax.py").write_text("def")
    yield
    for name in [name for name in sys.modules if name.startswith("users_")]:
        del sys.modules[name]


@pytest.mark.parametrize("attribute", ["half", "ending", "function", "Box.coin"])
def test_functions_and_callables_are_function_models(attribute):
    name = f"python:users_models:{attribute}"
    model = load(name)
    assert isinstance(model, FunctionModel)
    assert (model.source.name, model.source.sha256) == (name, None)
    assert model.eos == ("b" if attribute == "ending" else None)
    rows = model.tabulate(2).steps[1].log_probs(0, 1)
    np.testing.assert_allclose(rows, np.log([[0.5, 0.5]]), atol=1e-7)


def test_a_table_is_a_table():
    model = load("python:users_models:table")
    assert isinstance(model, TabularModel)
    assert model.source.name == "python:users_models:table"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("python:", "needed python:module:attribute, such as python:my_models:base"),
        ("python:users_models", "needed python:module:attribute"),
        ("python:users_models:a:b", "needed python:module:attribute"),
        ("python:users_gone:x", "ModuleNotFoundError: No module named 'users_gone'"),
        ("python:.relative:x", "python:.relative:x: "),
        ("python:users_models:gone", "AttributeError: module 'users_models' has no attribute 'gone'"),
        ("python:users_broken:x", "python:users_broken:x: RuntimeError: no weights here"),
        ("python:users_exit:x", "SystemExit: 3"),
        ("python:users_syntax:x", "SyntaxError: "),
        (
            "python:users_models:number",
            r"found a int; needed a TabularModel, a FunctionModel, or a function with a vocab",
        ),
        (
            "python:users_models:bare",
            r"found a function without a vocabulary; (.|\n)*model\.vocabulary = \[\"a\", \"b\"\]",
        ),
        ("python:users_models:Coin", "found a class; needed"),
        ("python:users_models:twice", 'users_models:twice: vocabulary: found "a" at 0 and 1; needed each token once'),
    ],
)
def test_what_is_no_model_is_refused(name, message):
    with pytest.raises(InputError, match=message):
        load(name)
