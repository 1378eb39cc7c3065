"""Held-out likelihood and inference, against enumeration on tiny models."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import gammaln

from polyaurn import LDA, Corpus, InputError, TopicModel, datasets
from polyaurn.chain.priors import make_priors
from polyaurn.corpus.known_words import in_words_of
from polyaurn.evaluate import document_completion, held_out, left_to_right
from polyaurn.evaluate.held_out import HeldOut
from support.faults import plant


def tiny_model(K=2, V=3, seed=0, alpha=0.4, beta=0.3):
    """A model of a few counts."""
    rng = np.random.default_rng(seed)
    n = sp.csr_matrix(rng.poisson(2.0, (K, V)) * (rng.random((K, V)) < 0.7))
    priors = make_priors(np.linspace(alpha, 2 * alpha, K), np.linspace(beta, 2 * beta, V), K, V)
    return TopicModel(
        n, sp.csr_matrix((1, K), dtype=np.int32), np.empty(0, np.uint16),
        tuple(f"w{v}" for v in range(V)), ("d",), priors,
    )  # fmt: skip


def phi_of(model):
    mass = model.topic_word_counts.toarray() + model.priors.beta
    return mass / mass.sum(axis=1, keepdims=True)


def enumerate_document(model, words):
    """Return log p(w) and the posterior mean mixture, summing over all topics of all tokens."""
    phi, alpha = phi_of(model), model.priors.alpha
    K, N = len(alpha), len(words)
    total, mean = 0.0, np.zeros(K)
    for z in product(range(K), repeat=N):
        m = np.bincount(z, minlength=K)
        log = gammaln(alpha.sum()) - gammaln(N + alpha.sum())
        log += (gammaln(m + alpha) - gammaln(alpha)).sum()
        p = np.exp(log) * np.prod([phi[k, v] for k, v in zip(z, words, strict=True)])
        total += p
        mean += p * (m + alpha) / (N + alpha.sum())
    return np.log(total), mean / total


DOCUMENTS = [[0], [0, 0, 1], [0, 1, 1, 2, 2], [1, 1, 1, 1, 2, 2]]


def corpus_of(documents, V=3):
    X = np.zeros((len(documents), V), int)
    for d, words in enumerate(documents):
        np.add.at(X[d], words, 1)
    return Corpus.from_matrix(X, [f"w{v}" for v in range(V)])


@pytest.mark.parametrize("K", [1, 2, 3])
def test_left_to_right_is_the_enumerated_likelihood(K):
    model = tiny_model(K, 3, seed=K)
    score = left_to_right(model, corpus_of(DOCUMENTS), 4000)
    exact = np.array([enumerate_document(model, words)[0] for words in DOCUMENTS])
    assert (np.abs(score.log_likelihood - exact) <= 5 * score.error + 1e-12).all()
    assert score.error.max() < 0.05
    assert score.total == pytest.approx(exact.sum(), abs=5 * score.total_error + 1e-9)
    assert score.perplexity == pytest.approx(np.exp(-score.total / 15))


def scores_with(fault, monkeypatch, particles=4000):
    broken = plant("fold_in", *fault)
    monkeypatch.setattr(
        "polyaurn.backends.cpu.new_documents.score_left_to_right", broken.score_left_to_right
    )
    model = tiny_model(2, 3, seed=2)
    score = left_to_right(model, corpus_of(DOCUMENTS), particles)
    exact = np.array([enumerate_document(model, words)[0] for words in DOCUMENTS])
    return np.abs(score.log_likelihood - exact) / np.maximum(score.error, 1e-12)


ALPHA_LEFT_OUT = ("* (c * alpha[k] + m[k])", "* m[k]")


@pytest.mark.parametrize(
    "fault",
    [
        [ALPHA_LEFT_OUT],
        [("p[i, r] = all_ / (i + alpha_all)", "p[i, r] = all_ / (i + 1 + alpha_all)")],
        [("Q + beta[v] * (M + c * prior[-1])", "Q + beta[v] * M")],
    ],
)
def test_enumeration_sees_a_broken_left_to_right(fault, monkeypatch):
    assert scores_with(fault, monkeypatch).max() > 10


def test_the_error_is_that_of_other_seeds():
    model = tiny_model(3, 4, seed=5)
    corpus = corpus_of([[0, 0, 1, 2, 3, 3], [1, 1, 2, 2, 3]], 4)
    runs = [left_to_right(model, corpus, 20, random_state=seed) for seed in range(200)]
    spread = np.std([run.log_likelihood for run in runs], axis=0, ddof=1)
    said = np.sqrt(np.mean([run.error**2 for run in runs], axis=0))
    assert (np.abs(np.log(said / spread)) < 0.25).all()  # 5 standard errors of a spread of 200
    assert np.isnan(left_to_right(model, corpus, 1).error).all()


def test_errors_of_copies_add_up_as_the_spread_over_seeds_does():
    """Copies of a document share their draws, so that errors add; others add as squares."""
    model = tiny_model(3, 4, seed=5)
    twice, once = [0, 0, 1, 2, 3, 3], [1, 1, 2, 2, 3]
    corpus = corpus_of([twice] * 100 + [once], 4)
    runs = [left_to_right(model, corpus, 20, random_state=seed) for seed in range(200)]
    for kind in ("total", "per_token"):
        spread = np.std([getattr(run, kind) for run in runs], ddof=1)
        said = np.sqrt(np.mean([getattr(run, f"{kind}_error") ** 2 for run in runs]))
        assert abs(np.log(said / spread)) < 0.25, kind
    assert runs[0].first_copy.tolist() == [0] * 100 + [100]


def test_errors_add_up_by_hand():
    numbers = (np.zeros(4), np.array([3.0, 4.0, 3.0, 0.0]), np.array([2, 5, 2, 1]), np.zeros(4))
    assert HeldOut(*numbers).total_error == pytest.approx(np.sqrt(34))
    copies = HeldOut(*numbers, first_copy=np.array([0, 1, 0, 3]))
    assert copies.total_error == pytest.approx(np.sqrt(6**2 + 4**2))
    assert copies.per_token_error == pytest.approx(np.sqrt(52) / 10)
    unknown = HeldOut(*numbers[:1], np.full(4, np.nan), *numbers[2:], np.arange(4))
    assert np.isnan(unknown.total_error)


def test_mixtures_are_the_enumerated_posterior_means():
    model = tiny_model(3, 3, seed=4)
    theta = model.transform(corpus_of(DOCUMENTS), burn_in=10, kept=4000)
    for words, row in zip(DOCUMENTS, theta, strict=True):
        mean = enumerate_document(model, words)[1]
        assert np.abs(row - mean).max() < 5 * 0.5 / np.sqrt(4000 / 3)
    assert np.allclose(theta.sum(axis=1), 1.0)


def test_mixtures_of_a_broken_fold_in_are_seen(monkeypatch):
    broken = plant("fold_in", ALPHA_LEFT_OUT)
    monkeypatch.setattr("polyaurn.backends.cpu.new_documents.fold_documents", broken.fold_documents)
    model = tiny_model(3, 3, seed=4)
    theta = model.transform(corpus_of(DOCUMENTS), burn_in=10, kept=4000)
    means = [enumerate_document(model, words)[1] for words in DOCUMENTS]
    assert np.abs(theta - means).max() > 0.15


def test_completion_by_hand():
    model = tiny_model(2, 3, seed=1)
    corpus = corpus_of([[0, 0, 1, 2], [1], []])
    score = document_completion(model, corpus, kept=20_000)
    theta = enumerate_document(model, [0, 1])[1]  # tokens 0 and 2 are seen
    p = theta @ phi_of(model)
    assert score.log_likelihood[0] == pytest.approx(np.log(p[0]) + np.log(p[2]), abs=0.02)
    assert score.tokens.tolist() == [2, 0, 0]
    assert score.log_likelihood[1:].tolist() == [0.0, 0.0]
    assert np.isnan(score.error).all()


@pytest.fixture(scope="module")
def trained():
    corpus = datasets.generate(400, 150, 5, 60.0)
    train, test = corpus.split(0.25)
    return LDA(5, max_iter=150, verbose=False).fit(train), train, test


def test_a_document_does_not_depend_on_its_neighbours(trained):
    lda, _, test = trained
    whole = lda.transform(test)
    scores = left_to_right(lda, test, 5)
    for d in (0, 7, test.n_documents - 1):
        alone = test.select([d])
        assert lda.transform(alone).tobytes() == whole[d : d + 1].tobytes()
    for d in range(50):  # to the last bit, also where topics came and went in documents before
        alone = left_to_right(lda, test.select([d]), 5)
        assert alone.log_likelihood[0] == scores.log_likelihood[d]
        assert alone.error[0] == scores.error[d]
    order = np.arange(test.n_documents)[::-1]
    assert lda.transform(test.select(order)).tobytes() == whole[::-1].copy().tobytes()
    lda.set_params(n_jobs=1)
    assert lda.transform(test).tobytes() == whole.tobytes()
    assert lda.transform(test.to_matrix()).tobytes() == whole.tobytes()
    lda.set_params(n_jobs=-1)


def test_sparse_mixtures_are_entries_of_the_dense_ones(trained):
    lda, _, test = trained
    dense, sparse = lda.transform(test), lda.transform(test, sparse=True)
    rows, columns = sparse.nonzero()
    assert np.array_equal(np.asarray(sparse[rows, columns]).ravel(), dense[rows, columns])
    assert sparse.nnz < dense.size
    assert dense[sparse.toarray() == 0].max() < 0.01


def test_training_documents_agree_with_the_chain_within_sampling_error(trained):
    lda, train, _ = trained
    chain, folded = lda.model_.doc_topics(), lda.transform(train)
    draws = [
        lda.model_.transform(train, burn_in=20, kept=1, random_state=seed) for seed in range(1, 25)
    ]
    error = np.std(draws, axis=0, ddof=1) + 1 / np.diff(train.doc_ptr)[:, None]
    assert (np.abs(chain - folded) < 5 * error).mean() > 0.99
    other = np.roll(chain, 1, axis=0)
    assert (np.abs(other - folded) < 5 * error).mean() < 0.9, "the comparison has power"


def test_words_are_looked_up_by_name_and_unknown_ones_are_counted(trained):
    lda, _, test = trained
    names = list(test.vocab)
    mixed = sp.hstack([test.to_matrix()[:, ::-1], np.ones((test.n_documents, 2), int)])
    corpus = Corpus.from_matrix(mixed, [*names[::-1], "zzz", "yyy"])
    theta = lda.transform(corpus)  # so few unknown words cause no warning
    assert theta.tobytes() == lda.transform(test).tobytes()
    assert left_to_right(lda, corpus, 2).unknown.sum() == 2 * test.n_documents


def test_documents_without_known_words_have_the_prior_mean(trained):
    lda, _, _ = trained
    names, alpha = lda.model_.vocab, lda.model_.priors.alpha
    mean = alpha / alpha.sum()
    assert mean.max() > 1.5 * mean.min()  # learned
    with pytest.warns(UserWarning, match="2 of 3 documents have no word that the model knows"):
        theta = lda.transform([f"{names[0]} {names[1]}", "", "unheard"])
    assert np.allclose(theta[1:], mean)
    with pytest.warns(UserWarning, match="1 of 1 documents"):
        assert np.allclose(lda.transform([""]), mean)
    assert in_words_of(lda.model_.vocab, [f"{names[0]} {names[1]}"]).tokens.tolist() == [2]


def test_n_grams_of_texts_are_known():
    texts = ["new york city", "new moon", "york minster"] * 10
    corpus = Corpus.from_texts(texts, ngram_range=(1, 2), stop_words=None)
    model = LDA(2, max_iter=20, verbose=False).fit(corpus).model_
    known = in_words_of(model.vocab, ["new york city"])
    assert sorted(model.vocab[v] for v in known.word) == [
        "city", "new", "new york", "york", "york city",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda lda: lda.model_.transform(np.ones((2, 3))), "a column for each of the model's 150"),
        (lambda lda: left_to_right(lda, ["unheard of words"]), "nothing can be scored"),
        (lambda lda: lda.transform([]), "must be a Corpus, a matrix of counts, strings or lists"),
        (lambda lda: left_to_right(lda, [""]), "nothing can be scored"),
        (lambda lda: lda.model_.transform(["x"], kept=0), "'kept' parameter must be a whole"),
        (lambda lda: left_to_right(lda, lda.corpus_, 0), "'particles' parameter must be a whole"),
        (lambda lda: left_to_right("model", lda.corpus_), "'model' parameter must be a TopicModel"),
        (lambda lda: lda.model_.transform(["x"], device="tpu"), "'device' parameter must be one"),
        (lambda lda: left_to_right(lda, lda.corpus_, device=1), "'device' parameter must be one"),
    ],
)  # fmt: skip
def test_bad_documents_are_one_sentence(trained, call, message):
    with pytest.raises(InputError, match=message):
        call(trained[0])


@pytest.mark.plain
def test_corners_of_fold_in_un_jitted():
    for K in (1, 2):
        model = tiny_model(K, 3, seed=K)
        corpus = corpus_of([[0, 1], [], [2, 2, 2]])
        theta = model.transform(corpus, burn_in=0, kept=3)
        prior = model.priors.alpha / model.priors.alpha.sum()
        assert np.allclose(theta[1], prior)
        assert np.allclose(theta.sum(axis=1), 1.0)
        assert np.isfinite(left_to_right(model, corpus, 3).log_likelihood).all()
        assert np.isfinite(document_completion(model, corpus).log_likelihood).all()


def test_halves_share_out_every_word():
    known = in_words_of(tiny_model().vocab, corpus_of([[0, 0, 0, 1, 1], [2]]))
    seen, hidden = held_out._halves(known)
    assert seen.word.tolist() == [0, 0, 1, 2]
    assert hidden.word.tolist() == [0, 1]
