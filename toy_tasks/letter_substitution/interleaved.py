"""The text `x_1 y_1 x_2 y_2 …`: prompt and answer as one sequence, so that a model with a window is finite-state.

With the window 0 and one layer `y_t` depends on `x_t` and `y_{t-1}` alone. Letters of the prompt are drawn by one known
kernel, the same in all models: each letter, and `end`, with probability `1/(letters + 1)`; after `end`, `end` again.
They are written in lower case. The states are what the next token depends on:

| state | next token |
|---|---|
| `y` or `start` | a letter of the prompt, or `end` |
| the same, with `, ended` | `end` |
| `y x`, `start x` | the answer to `x` after `y` |
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Float

from factorcomp import FiniteStateModel
from toy_tasks.composing import Composition, composed, logits_after
from toy_tasks.letter_substitution.letters import Letters
from toy_tasks.networks import Transformer

START, END = "start", "end"
Row = Mapping[str, Any]  # token -> Fraction or float


def interleaved(task: Letters, row: Callable[[str, str], Row], name: str) -> FiniteStateModel:
    """The finite-state model in which `row(y_{t-1}, x_t)` is the distribution of `y_t`.

    `y_0` is `start`; `x_t` is a letter in upper case, or EOS at the end of the prompt and after it.

    >>> task = Letters(("A", "B", "EOS"))
    >>> model = interleaved(task, lambda before, given: {given: 1}, "copy")
    >>> model.vocabulary, len(model.states), model.initial
    (('a', 'b', 'end', 'A', 'B', 'EOS'), 15, 0)
    """
    *letters, eos = task.vocabulary
    asked = {letter.lower(): letter for letter in letters} | {END: eos}
    chance = Fraction(1, len(asked))
    states: dict[str, dict[str, Row]] = {}
    for before in (START, *letters):
        for ended in ("", f", {END}ed"):
            known = {END: Fraction(1)} if ended else dict.fromkeys(asked, chance)
            states[before + ended] = {"probabilities": known, "next": {x: f"{before} {x}" for x in known}}
        for x, given in asked.items():
            after = f", {END}ed" if x == END else ""
            following = {letter: letter + after for letter in letters}
            states[f"{before} {x}"] = {"probabilities": row(before, given), "next": following}
    return FiniteStateModel.from_states(states, (*asked, *task.vocabulary), START, eos, name)


def ideal_row(task: Letters, skills: tuple[str, ...], noise: Fraction) -> Callable[[str, str], Row]:
    """A perfect model: the right answer with probability `1 - noise`, all others equally likely.

    >>> row = ideal_row(Letters(("A", "B", "EOS")), ("A->B",), Fraction(1, 10))("start", "A")
    >>> row["B"], row["EOS"]
    (Fraction(9, 10), Fraction(1, 20))
    """
    table = np.asarray(task.skill(skills)).tolist()
    rest = noise / (len(task.vocabulary) - 1)

    def row(before: str, given: str) -> Row:
        right = task.vocabulary[table[task.vocabulary.index(given)]]
        return {token: 1 - noise if token == right else rest for token in task.vocabulary}

    return row


def network_rows(task: Letters, network: Transformer) -> Float[np.ndarray, "before given vocab"]:
    """`log p(y_t | y_{t-1}, x_t)` of a network that looks at these two tokens alone; the first `y_{t-1}` is `start`.

    **Raises:** `ValueError` if it looks further.
    """
    if network.shape.sees != 2:
        raise ValueError(f"found the architecture {network.shape}; needed one layer, positions='window', window=0")
    model, size = Composition.of([network]), len(task.vocabulary)
    given = np.arange(size)
    first = composed(logits_after(model, given[:, None], np.zeros((size, 0), dtype=int)))[:, 0]
    pairs = np.stack(np.meshgrid(given[:-1], given, indexing="ij"), axis=-1).reshape(-1, 2)
    prompts = np.stack([np.zeros(len(pairs), dtype=int), pairs[:, 1]], axis=1)
    later = composed(logits_after(model, prompts, pairs[:, :1]))[:, 1].reshape(size - 1, size, size)
    return np.concatenate([first[None], later])


def network_row(task: Letters, network: Transformer) -> Callable[[str, str], Row]:
    """The rows of a network, as floats: dyadic rationals, which are what every proof is about."""
    rows = np.exp(network_rows(task, network))

    def row(before: str, given: str) -> Row:
        place = 0 if before == START else 1 + task.vocabulary.index(before)
        found = rows[place, task.vocabulary.index(given)]
        return dict(zip(task.vocabulary, (found / found.sum()).tolist(), strict=True))

    return row


def depends_on_two_tokens(task: Letters, network: Transformer, prompts: Any, answers: Any) -> float:
    """The largest difference of the network's logs after these texts from the rows of its finite-state model."""
    rows = network_rows(task, network)
    found = composed(logits_after(Composition.of([network]), prompts, answers[:, :-1]))
    before = np.concatenate([np.zeros((len(answers), 1), dtype=int), answers[:, :-1] + 1], axis=1)
    kept = before < len(task.vocabulary)  # after EOS nothing is asked
    expected = rows[np.minimum(before, len(task.vocabulary) - 1), prompts]
    return float(np.abs(found - expected)[kept].max())
