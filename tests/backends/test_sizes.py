"""Sizes at which kernels change their ways: the same bytes on both sides of each.

Sizes that tests can lower are lowered, and what is drawn must stay. Where 16 bits are at stake,
counts are as large as they have to be to show a number that wraps.
"""

from itertools import pairwise

import numpy as np
import pytest

from polyaurn import Corpus, datasets
from polyaurn.backends.cpu import layout, light, phi_urn
from polyaurn.backends.reference import REFERENCES
from polyaurn.backends.registry import load_steps
from polyaurn.base.threads import Workers
from polyaurn.chain.loop import PLAIN, sweep
from polyaurn.chain.priors import make_priors
from polyaurn.chain.samplers import SAMPLERS
from polyaurn.chain.state import check_invariants, doc_topic_matrix
from polyaurn.chain.steps import Address
from support.chains import begin, with_steps
from support.faults import plant

URN = load_steps("polya-urn")


def bytes_after(made, corpus, K, sweeps=2, alpha=0.1, beta=0.01, start=None, **options):
    """Return the topics of a chain after some sweeps, whose counts are checked."""
    steps = made(corpus, K, **options)
    state = begin(steps, make_priors(alpha, beta, K, corpus.n_words))
    if start is not None:
        state = state._replace(z=start, counts=steps.count(start))
    for _ in range(sweeps):
        state, _ = sweep(state, steps, PLAIN, 0)
        check_invariants(corpus.word, corpus.n_words, K, state)
    return state.z.tobytes()


def of_documents(lengths, n_words, seed=0):
    rng = np.random.default_rng(seed)
    ptr = np.concatenate(([0], np.cumsum(lengths)))
    word = rng.integers(0, n_words, int(ptr[-1])).astype(np.int32)
    return Corpus(ptr, word, tuple(f"w{v}" for v in range(n_words)))


# Documents in their own order: beyond 2,048 topics


@pytest.fixture(scope="module")
def searched():
    """Words of many topics, not of a third of all, in documents of few: columns are searched."""
    corpus, K = of_documents([1, 2, 3, 4] * 60, 6), 300
    steps = URN(corpus, K)
    z = steps.start(0)
    phi = steps.draw_phi(steps.count(z), make_priors(0.1, 0.01, K, 6), Address(0, 0))
    K_v = phi.last - phi.first
    assert (phi.row == -1).all()
    assert K_v.min() > 8 * 4, "all columns are more than eight times as long as the documents"
    return corpus, K


def in_document_order(made, corpus, K, monkeypatch, **options):
    with monkeypatch.context() as patch:
        patch.setattr(layout, "MOST_TOPICS", 1)
        assert not len(made(corpus, K).layout.step)
        return bytes_after(made, corpus, K, **options)


def test_columns_are_searched_to_the_same_bytes(searched, monkeypatch):
    expected = bytes_after(REFERENCES["polya-urn"], *searched)
    assert bytes_after(URN, *searched) == expected
    assert in_document_order(URN, *searched, monkeypatch) == expected


def test_a_broken_search_is_seen(searched, monkeypatch):
    z = plant("z")
    wrong = ("if at < last[v] and topic[at] == k:", "if at < last[v]:")
    z.draw_documents = plant("z_long", wrong).draw_documents
    broken = with_steps(URN, z_step=z.draw_z)
    expected = bytes_after(URN, *searched)
    assert in_document_order(broken, *searched, monkeypatch) != expected


def test_more_than_2048_topics():
    corpus = of_documents([1, 2, 3, 60] * 8, 9)
    for K in (layout.MOST_TOPICS, layout.MOST_TOPICS + 1):
        assert bool(len(URN(corpus, K).layout.step)) == (K == layout.MOST_TOPICS)
        expected = bytes_after(REFERENCES["polya-urn"], corpus, K, sweeps=1)
        assert bytes_after(URN, corpus, K, sweeps=1) == expected


