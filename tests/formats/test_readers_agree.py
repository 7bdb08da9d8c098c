"""The kernel's reader shares no code with this one: both take the same files for models, and read the same rows."""

from fractions import Fraction

import pytest
import safetensors.numpy
from hypothesis import given

from factorcomp.certificates.documents import KernelError
from factorcomp.certificates.reading import read_model
from factorcomp.formats import load, save
from factorcomp.models.finite_state import NOWHERE, FiniteStateModel
from factorcomp.models.tabular import TabularModel
from tests.formats import test_json_automata, test_json_tables, test_safetensors_tables
from tests.formats.test_json_automata import automata
from tests.models.tables import TABLES, rational_tables


@pytest.mark.parametrize("case", test_json_tables.BAD)
def test_the_kernel_refuses_the_same_json_files(case, tmp_path):
    content, _ = test_json_tables.BAD[case]
    (tmp_path / "bad.json").write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(KernelError):
        read_model(tmp_path / "bad.json")


@pytest.mark.parametrize("case", test_json_automata.BAD)
def test_the_kernel_refuses_the_same_finite_state_files(case, tmp_path):
    content, _ = test_json_automata.BAD[case]
    (tmp_path / "bad.json").write_text(content, encoding="utf-8")
    with pytest.raises(KernelError):
        read_model(tmp_path / "bad.json")


@pytest.mark.parametrize("case", test_safetensors_tables.BAD)
def test_the_kernel_refuses_the_same_safetensors_files(case, tmp_path):
    tensors, changed, _ = test_safetensors_tables.BAD[case]
    metadata = {key: value for key, value in (test_safetensors_tables.METADATA | changed).items() if value is not None}
    safetensors.numpy.save_file(tensors, tmp_path / "bad.safetensors", metadata=metadata)
    with pytest.raises(KernelError):
        read_model(tmp_path / "bad.safetensors")


def proportions(row) -> list[Fraction]:
    return [Fraction(entry) / sum(map(Fraction, row)) for entry in row]


@given(given=rational_tables())
def test_both_read_the_same_rows(given, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "agree.json"
    save(TabularModel.from_probabilities(*given), path)
    ours, theirs = load(path), read_model(path)
    assert (ours.vocabulary, ours.eos, ours.horizon) == (theirs.vocabulary, theirs.eos, theirs.horizon)
    for mine, rows in zip(ours.steps, theirs.steps, strict=True):
        assert [list(mine.exact(index).factors) for index in range(len(rows))] == [proportions(row) for row in rows]


@pytest.mark.parametrize("ending", [".json", ".safetensors"])
@pytest.mark.parametrize("scale", TABLES)
def test_both_read_the_same_floats(scale, ending, tmp_path):
    path = tmp_path / f"agree{ending}"
    save(TABLES[scale], path)
    ours, theirs = load(path), read_model(path)
    for mine, rows in zip(ours.steps, theirs.steps, strict=True):
        for index, row in enumerate(rows):
            exact = mine.exact(index)
            if theirs.scale == "probs":
                assert proportions(exact.factors) == proportions(row)
            else:
                assert exact.shifts == tuple(map(Fraction, row))


def test_both_renormalise_decimals_to_the_same_row(tmp_path):
    (tmp_path / "base.json").write_text(test_json_tables.table("[[[0.3333333, 0.6666666]]]"))
    ours, theirs = load(tmp_path / "base.json"), read_model(tmp_path / "base.json")
    assert list(ours.steps[0].exact(0).factors) == proportions(theirs.steps[0][0])


@given(given=automata())
def test_both_read_the_same_automata(given, tmp_path_factory):
    """The same states, rows and next states; only here is the end a state of its own."""
    path = tmp_path_factory.getbasetemp() / "agree.json"
    save(FiniteStateModel.from_states(**given), path)
    ours, theirs = load(path), read_model(path)
    assert (ours.vocabulary, ours.eos, ours.states, ours.initial) == (
        theirs.vocabulary,
        theirs.eos,
        theirs.states,
        theirs.initial,
    )
    going_on = [place for place in range(len(ours.vocabulary)) if place != ours.eos_index]
    for place, (row, leads) in enumerate(zip(theirs.rows, theirs.next, strict=True)):
        assert list(ours.rows.exact(place).factors) == proportions(row)
        found = [None if target == NOWHERE else target for target in ours.next[place].tolist()]
        assert [found[token] for token in going_on] == [leads[token] for token in going_on]
