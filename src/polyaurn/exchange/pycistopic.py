"""pycisTopic: the files that its commands for MALLET read, cells by topics and topics by regions.

pycisTopic pins other versions of its dependencies, so that the bridge is files. Its reader expects
matrices in one column of Parquet, as arrays of one length, and the parameters as JSON. No code of
it is used here.
"""

import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from polyaurn.base.errors import InputError
from polyaurn.base.events import report
from polyaurn.corpus.corpus import Corpus
from polyaurn.corpus.known_words import in_words_of
from polyaurn.corpus.names import Numbered
from polyaurn.exchange.parts import one_number
from polyaurn.exchange.tables import need_pyarrow
from polyaurn.files.atomic import PATH, check_new_file, new_file
from polyaurn.model.checks import check_belongs, check_documents, count_topics
from polyaurn.model.inference import infer
from polyaurn.model.model import TopicModel, fitted
from polyaurn.training.settings import SETTINGS, Settings

CELLS, REGIONS = "cell_topic_probabilities", "region_topic_counts"
_SAID = ("n_components", "doc_topic_prior", "topic_word_prior", "max_iter", "sampler",
         "random_state", "average_draws", "learn_priors_every")  # fmt: skip
_ROWS_AT_ONCE = 1 << 24  # numbers written at a time

Rows = Callable[[int, int], Any]


def write_pycistopic(
    model: Any,
    prefix: str | Path,
    corpus: Corpus | None = None,
    *,
    read_as: Sequence[str] = (),
    flatten_priors: bool = False,
    force: bool = False,
) -> list[Path]:
    """Write a model as pycisTopic stores those of MALLET, for ``topic_modeling mallet stats``.

    Parameters
    ----------
    model : TopicModel or LDA
        What to write.
    prefix : str or Path
        How the names of the files begin: PREFIX.K_topics.cell_topic_probabilities.parquet,
        PREFIX.K_topics.region_topic_counts.parquet and PREFIX.K_topics.parameters.json, where K is
        the number of topics.
    corpus : Corpus, optional
        All cells and regions in the order of the matrix that pycisTopic is given. Needed if regions
        or cells were dropped before training: regions that the model does not know have counts of
        0, and mixtures of cells that it does not know are inferred, as `transform` does. Cells
        without a region that the model knows have the mixture of the prior. A warning says how many
        there are of both. Also needed if the model's counts are means of several draws: those of
        the last sweep are written instead.
    read_as : sequence of str
        How the command line names the corpus that the model was trained on, such as
        ``["matrix.mtx", "--transpose"]``, for the command that is stored with the parameters.
    flatten_priors : bool
        pycisTopic has one number for alpha and one for eta. Of vectors, as learned priors are, the
        sum of alpha and the mean of eta are written, and unless this is True a warning says so.
        True also leaves out pseudo-counts of seeds, which are rejected otherwise.
    force : bool
        Replace files that are there.

    Returns
    -------
    list of Path
        The three files. Cells and regions are in the order of the model, or of the corpus.
    """
    trained = fitted(model)
    check_documents(trained)
    files = check_pycistopic_files(prefix, trained.n_topics, force=force)
    facts = _parameters(trained, read_as, flatten=flatten_priors)
    counts, place, region = _counts(trained, corpus)
    D = len(trained.doc_names) if corpus is None else corpus.n_documents
    V = counts.shape[1] if corpus is None else corpus.n_words
    _warn_of_empty_topics(counts)
    m, alpha = trained.doc_topic_counts.tocsr(), trained.priors.alpha
    row = np.full(D, -1)
    row[place] = np.arange(len(place))
    other, others = _other_cells(trained, corpus, np.flatnonzero(row < 0))
    empty = int((m.sum(axis=1) == 0).sum()) + D - len(place) - len(other)
    _warn_of_cells(D, len(other), empty)

    def mixtures(lo: int, hi: int) -> Any:
        known = row[lo:hi] >= 0
        theta = np.tile(alpha, (hi - lo, 1))
        theta[known] += m[row[lo:hi][known]].toarray()
        theta /= theta.sum(axis=1, keepdims=True)
        begin, end = np.searchsorted(other, (lo, hi))
        if others is not None and begin < end:
            theta[other[begin:end] - lo] = infer(trained, others.select(np.arange(begin, end)))
        return theta

    def topics(lo: int, hi: int) -> Any:
        dense = np.zeros((hi - lo, V), np.int32)
        dense[:, region] = counts[lo:hi].toarray()
        return dense

    with ExitStack() as stack:  # all three files or none
        fresh = [stack.enter_context(new_file(file)) for file in files]
        _write_column(fresh[0], CELLS, np.float32, (D, trained.n_topics), mixtures)
        _write_column(fresh[1], REGIONS, np.int32, (trained.n_topics, V), topics)
        fresh[2].write_text(json.dumps(facts), encoding="utf-8")
    return files