# Numbers of 16 bits


@pytest.fixture(scope="module")
def long():
    """A document of 150,003 tokens, its two topics unlike each other when they wrap."""
    corpus = Corpus.from_matrix([[90_000, 60_003], [3, 1]])
    start = (np.arange(corpus.n_tokens) % 3 == 0).astype(np.uint16)
    address, priors = Address(0, 0), make_priors([0.5, 2.0], 0.5, 2, 2)
    steps = REFERENCES["partially-collapsed"](corpus, 2)
    phi = steps.draw_phi(steps.count(start), priors, address)
    expected = steps.draw_z(start, phi, priors, address)[0]
    assert np.bincount(start[:-4]).max() > 65_535
    return corpus, start, expected.tobytes()


def drawn_from(made, corpus, start):
    steps, address, priors = made(corpus, 2), Address(0, 0), make_priors([0.5, 2.0], 0.5, 2, 2)
    phi = steps.draw_phi(steps.count(start), priors, address)
    return steps.draw_z(start, phi, priors, address)[0].tobytes()


def test_a_document_of_150003_tokens_gives_the_bytes_of_the_reference(long, monkeypatch):
    corpus, start, expected = long
    exact = load_steps("partially-collapsed")
    assert drawn_from(exact, corpus, start) == expected
    with monkeypatch.context() as patch:  # in a block its counts wrap
        patch.setattr(layout, "LONGEST", 1 << 20)
        assert drawn_from(exact, corpus, start) != expected


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_word_of_more_than_65535_tokens_in_a_block(sampler, monkeypatch):
    """Three documents of one block, 40,000 tokens of one word in each."""
    corpus = Corpus.from_matrix([[3, 40_000, 1], [0, 40_000, 2], [7, 40_000, 0]])
    made = load_steps(sampler)
    expected = bytes_after(made, corpus, 3)
    monkeypatch.setattr(layout, "LEAST_BLOCK", 1 << 20)
    steps = made(corpus, 3)
    assert len(steps.layout.blocks) == 2
    if len(steps.layout.step):
        assert steps.layout.length[: steps.layout.last_run[0]].tolist() == [10, 65_535, 54_465, 3]
    assert bytes_after(made, corpus, 3) == expected


def test_more_than_65536_documents_for_a_block(monkeypatch):
    corpus = of_documents([1] * 66_000, 5)
    expected = bytes_after(URN, corpus, 3)
    monkeypatch.setattr(layout, "LEAST_BLOCK", 1 << 20)
    assert len(URN(corpus, 3).layout.blocks) == 3
    assert bytes_after(URN, corpus, 3) == expected
    monkeypatch.setattr(layout, "MOST_DOCUMENTS", 1 << 20)  # one block, whose places wrap
    steps = URN(corpus, 3)
    assert len(np.unique(steps.layout.place)) < corpus.n_documents


@pytest.mark.parametrize("most", [1, 2, 7])
def test_runs_of_any_length_give_the_same_bytes(most, monkeypatch):
    corpus = datasets.generate(40, 60, 4, 25.0)
    expected = bytes_after(URN, corpus, 5)
    ordinary = URN(corpus, 5).layout
    monkeypatch.setattr(layout, "LARGEST_STEP", most)
    shorter = URN(corpus, 5).layout
    assert shorter.length[: shorter.last_run[0]].max() <= most
    assert shorter.last_run[0] > ordinary.last_run[0]
    assert bytes_after(URN, corpus, 5) == expected


# Tables that are hashed, lists that are sorted, space that is too small


def full_tables(word_tokens, K):
    """Give every word a table with a place for each topic."""
    size = np.full(len(word_tokens), K)
    return np.concatenate(([0], np.cumsum(size))), size


def light_bytes(made, corpus, K, **options):
    return bytes_after(made, corpus, K, sweeps=4, alpha=0.5, beta=0.5, **options)


