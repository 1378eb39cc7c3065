"""Hierarchical Dirichlet processes: the posterior enumerated, Geweke's test, faults, the oracle."""

from functools import cache

import numpy as np
import pytest
from scipy import stats

import polyaurn
from polyaurn import Corpus, datasets, sweeps
from polyaurn.backends.direct_assignment import direct_assignment
from polyaurn.backends.registry import load_steps
from polyaurn.chain import hdp
from polyaurn.chain.hdp import DIRICHLET, HDP, WEIGHTS, first_top
from polyaurn.chain.loop import PLAIN, sweep
from polyaurn.chain.priors import make_priors
from polyaurn.chain.state import State
from support.chains import number, standard_error, steps_of
from support.faults import plant
from support.hdp import (
    FAULTS,
    broken,
    drawing,
    enumerated,
    marginal_conditional,
    successive_conditional,
    top_from_prior,
)
from support.hdp import statistics as of_top_level
from support.joint_draws import from_prior, make_corpus
from support.p_values import UNLIKELY, chi_square_p

K = 3
LIMIT = stats.norm.isf(UNLIKELY / 2 / 7)  # seven statistics share the chance of a false alarm
PRIOR = (3.0, 2.0)
CORPUS = Corpus.from_matrix([[2, 1, 0], [0, 1, 2], [1, 0, 0]])
ALPHA, GAMMA, BETA = 0.8, 1.5, 0.4
FIXED = {weights: HDP(weights, None, None) for weights in WEIGHTS}


@cache
def posterior(weights):
    return enumerated(CORPUS, K, ALPHA, GAMMA, FIXED[weights], BETA)


def p_value(made, weights, draws, thin=4):
    """Return the p-value of the topics of a chain against the enumerated posterior."""
    rules, priors = FIXED[weights], make_priors(1.0, BETA, K, CORPUS.n_words)
    alpha, top = first_top(ALPHA, GAMMA, K, K)
    steps = made(CORPUS, K, hdp=rules)
    z = steps.start(0)
    state = State(z, steps.count(z), priors._replace(alpha=alpha, top=top))
    found = np.zeros(len(posterior(weights)), int)
    for _ in range(draws):
        for _ in range(thin):
            state = sweep(state, steps, PLAIN, 0)[0]
        found[number(state.z, K)] += 1
    return chi_square_p(found, posterior(weights))


@pytest.mark.slow
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("sampler", ["sparse-dirichlet", "partitioned"])
def test_a_chain_reaches_the_enumerated_posterior(sampler, weights):
    assert p_value(steps_of(sampler), weights, 2500, thin=10) > UNLIKELY


def of(fault):
    return [FAULTS[fault][0]] if FAULTS[fault][0] else list(WEIGHTS)


FIXED_FAULTS = {"gamma_not_shared_out": 2000, "own_tables_in_the_rest": 12_000}  # plain in so many


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "draws"), FIXED_FAULTS.items())
def test_a_chain_with_a_fault_does_not(fault, draws):
    made = drawing(steps_of("partitioned"), broken(fault).draw_top)
    assert p_value(made, of(fault)[0], draws) < UNLIKELY**2


@pytest.mark.slow
def test_a_chain_whose_empty_topics_are_renumbered_without_their_weights_does_not():
    change = "priors._replace(alpha=priors.alpha[order])", "priors"
    assert p_value(plant("partitioned", change).Steps, DIRICHLET, 2500) < UNLIKELY**2


def largest_score(weights, draws, draw_top=hdp.draw_top):
    rules = HDP(weights, PRIOR, PRIOR)
    first = of_prior(weights)
    second = successive_conditional(rules, K, draws, draw_top)
    error = np.hypot(standard_error(first), standard_error(second))
    return float(np.abs((first.mean(axis=0) - second.mean(axis=0)) / error).max())


@cache
def of_prior(weights):
    return marginal_conditional(HDP(weights, PRIOR, PRIOR), K, 20_000)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_the_top_level_and_topics_have_their_joint_distribution(weights):
    assert largest_score(weights, 5000) < LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_the_top_level_is_seen(fault):
    for weights in of(fault):
        draw_top = broken(fault).draw_top
        assert any(largest_score(weights, n, draw_top) > 2 * LIMIT for n in (2000, 16_000)), weights


