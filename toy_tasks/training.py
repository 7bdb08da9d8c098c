"""Training: Adam on the cross-entropy of the answers, from scratch or from another network.

One step is compiled for all networks of an architecture: what is trained for is an argument of it.
"""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray
from rich.progress import Progress

from toy_tasks.networks import Architecture, Transformer
from toy_tasks.results import digest, load_weights, save_weights
from toy_tasks.task import AbstractTask, Texts

CHUNK = 50
"""Steps between two reports of progress."""
Way = Literal["finetuned", "scratch"]


@dataclass(frozen=True)
class Training:
    """How networks are trained.

    **Fields:** `steps`, `rate`: for networks from scratch, the number of steps and the largest learning rate;
    `fine_steps`, `fine_rate`: for those that start from the background. `longest`: the longest prompt. `stretch`: with
    tied positions, a text stands at random growing positions, up to so much further apart, so that distances are met
    that texts of these lengths do not have (Ruoss et al., arXiv 2305.16843); 0: at its own positions. `noise`,
    `distance`: of the loss (`loss_of`); without noise it is the cross-entropy alone.
    """

    batch: int = 32
    steps: int = 600
    fine_steps: int = 200
    rate: float = 5e-3
    fine_rate: float = 1e-3
    longest: int = 16
    stretch: float = 8.0
    noise: float = 1e-7
    distance: float = 0.1


@dataclass(frozen=True)
class Trained:
    """A network, the mean losses of `CHUNK` steps each, and the seconds that it took."""

    network: Transformer
    losses: list[float]
    seconds: float = field(compare=False)


class Family(NamedTuple):
    """A background and the experts that belong to it, by the names of their skills."""

    background: Trained
    experts: dict[str, Trained]

    def networks(self, names: Sequence[str] | None = None) -> list[Transformer]:
        """The background and the experts of these names, all by default."""
        chosen = self.experts if names is None else names
        return [self.background.network, *(self.experts[name].network for name in chosen)]

    def trained(self) -> dict[str, Trained]:
        """All of them by name."""
        return {"background": self.background, **self.experts}


def train_family(
    task: AbstractTask,
    shape: Architecture,
    training: Training,
    names: Sequence[str],
    *,
    seed: int,
    way: Way = "finetuned",
    progress: Progress | None = None,
    cache: Path | None = None,
) -> Family:
    """Trains the background and an expert for each skill.

    A network's randomness is that of seed, name and way alone: it is the same whatever else is trained.

    **Arguments:** `cache`: a folder for weights. What lies there for these arguments is read and not trained again, and
    what is trained is written.
    """

    def made(names: Sequence[str], start: Transformer | None) -> Trained:
        label = {"task": repr(task), "shape": asdict(shape), "training": asdict(training), "seed": seed}
        label |= {"names": list(names), "way": "scratch" if start is None else "finetuned"}
        file = None if cache is None else cache / f"{digest(label)}.safetensors"
        if file is not None and file.exists():
            network, losses = load_weights(Transformer(shape, key=jax.random.key(0)), file)
            return Trained(network, losses, 0.0)
        trained = train(task, shape, training, names, seed=seed, start=start, progress=progress)
        if file is not None:
            save_weights(trained.network, file, {"label": label, "losses": trained.losses})
        return trained

    background = made((), None)
    start = background.network if way == "finetuned" else None
    return Family(background, {name: made((name,), start) for name in names})


