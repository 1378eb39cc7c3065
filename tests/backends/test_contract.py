"""The contract of every sampler in the list: the same bytes as the plain reference."""

import importlib
import json
import subprocess
import sys
from collections import deque
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from polyaurn import Corpus, InputError, datasets, sweeps
from polyaurn.backends.cpu.steps import CPUSteps
from polyaurn.backends.reference import REFERENCES
from polyaurn.backends.registry import load_steps
from polyaurn.base.rng import Purpose, bits, key
from polyaurn.base.threads import Workers, count_threads
from polyaurn.chain import loop
from polyaurn.chain.priors import make_priors
from polyaurn.chain.samplers import REFERENCED, SAMPLERS, THREAD_FREE
from polyaurn.chain.schedule import Plan, Schedule
from polyaurn.chain.state import State, check_invariants, phi_matrix, topic_word_matrix
from polyaurn.chain.steps import Address
from support import signatures
from support.chains import with_steps
from support.faults import (
    alpha_doubled,
    cumulative_sum_as_score,
    own_token_kept,
    plant,
    urn_of_whole_parts,
)
from support.p_values import UNLIKELY, chi_square_p

SHAPES = [  # documents, words, topics, beta, largest count of a cell
    (4, 5, 3, 0.01, 3),
    (30, 40, 7, 0.05, 4),
    (50, 30, 200, 0.01, 2),
    (5, 3, 2, 0.001, 400),  # counts above the tables, rows that come out empty
    (10, 6, 50, 0.002, 300),
    (12, 8, 1, 0.01, 3),
    (3, 200, 40, 0.5, 1),  # many prior balls
    (40, 6, 120, 2.0, 3),  # columns that are walked, and columns summed over all topics
]


def last(chain):
    return deque(chain, maxlen=1)[0]


def make_corpus(D, V, largest):
    rng = np.random.default_rng(D * 1000 + V)
    return Corpus.from_matrix(rng.poisson(0.8, (D, V)) * rng.integers(1, largest + 1, (D, V)))


def fractions(rng, K, V):
    """Return pseudo-counts of some cells, few and many, most of them fractions."""
    some = rng.random((K, V)) < 0.3
    return np.where(some, rng.gamma(0.5, 4.0, (K, V)) * rng.choice([1.0, 60.0], (K, V)), 0.0)


@pytest.mark.parametrize("sampler", REFERENCED)
@pytest.mark.parametrize(("D", "V", "K", "beta", "largest"), SHAPES)
@pytest.mark.parametrize("pseudo", [False, True])
def test_same_bytes_as_the_reference(sampler, D, V, K, beta, largest, pseudo):
    corpus = make_corpus(D, V, largest)
    rng = np.random.default_rng(0)
    alpha, beta = rng.gamma(1.0, 0.3, K) + 0.01, rng.gamma(5.0, beta / 5, V)
    priors = make_priors(alpha, beta, K, V, pseudo=fractions(rng, K, V) if pseudo else None)
    with Workers(2) as workers:
        fast, plain = load_steps(sampler)(corpus, K, workers), REFERENCES[sampler](corpus, K)
        z = fast.start(3)
        for sweep in range(5):
            address = Address(3, sweep)
            n, n_plain = fast.count(z), plain.count(z)
            assert (topic_word_matrix(n, K) != topic_word_matrix(n_plain, K)).nnz == 0
            check_invariants(corpus.word, V, K, State(z, n, priors, sweep))
            phi = fast.draw_phi(n, priors, address)
            phi_plain = plain.draw_phi(n_plain, priors, address)
            for name in ("weight", "topic", "prior"):
                for v in range(V):
                    column = getattr(phi, name)[phi.first[v] : phi.last[v]]
                    same = getattr(phi_plain, name)[phi_plain.first[v] : phi_plain.last[v]]
                    assert column.tolist() == same.tolist(), (name, v)
            assert phi.sigma_a.tolist() == phi_plain.sigma_a.tolist()
            assert np.allclose(phi_matrix(phi, K).sum(axis=1), 1.0, atol=1e-6)
            z_plain, n_plain, work_plain = plain.draw_z(z, phi_plain, priors, address)
            z, n, work = fast.draw_z(z, phi, priors, address)
            assert z.tobytes() == z_plain.tobytes()
            assert (topic_word_matrix(n, K) != topic_word_matrix(n_plain, K)).nnz == 0
            assert work == work_plain