@pytest.mark.parametrize("mh_steps", [2, 4])
def test_hashed_tables_hold_what_full_ones_hold(mh_steps, monkeypatch):
    corpus, K, made = of_documents([3, 9, 1, 12] * 10, 40), 64, load_steps("light")
    _, size = light._tables(np.bincount(corpus.word), K)
    assert (size < K).sum() > 20
    hashed = light_bytes(made, corpus, K, mh_steps=mh_steps)
    monkeypatch.setattr(light, "_tables", full_tables)
    assert light_bytes(made, corpus, K, mh_steps=mh_steps) == hashed


def test_a_key_that_is_never_entered_is_seen():
    corpus, K, made = of_documents([3, 9, 1, 12] * 10, 40), 64, load_steps("light")
    broken = plant("light", ("            table_topic[slot] = k\n", ""))
    right = light_bytes(made, corpus, K)
    assert light_bytes(with_steps(made, z_step=broken.draw_z), corpus, K) != right


def test_many_balls_of_the_prior_are_sorted():
    """More topics than are inserted one by one, and still fewer than an eighth of all."""
    corpus, K = of_documents([2, 3], 4), 900
    steps = URN(corpus, K)
    layout, priors = steps.layout, make_priors(0.1, 0.05, K, 4)
    given = (layout, steps.count(steps.start(0)), priors)
    balls = phi_urn.draw_ball_counts(layout, priors, 0, 0, Workers(1))
    assert balls.min() > phi_urn.MOST_INSERTED
    assert balls.max() + 5 < K / 8
    first, last, topic, mass, sums = phi_urn.draw_columns(*given, balls, 0, 0, Workers(1))
    for v in range(4):
        column = slice(first[v], last[v])
        assert (np.diff(topic[column].astype(int)) > 0).all()
        assert mass[column].sum() >= balls[v]
        sums[topic[column]] -= mass[column]
    assert not sums.any()


def test_columns_that_find_too_little_space_are_drawn_again_to_the_same_bytes(monkeypatch):
    corpus = datasets.generate(30, 400, 4, 40.0)
    expected = bytes_after(URN, corpus, 50, beta=0.02)
    tries = []
    cells = phi_urn._cells

    def counted(*arguments):
        tries.append(arguments[-1])
        return cells(*arguments)

    monkeypatch.setattr(phi_urn, "_cells", counted)
    monkeypatch.setattr(phi_urn, "SPARE", -1.0)
    assert bytes_after(URN, corpus, 50, beta=0.02) == expected
    assert tries == [-1.0, phi_urn.REDRAW] * 2


# Pieces in which tokens are looked at


@pytest.mark.parametrize("sampler", ["polya-urn", "collapsed", "light"])
@pytest.mark.parametrize("piece", [1, 7, 100])
def test_tokens_are_counted_and_begun_in_pieces(sampler, piece, monkeypatch):
    corpus, made = datasets.generate(40, 60, 4, 25.0), load_steps(sampler)
    expected = bytes_after(made, corpus, 5)
    monkeypatch.setattr("polyaurn.backends.cpu.counts._PIECE", piece)
    monkeypatch.setattr("polyaurn.backends.cpu.start._PIECE", piece)
    assert bytes_after(made, corpus, 5) == expected


@pytest.mark.parametrize("piece", [1, 6, 40])
def test_topics_of_documents_are_counted_in_pieces(piece, monkeypatch):
    lengths = [0, 3, 0, 9, 1, 6, 6, 0]
    ptr = np.concatenate(([0], np.cumsum(lengths)))
    z = np.random.default_rng(0).integers(0, 4, ptr[-1]).astype(np.uint16)
    expected = [np.bincount(z[a:b], minlength=4).tolist() for a, b in pairwise(ptr)]
    monkeypatch.setattr("polyaurn.chain.state._PIECE", piece)
    assert doc_topic_matrix(ptr, z, 4).toarray().tolist() == expected
