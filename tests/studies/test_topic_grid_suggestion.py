"""Which number of topics is suggested, and what the sentence says."""

import numpy as np
import pytest

from polyaurn import datasets, topic_grid
from polyaurn.studies.topic_grid import loop
from polyaurn.studies.topic_grid.suggestion import behind_the_best, suggest

GRID = (3, 5, 8, 10, 15, 20)
PLANTED = 10
NEAR = {8, 10, 15}


def rows_of(behind, coherence=None, seeds=2, stability=None, diversity=None):
    """Return rows of numbers 10, 20, ... with differences and errors of the held-out score."""

    def measure(values, i):
        return None if values is None else {"mean": values[i], "spread": 0.01}

    return [
        {
            "topics": 10 * (i + 1),
            "seeds": seeds,
            "behind_best": None if pair is None else {"mean": pair[0], "error": pair[1]},
            "coherence_npmi": None
            if coherence is None
            else {"mean": coherence[i], "spread": None, "error": 0.01},
            "stability": measure(stability, i),
            "diversity": measure(diversity, i),
        }
        for i, pair in enumerate(behind)
    ]


@pytest.mark.parametrize(
    ("behind", "coherence", "topics", "sentence"),
    [
        (
            [(0.3, 0.02), (0.01, 0.02), (0.0, 0.0), (0.1, 0.02)], [0.2, 0.2, 0.2, 0.1], 20,
            "20 topics: the smallest number whose held-out score is within one standard error of "
            "the best (30); coherence falls beyond 30.",
        ),
        (
            [(0.3, 0.02), (0.0, 0.0), (0.01, 0.02)], [0.2, 0.21, 0.205], 20,
            "20 topics: the best held-out score, and no smaller number is within one standard "
            "error of it, or has 95% of its gain over 10.",
        ),
        (
            [(0.3, 0.02), (0.1, 0.02), (0.0, 0.0)], [0.3, 0.2, 0.1], 30,
            "30 topics or more: the held-out score still rises at the largest number tried (the "
            "last step gained 0.100 of 0.300 nats per token); try more, such as 60; coherence "
            "falls beyond 10.",
        ),
        (
            [(0.3, 0.02), (0.01, 0.02), (0.0, 0.0)], None, 20,
            "20 topics: the smallest number whose held-out score is within one standard error of "
            "the best (30, the largest number tried).",
        ),
        (
            [(0.3, 0.002), (0.014, 0.002), (0.0, 0.0)], None, 20,
            "20 topics: the smallest number with at least 95% of what the best held-out score (30, "
            "the largest number tried) gains over 10 topics.",
        ),
        (
            [(0.0, 0.0), (0.1, 0.02)], None, 10,
            "10 topics or fewer: the smallest number tried has the best held-out score; try fewer, "
            "such as 5.",
        ),
        (
            [(0.01, 0.02), (0.0, 0.0), (0.3, 0.01)], None, 10,
            "10 topics or fewer: the smallest number tried is within one standard error of the "
            "best held-out score (20); try fewer, such as 5.",
        ),
    ],
)  # fmt: skip
def test_the_sentence_says_what_the_suggestion_rests_on(behind, coherence, topics, sentence):
    found = suggest(rows_of(behind, coherence), documents=1000)
    assert (found["topics"], found["sentence"]) == (topics, sentence)
    assert found["predicts"] == topics
    assert found["still_rises"] == (" or more" in sentence)
    assert found["still_falls"] == (" or fewer" in sentence)


def test_one_seed_is_said():
    found = suggest(rows_of([(0.1, 0.02), (0.0, 0.0), (0.1, 0.02)], seeds=1), documents=1000)
    assert found["sentence"].endswith(
        "; with one seed, how much training varies is not part of the error."
    )


@pytest.mark.parametrize(
    ("behind", "said"),
    [
        ([(0.0, 0.0)], "one number of topics was tried"),
        ([(0.0, 0.0), (0.1, None)], "one held-out document has no standard error"),
        ([None, None], "too few tokens"),
    ],
)
def test_nothing_is_suggested_without_a_comparison(behind, said):
    found = suggest(rows_of(behind), documents=1000)
    assert found["topics"] is None
    assert found["sentence"].startswith("No suggestion: ")
    assert said in found["sentence"]


RISING = [(0.4, 0.02), (0.2, 0.02), (0.1, 0.02), (0.0, 0.0)]
FALLS = [0.9, 0.85, 0.7, 0.6]


def test_no_more_topics_are_suggested_than_documents_support():
    found = suggest(rows_of(RISING), documents=160)
    assert (found["topics"], found["still_rises"]) == (30, True)
    assert found["sentence"] == (
        "30 topics: the held-out score rises beyond, but 160 documents are too few for more than "
        "32 topics, one for each 5 documents."
    )
    assert suggest(rows_of(RISING), documents=250)["sentence"].endswith("; try more, such as 50.")
    assert "try more" not in suggest(rows_of(RISING), documents=200)["sentence"]
    none = suggest(rows_of(RISING), documents=49)
    assert (none["topics"], none["predicts"]) == (None, None)
    assert none["sentence"].startswith("No suggestion: 49 documents are too few for more than 9 ")


def test_measures_that_disagree_are_said_to():
    found = suggest(rows_of(RISING, None, 2, FALLS, FALLS), documents=1000)
    assert (found["topics"], found["predicts"], found["still_rises"]) == (20, 40, True)
    assert found["sentence"] == (
        "20 topics to read, 40 to predict: the measures disagree, as stability falls from 0.90 (10 "
        "topics) to 0.60 (40) and diversity falls from 0.90 (10 topics) to 0.60 (40); 40 topics or "
        "more: the held-out score still rises at the largest number tried (the last step gained "
        "0.100 of 0.400 nats per token); try more, such as 80."
    )


