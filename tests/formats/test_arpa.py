"""N-gram files: back-off made explicit, by hand and against a reading that knows no states; every problem told."""

import math
from itertools import product
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from factorcomp.formats import load, save
from factorcomp.models import memory
from factorcomp.models.errors import InputError
from factorcomp.models.finite_state import FiniteStateModel


def log(probability: float) -> str:
    """As files write it, with all digits."""
    return repr(math.log10(probability)) if probability else "-99"


BIGRAMS = rf"""
any text before is a comment
\data\
ngram 1=4
ngram 2=3

\1-grams:
{log(1 / 4)} </s>
-99 <s> {log(1 / 2)}
{log(1 / 2)} a {log(1 / 2)}
{log(1 / 4)} b

\2-grams:
{log(3 / 4)} <s> a
{log(1 / 2)} a b
{log(1 / 4)} a </s>

\end\
"""
"""After <s>, </s> and b back off: 1/2 · 1/4 each. After a, a does: 1/2 · 1/2. After b all words are as 1-grams."""

TRIGRAMS = rf"""\data\
ngram 1=4
ngram 2=2
ngram 3=1

\1-grams:
{log(1 / 4)}\t</s>
0\t<s>
{log(1 / 2)}\ta\t{log(2)}
{log(1 / 4)}\tb\t0

\2-grams:
{log(1 / 4)}\ta a\t{log(1 / 2)}
{log(1 / 4)}\ta </s>

\3-grams:
{log(3 / 4)}\ta a b\t0

\end\
""".replace("\\t", "\t")
"""After a, b backs off: 2 · 1/4. After a a, </s> does by 1/2 · 1/4 and a by 1/2 · 1/4."""


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Writes base.arpa into the current directory and returns its name."""
    monkeypatch.chdir(tmp_path)

    def write(content: str | bytes) -> str:
        (tmp_path / "base.arpa").write_bytes(content if isinstance(content, bytes) else content.encode())
        return "base.arpa"

    return write


def read(name: str) -> FiniteStateModel:
    model = load(name)
    assert isinstance(model, FiniteStateModel)
    return model


def problems_of(name: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        load(name)
    return list(caught.value.problems)


def probabilities(model: FiniteStateModel) -> np.ndarray:
    return np.exp(model.rows.log_probs(0, model.rows.shape[0]))


def test_bigrams_by_hand(write):
    """b(h) p(w) where `h w` is not listed; the state is the last word where that is a context."""
    model = read(write(BIGRAMS))
    assert (model.vocabulary, model.eos) == (("</s>", "a", "b"), "</s>")
    assert model.states == ("", "<s>", "a")
    assert (model.initial, model.ended) == (1, 3)
    expected = [[1 / 4, 1 / 2, 1 / 4], [1 / 8, 3 / 4, 1 / 8], [1 / 4, 1 / 4, 1 / 2], [1, 0, 0]]
    np.testing.assert_allclose(probabilities(model), expected, rtol=1e-14)
    assert model.next.tolist() == [[3, 2, 0], [3, 2, 0], [3, 2, 0], [3, 3, 3]]
    assert model.source.notes == ("base.arpa: 1 time -99 taken for log 0, as the format has it",)


def test_trigrams_by_hand(write):
    """Contexts of two words; without an n-gram that begins with <s> sequences begin in the empty context."""
    model = read(write(TRIGRAMS))
    assert model.states == ("", "a", "a a")
    assert (model.initial, model.ended) == (0, 3)
    expected = [[1 / 4, 1 / 2, 1 / 4], [1 / 4, 1 / 4, 1 / 2], [1 / 8, 1 / 8, 3 / 4], [1, 0, 0]]
    np.testing.assert_allclose(probabilities(model), expected, rtol=1e-14)
    assert model.next.tolist() == [[3, 1, 0], [3, 2, 0], [3, 2, 0], [3, 3, 3]]
    assert model.source.notes == ()


def test_equal_numbers_give_exactly_equal_rows(write):
    """An expert that lists one context more: elsewhere its rows are the background's, to the last bit."""
    base = read(write(BIGRAMS))
    more = BIGRAMS.replace("ngram 2=3", "ngram 2=4").replace(f"{log(1 / 4)} b\n", f"{log(1 / 4)} b {log(2 / 3)}\n")
    expert = read(write(more.replace("\n\\end", f"{log(1 / 2)} b b\n\n\\end")))
    assert expert.states == ("", "<s>", "a", "b")
    assert base.rows.identical(np.arange(3), expert.rows, np.arange(3)).all()
    np.testing.assert_allclose(probabilities(expert)[3], [1 / 6, 1 / 3, 1 / 2], rtol=1e-14)


