"""Every engine that is timed: ours, then the peers."""

from benchmarks import ours
from benchmarks.engine import Engine
from benchmarks.peers import PEERS

ENGINES: tuple[Engine, ...] = (*ours.ENGINES, *PEERS)


def named(name: str) -> Engine:
    """The engine of this name; raises `KeyError`."""
    return {engine.name: engine for engine in ENGINES}[name]
