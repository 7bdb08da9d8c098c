"""The README and the pages of docs show what happens: Python runs as written, console blocks print what they show."""

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]
RUN = "import sys; from factorcomp.cli import main; sys.argv[0] = 'factorcomp'; sys.exit(main())"
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
BLOCKS = re.findall(r"^```console\n(\$ factorcomp .*?)^```", TEXT, re.MULTILINE | re.DOTALL)
SHOWN = [block for block in BLOCKS if "\n" in block.strip() and not block.split("\n")[1].startswith("$")]


def test_python():
    failures, tried = doctest.testfile(str(README), module_relative=False, encoding="utf-8")
    assert tried > 0
    assert failures == 0


def test_console_blocks_are_shown():
    assert len(SHOWN) >= 4


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links(page):
    """What a page refers to is there."""
    targets = re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("block", SHOWN)
def test_console(block):
    """A command and all that it prints; a line `[…]` stands for any lines."""
    command, _, output = block.partition("\n")
    arguments = shlex.split(command.removeprefix("$ factorcomp "))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    program = [sys.executable, "-c", RUN, *arguments]
    run = subprocess.run(program, capture_output=True, text=True, check=False, env=environment)
    assert shows(run.stdout.rstrip("\n"), output.rstrip("\n")), run.stdout


def shows(stdout: str, block: str) -> bool:
    """Whether a block is what was printed."""
    parts = block.split("[…]\n")
    return re.fullmatch(".*\n".join(map(re.escape, parts)), stdout, re.DOTALL) is not None


@pytest.mark.parametrize(("block", "same"), [("a\nb", False), ("a\n[…]\nb", True), ("a\n[…]\nc", False)])
def test_dots_stand_for_lines_alone(block, same):
    """What is around them must be there, in this order."""
    assert shows("a\nx\ny\nb", block) is same


def test_first_screen():
    """One sentence, then two command lines."""
    lines = README.read_text(encoding="utf-8").split("\n")
    commands = lines[lines.index("```sh") + 1 : lines.index("```")]
    assert len(commands) == 2
    assert lines.index("```") < 12
