"""Whether new documents are still of the kind that a model was trained on."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from polyaurn.backends.registry import check_device
from polyaurn.base.arrays import F64, I64
from polyaurn.base.checks import check_fraction, check_number, check_whole
from polyaurn.base.errors import InputError
from polyaurn.base.rng import check_seed
from polyaurn.base.threads import Workers, count_threads
from polyaurn.corpus.known_words import MUCH_UNKNOWN, Known, in_words_of
from polyaurn.evaluate.batch import (
    Batch,
    join,
    ratio,
    resamples,
    see,
    shares,
    weight_of_prior,
)
from polyaurn.evaluate.left_out_documents import check_same, see_left_out
from polyaurn.model.checks import check_documents
from polyaurn.model.labels import labels_of
from polyaurn.model.model import TopicModel, fitted
from polyaurn.model.tables.mixin import frame
from polyaurn.training.updates import earlier_sizes

SCORE, UNKNOWN, TOPICS = "score", "unknown", "topics"
THRESHOLD, UNKNOWN_THRESHOLD, TOPICS_THRESHOLD = 0.2, 0.05, 0.15
SURE = 3.0  # standard errors by which a difference must be beyond what random samples explain
LONG = 3.0  # times the median length, which a document counts with at most
SAMPLE = 2000  # training documents that are compared with
LEAST_SAMPLE = 20
DRAWS = 400  # resamples of documents
INTERVAL = (0.025, 0.975)
LEAST = 2  # documents with words, for a standard error
_TRAINING = "training documents, seen by topics of the chain continued without them"
_EARLIER = "; shares of topics also with what was counted before the update"
_AGAINST = "the documents given to compare with"


class Signal(NamedTuple):
    """One thing in which a batch may differ from the documents it is compared with.

    Attributes
    ----------
    name : str
        "score" (held-out log likelihood per token, in nats), "unknown" (share of tokens whose words
        the model does not know) or "topics" (share of the documents' content that has moved to
        other topics: half the sum of absolute differences between mean mixtures).
    batch, batch_error : float
        Value in the batch and its standard error over documents; NaN for "topics".
    baseline, baseline_error : float
        The same for the documents that the batch is compared with.
    difference : float
        How much worse the batch is: lower in score, higher in the share of unknown words, the
        share of content that has moved.
    chance : float
        The difference to be expected of two random samples of one kind: 0, or for "topics" the
        mean over resamples of all documents together.
    error : float
        Standard error of the difference.
    threshold : float
        The smallest difference that matters.
    beyond : bool
        Whether the difference is above the threshold, and above chance by more than three standard
        errors (of small batches more, by Student's t).
    """

    name: str
    batch: float
    batch_error: float
    baseline: float
    baseline_error: float
    difference: float
    chance: float
    error: float
    threshold: float
    beyond: bool


@dataclass(frozen=True, eq=False)
class Drift:
    """How a batch of documents differs from those that a model was trained on.

    Attributes
    ----------
    signals : dict of str to Signal
        "score", "unknown" and "topics".
    drifted : bool
        Whether any signal is beyond its threshold.
    verdict : str
        One sentence.
    baseline : str
        What the batch is compared with, in words.
    documents, baseline_documents : int
        How many documents there are in the batch, and to compare with.
    tokens, unknown_tokens : int
        Those of the batch.
    """

    signals: dict[str, Signal]
    drifted: bool
    verdict: str
    baseline: str
    documents: int
    baseline_documents: int
    tokens: int
    unknown_tokens: int
    _topics: dict[str, Any]

    def signal_table(self, *, as_frame: bool = True) -> Any:
        """Return a table of the signals, one row each.

        Parameters
        ----------
        as_frame : bool
            Return a DataFrame, or a dict of columns.

        Returns
        -------
        DataFrame or dict
            The fields of `Signal`.
        """
        names = Signal._fields
        rows = list(self.signals.values())
        return frame({n: [getattr(row, n) for row in rows] for n in names}, as_frame=as_frame)

    def topic_table(self, *, as_frame: bool = True) -> Any:
        """Return a table of the shares of topics, one row each.

        Parameters
        ----------
        as_frame : bool
            Return a DataFrame, or a dict of columns.

        Returns
        -------
        DataFrame or dict
            ``topic``, ``label``, ``share`` of the topic in the batch, the mean of the documents'
            mixtures, ``low`` and ``high``, a 95% interval by resampling documents, and
            ``baseline``, the share in the documents that the batch is compared with (of an updated
            model with what was counted before), with its interval ``baseline_low`` and
            ``baseline_high``.
        """
        return frame(dict(self._topics), as_frame=as_frame)

    def __repr__(self) -> str:
        return f"Drift({self.verdict!r})"


def drift(
    model: Any,
    documents: Any,
    *,
    corpus: Any = None,
    against: Any = None,
    threshold: float = THRESHOLD,
    unknown_threshold: float = UNKNOWN_THRESHOLD,
    topics_threshold: float = TOPICS_THRESHOLD,
    sample: int = SAMPLE,
    random_state: Any = 0,
    n_jobs: int | None = -1,
    device: str = "cpu",
) -> Drift:
    """Compare a batch of new documents with those that a model was trained on.

    Three things are compared: the held-out score per token (every second token of a document, given
    the mixture inferred from the others), the share of tokens whose words the model does not know,
    and the shares of topics. A difference counts where it is above its threshold and above what two
    random samples of documents explain by more than three standard errors. Small batches
    therefore raise no alarm by chance, and large ones none about trifles. Errors are over
    documents, and a document counts with at most three times the median number of tokens. A batch
    in which the model knows too few words for a score has drifted.

    Documents that a model was trained on score better than new ones, since their own words are in
    its topics. So a random tenth of them is left out, at most `sample`, the chain continues for 40
    sweeps on the others, and the topics of the last 20 see those that were left out; words that
    no other document has count as unknown. In small corpora this is done for up to five tenths.
    A model that was updated is compared with the documents of the update; its shares of topics and
    known words also are those of what was counted before, as much as it has faded.

    Parameters
    ----------
    model : TopicModel or LDA
        A trained model.
    documents : Corpus, matrix of counts, sequence of str, or sequence of lists of tokens
        The batch, as in `TopicModel.transform`.
    corpus : Corpus, matrix of counts, sequence of str, or sequence of lists of tokens, optional
        What the model was trained on; an estimator takes its own. Words that were left out in
        training are the baseline's unknown words, so give it with them, as texts or as a corpus
        that was not pruned: without them, any unknown word of the batch counts as new.
    against : Corpus, matrix of counts, sequence of str, or sequence of lists of tokens, optional
        Documents to compare with instead of the training documents: others that the model was not
        trained on, such as last month's batch.
    threshold : float
        Decrease of the score, in nats per token, from which it matters.
    unknown_threshold : float
        Increase of the share of unknown words from which it matters.
    topics_threshold : float
        Share of content in other topics from which it matters.
    sample : int
        The most training documents to compare with.
    random_state : int, None or NumPy generator
        The seed.
    n_jobs : int or None
        Threads; the result does not depend on it.
    device : {"cpu", "gpu", "auto"}
        Where to sample; the result does not depend on it.

    Returns
    -------
    Drift
        The verdict, the three signals, and a table of topics.

    Examples
    --------
    >>> import polyaurn
    >>> corpus = polyaurn.datasets.generate(n_documents=200, n_words=100, n_topics=5)
    >>> train, new = corpus.split(0.4)
    >>> lda = polyaurn.LDA(5, max_iter=60, verbose=False).fit(train)
    >>> polyaurn.drift(lda, new).drifted
    False
    """
    check_limits(threshold, unknown_threshold, topics_threshold, sample)
    trained = fitted(model)
    seed, threads, device = check_seed(random_state), count_threads(n_jobs), check_device(device)
    new = _known(trained, documents, "documents", unknown=True)
    other, own = _to_compare(model, trained, corpus, against)
    with Workers(threads) as workers:
        batch = see(trained, new, seed=seed, workers=workers, device=device)
        if own:
            base = see_left_out(trained, other, sample, seed=seed, workers=workers, device=device)
        else:
            base = see(trained, other, seed=seed, workers=workers, device=device)
    if (base.scored > 0).sum() < LEAST:
        raise InputError(
            "The 'corpus' parameter must have documents that share words with each other. Got none "
            "that can be compared with; give documents to compare with as 'against'."
        )
    before = _Before.of(trained, base) if own else None
    moved, topics = _of_topics(trained, batch, base, before, topics_threshold, seed)
    score = _lower(SCORE, batch, base, threshold)
    unknown = _higher(UNKNOWN, batch, base, unknown_threshold)
    strange = int((new.tokens > 1).sum()) < LEAST  # too little is known for a score or topics
    if strange:
        score, moved = (_without_value(signal) for signal in (score, moved))
        unknown = unknown._replace(beyond=True)
        topics |= {name: np.full(trained.n_topics, np.nan) for name in ("share", "low", "high")}
    signals = {signal.name: signal for signal in (score, unknown, moved)}
    said = _AGAINST if not own else _TRAINING if before is None else _TRAINING + _EARLIER
    return Drift(
        signals,
        any(signal.beyond for signal in signals.values()),
        _verdict(signals, "training" if own else "the documents compared with"),
        said, batch.size, base.size, int(batch.known.sum()) + int(batch.unknown.sum()),
        int(batch.unknown.sum()), topics,
    )  # fmt: skip


def check_limits(
    threshold: Any, unknown_threshold: Any, topics_threshold: Any, sample: Any
) -> None:
    """Raise unless thresholds and the size of a sample are in range."""
    check_number(threshold, "threshold", remedy=f"{THRESHOLD:g} is the default")
    check_fraction(unknown_threshold, "unknown_threshold")
    check_fraction(topics_threshold, "topics_threshold")
    check_whole(sample, "sample", LEAST_SAMPLE, of="documents")


def _known(model: TopicModel, documents: Any, name: str, *, unknown: bool = False) -> Known:
    """Return documents in the model's words; raise if there are too few to judge.

    With `unknown` most words, or all, may be ones that the model does not know.
    """
    known = in_words_of(model.vocab, documents, model.tokenization)
    usable = int((known.tokens > 1).sum())
    enough = int((known.tokens + known.unknown > 1).sum()) >= LEAST
    if usable < LEAST and not (unknown and enough and known.unknown_share > MUCH_UNKNOWN):
        lost = f", {known.unknown_share:.0%} of whose tokens are of other words" * bool(usable == 0)
        raise InputError(
            f"The '{name}' parameter must have at least {LEAST} documents with two or more words "
            f"that the model knows. Got {usable} among {len(known.tokens):,} documents{lost}; is "
            "this the model of another language, or are words cut differently?"
        )
    return known


def _to_compare(model: Any, trained: TopicModel, corpus: Any, against: Any) -> tuple[Known, bool]:
    """Return the documents to compare with, and whether the model was trained on them."""
    if against is not None:
        if corpus is not None:
            raise InputError(
                "The 'against' parameter must stand without 'corpus'. Got both; give one of them."
            )
        return _known(trained, against, "against"), False
    corpus = getattr(model, "corpus_", None) if corpus is None else corpus
    check_documents(trained, "give documents to compare with as 'against'")
    if corpus is None:
        raise InputError(
            "The 'corpus' parameter must be what the model was trained on. Got none; give it, or "
            "documents to compare with as 'against'."
        )
    known = in_words_of(trained.vocab, corpus, trained.tokenization)
    check_same(trained, known)
    return known, True


def _lower(name: str, batch: Batch, base: Batch, threshold: float) -> Signal:
    """Return by how much the score of a batch is lower."""
    most = _longest(batch.scored, base.scored)
    new, old = (ratio(seen.log_likelihood, seen.scored, most) for seen in (batch, base))
    return _signal(name, new, old, old[0] - new[0], threshold, batch.size, base.size)


def _higher(name: str, batch: Batch, base: Batch, threshold: float) -> Signal:
    """Return by how much the share of unknown words in a batch is higher."""
    tokens = [seen.unknown + seen.known for seen in (batch, base)]
    most = _longest(*tokens)
    new, old = (ratio(seen.unknown, n, most) for seen, n in zip((batch, base), tokens, strict=True))
    return _signal(name, new, old, new[0] - old[0], threshold, batch.size, base.size)


def _longest(tokens: I64, others: I64) -> float:
    """Return the tokens that a document counts with at most, lest a few decide everything."""
    both = np.concatenate((tokens, others))
    return LONG * max(1.0, float(np.median(both[both > 0])))


def _signal(
    name: str,
    new: tuple[float, float],
    old: tuple[float, float],
    difference: float,
    threshold: float,
    *documents: int,
) -> Signal:
    error = float(np.hypot(new[1], old[1]))
    beyond = difference > threshold and difference > _sure(min(documents)) * error
    return Signal(name, *new, *old, difference, 0.0, error, threshold, bool(beyond))


def _sure(documents: int) -> float:
    """Return the standard errors of Student's t that are as rare as `SURE` of the normal."""
    from scipy.stats import norm, t

    return float(t.isf(norm.sf(SURE), max(1, documents - 1)))


class _Before(NamedTuple):
    """Topics of what a model counted before its update: their shares, and the part that it is."""

    share: F64
    part: float

    @classmethod
    def of(cls, model: TopicModel, base: Batch) -> "_Before | None":
        """Return those of a model, None if there are none; in mixtures like those of documents."""
        sizes, alpha = earlier_sizes(model), model.priors.alpha
        earlier = float(sizes.sum())
        if not earlier:
            return None
        prior = weight_of_prior(base, alpha)
        share = (1.0 - prior) * sizes / earlier + prior * alpha / alpha.sum()
        return cls(share, earlier / (earlier + len(model.assignments)))

    def joined(self, found: F64, share: F64) -> F64:
        """Return shares of documents at hand together with these shares of earlier ones."""
        return np.asarray((1.0 - self.part) * found + self.part * share, np.float64)


def _without_value(signal: Signal) -> Signal:
    """Return the signal of a batch in which it cannot be seen."""
    nan = float("nan")
    return signal._replace(
        batch=nan, batch_error=nan, difference=nan, chance=nan, error=nan, beyond=False
    )


def _of_topics(
    model: TopicModel,
    batch: Batch,
    base: Batch,
    before: _Before | None,
    threshold: float,
    seed: int,
) -> tuple[Signal, dict[str, Any]]:
    """Return how much content is in other topics, and the table of topics with intervals.

    What two samples of one kind would differ by is found by drawing both, at their sizes, from all
    documents together. Where the baseline is partly of documents `before`, that part has no error.
    """
    alpha, sizes = model.priors.alpha, (batch.size, base.size)
    seen = [shares(batch, alpha), shares(base, alpha)]
    bounds = []
    for number, part in enumerate((batch, base)):
        times = resamples(part.size, part.size, DRAWS, seed, f"interval {number}")
        bounds.append(np.quantile(shares(part, alpha, times), INTERVAL, axis=0))
    both = join([batch, base])
    pooled = [
        shares(both, alpha, resamples(both.size, size, DRAWS, seed, f"chance {number}"))
        for number, size in enumerate(sizes)
    ]
    if before is not None:
        seen[1] = before.joined(seen[1], before.share)
        bounds[1] = before.joined(bounds[1], before.share)
        pooled[1] = before.joined(pooled[1], shares(both, alpha))
    apart = 0.5 * np.abs(pooled[0] - pooled[1]).sum(axis=1)
    chance, error = float(apart.mean()), float(apart.std(ddof=1))
    difference = 0.5 * float(np.abs(seen[0] - seen[1]).sum())
    sure = _sure(min(sizes))
    beyond = difference > threshold and difference - chance > sure * error
    nan = float("nan")
    signal = Signal(TOPICS, nan, nan, nan, nan, difference, chance, error, threshold, bool(beyond))
    table = {
        "topic": np.arange(model.n_topics),
        "label": labels_of(model),
        "share": seen[0],
        "low": bounds[0][0],
        "high": bounds[0][1],
        "baseline": seen[1],
        "baseline_low": bounds[1][0],
        "baseline_high": bounds[1][1],
    }
    return signal, table


def _verdict(signals: dict[str, Signal], compared: str) -> str:
    """Return one sentence about all signals, those beyond their thresholds first."""
    score, unknown, topics = (signals[name] for name in (SCORE, UNKNOWN, TOPICS))
    if topics.difference != topics.difference:
        few = "none of the words is" if unknown.batch == 1.0 else "hardly any words are"
        return (
            f"Drift: {few} known to the model: {unknown.batch:.1%} of tokens are unknown words, "
            f"against {unknown.baseline:.1%} in {compared}, so that there is neither a score nor "
            "topics to compare; is it another language, or are words cut differently?"
        )
    parts = {
        SCORE: f"the held-out score is {score.batch:.3f} ± {score.batch_error:.3f} per token, "
        f"against {score.baseline:.3f} ± {score.baseline_error:.3f} in {compared}",
        UNKNOWN: f"{unknown.batch:.1%} of tokens are unknown words, against {unknown.baseline:.1%}",
        TOPICS: f"{topics.difference:.0%} of the content is in other topics, where random samples "
        f"differ by {topics.chance:.0%}",
    }
    worse = [name for name, signal in signals.items() if signal.beyond]
    fine = [name for name in signals if name not in worse]
    if not worse:
        return f"No drift: {'; '.join(parts[name] for name in fine)}."
    kept = f" (not beyond a threshold: {'; '.join(parts[n] for n in fine)})" if fine else ""
    return f"Drift: {'; '.join(parts[name] for name in worse)}{kept}."
