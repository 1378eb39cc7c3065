"""Topics of two models are paired by their words."""

from itertools import permutations

import numpy as np
import pytest
import scipy.sparse as sp

from polyaurn import LDA, InputError
from polyaurn.model.distance import match_topics, topic_distances


@pytest.fixture(scope="module")
def topics():
    return np.random.default_rng(0).dirichlet(np.full(200, 0.05), size=12)


def test_a_permutation_is_found_again(topics):
    shuffled = np.random.default_rng(1).permutation(12)
    order, quality = match_topics(topics, topics[shuffled])
    assert shuffled[order].tolist() == list(range(12))
    assert quality == pytest.approx(np.ones(12))


def test_noise_does_not_hide_it(topics):
    rng = np.random.default_rng(2)
    shuffled = rng.permutation(12)
    counts = np.array([rng.multinomial(500, row) for row in topics[shuffled]])
    order, quality = match_topics(sp.csr_matrix(topics), sp.csr_matrix(counts))
    assert shuffled[order].tolist() == list(range(12))
    assert (quality > 0.8).all()
    assert (quality < 1).all()


def test_the_pairing_is_the_best_there_is():
    p, q = np.random.default_rng(3).random((2, 5, 6))
    alike = np.sqrt(p / p.sum(1, keepdims=True)) @ np.sqrt(q / q.sum(1, keepdims=True)).T
    best = max(permutations(range(5)), key=lambda order: alike[range(5), order].sum())
    order, quality = match_topics(p, q)
    assert order.tolist() == list(best)
    assert quality == pytest.approx(alike[range(5), best])


def test_counts_sparse_and_dense_are_the_same(topics):
    counts = np.floor(1000 * topics)
    dense = match_topics(counts, topics[::-1])
    sparse = match_topics(sp.csr_matrix(counts), sp.coo_matrix(topics[::-1]))
    for a, b in zip(dense, sparse, strict=True):
        assert a.tolist() == b.tolist()


def test_topics_without_tokens_and_without_shared_words_have_quality_0():
    order, quality = match_topics([[1, 0, 0], [0, 0, 0], [0, 2, 0]], np.eye(3))
    assert sorted(order.tolist()) == [0, 1, 2]
    assert order[[0, 2]].tolist() == [0, 1]
    assert quality.tolist() == [1.0, 0.0, 1.0]
    assert match_topics([[1, 0]], [[0, 1]])[1].tolist() == [0.0]


def test_another_seed_finds_the_same_topics(medium):
    first, second = (
        LDA(8, max_iter=150, random_state=seed, verbose=False).fit(medium).topic_word_counts_
        for seed in (0, 1)
    )
    before = first.copy()
    order, quality = match_topics(first, second)
    assert np.median(quality) > 0.98
    assert (first != before).nnz == 0
    p, q = (np.sqrt(m.toarray() / m.toarray().sum(1, keepdims=True)) for m in (first, second))
    assert (p * q[order]).sum(axis=1) == pytest.approx(quality)
    wrong = np.roll(order, 1)
    assert np.median((p * q[wrong]).sum(axis=1)) < 0.7


@pytest.mark.parametrize(
    ("p", "q", "message"),
    [
        (np.eye(2), np.eye(3), "as many topics and words as 'p', 2 by 2. Got 3 by 3"),
        ("topics", np.eye(2), "'p' parameter must be a matrix"),
        (np.eye(2), [[1, -1], [0, 1]], "'q' parameter must hold counts or probabilities"),
        (np.full((2, 2), np.nan), np.eye(2), "'p' parameter must hold"),
    ],
)
def test_bad_topics_are_rejected(p, q, message):
    with pytest.raises(InputError, match=message):
        match_topics(p, q)


def test_distances_by_the_most_frequent_words_are_close(medium):
    n = LDA(40, max_iter=5, verbose=False).fit(medium).model_.topic_word_counts
    p = n.toarray() / np.asarray(n.sum(axis=1))
    alike = np.sqrt(p[:, None] * p[None]).sum(axis=2)
    np.fill_diagonal(alike, 1.0)
    assert np.allclose(topic_distances(n) ** 2, 1.0 - alike)
    assert (np.diff(n.indptr) > 100).any()
    few = topic_distances(n, 100) ** 2
    assert (few >= 1.0 - alike - 1e-12).all()
    assert np.abs(few - (1.0 - alike)).max() < 0.1
