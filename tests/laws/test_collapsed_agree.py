"""The collapsed sampler by buckets and the textbook's, one sweep from the same topics."""

import numpy as np
from scipy import stats

from polyaurn import Corpus
from polyaurn.backends.registry import load_steps
from polyaurn.chain.priors import make_priors
from support.chains import one_step, with_steps
from support.faults import plant
from support.p_values import UNLIKELY

DRAWS = 1500


def sizes_after_a_sweep(made, seed):
    """Return how many tokens of one long document the last topic has, for many sweeps.

    In a long document sums that are kept up to date carry an error from one token to the next.
    """
    corpus = Corpus.from_matrix([[20] * 9, [1] * 9])
    priors = make_priors([0.2, 0.5, 1.0], np.linspace(3.0, 6.0, 9), 3, 9)
    steps = made(corpus, 3)
    start = (np.arange(corpus.n_tokens) % 5 % 3).astype(np.uint16)
    return [(one_step(steps, priors, start, seed, t).z[:180] == 2).sum() for t in range(DRAWS)]


def p_of_both(made):
    """Return a p-value: are they those of the textbook?"""
    ours = sizes_after_a_sweep(made, 1)
    textbook = sizes_after_a_sweep(load_steps("collapsed-dense"), 2)
    edges = np.quantile(textbook, np.linspace(0, 1, 9)[1:-1])
    table = [np.bincount(np.searchsorted(edges, x), minlength=8) for x in (ours, textbook)]
    table = np.array(table)[:, np.sum(table, axis=0) > 0]
    return stats.chi2_contingency(table).pvalue


def test_buckets_draw_what_the_textbook_draws():
    assert p_of_both(load_steps("collapsed")) > UNLIKELY


def test_a_sum_that_is_not_rescaled_is_seen():
    broken = plant("collapsed", ("M += (m[k] + 1) * s - m[k] * share[k]", "M += s"))
    assert p_of_both(with_steps(load_steps("collapsed"), z_step=broken.draw_z)) < UNLIKELY**2
