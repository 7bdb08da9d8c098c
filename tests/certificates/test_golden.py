"""Every golden case comes out exactly, read from files by the kernel's own reader."""

from pathlib import Path

import pytest

from tests import golden
from tests.certificates.subjects import decided_from_files


@pytest.mark.skipif(not golden.names(), reason=f"no golden cases at {golden.DIRECTORY}")
@pytest.mark.parametrize("name", golden.names())
def test_golden_case(name: str, tmp_path: Path) -> None:
    instance, expected = golden.load(name)
    assert golden.compare(decided_from_files(instance, tmp_path), expected) == []