def test_unigrams_alone_are_one_state_and_the_end(write):
    text = rf"\data\{chr(10)}ngram 1=2{chr(10)}\1-grams:{chr(10)}{log(1 / 4)} <unk>{chr(10)}{log(3 / 4)} é"
    model = read(write(text + "\n\\end\\\n"))
    assert (model.vocabulary, model.states, model.eos) == (("<unk>", "é"), ("",), None)
    assert model.next.tolist() == [[0, 0]]


def test_lines_may_end_as_on_windows_and_counts_be_spaced(write):
    text = BIGRAMS.replace("ngram 1=4", "ngram  1 = 4").replace("\n", "\r\n")
    assert read(write(text)).states == ("", "<s>", "a")


def test_only_the_space_of_ascii_parts_words(write):
    """U+00A0 and U+2028 belong to words."""
    model = read(write(BIGRAMS.replace("b", "b\u00a0\u2028").replace("ngram 1=4", "ngram 1=4")))
    assert model.vocabulary[2] == "b\u00a0\u2028"


def test_a_row_of_few_digits_is_renormalised_where_a_weight_says_that_it_backs_off(write):
    """0.9166… instead of 1 is too far; 1.0001 is not, and the note says how far."""
    model = read(write(BIGRAMS.replace(f"<s> {log(1 / 2)}", "<s> -0.301")))
    total = 3 / 4 + 10**-0.301 / 2
    assert 1e-6 < total - 1 < 1e-4
    expected = [10**-0.301 / 4 / total, 3 / 4 / total, 10**-0.301 / 4 / total]
    np.testing.assert_allclose(probabilities(model)[1], expected, rtol=1e-14)
    note = "base.arpa: 1 row of contexts with a back-off weight renormalised, by at most 2e-5"
    assert model.source.notes[0] == note


def test_a_row_without_back_off_must_sum_to_1(write):
    [found] = problems_of(write(BIGRAMS.replace(f"{log(1 / 4)} b", "-0.6020 b")))
    assert found.startswith("base.arpa: \\1-grams: without <s> they sum to 1.00003")
    assert found.endswith("; needed 1 within 1e-6")


def test_a_weight_that_no_n_gram_uses_must_be_1(write):
    found = problems_of(write(TRIGRAMS.replace("b\t0\n", "b\t-0.5\n", 1)))
    needed = 'needed 0 (or nearly, a factor within 1e-3 of 1), as no n-gram continues "b"'
    assert found == [f"base.arpa: line 10: found the back-off weight -0.5; {needed}"]
    model = read(write(TRIGRAMS.replace("b\t0\n", "b\t-0.0001\n", 1)))
    note = "base.arpa: 1 back-off weight of contexts that no n-gram continues taken for 1, which is off by at most 3e-4"
    assert model.source.notes == (note,)


def test_a_weight_after_the_end_counts_for_nothing(write):
    """No row follows `</s>`, so that some files give it any weight."""
    given = TRIGRAMS.replace("\t</s>\n0\t<s>", "\t</s>\t-0.5\n0\t<s>", 1)
    assert given != TRIGRAMS
    assert read(write(given)).source.notes == read(write(TRIGRAMS)).source.notes


