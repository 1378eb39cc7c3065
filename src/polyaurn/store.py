"""Model folders: written whole or not at all, opened without running anything.

A folder holds ``model.json`` (format, version, parameters), ``arrays.npz``, ``vocab.txt``,
``doc_names.txt`` and ``trace.jsonl``.
"""

import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from polyaurn._version import __version__
from polyaurn.errors import InputError
from polyaurn.model import TopicModel
from polyaurn.naming import Numbered
from polyaurn.state import Priors

FORMAT = "polyaurn-model"
FORMAT_VERSION = 1
HEADER = "model.json"


def check_target(path: str | Path, *, force: bool = False, name: str = "path") -> Path:
    """Refuse a folder that a model could not be written to; called before long work.

    Parameters
    ----------
    path : str or Path
        Where the model will go.
    force : bool
        A model that is there may be replaced. Other contents never are.
    name : str
        The parameter's name, for the error message.

    Returns
    -------
    Path
        The folder, absolute.
    """
    if not isinstance(path, str | Path):
        raise InputError(f"The '{name}' parameter must be a path. Got {path!r} instead.")
    target = Path(path).absolute()
    if target.exists():
        if not target.is_dir():
            raise InputError(
                f"The '{name}' parameter must be a folder. '{path}' is a file; choose another name."
            )
        if (target / HEADER).exists():
            if not force:
                raise InputError(
                    f"The folder '{path}' already holds a model. Choose another folder, or "
                    "replace the model with --force (force=True)."
                )
        elif any(target.iterdir()):
            raise InputError(
                f"The folder '{path}' must be empty or hold a model. It holds other files, which "
                "are left alone; choose another folder."
            )
    parent = target.parent
    while not parent.exists():
        parent = parent.parent
    try:
        with tempfile.TemporaryDirectory(prefix=".polyaurn", dir=parent):
            pass
    except OSError as error:
        raise InputError(
            f"The folder '{path}' cannot be written: {error.strerror} in '{parent}'. Choose a "
            "folder of your own."
        ) from None
    return target


def save(model: TopicModel, path: str | Path, *, force: bool = False) -> Path:
    """Write a model folder under a temporary name, then rename it.

    Parameters
    ----------
    model : TopicModel
        What to write.
    path : str or Path
        The folder.
    force : bool
        Replace a model that is there.

    Returns
    -------
    Path
        The folder.
    """
    target = check_target(path, force=force)
    arrays: dict[str, Any] = {
        "assignments": model.assignments,
        "alpha": model.priors.alpha,
        "beta": model.priors.beta,
    }
    for name in ("topic_word_counts", "doc_topic_counts"):
        csr = getattr(model, name)
        for part in ("data", "indices", "indptr"):
            arrays[f"{name}.{part}"] = getattr(csr, part)
    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "polyaurn_version": __version__,
        "parameters": model.parameters,
        "numbered_documents": isinstance(model.doc_names, Numbered),
    }
    with _new_folder(target) as folder:
        np.savez_compressed(folder / "arrays.npz", **arrays)
        _write_lines(folder / "vocab.txt", model.vocab)
        if not header["numbered_documents"]:
            _write_lines(folder / "doc_names.txt", model.doc_names)
        _write_lines(folder / "trace.jsonl", map(json.dumps, model.trace))
        _write_lines(folder / HEADER, [json.dumps(header, indent=2)])
    return target


def load(path: str | Path) -> TopicModel:
    """Open a model folder.

    Parameters
    ----------
    path : str or Path
        As written by `save`, `LDA.save` or ``polyaurn train --out``.

    Returns
    -------
    TopicModel
        The same in every byte as the one that was saved.
    """
    folder = Path(path)
    if not (folder / HEADER).is_file():
        what = "does not exist" if not folder.exists() else f"has no {HEADER}"
        raise InputError(
            f"The folder '{path}' must hold a model. It {what}; give a folder written by "
            "'polyaurn train --out'."
        )
    try:
        header = json.loads((folder / HEADER).read_text(encoding="utf-8"))
        if header["format"] != FORMAT or header["format_version"] > FORMAT_VERSION:
            raise InputError(
                f"The folder '{path}' must hold a model of format version {FORMAT_VERSION} or "
                f"older. Got {header['format']!r} version {header['format_version']!r}; upgrade "
                "polyaurn to read it."
            )
        facts = header["parameters"]
        K, D, V = (facts[name] for name in ("n_topics", "n_documents", "n_words"))
        numbered = header["numbered_documents"]
        with np.load(folder / "arrays.npz", allow_pickle=False) as arrays:
            model = TopicModel(
                topic_word_counts=_matrix(arrays, "topic_word_counts", (K, V)),
                doc_topic_counts=_matrix(arrays, "doc_topic_counts", (D, K)),
                assignments=arrays["assignments"],
                vocab=tuple(_read_lines(folder / "vocab.txt")),
                doc_names=Numbered(D) if numbered else tuple(_read_lines(folder / "doc_names.txt")),
                priors=Priors(arrays["alpha"], arrays["beta"]),
                trace=[json.loads(line) for line in _read_lines(folder / "trace.jsonl")],
                parameters=facts,
            )
        _check_sizes(model, K, D, V, facts["n_tokens"])
        return model
    except InputError:
        raise
    except (OSError, KeyError, TypeError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(
            f"The folder '{path}' holds a damaged model ({error}). Copy it again, or train anew."
        ) from None


@contextmanager
def _new_folder(target: Path) -> Iterator[Path]:
    """Give a temporary folder beside the target, put in its place when all went well."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    except OSError as error:
        raise InputError(
            f"The folder '{target}' cannot be written: {error.strerror}. Choose another folder."
        ) from None
    try:
        temporary.chmod(0o777 & ~_umask())
        yield temporary
        if target.exists():
            old = temporary.with_name(temporary.name + ".old")
            target.rename(old)
            temporary.rename(target)
            shutil.rmtree(old)
        else:
            temporary.rename(target)
    except OSError as error:
        raise InputError(
            f"The folder '{target}' cannot be written: {error.strerror}. Free some space or "
            "choose another folder."
        ) from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _check_sizes(model: TopicModel, K: int, D: int, V: int, N: int) -> None:
    found = (
        len(model.priors.alpha),
        len(model.doc_names),
        len(model.vocab),
        len(model.priors.beta),
    )
    if found != (K, D, V, V) or len(model.assignments) != N:
        raise ValueError("its files do not belong together")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _matrix(arrays: Any, name: str, shape: tuple[int, int]) -> sp.csr_matrix:
    parts = tuple(arrays[f"{name}.{part}"] for part in ("data", "indices", "indptr"))
    return sp.csr_matrix(parts, shape=shape)


def _write_lines(path: Path, lines: Any) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(line + "\n" for line in lines)


def _read_lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1]
