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
from polyaurn.files.atomic import temporary_name
from polyaurn.files.locks import locked
from polyaurn.files.names import (
    ARRAYS,
    CONFIG,
    HEADER,
    NAMES,
    SEALED,
    TIMINGS,
    TRACE,
    VOCABULARY,
    remove_checkpoints,
)
from polyaurn.files.npz import write_npz
from polyaurn.files.sealed import replace_file, seal, write_flushed
from polyaurn.model.contents import FORMAT, WRITING, check_contents, check_foreign, remove_strays
from polyaurn.model.data import ModelData

FORMAT_VERSION = 2
_CORPUS = "# corpus "  # before the fingerprint in a config.toml, which says whose it is
TIMED = ("seconds", "phi_seconds", "z_seconds", "tokens_per_second")  # of a record in the trace


def check_target(path: str | Path, *, force: bool = False, name: str = "path") -> Path:
    """Return a folder's absolute path; raise, before long work, if no model can be written there.

    With `force`, a model or a checkpoint that is there may be replaced; files that polyaurn did
    not write never are.
    `name` is the parameter's, for the error message.
    """
    target = check_path(path, name).absolute()
    if target.exists():
        check_contents(target, path, name, force=force)
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


def save(model: ModelData, path: str | Path, *, force: bool = False) -> Path:
    """Write a model folder, its header last; with `force`, replace a model or checkpoints there."""
    target = check_target(path, force=force)
    with locked(target):
        write_model(model, target)
        remove_checkpoints(target)
    return target


def write_model(model: ModelData, folder: Path, config: str | None = None) -> None:
    """Write a model into a folder that the caller has locked, replacing an earlier one.

    `config` is the text of its ``config.toml``; that of an earlier model is removed in any case,
    once the new model is there.
    """
    check_foreign(folder)
    try:
        write_flushed(folder / WRITING, b"polyaurn\n")
        _write_files(model, folder, config)
    finally:
        remove_strays(folder)
        (folder / WRITING).unlink(missing_ok=True)


def rewrite_model(model: ModelData, folder: Path) -> None:
    """Write a changed model in place of the one in a folder that the caller has locked.

    Its ``config.toml`` stays, since the corpus and the run are the same.
    """
    config = None
    if config_of(model, folder).is_file():
        text = (folder / CONFIG).read_bytes().decode()
        config = "".join(
            line for line in text.splitlines(keepends=True) if not line.startswith(_CORPUS)
        )
    write_model(model, folder, config)


def _write_files(model: ModelData, folder: Path, config: str | None) -> None:
    """Write the files of a model; nothing of an earlier one is gone before its header is."""
    new_config = temporary_name(folder / CONFIG)
    if config is not None:
        stamp = _CORPUS + str(model.parameters.get("corpus_sha256"))
        write_flushed(new_config, f"{config}{stamp}\n".encode())
    sealed = _seal(model, folder)
    if config is not None:
        new_config.replace(folder / CONFIG)
    else:
        (folder / CONFIG).unlink(missing_ok=True)
    of = sealed["files"][TRACE]["sha256"]
    timed = [{k: record[k] for k in TIMED if k in record} for record in model.trace]
    lines = [json.dumps(times) for times in timed]
    first = json.dumps({"of": of, "sha256": timings_digest(of, lines)})
    replace_file(folder / TIMINGS, _lines([first, *lines]))


def _seal(model: ModelData, folder: Path) -> dict[str, Any]:
    """Write the sealed files and their header; return the header."""
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
    files: dict[str, Any] = {
        ARRAYS: lambda file: write_npz(file, arrays),
        VOCABULARY: lambda file: file.write(_lines(model.vocab)),
        NAMES: lambda file: file.write(_lines(model.doc_names)),
        TRACE: lambda file: file.write(_lines(map(json.dumps, kept))),
    }
    if numbered:
        del files[NAMES]
    return seal(folder, HEADER, header, files, known=SEALED)


def config_of(model: ModelData, folder: Path) -> Path:
    """Return the path of a model's ``config.toml``; of no file where that is another model's."""
    path = folder / CONFIG
    try:
        last = path.read_bytes().decode().rstrip("\n").rpartition("\n")[2]
    except (OSError, UnicodeDecodeError):
        return path
    stated = last.removeprefix(_CORPUS) if last.startswith(_CORPUS) else None
    if stated is None or stated == str(model.parameters.get("corpus_sha256")):
        return path
    return folder / "none"


def timings_digest(of: Any, lines: Iterable[str]) -> str:
    """Return the checksum of timings, given that of the trace they belong to."""
    return hashlib.sha256(_lines([str(of), *lines])).hexdigest()


def _lines(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()
