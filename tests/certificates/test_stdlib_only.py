"""The kernel imports the standard library and itself, and nothing else; and this test can fail."""

import ast
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "factorcomp" / "certificates"
FOREIGN = ("jax", "numpy", "jaxtyping", "safetensors")
PROGRAM = "import sys; import {modules}; print(*(name for name in {foreign!r} if name in sys.modules))"


def loaded(modules: str) -> list[str]:
    """Which foreign modules a fresh interpreter has loaded after importing `modules`."""
    program = PROGRAM.format(modules=modules, foreign=FOREIGN)
    root = FOLDER.parents[1]
    return subprocess.run(
        [sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True
    ).stdout.split()


def test_importing_the_kernel_loads_nothing_foreign() -> None:
    assert loaded("factorcomp.certificates") == []


def test_the_test_above_can_fail() -> None:
    assert loaded("factorcomp.certificates, numpy") == ["numpy"]


def test_only_the_standard_library_is_named() -> None:
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                top = name.split(".")[0]
                assert top in sys.stdlib_module_names or name.startswith("factorcomp.certificates"), (path, name)


def test_files_can_be_read_in_one_sitting() -> None:
    for path in FOLDER.glob("*.py"):
        assert len(path.read_text().splitlines()) <= 250, path
