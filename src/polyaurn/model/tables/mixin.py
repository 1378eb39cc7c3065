"""The tables of a model, as methods of `TopicModel` and of `LDA`."""

from collections.abc import Sequence
from typing import Any, Generic, TypeVar, cast

from polyaurn.base.checks import check_whole
from polyaurn.base.errors import InputError
from polyaurn.model.data import ModelData
from polyaurn.model.labels import Labels, label_topics
from polyaurn.model.leading_words import BY_RELEVANCE, RELEVANCE
from polyaurn.model.snippets import LENGTH
from polyaurn.model.tables.documents import (
    document_info,
    representative_documents,
    similar_documents,
)
from polyaurn.model.tables.groups import topics_over_time, topics_per_class
from polyaurn.model.tables.hierarchy import Hierarchy, hierarchy, merge_topics
from polyaurn.model.tables.topics import find_topics, topic_info
from polyaurn.model.tables.words import Columns, topic_words

M = TypeVar("M", bound=ModelData)


def frame(columns: Columns, *, as_frame: bool) -> Any:
    """Return columns as a pandas DataFrame; without `as_frame`, as they are."""
    if not as_frame:
        return columns
    try:
        import pandas
    except ImportError:
        raise InputError(
            "Tables need the package pandas, which is not installed. Install it with: pip install "
            "'polyaurn[tables]'; or get a dict of columns with as_frame=False."
        ) from None
    return pandas.DataFrame(columns)


