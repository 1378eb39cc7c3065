"""Priors learned: the maximum they should be, what drew the data, and the chain that uses them."""

import numpy as np
import pytest

from polyaurn import LDA, Corpus, InputError, datasets, load, sweeps
from polyaurn.backends.cpu import histograms
from polyaurn.backends.cpu.histograms import count_documents
from polyaurn.backends.reference import document_histogram
from polyaurn.backends.registry import load_steps
from polyaurn.base.threads import Workers
from polyaurn.chain.priors import learn_alpha, learn_beta, learn_priors, make_priors
from polyaurn.chain.state import NO_TOPIC
from support.chains import log_joint

ALPHA = np.array([0.05, 0.2, 0.8, 0.1])
ONE = Workers(1)


def documents_of_many_lengths(n_topics):
    """Return documents of no, one, few and very many tokens, and topics of their tokens."""
    rng = np.random.default_rng(7)
    lengths = np.concatenate(
        (rng.integers(0, 4, 300), [90_000, 0, 1, 120_001], rng.poisson(300, 200))
    )
    doc_ptr = np.concatenate(([0], np.cumsum(lengths)))
    favourite = np.repeat(rng.integers(0, n_topics, len(lengths)), lengths)
    drawn = rng.integers(0, n_topics, doc_ptr[-1])
    return doc_ptr, np.where(rng.random(doc_ptr[-1]) < 0.4, favourite, drawn).astype(np.uint16)


@pytest.mark.parametrize("n_topics", [1, 5, 3000])
def test_documents_are_counted_as_by_the_reference_for_any_number_of_threads(n_topics):
    doc_ptr, z = documents_of_many_lengths(n_topics)
    wanted = document_histogram(doc_ptr, z, n_topics)
    assert wanted.number.max() > histograms.WIDTHS[1], "some numbers are listed"
    assert np.dot(wanted.number, wanted.times) == len(z)
    for n_threads in (1, 2, 5):
        with Workers(n_threads) as workers:
            found = count_documents(doc_ptr, z, n_topics, workers)
        for name, a, b in zip(found._fields, found, wanted, strict=True):
            assert np.array_equal(a, b), name


def test_tokens_without_a_topic_are_not_counted():
    doc_ptr = np.array([0, 2, 5, 6])
    z = np.array([1, 1, NO_TOPIC, NO_TOPIC, NO_TOPIC, 0], np.uint16)
    found = count_documents(doc_ptr, z, 2, ONE)
    assert [part.tolist() for part in found] == [[0, 1], [1, 2], [1, 1], [1, 2], [1, 1]]


@pytest.fixture(scope="module")
def drawn():
    """Topics and words from known priors: alpha asymmetric, beta 0.3."""
    rng = np.random.default_rng(4)
    K, V, D, length = len(ALPHA), 60, 1500, 40
    phi = rng.dirichlet(np.full(V, 0.3), K)
    z = np.concatenate([rng.choice(K, length, p=rng.dirichlet(ALPHA)) for _ in range(D)])
    word = np.array([rng.choice(V, p=phi[k]) for k in z])
    document = np.repeat(np.arange(D), length)
    order = np.lexsort((word, document))
    corpus = Corpus(
        np.arange(D + 1) * length, word[order].astype(np.int32), [f"w{v}" for v in range(V)]
    )
    z = z[order].astype(np.uint16)
    return corpus, z, load_steps("polya-urn")(corpus, K).count(z)


def test_the_priors_that_drew_the_data_are_found(drawn):
    corpus, z, counts = drawn
    alpha = learn_alpha(count_documents(corpus.doc_ptr, z, 4, ONE), np.full(4, 1.0))
    assert np.abs(np.log(alpha / ALPHA)).max() < 0.15  # 5 standard errors of 1,500 documents
    beta = learn_beta(counts, make_priors(1.0, 0.01, 4, corpus.n_words))
    assert abs(np.log(beta / 0.3)) < 0.6  # four topics of 60 words say less
    rolled = count_documents(corpus.doc_ptr, np.roll(z, 20), 4, ONE)
    other = learn_alpha(rolled, np.full(4, 1.0))
    assert np.abs(np.log(other / ALPHA)).max() > 0.3, "topics of other documents are distinguished"


def test_learned_priors_are_a_maximum(drawn):
    corpus, z, counts = drawn
    start = make_priors(1.0, 0.01, 4, corpus.n_words)
    found = count_documents(corpus.doc_ptr, z, 4, ONE)
    best = learn_priors(found, counts, start)
    level = log_joint(corpus, z, best)
    assert level > log_joint(corpus, z, start)
    for k in range(4):
        for factor in (0.95, 1.05):
            moved = np.array(best.alpha)
            moved[k] *= factor
            assert log_joint(corpus, z, best._replace(alpha=moved)) < level
    for factor in (0.95, 1.05):
        assert log_joint(corpus, z, best._replace(beta=best.beta * factor)) < level
    again = learn_priors(found, counts, best)
    assert np.allclose(again.alpha, best.alpha, rtol=1e-3)


def test_a_chain_learns_and_the_trace_shows_it(tmp_path):
    corpus = datasets.generate(300, 100, 4, 40.0)
    lda = LDA(6, max_iter=40, learn_priors_every=10, verbose=False).fit(corpus)
    sums = [record["alpha_sum"] for record in lda.trace_]
    assert sums[:9] == [pytest.approx(0.6)] * 9  # alpha every tenth sweep
    assert len({round(s, 9) for s in sums}) == 5
    betas = [record["beta_mean"] for record in lda.trace_]
    assert betas[:9] == [pytest.approx(0.01)] * 9  # beta once annealing has come down to it
    assert len({round(b, 9) for b in betas}) == 5
    priors = lda.model_.priors
    assert priors.alpha.sum() == pytest.approx(sums[-1])
    assert priors.alpha.std() > 0
    assert priors.beta[0] == pytest.approx(lda.trace_[-1]["beta_mean"])
    lda.save(tmp_path / "model")
    assert np.array_equal(load(tmp_path / "model").priors.alpha, priors.alpha)
    kept = LDA(6, max_iter=40, learn_priors_every=0, verbose=False).fit(corpus)
    assert [record["alpha_sum"] for record in kept.trace_] == [pytest.approx(0.6)] * 40


def test_continuing_keeps_what_was_learned(small):
    options = {"learn_priors_every": 2, "warm_start": "random"}
    whole = [state for state, _ in sweeps(small, 5, max_iter=9, **options)]
    assert not whole[0].priors.learned
    assert whole[1].priors.learned
    *_, (again, _) = sweeps(small, 5, max_iter=9, start=whole[4], **options)
    assert again.z.tobytes() == whole[-1].z.tobytes()
    with pytest.raises(InputError, match="'learn_priors_every' parameter must be a whole number"):
        sweeps(small, 5, learn_priors_every=-1)


def test_topics_without_tokens_keep_a_positive_prior():
    corpus = Corpus.from_matrix([[3, 1], [1, 2]])
    z = np.zeros(7, np.uint16)
    alpha = learn_alpha(count_documents(corpus.doc_ptr, z, 3, ONE), np.full(3, 0.1))
    assert (alpha > 0).all()
    assert alpha[0] > alpha[1]
