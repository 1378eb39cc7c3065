"""Annealed starts: how beta falls, where that ends, runs made longer; and the sampler of "auto"."""

from dataclasses import replace

import numpy as np
import pytest

from polyaurn import LDA, sweeps
from polyaurn.chain.priors import make_priors
from polyaurn.chain.samplers import LEARNS_ELSEWHERE, SAMPLERS, choose_sampler, unbiased_on
from polyaurn.chain.schedule import AUTO_OF_0_1, HOTTEST, Plan, make_schedule
from polyaurn.chain.state import halt_of
from polyaurn.training.checkpoints import of_this_version

SIZES = {"n_tokens": 400_000, "n_words": 5000, "n_topics": 100, "sampler": "partitioned"}


def schedule(max_iter, warm_start="auto", **options):
    return make_schedule(warm_start, "auto", max_iter=max_iter, **SIZES | options)


def heats(made, n):
    return np.array([made.plan(t).heat for t in range(n)])


@pytest.mark.parametrize(
    ("max_iter", "annealed"),
    [(100, 75), (399, 299), (400, 300), (10_000, 300), (10, 7), (2, 1), (1, 0), (None, 100)],
)
def test_three_quarters_of_the_sweeps_are_annealed_and_at_most_300(max_iter, annealed):
    made = schedule(max_iter)
    phases = [made.plan(t).phase for t in range(annealed + 3)]
    assert phases == ["anneal"] * annealed + ["full"] * 3


def test_beta_begins_at_a_quarter_of_the_mean_count_and_falls_by_the_same_factor():
    found = heats(schedule(100), 77)
    assert np.isclose(found[0] * 0.01, 0.25 * 400_000 / (5000 * 100))
    assert np.allclose(found[1:76] / found[:75], found[0] ** (-1 / 75))
    assert list(found[75:]) == [1.0, 1.0]


def test_beta_is_raised_a_hundred_times_at_most_and_never_lowered():
    assert heats(schedule(100, n_tokens=100_000_000), 1)[0] == HOTTEST
    assert schedule(100, beta=0.2).annealed == 0  # a quarter of the mean count is 0.2
    assert schedule(100, beta=0.19).annealed == 75
    assert {schedule(100, beta=5.0).plan(t).phase for t in (0, 50, 99)} == {"full"}
    assert {schedule(100, "anneal", beta=5.0).plan(t).heat for t in (0, 50, 99)} == {1.0}


@pytest.mark.parametrize("warm_start", ["random", "grow", "smooth", AUTO_OF_0_1])
def test_other_starts_do_not_anneal(warm_start):
    assert schedule(100, warm_start, sampler="polya-urn").annealed == 0


def test_auto_anneals_where_it_does_not_grow():
    large = {"n_tokens": 100_000_000, "n_topics": 1000}
    assert schedule(1000, sampler="polya-urn", **large)[2:4] == (0, 0)
    assert schedule(1000, sampler="polya-urn", **large).shares
    assert schedule(1000, **large).annealed == 300  # this sampler cannot grow
    assert schedule(1000, False).annealed == 300


def test_annealing_raises_beta_only():
    priors = make_priors([0.05, 0.2], [0.01, 0.5, 2.0], 2, 3)
    raised = Plan(heat=10.0).raised(priors)
    assert np.allclose(raised.beta, [0.1, 5.0, 20.0])
    assert raised.alpha is priors.alpha
    assert not raised.beta.flags.writeable
    assert Plan(heat=1.0).raised(priors) is priors


def test_a_chain_is_annealed_then_draws_under_the_priors_asked_for(small):
    options = {"max_iter": 20, "learn_priors_every": 0}
    states, infos = zip(*sweeps(small, 3, **options), strict=True)
    assert [info.phase for info in infos] == ["anneal"] * 15 + ["full"] * 5
    assert [state.smooth for state in states] == [True] * 15 + [False] * 5
    assert {float(state.priors.beta[0]) for state in states} == {0.01}
    plain = sweeps(small, 3, warm_start="random", start=states[14], **options)
    assert [s for s, _ in plain][-1].z.tobytes() == states[-1].z.tobytes()


