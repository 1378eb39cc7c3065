"""The rivals of the urn: their proposals, their counts, what threads do to them."""

import numpy as np
import pytest

from polyaurn import LDA, Corpus, InputError, datasets, sweeps
from polyaurn.backends.cpu import light, proposals
from polyaurn.backends.registry import load_steps
from polyaurn.base.rng import Purpose, bits, key, unit
from polyaurn.chain import loop as sampler
from polyaurn.chain.priors import make_priors
from polyaurn.chain.samplers import SAMPLERS, THREAD_FREE
from polyaurn.chain.schedule import Plan
from polyaurn.chain.state import check_invariants
from support.chains import begin
from support.p_values import UNLIKELY, chi_square_p

RIVALS = [name for name in SAMPLERS if name not in ("polya-urn", "partially-collapsed")]
APPROXIMATE = [name for name in SAMPLERS if name not in THREAD_FREE]


def alias_shares(cut, other):
    """Return the probability of each place under an alias table."""
    shares = cut / len(cut)
    np.add.at(shares, other, (1 - cut) / len(cut))
    return shares


@pytest.mark.plain
@pytest.mark.parametrize(
    "weight", [[1.0], [2.0, 2.0], [0.1, 5.0, 0.4, 0.4], [1e-9, 1.0, 1e-9], list(range(1, 40))]
)
def test_alias_tables_hold_their_weights(weight):
    weight = np.array(weight, float)
    cut, other = np.empty(len(weight)), np.empty(len(weight), np.uint16)
    todo = np.empty(len(weight), np.int64)
    proposals.fill_alias(weight, weight.sum(), cut, other, todo)
    assert np.allclose(alias_shares(cut, other), weight / weight.sum(), atol=1e-12)
    drawn = [proposals.from_alias(u, cut, other) for u in (np.arange(2000) + 0.5) / 2000]
    found = np.bincount(drawn, minlength=len(weight)) / 2000
    assert np.allclose(found, weight / weight.sum(), atol=2 / 2000 * len(weight))


def test_an_alias_table_with_a_cut_moved_is_seen():
    weight = np.array([0.1, 5.0, 0.4])
    cut, other = np.empty(3), np.empty(3, np.uint16)
    proposals.fill_alias(weight, weight.sum(), cut, other, np.empty(3, np.int64))
    cut[0] += 0.01
    assert not np.allclose(alias_shares(cut, other), weight / weight.sum(), atol=1e-4)


def propose(i, n=30_000):
    """Propose for token i of a document of five, which has the topics 0, 2, 2, 1, 2."""
    z = np.array([9, 9, 0, 2, 2, 1, 2, 9], np.uint16)
    alpha_sums = np.cumsum([0.5, 0.2, 0.3, 1.0])
    draws = unit(bits(key(3, 0, Purpose.Z), np.arange(n)))
    return np.bincount(
        [proposals.from_document(u, i, 2, 7, z, alpha_sums) for u in draws], minlength=4
    )


def test_a_document_proposes_its_other_tokens_and_the_prior():
    without = {2: [0, 1, 3, 0], 4: [1, 1, 2, 0], 6: [1, 1, 2, 0]}
    for i, m in without.items():
        p = np.add(m, [0.5, 0.2, 0.3, 1.0]) / 6.0
        assert chi_square_p(propose(i), p) > UNLIKELY
    kept = np.array([1.5, 1.2, 3.3, 1.0]) / 7.0  # the token at hand not left out
    assert chi_square_p(propose(2), kept) < UNLIKELY**2


@pytest.mark.plain
@pytest.mark.parametrize("name", RIVALS)
@pytest.mark.parametrize(
    ("counts", "K"),
    [
        ([[2, 0, 1], [0, 3, 1], [1, 1, 0], [0, 0, 0], [4, 0, 2]], 3),
        ([[1, 1, 1, 1]] * 6, 40),  # more topics than a word's tokens: columns full, tables hashed
        ([[6]], 2),
        ([[1, 0], [0, 1]], 1),
    ],
)
def test_counts_stay_those_of_the_topics(name, counts, K, monkeypatch):
    monkeypatch.setattr(sampler, "CHECK", True)
    corpus = Corpus.from_matrix(counts)
    for threads in (1, 3):
        for state, info in sweeps(corpus, K, sampler=name, n_jobs=threads, max_iter=12):
            assert state.z.max() < K
            assert info.work_per_token >= 1
    assert state.sweep == 12


@pytest.mark.parametrize("name", RIVALS)
def test_a_state_is_left_as_it_is(name, small):
    steps = load_steps(name)(small, 6)
    before = begin(steps, make_priors(0.1, 0.01, 6, small.n_words))
    bytes_before = [part.tobytes() for part in (before.z, *before.counts)]
    after, _ = sampler.sweep(before, steps, sampler.PLAIN, 0)
    assert [part.tobytes() for part in (before.z, *before.counts)] == bytes_before
    assert after.z.tobytes() != before.z.tobytes()
    check_invariants(small.word, small.n_words, 6, after)


