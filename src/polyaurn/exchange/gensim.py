"""gensim's LdaModel: variational parameters in and out."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from polyaurn.base.errors import InputError
from polyaurn.chain.state import check_topics
from polyaurn.exchange.parts import take_prior_out, topics_only
from polyaurn.files.atomic import PATH, check_new_file
from polyaurn.model.model import TopicModel, fitted


def from_gensim(lda: Any) -> TopicModel:
    """Take the topics of a gensim LdaModel.

    Parameters
    ----------
    lda : gensim.models.LdaModel
        A trained model; LdaMulticore will do, too.

    Returns
    -------
    TopicModel
        A model without documents. Its topics are ``lda.get_topics()`` to the precision of gensim's
        type; pseudo-counts are ``lda.state.sstats``, priors ``lda.alpha`` and ``lda.eta``.
    """
    try:
        eta = np.asarray(lda.eta, np.float64)
        found = np.asarray(lda.state.sstats, np.float64)
        alpha, words = np.asarray(lda.alpha, np.float64), lda.id2word
    except AttributeError:
        raise InputError(
            f"The 'lda' parameter must be a gensim LdaModel. Got {type(lda).__name__} instead."
        ) from None
    if eta.ndim == 1 and eta.min() > 0.0 and found.min() >= 0.0:
        counts, beta = found, eta
    else:  # a prior for each topic: what they share is beta
        counts, beta = take_prior_out(found + eta, np.atleast_2d(eta).min(axis=0))
    names = "'id2word' of the gensim model"
    try:
        vocabulary = [str(words[v]) for v in range(found.shape[1])]
    except KeyError as error:
        raise InputError(f"The {names} must name each word. Number {error} has none.") from None
    return topics_only(counts, alpha, beta, vocabulary, "gensim LdaModel", names)


def to_gensim(model: Any) -> Any:
    """Make a gensim LdaModel with the topics of a model.

    Parameters
    ----------
    model : TopicModel or LDA
        What to convert.

    Returns
    -------
    gensim.models.LdaModel
        A model of float64, ready for ``show_topics``, ``get_document_topics`` and further training.
        Its ``id2word`` is a Dictionary, so that ``lda.id2word.doc2bow(words)`` makes its input.
    """
    trained = fitted(model)
    Dictionary, LdaModel = _gensim()
    words = Dictionary()
    words.token2id = {word: v for v, word in enumerate(trained.vocab)}
    words.id2token = dict(enumerate(trained.vocab))
    words.num_docs, words.num_pos = len(trained.doc_names), len(trained.assignments)
    lda = LdaModel(
        id2word=words,
        num_topics=check_topics(trained.n_topics),
        alpha=trained.priors.alpha.copy(),
        eta=trained.priors.beta.copy(),
        dtype=np.float64,
        random_state=0,
    )
    lda.state.sstats[...] = trained.topic_word_mass.toarray()
    lda.state.numdocs = len(trained.doc_names)
    lda.sync_state()
    return lda


def write_gensim(model: Any, path: str | Path, *, force: bool = False) -> Path:
    """Write the files of a gensim LdaModel, which ``LdaModel.load`` of gensim opens.

    Parameters
    ----------
    model : TopicModel or LDA
        What to convert.
    path : str or Path
        The main file; gensim puts others beside it, such as NAME.state and NAME.id2word. They are
        gensim's own, pickles among them.
    force : bool
        Replace files that are there.

    Returns
    -------
    Path
        The main file.
    """
    target = check_gensim_file(path, force=force)
    lda = to_gensim(model)
    try:
        with TemporaryDirectory(dir=target.absolute().parent, prefix=".") as folder:
            lda.save(str(Path(folder) / target.name))
            names = sorted((p.name for p in Path(folder).iterdir()), key=len, reverse=True)
            for name in names:
                check_new_file(target.with_name(name), force=force)
            for name in names:  # the main file, whose name is the shortest, last
                (Path(folder) / name).replace(target.with_name(name))
    except OSError as error:
        raise InputError(
            f"The file '{target}' cannot be written: {error.strerror or error}. Free some space or "
            "choose another folder."
        ) from None
    return target


def check_gensim_file(path: str | Path, *, force: bool, what: str = PATH) -> Path:
    """Return a path; raise, before long work, if it cannot be written or gensim is missing."""
    _gensim()
    return check_new_file(path, force=force, what=what)


def _gensim() -> tuple[Any, Any]:
    """Return the classes that are needed of gensim."""
    try:
        from gensim.corpora import Dictionary
        from gensim.models import LdaModel
    except ImportError:
        raise InputError(
            "A model of gensim needs the package gensim. Install it with: pip install "
            "'polyaurn[gensim]'."
        ) from None
    return Dictionary, LdaModel
