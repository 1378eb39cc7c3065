import numpy as np
import pytest
from scipy import stats

from polyaurn import InputError, datasets
from support.p_values import UNLIKELY, z_score


def test_generate_is_reproducible_and_has_the_sizes_asked_for():
    corpus = datasets.generate(100, 50, 5, 30.0, random_state=3)
    assert corpus.fingerprint == datasets.generate(100, 50, 5, 30.0, random_state=3).fingerprint
    assert corpus.fingerprint != datasets.generate(100, 50, 5, 30.0, random_state=4).fingerprint
    assert (corpus.n_documents, corpus.n_words) == (100, 50)
    lengths = np.diff(corpus.doc_ptr)
    assert abs(lengths.mean() - 30) < 5 * np.sqrt(30 / 100)


def test_truth_belongs_to_the_corpus():
    corpus, truth = datasets.generate(3000, 30, 4, 40.0, return_truth=True)
    assert truth.phi.sum(axis=1) == pytest.approx(np.ones(4))
    for k in range(4):
        counts = np.bincount(corpus.word[truth.z == k], minlength=30)
        keep = truth.phi[k] * counts.sum() > 5
        expected = np.append(truth.phi[k][keep], truth.phi[k][~keep].sum()) * counts.sum()
        observed = np.append(counts[keep], counts[~keep].sum())
        chi = ((observed - expected) ** 2 / np.maximum(expected, 1e-9)).sum()
        assert stats.chi2.sf(chi, keep.sum()) > UNLIKELY


def topic_pair_share(corpus, z):
    """Per document: do the first and last token share a topic? (Order inside is by word.)"""
    return np.array([
        (np.bincount(z[a:b]) * (np.bincount(z[a:b]) - 1)).sum() / ((b - a) * (b - a - 1))
        for a, b in zip(corpus.doc_ptr[:-1], corpus.doc_ptr[1:], strict=True)
        if b - a > 1
    ])  # fmt: skip


def test_topics_of_documents_are_dirichlet_multinomial():
    """P(two tokens agree) = sum a_k (a_k + 1) / (A (A + 1)) under Dirichlet(a)."""
    alpha = np.array([0.5, 0.2, 0.1])
    corpus, truth = datasets.generate(
        4000, 20, 3, 30.0, doc_topic_prior=alpha, return_truth=True, random_state=1
    )
    share = topic_pair_share(corpus, truth.z)
    A = alpha.sum()
    assert abs(z_score(share, (alpha * (alpha + 1)).sum() / (A * (A + 1)))) < 5
    wrong = 2 * alpha
    assert abs(z_score(share, (wrong * (wrong + 1)).sum() / (2 * A * (2 * A + 1)))) > 10


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"n_documents": 0}, "'n_documents'"),
        ({"n_words": 0}, "'n_words'"),
        ({"n_words": 10.0}, "'n_words' parameter must be a whole number of words"),
        ({"n_topics": 0}, "'n_topics'"),
        ({"n_topics": 65_536}, "'n_topics' parameter must be a whole number of topics from 1"),
        ({"mean_length": 0}, "'mean_length'"),
        ({"topic_concentration": -1}, "'topic_concentration'"),
        ({"doc_topic_prior": 0}, "'doc_topic_prior'"),
        ({"doc_topic_prior": [0.1, 0.1]}, r"'doc_topic_prior'.* shape \(2,\)"),
        ({"zipf_exponent": "steep"}, "'zipf_exponent' parameter must be a number"),
    ],
)
def test_generate_rejects_impossible_parameters(options, says):
    with pytest.raises(InputError, match=says):
        datasets.generate(**options)


def test_python_docs_are_thousands_of_real_documents():
    seen = []
    corpus = datasets.python_docs(on_file=lambda i, n: seen.append((i, n)))
    assert corpus.n_documents > 2000
    assert corpus.n_words > 1000
    assert {"matrix", "probability", "file"} <= set(corpus.vocab)
    assert not {"the", "parameters"} & set(corpus.vocab)
    assert any(name.startswith("numpy.linalg") for name in corpus.doc_names)
    assert seen[-1][0] == seen[-1][1] == len(seen)


def test_lengths_may_spread_around_the_same_mean():
    narrow, wide = (
        np.diff(datasets.generate(4000, 50, 3, 80.0, length_spread=spread).doc_ptr)
        for spread in (0.0, 0.8)
    )
    assert narrow.std() == pytest.approx(80.0**0.5, rel=0.1)
    assert wide.mean() == pytest.approx(80.0, rel=0.05)
    assert np.log(wide[wide > 0]).std() == pytest.approx(0.8, rel=0.05)
    with pytest.raises(InputError, match="'length_spread' parameter must be 0 or more"):
        datasets.generate(length_spread=-1.0)
