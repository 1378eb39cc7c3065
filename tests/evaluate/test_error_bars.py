"""Errors and spreads that are reported: against sums by hand, and against other seeds."""

import math
import statistics

import numpy as np
import pytest
import scipy.sparse as sp

import polyaurn
from polyaurn import Corpus, TopicModel
from polyaurn.backends.cpu.fold_in import average_particles
from polyaurn.chain.priors import make_priors
from polyaurn.evaluate import document_completion, left_to_right
from support.chains import enumerate_posterior, log_joint
from support.faults import plant

COUNTS = [[2, 1, 2, 0], [0, 3, 1, 2], [1, 1, 1, 1], [4, 0, 0, 3]]


@pytest.fixture(scope="module")
def model():
    n = sp.csr_matrix([[9, 1, 0, 2], [0, 4, 7, 1], [2, 0, 1, 8]])
    priors = make_priors([0.2, 0.6, 0.1], [0.1, 0.4, 0.2, 0.3], 3, 4)
    none = sp.csr_matrix((0, 3), dtype=np.int32)
    return TopicModel(n, none, np.empty(0, np.uint16), ("a", "b", "c", "d"), (), priors)


@pytest.fixture(scope="module")
def documents():
    return Corpus.from_matrix(COUNTS, ["a", "b", "c", "d"])


def test_the_error_of_a_document_is_the_jackknife_over_particles():
    p = np.array([[0.2, 0.4, 0.1, 0.3], [0.5, 0.2, 0.2, 0.6], [0.1, 0.1, 0.3, 0.2]])
    level, error = average_particles(p)
    assert level == pytest.approx(math.log(0.25) + math.log(0.375) + math.log(0.175))
    without = [
        math.fsum(math.log(statistics.fmean(np.delete(token, r))) for token in p) for r in range(4)
    ]
    mean = statistics.fmean(without)
    assert error == pytest.approx(math.sqrt(3 / 4 * math.fsum((x - mean) ** 2 for x in without)))


def test_errors_of_sums_are_those_of_other_seeds(model, documents):
    runs = [left_to_right(model, documents, 12, random_state=seed) for seed in range(250)]
    n = documents.n_tokens
    assert runs[0].total == pytest.approx(runs[0].log_likelihood.sum())
    assert runs[0].per_token == pytest.approx(runs[0].total / n)
    assert runs[0].total_error == pytest.approx(math.sqrt((runs[0].error ** 2).sum()))
    assert runs[0].per_token_error == pytest.approx(runs[0].total_error / n)
    for value, error in (("total", "total_error"), ("per_token", "per_token_error")):
        spread = statistics.stdev(getattr(run, value) for run in runs)
        said = math.sqrt(statistics.fmean(getattr(run, error) ** 2 for run in runs))
        assert abs(math.log(said / spread)) < 0.22, value  # 5 standard errors of 250 runs


def test_completion_has_sums_and_no_errors(model, documents):
    score = document_completion(model, documents)
    assert score.tokens.tolist() == [2, 3, 2, 3]
    assert score.total == pytest.approx(math.fsum(score.log_likelihood))
    assert score.per_token == pytest.approx(score.total / 10)
    assert score.perplexity == pytest.approx(math.exp(-score.total / 10))
    assert math.isnan(score.total_error)
    assert math.isnan(score.per_token_error)


def completed(model, documents, order):
    chosen = documents.select(order)
    return document_completion(model, chosen, n_jobs=1).log_likelihood


def alone_and_together(model, documents):
    """Return whether each document has the same score alone, in the corpus, and turned round."""
    whole = completed(model, documents, [0, 1, 2, 3])
    alone = np.concatenate([completed(model, documents, [d]) for d in range(4)])
    turned = completed(model, documents, [3, 2, 1, 0])[::-1]
    return alone.tobytes() == whole.tobytes() == turned.tobytes()


def test_completion_of_a_document_does_not_depend_on_its_neighbours(model, documents):
    assert alone_and_together(model, documents)


def test_a_mixture_that_leaks_into_the_next_document_is_seen(model, documents, monkeypatch):
    leak = ("theta[mean_topic[j]] = alpha[mean_topic[j]]", "pass")
    broken = plant("fold_in", leak)
    monkeypatch.setattr("polyaurn.backends.cpu.new_documents.score_tokens", broken.score_tokens)
    assert not alone_and_together(model, documents)


def sampled(**options):
    corpus = Corpus.from_matrix([[2, 1, 0], [0, 1, 2]])
    given = {"doc_topic_prior": [0.3, 0.7], "topic_word_prior": [0.1, 0.2, 0.4], "max_iter": 20}
    given |= {"sampler": "partially-collapsed", "learn_priors_every": 0}
    lda = polyaurn.LDA(2, verbose=False, n_jobs=1, **given)
    return corpus, lda.sample_posterior(corpus, **options)


def test_a_summary_by_hand():
    _, found = sampled(chains=2, draws=4, thin=1)
    levels = [[-3.0, -1.0, -4.0, -2.0], [-5.0, -9.0, -2.0, -6.0]]
    chains = tuple(
        chain._replace(log_posterior=np.array(level))
        for chain, level in zip(found.chains, levels, strict=True)
    )
    changed = type(found)(**{**vars(found), "chains": chains})
    row = changed.summary()[0]
    values = sorted(levels[0] + levels[1])
    assert row["quantity"] == "log_posterior"
    assert row["mean"] == -4.0
    assert row["sd"] == pytest.approx(statistics.stdev(values))
    assert row["sd"] == pytest.approx(math.sqrt(48 / 7))
    assert row["q05"] == pytest.approx(values[0] + 0.35 * (values[1] - values[0]))
    assert row["q95"] == pytest.approx(values[-1] - 0.35 * (values[-1] - values[-2]))


def test_the_spread_in_a_summary_is_that_of_the_posterior():
    """Mean and standard deviation of the log posterior, summed over all topics of tokens."""
    corpus, found = sampled(chains=1, draws=2500, thin=2)
    priors = make_priors([0.3, 0.7], [0.1, 0.2, 0.4], 2, 3)
    p = enumerate_posterior(corpus, priors)
    states = (np.array(z) for z in np.ndindex(*[2] * corpus.n_tokens))
    level = np.array([log_joint(corpus, z, priors) for z in states])
    mean = p @ level
    sd = math.sqrt(p @ (level - mean) ** 2)
    row = found.summary()[0]
    draws = row["ess_bulk"]
    assert abs(row["mean"] - mean) < 5 * sd / math.sqrt(draws)
    assert abs(math.log(row["sd"] / sd)) < 0.15