HEAD = "\\data\\\nngram 1=2\nngram 2=1\n\n"
ONE = "\\1-grams:\n-0.301029995664 a 0\n-0.301029995664 b\n\n"
TWO = "\\2-grams:\n-0.301029995664 a b\n\n"
END = "\\end\\\n"
BAD = {
    "empty": ("", ["found no line \\data\\; needed an n-gram model in the ARPA format"]),
    "no end": (HEAD + ONE + TWO, ["found no line \\end\\; needed one"]),
    "text after the end": (HEAD + ONE + TWO + END + "more", ["line 13: found text after \\end\\; needed none"]),
    "too few": (
        HEAD.replace("1=2", "1=3") + ONE + TWO + END,
        ["\\1-grams: found 2 n-grams; needed 3, as \\data\\ says"],
    ),
    "section missing": (HEAD + ONE + END, ["\\2-grams: found 0 n-grams; needed 1, as"]),
    "section not announced": (
        HEAD + ONE + TWO + "\\3-grams:\n-1 a b a\n" + END,
        ["\\3-grams: found 1 n-grams; needed 0"],
    ),
    "sections out of order": (
        HEAD + TWO + ONE + END,
        [
            "line 5: found \\2-grams:; needed \\1-grams:",
            'line 6: found the word "a"; needed words that are 1-grams',
            "line 8: found \\1-grams:; needed \\3-grams:",
        ],
    ),
    "order too high": (
        "\\data\\\n" + "".join(f"ngram {n}=0\n" for n in range(1, 7)) + END,
        ["line 7: found n-grams of 6 words; needed at most 5"],
    ),
    "counts": (
        HEAD.replace("ngram 2", "ngram 3") + ONE + END,
        ["line 3: found ngram 3=1; needed ngram 2=COUNT", "\\3-g"],
    ),
    "number": (
        HEAD + ONE.replace("-0.301029995664 b", "-0,3 b") + TWO + END,
        ["line 7: found -0,3; needed a number, a logarithm to base 10"],
    ),
    "NaN, Infinity and underscores": (
        HEAD + ONE.replace("-0.301029995664 b", "nan b").replace("a 0", "a -1_0") + TWO.replace("-0.3", "inf") + END,
        ["line 6: found -1_0; needed a number", "line 7: found nan; needed", "line 10: found inf01029995664; needed"],
    ),
    "positive": (
        HEAD + ONE.replace("-0.301029995664 b", "0.1 b") + TWO + END,
        ["line 7: found the log-probability 0.1; needed at most 0"],
    ),
    "fields": (
        HEAD + ONE.replace(" a 0", "") + TWO.replace("a b", "a b 0 0") + END,
        [
            "line 6: found 1 fields; needed a log-probability, 1 word, and a back-off weight or none",
            "line 10: found 5 fields; needed a log-probability, 2 words, and",
        ],
    ),
    "weight of the highest order": (
        HEAD + ONE + TWO.replace("a b", "a b -1") + END,
        ["line 10: found the back-off weight -1; needed none, as no n-gram is longer"],
    ),
    "twice": (
        HEAD.replace("2=1", "2=2") + ONE + TWO.replace("a b", "a b\n-1 a b") + END,
        ['line 11: found "a b", as in line 10; needed each n-gram once'],
    ),
    "unknown word": (
        HEAD + ONE + TWO.replace("a b", "a c") + END,
        ['line 10: found the word "c"; needed words that are'],
    ),
    "beginning missing": (
        HEAD.replace("2=1", "2=1\nngram 3=1") + ONE + TWO + "\\3-grams:\n-1 b a a\n" + END,
        ['line 14: found "b a a"; needed "b a" as well'],
    ),
    "<s> in the middle": (
        HEAD + ONE + TWO.replace("a b", "a <s>") + END,
        ['line 10: found "a <s>"; needed <s> only first'],
    ),
    "</s> in the middle": (HEAD + ONE + TWO.replace("a b", "</s> a") + END, ['found "</s> a"; needed <s> only first']),
    "nothing to emit": (
        "\\data\\\nngram 1=1\n\\1-grams:\n0 <s>\n" + END,
        ["\\1-grams: found no word but <s>; needed one at least"],
    ),
    "not UTF-8": ((HEAD + ONE + TWO + END).replace("b", "é").encode("latin-1"), ["line 7: found \\xe9; needed UTF-8"]),
    "sum": (HEAD + ONE + TWO.replace("-0.3", "-0.4") + END, ['line 6: the row after "a" sums to 0.8']),
    "overflow": (
        HEAD + ONE.replace("a 0", "a 900") + TWO + END,
        ['line 6: the row after "a" sums to inf; needed 1 within 1e-3'],
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_is_refused_with_its_lines(write, case):
    content, expected = BAD[case]
    found = problems_of(write(content))
    assert all(line.startswith("base.arpa: ") for line in found)
    for text in expected:
        assert any(text in line for line in found), (text, found)


@given(
    data=st.lists(
        st.sampled_from(
            ["\\data\\", "ngram 1=1", "\\1-grams:", "\\2-grams:", "0 a", "0 a 0", "-1 a a", "<s>", "\\end\\", ""]
        )
    ).map("\n".join)
    | st.text(max_size=30)
)
def test_noise_is_refused_and_never_crashes(data, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "noise.arpa"
    path.write_bytes(data.encode(errors="surrogatepass"))
    try:
        model = load(path)
    except InputError:
        return
    assert model.vocabulary == ("a",)


def test_an_automaton_too_large_is_refused_before_it_is_allocated(write, monkeypatch):
    name = write(TRIGRAMS)
    monkeypatch.setattr(memory, "available", lambda: 12 * Path(name).stat().st_size)
    monkeypatch.setattr("factorcomp.formats.arpa.MEMORY_PER_CELL", 10**9)
    assert problems_of(name)[0].startswith("base.arpa: a row for each of 3 contexts and 3 tokens takes 9 GB; there are")


Model = tuple[dict[tuple[str, ...], float], dict[tuple[str, ...], float]]


@st.composite
def models(draw) -> tuple[int, list[str], Model]:
    """An n-gram model: order, words, and p(w | h) and b(h), each row a distribution by construction."""
    order = draw(st.integers(1, 4))
    words = ["</s>", "a", "b"][: draw(st.integers(2, 3))]
    listed: dict[tuple[str, ...], float] = {}
    weights: dict[tuple[str, ...], float] = {}
    contexts: list[tuple[str, ...]] = [()]
    for length in range(order):
        for context in [context for context in contexts if len(context) == length]:
            follow = words if not context else draw(st.lists(st.sampled_from(words), min_size=1, unique=True))
            counts = {word: draw(st.integers(1, 5)) for word in follow}
            rest = [word for word in words if word not in follow]
            total = sum(counts.values()) + (draw(st.integers(1, 5)) if rest else 0)
            if rest:
                lower = sum(reference((listed, weights), context[1:], word) for word in rest)
                weights[context] = (1 - sum(counts.values()) / total) / lower
            listed |= {(*context, word): count / total for word, count in counts.items()}
            contexts += [(*context, word) for word in follow if word != "</s>" and draw(st.booleans())]
            contexts += [("<s>",)] if not context and draw(st.booleans()) else []
    return order, words, (listed, weights)


def reference(model: Model, history: tuple[str, ...], word: str) -> float:
    """p(word | history) by the definition, with the whole history and no states."""
    listed, weights = model
    if (*history, word) in listed or not history:
        return listed.get((*history, word), 0.0)
    return weights.get(history, 1.0) * reference(model, history[1:], word)


@given(given=models())
def test_the_rows_are_those_of_the_whole_history(given, tmp_path_factory):
    """rows[q(h)] = p(. | <s> h) for every history of up to three words, by the recursion that defines back-off."""
    order, words, model = given
    listed, weights = model
    listed = {("<s>",): 1.0} | listed
    lines = ["\\data\\", *(f"ngram {n}={sum(len(key) == n for key in listed)}" for n in range(1, order + 1))]
    for length in range(1, order + 1):
        lines += ["", f"\\{length}-grams:"]
        for key, probability in listed.items():
            if len(key) == length:
                weight = f" {math.log10(weights[key])!r}" if key in weights else ""
                lines.append(f"{math.log10(probability)!r} {' '.join(key)}{weight}")
    path = tmp_path_factory.getbasetemp() / "model.arpa"
    path.write_text("\n".join([*lines, "\\end\\"]))
    table = read(str(path)).tabulate(4)
    for length, rows in enumerate(table.steps):
        logs = rows.log_probs(0, len(words) ** length)
        for index, history in enumerate(product(words, repeat=length)):
            row = [reference(model, ("<s>", *history), word) for word in words]
            expected = [float(word == "</s>") for word in words] if "</s>" in history else row
            np.testing.assert_allclose(np.exp(logs[index]), expected, rtol=1e-9)


def test_what_is_read_can_be_written_as_json(write):
    model = read(write(TRIGRAMS))
    save(model, "out.json")
    again = read("out.json")
    assert np.array_equal(again.next, model.next)
    np.testing.assert_allclose(probabilities(again), probabilities(model), rtol=1e-14)