def test_the_contract_sees_an_urn_that_forgets_fractions(small):
    pseudo = fractions(np.random.default_rng(0), 4, small.n_words)
    priors, plain = make_priors(0.1, 0.01, 4, small.n_words, pseudo=pseudo), "polya-urn"
    broken = with_steps(load_steps(plain), phi_step=urn_of_whole_parts().draw_phi)
    oracle = REFERENCES[plain](small, 4)
    columns = []
    for steps in (load_steps(plain)(small, 4), broken(small, 4), oracle):
        phi = steps.draw_phi(steps.count(oracle.start(0)), priors, Address(0, 0))
        columns.append(phi_matrix(phi, 4).toarray())
    right, wrong, expected = columns
    assert (right == expected).all()
    assert (wrong != expected).mean() > 0.1


@pytest.mark.parametrize("sampler", REFERENCED)
@pytest.mark.parametrize("fault", [own_token_kept, alpha_doubled, cumulative_sum_as_score])
def test_the_contract_sees_a_broken_z_step(sampler, fault, small):
    priors, address = make_priors(0.1, 0.01, 4, small.n_words), Address(0, 0)
    drawn = {}
    for name, made in {"right": load_steps(sampler), "wrong": fault(sampler)}.items():
        steps = made(small, 4)
        z = steps.start(0)
        phi = steps.draw_phi(steps.count(z), priors, address)
        drawn[name], _, _ = steps.draw_z(z, phi, priors, address)
    oracle, _, _ = REFERENCES[sampler](small, 4).draw_z(z, phi, priors, address)
    assert (drawn["right"] == oracle).all()
    assert (drawn["wrong"] != oracle).mean() > 0.01


@pytest.mark.parametrize("sampler", THREAD_FREE)
@pytest.mark.parametrize("corpus_name", ["medium", "odd"])
def test_any_number_of_threads_gives_the_same_bytes(sampler, corpus_name, request):
    corpus = request.getfixturevalue(corpus_name)
    seen = set()
    for n_jobs in (1, 2, 3, 8):
        state, info = last(sweeps(corpus, 6, sampler=sampler, n_jobs=n_jobs, max_iter=12))
        seen.add((state.z.tobytes(), info.log_posterior, info.phi_nonzeros))
    assert len(seen) == 1


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_any_cut_into_ranges_gives_the_same_bytes(sampler, monkeypatch):
    corpus = datasets.generate(200, 150, 5, 50.0)
    seen = set()
    layouts = (
        {"LEAST_BLOCK": 1 << 30, "RANGES_PER_THREAD": 1},
        {"LEAST_BLOCK": 16_384},
        {"LEAST_BLOCK": 100, "RANGES_PER_THREAD": 7},
        {"BLOCK_BYTES": 30, "LEAST_SHARED": 0},  # blocks of one document
        {"MOST_TOPICS": 3},  # document order
        {"LONGEST": 50},  # some of each
    )
    for constants in layouts:
        with monkeypatch.context() as patch:
            patch.setattr("polyaurn.backends.cpu.layout.LEAST_WORK", 1)
            for name, value in constants.items():
                patch.setattr(f"polyaurn.backends.cpu.layout.{name}", value)
            state, _ = last(
                sweeps(corpus, 8, sampler=sampler, n_jobs=2, max_iter=6, warm_start="random")
            )
        seen.add(state.z.tobytes())
    assert len(seen) == 1


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_plan_of_two_parts_is_safe_for_every_sampler(sampler, monkeypatch):
    """Samplers that visit all documents at once ignore it; they used to write out of bounds."""
    monkeypatch.setattr("polyaurn.backends.cpu.layout.BLOCK_BYTES", 30)  # blocks of one document
    corpus = make_corpus(6, 5, 3)
    with Workers(1) as workers:
        steps = load_steps(sampler)(corpus, 9, workers)
        assert len(steps.layout.blocks) > 2
        state = loop.begin(steps, make_priors(0.1, 0.01, 9, 5), Schedule((), 2), 0)
        for _ in range(3):
            state, _ = loop.sweep(state, steps, Plan(refreshes=2), 0)
            check_invariants(corpus.word, 5, 9, state)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_continuing_from_a_state_gives_the_same_bytes(sampler, small):
    whole = [state for state, _ in sweeps(small, 5, sampler=sampler, max_iter=9)]
    half = whole[3]
    state, _ = last(sweeps(small, 5, sampler=sampler, max_iter=9, start=half))
    assert state.z.tobytes() == whole[-1].z.tobytes()
    assert half.sweep == 4
    assert state.sweep == 9


def test_seeds_and_sweeps_give_different_draws(small):
    first = [state.z.tobytes() for state, _ in sweeps(small, 5, max_iter=4)]
    other = [state.z.tobytes() for state, _ in sweeps(small, 5, max_iter=4, random_state=1)]
    assert len(set(first + other)) == 8