def betas_drawn_under(corpus, **options):
    """Return the mean beta that each sweep drew topics under, and the last one learned."""
    drawn, raised = [], Plan.raised

    def watched(plan, given):
        found = raised(plan, given)
        drawn.append(float(found.beta.mean()))
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Plan, "raised", watched)
        given = {"max_iter": 80, "learn_priors_every": 5} | options
        *_, (last, _) = sweeps(corpus, 4, **given)
    return drawn[-80:], float(last.priors.beta.mean())


def test_annealing_ends_with_the_beta_that_is_learned(small):
    drawn, learned = betas_drawn_under(small)
    target = 0.01 * heats(schedule(80, n_tokens=small.n_tokens, n_words=80, n_topics=4), 80)
    above = np.flatnonzero(np.array(drawn) > target * 1.001)
    end = int(above[0])  # the first sweep under a learned beta, no longer under a raised one
    assert 5 <= end < 60
    assert np.allclose(drawn[:end], target[:end])
    assert list(above) == list(range(end, 80))
    assert min(drawn) > 0.5 * learned


def test_without_that_topics_would_be_drawn_under_a_smaller_beta(small, monkeypatch):
    monkeypatch.setattr(Plan, "heat_of", lambda plan, given: plan.heat)
    drawn, learned = betas_drawn_under(small)
    assert min(drawn) < 0.5 * learned


def test_a_learned_beta_is_raised_as_far_as_annealing_has_come():
    def given(beta):
        return make_priors(0.1, beta, 2, 3)

    plan = Plan(heat=10.0, beta=0.02)
    found = [plan.heat_of(given(beta)) for beta in (0.02, 0.1, 0.2, 0.5)]
    assert found == [10.0, pytest.approx(2.0), 1.0, 1.0]
    assert np.allclose(plan.raised(given(0.1)).beta, 0.2)
    learned = given(0.5)
    assert plan.raised(learned) is learned
    assert Plan(heat=0.5, beta=0.02).heat_of(given(0.5)) == 0.5  # of clusters, which begin cold


def test_a_longer_run_never_anneals_after_a_full_sweep(small, tmp_path):
    options = {"random_state": 7, "verbose": False}
    first = LDA(4, max_iter=100, **options).fit(small)
    first.save(tmp_path / "m")
    more = LDA(4, max_iter=400, checkpoint=tmp_path / "m", resume=True, **options).fit(small)
    assert [r["phase"] for r in more.trace_] == ["anneal"] * 75 + ["full"] * 325


def test_a_chain_stopped_while_annealed_is_annealed_further(small):
    states = [state for state, _ in sweeps(small, 3, max_iter=20)]
    longer = [i.phase for _, i in sweeps(small, 3, max_iter=40, start=halt_of(states[9]))]
    assert longer == ["anneal"] * 20 + ["full"] * 10
    done = [i.phase for _, i in sweeps(small, 3, max_iter=40, start=halt_of(states[15]))]
    assert done == ["full"] * 24


FEW = {"n_tokens": 400_000, "n_documents": 3000, "n_topics": 100}


def test_auto_takes_the_partitioned_sampler_where_work_and_rows_are_few():
    assert choose_sampler("auto", **FEW) == "partitioned"
    assert choose_sampler("auto", **FEW | {"n_tokens": 50_000_000}) == "partitioned"
    assert choose_sampler("auto", **FEW | {"n_tokens": 50_000_001}) == "polya-urn"
    assert choose_sampler("auto", **FEW | {"n_documents": 20_000_000}) == "partitioned"
    assert choose_sampler("auto", **FEW | {"n_documents": 20_000_001}) == "polya-urn"


@pytest.mark.parametrize(
    "more",
    [
        {"n_tokens": 50_000_001},
        {"n_documents": 20_000_001},
        {"warm_start": "grow"},
        {"phi_refreshes": 2},
    ],
)
def test_auto_takes_a_sampler_that_does_not_bias_priors_where_they_are_learned(more):
    assert choose_sampler("auto", learns=True, **FEW) == "partitioned"
    assert choose_sampler("auto", learns=True, **FEW | more) == "sparse-dirichlet"
    assert choose_sampler("auto", learns=True, backend="gpu", **FEW | more) == LEARNS_ELSEWHERE


