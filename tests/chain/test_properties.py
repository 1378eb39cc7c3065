"""Properties that hold for corpora of any shape."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from polyaurn import Corpus, sweeps
from polyaurn.backends.reference import REFERENCES
from polyaurn.backends.registry import load_steps
from polyaurn.base.threads import Workers
from polyaurn.chain import loop as sampler
from polyaurn.chain.priors import make_priors
from polyaurn.chain.samplers import SAMPLERS, THREAD_FREE
from polyaurn.chain.state import State, topic_word_matrix
from polyaurn.chain.steps import Address
from polyaurn.evaluate.diagnostics import log_posterior
from support.faults import counts_of_a_thread_dropped

SETTINGS = settings(max_examples=40, deadline=None, derandomize=True, database=None)


@st.composite
def corpora(draw):
    """Documents may be empty, words unused, counts large."""
    D, V = draw(st.integers(1, 6)), draw(st.integers(1, 7))
    X = draw(arrays(np.int64, (D, V), elements=st.sampled_from([0, 0, 0, 1, 1, 2, 9, 130])))
    X[draw(st.integers(0, D - 1)), draw(st.integers(0, V - 1))] += 1
    return Corpus.from_matrix(X)


topics = st.sampled_from([1, 2, 3, 17, 70])
prior = st.floats(1e-3, 5.0)


@pytest.mark.plain
@SETTINGS
@given(corpora(), topics, prior, prior, st.integers(0, 99), st.sampled_from(list(REFERENCES)))
def test_compiled_kernels_are_the_reference(corpus, K, alpha, beta, seed, name):
    fast, plain = load_steps(name)(corpus, K), REFERENCES[name](corpus, K)
    priors = make_priors(alpha, beta, K, corpus.n_words)
    address = Address(seed, 1)
    z = fast.start(seed)
    phi = fast.draw_phi(fast.count(z), priors, address)
    same = plain.draw_phi(plain.count(z), priors, address)
    assert phi.sigma_a.tobytes() == same.sigma_a.tobytes()
    new, counted, work = fast.draw_z(z, phi, priors, address)
    oracle, same_counts, same_work = plain.draw_z(z, same, priors, address)
    assert new.tobytes() == oracle.tobytes()
    assert (topic_word_matrix(counted, K) != topic_word_matrix(same_counts, K)).nnz == 0
    assert work == same_work


@SETTINGS
@given(corpora(), topics, st.integers(1, 5), st.sampled_from(THREAD_FREE))
def test_threads_never_matter(corpus, K, threads, name):
    *_, (one, _) = sweeps(corpus, K, sampler=name, n_jobs=1, max_iter=3, evaluate_every=0)
    *_, (many, _) = sweeps(corpus, K, sampler=name, n_jobs=threads, max_iter=3, evaluate_every=0)
    assert one.z.tobytes() == many.z.tobytes()


@SETTINGS
@given(corpora(), topics, st.randoms(use_true_random=False))
def test_log_posterior_does_not_depend_on_the_order_of_documents(corpus, K, random):
    made = load_steps("polya-urn")
    priors = make_priors(0.1, 0.01, K, corpus.n_words)
    z = made(corpus, K).start(0)
    order = list(range(corpus.n_documents))
    random.shuffle(order)
    shuffled = corpus.select(order)
    moved = np.concatenate([z[corpus.doc_ptr[d] : corpus.doc_ptr[d + 1]] for d in order])
    levels = [
        log_posterior(c, State(t, made(c, K).count(t), priors), priors)
        for c, t in ((corpus, z), (shuffled, moved))
    ]
    assert levels[0] == pytest.approx(levels[1], rel=1e-12)


@SETTINGS
@given(corpora())
def test_matrices_come_back_as_they_went_in(corpus):
    again = Corpus.from_matrix(corpus.to_matrix(), corpus.vocab)
    assert again == corpus
    whole = corpus.prune(min_count=1)
    assert whole.n_tokens == corpus.n_tokens
    assert np.bincount(whole.word).min() >= 1


@pytest.mark.parametrize("name", SAMPLERS)
@pytest.mark.parametrize(
    ("counts", "K"),
    [
        ([[100_000]], 3),  # one word, one document, a count far above 65,535
        ([[1], [1], [1]], 2),  # documents of one token
        ([[40_000, 0, 60_000], [0, 0, 0], [1, 0, 0]], 5),
        ([[2, 0, 1]], 60_000),
        ([[3, 2]], 1),
    ],
)
def test_extremes_keep_the_invariants(name, counts, K, monkeypatch):
    monkeypatch.setattr(sampler, "CHECK", True)
    for _, info in sweeps(Corpus.from_matrix(counts), K, sampler=name, max_iter=2, n_jobs=2):
        assert np.isfinite(info.log_posterior) if info.log_posterior else True
        assert info.work_per_token >= 1


def test_the_invariant_checker_is_switched_on_by_the_environment(small, monkeypatch):
    monkeypatch.setattr(
        "polyaurn.training.sweeps.load_steps", lambda name, _: counts_of_a_thread_dropped(name)
    )
    options = {"max_iter": 2, "sampler": "polya-urn"}
    *_, (state, _) = sweeps(small, 3, **options)
    assert state.sweep == 2, "without the checker the fault goes unseen"
    monkeypatch.setattr(sampler, "CHECK", True)
    with pytest.raises(AssertionError, match="differ from the counts of z"):
        next(sweeps(small, 3, **options))


@pytest.mark.parametrize(("value", "on"), [("1", True), ("0", False), ("", False)])
def test_the_environment_variable_is_read(value, on):
    code = f"from polyaurn.chain import loop; assert loop.CHECK is {on}"
    environment = os.environ | {"POLYAURN_CHECK": value}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)


def test_a_pool_passes_errors_on():
    def fail(i):
        if i == 3:
            raise ValueError("three")
        return i

    with Workers(2) as workers:
        assert workers.run(fail, [(0,), (1,)]) == [0, 1]
        with pytest.raises(ValueError, match="three"):
            workers.run(fail, [(i,) for i in range(6)])
