"""How long it takes before anything is computed: imports, and the command line as a process."""

import subprocess
import sys
from collections.abc import Iterable

from benchmarks.apart import ROOT
from benchmarks.measuring import timed

HELP = "factorcomp --help"
COMMANDS = {
    "python": ["-c", "pass"],
    "import factorcomp": ["-c", "import factorcomp"],
    HELP: ["-m", "factorcomp", "--help"],
    "factorcomp verify --example letters_AAC": ["-m", "factorcomp", "verify", "--example", "letters_AAC"],
    "import numpy": ["-c", "import numpy"],
    "import jax": ["-c", "import jax"],
}


def measure(names: Iterable[str] = COMMANDS, runs: int = 5) -> dict[str, float]:
    """The best of some runs of each command, in seconds, each in a process of its own."""
    return {name: min(timed(lambda name=name: _run(COMMANDS[name]))[0] for _ in range(runs)) for name in names}


def _run(command: list[str]) -> None:
    done = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):  # 1: a verdict
        raise RuntimeError(f"python {' '.join(command)} ended with status {done.returncode}: {done.stderr.strip()}")
