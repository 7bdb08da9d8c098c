"""Decoder-only transformers that answer a prompt token by token, and the ways in which they know positions.

The text of a prompt `x_1 … x_n` and its answer `y_1 … y_m` is

    x_1 … x_n EOS START y_1 … y_m,

and after START and after each `y_t` the network says what comes next in the answer. Tokens are numbers: those of the
vocabulary, EOS the last of them, and START, which nobody ever draws: the network has no logit for it.

| `positions` | what the network knows of positions |
|---|---|
| `tied` | rotary; `x_t` and the place where `y_t` is drawn have the same position `t - 1` |
| `window` | as `tied`, and a token sees only tokens at most `window` positions back: what is far is not seen |
| `rotary` | rotary; positions in the text |
| `learned` | a learned vector for each position in the text |
| `none` | nothing, but that later tokens are not seen |
"""

from dataclasses import dataclass
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

Positions = Literal["tied", "window", "rotary", "learned", "none"]


@dataclass(frozen=True)
class Architecture:
    """The shape of a network.

    **Fields:** `vocab`: the number of tokens, EOS (the last one) included. `window`: how far back a token sees, in
    positions, with `positions="window"`. `longest`: the longest text, for the tables of positions.
    """

    vocab: int
    positions: Positions = "tied"
    width: int = 32
    heads: int = 2
    layers: int = 1
    window: int = 0
    longest: int = 300

    @property
    def eos(self) -> int:
        """The number of EOS."""
        return self.vocab - 1

    @property
    def sees(self) -> int | None:
        """With a window: how many tokens of the text `x_1 y_1 x_2 y_2 …` the next answer depends on, counted back.

        `y_t` depends on `x_t`, on `y_{t-1}`, and through each layer on what is `window` positions further back.

        >>> Architecture(17, "window").sees
        2
        """
        return 2 * (self.layers * self.window + 1) if self.positions == "window" else None


class Block(eqx.Module):
    """Attention, then a layer of its own for each token; both read a normalised stream and add to it."""

    attention: eqx.nn.MultiheadAttention
    feed_forward: eqx.nn.MLP
    norms: tuple[eqx.nn.LayerNorm, eqx.nn.LayerNorm]

    def __init__(self, shape: Architecture, *, key: PRNGKeyArray):
        first, second = jax.random.split(key)
        self.attention = eqx.nn.MultiheadAttention(shape.heads, shape.width, key=first)
        self.feed_forward = eqx.nn.MLP(shape.width, shape.width, 2 * shape.width, 1, key=second)
        self.norms = (eqx.nn.LayerNorm(shape.width), eqx.nn.LayerNorm(shape.width))

    def __call__(
        self, stream: Float[Array, "text width"], seen: Bool[Array, "text text"], places: Int[Array, " text"] | None
    ) -> Float[Array, "text width"]:
        def turned(
            query: Float[Array, "text heads size"], key: Float[Array, "text heads size"], value: Array
        ) -> tuple[Array, Array, Array]:
            return (query, key, value) if places is None else (rotate(query, places), rotate(key, places), value)

        normed = jax.vmap(self.norms[0])(stream)
        stream = stream + self.attention(normed, normed, normed, mask=seen, process_heads=turned)
        return stream + jax.vmap(self.feed_forward)(jax.vmap(self.norms[1])(stream))


class Transformer(eqx.Module):
    """A network: from a prompt and the beginning of an answer to logits of what comes next.

    >>> network = Transformer(Architecture(vocab=4), key=jax.random.key(0))
    >>> network(jnp.array([0, 2, 3]), jnp.array([0, 2])).shape
    (3, 4)
    """

    tokens: eqx.nn.Embedding
    parts: eqx.nn.Embedding
    learned: eqx.nn.Embedding | None
    blocks: tuple[Block, ...]
    norm: eqx.nn.LayerNorm
    head: eqx.nn.Linear
    shape: Architecture = eqx.field(static=True)

    def __init__(self, shape: Architecture, *, key: PRNGKeyArray):
        keys = jax.random.split(key, shape.layers + 4)
        self.tokens = eqx.nn.Embedding(shape.vocab + 1, shape.width, key=keys[0])
        self.parts = eqx.nn.Embedding(2, shape.width, key=keys[1])
        learns = shape.positions == "learned"
        self.learned = eqx.nn.Embedding(shape.longest, shape.width, key=keys[2]) if learns else None
        self.head = eqx.nn.Linear(shape.width, shape.vocab, key=keys[3])
        self.blocks = tuple(Block(shape, key=key) for key in keys[4:])
        self.norm = eqx.nn.LayerNorm(shape.width)
        self.shape = shape

    def __call__(
        self, prompt: Int[Array, " prompt"], answer: Int[Array, " answer"], positions: Int[Array, " _"] | None = None
    ) -> Float[Array, "next vocab"]:
        """The logits of the next token after each prefix of the answer, the empty one included.

        **Arguments:** `prompt`: `x_1 … x_n` and EOS, filled up with EOS to any width. `answer`: its tokens so
        far. `positions`: the positions 0, 1, 2, … are these numbers instead, which grow.

        **Returns:** `[answer + 1, vocab]`; row `t` does not depend on `answer[t:]`.
        """
        if self.shape.positions == "window":
            missing = max(0, len(answer) + 1 - len(prompt))
            prompt = jnp.pad(prompt, (0, missing), constant_values=self.shape.eos)
        text = jnp.concatenate([prompt, jnp.array([self.shape.vocab]), answer])
        part = jnp.arange(len(text)) >= len(prompt)
        seen, places = self._layout(prompt, len(text))
        places = places if positions is None else positions[places]
        stream = jax.vmap(self.tokens)(text) + jax.vmap(self.parts)(part.astype(int))
        if self.learned is not None:
            stream = stream + jax.vmap(self.learned)(places)
        rotary = self.shape.positions in ("tied", "window", "rotary")
        for block in self.blocks:
            stream = block(stream, seen, places if rotary else None)
        return jax.vmap(self.head)(jax.vmap(self.norm)(stream[len(prompt) :]))

    def _layout(
        self, prompt: Int[Array, " prompt"], length: int
    ) -> tuple[Bool[Array, "text text"], Int[Array, " text"]]:
        """Which tokens see which, and the position of each.

        What fills up the prompt is not there, as far as other tokens see; but with a window the prompt goes on with EOS
        for ever, so that what a token sees is the same wherever it stands.
        """
        ended = (prompt == self.shape.eos).argmax() + 1
        index = jnp.arange(length)
        own = index - len(prompt)
        tied = self.shape.positions in ("tied", "window")
        places = jnp.where(own < 0, index, own if tied else own + ended)
        seen = index[:, None] >= index
        if self.shape.positions == "window":
            back = places[:, None] - places
            return seen & (back >= 0) & (back <= self.shape.window), places
        return seen & ((own >= 0) | (index < ended)), places


def rotate(heads: Float[Array, "text heads size"], places: Int[Array, " text"]) -> Float[Array, "text heads size"]:
    """Rotary embedding (Su et al., arXiv 2104.09864) at any positions: equinox's own starts at 0 and counts on."""
    rotary = eqx.nn.RotaryPositionalEmbedding
    size = heads.shape[-1]
    rates = 10_000.0 ** (-jnp.arange(0, size, 2) / size)
    angles = jnp.tile(places[:, None] * rates, (1, 2))[:, None]
    return heads * jnp.cos(angles) + rotary.rotate_half(heads) * jnp.sin(angles)
