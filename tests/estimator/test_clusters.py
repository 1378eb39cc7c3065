"""Clusters of documents as users meet them: found, predicted, saved, resumed, rejected."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import polyaurn
from polyaurn import LDA, Corpus, DocumentClusters, InputError
from polyaurn.model.data import word_probabilities
from polyaurn.model.folder import keep_labels
from polyaurn.model.labels import given_labels
from support.clusters import planted

TEXTS = ["cat dog", "dog cat cat", "moon star", "star moon sun"] * 8


def small(**parameters):
    return DocumentClusters(
        **{"n_clusters": 5, "max_iter": 30, "n_jobs": 1, "verbose": False} | parameters
    )


@pytest.fixture(scope="module")
def found():
    """Texts of eight clusters, of which some are empty, and the clusters that were found."""
    corpus, labels = planted()
    counts = corpus.to_matrix().tolil()
    counts[[5, 77]] = 0
    labels[[5, 77]] = -1
    corpus = Corpus.from_matrix(counts.tocsr(), corpus.vocab)
    with pytest.warns(UserWarning, match="empty"):
        clusters = small(n_clusters=30, max_iter=100).fit(corpus)
    return corpus, labels, clusters


def what_counts_cannot_pass(estimator):
    """Return checks of scikit-learn that take every clustering for one of points in space."""
    negative = "draws numbers of which some are negative"
    probabilities = "takes whatever has predict_proba for a classifier"
    return {
        "check_clustering": negative,
        "check_estimator_sparse_array": probabilities,
        "check_estimator_sparse_matrix": probabilities,
    }


@parametrize_with_checks(
    [small(max_iter=10)], expected_failed_checks=what_counts_cannot_pass, xfail_strict=True
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_planted_clusters_are_found(found):
    _, labels, clusters = found
    there = labels >= 0
    assert clusters.n_clusters_ == 8
    assert adjusted_rand_score(labels[there], clusters.labels_[there]) > 0.9
    assert clusters.labels_[~there].tolist() == [-1, -1]
    shuffled = np.random.default_rng(0).permutation(labels[there])
    assert adjusted_rand_score(shuffled, clusters.labels_[there]) < 0.1  # the score can fail
    sizes = np.bincount(clusters.labels_[there])
    assert (np.diff(sizes) <= 0).all()
    held_out, truth = planted(seed=0)
    assert adjusted_rand_score(truth, clusters.predict(held_out)) > 0.9


def test_the_model_is_that_of_the_labels(found):
    corpus, _, clusters = found
    model, counts = clusters.model_, corpus.to_matrix()
    member = sp.csr_matrix(np.eye(8)[np.maximum(clusters.labels_, 0)])
    assert (model.topic_word_counts != member.T @ counts).nnz == 0
    info = model.document_info(as_frame=False)
    assert np.array_equal(info["topic"], clusters.labels_)
    assert np.nanmin(info["share"]) > 0.999
    assert len(model.topics()) == 8
    assert clusters.topics() == model.topics()
    shares = clusters.probabilities_
    assert shares.shape == (600, 8)
    totals = np.asarray(shares.sum(axis=1)).ravel()
    assert totals == pytest.approx((clusters.labels_ >= 0).astype(float))
    assert 0.0 < shares.data.min() < 1.0
    leading = shares.toarray().argmax(axis=1)
    ties = (shares.toarray() == shares.max(axis=1).toarray()).sum(axis=1) > 1
    assert (leading == clusters.labels_)[(clusters.labels_ >= 0) & ~ties].all()
    assert np.array_equal(model.doc_topics(), shares.toarray())


def test_probabilities_of_new_texts_are_those_of_the_formula(found):
    from scipy.special import gammaln

    corpus, _, clusters = found
    model, beta = clusters.model_, clusters.model_.priors.beta
    n = model.topic_word_counts.toarray()
    m = np.bincount(clusters.labels_[clusters.labels_ >= 0])
    new = np.zeros((3, 400), int)
    new[0, [3, 8]] = [2, 1]
    new[2, :200] = 3
    expected, levels = [], []
    alpha = model.clusters.alpha
    for row in new:
        log = np.log((m + alpha) / (m + alpha).sum())
        log += (gammaln(n + beta + row) - gammaln(n + beta)).sum(axis=1)
        log += gammaln((n + beta).sum(axis=1)) - gammaln((n + beta).sum(axis=1) + row.sum())
        expected.append(np.exp(log - log.max()) / np.exp(log - log.max()).sum())
        levels.append(np.log(np.exp(log - log.max()).sum()) + log.max())
    assert clusters.predict_proba(new) == pytest.approx(np.array(expected), abs=1e-12)
    assert clusters.score(new) == pytest.approx(sum(levels) / new.sum(), abs=1e-12)
    assert clusters.predict(new)[1] == -1
    assert clusters.predict(new)[0] == np.argmax(expected[0])
    dense = clusters.transform(corpus)
    assert np.array_equal(dense, clusters.predict_proba(corpus))
    sparse = clusters.transform(corpus, sparse=True)
    assert abs(sparse - dense).max() < 1e-9
    assert clusters.perplexity(corpus) == pytest.approx(np.exp(-clusters.score(corpus)))
    one, three = (clone(clusters).set_params(n_jobs=n) for n in (1, 3))
    for again in (one, three):
        again.__dict__ |= {k: v for k, v in clusters.__dict__.items() if k.endswith("_")}
    assert np.array_equal(one.predict_proba(corpus), three.predict_proba(corpus))
    assert word_probabilities(model).sum(axis=1) == pytest.approx(np.ones(8))


def test_held_out_scores_are_exact_sums(found):
    from polyaurn.evaluate import document_completion, left_to_right

    corpus, _, clusters = found
    whole = left_to_right(clusters, corpus, 2)
    assert whole.per_token == pytest.approx(clusters.score(corpus), abs=1e-12)
    assert not whole.error.any()
    counts = np.zeros((1, 400), int)
    counts[0, [3, 8, 20]] = [2, 1, 1]  # tokens 3, 8 are seen, 3, 20 are not
    seen = np.zeros_like(counts)
    seen[0, [3, 8]] = 1
    expected = 4 * clusters.score(counts) - 2 * clusters.score(seen)
    assert document_completion(clusters, counts).total == pytest.approx(expected, abs=1e-12)


def test_a_folder_gives_the_same_clusters_back(found, tmp_path):
    corpus, _, clusters = found
    clusters.save(tmp_path / "m")
    again = DocumentClusters.load(tmp_path / "m")
    assert again.get_params() == clusters.get_params() | {"n_jobs": -1, "verbose": True}
    assert np.array_equal(again.labels_, clusters.labels_)
    assert (again.probabilities_ != clusters.probabilities_).nnz == 0
    assert np.array_equal(again.predict_proba(corpus), clusters.predict_proba(corpus))
    assert polyaurn.load(tmp_path / "m").clusters.alpha == clusters.model_.clusters.alpha
    with pytest.raises(InputError, match=r"DocumentClusters\.load"):
        LDA.load(tmp_path / "m")
    lda = LDA(2, max_iter=3, verbose=False).fit(TEXTS)
    with pytest.raises(InputError, match=r"LDA\.load and LDA\.from_model take it"):
        DocumentClusters.from_model(lda.model_)


def test_a_folder_whose_clusters_do_not_fit_is_damaged(found, tmp_path):
    from dataclasses import replace

    clusters = found[2].model_.clusters
    for wrong, said in (
        ({"topic": clusters.topic + 1}, "the clusters are not its topics"),
        ({"last": clusters.last[:-1]}, "the clusters of documents do not fit together"),
        ({"alpha": -1.0}, "the concentration of clusters is not positive"),
    ):
        model = replace(found[2].model_, clusters=clusters._replace(**wrong))
        model.save(tmp_path / "m", force=True)
        with pytest.raises(InputError, match=said):
            polyaurn.load(tmp_path / "m")


def test_merged_clusters_are_still_clusters(found):
    model = found[2].model_
    merged = model.merge_topics([[0, 7], [2, 3]])
    assert merged.n_topics == 6
    labels = merged.clusters.labels()
    assert set(labels.tolist()) == {-1, 0, 1, 2, 3, 4, 5}
    assert np.array_equal(labels == 0, np.isin(model.clusters.labels(), [0, 7]))
    assert merged.doc_topics().sum() == pytest.approx(598)


def stop_at(sweep):
    return lambda state, info: info.sweep == sweep


def same(a, b):
    assert np.array_equal(a.labels_, b.labels_)
    assert a.probabilities_.data.tobytes() == b.probabilities_.data.tobytes()
    assert a.model_.priors.beta.tobytes() == b.model_.priors.beta.tobytes()
    assert a.model_.clusters.alpha == b.model_.clusters.alpha
    assert a.model_.clusters.last.tobytes() == b.model_.clusters.last.tobytes()


@pytest.mark.parametrize("sweep", [5, 26])  # before and among the draws that are counted
@pytest.mark.parametrize("every", [0, 4])
def test_a_resumed_run_ends_in_the_same_bytes(tmp_path, sweep, every):
    corpus, _ = planted(200, 2000, 4, 6.0)
    whole = small(random_state=4, learn_priors_every=every).fit(corpus)
    assert whole.trace_[5]["phase"] == "anneal", "it may be stopped before"
    kept = {"checkpoint": tmp_path / "run", "checkpoint_every": 1, "random_state": 4,
            "learn_priors_every": every}  # fmt: skip
    part = small(**kept, callbacks=stop_at(sweep)).fit(corpus)
    assert part.n_iter_ == sweep
    resumed = small(**kept, resume=True).fit(corpus)
    same(resumed, whole)
    resumed.save(tmp_path / "model")
    finished = small(**kept | {"checkpoint": tmp_path / "model"}, resume=True).fit(corpus)
    same(finished, whole)
    longer = small(**kept | {"checkpoint": tmp_path / "model", "max_iter": 40}, resume=True)
    assert longer.fit(corpus).n_iter_ == 40
    with pytest.raises(InputError, match="'word_prior' parameter must be as in the run"):
        small(**kept, resume=True, word_prior=0.7).fit(corpus)
    with pytest.raises(InputError, match="resumed is of another model, 'clusters'"):
        LDA(5, max_iter=30, checkpoint=tmp_path / "run", resume=True, verbose=False).fit(corpus)


def test_labels_are_not_kept_where_clusters_get_other_numbers(tmp_path):
    corpus, _ = planted(200, 100, 4, 6.0)
    short, longer = (small(max_iter=n).fit(corpus) for n in (2, 9))
    short.model_.label_topics({0: "first"}).save(tmp_path / "m")
    assert not any(given_labels(keep_labels(longer.model_, tmp_path / "m")))


def test_seeds_differ_and_repeat():
    corpus, _ = planted(200, 100, 4, 6.0)
    a, b, c = (small(random_state=seed, max_iter=5).fit(corpus) for seed in (1, 1, 2))
    same(a, b)
    assert a.model_.clusters.last.tobytes() != c.model_.clusters.last.tobytes()
    json.dumps(a.model_.parameters)


def test_priors_are_learned_or_kept():
    corpus, _ = planted(400, 200, 4, 8.0)
    kept = small(learn_priors_every=0, word_prior=0.3, cluster_prior=2).fit(corpus)
    assert set(kept.model_.priors.beta) == {0.3}
    assert kept.model_.clusters.alpha == 2.0
    learned = small(learn_priors_every=5, word_prior=0.3, cluster_prior=2).fit(corpus)
    assert learned.model_.clusters.alpha != 2.0
    assert len(set(learned.model_.priors.beta)) == 1
    assert learned.trace_[-1]["log_posterior"] > kept.trace_[-1]["log_posterior"]


def test_the_concentration_of_clusters_that_was_learned_is_the_best():
    from scipy.special import gammaln

    from polyaurn.chain.priors import learn_symmetric

    sizes = np.array([40, 13, 7, 1, 0, 0, 2, 0])

    def level(a):
        return gammaln(8 * a) - gammaln(8 * a + 63) + (gammaln(sizes + a) - gammaln(a)).sum()

    best = learn_symmetric(sizes, 1.0)
    assert level(best) > max(level(0.98 * best), level(1.02 * best))
    assert best == pytest.approx(learn_symmetric(sizes, 0.05), rel=1e-3)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"n_clusters": 0}, "The 'n_clusters' parameter must be an integer from 1 to 65,535"),
        ({"n_clusters": "5"}, "Got '5' instead; give the number of clusters, such as 100"),
        ({"n_clusters": 2.5}, "The 'n_clusters' parameter must be an integer"),
        ({"cluster_prior": 0}, "The 'cluster_prior' parameter must be a number from 1e-06"),
        ({"word_prior": [0.1, 0.2]}, "The 'word_prior' parameter must be a number from 1e-06"),
        ({"word_prior": float("nan")}, "The 'word_prior' parameter must be a number from 1e-06"),
        ({"max_iter": 0}, "The 'max_iter' parameter must be a whole number of sweeps"),
        ({"average_draws": 0}, "The 'average_draws' parameter must be"),
        ({"learn_priors_every": -1}, "The 'learn_priors_every' parameter must be"),
        ({"random_state": -1}, "The 'random_state' parameter must not be negative"),
    ],
)
def test_bad_parameters_are_one_sentence(parameters, said):
    with pytest.raises(InputError, match=said):
        small(**parameters).fit(TEXTS)


def test_bad_texts_are_one_sentence():
    clusters = small()
    with pytest.raises(NotFittedError, match="This DocumentClusters has not been trained yet"):
        clusters.predict(TEXTS)
    with pytest.raises(InputError, match=r"passed to DocumentClusters\.fit"):
        clusters.fit([[1, -1]])
    assert not hasattr(clusters, "labels_")
    clusters.fit(TEXTS)
    with (
        pytest.warns(UserWarning, match="no word that the model knows"),
        pytest.raises(InputError, match="must have a document with a word"),
    ):
        clusters.score(["zebra"])


def test_a_report_shows_the_clusters(found):
    page = found[2].report(title="clusters").page
    assert "clusters" in page


@pytest.mark.parametrize("seed", [0, 1])
def test_many_clusters_of_many_words_are_found_by_default(monkeypatch, seed):
    """Clusters have 300 tokens. A beta of 0.1 adds 1,000; without the first sweeps some merge."""
    corpus, labels = planted(3000, 10_000, 100)
    there = labels >= 0

    def agreement(**parameters):
        clusters = small(n_clusters=200, random_state=seed, **parameters).fit(corpus)
        return adjusted_rand_score(labels[there], clusters.labels_[there])

    assert agreement() > 0.9
    assert agreement(word_prior=0.1) < 0.7, "GSDMM's usual value"
    monkeypatch.setattr("polyaurn.training.clusters.SPREAD_SWEEPS", 0)
    assert agreement() < 0.88


def test_beta_is_chosen_by_words_and_tokens_of_a_cluster():
    corpus, _ = planted(200, 100, 4, 6.0)
    few = small(max_iter=4).fit(corpus)
    assert set(few.model_.priors.beta) == {0.1}
    assert [sweep["phase"] for sweep in few.trace_] == ["full"] * 4
    many = small(n_clusters=100, max_iter=8).fit(corpus)
    chosen = 0.5 * corpus.n_tokens / (corpus.n_words * 100)
    assert set(many.model_.priors.beta) == {chosen}
    assert [sweep["phase"] for sweep in many.trace_] == ["anneal"] * 2 + ["full"] * 6
    given = small(n_clusters=100, max_iter=8, word_prior=chosen).fit(corpus)
    assert [sweep["phase"] for sweep in given.trace_] == ["full"] * 8


def test_clusters_are_not_updated(found):
    with pytest.raises(InputError, match="fit it again with all documents"):
        found[2].update(TEXTS)
