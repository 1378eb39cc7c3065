"""An earlier model as the start of a training: its counts are pseudo-counts of the next one.

The counts of the documents that a model has seen, faded perhaps, are part of the prior of the next
training. Where they are not faded and were one draw of its chain, that training samples topics of
the new documents from their posterior given the topics of all earlier tokens.
"""

import hashlib
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from polyaurn.base.arrays import F64, U16
from polyaurn.base.checks import check_fraction, check_whole, is_number, is_whole
from polyaurn.base.errors import InputError
from polyaurn.chain.priors import LEAST, make_priors, topic_word_mass
from polyaurn.chain.state import MAX_TOPICS, Halt, check_topics, topic_word_matrix
from polyaurn.corpus.corpus import Corpus
from polyaurn.model.data import ModelData
from polyaurn.model.labels import KEY, given_labels
from polyaurn.model.model import TopicModel
from polyaurn.model.tables.hierarchy import MERGED
from polyaurn.training.seeds import in_brief

UPDATE = "update"  # among the parameters of a model, and in the header of its run
GAMMA = "gamma"  # among them, of a hierarchical Dirichlet process
UNUSED = 10 * LEAST  # alpha that is learned where no document has a topic
LEAST_MASS = 1.0 + 1e-6  # of the counts of a topic; in a model of probabilities they sum to 1


class Earlier(NamedTuple):
    """What a training begins with that continues a model.

    `pseudo` is K by V, `alpha` and `beta` have the new topics and words in them, and `assignments`
    are topics of the first documents of the corpus, those of the model where they are sampled
    again. `seen` is what first topics of other tokens are drawn from, all that the model counted.
    `said` is what the header of the run has about it, `facts` what the model keeps, and `number`
    how many trainings the chain follows, each of which has random numbers of its own. `run` is the
    header of the model's own run, whose checkpoints give way to those of an update. `gamma` is that
    of a hierarchical Dirichlet process, which stays as it is.
    """

    pseudo: sp.csr_matrix
    alpha: F64
    beta: F64
    assignments: U16
    seen: sp.csr_matrix
    said: dict[str, Any]
    facts: dict[str, Any]
    number: int
    run: dict[str, Any] | None = None
    gamma: float | None = None

    @property
    def learns(self) -> bool:
        """Whether priors are learned again: from some of the documents, they would forget others.

        A topic that a batch lacks would lose its alpha, and with it the documents that it has.
        """
        return bool(len(self.assignments)) and not self.pseudo.nnz

    def start(self, corpus: Corpus, seed: int) -> Halt:
        """Return where the chain starts: tokens of new documents have topics of their words."""
        from polyaurn.backends.cpu.start import topics_of_words

        K = len(self.alpha)
        priors = make_priors(self.alpha, self.beta, K, corpus.n_words, pseudo=self.seen)
        z = topics_of_words(corpus.word, priors, seed)
        z[: len(self.assignments)] = self.assignments
        return Halt(z, 0)


def check_forget(forget: Any) -> float:
    """Return the share of earlier counts that is forgotten."""
    return check_fraction(forget, "forget", remedy="0 forgets nothing, 1 everything")


def check_new_topics(new_topics: Any) -> int:
    """Return the number of topics to add."""
    return check_whole(new_topics, "new_topics", 0, MAX_TOPICS, of="topics")


def earlier(
    model: TopicModel,
    corpus: Corpus,
    *,
    forget: float,
    new_topics: int,
    n_old: int = 0,
) -> Earlier:
    """Return what a training on new documents has from a model.

    The vocabulary of `corpus` begins with that of the model. Its first `n_old` documents are those
    of the model, which are sampled again: their counts are then no pseudo-counts.
    """
    forget = check_forget(forget)
    K, V = check_topics(model.n_topics + check_new_topics(new_topics)), corpus.n_words
    check_counts(model)
    mass = topic_word_mass(model.topic_word_counts, model.priors)
    counts = seen = _faded(mass, forget, (K, V))
    if n_old:
        pseudo = model.priors.pseudo
        before = 0 * mass if pseudo is None else topic_word_matrix(pseudo, model.n_topics)
        counts, seen = _faded(before, forget, (K, V)), _faded(mass, 0.0, (K, V))
    number, models = _updates_of(model)
    said = {"forget": forget, "new_topics": int(new_topics), "earlier_documents": n_old}
    labels = given_labels(model)
    of = [*models, identity(model)]
    facts: dict[str, Any] = {UPDATE: {"number": number + 1, **said, "of": of}}
    gamma = gamma_of(model)
    if gamma is not None:
        facts[GAMMA] = gamma
    if any(labels):
        facts[KEY] = [*labels, *([None] * int(new_topics))]
    z = model.assignments if n_old else model.assignments[:0]
    digest = hashlib.sha256(np.asarray(z, "<u2").tobytes()).hexdigest()[:16]
    return Earlier(
        counts,
        _extended(_of_all_topics(model.priors.alpha), K),
        _extended(model.priors.beta, V),
        z,
        seen,
        {UPDATE: said | {"counts": in_brief(counts), "assignments": digest}},
        facts,
        number + 1,
        run if isinstance(run := model.parameters.get("run"), dict) else {},
        gamma,
    )


