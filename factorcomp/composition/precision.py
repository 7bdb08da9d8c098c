"""Double precision in JAX for the time of a computation; nothing here loads JAX before it is needed."""

from contextlib import AbstractContextManager


def float64() -> AbstractContextManager[None]:
    """JAX computes in float64 inside, and is left as the user configured it."""
    try:
        from jax import enable_x64
    except ImportError:  # jax 0.7
        from jax.experimental import enable_x64  # ty: ignore[missing-module-member]
    return enable_x64(True)
