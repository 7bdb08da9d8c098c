"""Work in pieces, spread over cores, devices and processes, and kept, so that it can go on later."""

import os
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, Protocol, runtime_checkable

import numpy as np

from factorcomp.composition.precision import float64
from factorcomp.streaming.arrays import each, leaves
from factorcomp.surveys import Progress


@runtime_checkable
class Kept(Protocol):
    """Results of pieces from an earlier time, and for a later one."""

    def get(self, name: str, piece: int) -> Sequence[np.ndarray] | None:
        """The arrays of a piece of the work `name`, if it was done."""
        ...

    def put(self, name: str, piece: int, arrays: Sequence[np.ndarray]) -> None:
        """Keeps them."""
        ...


class Workers:
    """Threads, one for each core, each with a device of its own where JAX has several.

    **Arguments:** `progress`: told how many units of work are done, and of how many. `kept`: what is done already.
    """

    def __init__(self, progress: Progress | None = None, kept: Kept | None = None):
        self.progress = progress
        self.kept = kept
        self._local = threading.local()
        self._started = 0

    @property
    def device(self) -> Any:
        """The device of JAX for this thread."""
        import jax

        devices = jax.local_devices()
        return devices[getattr(self._local, "number", 0) % len(devices)]

    def spread(self, name: str, pieces: int, work: Callable[[int], Any], like: Any, units: int) -> list[Any]:
        """`[work(0), work(1), …]`: nested tuples of arrays in the form of `like`, whoever computed them.

        `units`: of progress in each piece.
        """
        process, processes = _place()
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
        count = min(os.cpu_count() or 1, max(1, len(todo)))
        with ThreadPoolExecutor(count, initializer=self._number) as pool:
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

    def _number(self) -> None:
        self._local.number = self._started
        self._started += 1


def _place() -> tuple[int, int]:
    """The number of this process and how many there are, where the user or the command line joined them."""
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
