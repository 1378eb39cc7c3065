"""The map of topics: where circles are, and that they are the same again."""

import numpy as np
import pytest
import scipy.sparse as sp

import polyaurn
from polyaurn import LDA, Corpus, InputError, datasets
from polyaurn.model.topic_map import ASPECT, SMALLEST, areas_by_tokens, place_topics
from polyaurn.pages.report.data import gather


def place(model):
    return place_topics(model.topic_word_mass, model.topic_sizes)


def test_circles_are_in_the_map_apart_and_near_their_like():
    groups = np.zeros((12, 60))
    for k in range(12):
        groups[k, 20 * (k % 3) : 20 * (k % 3) + 20] = 5
        groups[k, 20 * (k % 3) + k] += 3
    place = place_topics(sp.csr_matrix(groups), groups.sum(axis=1))
    x, y, r = place.x, place.y, place.radius
    assert ((x - r >= 0) & (x + r <= 1) & (y - r >= 0) & (y + r <= ASPECT)).all()
    apart = np.hypot(x[:, None] - x, y[:, None] - y) + np.eye(12)
    assert (apart >= r[:, None] + r - 1e-4).all()
    assert (np.argmin(apart, axis=1) % 3 == np.arange(12) % 3).all()
    assert (place.nearest[:, :3] % 3 == np.arange(12)[:, None] % 3).all()
    assert place.order > 0.7


def test_no_topic_is_near_itself_and_the_nearest_come_first():
    """Topics that share no word are as far apart as can be."""
    counts = np.diag([5.0, 3, 2, 4])
    counts[3, 0] = 1
    place = place_topics(sp.csr_matrix(counts), counts.sum(axis=1))
    assert place.nearest.tolist() == [[3, 1, 2], [0, 2, 3], [0, 1, 3], [0, 1, 2]]


def test_the_map_is_the_same_again(trained):
    first, again = place(trained.model_), place(trained.model_)
    for a, b in zip(first[:4], again[:4], strict=True):
        assert a.tobytes() == b.tobytes()
    assert first.order == again.order


def test_maps_of_one_topic_and_of_equal_ones(small):
    one = place(LDA(1, max_iter=2, verbose=False).fit(small).model_)
    assert (one.x.round(3), one.y.round(3)) == ([0.5], [ASPECT / 2])
    assert np.isnan(one.order)
    same = place_topics(sp.csr_matrix(np.ones((3, 4))), np.ones(3))
    apart = np.hypot(same.x[:, None] - same.x, same.y[:, None] - same.y)
    assert (apart[~np.eye(3, dtype=bool)] >= 2 * same.radius[0] - 1e-4).all()


def test_a_map_of_a_thousand_topics():
    corpus = datasets.generate(n_documents=400, n_words=500, n_topics=20, mean_length=50)
    found = place(LDA(1000, max_iter=3, evaluate_every=0, verbose=False).fit(corpus).model_)
    assert found.x.shape == found.y.shape == (1000,)
    assert np.isfinite(found.x).all()
    assert np.isfinite(found.y).all()


def test_areas_are_tokens_and_never_larger_than_on_the_map():
    for sizes in (np.array([40.0, 10, 10]), np.arange(1.0, 60), np.array([1e6, 1, 0])):
        counts = sp.csr_matrix(np.diag(sizes + 1))
        radius = areas_by_tokens(sizes)
        assert (radius <= place_topics(counts, sizes).radius + 1e-12).all()
        free = radius > SMALLEST
        area = radius[free] ** 2
        assert np.allclose(area / area[0], sizes[free] / sizes[free][0])


def test_the_map_of_a_model_is_that_of_the_report():
    corpus = datasets.generate(n_documents=60, n_words=80, n_topics=4, random_state=1)
    lda = LDA(4, max_iter=20, verbose=False).fit(corpus)
    placed = polyaurn.topic_map(lda)
    shown = gather(lda)["map"]
    assert np.allclose(placed.x, shown["x"], atol=1e-3)
    assert np.allclose(placed.y, shown["y"], atol=1e-3)
    with pytest.raises(InputError, match="'n_nearest' parameter"):
        polyaurn.topic_map(lda, n_nearest=0)
    with pytest.raises(InputError, match="a TopicModel or a trained LDA"):
        polyaurn.topic_map("model")


def test_too_many_topics_for_a_map(monkeypatch):
    lda = LDA(3, max_iter=2, verbose=False).fit(Corpus.from_matrix([[2, 1], [1, 2]]))
    monkeypatch.setattr("polyaurn.model.topic_map.MOST_TOPICS", 2)
    with pytest.raises(InputError, match="at most 2 topics"):
        polyaurn.topic_map(lda)