def gamma_of(model: ModelData) -> float | None:
    """Return gamma of a hierarchical Dirichlet process, also of one that was updated."""
    if model.priors.top is not None:
        return model.priors.top.gamma
    said: Any = model.parameters.get(GAMMA)
    return float(said) if is_number(said) else None


def identity(model: ModelData) -> str:
    """Return what stands for a model where another says that it continues it."""
    mass = topic_word_mass(model.topic_word_counts, model.priors)
    mass = sp.csr_matrix(mass, dtype=np.float64, copy=True)
    mass.sum_duplicates()
    mass.eliminate_zeros()
    return in_brief(mass).rpartition(" ")[2]


def continues(new: ModelData, old: ModelData) -> bool:
    """Return whether a model was updated from another, at once or in several updates."""
    models = _updates_of(new)[1]
    return bool(models) and identity(old) in models


def earlier_sizes(model: ModelData) -> F64:
    """Return the tokens of each topic that were counted before the update of a model, faded.

    They are 0 for models that were not updated, whatever pseudo-counts they have. Those of seed
    words, which an update takes over with the counts, are in them.
    """
    pseudo = model.priors.pseudo
    if pseudo is None or UPDATE not in model.parameters:
        return np.zeros(model.n_topics)
    return np.asarray(topic_word_matrix(pseudo, model.n_topics).sum(axis=1), np.float64).ravel()


def _updates_of(model: ModelData) -> tuple[int, list[str]]:
    """Return how many updates a model has had, and of which models with the same topics."""
    before = model.parameters.get(UPDATE)
    facts: dict[str, Any] = before if isinstance(before, dict) else {}
    number, models = facts.get("number", 0), facts.get("of")
    listed = models if isinstance(models, list) and MERGED not in model.parameters else []
    return int(number) if is_whole(number) else 0, [m for m in listed if isinstance(m, str)]


def _faded(counts: Any, forget: float, shape: tuple[int, int]) -> sp.csr_matrix:
    found = sp.csr_matrix(counts * (1.0 - forget), dtype=np.float64)
    found.eliminate_zeros()
    found.resize(shape)
    return found


def has_counts(model: ModelData) -> bool:
    """Return whether a model says how many tokens its topics rest on."""
    return bool(model.mass_of_topics.max() > LEAST_MASS)


def check_counts(model: TopicModel) -> None:
    """Reject a model that says nothing about how many tokens its topics rest on."""
    if has_counts(model):
        return
    source = model.parameters.get("source")
    raise InputError(
        "The model must have counts of the tokens of its topics, which weigh against those of new "
        f"documents. Got probabilities only{f' (from {source})' if source else ''}; train with "
        "fixed_topics=model and a fixed_strength instead."
    )


def check_same_documents(model: TopicModel, corpus: Corpus) -> None:
    """Reject documents that are sampled again but are not those of the model."""
    if corpus.fingerprint != model.parameters.get("corpus_sha256"):
        raise InputError(
            "The earlier documents must be those that the model was trained on, in the same order "
            f"and read in the same way. Got {corpus!r} in the model's words, which differ; leave "
            "them out, and the model's counts stand for them."
        )


def _of_all_topics(alpha: F64) -> F64:
    """Return alpha with the median for topics that no document had when it was learned.

    Under what was learned for them, which is next to nothing, no new document could have them.
    """
    unused = alpha <= UNUSED
    return alpha if unused.all() else np.where(unused, np.median(alpha[~unused]), alpha)


def _extended(prior: F64, n: int) -> F64:
    """Return a prior with the median for what is new."""
    return np.concatenate((prior, np.full(n - len(prior), np.median(prior))))
