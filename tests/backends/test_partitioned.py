"""The partitioned sampler: its partition, its bytes on any number of threads, its edge cases."""

import numpy as np
import pytest

from polyaurn import LDA, Corpus, datasets, sweeps
from polyaurn.backends.cpu import partition
from polyaurn.backends.cpu.partition import Partition, count_groups, make_partition
from polyaurn.backends.registry import load_steps
from polyaurn.base.threads import Workers
from polyaurn.chain.hdp import HDP, first_top
from polyaurn.chain.loop import PLAIN, sweep
from polyaurn.chain.priors import make_priors
from polyaurn.chain.state import Halt, check_invariants, halt_of
from support.chains import ONE, begin

SAMPLER = "partitioned"


@pytest.fixture(params=[4, 8])
def groups(request, monkeypatch):
    """Small corpora have several groups, and these several blocks."""
    monkeypatch.setattr(partition, "GROUPS", ((0, request.param),))
    monkeypatch.setattr(partition, "BLOCK_BYTES", 64)
    return request.param


def states(corpus, K, n=4, workers=ONE, priors=None, start=None, made=None, **options):
    """Return the states of a chain, each checked against a recount."""
    steps = (made or load_steps(SAMPLER))(corpus, K, workers, **options)
    state = start or begin(steps, priors or make_priors(0.1, 0.01, K, corpus.n_words))
    found = []
    for _ in range(n):
        state, _ = sweep(state, steps, PLAIN, 3)
        check_invariants(corpus.word, corpus.n_words, K, state)
        found.append(state)
    return found


def bytes_of(found):
    return [state.z.tobytes() for state in found]


def cut(corpus, K=6) -> Partition:
    tokens = np.bincount(corpus.word, minlength=corpus.n_words)
    return make_partition(corpus, tokens, K, ONE)


def visits(made: Partition, step: int):
    """Return the documents and words of every visit of a step, a pair for each token."""
    found: list[list] = [[] for _ in range(made.n_groups)]
    for block in made.blocks:
        words = (block.group + step) % made.n_groups
        lo, hi = block.first_run[words], block.first_run[words + 1]
        begins = np.concatenate(([0], block.end))
        for r in range(lo, hi):
            places = block.place[begins[r] : begins[r + 1]]
            found[block.group] += [(int(block.documents[p]), int(block.word[r])) for p in places]
    return found


def shared(made: Partition) -> int:
    """Return how many documents or words two visits of one step have in common."""
    common = 0
    for step in range(made.n_groups):
        for at in (0, 1):
            sets = [{pair[at] for pair in visit} for visit in visits(made, step)]
            common += sum(map(len, sets)) - len(set().union(*sets))
    return common


def tokens_of(corpus):
    documents = np.repeat(np.arange(corpus.n_documents), np.diff(corpus.doc_ptr))
    return sorted(zip(documents.tolist(), corpus.word.tolist(), strict=True))


@pytest.mark.parametrize("name", ["small", "odd"])
def test_a_sweep_visits_every_token_once_and_no_two_visits_share_anything(name, groups, request):
    corpus = request.getfixturevalue(name)
    made = cut(corpus)
    assert made.n_groups == min(groups, corpus.n_documents)
    assert len(made.blocks) > made.n_groups or name == "odd"
    every = [visits(made, step) for step in range(made.n_groups)]
    assert sorted(pair for step in every for visit in step for pair in visit) == tokens_of(corpus)
    sizes = [[len(every[step][g]) for step in range(made.n_groups)] for g in range(made.n_groups)]
    turned = [np.roll(row, g) for g, row in enumerate(sizes)]
    assert np.array_equal(made.tokens, turned)
    assert shared(made) == 0
    numbers = [block.begin + np.arange(len(block.place)) for block in made.blocks]
    assert np.array_equal(np.concatenate(numbers), np.arange(corpus.n_tokens))


def test_groups_that_share_words_are_seen(small, groups):
    """The counterpart with a fault: the ranges of words of one block begin a run too early."""
    made = cut(small)
    first = made.blocks[0]
    early = first._replace(first_run=np.maximum(first.first_run - 1, 0))
    assert shared(made._replace(blocks=[early, *made.blocks[1:]])) > 0


def test_groups_follow_the_number_of_tokens():
    edges = {0: 1, (1 << 14) - 1: 1, 1 << 14: 4, (1 << 17) - 1: 4, 1 << 17: 8, (1 << 23) - 1: 8}
    edges |= {1 << 23: 16, 1 << 26: 32, 1 << 40: 32}
    assert {n: count_groups(n) for n in edges} == edges


@pytest.mark.parametrize("K", [3, 40])
def test_any_number_of_threads_gives_the_same_bytes(small, groups, K):
    expected = bytes_of(states(small, K))
    for threads in (2, 3, 8):
        with Workers(threads) as workers:
            assert bytes_of(states(small, K, workers=workers)) == expected


def test_a_corpus_large_enough_for_groups_has_the_same_bytes_on_two_threads(medium):
    assert count_groups(medium.n_tokens) == 4
    with Workers(2) as workers:
        assert bytes_of(states(medium, 70, 2, workers)) == bytes_of(states(medium, 70, 2))


@pytest.mark.parametrize("K", [1, 2, 5, 3000])
@pytest.mark.parametrize("name", ["small", "odd"])
def test_topics_are_in_range_and_counts_those_of_topics(name, K, groups, request):
    """One topic, and more topics than tokens; empty documents, and words that do not occur."""
    found = states(request.getfixturevalue(name), K, 3)
    assert K == 1 or len(np.unique(found[-1].z)) > 1


