"""Document clusters: kernels against the plain reference, threads, and what a step must keep."""

import numpy as np
import pytest

from polyaurn import Corpus, InputError
from polyaurn.backends import reference_clusters
from polyaurn.backends.cpu import cluster_kernels, clusters
from polyaurn.backends.reference_clusters import Counted, draw_clusters
from polyaurn.base.threads import Workers
from polyaurn.chain.loop import PLAIN, sweep
from polyaurn.chain.priors import make_priors
from polyaurn.chain.state import State, check_invariants, topic_word_matrix
from support.clusters import planted, tokens_of

K = 7


@pytest.fixture(scope="module")
def corpus():
    """Some texts, of which one is empty and one repeats its words."""
    texts, _ = planted(60, 50, 4, 6.0)
    counts = texts.to_matrix().toarray()
    counts[3] = 0
    counts[4, :3] = [5, 0, 7]
    return Corpus.from_matrix(counts)


@pytest.fixture(params=["short", "in parts"])
def long_texts(request, monkeypatch):
    """Let documents be weighed whole, or be too long for it."""
    if request.param == "in parts":
        monkeypatch.setattr(clusters, "SHORT", 4)


@pytest.mark.usefixtures("long_texts")
def test_clusters_are_those_of_the_reference(corpus):
    steps = clusters.Steps(corpus, K)
    priors = make_priors(np.linspace(0.2, 1.4, K), np.linspace(0.1, 0.6, 50), K, 50)
    state = State(steps.start(3), steps.count(steps.start(3)), priors)
    for i in range(6):
        before = steps.clusters_of(state.z)
        state, _ = sweep(state, steps, PLAIN, 5)
        expected = draw_clusters(corpus, before, priors, 5, i)
        assert np.array_equal(steps.clusters_of(state.z), expected)
        assert (before != expected).any()


def test_other_random_numbers_would_be_seen(corpus, monkeypatch):
    steps = clusters.Steps(corpus, K)
    priors = make_priors(0.5, 0.2, K, 50)
    z = steps.start(3)
    new, _ = sweep(State(z, steps.count(z), priors), steps, PLAIN, 5)
    monkeypatch.setattr(reference_clusters, "unit", lambda r: 0.5)
    expected = draw_clusters(corpus, steps.clusters_of(z), priors, 5, 0)
    assert (steps.clusters_of(new.z) != expected).any()


@pytest.mark.usefixtures("long_texts")
def test_weights_are_those_of_the_formula(corpus):
    from scipy.special import gammaln

    rng = np.random.default_rng(0)
    priors = make_priors(0.3, 0.2, K, 50)
    state = Counted(corpus, rng.integers(K, size=60).astype(np.uint16), priors)
    state.move(4, int(state.z[4]), -1)  # the long one
    times = np.bincount(state.words(4), minlength=50)[:, None]
    beta = 0.2
    expected = np.log(state.m + 0.3)
    expected += (gammaln(state.n + beta + times) - gammaln(state.n + beta)).sum(axis=0)
    expected -= gammaln(state.n_k + 50 * beta + times.sum()) - gammaln(state.n_k + 50 * beta)
    found = np.log(state.weigh(4))
    assert found - found[0] == pytest.approx(expected - expected[0], abs=1e-9)


def test_threads_change_no_byte():
    corpus, _ = planted(3000, 300, 20, 9.0)
    found = []
    for n_threads in (1, 2, 3):
        with Workers(n_threads) as workers:
            steps = clusters.Steps(corpus, 30, workers)
            z = steps.start(0)
            state = State(z, steps.count(z), make_priors(0.1, 0.1, 30, 300))
            for _ in range(3):
                state, draw = sweep(state, steps, PLAIN, 0)
            found.append((state.z.tobytes(), draw.work, steps.log_posterior(state)))
    assert found[0] == found[1] == found[2]


def test_a_step_leaves_the_state_before_and_counts_what_it_drew(corpus):
    steps = clusters.Steps(corpus, K)
    z = steps.start(1)
    state = State(z, steps.count(z), make_priors(0.1, 0.1, K, 50))
    kept = [z.copy(), *(array.copy() for array in state.counts)]
    new, _ = sweep(state, steps, PLAIN, 0)
    assert all(np.array_equal(a, b) for a, b in zip([state.z, *state.counts], kept, strict=True))
    check_invariants(corpus.word, corpus.n_words, K, new)
    assert np.array_equal(np.repeat(steps.clusters_of(new.z), np.diff(corpus.doc_ptr)), new.z)
    assert (topic_word_matrix(new.counts, K) != topic_word_matrix(state.counts, K)).nnz


def test_topics_that_differ_inside_a_document_are_rejected(corpus):
    steps = clusters.Steps(corpus, K)
    z = steps.start(0)
    z[0] = (z[0] + 1) % K
    with pytest.raises(InputError, match="must all have its cluster as their topic"):
        sweep(State(z, steps.count(z), make_priors(0.1, 0.1, K, 50)), steps, PLAIN, 0)


def test_the_log_posterior_is_that_of_dense_matrices(corpus):
    from support.clusters import log_joint

    steps = clusters.Steps(corpus, K)
    priors = make_priors(0.3, 0.2, K, 50)
    there = np.diff(corpus.doc_ptr) > 0
    z = np.random.default_rng(0).integers(K, size=int(there.sum())).astype(np.uint16)
    tokens = tokens_of(z, corpus)
    expected = log_joint(corpus.to_matrix().toarray()[there], z, priors)
    found = steps.log_posterior(State(tokens, steps.count(tokens), priors))
    assert found == pytest.approx(expected, abs=1e-6)


def test_weights_of_long_texts_and_peaked_priors_stay_numbers():
    rng = np.random.default_rng(0)
    corpus = Corpus.from_matrix(rng.integers(0, 40, (12, 30)) * (rng.random((12, 30)) < 0.5))
    for alpha, beta in ((1e-6, 1e-6), (1e6, 1e6), (1e-6, 1e6), (1e6, 1e-6)):
        steps = clusters.Steps(corpus, 9)
        z = steps.start(0)
        state = State(z, steps.count(z), make_priors(alpha, beta, 9, 30))
        for _ in range(3):
            before = steps.clusters_of(state.z)
            state, _ = sweep(state, steps, PLAIN, 0)
            expected = draw_clusters(corpus, before, state.priors, 0, state.sweep - 1)
            assert np.array_equal(steps.clusters_of(state.z), expected)
        assert np.isfinite(steps.log_posterior(state))


@pytest.mark.plain
def test_columns_of_counts_through_all_their_changes():
    offset, used = np.array([0, 3]), np.array([0, 0])
    topic, number = np.zeros(6, np.uint16), np.zeros(6, np.int32)
    truth = np.zeros((2, 3), int)
    rng = np.random.default_rng(0)
    for _ in range(300):
        v, k = rng.integers(2), int(rng.integers(3))
        step = -1 if truth[v, k] and rng.random() < 0.5 else 1
        truth[v, k] += step
        cluster_kernels.shift(v, k, step, offset, used, topic, number)
        for w in range(2):
            column = slice(offset[w], offset[w] + used[w])
            found = dict(zip(topic[column].tolist(), number[column].tolist(), strict=True))
            assert found == {j: n for j, n in enumerate(truth[w].tolist()) if n}