class Tables(Generic[M]):
    """Tables of a trained model.

    Each is a pandas DataFrame (``pip install 'polyaurn[tables]'``), or with ``as_frame=False`` a
    dict of columns, which needs no pandas. Topics have the same numbers in all of them.
    """

    def _fitted(self) -> M:
        return cast(M, self)

    def topic_info(
        self,
        corpus: Any = None,
        *,
        n_words: int = 10,
        order: str = BY_RELEVANCE,
        as_frame: bool = True,
    ) -> Any:
        """Return a table of topics, one row each.

        Parameters
        ----------
        corpus : Corpus, optional
            Where coherence is measured; an estimator takes what it was trained on.
        n_words : int
            Leading words in the table; exclusivity and coherence are of as many most probable ones.
        order : {"relevance", "frequency"}
            How words in the table are ranked, as in `TopicModel.topics`.
        as_frame : bool
            Return a DataFrame, or a dict of columns.

        Returns
        -------
        DataFrame or dict
            ``topic``, ``label``, ``tokens``, ``prevalence`` (part of all tokens), ``documents``
            that have it, ``words``, ``exclusivity``, and ``coherence_mimno`` (of Mimno et al.) if
            there is a corpus; see `evaluate.topic_diagnostics`. Of a hierarchical Dirichlet process
            also ``weight``, ``weight_low`` and ``weight_high``: `HDP.weights_` and its interval.

        Examples
        --------
        >>> import polyaurn
        >>> corpus = polyaurn.Corpus.from_matrix([[2, 1], [1, 0]], ["moon", "orbit"])
        >>> lda = polyaurn.LDA(1, max_iter=2, verbose=False).fit(corpus)
        >>> lda.topic_info(as_frame=False)["words"]
        ['moon, orbit']
        """
        corpus = getattr(self, "corpus_", None) if corpus is None else corpus
        return frame(topic_info(self._fitted(), corpus, n_words, order), as_frame=as_frame)

    def topic_words(
        self,
        method: str = "relevance",
        n_words: int = 10,
        *,
        topics: Any = None,
        relevance_lambda: float = RELEVANCE,
        frex_weight: float = 0.5,
        as_frame: bool = True,
    ) -> Any:
        """Return a table of the leading words of topics, only those that occur in them.

        Parameters
        ----------
        method : {"relevance", "probability", "frex", "lift", "score"}
            How words are ranked. p is (n + beta) / (sum of n + beta), q a word's share of all
            tokens. "relevance" (Sievert and Shirley): lambda log p + (1 - lambda) log(p / q).
            "lift": p / q. "frex" (Bischof and Airoldi): the harmonic mean of a word's ranks by
            exclusivity, p over its sum over topics, and by p, among the words of the topic.
            "score": p times the logarithm of p over its geometric mean over topics.
        n_words : int
            How many words of each topic.
        topics : sequence of int, optional
            Which topics, in the order given; all when not given.
        relevance_lambda : float
            From 0 (lift) to 1 (probability).
        frex_weight : float
            The weight of exclusivity, from 0 to 1.
        as_frame : bool
            Return a DataFrame, or a dict of columns.

        Returns
        -------
        DataFrame or dict
            ``topic``, ``label``, ``word``, ``rank`` from 1, ``count``, ``probability`` (p) and
            ``score``, by which words are ranked; equal ones in the order of the vocabulary.
        """
        table = topic_words(
            self._fitted(), method, check_whole(n_words, "n_words"), topics=topics,
            relevance_lambda=relevance_lambda, frex_weight=frex_weight,
        )  # fmt: skip
        return frame(table, as_frame=as_frame)

    def find_topics(self, query: str | Sequence[str], n: int = 5, *, as_frame: bool = True) -> Any:
        """Return a table of the topics in which a query's words are probable.

        Parameters
        ----------
        query : str or sequence of str
            A string is cut into words; a sequence holds words as the model spells them. Words that
            the model does not know are left out, with a warning.
        n : int
            How many topics at most; topics in which none of the words occurs are not listed.
        as_frame : bool
            Return a DataFrame, or a dict of columns.

        Returns
        -------
        DataFrame or dict
            ``topic``, ``label``, ``probability`` (the geometric mean of the words' probabilities in
            the topic, in decreasing order), ``topic_probability`` (of the topic given the
            words; it sums to one over the topics that have any), and ``words`` with their counts.
        """
        return frame(find_topics(self._fitted(), query, n), as_frame=as_frame)

    def document_info(self, *, as_frame: bool = True) -> Any:
        """Return a table of the training documents, one row each, in the corpus' order.

        Parameters
        ----------
        as_frame : bool
            Return a DataFrame, or a dict of columns.

        Returns
        -------
        DataFrame or dict
            ``document`` (its name), ``length``, the leading ``topic`` (of equal ones the first),
            its ``label`` and its ``share``, (m + alpha) / (tokens + sum of alpha), and the
            ``entropy`` of all shares in nats. A document without words has topic -1 and NaN.
        """
        return frame(document_info(self._fitted()), as_frame=as_frame)

    def representative_documents(
        self,
        topic: int,
        n: int = 5,
        *,
        texts: Any = None,
        snippet: int = LENGTH,
        as_frame: bool = True,
    ) -> Any:
        """Return a table of the documents with the largest shares of a topic.

        Parameters
        ----------
        topic : int
            The topic's number.
        n : int
            How many documents at most, only those with tokens of the topic.
        texts : sequence of str, optional
            The documents' texts, to show them.
        snippet : int
            Characters of a snippet, at least 20.
        as_frame : bool
            Return a DataFrame, or a dict of columns.

        Returns
        -------
        DataFrame or dict
            ``number`` (place in the corpus, from 0), ``document`` (name), ``share`` in decreasing
            order, ``tokens`` of the topic, ``length``, and if texts are given ``text`` and
            ``snippet``, the part of it in which the topic's leading words are densest.
        """
        table = representative_documents(self._fitted(), topic, n, texts, snippet)
        return frame(table, as_frame=as_frame)

    def similar_documents(
        self,
        document: int | str | None = None,
        n: int = 5,
        *,
        text: str | None = None,
        texts: Any = None,
        as_frame: bool = True,
    ) -> Any:
        """Return a table of the documents whose mixtures of topics are nearest.

        Parameters
        ----------
        document : int or str, optional
            A training document: its place in the corpus, from 0, or its name.
        n : int
            How many documents.
        text : str, optional
            In place of a document: a text, whose mixture is inferred.
        texts : sequence of str, optional
            The documents' texts, to show them.
        as_frame : bool
            Return a DataFrame, or a dict of columns.

        Returns
        -------
        DataFrame or dict
            ``number``, ``document``, ``distance`` (Hellinger, from 0 to 1, increasing), and
            ``text`` if given. The document itself and those without words are not listed.
        """
        table = similar_documents(self._fitted(), document, n, text, texts)
        return frame(table, as_frame=as_frame)

    def topics_over_time(
        self, timestamps: Any, bins: Any = None, *, topics: Any = None, as_frame: bool = True
    ) -> Any:
        """Return a table of the shares of topics in spans of time.

        Parameters
        ----------
        timestamps : sequence, one for each document
            Numbers, dates, datetimes, or strings such as "2024-05-31". Documents whose time is
            missing (None, NaN), or outside of the bins, are left out, with a warning.
        bins : int, str or sequence, optional
            A number of equal spans; "year", "month", "week" (from Monday), "day" or "hour"; or
            edges, a span holding its start, the last one its end, too. Each distinct time when not
            given.
        topics : sequence of int, optional
            Which topics; all when not given.
        as_frame : bool
            Return a DataFrame, or a dict of columns.

        Returns
        -------
        DataFrame or dict
            A row for each span and topic: ``time`` (the span's start), ``topic``, ``label``,
            ``documents`` (those that have words), ``tokens`` of the topic, ``share``, the mean of
            the documents' shares, and ``token_share``, the part of the span's tokens that have the
            topic, in which a long document counts for more. Each sums to one over all topics; both
            are NaN in a span without documents.
        """
        return frame(topics_over_time(self._fitted(), timestamps, bins, topics), as_frame=as_frame)

    def topics_per_class(self, labels: Any, *, topics: Any = None, as_frame: bool = True) -> Any:
        """Return a table of the shares of topics in classes of documents.

        Parameters
        ----------
        labels : sequence, one for each document
            The class of each. Documents without one (None, NaN) are left out, with a
            warning.
        topics : sequence of int, optional
            Which topics; all when not given.
        as_frame : bool
            Return a DataFrame, or a dict of columns.

        Returns
        -------
        DataFrame or dict
            A row for each class (sorted) and topic: ``class``, and then as in `topics_over_time`.
        """
        return frame(topics_per_class(self._fitted(), labels, topics), as_frame=as_frame)

    def hierarchy(
        self,
        method: str = "average",
        *,
        n_words: int = 5,
        order: str = BY_RELEVANCE,
        as_frame: bool = True,
    ) -> Hierarchy:
        """Return how topics merge, the nearest first.

        Parameters
        ----------
        method : {"average", "complete", "single", "weighted", "ward"}
            How far groups of topics are from each other, as in scipy. Topics are at their Hellinger
            distance, of the shares of words among their tokens; one without tokens is at distance
            1 from all.
        n_words : int
            Leading words of each group.
        order : {"relevance", "frequency"}
            Order of words: those that set a group apart first, or the most probable ones.
        as_frame : bool
            Make its table a DataFrame, or a dict of columns.

        Returns
        -------
        Hierarchy
            ``linkage`` for scipy, ``table``, and ``groups(n_topics)`` for `merge_topics`.
        """
        found = hierarchy(self._fitted(), method, n_words, order)
        return found._replace(table=frame(found.table, as_frame=as_frame))

    def merge_topics(self, groups: Sequence[Sequence[int]]) -> M:
        """Return a model in which groups of topics are one topic each.

        A merged topic takes the place of the smallest number of its group; topics then close up,
        in their old order. Counts are added, and so are the topics' alphas, which leaves the prior
        of all other topics as it was; beta stays. The old numbers of each topic are in
        ``parameters["merged_topics"]``; labels are joined by " + ". The trace, which is of other
        topics, is left out, and the run cannot be resumed from there.

        Parameters
        ----------
        groups : sequence of sequences of int
            Such as [[1, 5], [2, 7]]. Topics that are not named stay as they are.

        Returns
        -------
        TopicModel
            The model itself, or the estimator, is not changed.
        """
        return merge_topics(self._fitted(), groups)

    def label_topics(self, labels: Labels, *, n_words: int = 10) -> M:
        """Return a model with labels, which tables, reports and plots show and `save` stores.

        A label has at most 100 characters, none of them a control character, and belongs to one
        topic only; capitals do not distinguish labels.

        Parameters
        ----------
        labels : mapping, sequence or callable
            Topic numbers with their labels, None for a label to remove, where other topics keep
            theirs; or a list with a label or None for each topic; or a function from the leading
            words of a topic to its label, called for each topic that has words. Where a function
            returns a label again, a word that distinguishes the topic is added.
        n_words : int
            How many words the function is given.

        Returns
        -------
        TopicModel
            Labels are in ``parameters["labels"]``. The model itself, or the estimator, is not
            changed: use what is returned, as in ``polyaurn.report(model)``. An estimator's own
            page has labels with ``lda.report(labels=...)``.
        """
        return label_topics(self._fitted(), labels, n_words)
