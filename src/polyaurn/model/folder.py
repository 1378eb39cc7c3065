"""Model folders, written: replaced completely or not at all.

``model.json`` is the header; docs/format.md describes it and the files beside it.
"""

import hashlib
import json
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from polyaurn.base.checks import check_path
from polyaurn.base.errors import InputError
from polyaurn.base.version import __version__
from polyaurn.chain.state import OF_CLUSTER, topic_word_matrix
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
from polyaurn.files.sealed import (
    Damaged,
    read_header,
    replace_file,
    reseal,
    seal,
    unseal,
    write_flushed,
)
from polyaurn.model.clusters import arrays_of
from polyaurn.model.contents import (
    FORMAT,
    WRITING,
    check_contents,
    check_foreign,
    holds_run,
    remove_strays,
)
from polyaurn.model.data import ModelData
from polyaurn.model.labels import OF_LABELS
from polyaurn.model.parts import Parts
from polyaurn.model.top_level import arrays_of_top

FORMAT_VERSION = 2
PARTED_VERSION = 3  # of a model in parts
M = TypeVar("M", bound=ModelData)
WRITER, SAVE = "written_by", "save"  # in the header: the writer, and `TopicModel.save` among them
_CORPUS = "# corpus "  # before the fingerprint in a config.toml, which says whose it is
TIMED = (  # of a record in the trace
    "seconds", "phi_seconds", "z_seconds", "tokens_per_second", *OF_CLUSTER,
)  # fmt: skip


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


def save(
    model: ModelData, path: str | Path, *, force: bool = False, writer: str | None = None
) -> Path:
    """Write a model folder, its header last; with `force`, replace a model or checkpoints there.

    A `writer` is named in the header, and replaces what it wrote itself without `force`
    (`written_by`).
    """
    again = writer is not None and written_by(path, writer)
    target = check_target(path, force=force or again)
    with locked(target):
        write_model(model, target, writer=writer)
        remove_checkpoints(target)
    return target


def written_by(path: str | Path, writer: str) -> bool:
    """Return whether a folder holds a whole model of this writer, and no run.

    Its header must name the writer, and the checksums of the header and of all files must be right:
    a model that was changed, trained at the command line or copied over another is not the
    writer's.
    """
    folder = check_path(path, "path").absolute()
    if (folder / CONFIG).exists() or holds_run(folder):
        return False
    try:
        header = unseal(folder, HEADER, FORMAT, PARTED_VERSION, first_sealed=2)
    except (Damaged, InputError):
        return False
    return header.get(WRITER) == writer


def write_model(
    model: ModelData,
    folder: Path,
    config: str | None = None,
    writer: str | None = None,
    parts: Parts | None = None,
) -> None:
    """Write a model into a folder that the caller has locked, replacing an earlier one.

    `config` is the text of its ``config.toml``; that of an earlier model is removed in any case,
    once the new model is there. `writer` is named in the header. `parts` are in the folder already;
    they have the topics of documents and the counts of words, which are not written again.
    """
    check_foreign(folder)
    try:
        write_flushed(folder / WRITING, b"polyaurn\n")
        _write_files(model, folder, config, writer, parts)
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


def write_labels(model: ModelData, path: str | Path) -> None:
    """Write the labels of a model into its folder, of which only the header is replaced."""
    folder = check_path(path, "path").absolute()
    with locked(folder):
        try:
            header = unseal(folder, HEADER, FORMAT, PARTED_VERSION, first_sealed=2)
        except Damaged as reason:
            raise InputError(
                f"The folder '{path}' must hold the model that the labels are for. It is damaged "
                f"({reason}); copy it again, or train again."
            ) from None
        facts = header.get("parameters")
        if not isinstance(facts, dict) or _without_labels(facts) != _without_labels(
            json.loads(json.dumps(model.parameters))
        ):
            raise InputError(
                f"The folder '{path}' must hold the model that the labels are for. It holds "
                "another one; has it been replaced meanwhile? Label the model that is there now."
            )
        of_labels = {name: model.parameters[name] for name in OF_LABELS if name in model.parameters}
        header.pop(WRITER, None)  # saving the model again must not drop labels unasked
        reseal(folder, HEADER, header | {"parameters": _without_labels(facts) | of_labels})