def train(
    task: AbstractTask,
    shape: Architecture,
    training: Training,
    names: Sequence[str],
    *,
    seed: int,
    start: Transformer | None = None,
    progress: Progress | None = None,
) -> Trained:
    """Trains one network for these skills (none: the background), from scratch or from `start`."""
    began = time.perf_counter()
    key = named_key(seed, *names)
    drawing, making = jax.random.split(key)
    network = eqx.filter_jit(Transformer)(shape, key=making) if start is None else start
    steps, rate = (training.steps, training.rate) if start is None else (training.fine_steps, training.fine_rate)
    schedule = optax.warmup_cosine_decay_schedule(0.0, 1.0, max(1, steps // 30), steps, 0.01)
    rates = rate * jax.vmap(schedule)(jnp.arange(steps))
    state = _adam().init(eqx.filter(network, eqx.is_inexact_array))
    keys, losses = jax.random.split(drawing, steps), []
    bar = progress and progress.add_task("+".join(names) or "background", total=steps)
    for first in range(0, steps, CHUNK):
        chunk = slice(first, first + CHUNK)
        network, state, loss = _steps(task, training, task.skill(names), network, state, rates[chunk], keys[chunk])
        losses.append(float(loss))
        if progress is not None and bar is not None:
            progress.update(bar, completed=min(first + CHUNK, steps), description=_described(names, losses[-1]))
    return Trained(network, losses, time.perf_counter() - began)


def named_key(seed: int, *names: str) -> PRNGKeyArray:
    """A key for each seed and names: the bytes of the names are folded into that of the seed.

    >>> bool((named_key(0, "A->B") == named_key(0, "A->B")).all()), bool((named_key(0) == named_key(1)).all())
    (True, False)
    """
    key = jax.random.key(seed)
    for byte in "\0".join(names).encode():
        key = jax.random.fold_in(key, byte)
    return key


def loss_of(
    network: Transformer, texts: Texts, positions: Int[Array, "batch _"] | None, training: Training
) -> Float[Array, ""]:
    """The mean over the tokens that count of `-log p(y_t | x, y_<t)` and, with `noise`, of the distance of all logs.

    `distance mean_y (log p(y | x, y_<t) - log q(y))²`, `q` the distribution of the task with noise: `1 - noise` for
    `y_t` and equal parts of `noise` for all others. Where the texts say what `y_t` was drawn from, the losses are the
    means over all that might have been drawn, and `q` is `aims (1 - noise) + (1 - aims) noise / (|V| - 1)`.
    """
    logs = jax.nn.log_softmax(jax.vmap(network)(texts.prompts, texts.answers[:, :-1], positions))
    right = jnp.arange(logs.shape[-1]) == texts.answers[..., None]
    aims, rest = texts.aims, training.noise / (logs.shape[-1] - 1)
    losses = -(jnp.where(right, logs, 0.0) if aims is None else aims * logs).sum(axis=-1)
    if training.noise:
        sure = jnp.where(right, jnp.log1p(-training.noise), jnp.log(rest))
        aim = sure if aims is None else jnp.log(aims * (1 - training.noise) + (1 - aims) * rest)
        losses = losses + training.distance * ((logs - aim) ** 2).mean(axis=-1)
    return jnp.where(texts.counted, losses, 0.0).sum() / texts.counted.sum()


def stretched(size: int, count: int, scale: float, *, key: PRNGKeyArray) -> Int[Array, "size count"]:
    """Random growing positions from 0 on: `1 + s e` apart, rounded down in sum, `e` exponential, `log s` uniform.

    `s` is the text's own, between `scale / 100` (nearly no stretching) and `scale`.
    """
    first, second = jax.random.split(key)
    scales = scale * jnp.exp(jax.random.uniform(first, (size, 1), minval=jnp.log(0.01), maxval=0.0))
    gaps = 1.0 + scales * jax.random.exponential(second, (size, count))
    return (jnp.cumsum(gaps, axis=1) - gaps[:, :1]).astype(int)


@eqx.filter_jit
def _steps(
    task: AbstractTask,
    training: Training,
    skill: Array,
    network: Transformer,
    state: Any,
    rates: Float[Array, " steps"],
    keys: PRNGKeyArray,
) -> tuple[Transformer, Any, Float[Array, ""]]:
    """Some steps of Adam, and the mean of their losses."""
    weights, rest = eqx.partition(network, eqx.is_inexact_array)
    stretch = training.stretch if network.shape.positions == "tied" else 0

    def step(carried: tuple[Any, Any], given: tuple[Array, PRNGKeyArray]) -> tuple[tuple[Any, Any], Array]:
        (weights, state), (rate, key) = carried, given
        texts = task.texts(skill, training.batch, 1, training.longest, key=key)
        count = max(texts.prompts.shape[1], texts.answers.shape[1])
        positions = stretched(training.batch, count, stretch, key=jax.random.fold_in(key, 1)) if stretch else None
        loss, slope = eqx.filter_value_and_grad(lambda w: loss_of(eqx.combine(w, rest), texts, positions, training))(
            weights
        )
        update, state = _adam().update(slope, state)
        return (jax.tree.map(lambda w, u: w - rate * u, weights, update), state), loss

    (weights, state), losses = jax.lax.scan(step, (weights, state), (rates, keys))
    return eqx.combine(weights, rest), state, losses.mean()


def _adam() -> optax.GradientTransformation:
    return optax.scale_by_adam(b2=0.99)


def _described(names: Sequence[str], loss: float) -> str:
    return f"{'+'.join(names) or 'background':12} loss {loss:.1e}"