def check_pycistopic_files(
    prefix: str | Path, n_topics: int, *, force: bool, what: str = PATH
) -> list[Path]:
    """Return the paths of the files of a model; raise, before long work, if they cannot be made."""
    if not isinstance(prefix, str | Path):
        raise InputError(f"The {what} must be a path. Got {prefix!r} instead.")
    begin = f"{prefix}.{n_topics}_topics"
    names = [f"{begin}.{CELLS}.parquet", f"{begin}.{REGIONS}.parquet", f"{begin}.parameters.json"]
    files = [check_new_file(name, force=force, what=what) for name in names]
    need_pyarrow(files[0], what)
    return files


def _counts(model: TopicModel, corpus: Corpus | None) -> tuple[Any, Any, Any]:
    """Return counts of topics in regions, and where the model's cells and regions are."""
    D, V = len(model.doc_names), len(model.vocab)
    if corpus is None:
        if model.averaged_draws > 1:
            raise InputError(
                "The 'corpus' parameter must be given for this model, whose counts are means of "
                f"{model.averaged_draws} draws, while pycisTopic has counts of one. Give "
                "the corpus it was trained on, or train with average_draws=1 (--average-draws 1)."
            )
        return model.topic_word_counts.astype(np.int32), np.arange(D), np.arange(V)
    place = _places(model.doc_names, corpus.doc_names, "cells")
    region = _places(model.vocab, corpus.vocab, "regions")
    known = in_words_of(model.vocab, corpus.select(place))
    documents = Corpus(known.doc_ptr, known.word, model.vocab, known.doc_names)
    check_belongs(model, documents)
    return count_topics(documents, model.assignments, model.n_topics), place, region


def _other_cells(model: TopicModel, corpus: Corpus | None, cells: Any) -> tuple[Any, Corpus | None]:
    """Return which cells, of those the model does not know, have regions that it knows, and these.

    None where there are no such cells.
    """
    if corpus is not None:
        cells = cells[np.diff(corpus.doc_ptr)[cells] > 0]
    if corpus is None or not len(cells):
        return cells[:0], None
    known = in_words_of(model.vocab, corpus.select(cells))
    there = np.flatnonzero(known.tokens)
    if not len(there):
        return cells[:0], None
    documents = Corpus(known.doc_ptr, known.word, model.vocab, known.doc_names)
    return cells[there], documents.select(there)


def _places(mine: Sequence[str], all_names: Sequence[str], what: str) -> Any:
    """Return the places of names among others: by name, or by number where they are numbered."""
    numbered = isinstance(mine, Numbered) or isinstance(all_names, Numbered)
    if len(mine) == len(all_names) and (numbered or tuple(mine) == tuple(all_names)):
        return np.arange(len(mine))
    number = {name: i for i, name in enumerate(all_names)}
    if len(number) < len(all_names):
        raise InputError(
            f"The 'corpus' parameter must have different names for its {what}. Got "
            f"{len(all_names) - len(number):,} that are there twice, so that those of the model "
            "cannot be found; rename them before training."
        )
    missing = next((name for name in mine if name not in number), None)
    if missing is not None:
        raise InputError(
            f"The 'corpus' parameter must have the {what} of the model. {missing!r:.60} is not "
            f"among its {len(all_names):,}; read the matrix with the names it was trained with."
        )
    return np.array([number[name] for name in mine])


