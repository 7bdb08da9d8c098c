"""Interrupted work goes on from its file, with the same report to the last bit; processes share it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

import factorcomp.verification.story as story
from factorcomp import InputError, TabularModel, verify
from factorcomp.streaming import plan as plans


def tables(seed: int, length: int = 7) -> list[TabularModel]:
    """A background and two experts that differ from it here and there."""
    rng = np.random.default_rng(seed)
    base = [rng.random((3**t, 3)) + 0.1 for t in range(length)]
    models = [base]
    for _ in range(2):
        models.append([np.where(rng.random((len(x), 1)) < 0.2, rng.random(x.shape) + 0.1, x) for x in base])
    models = [[x / x.sum(axis=1, keepdims=True) for x in steps] for steps in models]
    return [TabularModel.from_probabilities(steps, ["a", "b", "c"]) for steps in models]


@pytest.fixture(autouse=True)
def many_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(story, "NUMBERS_TO_STREAM", 0)
    monkeypatch.setattr(plans, "LEAVES", 9)
    monkeypatch.setattr(plans, "NUMBERS", 30)


def test_an_interrupted_run_goes_on_to_the_same_report(tmp_path: Path):
    base, x, y = tables(0)
    options = {"masks": {"x": (0, 3), "y": (1,)}}
    expected = verify(base, {"x": x, "y": y}, **options).to_json_text()
    file, seen = tmp_path / "work", []

    def stop(done: int, total: int) -> None:
        seen.append((done, total))
        if len(seen) == 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        verify(base, {"x": x, "y": y}, resume=file, progress=stop, **options)
    assert seen[-1][0] < seen[-1][1] == 3**7
    first = []
    found = verify(base, {"x": x, "y": y}, resume=file, progress=lambda done, _: first.append(done), **options)
    assert first[0] > seen[-1][0] * 0.9, "what was done is done again"
    assert found.to_json_text() == expected
    again = []
    assert (
        verify(base, {"x": x, "y": y}, resume=file, progress=lambda *_: again.append(1), **options).to_json_text()
        == expected
    )
    assert not again


@pytest.mark.parametrize("change", ["threshold", "model", "length"])
def test_a_file_of_other_inputs_is_refused(tmp_path: Path, change: str):
    base, x, y = tables(0)
    file = tmp_path / "work"
    verify(base, {"x": x, "y": y}, resume=file)
    before = file.read_bytes()
    options = {"threshold": {"threshold": 1}, "length": {"length": 6}}.get(change, {})
    other = tables(1)[1] if change == "model" else x
    with pytest.raises(InputError, match="belongs to another question or to other models"):
        verify(base, {"x": other, "y": y}, resume=file, **options)
    assert file.read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04"])
def test_a_file_that_is_none_is_refused_and_kept(tmp_path: Path, content: bytes):
    base, x, _ = tables(0)
    file = tmp_path / "work"
    file.write_bytes(content)
    with pytest.raises(InputError, match="no file of --resume"):
        verify(base, {"x": x}, resume=file)
    assert file.read_bytes() == content


def test_a_folder_that_is_not_there_is_said_before_the_work(tmp_path: Path):
    base, x, _ = tables(0)
    with pytest.raises(InputError, match="needed a file that can be written"):
        verify(base, {"x": x}, resume=tmp_path / "none" / "work", progress=lambda *_: pytest.fail("worked"))


SCRIPT = """
import factorcomp.streaming.plan as plans, factorcomp.verification.story as story
story.NUMBERS_TO_STREAM, plans.LEAVES, plans.NUMBERS = 0, 9, 30
from factorcomp.cli import main
raise SystemExit(main())
"""


@pytest.mark.parametrize("launched", [False, True])
def test_two_processes_give_the_report_of_one(tmp_path: Path, launched: bool, monkeypatch: pytest.MonkeyPatch):
    paths = []
    for name, model in zip(("base", "x", "y"), tables(0), strict=True):
        steps = {f"step_{t}": rows.values.reshape((3,) * (t + 1)) for t, rows in enumerate(model.steps)}
        paths.append(str(tmp_path / f"{name}.safetensors"))
        save_file(steps, paths[-1], metadata={"vocabulary": '["a", "b", "c"]', "values": "probs"})
    words = ["verify", paths[0], f"x={paths[1]}", f"y={paths[2]}", "--masks", "x=0,3", "--json", "-"]
    script = tmp_path / "factorcomp" / "__main__.py"
    script.parent.mkdir()
    script.write_text(SCRIPT)
    root = str(Path(story.__file__).parents[2])
    run = [sys.executable, str(script), *words]
    environment = os.environ | {"PYTHONPATH": root, "JAX_PLATFORMS": "cpu"}
    alone = subprocess.run(run, env=environment, capture_output=True, text=True, check=False)
    assert alone.returncode == 1, alone.stderr
    if launched:
        joined = {"FACTORCOMP_COORDINATOR": f"127.0.0.1:{_free()}", "FACTORCOMP_PROCESSES": "2"}
        processes = [
            subprocess.Popen(
                run, env=environment | joined | {"FACTORCOMP_PROCESS": n}, stdout=subprocess.PIPE, text=True
            )
            for n in "01"
        ]
        outputs = [process.communicate(timeout=120)[0] for process in processes]
        assert [process.returncode for process in processes] == [1, 1]
        assert outputs[1] == ""
        assert json.loads(outputs[0]) == json.loads(alone.stdout)
    else:
        together = subprocess.run(
            [*run, "--processes", "2"], env=environment, capture_output=True, text=True, check=False, timeout=120
        )
        assert together.returncode == 1, together.stderr
        assert together.stdout == alone.stdout


def _free() -> int:
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
