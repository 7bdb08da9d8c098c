"""Work in pieces, spread over cores and processes, and kept, so that it can go on later."""

import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

import numpy as np

from factorcomp.composition.precision import float64
from factorcomp.streaming.arrays import each, leaves
from factorcomp.streaming.kept import KeptWork
from factorcomp.surveys import Progress


class Workers:
    """Threads for the pieces of work, and what they share with other processes.

    **Arguments:** `progress`: told how many units of work are done, and of how many. `kept`: what is done already.
    `threads`: how many; by default one for each core.
    """

    def __init__(self, progress: Progress | None = None, kept: KeptWork | None = None, *, threads: int | None = None):
        self.progress = progress
        self.kept = kept
        self.threads = threads or os.cpu_count() or 1

    def spread(self, name: str, pieces: int, work: Callable[[int], Any], like: Any, units: int) -> list[Any]:
        """`[work(0), work(1), …]`: nested tuples of arrays in the form of `like`, whoever computed them.

        `units`: of progress in each piece.
        """
        process, processes = place()
        mine = range(process, pieces, processes) or range(1)  # each has something to show the others
        found: dict[int, Any] = {}
        if self.kept is not None:
            for piece in mine:
                if (arrays := self.kept.get(name, piece)) is not None:
                    queue = iter(arrays)
                    found[piece] = each(lambda _, queue=queue: next(queue), like)
        self._compute(name, [piece for piece in mine if piece not in found], work, found, pieces * units, units)
        if processes > 1:
            return _gathered([found[piece] for piece in mine], pieces, processes)
        return [found[piece] for piece in range(pieces)]

    def _compute(
        self, name: str, todo: Sequence[int], work: Callable[[int], Any], found: dict[int, Any], total: int, units: int
    ) -> None:
        count = min(self.threads, max(1, len(todo)))
        with ThreadPoolExecutor(count) as pool:
            waiting: dict[Future[Any], int] = {}
            left = iter(todo)
            try:
                while True:
                    while len(waiting) < 2 * count and (piece := next(left, None)) is not None:
                        waiting[pool.submit(work, piece)] = piece
                    if not waiting:
                        return
                    for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                        piece = waiting.pop(future)
                        found[piece] = future.result()
                        if self.kept is not None:
                            self.kept.put(name, piece, list(leaves(found[piece])))
                        if self.progress is not None:
                            self.progress(min(len(found) * units, total), total)
            finally:
                for future in waiting:
                    future.cancel()
                if self.kept is not None:
                    self.kept.save()


def join() -> None:
    """Joins the processes that FACTORCOMP_COORDINATOR (host:port), _PROCESSES and _PROCESS (from 0) tell of, if any.

    Collective operations on CPUs go through gloo. Processes that the user has joined stay as they are.
    """
    if (address := os.environ.get("FACTORCOMP_COORDINATOR")) is None:
        return
    import jax

    if jax.distributed.is_initialized():
        return
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    count, place = (int(os.environ[f"FACTORCOMP_{name}"]) for name in ("PROCESSES", "PROCESS"))
    jax.distributed.initialize(address, count, place)


def leave() -> None:
    """Leaves the processes that `join` joined; waits until all do."""
    if "FACTORCOMP_COORDINATOR" in os.environ and "jax" in sys.modules:
        import jax

        if jax.distributed.is_initialized():
            jax.distributed.shutdown()


def place() -> tuple[int, int]:
    """The number of this process and how many there are, where the user or the command line joined them."""
    join()
    if "jax" not in sys.modules:
        return 0, 1
    import jax

    return (jax.process_index(), jax.process_count()) if jax.distributed.is_initialized() else (0, 1)


def _gathered(mine: list[Any], pieces: int, processes: int) -> list[Any]:
    """The results of all processes, in the order of the pieces, of which each did every so many."""
    from jax.experimental.multihost_utils import process_allgather

    rows = -(-pieces // processes)
    padded = mine + [mine[-1]] * (rows - len(mine))
    stacked = each(lambda *parts: np.stack(parts), *padded)
    with float64():
        everything = each(lambda x: np.asarray(process_allgather(x)), stacked)
    return [
        each(lambda x, piece=piece: x[piece % processes, piece // processes], everything) for piece in range(pieces)
    ]