def _parameters(model: TopicModel, read_as: Sequence[str], *, flatten: bool) -> dict[str, Any]:
    """Return what pycisTopic stores about a training."""
    said, K = model.parameters, model.n_topics
    if model.priors.pseudo is not None and not flatten:
        raise InputError(
            "The 'flatten_priors' parameter must be True here: pycisTopic has no pseudo-counts. "
            "Got a model with seeded topics, whose seeds would be left out."
        )
    if not flatten:
        _warn_of_vectors(model)
    each = one_number(model.priors.alpha, "alpha", "pycisTopic", flatten=True)
    alpha = round(each * K, 12)  # of all topics together: 50, not 49.99999999999999
    eta = one_number(model.priors.beta, "eta", "pycisTopic", flatten=True)
    run = said.get("run") or {}
    every, seed = int(run.get("learn_priors_every") or 0), int(said.get("seed") or 0)
    sweeps, threads = int(said.get("sweeps") or 0), int(run.get("n_jobs") or 1)
    last = model.trace[-1] if model.trace else {}
    return {
        "n_topics": K,
        "alpha": alpha,
        "alpha_by_topic": True,
        "eta": eta,
        "eta_by_topic": False,
        "n_cpu": threads,
        "optimize_interval": every,
        "iterations": sweeps,
        "random_seed": seed,
        "mallet_path": "polyaurn",
        "time": float(last.get("seconds", 0.0)),
        "mallet_cmd": ["polyaurn", "train", *(read_as or ["CORPUS"]), *_options(model, each, eta)],
    }


def _options(model: TopicModel, alpha: float, eta: float) -> list[str]:
    """Return the options that repeat a training, as far as the model says what they were."""
    said = model.parameters
    known = {"n_components": model.n_topics, "doc_topic_prior": alpha, "topic_word_prior": eta,
             "max_iter": said.get("sweeps"), "sampler": said.get("sampler"),
             "random_state": said.get("seed")}  # fmt: skip
    run = {n: v for n, v in (said.get("run") or {}).items() if isinstance(v, int | float | str)}
    for name in ("doc_topic_prior", "topic_word_prior"):
        if not isinstance(run.get(name), int | float):  # a vector, of which a run has no numbers
            run.pop(name, None)
    words = []
    for name, value in (known | run).items():
        known_as = SETTINGS[name].option if name in SETTINGS else ""  # others are not options
        if known_as and value is not None and (name in _SAID or value != getattr(Settings, name)):
            words += [f"--{known_as.replace('_', '-')}", str(value)]
    return words


def _warn_of_vectors(model: TopicModel) -> None:
    given = (("alpha", model.priors.alpha, "sum"), ("eta", model.priors.beta, "mean"))
    for symbol, prior, what in given:
        if prior.min() < prior.max():
            warnings.warn(
                f"The model of {model.n_topics:,} topics has values of {symbol} from "
                f"{prior.min():.3g} to {prior.max():.3g}, where pycisTopic has one number; their "
                f"{what} is written.",
                stacklevel=4,
            )


def _warn_of_cells(n_cells: int, n_inferred: int, n_empty: int) -> None:
    if n_inferred:
        warnings.warn(
            f"{n_inferred:,} of {n_cells:,} cells are not those that the model was trained on; "
            "their mixtures are inferred from its topics.",
            stacklevel=3,
        )
    if n_empty:
        warnings.warn(
            f"{n_empty:,} of {n_cells:,} cells have no region that the model knows; the mixture of "
            "the prior is written for them.",
            stacklevel=3,
        )


def _warn_of_empty_topics(counts: Any) -> None:
    empty = int((np.asarray(counts.sum(axis=1)).ravel() == 0).sum())
    if empty:
        warnings.warn(
            f"{empty:,} topics have no tokens; pycisTopic divides by their sums, and its measures "
            "are undefined for this model.",
            stacklevel=3,
        )


def _pieces(shape: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows that are written together."""
    step = max(1, _ROWS_AT_ONCE // shape[1])
    for lo in range(0, shape[0], step):
        yield lo, min(lo + step, shape[0])


def _write_column(path: Path, name: str, dtype: Any, shape: tuple[int, int], rows: Rows) -> None:
    """Write a matrix as one column of arrays, some rows at a time."""
    import pyarrow
    from pyarrow import parquet

    element = pyarrow.field("element", pyarrow.from_numpy_dtype(dtype))
    kind = pyarrow.list_(element, shape[1])
    schema = pyarrow.schema([pyarrow.field(name, kind)])
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for lo, hi in _pieces(shape):
            values = pyarrow.array(np.ascontiguousarray(rows(lo, hi), dtype).ravel())
            column = pyarrow.FixedSizeListArray.from_arrays(values, type=kind)
            writer.write_table(pyarrow.table([column], schema=schema))
            report(f"writing {name}", hi - lo, shape[0])
