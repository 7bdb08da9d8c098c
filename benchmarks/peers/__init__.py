"""What one would write or use otherwise: each module one peer, as an `Engine` that loads its packages when asked."""

from benchmarks.engine import Engine
from benchmarks.peers.dit_ import DIT
from benchmarks.peers.jax_levels import JAX_LEVELS
from benchmarks.peers.numpy_ import NUMPY
from benchmarks.peers.pgmpy_ import PGMPY
from benchmarks.peers.storm_ import STORM
from benchmarks.peers.torch_ import TORCH

PEERS: tuple[Engine, ...] = (NUMPY, TORCH, JAX_LEVELS, PGMPY, DIT, STORM)
