"""Coherence of topics: whether their top words occur together."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from polyaurn.base.arrays import F64, I64, release
from polyaurn.base.checks import check_one_of, is_whole
from polyaurn.base.errors import InputError
from polyaurn.corpus.arrays import document_pieces
from polyaurn.corpus.corpus import Corpus
from polyaurn.model.coherence import check_all_occur, mimno_coherence, top_words

__all__ = ["coherence", "diversity", "mimno_coherence"]

EPSILON = 1e-12  # as in gensim
WINDOWS = {"u_mass": 0, "c_uci": 10, "c_npmi": 10, "c_v": 110}  # tokens; 0 is the document


class _Pairs(NamedTuple):
    """Pairs of words that some topic has, the later word's in ``[first[v], first[v + 1])``.

    `partner` is the earlier word of each; `of` are the pairs of all topics, one topic after
    another, in the order of `np.tril_indices`.
    """

    first: I64
    partner: I64
    of: I64


class _Found(NamedTuple):
    """In how many of all windows words, and pairs of words, were found."""

    single: I64
    together: I64
    windows: int

    def shares(self, topic: I64, pairs: I64) -> tuple[F64, F64]:
        """Return the shares of windows with each word of a topic, and with each pair of them."""
        both = np.diag(self.single[topic])
        later, earlier = np.tril_indices(len(topic), -1)
        both[later, earlier] = both[earlier, later] = self.together[pairs]
        return self.single[topic] / self.windows, both / self.windows


def _pairs(topics: list[I64], n_words: int) -> _Pairs:
    """List the pairs of words that occur in topics, each once: never all pairs of all words."""
    keys = [np.empty(0, np.int64)]
    for topic in topics:
        later, earlier = np.tril_indices(len(topic), -1)
        one, other = topic[later], topic[earlier]
        keys.append(np.maximum(one, other) * n_words + np.minimum(one, other))
    distinct, of = np.unique(np.concatenate(keys), return_inverse=True)
    first = np.searchsorted(distinct, np.arange(n_words + 1) * n_words)
    return _Pairs(first.astype(np.int64), distinct % max(n_words, 1), of.ravel())


def coherence(
    topics: Any,
    corpus: Any,
    measure: str = "c_npmi",
    *,
    n_words: int = 10,
    window_size: int | None = None,
    exact_windows: bool = False,
) -> F64:
    """Return the coherence of each topic.

    Measures are those of Röder, Both and Hinneburg (2015), with the values of gensim's
    CoherenceModel. "u_mass" is Mimno et al. (2011) as gensim takes it, a mean over pairs; the sum
    that the article and MALLET give is `mimno_coherence`.

    Parameters
    ----------
    topics : TopicModel, LDA, or sequence of sequences of str
        A model, or the top words of topics, the most probable first.
    corpus : Corpus, or sequence of sequences of str
        Where words occur. A Corpus is a bag of words without order, so that a window is the whole
        document; texts that are cut into words have windows of neighbours.
    measure : {"c_npmi", "c_v", "c_uci", "u_mass"}
        Larger is better in each.
    n_words : int
        Top words of a model's topics.
    window_size : int, optional
        Tokens of a window, for texts that are cut into words; 10, and 110 for "c_v", when not
        given. "u_mass" always counts documents.
    exact_windows : bool
        gensim forgets a word when one of its occurrences leaves the window, even if another is
        inside. By default we do the same, to give its values; True counts what windows hold.

    Returns
    -------
    ndarray of float64
        One value per topic; NaN for a topic of fewer than two words.

    Examples
    --------
    >>> from polyaurn.evaluate import coherence
    >>> texts = [["moon", "orbit", "moon"], ["goal", "team"], ["orbit", "moon"], ["team", "goal"]]
    >>> coherence([["moon", "orbit"], ["moon", "goal"]], texts).round(2).tolist()
    [1.0, -0.95]
    """
    check_one_of(measure, "measure", WINDOWS)
    listed = top_words(topics, n_words)
    words = sorted({word for topic in listed for word in topic})
    number = {word: i for i, word in enumerate(words)}
    size = _window_size(corpus, measure, window_size)
    numbers = [np.array([number[word] for word in topic], np.int64) for topic in listed]
    pairs = _pairs(numbers, len(words))
    found = _count(corpus, number, pairs, size, exact=exact_windows)
    check_all_occur([word for word, n in zip(words, found.single, strict=True) if n == 0])
    score = {"u_mass": _u_mass, "c_uci": _c_uci, "c_npmi": _c_npmi, "c_v": _c_v}[measure]
    values, done = np.full(len(listed), np.nan), 0
    for t, topic in enumerate(numbers):
        n_pairs = len(topic) * (len(topic) - 1) // 2
        if n_pairs:
            values[t] = score(*found.shares(topic, pairs.of[done : done + n_pairs]))
        done += n_pairs
    return values


def _window_size(corpus: Any, measure: str, given: int | None) -> int:
    if given is None:
        return 0 if isinstance(corpus, Corpus) else WINDOWS[measure]
    if not is_whole(given) or given < 1 or isinstance(corpus, Corpus) or measure == "u_mass":
        raise InputError(
            "The 'window_size' parameter must be a positive number of tokens, for texts cut into "
            f"words and for measures with windows. Got {given!r} for {measure!r} and a "
            f"{type(corpus).__name__}; leave it out."
        )
    return int(given)


def _count(corpus: Any, number: dict[str, int], pairs: _Pairs, size: int, *, exact: bool) -> _Found:
    from polyaurn.evaluate.windows import count_windows

    single = np.zeros(len(number), np.int64)
    together = np.zeros(len(pairs.partner), np.int64)
    windows = 0
    for doc_ptr, word in _pieces(corpus, number):
        windows += count_windows(
            doc_ptr, word, size, exact, single, pairs.first, pairs.partner, together
        )
    return _Found(single, together, windows)


def _pieces(corpus: Any, number: dict[str, int]) -> Iterator[tuple[I64, Any]]:
    """Yield some documents at a time, with the numbers of the listed words; others are -1."""
    if not isinstance(corpus, Corpus):
        yield _number_texts(corpus, number)
        return
    to_listed = np.array([number.get(word, -1) for word in corpus.vocab], np.int32)
    for lo, hi in document_pieces(corpus.doc_ptr):
        doc_ptr = corpus.doc_ptr[lo : hi + 1]
        yield doc_ptr - doc_ptr[0], to_listed[corpus.word[doc_ptr[0] : doc_ptr[-1]]]
        release(corpus.word)


def _number_texts(texts: Any, number: dict[str, int]) -> tuple[I64, Any]:
    if not isinstance(texts, Iterable):
        raise InputError(
            "The 'corpus' parameter must be a Corpus, or texts that are cut into words. Got "
            f"{type(texts).__name__} instead."
        )
    lengths, words = [], []
    for text in texts:
        if isinstance(text, str):
            raise InputError(
                "The 'corpus' parameter must be a Corpus, or texts that are cut into words. Got a "
                "string for a text; split it, or use Corpus.from_texts."
            )
        lengths.append(len(text))
        words.extend([number.get(word, -1) for word in text])
    return np.concatenate(([0], np.cumsum(lengths))).astype(np.int64), np.array(words, np.int32)


def _u_mass(p: F64, q: F64) -> float:
    """Score a topic by the shares of windows with its words, and with pairs of them."""
    later, earlier = np.tril_indices(len(p), -1)
    return float(np.log((q[later, earlier] + EPSILON) / p[earlier]).mean())


def _pmi(p: F64, q: F64) -> tuple[F64, F64]:
    """Return the pointwise mutual information of all pairs, and log p of the pairs."""
    return np.log((q + EPSILON) / np.outer(p, p)), np.log(q + EPSILON)


def _c_uci(p: F64, q: F64) -> float:
    pmi, _ = _pmi(p, q)
    return float(pmi[~np.eye(len(p), dtype=bool)].mean())


def _c_npmi(p: F64, q: F64) -> float:
    pmi, log_pair = _pmi(p, q)
    different = ~np.eye(len(p), dtype=bool)
    return float((pmi[different] / -log_pair[different]).mean())


def _c_v(p: F64, q: F64) -> float:
    """Cosine between a word's NPMI with all words of the topic, and the sum of all words'."""
    pmi, log_pair = _pmi(p, q)
    npmi = pmi / -log_pair
    whole = npmi.sum(axis=0)
    lengths = np.linalg.norm(npmi, axis=1) * np.linalg.norm(whole)
    return float((npmi @ whole / lengths).mean())


def diversity(topics: Any, *, n_words: int = 10) -> float:
    """Return the share of different words among the top words of all topics.

    Parameters
    ----------
    topics : TopicModel, LDA, or sequence of sequence of str
        A model, or the top words of each topic.
    n_words : int
        Top words of a model's topics.

    Returns
    -------
    float
        1 where no word is shared by two topics.
    """
    words = [word for topic in top_words(topics, n_words) for word in topic]
    return len(set(words)) / len(words) if words else 1.0