def keep_labels(model: M, path: Path) -> M:
    """Return a model with the labels of the one in a folder, where both are of the same run.

    Topics keep their numbers in a chain, whatever number of sweeps it has; in a model that leaves
    out topics without tokens, or clusters without documents, they do not.
    """
    if model.priors.top is not None or model.clusters is not None:
        return model
    try:
        facts = read_header(path / HEADER).get("parameters")
    except Damaged:
        return model
    before, now = (_run(f) for f in (facts, model.parameters))
    both = before.keys() & now.keys()
    if not both or any(before[name] != now[name] for name in both):
        return model
    kept = {name: value for name, value in (facts or {}).items() if name in OF_LABELS}
    return replace(model, parameters=model.parameters | kept)


def _run(facts: Any) -> dict[str, Any]:
    """Return what fixes a chain, as far as a model says it; nothing for one from elsewhere."""
    run = facts.get("run") if isinstance(facts, dict) else None
    plain = json.loads(json.dumps(run)) if isinstance(run, dict) else {}
    return {name: value for name, value in plain.items() if name != "max_iter"}


def _without_labels(facts: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if name not in OF_LABELS}


def _write_files(
    model: ModelData, folder: Path, config: str | None, writer: str | None, parts: Parts | None
) -> None:
    """Write the files of a model; nothing of an earlier one is gone before its header is."""
    new_config = temporary_name(folder / CONFIG)
    if config is not None:
        stamp = _CORPUS + str(model.parameters.get("corpus_sha256"))
        write_flushed(new_config, f"{config}{stamp}\n".encode())
    sealed = _seal(model, folder, writer, parts)
    if config is not None:
        new_config.replace(folder / CONFIG)
    else:
        (folder / CONFIG).unlink(missing_ok=True)
    of = sealed["files"][TRACE]["sha256"]
    timed = [{k: record[k] for k in TIMED if k in record} for record in model.trace]
    lines = [json.dumps(times) for times in timed]
    first = json.dumps({"of": of, "sha256": timings_digest(of, lines)})
    replace_file(folder / TIMINGS, _lines([first, *lines]))


def _seal(
    model: ModelData, folder: Path, writer: str | None, parts: Parts | None
) -> dict[str, Any]:
    """Write the sealed files and their header; return the header."""
    names = model.doc_names if parts is None else parts.doc_names
    numbered = isinstance(names, Numbered)
    arrays: dict[str, Any] = {"alpha": model.priors.alpha, "beta": model.priors.beta}
    if parts is None:
        n = model.topic_word_counts
        lengths = np.asarray(model.doc_topic_counts.sum(axis=1)).ravel()
        arrays = {
            "assignments": model.assignments,
            "doc_ptr": np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
            **arrays,
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
    if parts is not None:
        header |= {"format_version": PARTED_VERSION, "parts": list(parts.files)}
    if writer is not None:
        header[WRITER] = writer
    if model.tokenization is not None:
        header["tokenization"] = model.tokenization.to_json()
    if model.priors.pseudo is not None:
        before = topic_word_matrix(model.priors.pseudo, model.n_topics)
        arrays |= {f"pseudo_counts.{p}": getattr(before, p) for p in ("data", "indices", "indptr")}
        header["pseudo_counts"] = True
    if model.clusters is not None:
        arrays |= arrays_of(model.clusters)
        header["clusters"] = model.clusters.draws.shape[1]
    if model.priors.top is not None:
        arrays |= arrays_of_top(model.priors.top)
        header["top_level"] = True
    kept = [{k: v for k, v in record.items() if k not in TIMED} for record in model.trace]
    files: dict[str, Any] = {
        ARRAYS: lambda file: write_npz(file, arrays),
        VOCABULARY: lambda file: file.write(_lines(model.vocab)),
        NAMES: lambda file: file.write(_lines(names)),
        TRACE: lambda file: file.write(_lines(map(json.dumps, kept))),
    }
    if numbered:
        del files[NAMES]
    written = {} if parts is None else parts.files
    return seal(folder, HEADER, header, files, known=SEALED, written=written)


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
