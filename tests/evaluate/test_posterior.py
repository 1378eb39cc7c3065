"""Posterior draws: distribution, means, aligned chains, R-hat and effective sample sizes."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import polyaurn
from polyaurn import InputError, posterior
from polyaurn.chain.priors import make_priors
from polyaurn.chain.state import topic_word_matrix
from polyaurn.evaluate.posterior import chains, recorder
from polyaurn.evaluate.posterior.choice import Choice, make_choice

BURN_IN, DRAWS, THIN = 60, 12, 2
FIXED = {"max_iter": BURN_IN, "learn_priors_every": 0, "random_state": 1}


@pytest.fixture(scope="module")
def corpus():
    return polyaurn.datasets.generate(n_documents=150, n_words=60, n_topics=3, random_state=5)


def sampled(corpus, **options):
    given = {"chains": 2, "draws": DRAWS, "thin": THIN} | options
    lda = polyaurn.LDA(3, **FIXED, verbose=False, n_jobs=1)
    return lda, lda.sample_posterior(corpus, **given)


@pytest.fixture(scope="module")
def drawn(corpus):
    return sampled(corpus, words=[2, corpus.vocab[7]], documents=[0, 4, 9])


def noise(rho, chains, draws, seed=3):
    e = np.random.default_rng(seed).standard_normal((chains, draws))
    x = np.zeros_like(e)
    for t in range(draws):
        x[:, t] = e[:, t] + (rho * x[:, t - 1] if t else 0.0)
    return x


@pytest.mark.parametrize("rho", [-0.5, 0.0, 0.9])
@pytest.mark.parametrize("shape", [(4, 100), (2, 51), (4, 7)])
def test_convergence_measures_are_those_of_arviz(rho, shape):
    arviz = pytest.importorskip("arviz")
    x = noise(rho, *shape)
    assert posterior.r_hat(x) == pytest.approx(float(arviz.rhat(x)), rel=1e-9)
    assert posterior.ess_bulk(x) == pytest.approx(float(arviz.ess(x, method="bulk")), rel=1e-9)
    assert posterior.ess_tail(x) == pytest.approx(float(arviz.ess(x, method="tail")), rel=1e-9)


def test_r_hat_sees_chains_apart_and_chains_that_drift():
    x = noise(0.0, 4, 200)
    assert posterior.r_hat(x) < 1.02
    assert posterior.r_hat(x + 2.0 * np.arange(4)[:, None]) > 1.5
    assert posterior.r_hat(x + np.linspace(0, 4, 200)) > 1.3  # all alike, but none at rest


def test_effective_sample_size_of_a_known_chain():
    rho, n = 0.8, 20_000
    truth = 4 * n * (1 - rho) / (1 + rho)  # of an autoregression, whatever its ranks do in between
    assert posterior.ess_bulk(noise(rho, 4, n)) == pytest.approx(truth, rel=0.1)


def test_constant_draws_have_no_measure_and_few_draws_are_rejected():
    assert np.isnan(posterior.r_hat(np.ones((2, 10))))
    assert np.isnan(posterior.ess_bulk(np.ones((2, 10))))
    with pytest.raises(InputError, match="'draws' parameter must be an array of chains by draws"):
        posterior.r_hat(np.ones((2, 3)))


def by_hand(corpus, seed):
    """The same chain, walked with the generator; its states at the draws."""
    given = {"random_state": seed, "learn_priors_every": 0}
    *_, (state, _) = polyaurn.sweeps(corpus, 3, max_iter=BURN_IN, n_jobs=2, **given)
    further = polyaurn.sweeps(corpus, 3, start=state, warm_start="random", **given)
    return [s for s, _ in (next(further) for _ in range(DRAWS * THIN))][THIN - 1 :: THIN]


@pytest.mark.parametrize("c", [0, 1])
def test_means_and_sizes_are_those_of_the_states(corpus, drawn, c):
    _, found = drawn
    priors = make_priors(0.1, 0.01, 3, corpus.n_words)
    order = found.chains[c].order
    phi, theta, sizes = 0.0, 0.0, []
    for state in by_hand(corpus, found.chains[c].seed):
        n = topic_word_matrix(state.counts, 3).toarray()[order]
        sizes.append(n.sum(axis=1))
        phi += (n + 0.01) / (n + 0.01).sum(axis=1, keepdims=True) / DRAWS
        m = polyaurn.TopicModel.from_state(corpus, state, priors).doc_topics()
        theta += m[:, order] / DRAWS
    assert np.array_equal(found.topic_sizes[c], sizes)
    assert found.phi_mean(c) == pytest.approx(phi, abs=1e-12)
    assert found.theta_mean(c) == pytest.approx(theta, abs=1e-12)


def test_sparse_means_hold_entries_of_the_dense(drawn):
    _, found = drawn
    for dense, sparse in (
        (found.phi_mean(), found.phi_mean(sparse=True)),
        (found.theta_mean(), found.theta_mean(sparse=True)),
    ):
        rows, columns = sparse.nonzero()
        stored = np.asarray(sparse[rows, columns]).ravel()
        assert stored == pytest.approx(dense[rows, columns], abs=1e-15)
        assert dense.sum(axis=1) == pytest.approx(1.0)
        assert sparse.nnz < dense.size
    both = (found.phi_mean(0) + found.phi_mean(1)) / 2
    assert found.phi_mean(None) == pytest.approx(both)


def test_means_with_priors_that_are_learned(corpus):
    lda = polyaurn.LDA(3, max_iter=30, learn_priors_every=2, verbose=False)
    found = lda.sample_posterior(corpus, chains=2, draws=5, thin=2)
    assert [len(np.unique(of_chain)) for of_chain in found.beta] == [1, 1]  # as burn-in left it
    assert found.beta[0, 0] != found.beta[1, 0] != 0.01
    assert found.alpha.shape == (2, 5, 3)
    assert found.phi_mean(1).sum(axis=1) == pytest.approx(1.0)
    assert found.theta_mean(1).sum(axis=1) == pytest.approx(1.0)
    rows = {row["quantity"]: row for row in found.summary()}
    assert rows["alpha_sum"]["mean"] == pytest.approx(found.alpha.sum(axis=2).mean())
    assert rows["alpha_sum"]["r_hat"] is None  # constant inside each chain


def test_draws_do_not_depend_on_threads(corpus, drawn):
    _, found = drawn
    lda = polyaurn.LDA(3, **FIXED, verbose=False, n_jobs=2)
    again = lda.sample_posterior(
        corpus, chains=2, draws=DRAWS, thin=THIN, words=[2, 7], documents=[0, 4, 9]
    )
    for name in ("phi", "theta", "log_posterior", "topic_sizes"):
        assert np.array_equal(getattr(found, name), getattr(again, name)), name


def test_the_estimator_is_trained_afterwards(corpus, drawn):
    lda, found = drawn
    assert lda.posterior_ is found
    assert lda.n_iter_ == BURN_IN + DRAWS * THIN == len(lda.trace_)
    assert np.array_equal(np.sort(found.topic_sizes[0, -1]), np.sort(lda.model_.topic_sizes))
    assert lda.trace_[-1]["log_posterior"] == found.log_posterior[0, -1]


def z_scores(draws, a, rest):
    """Distances of means and variances from those of Dirichlet marginals, in standard errors."""
    total = a.sum() + rest
    mean, n = a / total, len(draws)
    variance = mean * (1 - mean) / (total + 1)
    centred = (draws - mean) ** 2
    return np.concatenate(
        (
            (draws.mean(axis=0) - mean) / np.sqrt(variance / n),
            (centred.mean(axis=0) - variance) / (centred.std(axis=0) / np.sqrt(n)),
        )
    )


def phi_draws(beta, *, forget_the_rest=False):
    corpus = polyaurn.Corpus.from_matrix([[3, 2, 0, 5], [1, 0, 4, 2]])
    n = topic_word_matrix_of([[3, 1, 0, 2], [1, 1, 4, 5]])
    choice = make_choice(corpus, 2, [0, 2], [1], None)
    sizes = np.asarray(n.sum(axis=1)).ravel()
    if forget_the_rest:
        sizes = np.asarray(n[:, [0, 2]].sum(axis=1)).ravel()
    rng = np.random.Generator(np.random.Philox(7))
    return np.array([recorder._draw_phi(n, sizes, beta, choice, rng)[0] for _ in range(6000)])


def topic_word_matrix_of(rows):
    import scipy.sparse as sp

    return sp.csr_matrix(np.array(rows, np.int32))


def test_phi_is_drawn_from_its_dirichlet_for_chosen_cells():
    beta = np.array([0.5, 0.2, 0.3, 0.4])
    a, rest = np.array([1.5, 4.3]), 1 + 5 + 0.2 + 0.4
    assert np.abs(z_scores(phi_draws(beta), a, rest)).max() < 4.0
    assert np.abs(z_scores(phi_draws(beta, forget_the_rest=True), a, rest)).max() > 8.0


def test_phi_of_all_words_sums_to_one(corpus):
    _, found = sampled(corpus, chains=1, draws=3, topics=[2])
    assert found.phi.shape == (1, 3, 1, corpus.n_words)
    assert found.phi.sum(axis=3) == pytest.approx(1.0)
    assert found.theta is None


def test_theta_draws_vary_about_their_mean(corpus, drawn):
    _, found = drawn
    theta = found.theta[0]
    assert theta.sum(axis=2) == pytest.approx(1.0)
    m = np.array([s.z for s in by_hand(corpus, 1)])
    for i, d in enumerate((0, 4, 9)):
        z = m[:, corpus.doc_ptr[d] : corpus.doc_ptr[d + 1]]
        counts = np.stack([(z == k).sum(axis=1) for k in range(3)], axis=1) + 0.1
        mean = counts / counts.sum(axis=1, keepdims=True)
        variance = mean * (1 - mean) / (counts.sum(axis=1, keepdims=True) + 1)
        apart = (theta[:, i] - mean).sum(axis=0) / np.sqrt(variance.sum(axis=0))
        assert np.abs(apart).max() < 4.0
        wrong = (theta[:, i] - mean[:, [1, 2, 0]]).sum(axis=0) / np.sqrt(variance.sum(axis=0))
        assert np.abs(wrong).max() > 4.0


def test_chains_are_aligned(drawn):
    _, found = drawn
    assert found.match_quality[0] == pytest.approx(1.0)
    assert found.match_quality.min() > 0.9
    assert sorted(found.chains[1].order) == [0, 1, 2]
    assert found.matched().tolist() == [0, 1, 2]
    moved = found.chains[1].phi_sum[[1, 2, 0]]
    assert polyaurn.model.distance.row_quality(found.chains[0].phi_sum, moved).max() < 0.9
    assert "2 chains of 12 draws, 3 topics, 3 of them the same" in repr(found)


def test_topics_that_do_not_match_have_no_r_hat(drawn):
    _, found = drawn
    quality = found.match_quality.copy()
    quality[1, 2] = 0.3
    worse = posterior.Posterior(**{**vars(found), "match_quality": quality})
    rows = {row["topic"]: row for row in worse.summary() if row["quantity"] == "topic_size"}
    assert rows[2]["r_hat"] is None
    assert rows[2]["match"] == 0.3
    assert rows[1]["r_hat"] is not None
    groups = worse._arviz_groups(worse.matched())[0]["posterior"]
    assert groups["topic_size"].shape == (2, DRAWS, 2)


def test_arviz_as_installed_takes_the_draws(drawn, corpus):
    arviz = pytest.importorskip("arviz")
    _, found = drawn
    data = found.to_arviz()
    assert data["posterior"]["theta"].dims == ("chain", "draw", "document", "topic")
    assert data["posterior"]["phi"].coords["word"].values.tolist() == [
        corpus.vocab[2],
        corpus.vocab[7],
    ]
    ours = found.summary()[0]
    theirs = arviz.rhat(data, var_names=["log_posterior"])["log_posterior"]
    assert ours["r_hat"] == pytest.approx(float(theirs), rel=1e-9)


def test_arviz_1_takes_groups_in_one_mapping(drawn, monkeypatch):
    _, found = drawn
    new = SimpleNamespace(__version__="1.2.0", from_dict=lambda data, coords, dims: data)
    monkeypatch.setitem(sys.modules, "arviz", new)
    assert set(found.to_arviz()) == {"posterior", "sample_stats"}
    old = SimpleNamespace(__version__="0.23.4", from_dict=lambda **given: set(given))
    monkeypatch.setitem(sys.modules, "arviz", old)
    assert found.to_arviz() == {"posterior", "sample_stats", "coords", "dims"}
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(InputError, match=r"pip install 'polyaurn\[arviz\]'"):
        found.to_arviz()


def test_interrupted_sampling_keeps_what_there_is(corpus, monkeypatch):
    keep, kept = chains.Recorder.keep, []

    def interrupted(self, *arguments):
        if len(kept) == DRAWS + 5:
            raise KeyboardInterrupt
        kept.append(1)
        keep(self, *arguments)

    monkeypatch.setattr(chains.Recorder, "keep", interrupted)
    lda = polyaurn.LDA(3, max_iter=BURN_IN, random_state=1, verbose=False)
    with pytest.raises(KeyboardInterrupt):
        lda.sample_posterior(corpus, chains=3, draws=DRAWS, thin=THIN)
    assert [len(chain.sweep) for chain in lda.posterior_.chains] == [DRAWS, 5]
    assert lda.posterior_.log_posterior.shape == (2, 5)
    assert lda.n_iter_ == BURN_IN + DRAWS * THIN


def test_one_topic_and_an_empty_document():
    corpus = polyaurn.Corpus.from_matrix([[2, 1], [0, 0], [1, 3]])
    lda = polyaurn.LDA(1, max_iter=5, verbose=False)
    found = lda.sample_posterior(corpus, chains=2, draws=4, thin=1, documents=[1], words=[0])
    assert found.theta_mean() == pytest.approx(1.0)
    assert np.isfinite(found.phi).all()
    assert found.theta == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"chains": 0}, "'chains' parameter must be a whole number, at least 1. Got 0"),
        ({"draws": 1.5}, "'draws' parameter must be a whole number"),
        ({"thin": True}, "'thin' parameter must be a whole number"),
        ({"words": ["nowhere"]}, "'words' parameter must be a list of words"),
        ({"words": "orbit"}, "put it into a list"),
        ({"topics": [3]}, "'topics' parameter must be a list of topics, each a number from 0 to 2"),
        ({"topics": ["0"]}, "'topics' parameter must be a list of topics"),
        ({"documents": []}, "Got none; name each once"),
        ({"documents": [0, 0]}, "Got one of them twice"),
    ],
)
def test_bad_input_is_one_sentence(corpus, options, sentence):
    lda = polyaurn.LDA(3, max_iter=5, verbose=False)
    with pytest.raises(InputError) as error:
        lda.sample_posterior(corpus, **options)
    assert sentence in str(error.value)
    assert not hasattr(lda, "model_")


def test_chains_are_chosen_by_number(drawn, corpus):
    _, found = drawn
    for chain in (2, -1, "all", True):
        with pytest.raises(InputError, match="'chain' parameter must be"):
            found.phi_mean(chain)
    _, without = sampled(corpus, chains=1, draws=2, theta_mean=False)
    with pytest.raises(InputError, match="mean of Theta was not kept"):
        without.theta_mean()


def test_a_choice_knows_what_is_wanted(corpus):
    every = make_choice(corpus, 3, None, None, None)
    assert (every.wants_phi, every.wants_theta) == (False, False)
    assert isinstance(every, Choice)
    assert make_choice(corpus, 3, None, [1], None).wants_phi
    assert not make_choice(corpus, 3, None, [1], [0]).wants_phi


def test_sampling_leaves_a_trained_estimator_as_it_was(corpus, tmp_path):
    """All but the draws, and byte for byte; also with documents of other words."""
    lda = polyaurn.LDA(3, max_iter=20, random_state=5, verbose=False).fit(corpus)
    before = dict(vars(lda))
    lda.save(tmp_path / "before")
    other = polyaurn.datasets.generate(n_documents=20, n_words=9, n_topics=2)
    for X in (corpus, other, other.to_matrix().toarray()):
        found = lda.sample_posterior(X, chains=2, draws=3, thin=1)
        assert lda.posterior_ is found
        assert vars(lda).keys() == {*before, "posterior_"}
        assert all(vars(lda)[name] is before[name] for name in before)
    lda.save(tmp_path / "after")
    for path in (tmp_path / "before").iterdir():
        assert path.read_bytes() == (tmp_path / "after" / path.name).read_bytes()
    fresh = polyaurn.LDA(3, max_iter=20, random_state=5, verbose=False)
    alone = fresh.sample_posterior(corpus, chains=2, draws=3, thin=1)
    again = lda.sample_posterior(corpus, chains=2, draws=3, thin=1)
    assert np.array_equal(alone.log_posterior, again.log_posterior)