def test_a_state_may_be_kept(small):
    kept = []
    for state, _ in sweeps(small, 5, max_iter=3):
        kept.append((state, state.z.tobytes()))
    assert all(state.z.tobytes() == then for state, then in kept)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_extreme_shapes(sampler):
    long = Corpus.from_matrix([[70_000, 30_001, 5], [0, 0, 1]])
    many = Corpus.from_matrix([[3, 0, 1], [0, 2, 2]])
    for corpus, K in ((long, 3), (many, 60_000), (many, 1)):
        for state, info in sweeps(corpus, K, sampler=sampler, max_iter=2, evaluate_every=1):
            check_invariants(corpus.word, corpus.n_words, K, state)
            assert np.isfinite(info.log_posterior)


def test_invariants_see_a_wrong_count(small):
    state, _ = next(sweeps(small, 5, max_iter=1))
    z = state.z.copy()
    z[0] = (z[0] + 1) % 5
    with pytest.raises(AssertionError, match="differ from the counts of z"):
        check_invariants(small.word, small.n_words, 5, state._replace(z=z))
    z[0] = 5
    with pytest.raises(AssertionError, match="topic 5 of 5"):
        check_invariants(small.word, small.n_words, 5, state._replace(z=z))


def test_every_kernel_is_compiled_once():
    """A second set of argument types would be compiled again, silently, in each user's run."""
    program = Path(signatures.__file__)
    ran = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True)
    found = json.loads(ran.stdout)
    assert found["compiled"] > 20
    assert found["several"] == []


def redrawn_columns(urn):
    """Draw the column of a word seen once, many times; return p-values of its total and spread."""
    corpus = Corpus.from_matrix([[1, 0], [0, 300]])
    K, beta = 4, 0.1
    steps = load_steps("polya-urn")(corpus, K)
    layout, workers = steps.layout, steps.workers
    priors = make_priors(0.1, beta, K, 2)
    z = np.arange(301, dtype=np.uint16) % K
    counts = steps.count(z)
    totals, topics = [], []
    for sweep in range(6000):
        balls = urn.draw_ball_counts(layout, priors, 0, sweep, workers)
        first, last, topic, mass, _ = urn.draw_columns(
            layout, counts, priors, balls, 0, sweep, workers
        )
        column = slice(first[0], last[0])
        totals.append(int(mass[column].sum()))
        topics.append(np.repeat(topic[column], mass[column].astype(int)))
    pmf = stats.poisson.pmf(np.arange(30), 1 + K * beta)
    pmf[0] = 0.0
    share = np.array([1 + beta, beta, beta, beta]) / (1 + K * beta)
    where = np.bincount(np.concatenate(topics), minlength=K)
    return (
        chi_square_p(np.bincount(totals, minlength=30), pmf / pmf.sum()),
        chi_square_p(where, share),
    )


def test_column_of_an_observed_word_is_drawn_from_the_urn_given_that_it_is_not_empty():
    total, spread = redrawn_columns(importlib.import_module("polyaurn.backends.cpu.phi_urn"))
    assert total > UNLIKELY
    assert spread > UNLIKELY


def test_an_empty_column_given_one_ball_is_seen():
    draw = "min(poisson_positive(rate, bits(column_a, column_b, v * 4294967296)), REDRAW)"
    total, _ = redrawn_columns(plant("phi_urn", (draw, "1")))
    assert total < UNLIKELY / 1e6


def test_an_empty_column_sent_to_the_first_topic_is_seen():
    draw = "unit(bits(column_a, column_b, v * 4294967296 + ball)) * rate"
    _, spread = redrawn_columns(plant("phi_urn", (draw, "0.0")))
    assert spread < UNLIKELY**2


def test_an_empty_column_spread_over_all_topics_is_seen():
    flat = "u = n_v + u * beta[v] * K / rate\n        "
    _, spread = redrawn_columns(plant("phi_urn", ("if u < n_v:", flat + "if u < n_v:")))
    assert spread < UNLIKELY / 1e6


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_steps_are_of_the_class_that_mypy_holds_against_the_protocols(sampler):
    assert issubclass(load_steps(sampler), CPUSteps)


def test_unknown_samplers_and_threads():
    with pytest.raises(InputError, match="'polya-urn', 'partially-collapsed', 'sparse-dirichlet'"):
        load_steps("gibbs")
    assert count_threads(None) == 1
    assert count_threads(3) == 3
    assert count_threads(-1) >= 1
    for bad in (0, 1.5, True):
        with pytest.raises(InputError, match="'n_jobs'"):
            count_threads(bad)


def test_start_is_uniform():
    corpus = Corpus.from_matrix([[40_000]])
    z = load_steps("polya-urn")(corpus, 7).start(1)
    assert chi_square_p(np.bincount(z, minlength=7), np.ones(7) / 7) > UNLIKELY
    first = int(bits(key(1, 0, Purpose.START), 0)) * 7 >> 64
    assert z[0] == first
