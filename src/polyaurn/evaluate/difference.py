"""What changed between models: topics that grew, moved, are new or died, and documents behind."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from polyaurn.backends.registry import check_device
from polyaurn.base.checks import check_one_of, check_whole
from polyaurn.base.errors import InputError
from polyaurn.base.rng import check_seed
from polyaurn.base.threads import Workers, count_threads
from polyaurn.evaluate.topic_changes import (
    AUTO,
    CHANGES,
    MATCHES,
    SAME,
    how_to_match,
    no_common_words,
    pair_topics,
    table_of,
)
from polyaurn.evaluate.unexplained_documents import unexplained
from polyaurn.model.common_words import in_common_words
from polyaurn.model.labels import labels_of
from polyaurn.model.model import TopicModel, fitted
from polyaurn.model.tables.mixin import frame
from polyaurn.training.updates import has_counts

WORDS_LISTED, DOCUMENTS = 10, 10
_PLAIN = {SAME: "as before"}


@dataclass(frozen=True, eq=False)
class Difference:
    """What changed from one model to another.

    Attributes
    ----------
    match : str
        How topics were matched: "number" or "words".
    summary : str
        One or two sentences.
    counts : dict of str to int
        How many topics are "new", "died", "grew", "shrank", "moved" and the "same"; a topic may
        have grown and moved.
    shared_words : float
        The share of the new model's tokens whose words the old one has.
    n_topics : tuple of int
        The numbers of topics of both models.
    """

    match: str
    summary: str
    counts: dict[str, int]
    shared_words: float
    n_topics: tuple[int, int]
    _topics: dict[str, Any]
    _documents: dict[str, Any] | None

    def topic_table(self, *, as_frame: bool = True) -> Any:
        """Return a table of topics: those in both models, those that died, and new ones.

        Parameters
        ----------
        as_frame : bool
            Return a DataFrame, or a dict of columns.

        Returns
        -------
        DataFrame or dict
            ``topic_before`` and ``topic_after``, its numbers (-1 where it is not there),
            ``label_before`` and ``label_after``, ``change``, ``share_before`` and ``share_after``
            of the documents' tokens (of an updated model with those counted before, as they have
            faded), ``share_error``, the standard error of their difference over documents (NaN
            without documents, infinite where a model has no counts of tokens and shares are
            unknown), ``distance`` (Hellinger, 0 to 1, with what samples of these sizes
            of one topic differ by taken out; NaN where there is no pair), and
            ``words_gained`` and ``words_lost``, leading words that are at least twice, or at most
            half, as probable as before.
        """
        return frame(dict(self._topics), as_frame=as_frame)

    def document_table(self, *, as_frame: bool = True) -> Any:
        """Return a table of the documents that no old topic explains, the least explained first.

        Parameters
        ----------
        as_frame : bool
            Return a DataFrame, or a dict of columns.

        Returns
        -------
        DataFrame or dict
            ``number`` (place among the documents), ``document`` (name), ``tokens``,
            ``score_before`` and ``score_after``, the log likelihood per token of every second token
            given the mixture inferred from the others, ``gain``, their difference,
            ``unknown_before``, the share of tokens whose words the old model lacks, ``topic_after``
            and ``label_after``, the leading topic, and ``snippet`` where there are texts.
        """
        if self._documents is None:
            raise InputError(
                "The 'documents' parameter of diff must be given for this table: the new model's "
                "documents, a Corpus or texts. Got none; call diff again with them."
            )
        return frame(dict(self._documents), as_frame=as_frame)

    @property
    def has_documents(self) -> bool:
        """Whether documents were given, so that there is a table of them."""
        return self._documents is not None

    def __repr__(self) -> str:
        return f"Difference({self.summary!r})"


@dataclass(frozen=True, eq=False)
class Differences:
    """How several models differ from one, such as those of several seeds.

    Attributes
    ----------
    pairs : tuple of Difference
        From the first model to each of the others.
    summary : str
        One sentence.
    """

    pairs: tuple[Difference, ...]
    summary: str
    _topics: dict[str, Any]

    def topic_table(self, *, as_frame: bool = True) -> Any:
        """Return a table of the first model's topics: in how many of the others each recurs.

        Parameters
        ----------
        as_frame : bool
            Return a DataFrame, or a dict of columns.

        Returns
        -------
        DataFrame or dict
            ``topic``, ``label``, ``share``, ``found_in`` (how many of the other models have it),
            ``distance``, the mean over those, and ``least_share`` and ``most_share`` over all
            models, 0 in one that lacks it.
        """
        return frame(dict(self._topics), as_frame=as_frame)

    def __repr__(self) -> str:
        return f"Differences({self.summary!r})"


@overload
def diff(
    before: Any,
    after: Any,
    *,
    match: str = ...,
    documents: Any = ...,
    texts: Sequence[str] | None = ...,
    n_documents: int = ...,
    n_words: int = ...,
    random_state: Any = ...,
    n_jobs: int | None = ...,
    device: str = ...,
) -> Difference: ...


@overload
def diff(
    before: Any, after: Any, third: Any, /, *more: Any, match: str = ..., n_words: int = ...
) -> Differences: ...


def diff(
    before: Any,
    after: Any,
    *more: Any,
    match: str = AUTO,
    documents: Any = None,
    texts: Sequence[str] | None = None,
    n_documents: int = DOCUMENTS,
    n_words: int = WORDS_LISTED,
    random_state: Any = 0,
    n_jobs: int | None = -1,
    device: str = "cpu",
) -> Difference | Differences:
    """Say what changed between two models: topics that grew, shrank, moved, are new or died.

    The models may have different words and numbers of topics. Words that only one of them has count
    as words without tokens in the other.

    A topic grew, or shrank, if its share of tokens changed by a quarter or more, and by three
    standard errors; it moved if its distance from before is above 0.5. Matched by words, topics are
    paired one to one so that pairs are as alike as can be, and pairs whose Bhattacharyya
    coefficient is below 0.5 are not the same topic: one died, and another is new. Matched by
    number, a topic is new, or died, if it has less than a tenth of its size in the other
    model, and of the size of a mean topic there.

    Parameters
    ----------
    before, after : TopicModel or LDA
        The old model and the new one.
    *more : TopicModel or LDA
        Further models. Each, and `after`, is compared with the first: with several seeds of one
        training this shows which topics recur.
    match : {"auto", "number", "words"}
        How topics are matched; "auto" matches by number if the new model was updated from the
        old one, or both are slices of one `TopicsOverTime` that carries counts; else by words.
    documents : Corpus, matrix of counts, sequence of str, or sequence of lists of tokens, optional
        Documents of the new model. Those whose score per token the new model raises most are
        those that no old topic explains. A matrix must have the words of both models as columns.
    texts : sequence of str, optional
        The documents' texts, for snippets; not needed if `documents` are texts.
    n_documents : int
        How many documents at most.
    n_words : int
        How many gained and lost words of a topic at most.
    random_state : int, None or NumPy generator
        The seed of the documents' mixtures.
    n_jobs : int or None
        Threads; the result does not depend on it.
    device : {"cpu", "gpu", "auto"}
        Where to sample; the result does not depend on it.

    Returns
    -------
    Difference or Differences
        `Difference` for two models, `Differences` for more.

    Examples
    --------
    >>> import polyaurn
    >>> corpus = polyaurn.datasets.generate(n_documents=200, n_words=100, n_topics=4)
    >>> old, new = (polyaurn.LDA(4, max_iter=60, random_state=s, verbose=False).fit(corpus)
    ...             for s in (0, 1))
    >>> polyaurn.diff(old, new).counts["died"]
    0
    """
    check_match(match, n_documents)
    check_whole(n_words, "n_words")
    models = [fitted(model) for model in (before, after, *more)]
    if more and (documents is not None or texts is not None):
        raise InputError(
            f"The 'documents' parameter is for two models. Got it for {len(models)}; compare the "
            "first with one of the others."
        )
    if texts is not None and documents is None:
        raise InputError(
            "The 'texts' parameter must come with 'documents'. Got it without them; give the texts "
            "as documents."
        )
    if not more:
        how = (check_seed(random_state), count_threads(n_jobs), check_device(device))
        return _difference(
            models[0], models[1], match, n_words, documents, texts, n_documents, *how
        )
    pairs = tuple(_difference(models[0], other, match, n_words) for other in models[1:])
    return _differences(models[0], pairs)


def check_match(match: Any, n_documents: Any) -> None:
    """Raise unless topics can be matched so, and so many documents listed."""
    check_one_of(match, "match", MATCHES)
    check_whole(n_documents, "n_documents", of="documents")


def _difference(
    old: TopicModel,
    new: TopicModel,
    match: str,
    n_words: int,
    documents: Any = None,
    texts: Sequence[str] | None = None,
    n_documents: int = DOCUMENTS,
    seed: int = 0,
    threads: int = 1,
    device: str = "cpu",
) -> Difference:
    common = in_common_words(old, new)
    if not common.n_shared:
        raise no_common_words()
    match = how_to_match(old, new, match)
    topics = table_of(old, new, common, pair_topics(old, new, common, match), n_words)
    shown = None
    if documents is not None:
        with Workers(threads) as workers:
            shown = unexplained(
                old, new, common, documents, texts, n_documents,
                seed=seed, workers=workers, device=device,
            )  # fmt: skip
    each = Counter(word for change in topics["change"] for word in change.split(", "))
    counts = {change: each[change] for change in CHANGES}
    after = np.asarray(common.after.sum(axis=0)).ravel()
    shared = float(after[: len(old.vocab)].sum() / max(float(after.sum()), 1e-300))
    said = _summary(counts, topics, shared) + _note_of_shares(old, new)
    return Difference(match, said, counts, shared, (old.n_topics, new.n_topics), topics, shown)


def _summary(counts: dict[str, int], topics: dict[str, Any], shared: float) -> str:
    """Return what changed in plain words, with the largest change of size."""
    several = [f"{n} {_PLAIN.get(change, change)}" for change, n in counts.items() if n]
    said = f"Of {len(topics['change'])} topics: {', '.join(several)}."
    both = (topics["topic_before"] >= 0) & (topics["topic_after"] >= 0)
    change = np.abs(topics["share_after"] - topics["share_before"])
    sized = [("grew" in words or "shrank" in words) for words in topics["change"]]
    change = np.where(both & np.array(sized), change, 0.0)
    if change.max(initial=0.0) > 0:
        k = int(change.argmax())
        said += (
            f" The largest change of size is that of '{topics['label_after'][k]}', from "
            f"{topics['share_before'][k]:.1%} to {topics['share_after'][k]:.1%} of tokens."
        )
    if shared < 0.5:
        said += (
            f" Only {shared:.0%} of the new model's tokens are of words that the old one has, so "
            "distances say more about words than about topics."
        )
    return said


def _note_of_shares(old: TopicModel, new: TopicModel) -> str:
    """Return a sentence about models that say nothing about the sizes of topics, or ""."""
    names = [name for name, m in (("old", old), ("new", new)) if not has_counts(m)]
    if not names:
        return ""
    several = len(names) > 1
    return (
        f" The {' and the '.join(names)} model{'s have' if several else ' has'} probabilities of "
        "words without counts of tokens: shares of topics are unknown, and shown as equal."
    )


def _differences(first: TopicModel, pairs: tuple[Difference, ...]) -> Differences:
    """Return in how many models each topic of the first recurs."""
    K = first.n_topics
    share, found, distance = np.zeros((len(pairs), K)), np.zeros((len(pairs), K), bool), []
    own = np.zeros(K)
    for place, pair in enumerate(pairs):
        table = pair.topic_table(as_frame=False)
        old = table["topic_before"] >= 0
        numbers = table["topic_before"][old]
        own[numbers] = table["share_before"][old]
        share[place, numbers] = table["share_after"][old]
        found[place, numbers] = table["topic_after"][old] >= 0
        row = np.full(K, np.nan)
        row[numbers] = table["distance"][old]
        distance.append(row)
    far, n = np.array(distance), found.sum(axis=0)
    mean = np.where(n > 0, np.nansum(far, axis=0) / np.maximum(n, 1), np.nan)
    every = int((n == len(pairs)).sum())
    return Differences(
        pairs,
        f"{every} of {K} topics of the first model are in each of the {len(pairs)} others; "
        f"{int((n == 0).sum())} are in no other.",
        {
            "topic": np.arange(K),
            "label": labels_of(first),
            "share": own,
            "found_in": n.astype(np.int64),
            "distance": mean,
            "least_share": np.minimum(own, share.min(axis=0)),
            "most_share": np.maximum(own, share.max(axis=0)),
        },
    )
