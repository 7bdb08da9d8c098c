"""What functions of proofs_checks/coq answer: they are compiled and run inside Coq."""

import ast
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

COQ = Path(__file__).parents[1] / "proofs_checks" / "coq"


def compiled(folder: Path, *names: str) -> Path:
    """`folder`, with these files compiled, in this order. Skips the test where Coq is missing."""
    if shutil.which("coqc") is None:
        pytest.skip("needs Coq with MathComp (Debian: coq libcoq-mathcomp-algebra)")
    for name in names:
        shutil.copy(COQ / f"{name}.v", folder)
        run(folder, f"{name}.v")
    return folder


def run(folder: Path, file: str) -> str:
    """What Coq prints of a file."""
    command = ["coqc", "-w", "none", "-Q", ".", "factorcomp", file]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def evaluated(folder: Path, preamble: str, terms: Iterable[str]) -> list[Any]:
    """The values of closed terms: numbers, truth values, lists, pairs and options of these."""
    lines = [preamble, *(f"Eval vm_compute in {term}." for term in terms)]
    (folder / "cases.v").write_text("\n".join(lines) + "\n", encoding="utf-8")
    printed = re.split(r"^\s+= ", run(folder, "cases.v"), flags=re.MULTILINE)[1:]
    return [read(re.split(r"^\s+: ", value, flags=re.MULTILINE)[0]) for value in printed]


def read(value: str) -> Any:
    """A value as Coq prints it."""
    plain = re.sub(r"\s+", " ", value).replace("[::]", "[]").replace("[:: ", "[").replace(";", ",").replace("Some ", "")
    return ast.literal_eval(plain.replace("true", "True").replace("false", "False").strip())


def written(value: object) -> str:
    """Nested lists of numbers in Coq's notation."""
    return f"[:: {'; '.join(map(written, value))}]" if isinstance(value, list | tuple) else str(value)
