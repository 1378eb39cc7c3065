"""Topics as circles on a plane: alike ones near each other, none over another.

Sums are computed without BLAS, whose last bits depend on the number of its threads.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from polyaurn.base.arrays import F64, I64
from polyaurn.base.checks import check_whole
from polyaurn.base.errors import InputError
from polyaurn.model.distance import topic_distances
from polyaurn.model.model import fitted

MOST_TOPICS = 2_000  # on a map, the largest; distances of all pairs are held at once

ASPECT = 0.72  # height of the map, its width being 1
FILLED = 0.2  # share of the map that circles cover
LARGEST, SMALLEST = 0.075, 0.003  # radii
_MARGIN = 0.02
_STEPS = 60  # of stress majorisation
_PUSHES = 200  # of circles that overlap
_TURNS = 100  # of the start
_WORDS = 2_000  # of a topic that are compared, where it has more


class TopicMap(NamedTuple):
    """Circles of topics, in widths of the map; the nearest topics of each; how far to trust it.

    `order` is the rank correlation of distances on the map with those between topics; NaN where
    there are fewer than three topics.
    """

    x: F64
    y: F64
    radius: F64
    nearest: I64
    order: float


def topic_map(model: Any, *, n_nearest: int = 5) -> TopicMap:
    """Place the topics of a model on a plane, alike ones near each other, as the report does.

    Parameters
    ----------
    model : TopicModel or LDA
        A trained model of at most 2,000 topics.
    n_nearest : int
        How many of the nearest topics of each to name.

    Returns
    -------
    TopicMap
        Centres and radii of circles in widths of the map, whose height is 0.72, with y downwards;
        the nearest topics of each by Hellinger distance; and how far to trust the plane.

    Examples
    --------
    >>> import polyaurn
    >>> corpus = polyaurn.datasets.generate(n_documents=60, n_words=80, n_topics=4)
    >>> lda = polyaurn.LDA(4, max_iter=20, verbose=False).fit(corpus)
    >>> placed = polyaurn.topic_map(lda, n_nearest=2)
    >>> placed.x.shape, placed.nearest.shape
    ((4,), (4, 2))
    """
    trained = fitted(model)
    check_whole(n_nearest, "n_nearest")
    if trained.n_topics > MOST_TOPICS:
        raise InputError(
            f"The 'model' parameter must have at most {MOST_TOPICS:,} topics, since all pairs are "
            f"compared. Got {trained.n_topics:,}; train with fewer, or merge topics."
        )
    return place_topics(trained.topic_word_mass, trained.topic_sizes, n_nearest)


def place_topics(counts: sp.csr_matrix, sizes: Any, n_nearest: int = 5) -> TopicMap:
    """Place topics, K by V, on a plane by their Hellinger distances; `sizes` are their tokens.

    Distances are replaced by their ranks, of which a plane holds more than of the distances
    themselves: most topics share little and are about equally far from each other. Stress
    majorisation (de Leeuw 1977) starts near the classical solution, so that nothing is random.
    Circles do not overlap, unless there are more than fit.
    """
    K = counts.shape[0]
    distance = topic_distances(counts, _WORDS)
    pairs = np.triu_indices(K, 1)
    order = np.nan
    points = np.zeros((K, 2))
    if K > 1:
        target = np.zeros((K, K))
        target[pairs] = np.sqrt(_ranks(distance[pairs]) / len(pairs[0]))
        target += target.T
        points = _majorise(target, _classical(target))
    radius = _radii(np.asarray(sizes, np.float64))
    points = _push_apart(_fit(points, radius), radius)
    if K > 2:
        ranks = _ranks(distance[pairs]), _ranks(_distances(points)[pairs])
        if all(np.ptp(rank) > 0 for rank in ranks):
            a, b = (rank - rank.mean() for rank in ranks)
            order = float((a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum()))
    nearest = np.argsort(distance + 2.0 * np.eye(K), axis=1, kind="stable")
    return TopicMap(points[:, 0], points[:, 1], radius, nearest[:, : min(n_nearest, K - 1)], order)


def _classical(distance: F64) -> F64:
    """Return about the plane of classical scaling: two leading directions, by power iteration."""
    K = len(distance)
    square = distance**2
    means = square.mean(axis=0)
    centred = -0.5 * (square - means - means[:, None] + means.mean())
    turn = 2.399963 * np.arange(K)
    points = np.column_stack((np.cos(turn), np.sin(turn)))
    for _ in range(_TURNS):
        x, y = _times(centred, points).T
        x = x / max(np.sqrt((x * x).sum()), 1e-300)
        y = y - (x * y).sum() * x
        points = np.column_stack((x, y / max(np.sqrt((y * y).sum()), 1e-300)))
    return points


def _times(matrix: F64, points: F64) -> F64:
    return np.column_stack([(matrix * axis).sum(axis=1) for axis in points.T])


def _majorise(target: F64, points: F64) -> F64:
    for _ in range(_STEPS):
        ratio = _distances(points)
        np.divide(target, ratio, out=ratio, where=ratio > 1e-9)
        points = (ratio.sum(axis=1)[:, None] * points - _times(ratio, points)) / len(points)
    return points


def _distances(points: F64) -> F64:
    squares = np.zeros((len(points), len(points)))
    for axis in points.T:
        step = axis[:, None] - axis
        step *= step
        squares += step
    return np.asarray(np.sqrt(squares, out=squares), np.float64)


def _ranks(values: F64) -> F64:
    """Return ranks from 1 on, equal values sharing the mean of theirs."""
    _, where, times = np.unique(values.round(9), return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(times) - (times - 1) / 2)[where], np.float64)


def areas_by_tokens(sizes: Any) -> F64:
    """Return radii whose circles have areas in proportion to tokens; none is above its map radius.

    On a map with few topics all circles have the largest radius.
    """
    tokens = np.maximum(np.asarray(sizes, np.float64), 0.0)
    share = tokens / max(tokens.sum(), 1e-300)
    radius = np.sqrt(FILLED * ASPECT * share / np.pi)
    return np.asarray(np.maximum(radius * min(1.0, LARGEST / max(radius.max(), 1e-300)), SMALLEST))


def _radii(sizes: F64) -> F64:
    share = sizes / max(sizes.sum(), 1e-300)
    radius: F64 = np.clip(np.sqrt(FILLED * ASPECT * share / np.pi), SMALLEST, LARGEST)
    return radius


def _fit(points: F64, radius: F64) -> F64:
    """Centre the points in the map, the same scale along both axes."""
    room = np.array([1.0, ASPECT]) - 2 * (_MARGIN + radius.max())
    low, span = points.min(axis=0), np.ptp(points, axis=0)
    scale = (room / np.maximum(span, 1e-9)).min() if span.max() > 1e-9 else 0.0
    middle: F64 = np.array([0.5, ASPECT / 2]) + scale * (points - low - span / 2)
    return middle


def _push_apart(points: F64, radius: F64) -> F64:
    """Move circles that overlap away from each other, and all inside the map."""
    from scipy.spatial import cKDTree

    K = len(points)
    low = radius[:, None] + _MARGIN / 2
    high = np.array([1.0, ASPECT]) - low
    turn = 2.399963 * np.arange(K)  # the golden angle parts circles of one centre
    points = points + 1e-6 * np.column_stack((np.cos(turn), np.sin(turn)))
    for _ in range(_PUSHES):
        near = cKDTree(points).query_pairs(2 * radius.max() + 0.004, output_type="ndarray")
        a, b = near[np.lexsort((near[:, 1], near[:, 0]))].T
        step = points[b] - points[a]
        apart = np.hypot(*step.T)
        lacking = radius[a] + radius[b] + 0.003 - apart
        hit = lacking > 1e-6
        if not hit.any():
            break
        a, b = a[hit], b[hit]
        push = 0.5 * (lacking[hit] / np.maximum(apart[hit], 1e-9))[:, None] * step[hit]
        points = points.copy()
        np.add.at(points, a, -push)
        np.add.at(points, b, push)
        points = np.clip(points, low, high)
    return points
