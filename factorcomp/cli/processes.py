"""Several processes for one command: the same command again, joined through JAX."""

import os
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress

SECONDS = 30
"""Others that have not ended so long after the first one are stopped."""


@contextmanager
def joined(count: int | None) -> Generator[bool]:
    """Whether this process is the one that answers; meanwhile `count - 1` others run the same command beside it.

    Under a launcher of the user's, which sets FACTORCOMP_COORDINATOR, _PROCESSES and _PROCESS, nobody is started.
    """
    place = int(os.environ.get("FACTORCOMP_PROCESS", "0"))
    if "FACTORCOMP_COORDINATOR" in os.environ:
        with _quiet():
            yield place == 0
        return
    if count is None or count == 1:
        yield True
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    os.environ |= {"FACTORCOMP_COORDINATOR": address, "FACTORCOMP_PROCESSES": str(count), "FACTORCOMP_PROCESS": "0"}
    others = [
        subprocess.Popen(
            [sys.executable, "-m", "factorcomp", *sys.argv[1:]],
            env=os.environ | {"FACTORCOMP_PROCESS": str(place)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for place in range(1, count)
    ]
    try:
        with _quiet():
            yield True
        for other in others:
            with suppress(subprocess.TimeoutExpired):
                other.wait(SECONDS)
    finally:
        for other in others:
            other.kill()
            other.wait()


@contextmanager
def _quiet() -> Generator[None]:
    """Meanwhile standard output is standard error: what joins the processes talks on it."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
