"""What runs leave behind: numbers as JSON, weights as safetensors.

A file of results says how it came about: the configuration, the seed, the versions of Python and of the libraries. The
same seed on the same machine with the same versions gives the same numbers, but for those under "seconds".
"""

import hashlib
import json
import os
import platform
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from safetensors import safe_open
from safetensors.numpy import save

SCHEMA = "factorcomp-toy-results/1"

LIBRARIES = ("equinox", "factorcomp", "jax", "jaxlib", "numpy", "optax")
Network = TypeVar("Network", bound=eqx.Module)


def versions() -> dict[str, str]:
    """The versions of Python and of the libraries that numbers depend on."""
    found = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:  # run from a checkout that is not installed
            found[name] = "not installed"
    return found


def write_results(path: Path, task: str, seed: int, config: Mapping[str, Any], numbers: Mapping[str, Any]) -> None:
    """Writes a file of results; what is there is replaced in the end, never half-written.

    **Raises:** `ValueError` if a number is NaN or infinite: say it in words.
    """
    content = {"schema": SCHEMA, "task": task, "seed": seed, "versions": versions(), "config": config, **numbers}
    _write(path, (json.dumps(_plain(content), indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode())


def digest(content: Any) -> str:
    """A name for a content: its SHA-256 as canonical JSON, shortened.

    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    True
    """
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:24]


def save_weights(network: eqx.Module, path: Path, metadata: Mapping[str, Any]) -> None:
    """Writes the arrays of a network, each under its path in it; `metadata` is written as JSON."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(eqx.filter(network, eqx.is_array))
    arrays = {jax.tree_util.keystr(place): np.asarray(leaf) for place, leaf in leaves}
    _write(path, save(arrays, {name: json.dumps(value) for name, value in metadata.items()}))


def load_weights(network: Network, path: Path) -> tuple[Network, list[float]]:
    """The network with the arrays that were written, and the losses of its training.

    **Raises:** `ValueError` if the file holds other arrays than the network has, with all that differ.
    """
    arrays, rest = eqx.partition(network, eqx.is_array)
    leaves, structure = jax.tree_util.tree_flatten_with_path(arrays)
    needed = {jax.tree_util.keystr(place): leaf.shape for place, leaf in leaves}
    with safe_open(path, "np") as file:
        losses = json.loads(file.metadata()["losses"])
        found = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    shapes = {name: array.shape for name, array in found.items()}
    if shapes != needed:
        differ = sorted(name for name in {*shapes, *needed} if shapes.get(name) != needed.get(name))
        listed = "; ".join(f"{name}: found {shapes.get(name)}, needed {needed.get(name)}" for name in differ)
        raise ValueError(f"{path}: weights of another network: {listed}")
    return eqx.combine(jax.tree.unflatten(structure, [jnp.asarray(found[name]) for name in needed]), rest), losses


def _plain(value: Any) -> Any:
    """Mappings, lists, texts and numbers of Python; numbers of NumPy become such, floats with six digits."""
    if isinstance(value, Mapping):
        return {str(name): _plain(entry) for name, entry in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(entry) for entry in value]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (float, np.floating)):
        return float(f"{float(value):.6g}")
    return int(value) if isinstance(value, np.integer) else value


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.write_bytes(data)
    partial.replace(path)
