import numpy as np
import pytest

from polyaurn import Corpus, datasets, sweeps
from polyaurn.base.threads import Workers
from polyaurn.chain.priors import make_priors
from polyaurn.chain.state import doc_topic_matrix, topic_word_matrix
from polyaurn.evaluate.diagnostics import heaps_law, log_posterior, summarise
from support.chains import log_joint


@pytest.mark.parametrize("asymmetric", [False, True])
def test_log_posterior_agrees_with_an_independent_formula(small, odd, asymmetric):
    rng = np.random.default_rng(1)
    for corpus in (small, odd):
        K = 6
        alpha = rng.gamma(1.0, 1.0, K) if asymmetric else 0.1
        beta = rng.gamma(1.0, 0.1, corpus.n_words) if asymmetric else 0.01
        priors = make_priors(alpha, beta, K, corpus.n_words)
        chain = sweeps(
            corpus, K, doc_topic_prior=alpha, topic_word_prior=beta, max_iter=5, evaluate_every=1
        )
        for state, info in chain:
            expected = log_joint(corpus, state.z, priors)
            assert info.log_posterior == pytest.approx(expected, rel=1e-9)
            for threads in (1, 3):
                with Workers(threads) as workers:
                    again = log_posterior(corpus, state, priors, workers)
                assert again == info.log_posterior


def test_log_posterior_sees_a_doubled_prior(small):
    state, info = next(sweeps(small, 6, max_iter=1, evaluate_every=1))
    wrong = make_priors(0.2, 0.01, 6, small.n_words)
    assert log_posterior(small, state, wrong) != pytest.approx(info.log_posterior, rel=1e-3)


def test_count_matrices_agree_with_z(small):
    state, _ = next(sweeps(small, 6, max_iter=1))
    m = doc_topic_matrix(small.doc_ptr, state.z, 6)
    n = topic_word_matrix(state.counts, 6)
    assert m.dtype == n.dtype == np.int32
    assert m.shape == (60, 6)
    assert (np.diff(small.doc_ptr) == m.sum(axis=1).A1).all()
    assert (np.bincount(small.word, minlength=small.n_words) == n.sum(axis=0).A1).all()
    assert (np.bincount(state.z, minlength=6) == n.sum(axis=1).A1).all()


def test_summary_of_a_corpus():
    corpus = Corpus.from_matrix([[2, 1, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0]])
    summary = summarise(corpus)
    assert summary.documents == 3
    assert summary.empty_documents == 1
    assert summary.words_used == 2
    assert summary.distinct_pairs == 3
    assert summary.density == pytest.approx(3 / 12)
    assert (summary.shortest, summary.median_length, summary.longest) == (0, 1.0, 3)


def test_heaps_law_is_recovered_and_needs_two_points():
    # document d has 2 d - 1 tokens, one of them new: after d documents N = d^2 and V = d
    docs = [np.append(np.zeros(2 * d - 2, int), d - 1) for d in range(1, 61)]
    ptr = np.concatenate(([0], np.cumsum([len(doc) for doc in docs])))
    corpus = Corpus(ptr, np.concatenate(docs), tuple(f"w{v}" for v in range(60)))
    assert heaps_law(corpus) == pytest.approx((1.0, 0.5))
    assert all(np.isnan(heaps_law(Corpus.from_matrix([[1, 2]]))))


def test_generated_words_follow_zipf_and_heaps():
    corpus = datasets.generate(2000, 5000, 10, 100.0, topic_concentration=1e6)
    counts = np.bincount(corpus.word, minlength=5000)
    slope = np.polyfit(np.log(np.arange(1, 101)), np.log(counts[:100]), 1)[0]
    # standard error of the slope from the Poisson errors of the counts
    x = np.log(np.arange(1, 101))
    se = np.sqrt((((x - x.mean()) ** 2) / counts[:100]).sum()) / ((x - x.mean()) ** 2).sum()
    assert abs(slope + 1.0) < 5 * se
    xi, psi = heaps_law(corpus)
    assert 0.3 < psi < 0.9
    assert xi > 0
