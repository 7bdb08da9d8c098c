"""A function in a process of its own: what it loads, allocates and sets touches nobody else's measurement."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


class ApartError(RuntimeError):
    """The process gave no answer; `kind` is the exception's name, `"timeout"` or `"exit"`."""

    def __init__(self, kind: str, message: str):
        super().__init__(message)
        self.kind = kind


def call(
    function: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    limit: float | None = None,
) -> Any:
    """`function(**arguments)`, given as `"module:name"`, in a new interpreter; arguments and answer pass as JSON.

    **Arguments:** `environment`: added to this process's. `limit`: seconds, after which the process is killed.

    **Raises:** `ApartError` if the function raises, the process dies, or time is up.
    """
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *_given_path()]), **(environment or {})}
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        command = [sys.executable, "-m", "benchmarks.apart", function, json.dumps(dict(arguments or {})), str(answer)]
        try:
            run = subprocess.run(
                command, env=variables, capture_output=True, text=True, errors="replace", timeout=limit, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise ApartError("timeout", f"no result in {limit:g} s") from error
        if not answer.exists():
            last = (run.stderr.strip().splitlines() or [""])[-1]
            raise ApartError("exit", f"ended with status {run.returncode}: {last}")
        said = json.loads(answer.read_text())
    if "error" in said:
        raise ApartError(said["kind"], said["error"])
    return said["answer"]


def _given_path() -> list[str]:
    given = os.environ.get("PYTHONPATH")
    return [given] if given else []


def main(function: str, arguments: str, answer: str) -> None:
    """Inside the new process."""
    module, name = function.split(":")
    try:
        said: dict[str, Any] = {"answer": getattr(import_module(module), name)(**json.loads(arguments))}
    except Exception as error:  # whatever an engine raises is told to the caller, who goes on with the others
        said = {"kind": type(error).__name__, "error": f"{type(error).__name__}: {error}"}
    Path(answer).write_text(json.dumps(said))


if __name__ == "__main__":
    main(*sys.argv[1:])
