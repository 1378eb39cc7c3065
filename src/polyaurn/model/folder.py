"""Model folders, written: replaced completely or not at all.

``model.json`` is the header; docs/format.md describes it and the files beside it.
"""

import hashlib
import json
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from polyaurn.base.checks import check_path
from polyaurn.base.errors import InputError
from polyaurn.base.version import __version__
from polyaurn.chain.state import topic_word_matrix
from polyaurn.corpus.names import Numbered
from polyaurn.files.atomic import is_temporary
from polyaurn.files.locks import LOCK, locked
from polyaurn.files.names import (
    ARRAYS,
    CHECKPOINTS,
    CONFIG,
    HEADER,
    NAMES,
    SEALED,
    TIMINGS,
    TRACE,
    VOCABULARY,
    holds_checkpoint,
    remove_checkpoints,
)
from polyaurn.files.npz import write_npz
from polyaurn.files.sealed import both_names, replace_file, seal
from polyaurn.model.data import ModelData

FORMAT = "polyaurn-model"
FORMAT_VERSION = 2
TIMED = ("seconds", "phi_seconds", "z_seconds", "tokens_per_second")  # of a record in the trace


def check_target(path: str | Path, *, force: bool = False, name: str = "path") -> Path:
    """Return a folder's absolute path; raise, before long work, if no model can be written there.

    With `force`, a model or a checkpoint that is there may be replaced; other contents never are.
    `name` is the parameter's, for the error message.
    """
    target = check_path(path, name).absolute()
    if target.exists():
        _check_contents(target, path, name, force=force)
    parent = target
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


def _check_contents(target: Path, path: str | Path, name: str, *, force: bool) -> None:
    if not target.is_dir():
        raise InputError(
            f"The '{name}' parameter must be a folder. '{path}' is a file; choose another name."
        )
    ours = both_names(SEALED) | {HEADER, TIMINGS, CONFIG, LOCK, CHECKPOINTS}
    if not all(entry.name in ours or is_temporary(entry.name) for entry in target.iterdir()):
        raise InputError(
            f"The folder '{path}' must be empty or hold a model. It holds other files, which "
            "are left alone; choose another folder."
        )
    if not force and holds_checkpoint(target):
        raise InputError(
            f"The folder '{path}' holds a run that was not finished. Continue it with --resume "
            "(resume=True), or replace it with --force (force=True)."
        )
    if not force and (target / HEADER).exists():
        raise InputError(
            f"The folder '{path}' already holds a model. Choose another folder, or replace the "
            "model with --force (force=True)."
        )


def save(model: ModelData, path: str | Path, *, force: bool = False) -> Path:
    """Write a model folder, its header last; with `force`, replace a model or checkpoints there."""
    target = check_target(path, force=force)
    with locked(target):
        write_model(model, target)
        remove_checkpoints(target)
    return target


def write_model(model: ModelData, folder: Path, config: str | None = None) -> None:
    """Write a model into a folder that the caller has locked, replacing an earlier one.

    `config` is the text of its ``config.toml``; that of an earlier model is removed in any case.
    """
    (folder / CONFIG).unlink(missing_ok=True)
    numbered = isinstance(model.doc_names, Numbered)
    n = model.topic_word_counts
    lengths = np.asarray(model.doc_topic_counts.sum(axis=1)).ravel()
    arrays = {
        "assignments": model.assignments,
        "doc_ptr": np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
        "alpha": model.priors.alpha,
        "beta": model.priors.beta,
        "topic_word_counts.data": n.data,
        "topic_word_counts.indices": n.indices,
        "topic_word_counts.indptr": n.indptr,
    }
    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "polyaurn_version": __version__,
        "parameters": model.parameters,
        "numbered_documents": numbered,
    }
    if model.tokenization is not None:
        header["tokenization"] = model.tokenization.to_json()
    if model.priors.pseudo is not None:
        before = topic_word_matrix(model.priors.pseudo, model.n_topics)
        arrays |= {f"pseudo_counts.{p}": getattr(before, p) for p in ("data", "indices", "indptr")}
        header["pseudo_counts"] = True
    kept = [{k: v for k, v in record.items() if k not in TIMED} for record in model.trace]
    timed = [{k: record[k] for k in TIMED if k in record} for record in model.trace]
    files: dict[str, Any] = {
        ARRAYS: lambda file: write_npz(file, arrays),
        VOCABULARY: lambda file: file.write(_lines(model.vocab)),
        NAMES: lambda file: file.write(_lines(model.doc_names)),
        TRACE: lambda file: file.write(_lines(map(json.dumps, kept))),
    }
    if numbered:
        del files[NAMES]
    sealed = seal(folder, HEADER, header, files)
    of = sealed["files"][TRACE]["sha256"]
    lines = [json.dumps(times) for times in timed]
    first = json.dumps({"of": of, "sha256": timings_digest(of, lines)})
    replace_file(folder / TIMINGS, _lines([first, *lines]))
    if config is not None:
        replace_file(folder / CONFIG, config.encode())
    _remove_strays(folder, {fact["file"] for fact in sealed["files"].values()})


def _remove_strays(folder: Path, used: set[str]) -> None:
    """Remove what killed writers left: incomplete files, and complete ones without a header."""
    for entry in folder.iterdir():
        unused = entry.name in both_names(SEALED) - used
        if unused or is_temporary(entry.name):
            entry.unlink(missing_ok=True)


def timings_digest(of: Any, lines: Iterable[str]) -> str:
    """Return the checksum of timings, given that of the trace they belong to."""
    return hashlib.sha256(_lines([str(of), *lines])).hexdigest()


def _lines(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()
