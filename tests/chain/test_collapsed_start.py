"""Chains that collapsed sampling begins, and a sampler that draws Phi continues."""

import numpy as np
import pytest

from polyaurn import LDA, InputError, sweeps
from polyaurn.backends.registry import load_steps
from polyaurn.chain.loop import PLAIN, sweep
from polyaurn.chain.samplers import SAMPLERS, SMALL_WORK
from polyaurn.chain.schedule import make_schedule, note_of_unfinished_start
from polyaurn.training import memory
from polyaurn.training.memory import check_memory
from polyaurn.training.run import make_run

EXACT = "sparse-dirichlet"
K, SEED = 4, 3


def schedule(max_iter, warm_start="auto", sampler=EXACT, n_tokens=10**6, n_topics=100, **more):
    return make_schedule(
        warm_start, 1, n_tokens=n_tokens, n_words=10_000, n_topics=n_topics, max_iter=max_iter,
        sampler=sampler, **more,
    )  # fmt: skip


def test_three_quarters_of_the_sweeps_are_collapsed_and_annealed():
    made = schedule(100, "collapsed", "polya-urn")
    assert [made.plan(t).phase for t in range(100)] == ["collapsed"] * 75 + ["full"] * 25
    assert made.plan(0).heat == 25.0
    assert made.plan(75).heat == 1.0
    assert not made.continued(75, smooth=False).plan(10).collapsed
    assert made.continued(40, smooth=True).plan(74).collapsed


def test_auto_begins_the_sparse_exact_sampler_so_and_no_other():
    assert schedule(100).collapsed == 75
    assert schedule(100, n_tokens=int(SMALL_WORK / 100) + 1).collapsed == 0
    for sampler in set(SAMPLERS) - {EXACT}:
        assert schedule(100, sampler=sampler).collapsed == 0


def states(corpus, n, **options):
    given = {"random_state": SEED, "learn_priors_every": 0, "n_jobs": 1} | options
    return [state for state, _ in sweeps(corpus, K, max_iter=n, **given)]


def test_the_sampler_continues_where_collapsed_sampling_ends(small):
    found = states(small, 20, sampler=EXACT, warm_start="collapsed", phi_refreshes=1)
    first = states(small, 20, sampler="partitioned", warm_start="anneal")
    for a, b in zip(found[:15], first[:15], strict=True):
        np.testing.assert_array_equal(a.z, b.z)
        assert a.smooth
    after, _ = sweep(found[14], load_steps(EXACT)(small, K), PLAIN, SEED)
    np.testing.assert_array_equal(found[15].z, after.z)
    assert (found[15].z != first[15].z).any()
    assert not found[15].smooth


def test_threads_change_nothing(medium):
    one, three = (
        states(medium, 8, sampler=EXACT, warm_start="collapsed", learn_priors_every=2, n_jobs=n)
        for n in (1, 3)
    )
    np.testing.assert_array_equal(one[-1].z, three[-1].z)
    np.testing.assert_array_equal(one[-1].priors.alpha, three[-1].priors.alpha)


@pytest.mark.parametrize("stop", [5, 17])
def test_a_run_stopped_inside_or_after_the_start_resumes_to_the_same_bytes(small, tmp_path, stop):
    def train(n, folder):
        return LDA(
            K, sampler=EXACT, warm_start="collapsed", max_iter=20, checkpoint=tmp_path / folder,
            checkpoint_every=1, verbose=False, resume=True,
            callbacks=lambda state, info: info.sweep >= n,
        ).fit(small)  # fmt: skip

    whole = train(20, "whole")
    assert [r["phase"] for r in whole.trace_] == ["collapsed"] * 15 + ["full"] * 5
    if stop <= 15:
        with pytest.warns(UserWarning, match="collapsed start"):
            train(stop, "stopped")
    else:
        train(stop, "stopped")
    resumed = train(20, "stopped")
    assert resumed.n_iter_ == 20
    np.testing.assert_array_equal(resumed.assignments_, whole.assignments_)
    assert (resumed.topic_word_counts_ != whole.topic_word_counts_).nnz == 0


def test_what_a_chain_that_ended_in_its_start_has():
    said = note_of_unfinished_start({"phase": "collapsed", "sweep": 7})
    assert "after sweep 7 (collapsed): topics were drawn by its collapsed start" in said


def test_samplers_without_phi_do_not_begin_so(small):
    with pytest.raises(InputError, match=r"'warm_start' parameter must be left as it is"):
        next(iter(sweeps(small, K, sampler="partitioned", warm_start="collapsed")))


def test_memory_of_the_start_is_foreseen(small, monkeypatch):
    given = {"max_iter": 10, "warm_start": "collapsed", "sampler": EXACT}
    run = make_run(LDA(K, **given), small)
    least = memory.least_bytes(small.n_tokens, small.n_words, K, EXACT)
    monkeypatch.setattr(memory, "free_bytes", lambda: least)
    with pytest.raises(InputError, match="begin with warm_start='anneal'"):
        check_memory(run)
    check_memory(make_run(LDA(K, **given | {"warm_start": "anneal"}), small))
