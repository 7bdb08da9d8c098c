"""Several processes for one command: the same command again, joined through JAX."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress

from factorcomp.cli import output
from factorcomp.streaming.workers import leave

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
            leave()
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
    done = threading.Event()
    threading.Thread(target=_watch, args=(others, done), daemon=True).start()
    try:
        with _quiet():
            yield True
            leave()
        done.set()
        for other in others:
            with suppress(subprocess.TimeoutExpired):
                other.wait(SECONDS)
    finally:
        done.set()
        for other in others:
            other.kill()
            other.wait()


def _watch(others: list[subprocess.Popen[bytes]], done: threading.Event) -> None:
    """Ends the command if another process fails: what waits for it in JAX cannot be interrupted."""
    while not done.wait(0.2):
        failed = [other for other in others if other.poll() not in (None, 0, 1, 3)]
        if failed:
            output.say(f"error: --processes: a process ended with status {failed[0].returncode}")
            for other in others:
                other.kill()
            os._exit(2)


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
