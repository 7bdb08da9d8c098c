"""Who may import whom, what an import costs, and that these tests can fail."""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEAVY = {"jax", "numpy", "safetensors", "rich", "cyclopts"}


def loaded_by(statement: str) -> set[str]:
    """The heavy packages that a statement loads in a fresh interpreter."""
    code = f"import sys; {statement}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return HEAVY & set(run.stdout.split())


def test_the_kernel_loads_the_standard_library_alone():
    assert loaded_by("import factorcomp.certificates") == set()


def test_the_package_is_lazy():
    assert loaded_by("import factorcomp") == set()


def test_a_heavy_import_would_be_seen():
    assert loaded_by("import factorcomp.models.rows") >= {"numpy"}
    assert loaded_by("import jax") >= {"jax", "numpy"}


def test_jax_is_loaded_only_where_it_is_needed():
    """Small tables are verified in NumPy, in less time than JAX takes to be imported."""
    assert "numpy" in loaded_by("import factorcomp; factorcomp.verify, factorcomp.load")
    assert "jax" not in loaded_by("import factorcomp; factorcomp.verify, factorcomp.load")


def broken_contracts(config: Path) -> str | None:
    """What import-linter prints if a contract is broken, `None` if all are kept."""
    program = "from importlinter.cli import lint_imports_command as run; run()"
    command = [sys.executable, "-c", program, "--config", str(config), "--no-cache"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return None if run.returncode == 0 else run.stdout + run.stderr


def test_data_flows_one_way():
    assert broken_contracts(ROOT / "pyproject.toml") is None


def test_a_broken_contract_would_be_seen(tmp_path):
    """The same layers, upside down."""
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    layers = "".join(f"    {layer}\n" for layer in reversed(contract["layers"]))
    config = tmp_path / "upside_down.ini"
    config.write_text(
        "[importlinter]\nroot_package = factorcomp\n\n"
        f"[importlinter:contract:1]\nname = Upside down\ntype = layers\nlayers =\n{layers}containers = factorcomp\n"
    )
    assert "BROKEN" in (broken_contracts(config) or "")
