"""The floor: the time in which the machine can read the three tables once, at the bandwidth of a triad.

`a = b + 3 c` over arrays far larger than any cache, counted as 24 bytes a number (the write of `a` is counted once),
on all cores. Two ways, and the best run of both counts: NumPy in Python threads, chunk by chunk so that `3 c` stays in
cache; and JAX, jitted, one host device for each core, `a` overwritten in place.
"""

import os
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

NUMBERS = 1 << 25
"""Of each of the three arrays: 256 MiB."""
CHUNK = 1 << 16
RUNS = 7


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def numpy_triad(numbers: int = NUMBERS, runs: int = RUNS) -> float:
    """Bytes per second of the best run."""
    a, b, c = np.zeros(numbers), np.full(numbers, 2.0), np.ones(numbers)

    def part(thread: int) -> None:
        for start in range(thread * numbers // cores(), (thread + 1) * numbers // cores(), CHUNK):
            here = slice(start, min(start + CHUNK, (thread + 1) * numbers // cores()))
            np.multiply(c[here], 3.0, out=a[here])
            np.add(a[here], b[here], out=a[here])

    with ThreadPoolExecutor(cores()) as threads:
        seconds = []
        for _ in range(runs):
            start = time.perf_counter()
            list(threads.map(part, range(cores())))
            seconds.append(time.perf_counter() - start)
    if not (a == 5.0).all():
        raise ArithmeticError("the triad computed something else")
    return 3 * a.nbytes / min(seconds)


def jax_triad(numbers: int = NUMBERS, runs: int = RUNS) -> float:
    """Bytes per second of the best run. The process must have been started with `ENVIRONMENT`."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    devices = jax.devices("cpu")
    spread = NamedSharding(Mesh(np.array(devices), ("cores",)), PartitionSpec("cores"))
    with jax.enable_x64(True):
        a, b, c = (jax.device_put(jnp.full(numbers, x, jnp.float64), spread) for x in (0.0, 2.0, 1.0))
        triad = jax.jit(lambda a, b, c: b + 3.0 * c, donate_argnums=0, keep_unused=True)
        seconds = []
        for _ in range(runs + 1):
            start = time.perf_counter()
            a = jax.block_until_ready(triad(a, b, c))
            seconds.append(time.perf_counter() - start)
        if not bool((a == 5.0).all()):
            raise ArithmeticError("the triad computed something else")
    return 3 * a.nbytes / min(seconds[1:])


ENVIRONMENT = {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": f"--xla_force_host_platform_device_count={cores()}"}


def bandwidth() -> dict[str, float]:
    """Bytes per second, by who did it."""
    return {"numpy": numpy_triad(), "jax": jax_triad()}
