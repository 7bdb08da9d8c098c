"""Networks composed at every step by the library's operator, and what is drawn from them.

`p^(y|h) ∝ p_b(y|h) prod_i p_i(y|h)/p_b(y|h)` in logs (theory.md, Definition 1.1), `h` the answer so far.
"""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from factorcomp.composition.operator import compose_rows, log_normalize
from toy_tasks.networks import Transformer
from toy_tasks.task import up_to_eos

BATCH = 128
"""Prompts that a network is given together where exact numbers are computed."""


class Composition(eqx.Module):
    """A background and its experts, none or more, composed; alone, a background is itself.

    >>> from toy_tasks.networks import Architecture
    >>> networks = [Transformer(Architecture(vocab=4), key=jax.random.key(n)) for n in (0, 1, 1)]
    >>> once, twice = Composition.of(networks[:2]), Composition.of(networks[1:])
    >>> prompt, answer = jnp.array([0, 2, 3]), jnp.array([0, 2])
    >>> bool(jnp.allclose(once(prompt, answer), twice(prompt, answer), atol=1e-5))
    True
    """

    networks: Transformer
    count: int = eqx.field(static=True)

    @classmethod
    def of(cls, networks: Sequence[Transformer]) -> "Composition":
        """The background comes first. All are of one architecture: their weights are stacked."""
        arrays, rest = zip(*(eqx.partition(network, eqx.is_array) for network in networks), strict=True)
        stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *arrays)
        return cls(eqx.combine(stacked, rest[0]), len(networks))

    def logits(
        self, prompt: Int[Array, " prompt"], answer: Int[Array, " answer"]
    ) -> Float[Array, "networks next vocab"]:
        """The logits of every network by itself."""
        each = eqx.filter_vmap(lambda network: network(prompt, answer))
        return each(self.networks)

    def __call__(self, prompt: Int[Array, " prompt"], answer: Int[Array, " answer"]) -> Float[Array, "next vocab"]:
        """`log p^` after each prefix of the answer."""
        return composed(self.logits(prompt, answer))


def composed(logits: Float[Array, "networks *prefixes vocab"]) -> Float[Array, "*prefixes vocab"]:
    """`log p^` of logits, those of the background first; arrays of NumPy or of JAX."""
    logs, _ = log_normalize(logits)
    return logs[0] if len(logs) == 1 else compose_rows(logs[0], logs[1:], None, "cancel").log_probs


@eqx.filter_jit
def generate(
    model: Composition, prompts: Int[Array, "batch prompt"], steps: int, *, sampled: Array | bool, key: PRNGKeyArray
) -> Int[Array, "batch steps"]:
    """Answers of at most `steps` tokens, filled up with EOS: drawn from the model, or the likeliest token each time.

    Drawing is by adding Gumbel noise to the logs and taking the largest. It ends when all answers have.
    """
    eos = model.networks.shape.eos

    def undone(carried: tuple[Array, Array]) -> Array:
        place, answers = carried
        return (place < steps) & ~((answers == eos) & (jnp.arange(steps) < place)).any(axis=1).all()

    def step(carried: tuple[Array, Array]) -> tuple[Array, Array]:
        place, answers = carried
        logs = jax.vmap(model)(prompts, answers[:, :-1])[:, place]
        noise = jax.random.gumbel(jax.random.fold_in(key, place), logs.shape)
        drawn = jnp.where(sampled, logs + noise, logs).argmax(axis=1)
        ended = ((answers == eos) & (jnp.arange(steps) < place)).any(axis=1)
        return place + 1, answers.at[:, place].set(jnp.where(ended, eos, drawn))

    start = (jnp.array(0), jnp.full((len(prompts), steps), eos))
    return jax.lax.while_loop(undone, step, start)[1]


@eqx.filter_jit
def _logits(model: Composition, prompts: Array, answers: Array) -> Array:
    return jax.vmap(model.logits, out_axes=1)(prompts, answers)


def logits_after(
    model: Composition, prompts: Int[np.ndarray, "batch prompt"], answers: Int[np.ndarray, "batch answer"]
) -> Float[np.ndarray, "networks batch next vocab"]:
    """The logits of every network after each prefix of these answers, as float64.

    Always so many together, of which the last repeat one another: another number would be compiled anew.
    """
    places = np.minimum(np.arange(-(-len(prompts) // BATCH) * BATCH), len(prompts) - 1).reshape(-1, BATCH)
    found = [np.float64(_logits(model, prompts[place], answers[place])) for place in places]
    return np.concatenate(found, axis=1)[:, : len(prompts)]


def failures(
    model: Composition, prompts: Int[np.ndarray, "batch prompt"], answers: Int[np.ndarray, "batch answer"], eos: int
) -> tuple[Float[np.ndarray, " batch"], Bool[np.ndarray, " batch"]]:
    """The exact probability that a drawn answer is not this one, and whether the likeliest one is."""
    return failures_of(composed(logits_after(model, prompts, answers[:, :-1])), answers, eos)


def failures_of(
    logs: Float[np.ndarray, "batch answer vocab"], answers: Int[np.ndarray, "batch answer"], eos: int
) -> tuple[Float[np.ndarray, " batch"], Bool[np.ndarray, " batch"]]:
    """The same from the logs after each prefix of the answers.

    With `e_t` the probability of all tokens but `y_t`, `1 - prod_t (1 - e_t)` up to and with EOS: computed from the
    `e_t` themselves, so that a failure of 1e-12 is not lost in rounding. Greedy success is that `y_t` is the likeliest
    token after `y_<t` for all `t`.
    """
    right = np.arange(logs.shape[-1]) == answers[..., None]
    wrong = np.where(right, 0.0, np.exp(logs)).sum(axis=-1)
    counts = up_to_eos(answers, eos)
    with np.errstate(divide="ignore"):  # the right token has probability 0: the failure is 1
        failure = -np.expm1(np.where(counts, np.log1p(-np.minimum(wrong, 1.0)), 0.0).sum(axis=1))
    return failure, ((logs.argmax(axis=-1) == answers) | ~counts).all(axis=1)