@pytest.mark.parametrize("name", APPROXIMATE)
def test_threads_change_an_approximate_sampler_but_repeating_does_not(name, medium):
    seen = {}
    for n_jobs in (1, 2, 3, 2):
        *_, (state, info) = sweeps(medium, 6, sampler=name, n_jobs=n_jobs, max_iter=5)
        assert seen.setdefault(n_jobs, state.z.tobytes()) == state.z.tobytes()
        assert info.law == ("exact" if n_jobs == 1 else "approximate")
    assert len(set(seen.values())) == 3


def test_the_textbook_sampler_runs_on_one_thread_and_is_exact_on_any_number(small):
    chains = [
        list(sweeps(small, 4, sampler="collapsed-dense", n_jobs=n, max_iter=3)) for n in (1, 4)
    ]
    assert chains[0][-1][0].z.tobytes() == chains[1][-1][0].z.tobytes()
    assert chains[1][-1][1].law == "exact"


def test_the_trace_has_acceptance_where_there_are_proposals(small):
    for name, entry in SAMPLERS.items():
        lda = LDA(4, sampler=name, max_iter=4, verbose=False).fit(small)
        rates = [record["acceptance"] for record in lda.trace_]
        assert {record["law"] for record in lda.trace_} == {entry.law_of(2)}
        if entry.proposes:
            assert all(0.0 < rate < 1.0 for rate in rates)
        else:
            assert rates == [None] * 4


def test_more_steps_do_more_work_and_give_another_chain(small):
    for name in ("light", "polya-urn-mh"):
        chains = {
            steps: list(sweeps(small, 4, sampler=name, mh_steps=steps, max_iter=2))
            for steps in (1, 2, 5)
        }
        assert [chains[s][0][1].work_per_token for s in (1, 2, 5)] == [2.0, 4.0, 10.0]
        assert len({c[-1][0].z.tobytes() for c in chains.values()}) == 3
        default = list(sweeps(small, 4, sampler=name, max_iter=2))
        assert default[-1][0].z.tobytes() == chains[2][-1][0].z.tobytes()


def test_proposals_grow_and_refresh_as_the_urn_does(monkeypatch):
    from polyaurn.backends.cpu import layout as layouts
    from polyaurn.base.threads import Workers

    monkeypatch.setattr(layouts, "LEAST_SHARED", 0)
    monkeypatch.setattr(layouts, "LEAST_BLOCK", 200)
    corpus = datasets.generate(60, 40, 4, 15.0)
    priors = make_priors(0.1, 0.01, 5, corpus.n_words)
    ends = set()
    for threads in (1, 3):
        with Workers(threads) as workers:
            steps = load_steps("polya-urn-mh")(corpus, 5, workers)
            state = begin(steps, priors, 0, 8)
            for plan in (Plan(8), Plan(32), Plan(64, 3), Plan(64, 3), Plan(64, 2)):
                state, _ = sampler.sweep(state, steps, plan, 0)
                check_invariants(corpus.word, corpus.n_words, 5, state)
        ends.add(state.z.tobytes())
    assert len(ends) == 1


def test_tables_of_counts_have_room_for_every_topic_a_sweep_may_bring():
    tokens = np.array([0, 1, 2, 3, 30, 1000])
    where, size = light._tables(tokens, 64)
    assert size.tolist() == [1, 4, 8, 8, 64, 64]
    assert where.tolist() == np.concatenate(([0], np.cumsum(size))).tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sampler": "collapsed", "mh_steps": 2},
         "'mh_steps' parameter must be left out for sampler 'collapsed', which proposes nothing. "
         "Got 2; samplers that take it are 'polya-urn-mh', 'light'"),
        ({"sampler": "light", "mh_steps": 0}, "'mh_steps' parameter must be a whole number from 1"),
        ({"sampler": "light", "mh_steps": True}, "Got True"),
        ({"sampler": "light", "mh_steps": 1.5}, "Got 1.5"),
        ({"sampler": "collapsed", "phi_refreshes": 2},
         "'phi_refreshes' parameter must be left as it is for sampler 'collapsed'"),
        ({"sampler": "light", "warm_start": "grow"},
         "'warm_start' parameter must be left as it is for sampler 'light', which draws no Phi"),
    ],
)  # fmt: skip
def test_bad_combinations_are_one_sentence(small, options, message):
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        sweeps(small, 3, **options)


@pytest.mark.parametrize("name", RIVALS)
def test_vector_priors_are_taken_by_all(name, small):
    alpha = np.linspace(0.05, 0.5, 4)
    beta = np.linspace(0.01, 0.2, small.n_words)
    *_, (_, info) = sweeps(
        small, 4, sampler=name, doc_topic_prior=alpha, topic_word_prior=beta, max_iter=3
    )
    assert np.isfinite(info.log_posterior)