@pytest.mark.parametrize(
    ("stability", "diversity", "said"),
    [
        ([0.6, 0.7, 0.8, 0.9], FALLS, ["diversity"]),  # as where topics share words
        (FALLS, [0.9] * 4, ["stability"]),
        ([0.9, 0.7, 0.7, 0.85], [0.9, 0.7, 0.7, 0.7], ["diversity"]),
        (None, FALLS, ["diversity"]),  # one seed
        ([0.9, 0.9, 0.9, 0.81], [0.9] * 4, []),
    ],
)
def test_a_fall_of_one_measure_is_said_and_does_not_decide(stability, diversity, said):
    found = suggest(rows_of(RISING, None, 2, stability, diversity), documents=1000)
    assert found["topics"] == found["predicts"] == 40
    assert [name for name in ("stability", "diversity") if name in found["sentence"]] == said
    if stability is FALLS:
        assert "stability falls from 0.90 (10 topics) to 0.60 (40)" in found["sentence"]


def draw(rng, n_documents=200, seeds=2):
    """Return scores in which documents differ far more than numbers of topics, and tokens."""
    tokens = rng.integers(20, 60, n_documents)
    hard = rng.normal(-7.0, 1.0, n_documents)
    scores = {
        K: tokens * (hard + gain + rng.normal(0.0, 0.05, (seeds, n_documents)))
        for K, gain in ((10, 0.0), (20, 0.1), (30, 0.1))
    }
    return scores, tokens


def test_the_error_is_of_differences_document_by_document():
    rng = np.random.default_rng(3)
    scores, tokens = draw(rng)
    rows = [{"topics": K} for K in scores]
    behind_the_best(rows, scores, tokens)
    low = rows[0]["behind_best"]
    best = max(scores, key=lambda K: scores[K].sum())
    difference = (scores[best] - scores[10]).mean(axis=0)
    draws = rng.integers(0, len(tokens), (4000, len(tokens)))
    resampled = difference[draws].sum(axis=1) / tokens[draws].sum(axis=1)
    between = [np.var(s.sum(axis=1) / tokens.sum(), ddof=1) for s in scores.values()]
    assert low["mean"] == pytest.approx(difference.sum() / tokens.sum())
    expected = np.sqrt(resampled.var() + 2 * np.mean(between) / 2)
    assert low["error"] == pytest.approx(expected, rel=0.05)
    assert low["mean"] > 5 * low["error"]


def test_documents_that_are_not_paired_have_a_far_larger_error():
    """A planted fault: the order of the documents of one model is lost."""
    rng = np.random.default_rng(4)
    scores, tokens = draw(rng)
    paired, shuffled = ([{"topics": K} for K in scores] for _ in range(2))
    behind_the_best(paired, scores, tokens)
    faulty = scores | {10: scores[10][:, rng.permutation(len(tokens))]}
    behind_the_best(shuffled, faulty, tokens)
    errors = [rows[0]["behind_best"]["error"] for rows in (paired, shuffled)]
    assert errors[1] > 10 * errors[0]


def test_documents_without_tokens_do_not_count():
    scores, tokens = draw(np.random.default_rng(5))
    rows, more = ([{"topics": K} for K in scores] for _ in range(2))
    behind_the_best(rows, scores, tokens)
    behind_the_best(
        more,
        {K: np.hstack([values, np.zeros((2, 7))]) for K, values in scores.items()},
        np.append(tokens, [0] * 7),
    )
    assert more == rows
    behind_the_best(rows, {K: np.zeros((2, 3)) for K in scores}, np.zeros(3, int))
    assert [row["behind_best"] for row in rows] == [None] * 3
    behind_the_best(rows, {K: values[:, :1] for K, values in scores.items()}, tokens[:1])
    assert sorted(row["behind_best"]["error"] is None for row in rows) == [False, True, True]


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """Return a folder with models of a corpus with ten topics."""
    corpus = datasets.generate(n_documents=400, n_words=300, n_topics=PLANTED, random_state=1)
    folder = tmp_path_factory.mktemp("planted") / "grid"
    topic_grid(corpus, GRID, 2, out=folder, max_iter=80)
    return corpus, folder


def test_the_number_of_planted_topics_is_suggested(planted):
    corpus, folder = planted
    found = topic_grid(corpus, GRID, 2, out=folder, max_iter=80)
    assert found["suggestion"]["topics"] in NEAR
    assert not found["suggestion"]["still_rises"]


def test_scores_that_belong_to_other_numbers_suggest_another_one(planted, monkeypatch):
    """A planted fault: each number of topics has the scores of another."""
    corpus, folder = planted
    scores = loop._scores

    def shuffled(cells):
        found = scores(cells)
        return dict(zip(found, np.roll(list(found.values()), 3, axis=0), strict=True))

    monkeypatch.setattr(loop, "_scores", shuffled)
    found = topic_grid(corpus, GRID, 2, out=folder, max_iter=80)
    assert found["suggestion"]["topics"] not in NEAR


def test_a_grid_below_the_planted_number_says_that_the_score_still_rises(planted):
    corpus, folder = planted
    found = topic_grid(corpus, GRID[:3], 2, out=folder, max_iter=80)
    assert found["suggestion"]["still_rises"]
    assert found["suggestion"]["sentence"].startswith("8 topics or more: the held-out score still")
