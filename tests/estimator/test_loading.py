"""Estimators from model folders."""

import numpy as np
import pytest

import polyaurn
from polyaurn import LDA, InputError

GIVEN = {
    "max_iter": 12, "random_state": 7, "doc_topic_prior": 0.3, "topic_word_prior": 0.05,
    "evaluate_every": 4, "warm_start": "smooth", "phi_refreshes": "auto", "average_draws": 3,
    "learn_priors_every": 3,
}  # fmt: skip


def same(a, b):
    assert a.keys() == b.keys()
    for name in a:
        assert np.array_equal(np.asarray(a[name], object), np.asarray(b[name], object)), name


@pytest.mark.parametrize(
    "given",
    [
        {"sampler": "partitioned"} | GIVEN,
        {"sampler": "polya-urn", "seed_words": {1: ["w3", "w5"]}, "seed_strength": 9} | GIVEN
        | {"phi_refreshes": 2},
        {"sampler": "light", "mh_steps": 3, "n_jobs": 1} | GIVEN,
        {"sampler": "polya-urn"} | GIVEN | {"doc_topic_prior": np.array([0.1, 0.2, 0.3, 0.4]),
                                            "learn_priors_every": 0},
    ],
)  # fmt: skip
def test_an_estimator_has_the_parameters_of_its_training(small, tmp_path, given):
    lda = LDA(4, verbose=False, **given).fit(small)
    loaded = LDA.load(lda.save(tmp_path / "m"))
    free = {"verbose": True, "n_jobs": -1}
    same(loaded.get_params(), lda.get_params() | free)
    again = LDA(**loaded.get_params() | {"verbose": False, "n_jobs": lda.n_jobs}).fit(small)
    assert again.assignments_.tobytes() == lda.assignments_.tobytes()


def test_it_does_what_the_trained_one_did(small, tmp_path):
    lda = LDA(4, max_iter=20, random_state=3, verbose=False).fit(small)
    loaded = LDA.load(lda.save(tmp_path / "m"))
    assert loaded.transform(small).tobytes() == lda.transform(small).tobytes()
    assert loaded.score(small) == lda.score(small)
    assert loaded.topics(weights=True) == lda.topics(weights=True)
    assert loaded.components_.tobytes() == lda.components_.tobytes()
    assert (loaded.n_iter_, loaded.n_features_in_, loaded.random_state_) == (20, small.n_words, 3)
    assert list(loaded.get_feature_names_out()) == list(lda.get_feature_names_out())
    with pytest.raises(InputError, match="features"):
        loaded.transform(np.ones((2, small.n_words + 1), int))


def test_a_seed_that_was_drawn_is_the_one_used(small, tmp_path):
    lda = LDA(3, max_iter=5, random_state=None, verbose=False).fit(small)
    loaded = LDA.load(lda.save(tmp_path / "m"))
    assert loaded.random_state == lda.random_state_
    assert loaded.sampler == lda.model_.parameters["sampler"]


def test_weights_are_scaled_as_in_training(tmp_path):
    weights = np.random.default_rng(0).random((20, 6))
    with pytest.warns(UserWarning, match="fractional weights"):
        lda = LDA(2, max_iter=5, verbose=False).fit(weights)
    loaded = LDA.load(lda.save(tmp_path / "m"))
    assert loaded.weight_scale_ == lda.weight_scale_ > 1
    with pytest.warns(UserWarning, match="fractional weights"):
        found = [estimator.transform(weights) for estimator in (lda, loaded)]
    assert found[0].tobytes() == found[1].tobytes()


def test_text_is_cut_as_in_training_with_the_tokenizer_given_again(tmp_path):
    corpus = polyaurn.Corpus.from_texts(["red-apple", "green-leaf"] * 5, tokenizer=dashes)
    lda = LDA(2, max_iter=5, verbose=False).fit(corpus)
    folder = lda.save(tmp_path / "m")
    loaded = LDA.load(folder, tokenizer=dashes)
    assert loaded.transform(["red-leaf"]).tobytes() == lda.transform(["red-leaf"]).tobytes()
    with pytest.raises(InputError, match="tokenizer"):
        LDA.load(folder).transform(["red-leaf"])


def dashes(text):
    return text.split("-")


def test_models_of_the_command_line_of_version_0_1_and_from_elsewhere(run, texts, tmp_path):
    from pathlib import Path

    from polyaurn.exchange.parts import topics_only

    assert run("train", texts, "--out", "m", "-k", 2, "--sweeps", 9, "--seed", 4, "-q")[0] == 0
    assert LDA.load(tmp_path / "m").get_params()["max_iter"] == 9
    assert LDA.load(tmp_path / "m").random_state == 4
    old = Path(__file__).parents[1] / "survival" / "version_0_1" / "model"
    loaded = LDA.load(old)
    assert loaded.topics() == polyaurn.load(old).topics()
    assert loaded.average_draws == 1
    bare = topics_only(np.array([[4.0, 0, 1], [0, 3, 3]]), 0.1, 0.01, list("abc"), "test", "words")
    bare.save(tmp_path / "bare")
    assert LDA.load(tmp_path / "bare").n_components == 2
    assert LDA.load(tmp_path / "bare").doc_topic_prior == 0.1
    with pytest.raises(InputError, match="must hold a model"):
        LDA.load(tmp_path / "nothing")
