"""An estimator whose training failed is as it was before."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from polyaurn import LDA, InputError
from polyaurn.estimator import lda as estimator
from polyaurn.estimator import training

pd = pytest.importorskip("pandas")
FIRST = pd.DataFrame(np.random.default_rng(0).poisson(1.0, (20, 4)) + 1, columns=list("abcd"))
OTHER = pd.DataFrame(np.random.default_rng(1).poisson(1.0, (20, 3)) + 1, columns=list("xyz"))


def out_of_memory(run):
    raise InputError("no memory")


def broken(state, info):
    raise RuntimeError("a callback")


def train(lda, X, how):
    return lda.fit(X) if how == "fit" else lda.sample_posterior(X, chains=1, draws=2, thin=1)


@pytest.mark.parametrize("how", ["fit", "sample_posterior"])
def test_a_first_training_that_failed_leaves_it_untrained(monkeypatch, how):
    lda = LDA(2, max_iter=3, verbose=False)
    before = dict(vars(lda))
    for module in (estimator, training):
        monkeypatch.setattr(module, "check_memory", out_of_memory)
    for X in (FIRST, FIRST.to_numpy(), ["red apple", "green leaf"]):
        with pytest.raises(InputError):
            train(lda, X, how)
        assert vars(lda) == before
        with pytest.raises(NotFittedError):
            check_is_fitted(lda)
        with pytest.raises(NotFittedError):
            lda.transform(FIRST)


@pytest.mark.parametrize("how", ["fit", "sample_posterior"])
def test_a_second_training_that_failed_leaves_the_first(monkeypatch, how):
    lda = LDA(2, max_iter=3, verbose=False)
    lda.sample_posterior(FIRST, chains=1, draws=2, thin=1)
    before, mixtures = dict(vars(lda)), lda.transform(FIRST)
    for module in (estimator, training):
        monkeypatch.setattr(module, "check_memory", out_of_memory)
    with pytest.raises(InputError):
        train(lda, OTHER, how)
    assert vars(lda).keys() == before.keys()
    assert all(vars(lda)[name] is before[name] for name in before)
    assert lda.n_features_in_ == 4
    assert lda.feature_names_in_.tolist() == list("abcd")
    assert np.array_equal(lda.transform(FIRST), mixtures)


def test_a_training_that_failed_after_a_sweep_is_kept_as_a_whole():
    lda = LDA(2, max_iter=3, verbose=False).fit(FIRST)
    lda.callbacks = broken
    with pytest.raises(RuntimeError):
        lda.fit(OTHER)
    assert (lda.n_iter_, lda.n_features_in_, lda.model_.vocab) == (1, 3, tuple("xyz"))
    assert lda.transform(OTHER).shape == (20, 2)


def test_draws_of_an_earlier_training_do_not_stay():
    lda = LDA(2, max_iter=3, verbose=False)
    lda.sample_posterior(FIRST, chains=1, draws=2, thin=1)
    lda.fit(OTHER)
    assert not hasattr(lda, "posterior_")
