"""P(z | w) enumerated on tiny corpora, against samplers that claim to be exact."""

from functools import partial

import numpy as np
import pytest

from polyaurn import Corpus
from polyaurn.backends.registry import load_steps
from polyaurn.chain.priors import make_priors
from support.chains import (
    BY_COLUMN,
    BY_ROW,
    CHAINS,
    MH_EXACT,
    SPARSE,
    chain,
    number,
    steps_of,
    total_variation,
    with_cut,
)
from support.enumeration import BEFORE, SHAPES, after_one_sweep, setting
from support.faults import (
    BROKEN,
    FORGETS_FRACTIONS,
    IN_PHI_ONLY,
    PLAIN_TO_SEE,
    STALE,
    in_turn,
    steps_with,
)
from support.p_values import UNLIKELY, chi_square_p, smallest_p

pytestmark = pytest.mark.slow

GROWING = (2000, 5000, 15_000)  # draws until a fault is seen


@pytest.mark.parametrize("sampler", CHAINS)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_sweep_keeps_the_posterior(sampler, shape):
    assert after_one_sweep(steps_of(sampler), shape, 10_000) > UNLIKELY


@pytest.mark.parametrize("sampler", [BY_COLUMN, BY_ROW])
@pytest.mark.parametrize("shape", ["asymmetric", "three topics"])
def test_either_walk_of_a_visit_keeps_the_posterior(sampler, shape):
    assert after_one_sweep(steps_of(sampler), shape, 10_000) > UNLIKELY


@pytest.mark.parametrize("sampler", [*CHAINS, BY_COLUMN, BY_ROW])
@pytest.mark.parametrize("shape", BEFORE)
def test_a_sweep_keeps_the_posterior_under_pseudo_counts_that_are_fractions(sampler, shape):
    assert after_one_sweep(steps_of(sampler), shape, 10_000) > UNLIKELY


@pytest.mark.parametrize("sampler", [*CHAINS, BY_COLUMN, BY_ROW])
def test_a_sweep_under_their_whole_parts_does_not(sampler):
    whole = np.floor(BEFORE["fractions"][3])
    assert after_one_sweep(steps_of(sampler), "fractions", 10_000, whole) < UNLIKELY**2


@pytest.mark.parametrize("sampler", FORGETS_FRACTIONS)
def test_a_sweep_of_a_kernel_that_forgets_fractions_does_not(sampler):
    broken = FORGETS_FRACTIONS[sampler]()
    assert after_one_sweep(broken, "fractions", 10_000) < UNLIKELY**2


@pytest.mark.parametrize(("sampler", "mh_steps"), [("light", 4), ("light", 16), (MH_EXACT, 4)])
def test_a_sweep_of_more_proposals_keeps_the_posterior(sampler, mh_steps):
    made = steps_of(sampler)
    assert after_one_sweep(made, "unlike documents", 6000, mh_steps=mh_steps) > UNLIKELY


@pytest.mark.parametrize(("fault", "mh_steps"), STALE.items())
def test_what_an_earlier_proposal_left_behind_is_seen(fault, mh_steps):
    broken = steps_with("light", fault)
    assert after_one_sweep(broken, "unlike documents", 6000, mh_steps=mh_steps) < UNLIKELY**2


@pytest.mark.parametrize(("sampler", "fault"), in_turn(b for b in BROKEN if b != IN_PHI_ONLY))
def test_a_sweep_of_a_broken_kernel_does_not(sampler, fault):
    broken = steps_with(sampler, fault)
    assert smallest_p(partial(after_one_sweep, broken, "asymmetric"), GROWING) < UNLIKELY**2


def test_a_sparse_sweep_with_its_default_cut_keeps_the_posterior_and_with_a_large_one_does_not():
    assert after_one_sweep(load_steps(SPARSE), "asymmetric", 10_000) > UNLIKELY
    assert after_one_sweep(with_cut(1.0), "asymmetric", 15_000) < UNLIKELY**2


REACHED = [(sampler, shape) for sampler in CHAINS for shape in SHAPES
           if sampler == "partially-collapsed" or shape == "asymmetric"]  # fmt: skip


@pytest.mark.parametrize(("sampler", "shape"), REACHED)
def test_a_chain_reaches_the_posterior(sampler, shape):
    corpus, priors, p = setting(shape)
    K = len(priors.alpha)
    z = np.array([state.z for state in chain(steps_of(sampler), corpus, priors, 4000, thin=10)])
    assert chi_square_p(np.bincount(number(z, K), minlength=len(p)), p) > UNLIKELY


@pytest.mark.parametrize(
    ("sampler", "fault"),
    in_turn(b for b in PLAIN_TO_SEE if b[0] in ("partially-collapsed", "collapsed")),
)
def test_a_chain_of_a_broken_kernel_does_not(sampler, fault):
    corpus, priors, p = setting("asymmetric")

    def p_value(draws):
        states = chain(steps_with(sampler, fault), corpus, priors, draws, thin=10)
        z = np.array([state.z for state in states])
        return chi_square_p(np.bincount(number(z, 2), minlength=len(p)), p)

    assert smallest_p(p_value, (600, 4000)) < UNLIKELY**2


def urn_distance(copies, draws, thin):
    """Total variation between urn and exact chain, on the tokens of the first two documents.

    The corpus is two documents of three tokens, `copies` times over. Returns the distance and
    the size that only sampling noise would give.
    """
    corpus = Corpus.from_matrix(np.tile([[2, 1, 0], [0, 1, 2]], (copies, 1)))
    priors = make_priors([0.6, 0.6], 0.5, 2, 3)
    shares = []
    for sampler, seed in (("polya-urn", 0), ("partially-collapsed", 1), ("partially-collapsed", 2)):
        states = chain(load_steps(sampler), corpus, priors, draws, thin, seed)
        z = np.array([state.z[:6] for state in states])
        z = np.minimum(number(z, 2), number(1 - z, 2))  # topics may change names
        shares.append(np.bincount(z, minlength=32) / draws)
    return total_variation(shares[0], shares[1]), total_variation(shares[2], shares[1])


def test_the_urn_is_not_exact_on_a_dozen_tokens():
    corpus, priors, p = setting("asymmetric")
    z = np.array([s.z for s in chain(load_steps("polya-urn"), corpus, priors, 10_000, thin=3)])
    q = np.bincount(number(z, 2), minlength=len(p)) / len(z)
    noise = np.sqrt(p / len(z) * 2 / np.pi).sum() / 2  # expected total variation of exact draws
    distance = total_variation(p, q)
    assert 0.15 < distance < 0.30
    assert distance > 5 * noise


def test_the_urn_comes_closer_as_the_corpus_is_replicated():
    found = [urn_distance(copies, 6000, thin) for copies, thin in ((1, 3), (4, 4), (16, 6))]
    distances = [distance for distance, _ in found]
    noise = max(noise for _, noise in found)
    assert distances[0] - distances[1] > 2 * noise
    assert distances[1] - distances[2] > 0
    assert distances[2] < distances[0] / 2
