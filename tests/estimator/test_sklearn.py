"""The estimator among its neighbours of scikit-learn: its own checks, pipelines, data frames."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from polyaurn import LDA, Corpus, InputError
from polyaurn.estimator.inputs import MEAN_PSEUDO_COUNT, scale_of
from polyaurn.evaluate import document_completion

TEXTS = ["cat dog cat bird", "dog cat bird", "planet star", "star moon planet", "moon star"] * 8
ABOUT_SPACE = [0, 0, 1, 1, 1] * 8
COUNTS = Corpus.from_texts(TEXTS).to_matrix()
WORDS = ["bird", "cat", "dog", "moon", "planet", "star"]


def small_lda(**parameters):
    return LDA(**{"n_components": 2, "max_iter": 5, "n_jobs": 1, "verbose": False} | parameters)


@parametrize_with_checks([small_lda(), small_lda(sampler="partially-collapsed")])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_whatever_holds_the_same_counts_gives_the_same_bytes():
    expected = small_lda().fit(Corpus.from_texts(TEXTS)).assignments_.tobytes()
    for X in (
        COUNTS, COUNTS.tocsc(), COUNTS.tocoo(), COUNTS.todok(), sp.csr_array(COUNTS),
        COUNTS.astype(np.float32), COUNTS.toarray(), COUNTS.toarray().astype(float),
        np.asfortranarray(COUNTS.toarray()), COUNTS.toarray().tolist(), COUNTS.astype(np.uint8),
        TEXTS, np.array(TEXTS), np.array(TEXTS, object), iter(TEXTS),
    ):  # fmt: skip
        lda = small_lda().fit(X)
        assert lda.assignments_.tobytes() == expected
        assert lda.n_features_in_ == 6
        assert lda.weight_scale_ == 1.0
        assert not hasattr(lda, "feature_names_in_")


def test_a_column_of_text_and_a_frame_of_counts():
    pandas = pytest.importorskip("pandas")
    lda = small_lda().fit(TEXTS)
    column = pandas.Series(TEXTS, index=range(100, 140))
    assert small_lda().fit(column).assignments_.tobytes() == lda.assignments_.tobytes()
    assert np.array_equal(lda.transform(column), lda.transform(TEXTS))
    frame = pandas.DataFrame(COUNTS.toarray(), columns=WORDS, index=column.index)
    named = small_lda().fit(frame)
    assert named.feature_names_in_.tolist() == WORDS
    assert named.corpus_.vocab == tuple(WORDS)
    mixtures = named.set_output(transform="pandas").transform(frame)
    assert mixtures.columns.tolist() == ["lda0", "lda1"] == list(named.get_feature_names_out())
    assert mixtures.index.equals(frame.index)
    assert named.fit_transform(frame).equals(mixtures)
    with pytest.raises(InputError, match="Feature names must be in the same order"):
        named.transform(frame[WORDS[::-1]])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        named.transform(frame.to_numpy())
    by_name = lda.transform(frame[WORDS[::-1]])  # trained without names of columns
    assert np.array_equal(by_name, lda.transform(TEXTS))
    assert not hasattr(named.fit(TEXTS), "feature_names_in_")
    with pytest.raises(InputError, match=r"give its column of texts instead, such as X\['text'\]"):
        small_lda().fit(pandas.DataFrame({"text": TEXTS}))
    with pytest.raises(InputError, match="replace missing texts"):
        small_lda().fit(pandas.Series(["cat dog", None]))


def test_polars_columns_and_frames():
    polars = pytest.importorskip("polars")
    lda = small_lda().fit(TEXTS)
    assert np.array_equal(lda.transform(polars.Series(TEXTS)), lda.transform(TEXTS))
    frame = polars.DataFrame({word: COUNTS.toarray()[:, v] for v, word in enumerate(WORDS)})
    named = small_lda().set_output(transform="polars").fit(frame)
    assert named.feature_names_in_.tolist() == WORDS
    assert named.transform(frame).columns == ["lda0", "lda1"]
    assert named.assignments_.tobytes() == lda.assignments_.tobytes()
    with pytest.raises(InputError, match="column of texts instead"):
        small_lda().fit(polars.DataFrame({"text": TEXTS}))


def test_in_a_pipeline_it_separates_subjects():
    steps = make_pipeline(
        CountVectorizer(), small_lda(max_iter=60, learn_priors_every=0), LogisticRegression(C=100.0)
    ).fit(TEXTS, ABOUT_SPACE)
    assert steps.score(TEXTS, ABOUT_SPACE) == 1.0
    assert steps.predict(["a cat and a dog", "the moon and a star"]).tolist() == [0, 1]
    assert steps[:-1].get_feature_names_out().tolist() == ["lda0", "lda1"]
    with pytest.warns(UserWarning, match="1 of 1 documents have no word that the model knows"):
        assert steps[:-1].transform(["zebra"]) == pytest.approx(np.array([[0.5, 0.5]]))
    shuffled = cross_val_score(steps, TEXTS, np.roll(ABOUT_SPACE, 1), cv=4)
    assert shuffled.mean() < 0.8  # the score can fail


def test_a_grid_search_finds_the_number_of_topics():
    search = GridSearchCV(
        small_lda(max_iter=60), {"n_components": [1, 2], "doc_topic_prior": [None, 0.1]}, cv=3
    ).fit(COUNTS)
    assert search.best_params_["n_components"] == 2
    assert math.isfinite(search.best_score_)


def test_score_is_the_completion_of_documents_and_perplexity_its_exponential():
    lda = small_lda(max_iter=30).fit(TEXTS[:20])
    held_out = document_completion(lda, TEXTS[20:], random_state=lda.random_state_)
    assert lda.score(TEXTS[20:]) == held_out.per_token
    assert lda.perplexity(TEXTS[20:]) == math.exp(-held_out.per_token)
    assert lda.score(COUNTS[20:]) == lda.score(TEXTS[20:], ABOUT_SPACE[20:])
    with pytest.raises(InputError, match="a document of two tokens or more"):
        lda.score(["cat", "moon"])
    with pytest.raises(NotFittedError):
        small_lda().score(TEXTS)


def test_fit_transform_is_fit_and_transform():
    lda = small_lda(max_iter=20)
    together = lda.fit_transform(TEXTS)
    assert np.array_equal(together, lda.transform(TEXTS))
    assert np.array_equal(together, clone(lda).fit(COUNTS).transform(COUNTS))


def test_no_prior_is_one_over_the_number_of_topics():
    theirs = LatentDirichletAllocation(4, random_state=0).fit(COUNTS)
    ours = small_lda(n_components=4, doc_topic_prior=None, topic_word_prior=None).fit(COUNTS)
    assert set(ours.model_.priors.alpha) == {theirs.doc_topic_prior_}
    assert set(ours.model_.priors.beta) == {theirs.topic_word_prior_}
    stated = small_lda(n_components=4, doc_topic_prior=0.25, topic_word_prior=0.25).fit(COUNTS)
    assert stated.assignments_.tobytes() == ours.assignments_.tobytes()
    assert ours.get_params()["doc_topic_prior"] is None


def test_fractional_weights_become_pseudo_counts_by_one_scale():
    weights = TfidfTransformer().fit_transform(COUNTS)
    with pytest.warns(UserWarning, match="multiplied by 20 and rounded, so that the result is app"):
        lda = small_lda(max_iter=60).fit(weights)
    assert lda.weight_scale_ == 20.0
    tokens = np.rint(weights.toarray() * 20)
    assert np.array_equal(lda.corpus_.to_matrix().toarray(), tokens)
    with pytest.warns(UserWarning, match="multiplied by 20 and rounded"):
        few = lda.transform(weights[:3])  # the scale of training, not one of these three
    assert np.array_equal(few, lda.model_.transform(tokens[:3].astype(int)))
    found = {frozenset(topic) for topic in lda.model_.topics()}
    assert found == {frozenset(["x0", "x1", "x2"]), frozenset(["x3", "x4", "x5"])}


def test_large_weights_are_only_rounded():
    with pytest.warns(UserWarning, match="whole tokens: weights were rounded, so that"):
        assert small_lda().fit(COUNTS.toarray() * 30.3).weight_scale_ == 1.0


@pytest.mark.parametrize("times", [1e-8, 0.3, 1.0, 7.77, 1e5])
def test_the_scale_is_a_plain_number_that_makes_weights_large_enough(times):
    weights = np.random.default_rng(0).uniform(size=200) * times
    scale = scale_of(weights)
    assert f"{scale:e}"[0] in "125"
    assert scale >= 1.0
    assert scale * weights.mean() >= MEAN_PSEUDO_COUNT
    assert scale == 1.0 or scale * weights.mean() < 2.5 * MEAN_PSEUDO_COUNT
    assert scale_of(np.floor(weights)) == 1.0


@pytest.mark.parametrize(
    ("X", "says"),
    [
        ([[1, -2]], "Negative values in data passed to LDA.fit: the 'X' parameter must hold counts."
         " Got -2 at row 0, column 1."),
        ([[1, math.nan]], "contains NaN"),
        ([[1, math.inf]], "contains infinity"),
        ([1, 2], "Expected 2D array, got 1D array instead"),
        ([[1, 2j]], "Complex data not supported"),
        (np.zeros((0, 3)), "Found array with 0 sample(s)"),
        (np.zeros((3, 2), int), "must have at least one token"),
    ],
)  # fmt: skip
def test_other_numbers_are_rejected(X, says):
    with pytest.raises(InputError) as caught:
        small_lda().fit(X)
    assert says in str(caught.value)


def test_what_is_no_number_is_a_type_error():
    X = COUNTS.toarray().astype(object)
    X[0, 0] = {"a": "b"}
    with pytest.raises(TypeError, match="must be a string or a real number"):
        small_lda().fit(X)


def test_a_matrix_without_tokens_has_the_priors_mixture():
    lda = small_lda(doc_topic_prior=[0.1, 0.3]).fit(COUNTS)
    for X in (np.zeros((2, 6)), sp.csr_matrix((2, 6), dtype=int)):
        with pytest.warns(UserWarning, match="2 of 2 documents have no word"):
            assert lda.transform(X) == pytest.approx(np.array([[0.25, 0.75]] * 2))
        with pytest.warns(UserWarning, match="2 of 2 documents have no word"):
            assert lda.model_.transform(X).shape == (2, 2)


def test_words_of_a_bare_matrix_can_be_named():
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer()
    X = vectorizer.fit_transform(["cat dog", "dog bird", "moon star"] * 5)
    lda = LDA(2, max_iter=10, verbose=False).fit(X)
    named = lda.model_.with_words(vectorizer.get_feature_names_out())
    assert {word for topic in named.topics() for word in topic} == set(
        ["bird", "cat", "dog", "moon", "star"]
    )
    assert named.topic_word_counts is lda.model_.topic_word_counts
    with pytest.raises(InputError, match="'words' parameter must name 5 words"):
        lda.model_.with_words(["cat"])


def test_a_grid_of_numpy_integers():
    """`np.arange` is how grids are written; no fit of the search may fail."""
    X = np.random.default_rng(0).poisson(1.0, (40, 12))
    grid = {
        "n_components": np.arange(2, 4), "max_iter": np.arange(3, 7, 3),
        "phi_refreshes": np.arange(1, 3), "evaluate_every": np.arange(1),
        "learn_priors_every": np.arange(2), "random_state": np.arange(1), "n_jobs": np.arange(1, 2),
    }  # fmt: skip
    search = GridSearchCV(LDA(verbose=False), grid, cv=2, error_score="raise").fit(X)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    light = {"mh_steps": np.arange(1, 3)}
    GridSearchCV(LDA(2, sampler="light", max_iter=3, verbose=False), light, cv=2,
                 error_score="raise").fit(X)  # fmt: skip