@pytest.mark.parametrize("learns", [False, True])
@pytest.mark.parametrize(
    "more",
    [{"n_tokens": 10**8}, {"n_documents": 20_000_001}, {"warm_start": "grow"},
     {"phi_refreshes": 2}, {"on_shards": True}, {"backend": "gpu"}],
)  # fmt: skip
def test_auto_never_takes_the_urn_to_draw_the_weights_of_topics(more, learns):
    assert choose_sampler("auto", hdp=True, learns=learns, **FEW) == "partitioned"
    given = FEW | {"n_topics": 1000} | more
    assert choose_sampler("auto", hdp=True, learns=learns, **given) == "sparse-dirichlet"
    assert choose_sampler("polya-urn", hdp=True, learns=learns, **given) == "polya-urn"


def test_urns_are_the_samplers_that_draw_phi_and_only_tend_to_the_posterior():
    for name, facts in SAMPLERS.items():
        assert facts.is_urn == (facts.draws_phi and facts.law == "asymptotic"), name
    assert unbiased_on("cpu") == "partitioned"
    assert unbiased_on("gpu") == "sparse-dirichlet"


def test_auto_takes_the_urn_for_what_only_it_can_do():
    assert choose_sampler("auto", backend="gpu", **FEW) == "polya-urn"
    assert choose_sampler("auto", warm_start="grow", **FEW) == "polya-urn"
    assert choose_sampler("auto", phi_refreshes=2, **FEW) == "polya-urn"
    assert choose_sampler("auto", phi_refreshes=1, warm_start="anneal", **FEW) == "partitioned"


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_sampler_that_is_named_is_taken(sampler):
    assert choose_sampler(sampler, backend="gpu", **FEW | {"n_tokens": 10**12}) == sampler


def test_runs_of_version_0_1_keep_their_start_and_one_draw():
    old = {"warm_start": "auto", "sampler": "polya-urn"}
    assert of_this_version(old) == old | {"warm_start": AUTO_OF_0_1, "average_draws": 1}
    assert of_this_version({"warm_start": False})["warm_start"] == AUTO_OF_0_1
    assert of_this_version({"warm_start": "grow"})["warm_start"] == "grow"
    new = {"warm_start": "auto", "average_draws": "auto"}
    assert of_this_version(new) is new


def test_a_finished_run_of_version_0_1_is_continued_as_it_began(small, tmp_path):
    plain = {"sampler": "polya-urn", "warm_start": "smooth", "average_draws": 1}
    plain["learn_priors_every"] = 0
    first = LDA(4, max_iter=30, random_state=7, verbose=False, **plain).fit(small)
    run = first.model_.parameters["run"] | {"warm_start": "auto"}
    del run["average_draws"]  # a version that knew neither
    old = replace(first.model_, parameters=first.model_.parameters | {"run": run})
    old.save(tmp_path / "m")
    options = {"random_state": 7, "verbose": False, "checkpoint": tmp_path / "m", "resume": True}
    same = LDA(4, max_iter=30, **options).fit(small)
    assert same.assignments_.tobytes() == first.assignments_.tobytes()
    more = LDA(4, max_iter=40, **options).fit(small)
    assert more.model_.parameters["sampler"] == "polya-urn"
    assert more.model_.averaged_draws == 1
    assert more.model_.parameters["learn_priors_every"] == 0
    assert [r["phase"] for r in more.trace_] == ["smooth"] * 10 + ["full"] * 30


def test_a_finished_run_keeps_the_sampler_that_auto_took(small, tmp_path, monkeypatch):
    options = {"random_state": 7, "verbose": False}
    LDA(4, max_iter=30, **options).fit(small).save(tmp_path / "m")
    monkeypatch.setattr("polyaurn.chain.samplers.SMALL_WORK", 0)
    options |= {"checkpoint": tmp_path / "m", "resume": True}
    more = LDA(4, max_iter=40, **options).fit(small)
    assert more.model_.parameters["sampler"] == "partitioned"
