"""Measures of the literature agree with tmtoolkit's on the same model."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import gammaln

from polyaurn import LDA, Corpus, InputError, datasets, evaluate
from polyaurn.chain.priors import make_priors
from polyaurn.evaluate import number_of_topics
from polyaurn.model.model import TopicModel
from support import tmtoolkit_values
from support.tmtoolkit_values import FILE, K, V, matrices


@pytest.fixture(scope="module")
def recorded():
    return json.loads(FILE.read_text())


@pytest.fixture(scope="module")
def model(recorded):
    given = recorded["model"]
    n, m, _ = matrices(given)
    return TopicModel(
        sp.csr_matrix(n.astype(np.int32)), sp.csr_matrix(m.astype(np.int32)),
        np.array(given["z"], np.uint16), tuple(f"w{v}" for v in range(V)),
        [f"d{d}" for d in range(len(m))], make_priors(given["alpha"], given["beta"], K, V),
    )  # fmt: skip


@pytest.fixture(scope="module")
def corpus(recorded, model):
    lengths = recorded["model"]["lengths"]
    ptr = np.concatenate(([0], np.cumsum(lengths)))
    return Corpus(ptr, np.array(recorded["model"]["word"], np.int32), model.vocab, model.doc_names)


def test_the_recorded_model_is_the_program_s(recorded):
    assert tmtoolkit_values.draw() == recorded["model"]
    assert recorded["values"]["tmtoolkit"].startswith("0.12")


@pytest.mark.parametrize("name", ["arun_2010", "cao_juan_2009"])
def test_values_of_topics_are_tmtoolkit_s(recorded, model, name):
    assert getattr(evaluate, name)(model) == pytest.approx(recorded["values"][name], rel=1e-9)


def test_coherence_of_20_words_is_tmtoolkit_s(recorded, model, corpus):
    found = evaluate.mimno_coherence(model, corpus, n_words=20)
    assert found == pytest.approx(recorded["values"]["mimno_2011"], rel=1e-12)


def test_the_harmonic_mean_is_tmtoolkit_s(recorded):
    values = recorded["values"]
    found = evaluate.harmonic_mean(values["log_likelihoods"])
    assert found == pytest.approx(values["griffiths_2004"], rel=1e-12)
    assert evaluate.harmonic_mean([-3.5]) == -3.5


def test_log_likelihood_is_the_formula_of_the_article(recorded, model, corpus):
    n, _, _ = matrices(recorded["model"])
    beta = np.array(recorded["model"]["beta"])
    expected = (
        (gammaln(beta.sum()) - gammaln(beta).sum()) * K
        + gammaln(n + beta).sum()
        - gammaln((n + beta).sum(axis=1)).sum()
    )
    assert evaluate.griffiths_2004(model, corpus) == pytest.approx(expected, rel=1e-12)


def test_pseudo_counts_of_seeds_belong_to_the_prior():
    corpus = datasets.generate(n_documents=40, n_words=30, n_topics=3, random_state=0)
    lda = LDA(3, max_iter=5, seed_words={0: [corpus.vocab[3]]}, seed_strength=7, verbose=False)
    model = lda.fit(corpus).model_
    n = np.zeros((3, 30))
    np.add.at(n, (model.assignments, corpus.word), 1)
    prior = np.tile(model.priors.beta, (3, 1))
    pseudo = model.priors.pseudo
    for v in range(30):
        for j in range(pseudo.first[v], pseudo.last[v]):
            prior[pseudo.topic[j], v] += pseudo.number[j]
    expected = (
        gammaln(prior.sum(axis=1)) - gammaln(prior).sum(axis=1)
        + gammaln(n + prior).sum(axis=1) - gammaln((n + prior).sum(axis=1))
    ).sum()  # fmt: skip
    assert prior.sum() > 3 * model.priors.beta.sum()
    assert evaluate.griffiths_2004(model, corpus) == pytest.approx(expected, rel=1e-10)


def test_what_is_not_defined_is_none(model, corpus):
    one = LDA(1, max_iter=2, verbose=False).fit(corpus)
    assert evaluate.cao_juan_2009(one) is None
    z = np.zeros_like(model.assignments)
    n, m = np.zeros((K, V), np.int32), np.zeros((corpus.n_documents, K), np.int32)
    np.add.at(n, (z, corpus.word), 1)
    m[:, 0] = np.diff(corpus.doc_ptr)
    empty = TopicModel(
        sp.csr_matrix(n), sp.csr_matrix(m), z, model.vocab, model.doc_names, model.priors
    )
    assert evaluate.arun_2010(empty) is None


def test_a_planted_fault_is_seen(recorded, model, monkeypatch):
    """Topics without their prior have other inner products."""
    right = number_of_topics._inner_products
    monkeypatch.setattr(
        number_of_topics, "_inner_products", lambda m: right(m) - (m.priors.beta**2).sum() / 1e4
    )
    for name in ("arun_2010", "cao_juan_2009"):
        assert getattr(evaluate, name)(model) != pytest.approx(recorded["values"][name], rel=1e-9)


def test_another_corpus_is_rejected(model):
    other = datasets.generate(n_documents=5, n_words=8, n_topics=2, random_state=0)
    with pytest.raises(InputError, match="must be what the model was trained on"):
        evaluate.griffiths_2004(model, other)
