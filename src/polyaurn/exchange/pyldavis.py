"""pyLDAvis: what its ``prepare`` asks for."""

import warnings
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from polyaurn.base.errors import InputError
from polyaurn.corpus.known_words import in_words_of
from polyaurn.files.atomic import PATH, check_new_file, write_text
from polyaurn.model.checks import check_belongs
from polyaurn.model.data import word_probabilities
from polyaurn.model.labels import given_labels
from polyaurn.model.model import fitted


def pyldavis_arguments(model: Any, corpus: Any) -> dict[str, Any]:
    """Return the arguments of ``pyLDAvis.prepare``.

    Parameters
    ----------
    model : TopicModel or LDA
        A model of at least two topics, which pyLDAvis asks for.
    corpus : Corpus
        What it was trained on. For a model that came from elsewhere without its documents, any
        documents; their mixtures are inferred.

    Returns
    -------
    dict
        topic_term_dists, doc_topic_dists, doc_lengths, vocab and term_frequency. Words that do not
        occur in the corpus are left out, since pyLDAvis divides by their frequency.
    """
    trained = fitted(model)
    if trained.n_topics < 2:
        raise InputError(
            "The 'model' parameter must have at least two topics, between which pyLDAvis measures "
            "distances. Got one; train a model with more."
        )
    if len(trained.doc_names):
        mixtures = check_belongs(trained, corpus) and trained.doc_topics()
    else:
        mixtures = trained.transform(corpus)
    known = in_words_of(trained.vocab, corpus, trained.tokenization)
    frequency = np.bincount(known.word, minlength=len(trained.vocab))
    used = np.flatnonzero(frequency)
    topics = word_probabilities(trained)[:, used]
    return {
        "topic_term_dists": topics / topics.sum(axis=1, keepdims=True),
        "doc_topic_dists": mixtures,
        "doc_lengths": known.tokens,
        "vocab": [trained.vocab[v] for v in used],
        "term_frequency": frequency[used],
    }


def write_pyldavis(model: Any, corpus: Any, path: str | Path, *, force: bool = False) -> Path:
    """Write the page of pyLDAvis for a model, or the data of that page.

    Parameters
    ----------
    model : TopicModel or LDA
        A model of at least two topics.
    corpus : Corpus
        As in `pyldavis_arguments`.
    path : str or Path
        NAME.html, a page that loads its scripts from the network when it is opened, or NAME.json.
        Topics have the model's numbers; below the picture, the page lists those that have labels.
    force : bool
        Replace a file that is there.

    Returns
    -------
    Path
        The file.
    """
    target = check_pyldavis_file(path, force=force)
    import pyLDAvis

    arguments = pyldavis_arguments(model, corpus)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pandas, about pyLDAvis' own code
        found = pyLDAvis.prepare(**arguments, sort_topics=False, start_index=0, n_jobs=1)
    page = target.suffix == ".html"
    labels = given_labels(fitted(model))
    html = pyLDAvis.prepared_data_to_html(found) + _listed(labels) if page else ""
    write_text(target, html or found.to_json())
    return target


def _listed(labels: list[str | None]) -> str:
    """Return the labels of topics as HTML in ASCII, since the page names no encoding."""
    rows = "".join(
        f"<tr><td>{k}</td><td>{escape(label)}</td></tr>\n"
        for k, label in enumerate(labels)
        if label
    )
    table = f"<table>\n<tr><th>Topic</th><th>Label</th></tr>\n{rows}</table>\n" if rows else ""
    return table.encode("ascii", "xmlcharrefreplace").decode()


def check_pyldavis_file(path: str | Path, *, force: bool, what: str = PATH) -> Path:
    """Return a path; raise, before long work, if it cannot be written or pyLDAvis is missing."""
    if find_spec("pyLDAvis") is None:
        raise InputError(
            "Pages of pyLDAvis need the package pyLDAvis, which is not installed. Install it with: "
            "pip install pyLDAvis."
        )
    return check_new_file(path, force=force, what=what, suffixes=(".html", ".json"))