@pytest.mark.parametrize("beta", [1e-300, 1e-14, 1e-3, 1e3, 1e9])
@pytest.mark.parametrize("n_groups", [1, 4])
def test_any_beta(small, beta, n_groups, monkeypatch):
    """A tiny beta leaves a sum below 1; a chain under a huge one is close to the prior."""
    monkeypatch.setattr(partition, "GROUPS", ((0, n_groups),))
    priors = make_priors(0.1, beta, 5, small.n_words)
    found = states(small, 5, 30, priors=priors)
    nonzeros = len(found[-1].counts.topic)
    spread = len(states(small, 5, 30)[-1].counts.topic)
    assert nonzeros > 1.5 * spread if beta > 1 else nonzeros < 1.3 * spread


def of_hdp(corpus, K, **given):
    """Return the states of an HDP that begins with three topics."""
    alpha, top = first_top(0.5, 1.0, K, 3)
    priors = make_priors(1.0, 0.01, K, corpus.n_words)._replace(alpha=alpha, top=top)
    return states(corpus, K, 6, priors=priors, hdp=HDP(start_topics=3), **given)


def test_empty_topics_of_an_hdp_open_and_threads_agree(small, groups):
    expected = of_hdp(small, 300)
    assert np.setdiff1d(expected[-1].z, expected[0].z).size > 0
    assert any(state.z.max() > 100 for state in expected), "topics keep their numbers"
    for threads in (2, 8):
        with Workers(threads) as workers:
            assert bytes_of(of_hdp(small, 300, workers=workers)) == bytes_of(expected)


@pytest.mark.parametrize("n_groups", [1, 4])
def test_an_hdp_sums_over_few_more_topics_than_are_in_use(small, n_groups, monkeypatch):
    monkeypatch.setattr(partition, "GROUPS", ((0, n_groups),))
    steps = load_steps(SAMPLER)
    summed = []

    def visit(*given):
        work = steps.visit(*given)
        summed.append(int(given[12][0]))
        return work

    found = of_hdp(small, 3000, made=type("Seen", (steps,), {"visit": staticmethod(visit)}))
    most = max(len(np.unique(state.z)) for state in found)
    assert max(summed) < 3 * most + 100 < 1000


def test_vector_priors_are_heeded(small, groups):
    alpha = [1e-6, 1e-6, 5.0]
    priors = make_priors(alpha, np.linspace(0.01, 2.0, small.n_words), 3, small.n_words)
    sizes = np.bincount(states(small, 3, 30, priors=priors)[-1].z, minlength=3)
    assert sizes[2] > 0.9 * small.n_tokens


def test_pseudo_counts_draw_their_words_and_stay_out_of_the_counts(small, groups):
    pseudo = np.zeros((3, small.n_words), np.int64)
    pseudo[2, :10] = 5000
    pseudo[:2, 10:] = 5000
    priors = make_priors(0.1, 0.01, 3, small.n_words, pseudo=pseudo)
    found = states(small, 3, 10, priors=priors)
    last = found[-1]
    assert last.counts.number.sum() == small.n_tokens
    assert (last.z[small.word < 10] == 2).mean() > 0.9
    assert (last.z[small.word >= 10] != 2).mean() > 0.9
    with Workers(3) as workers:
        assert bytes_of(states(small, 3, 10, workers, priors)) == bytes_of(found)


@pytest.mark.parametrize("length", [65_535, 65_536, 70_000])
def test_rows_of_long_documents_hold_their_counts(length, groups):
    X = np.ones((9, 4), int)
    X[3] = [length - 9, 2, 3, 4]
    corpus = Corpus.from_matrix(X)
    made = load_steps(SAMPLER)(corpus, 2, ONE)
    assert made.row_type == (np.uint16 if length <= 65_535 else np.uint32)
    start = Halt(np.zeros(corpus.n_tokens, np.uint16), 1)  # all of it in one topic
    chain = sweeps(corpus, 2, sampler=SAMPLER, start=start, max_iter=3, warm_start="random")
    last = [state for state, _ in chain][-1]
    check_invariants(corpus.word, corpus.n_words, 2, last)
    assert (last.z == 0).mean() > 0.9


def test_an_empty_topic_does_not_draw_a_word_in_while_totals_wait(groups):
    """Weights over the totals of a step's beginning would grow with every token that joins."""
    corpus = Corpus.from_matrix(np.full((8, 5), 1000))
    sizes = {}
    for sampler in (SAMPLER, "collapsed"):
        start = Halt(np.zeros(corpus.n_tokens, np.uint16), 1)
        options = {"max_iter": 3, "warm_start": "random", "n_jobs": 1}
        chain = sweeps(corpus, 20, sampler=sampler, start=start, **options)
        sizes[sampler] = np.bincount([state for state, _ in chain][-1].z).max()
    assert min(sizes.values()) > 0.98 * corpus.n_tokens


def test_resuming_from_a_halt_gives_the_same_bytes(small, groups):
    options = {"sampler": SAMPLER, "max_iter": 12, "n_jobs": 2}
    whole = [state for state, _ in sweeps(small, 5, **options)]
    for t in (2, 9):
        again = [s for s, _ in sweeps(small, 5, start=halt_of(whole[t]), **options | {"n_jobs": 1})]
        assert bytes_of(again) == bytes_of(whole[t + 1 :])


def test_an_estimator_learns_priors_with_it(small, groups):
    options = {"sampler": SAMPLER, "max_iter": 20, "learn_priors_every": 2, "verbose": False}
    one, two = (LDA(4, n_jobs=n, **options).fit(small) for n in (1, 2))
    assert one.assignments_.tobytes() == two.assignments_.tobytes()
    assert len(set(one.model_.priors.alpha)) == 4


def test_no_documents_for_some_groups(groups):
    corpus = datasets.generate(2, 20, 2, 30.0)
    assert cut(corpus).n_groups == 2
    states(corpus, 3)
