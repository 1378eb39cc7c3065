"""Model folders, opened without running anything, their checksums verified."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from polyaurn.base.errors import InputError
from polyaurn.chain.priors import MOST_PSEUDO, make_priors
from polyaurn.chain.state import MAX_TOPICS, Priors, doc_topic_matrix
from polyaurn.corpus.names import Numbered, check_vocabulary
from polyaurn.corpus.tokenization import Tokenizer
from polyaurn.files.names import (
    ARRAYS,
    HEADER,
    NAMES,
    SLICES,
    TIMINGS,
    TRACE,
    VOCABULARY,
    holds_checkpoint,
)
from polyaurn.files.npz import read_npz
from polyaurn.files.sealed import Damaged, file_of, unseal
from polyaurn.model.clusters import Clusters
from polyaurn.model.contents import FORMAT
from polyaurn.model.data import AVERAGED
from polyaurn.model.folder import PARTED_VERSION, timings_digest
from polyaurn.model.model import TopicModel
from polyaurn.model.parts import read_counts, read_topics
from polyaurn.model.text_rules import given_rules, stored_rules
from polyaurn.model.top_level import MODEL_TYPES, top_of_arrays

_PRIORS = {"alpha": "f", "beta": "f"}
_ASSIGNED = {"assignments": "u"}
_COUNTS = {
    "topic_word_counts.data": "if", "topic_word_counts.indices": "i",
    "topic_word_counts.indptr": "i",
}  # fmt: skip
_PSEUDO = {
    "pseudo_counts.data": "if", "pseudo_counts.indices": "i", "pseudo_counts.indptr": "i",
}  # fmt: skip
_CLUSTERS = {
    "clusters.data": "i", "clusters.indices": "i", "clusters.indptr": "i", "clusters.topic": "i",
    "clusters.last": "u", "clusters.alpha": "f",
}  # fmt: skip


def load(
    path: str | Path, *, tokenizer: Tokenizer | None = None, token_pattern: str | None = None
) -> TopicModel:
    """Open a model folder, and verify its checksums.

    Parameters
    ----------
    path : str or Path
        As written by `TopicModel.save`, `LDA.save` or ``polyaurn train --out``.
    tokenizer : callable, optional
        The function that cut text into words in training; functions are not saved, and without it
        such a model takes no text.
    token_pattern : str, optional
        Regular expression of a word, in place of what the folder says. A pattern in the folder that
        might never end is not run unless it is given here.

    Returns
    -------
    TopicModel
        The same in every byte as the one that was saved.
    """
    return _load(path, tokenizer, token_pattern)


def load_topics(path: str | Path) -> TopicModel:
    """Open a model folder as `load` does, without its documents and the topics of their tokens.

    What new documents need takes no memory then that grows with those of the training.
    """
    return _load(path, None, None, documents=False)


def _load(
    path: str | Path,
    tokenizer: Tokenizer | None,
    token_pattern: str | None,
    *,
    documents: bool = True,
) -> TopicModel:
    folder = Path(path)
    if not (folder / HEADER).is_file():
        what = f"has no {HEADER}" if folder.exists() else "does not exist"
        remedy = "give a folder written by 'polyaurn train --out'"
        inside = sorted(folder.glob(f"models/*/{HEADER}"))  # of a grid of numbers of topics
        if inside:
            what, remedy = "holds several", f"give one of them, such as '{inside[0].parent}'"
        if (folder / SLICES).is_file():
            what, remedy = "holds topics over time", "give the folder of one of its slices"
        if holds_checkpoint(folder):
            what, remedy = "holds a run that was not finished", "continue it with --resume"
        raise InputError(f"The folder '{path}' must hold a model. It {what}; {remedy}.")
    try:
        return _read(folder, tokenizer, token_pattern, documents=documents)
    except Damaged as reason:
        raise InputError(
            f"The folder '{path}' holds a damaged model ({reason}). Copy it again, or train again."
        ) from None


def _read(
    folder: Path, tokenizer: Tokenizer | None, token_pattern: str | None, *, documents: bool
) -> TopicModel:
    header = unseal(folder, HEADER, FORMAT, PARTED_VERSION, first_sealed=2)
    facts = header.get("parameters")
    if not isinstance(facts, dict):
        raise Damaged(f"{HEADER} has no parameters")
    K, D, V, N = (
        _whole(facts, name) for name in ("n_topics", "n_documents", "n_words", "n_tokens")
    )
    if not 1 <= K <= MAX_TOPICS:
        raise Damaged(f"{HEADER} says {K:,} topics")
    first = header["format_version"] == 1
    where = {"doc_topic_counts.data": "i", "doc_topic_counts.indptr": "i"} if first else {}
    seeded = "pseudo_counts" in header
    clustered = "clusters" in header
    documents = documents or first or clustered  # which say more of topics there
    parts = _parts(folder, header)
    assigned = _ASSIGNED | (where or {"doc_ptr": "i"}) if documents else {}
    types = _PRIORS if parts else assigned | _COUNTS | _PRIORS
    types = types | (_PSEUDO if seeded else {}) | (_CLUSTERS if clustered else {})
    types |= MODEL_TYPES if header.get("top_level") is True else {}
    arrays = read_npz(file_of(folder, header, ARRAYS), types)
    if parts:
        if documents:
            arrays["doc_ptr"], arrays["assignments"] = read_topics(parts)
        joined = read_counts(parts, V)
        names_ = ("data", "indices", "indptr")
        arrays |= {f"topic_word_counts.{name}": getattr(joined, name) for name in names_}
    vocab = _words(file_of(folder, header, VOCABULARY))
    if not documents:
        arrays |= {"doc_ptr": np.zeros(1, np.int64), "assignments": np.empty(0, np.uint16)}
        D = N = 0
    numbered = header.get("numbered_documents") is True or not documents
    names = Numbered(D) if numbered else _read_lines(file_of(folder, header, NAMES))
    priors = Priors(arrays["alpha"].astype(np.float64), arrays["beta"].astype(np.float64))
    doc_ptr = _first_doc_ptr(arrays) if first else arrays["doc_ptr"].astype(np.int64)
    _check_sizes((len(priors.alpha), len(names), len(vocab), len(priors.beta)), (K, D, V, V))
    _check_priors(priors)
    z = arrays["assignments"].astype(np.uint16, copy=False)
    for array in (z, priors.alpha, priors.beta):
        array.flags.writeable = False
    _check_topics(doc_ptr, z, arrays["assignments"], K, D, N)
    if seeded:
        priors = make_priors(*priors[:2], K, V, pseudo=_pseudo_counts(arrays, K, V))
    priors = priors._replace(top=top_of_arrays(arrays, K))
    counts = _counts(arrays, "topic_word_counts", "the counts of topics", K, V)
    if D and not _belong_together(counts, z, facts):
        raise Damaged("its files do not belong together: sizes of topics differ")
    rules = given_rules(stored_rules(folder, header), vocab, tokenizer, token_pattern)
    return TopicModel(
        topic_word_counts=counts,
        doc_topic_counts=doc_topic_matrix(doc_ptr, z, K),
        assignments=z,
        vocab=vocab,
        doc_names=names,
        priors=priors,
        trace=_trace(folder, header),
        parameters=facts,
        tokenization=rules and rules.with_forms(vocab),
        clusters=_clusters(arrays, _whole(header, "clusters"), D, K) if clustered else None,
    )


def _parts(folder: Path, header: dict[str, Any]) -> list[Path]:
    """Return the parts of a model in their order; none where it is in one piece."""
    names = header.get("parts", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise Damaged(f"{HEADER} does not say what its parts are")
    return [file_of(folder, header, name) for name in names]


def _belong_together(counts: sp.csr_matrix, z: Any, facts: dict[str, Any]) -> bool:
    """Return whether counts are of these topics; of means over draws only the sum is known.

    In a hierarchical Dirichlet process it may be less: topics of some draws are left out.
    """
    if facts.get(AVERAGED, 1) != 1:
        total, N = counts.sum(), len(z)
        right = np.isclose(total, N) or (facts.get("model") == "hdp" and 0 < total < N)
        return _whole(facts, AVERAGED) > 1 and bool(right)
    sizes = np.asarray(counts.sum(axis=1)).ravel()
    return np.array_equal(sizes, np.bincount(z, minlength=counts.shape[0]))


def _whole(facts: dict[str, Any], name: str) -> int:
    value = facts.get(name)
    if type(value) is not int or not 0 <= value < 1 << 62:
        raise Damaged(f"{HEADER} says {name} = {value!r}")
    return value


def _check_sizes(found: tuple[int, ...], expected: tuple[int, ...]) -> None:
    if found != expected:
        raise Damaged(
            f"its files do not belong together: {found} topics, documents, words and priors of "
            f"words, where the header says {expected}"
        )


def _check_priors(priors: Priors) -> None:
    for name, prior in (("alpha", priors.alpha), ("beta", priors.beta)):
        if not (np.isfinite(prior) & (prior > 0)).all():
            raise Damaged(f"{name} is not positive")


def _check_topics(doc_ptr: Any, z: Any, stored: Any, K: int, D: int, N: int) -> None:
    if len(doc_ptr) != D + 1 or len(z) != N or stored.dtype.itemsize != 2:
        raise Damaged("its files do not belong together: topics of the documents' tokens")
    if doc_ptr[0] != 0 or doc_ptr[-1] != N or (np.diff(doc_ptr) < 0).any():
        raise Damaged("documents do not follow one another")
    if N and int(z.max()) >= K:
        raise Damaged(f"a token has topic {int(z.max()):,} of {K:,}")


def _pseudo_counts(arrays: dict[str, Any], K: int, V: int) -> sp.csr_matrix:
    found = _counts(arrays, "pseudo_counts", "the pseudo-counts", K, V)
    if len(found.data) and int(found.data.max()) > MOST_PSEUDO:
        raise Damaged("the pseudo-counts are too large")
    return found


def _clusters(arrays: dict[str, Any], n_clusters: int, D: int, K: int) -> Clusters:
    found = _counts(arrays, "clusters", "the clusters of documents", D, n_clusters)
    topic, last = arrays["clusters.topic"].astype(np.int64), arrays["clusters.last"]
    alpha = arrays["clusters.alpha"]
    shown = np.unique(topic[topic >= 0])
    if len(topic) != n_clusters or not np.array_equal(shown, np.arange(K)):
        raise Damaged("the clusters are not its topics")
    if last.shape != (D,) or last.dtype != np.uint16 or int(last.max(initial=0)) >= n_clusters:
        raise Damaged("the clusters of documents do not fit together")
    if len(alpha) != 1 or not (np.isfinite(alpha) & (alpha > 0)).all():
        raise Damaged("the concentration of clusters is not positive")
    return Clusters(found, topic, last, float(alpha[0]))


def _counts(arrays: dict[str, Any], name: str, what: str, K: int, V: int) -> sp.csr_matrix:
    data, indices, indptr = (arrays[f"{name}.{part}"] for part in ("data", "indices", "indptr"))
    ok = len(indptr) == K + 1 and indptr[0] == 0 and (np.diff(indptr) >= 0).all()
    if not ok or not indptr[-1] == len(indices) == len(data):
        raise Damaged(f"{what} do not fit together")
    if len(indices) and not (int(indices.min()) >= 0 and int(indices.max()) < V):
        raise Damaged(f"{what} name words that are not there")
    if not (np.isfinite(data) & (data > 0)).all():
        raise Damaged(f"{what} are not positive")
    rising = np.diff(indices.astype(np.int64)) > 0
    rising[indptr[1:-1][(indptr[1:-1] > 0) & (indptr[1:-1] < len(indices))] - 1] = True
    if not rising.all():
        raise Damaged(f"{what} are out of order")
    kept = np.float64 if data.dtype.kind == "f" else np.int32
    if kept is np.int32 and len(data) and int(data.max()) > np.iinfo(np.int32).max:
        raise Damaged(f"{what} are too large")
    return sp.csr_matrix((data.astype(kept), indices.astype(np.int32), indptr), shape=(K, V))


def _first_doc_ptr(arrays: dict[str, Any]) -> Any:
    """Return where documents begin, from the counts that version 1 stored."""
    data, indptr = arrays["doc_topic_counts.data"], arrays["doc_topic_counts.indptr"]
    if not len(indptr) or indptr[0] != 0 or indptr[-1] != len(data) or (np.diff(indptr) < 0).any():
        raise Damaged("the counts of documents do not fit together")
    return np.concatenate(([0], np.cumsum(data, dtype=np.int64)))[indptr]


def _words(path: Path) -> tuple[str, ...]:
    try:
        return check_vocabulary(_read_lines(path), path.name)
    except InputError as error:
        raise Damaged(str(error).rstrip(".")) from None


def _trace(folder: Path, header: dict[str, Any]) -> list[dict[str, Any]]:
    records = _records(_read_lines(file_of(folder, header, TRACE)), TRACE)
    if header["format_version"] == 1 or not (folder / TIMINGS).exists():
        return records
    seal_line, *lines = _read_lines(folder / TIMINGS) or [""]
    stated = _records([seal_line], TIMINGS)[0]
    if stated.get("sha256") != timings_digest(stated.get("of"), lines):
        raise Damaged(f"{TIMINGS} was changed after it was written")
    if stated["of"] != header["files"][TRACE]["sha256"]:  # of the model that was here before
        return records
    timed = _records(lines, TIMINGS)
    if len(timed) != len(records):
        raise Damaged(f"{TIMINGS} has {len(timed):,} records of {len(records):,} sweeps")
    return [record | times for record, times in zip(records, timed, strict=True)]


def _records(lines: Iterable[str], name: str) -> list[dict[str, Any]]:
    try:
        records = [json.loads(line) for line in lines]
    except (ValueError, RecursionError):
        raise Damaged(f"{name} is not JSON") from None
    if not all(isinstance(record, dict) for record in records):
        raise Damaged(f"{name} holds something else than records")
    return records


def _read_lines(path: Path) -> tuple[str, ...]:
    try:
        return tuple(path.read_bytes().decode().split("\n")[:-1])
    except OSError as error:
        raise Damaged(f"{path.name} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise Damaged(f"{path.name} is not UTF-8 text") from None