def ranks_p(made, prior_draws, weights=DIRICHLET, kept=19, thin=8, burn_in=3):
    """Return the smallest p-value of ranks of what drew the data among draws of a chain."""
    rules, V, rng = HDP(weights, PRIOR, PRIOR), 4, np.random.default_rng(6)
    ranks = []
    for draw in range(prior_draws):
        alpha, top = top_from_prior(rules, K, rng)
        priors = make_priors(alpha, BETA, K, V)
        _, z, w = from_prior(priors, rng)
        truth = of_top_level(alpha, top, z)[:5]
        corpus = make_corpus(w, V)
        steps = made(corpus, K, hdp=rules)
        alpha, top = first_top(1.0, 1.0, K, K)
        z = steps.start(draw)
        state = State(
            z, steps.count(z), make_priors(1.0, BETA, K, V)._replace(alpha=alpha, top=top)
        )
        drawn = []
        for t in range((kept + burn_in) * thin):
            state = sweep(state, steps, PLAIN, draw)[0]
            if t >= burn_in * thin and t % thin == 0:
                drawn.append(of_top_level(state.priors.alpha, state.priors.top, state.z)[:5])
        below = (np.array(drawn) < truth - 1e-9).sum(axis=0)
        ties = (np.abs(np.array(drawn) - truth) <= 1e-9).sum(axis=0)
        ranks.append(below + rng.integers(0, ties + 1))
    even = np.ones(kept + 1) / (kept + 1)
    return min(chi_square_p(np.bincount(r, minlength=kept + 1), even) for r in np.array(ranks).T)


AT_ITS_CUT = {name: load_steps(name) for name in ("partitioned", "sparse-dirichlet")}


@pytest.mark.slow
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("sampler", AT_ITS_CUT)
def test_the_top_level_is_calibrated(sampler, weights):
    assert ranks_p(AT_ITS_CUT[sampler], 120, weights) > UNLIKELY


@pytest.mark.slow
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("sampler", AT_ITS_CUT)
def test_a_top_level_with_a_fault_is_not(sampler, weights):
    made = drawing(AT_ITS_CUT[sampler], broken("documents_forgotten_in_alpha").draw_top)
    assert ranks_p(made, 100, weights) < UNLIKELY**2


LENGTHS = (6, 4, 7, 3, 5)
ORACLE_FAULTS = {
    "tokens_counted_twice": ("(a[k] + j) < a[k]", "(a[k] + 2.0 * j) < a[k]"),
    "new_topics_too_large": ("b = rng.beta(1.0, gamma)", "b = rng.beta(30.0, gamma)"),
    "total_not_removed": ("used - removed", "used"),
    "new_topics_too_rare": ("total + alpha * new / V", "total + 0.5 * alpha * new / V"),
}


@cache
def of_franchise(draws=20_000):
    """Topics, the sum of their squared sizes, log alpha and log gamma of restaurants: the prior."""
    rng, found = np.random.default_rng(8), []
    for _ in range(draws):
        alpha, gamma = rng.gamma(PRIOR[0], size=2) / PRIOR[1]
        tables_of, sizes = [], []
        for length in LENGTHS:
            tables, dishes = [], []
            for i in range(length):
                j = int((rng.random() * (i + alpha) > np.cumsum(tables)).sum())
                if j == len(tables):  # a table opens, and its dish comes from all documents
                    u = rng.random() * (sum(tables_of) + gamma)
                    k = int((u > np.cumsum(tables_of)).sum())
                    tables_of += [0] * (k == len(tables_of))
                    tables_of[k] += 1
                    tables.append(0)
                    dishes.append(k)
                tables[j] += 1
            sizes.append(np.bincount(dishes, tables, minlength=sum(LENGTHS)))
        pairs = (np.sum(sizes, axis=0) ** 2).sum()
        found.append((len(tables_of), pairs, np.log(alpha), np.log(gamma)))
    return np.array(found)


