"""docs/testing.md: its test file fails as the page shows, and its tables list every law."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from factorcomp.testing.composer_laws import COMPOSER_LAWS
from factorcomp.testing.model_laws import MODEL_LAWS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")


def test_the_test_file_fails_as_the_page_shows(tmp_path):
    (file,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (shown,) = re.findall(r"^\$ pytest -q test_mine.py -k \"(.*?)\"\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "test_mine.py").write_text(file, encoding="utf-8")
    options = ["-p", "pytest_factorcomp", "-p", "no:cacheprovider", "--rootdir", str(tmp_path)]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "-q", "test_mine.py", "-k", shown[0]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert run.returncode == pytest.ExitCode.TESTS_FAILED, run.stderr
    assert told(run.stdout) == told(shown[1])


def told(output: str) -> list[str]:
    """Which laws are broken, which tests fail, how many pass.

    Other versions may find another smallest case; pytest shortens the summary, but where the variable CI is set.
    """
    return [
        re.sub(r" in [\d.]+s.*| - Failed: .*", "", line)
        for line in output.split("\n")
        if re.search("is broken:|^FAILED|passed", line)
    ]


def test_every_law_is_listed():
    for law in COMPOSER_LAWS:
        assert f"| `{law.name}` | {law.says} | {law.number} |\n" in PAGE
    for law in MODEL_LAWS:
        assert f"| `{law.name}` | {law.says} |\n" in PAGE
