"""Where a schedule turns, to the sweep and to the token; and priors learned from single tokens."""

import numpy as np
import pytest

from polyaurn import Corpus, datasets
from polyaurn.backends.cpu import layout
from polyaurn.backends.cpu.histograms import count_documents
from polyaurn.backends.registry import load_steps
from polyaurn.chain.priors import learn_alpha
from polyaurn.chain.schedule import AUTO_OF_0_1, Schedule, make_schedule
from polyaurn.chain.state import WHOLE
from polyaurn.chain.steps import tokens_of_blocks
from support.chains import ONE

LARGE = {"n_tokens": 10_000_000, "n_words": 50_000, "n_topics": 1000, "max_iter": 1000}


def schedule(warm_start="auto", phi_refreshes=1, **changes):
    return make_schedule(warm_start, phi_refreshes, **LARGE | changes)


def test_growing_needs_as_many_sweeps_again():
    assert schedule(max_iter=96).shares == (1, 2, 4, 8, 16, 32)
    assert schedule(max_iter=95).shares == ()
    assert schedule(max_iter=None).shares == (1, 2, 4, 8, 16, 32)


def test_growing_pays_from_so_many_tokens_times_topics():
    assert schedule(n_topics=40).shares
    assert not schedule(n_topics=39).shares
    assert not schedule(n_topics=40, n_tokens=9_999_999).shares


def test_the_first_share_has_enough_tokens():
    assert schedule("grow", n_tokens=64 << 17).shares[0] == 1
    assert schedule("grow", n_tokens=(64 << 17) - 1).shares[0] == 2
    assert schedule("grow", n_tokens=2 << 17).shares == (32,)
    assert schedule("grow", n_tokens=(2 << 17) - 1).shares == ()


def test_smoothing_takes_a_third_of_the_sweeps_and_at_most_200_topics():
    assert [schedule("smooth", max_iter=n).smooth for n in (2, 3, 359, 360, 363, 1000)] == [
        0, 1, 119, 120, 120, 120,
    ]  # fmt: skip
    assert schedule(AUTO_OF_0_1, n_topics=200).smooth == 120
    assert schedule(AUTO_OF_0_1, n_topics=201).smooth == 0


def test_phi_is_drawn_once_for_each_40_tokens_per_word():
    words = LARGE["n_words"]
    found = [
        schedule("random", "auto", n_tokens=tokens * words + more).refreshes
        for tokens, more in ((1, 0), (80, -1), (80, 0), (159, 0), (160, 0), (400, 0))
    ]
    assert found == [1, 1, 2, 3, 4, 4]


def test_a_share_lasts_eight_sweeps():
    made = Schedule((16, 32), 3, smooth=10)
    plans = [made.plan(t) for t in range(20)]
    assert [plan.share for plan in plans] == [16] * 8 + [32] * 8 + [WHOLE] * 4
    assert [plan.refreshes for plan in plans] == [1] * 16 + [3] * 4
    assert [plan.smooth for plan in plans] == [True] * 10 + [False] * 10


def test_tokens_of_blocks_are_those_of_their_documents(monkeypatch):
    monkeypatch.setattr(layout, "LEAST_SHARED", 0)
    monkeypatch.setattr(layout, "LEAST_BLOCK", 60)
    corpus = datasets.generate(60, 40, 4, 15.0)
    made = load_steps("polya-urn")(corpus, 3).layout
    assert not np.array_equal(made.documents, np.arange(60))
    lengths = np.diff(corpus.doc_ptr)
    expected = [
        lengths[made.documents[made.blocks[b] : made.blocks[b + 1]]].sum()
        for b in range(len(made.blocks) - 1)
    ]
    assert tokens_of_blocks(made).tolist() == expected
    assert np.array_equal(expected, np.diff(made.start))


@pytest.mark.parametrize("alpha", [[0.2, 0.5, 0.3], [5.0, 5.0, 5.0]])
def test_documents_of_one_token_keep_the_sum_of_alpha(alpha):
    """Such documents say nothing of how topics mix: the sum stays, shares become those of topics.

    A step multiplies alpha[k] by (n[k] / alpha[k]) / (D / sum of alpha).
    """
    z = np.repeat([0, 1, 2], [30, 50, 20]).astype(np.uint16)
    doc_ptr = np.concatenate((np.arange(101), [100]))  # and one document of none
    found = learn_alpha(count_documents(doc_ptr, z, 3, ONE), np.array(alpha))
    assert found == pytest.approx(np.sum(alpha) * np.array([0.3, 0.5, 0.2]))


def test_alpha_of_one_and_two_tokens_by_hand():
    """One topic says nothing, and alpha stays; two are the maximum of a product over tokens."""
    corpus = Corpus.from_matrix([[2], [2], [2], [2], [1]])
    of_one = count_documents(corpus.doc_ptr, np.zeros(9, np.uint16), 1, ONE)
    found = learn_alpha(of_one, np.array([0.7]))
    assert found == pytest.approx([0.7])
    z = np.array([0, 0, 1, 1, 0, 0, 0, 1, 1], np.uint16)
    a = learn_alpha(count_documents(corpus.doc_ptr, z, 2, ONE), np.array([0.6, 0.6]))

    def level(x, y):
        pairs = x * (x + 1), y * (y + 1), x * (x + 1), x * y
        both = (x + y) * (x + y + 1)
        return np.log([pair / both for pair in pairs]).sum() + np.log(y / (x + y))

    best = level(*a)
    for factor in (0.98, 1.02):
        assert level(a[0] * factor, a[1]) < best
        assert level(a[0], a[1] * factor) < best
