"""Work done so far, in a file: what was interrupted goes on from it, with the same result to the last bit."""

import hashlib
import json
import os
import tempfile
import time
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from factorcomp.certificates.claims import Question
from factorcomp.models.errors import InputError
from factorcomp.models.function import FunctionModel
from factorcomp.models.rows import FloatRows
from factorcomp.models.tabular import TabularModel
from factorcomp.streaming.plan import Plan

FORMAT = "factorcomp-resume/1"
SECONDS = 10.0
"""What was done since is at most that much work, when the machine fails."""


class KeptWork:
    """Results of pieces of work, by name and number, in a file that belongs to one question about some models.

    **Arguments:** `identity`: of the question and the models. Raises `InputError` if the file belongs to others, is no
    such file, or cannot be written.
    """

    def __init__(self, path: str | os.PathLike[str], identity: str):
        self.path = Path(path)
        self.identity = identity
        self._arrays: dict[str, np.ndarray] = {}
        self._saved = time.monotonic()
        if self.path.exists():
            self._arrays = self._read()
        self.save()

    def get(self, name: str, piece: int) -> list[np.ndarray] | None:
        """The arrays of a piece of the work `name`, if it was done."""
        found, prefix = [], f"{name}/{piece}/"
        while (array := self._arrays.get(f"{prefix}{len(found)}")) is not None:
            found.append(array)
        return found or None

    def put(self, name: str, piece: int, arrays: Sequence[np.ndarray]) -> None:
        """Keeps them; in the file after some seconds."""
        self._arrays |= {f"{name}/{piece}/{n}": np.asarray(array) for n, array in enumerate(arrays)}
        if time.monotonic() - self._saved > SECONDS:
            self.save()

    def save(self) -> None:
        """Writes the file, whole or not at all."""
        folder = self.path.resolve().parent
        try:
            with tempfile.NamedTemporaryFile(dir=folder, prefix=f".{self.path.name}.", delete=False) as file:
                try:
                    arrays = self._arrays | {"format": np.array(FORMAT), "identity": np.array(self.identity)}
                    np.savez(file, allow_pickle=False, **arrays)
                    os.replace(file.name, self.path)
                except BaseException:
                    os.unlink(file.name)
                    raise
        except OSError as error:
            raise InputError(f"{self.path}: {error.strerror or error}; needed a file that can be written") from error
        self._saved = time.monotonic()

    def _read(self) -> dict[str, np.ndarray]:
        try:
            with self.path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
        except (OSError, ValueError, EOFError, AttributeError, TypeError, zipfile.BadZipFile) as error:
            raise InputError(f"{self.path}: no file of --resume; name one that does not exist yet") from error
        if str(arrays.pop("format", "")) != FORMAT:
            raise InputError(f"{self.path}: no file of --resume; name one that does not exist yet")
        if str(arrays.pop("identity", "")) != self.identity:
            raise InputError(f"{self.path}: belongs to another question or to other models; name another file")
        return arrays


def identity(plan: Plan, question: Question, models: Sequence[FunctionModel | TabularModel]) -> str:
    """A digest of all that a survey depends on; of functions, their names alone."""
    digests = [model.source.sha256 or _digest(model) for model in models]
    return hashlib.sha256(json.dumps([FORMAT, repr(plan), repr(question), digests]).encode()).hexdigest()


def _digest(model: FunctionModel | TabularModel) -> str:
    total = hashlib.sha256(json.dumps([model.source.name, model.vocabulary, model.eos]).encode())
    if isinstance(model, FunctionModel):
        return total.hexdigest()
    for rows in model.steps:
        assert isinstance(rows, FloatRows)
        total.update(f"{rows.scale} {rows.values.dtype} {rows.values.shape}".encode())
        total.update(np.ascontiguousarray(rows.values).data)
    return total.hexdigest()