def of_single_words(made, draws):
    corpus = Corpus.from_matrix([[n] for n in LENGTHS])
    chain = made(corpus, beta=0.3, alpha_prior=PRIOR, gamma_prior=PRIOR, seed=2)
    found = []
    for draw, _ in zip(chain, range(draws), strict=False):
        sizes = np.bincount(draw.z)
        found.append(((sizes > 0).sum(), (sizes**2).sum(), np.log(draw.alpha), np.log(draw.gamma)))
    return np.array(found)


def from_prior_apart(made, draws=40_000):
    """Return the largest distance of a chain's means from those of the prior, in errors."""
    prior, chain = of_franchise(), of_single_words(made, draws)
    error = np.hypot(standard_error(prior), standard_error(chain))
    return float(np.abs((prior.mean(axis=0) - chain.mean(axis=0)) / error).max())


@pytest.mark.slow
def test_the_oracle_draws_from_the_prior_where_words_say_nothing():
    assert from_prior_apart(direct_assignment) < LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("fault", ORACLE_FAULTS)
def test_an_oracle_with_a_fault_does_not(fault):
    broken_oracle = plant("direct_assignment", ORACLE_FAULTS[fault], package="polyaurn.backends")
    assert from_prior_apart(broken_oracle.direct_assignment) > 2 * LIMIT


@cache
def small_corpus():
    return datasets.generate(60, 40, 5, 20.0, random_state=4)


def of_oracle(draws=4000, beta=0.1, burn_in=500):
    """Number of topics, log alpha and log gamma in draws of the direct assignment sampler."""
    chain = direct_assignment(small_corpus(), beta=beta, start_topics=5, seed=1)
    found = [(len(np.unique(d.z)), np.log(d.alpha), np.log(d.gamma)) for d, _ in
             zip(chain, range(draws), strict=False)]  # fmt: skip
    return np.array(found[burn_in:])


def of_ours(weights, draws=3000, burn_in=500):
    found = [
        (info.topics, np.log(state.priors.top.alpha), np.log(state.priors.top.gamma))
        for state, info in sweeps(
            small_corpus(), 60, model="hdp", topic_weights=weights, topic_word_prior=0.1,
            doc_topic_prior=1.0, learn_priors_every=0, evaluate_every=0, start_topics=5,
            warm_start="random", max_iter=draws, n_jobs=1,
        )
    ]  # fmt: skip
    return np.array(found[burn_in:])


def apart(first, second):
    error = np.hypot(standard_error(first, 20), standard_error(second, 20))
    return float(np.abs((first.mean(axis=0) - second.mean(axis=0)) / error).max())


@pytest.mark.slow
@pytest.mark.parametrize("weights", WEIGHTS)
def test_topics_are_as_many_as_the_oracle_finds(weights):
    ours = of_ours(weights)
    assert apart(ours, of_oracle()) < 5.5
    assert apart(ours, of_oracle(beta=0.5)) > 11, "another beta is distinguished"


def large_topics(planted, seed, shuffled=False):
    """Return how many large topics defaults find in documents, perhaps with their words mixed."""
    corpus = datasets.generate(
        300, 200, planted, 60.0, topic_concentration=20.0, zipf_exponent=0.0, random_state=planted
    )
    if shuffled:
        document = np.repeat(np.arange(300), np.diff(corpus.doc_ptr))
        n = np.zeros((300, 200), int)
        np.add.at(n, (np.random.default_rng(seed).permutation(document), corpus.word), 1)
        corpus = Corpus.from_matrix(n)
    return (
        polyaurn.HDP(random_state=seed, evaluate_every=0, verbose=False).fit(corpus).n_topics_.large
    )


@pytest.mark.slow
@pytest.mark.parametrize("planted", [4, 9])
@pytest.mark.filterwarnings("ignore::polyaurn.base.errors.TopicCountWarning")
def test_a_planted_number_of_topics_is_recovered_by_defaults(planted):
    near = (planted, planted + 1)  # one topic may stay split for long
    found = [large_topics(planted, seed) for seed in range(3)]
    assert set(found) <= set(near)
    assert found.count(planted) >= 2
    assert large_topics(planted, 0, shuffled=True) not in near
