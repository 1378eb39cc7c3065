"""What topics over time show: tables in long form, topics and documents of a slice."""

from typing import Any

from polyaurn.base.checks import check_whole
from polyaurn.model.leading_words import BY_RELEVANCE
from polyaurn.model.model import TopicModel
from polyaurn.model.slices.slices import Slices
from polyaurn.model.slices.tables import (
    changes_of_words,
    documents_of_slice,
    scores_of_slices,
    sizes_of_slices,
    words_of_slices,
)
from polyaurn.model.tables.mixin import frame


class SliceTables:
    """Base of `TopicsOverTime`: all that reads ``slices_``."""

    slices_: Slices

    @property
    def models_(self) -> dict[str, TopicModel]:
        """The model of each slice, by its label."""
        slices = self._slices()
        return dict(zip(slices.labels, slices.models, strict=True))

    @property
    def n_slices_(self) -> int:
        """Slices that are finished."""
        return len(self._slices().models)

    def topics(self, slice_: str | int, n_words: int = 10, *, order: str = BY_RELEVANCE) -> Any:
        """Return the leading words of each topic in a slice; see `TopicModel.topics`.

        Parameters
        ----------
        slice_ : str or int
            Its label, or its number from 0.
        n_words : int
            How many words of each topic.
        order : {"relevance", "frequency"}
            How words are ranked.

        Returns
        -------
        list of list of str
            In the order of the topics' numbers.
        """
        slices = self._slices()
        return slices.models[slices.place(slice_)].topics(n_words, order=order)

    def topic_words(self, n_words: int = 10, *, topics: Any = None, as_frame: bool = True) -> Any:
        """Return a table of the leading words of topics in each slice.

        Parameters
        ----------
        n_words : int
            How many words of each topic.
        topics : sequence of int, optional
            Which topics; all when not given.
        as_frame : bool
            Return a DataFrame, or a dict of columns.

        Returns
        -------
        DataFrame or dict
            ``slice``, ``topic``, ``label``, ``word``, ``rank`` from 1 by relevance, ``count`` (of
            the slice's own tokens) and ``probability``, which rests on the carried counts, too.
        """
        return frame(words_of_slices(self._slices(), n_words, topics), as_frame=as_frame)

    def topic_sizes(self, *, topics: Any = None, as_frame: bool = True) -> Any:
        """Return a table of the sizes of topics in each slice.

        Parameters
        ----------
        topics : sequence of int, optional
            Which topics; all when not given.
        as_frame : bool
            Return a DataFrame, or a dict of columns.

        Returns
        -------
        DataFrame or dict
            ``slice``, ``topic``, ``label``, ``tokens`` of the slice that have the topic, and their
            ``share`` of its tokens.
        """
        return frame(sizes_of_slices(self._slices(), topics), as_frame=as_frame)

    def word_changes(self, n_words: int = 10, *, topics: Any = None, as_frame: bool = True) -> Any:
        """Return a table of the words that enter and leave topics between slices.

        Parameters
        ----------
        n_words : int
            A word enters where it is among so many leading ones, and was not among twice as many
            in the slice before; it leaves where that is so the other way round.
        topics : sequence of int, optional
            Which topics; all when not given.
        as_frame : bool
            Return a DataFrame, or a dict of columns.

        Returns
        -------
        DataFrame or dict
            ``slice`` (the later one), ``topic``, ``label``, ``change`` ("enters" or "leaves"),
            ``word``, its ``rank`` where it leads, and its probabilities ``before`` and ``after``.
        """
        return frame(changes_of_words(self._slices(), n_words, topics), as_frame=as_frame)

    def held_out_scores(self, *, as_frame: bool = True) -> Any:
        """Return a table of the slices, with the score of the documents held out of each.

        Parameters
        ----------
        as_frame : bool
            Return a DataFrame, or a dict of columns.

        Returns
        -------
        DataFrame or dict
            ``slice``, ``documents`` and ``tokens`` trained on, ``held_out_documents`` and
            ``held_out_tokens`` that were scored, their log likelihood per token
            (``score``, of `polyaurn.evaluate.document_completion`) and its standard ``error`` over
            documents.
        """
        return frame(scores_of_slices(self._slices()), as_frame=as_frame)

    def representative_documents(
        self, slice_: str | int, topic: int, n: int = 5, *, as_frame: bool = True
    ) -> Any:
        """Return a table of the documents of a slice with the largest shares of a topic.

        Parameters
        ----------
        slice_ : str or int
            Its label, or its number from 0.
        topic : int
            The topic's number.
        n : int
            How many documents at most.
        as_frame : bool
            Return a DataFrame, or a dict of columns.

        Returns
        -------
        DataFrame or dict
            ``number`` in the whole corpus, ``document``, ``share``, ``tokens`` and ``length``.
        """
        check_whole(n, "n")
        return frame(documents_of_slice(self._slices(), slice_, topic, n), as_frame=as_frame)

    def _slices(self) -> Slices:
        slices: Slices | None = self.__dict__.get("slices_")
        if slices is None or not slices.models:
            from sklearn.exceptions import NotFittedError

            raise NotFittedError("These topics have not been trained yet; call fit first.")
        return slices
