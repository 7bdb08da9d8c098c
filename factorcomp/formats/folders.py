"""Several models and a text written as one folder: all of it, or nothing."""

import hashlib
import os
import secrets
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from factorcomp.formats.files import save
from factorcomp.models.errors import InputError
from factorcomp.models.finite_state import FiniteStateModel
from factorcomp.models.rows import RationalRows
from factorcomp.models.tabular import TabularModel

Model = TabularModel | FiniteStateModel


def file_names(models: Mapping[str, object], text: str) -> dict[str, str]:
    """The file of each model in a folder: rational numbers as `.json`, floats of tables as `.safetensors`.

    **Raises:** `InputError` for names that no file can have, or that `text`, which lies beside them, has.
    """
    problems, names = [], {}
    for name, model in models.items():
        floats = isinstance(model, TabularModel) and not all(isinstance(rows, RationalRows) for rows in model.steps)
        names[name] = f"{name}{'.safetensors' if floats else '.json'}"
        if set(name) & {"/", "\\", "\0"} or name.startswith(".") or len(os.fsencode(names[name])) > 200:
            problems.append(f"expert {name!r}: the name cannot be that of a file; choose another")
        elif names[name].casefold() == text.casefold():
            problems.append(f"expert {name!r}: {text} is the name of what is written beside it; choose another")
    folded = [name.casefold() for name in names.values()]
    problems += [
        f"expert {name!r}: another's file has the same name but for capital letters; choose another"
        for name, file in names.items()
        if folded.count(file.casefold()) > 1
    ]
    if problems:
        raise InputError(problems)
    return names


def save_folder(
    folder: str, models: Mapping[str, Model], name: str, text: Callable[[dict[str, str]], str], *, replace: bool = False
) -> dict[str, str]:
    """Writes the models, and beside them as `name` the text that `text` makes of the digests of their files.

    **Arguments:** `replace`: a folder that is there and holds nothing but such files is replaced.

    **Returns:** the file of each model. **Raises:** `InputError` where the folder is there and not empty (with
    `replace`: holds other things too), or cannot be written; then nothing has changed.
    """
    files = file_names(models, name)
    target = Path(os.path.realpath(folder))
    check_folder(folder, replace=replace)
    mine = {*files.values(), name}
    there = sorted(target.iterdir()) if target.is_dir() else []
    others = [path.name for path in there if path.name not in mine or path.is_dir()]
    if others:
        raise InputError(f"{folder}: holds {others[0]!r} too, which is not one of the files to replace; choose another")
    mark = secrets.token_hex(4)
    fresh, old = (target.with_name(f".{target.name}.{mark}.{word}") for word in ("new", "old"))
    try:
        fresh.mkdir()
        for model, file in files.items():
            save(models[model], fresh / file)
        digests = {model: hashlib.sha256((fresh / file).read_bytes()).hexdigest() for model, file in files.items()}
        (fresh / name).write_text(text(digests), encoding="utf-8")
        if target.is_dir():
            os.replace(target, old)
        try:
            os.replace(fresh, target)
        except BaseException:  # an interrupt, too, leaves what was there
            if old.exists() and not target.exists():
                os.replace(old, target)
            raise
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error.strerror or error}") from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
    return files


def check_folder(folder: str, *, replace: bool = False) -> None:
    """Raises `InputError` unless a folder of this name can be made, or is there and empty (or may be replaced)."""
    target = Path(os.path.realpath(folder))
    if not folder or "\0" in folder:
        raise InputError(f"--output {folder!r}: needed the name of a folder")
    if target.exists() and not target.is_dir():
        raise InputError(f"--output {folder}: is no folder, needed the name of one, which is made")
    if not target.parent.is_dir():
        raise InputError(f"--output {folder}: the folder {target.parent} does not exist; make it first")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise InputError(
            f"--output {folder}: the folder {target.parent} may not be written; choose another, or allow it"
        )
    if target.is_dir() and not replace and any(target.iterdir()):
        raise InputError(f"--output {folder}: is there and not empty; choose another, or replace it with --force")
