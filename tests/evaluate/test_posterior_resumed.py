"""Posterior chains that are interrupted and resumed: the same bytes in every result."""

import numpy as np
import pytest

import polyaurn
from polyaurn import LDA, InputError
from polyaurn.base.rng import chain_seed
from polyaurn.evaluate.posterior import chains
from polyaurn.evaluate.posterior.choice import make_choice
from polyaurn.files.names import CHECKPOINTS, checkpoint_headers

BURN_IN, DRAWS, THIN, CHAINS = 12, 4, 3, 3
TOTAL = BURN_IN + DRAWS * THIN
SETTINGS = {
    "plain": {},
    "learning": {"learn_priors_every": 2},
    "learning seldom": {"learn_priors_every": 5},
    "exact": {"sampler": "partially-collapsed"},
    "seeded": {"seed_words": {1: ["w3", "w4"]}},
}


@pytest.fixture(scope="module")
def corpus():
    return polyaurn.datasets.generate(n_documents=80, n_words=40, n_topics=3, random_state=5)


def lda(folder=None, **options):
    given = {"max_iter": BURN_IN, "random_state": 4, "evaluate_every": 3, "n_jobs": 1}
    return LDA(3, verbose=False, checkpoint=folder, **given | options)


def draw(estimator, corpus, **options):
    given = {"chains": CHAINS, "draws": DRAWS, "thin": THIN, "words": ["w1"], "documents": [0, 5]}
    return estimator.sample_posterior(corpus, **given | options)


class Interrupts:
    """Raises KeyboardInterrupt at the end of a sweep of a chain, as Ctrl-C would; counts sweeps."""

    def __init__(self, monkeypatch, chain=-1, sweep=0):
        self.at, self.swept = chain * TOTAL + sweep, []
        follow = chains._OneChain._follow

        def watched(one, sweeps):
            def interrupted():
                for state, info in sweeps:
                    self.swept.append((one._number, state.sweep))
                    yield state, info
                    if one._number * TOTAL + state.sweep == self.at:
                        raise KeyboardInterrupt

            return follow(one, interrupted())

        monkeypatch.setattr(chains._OneChain, "_follow", watched)


def summary(estimator, posterior):
    """All results, in bytes."""
    found = [posterior.match_quality, posterior.phi_mean(None), posterior.theta_mean(None)]
    for c in posterior.chains:
        found += [c.order, c.sweep, c.log_posterior, c.topic_sizes, c.phi, c.theta]
        found += [c.phi_mean(), c.theta_mean(posterior.lengths, sparse=True).toarray()]
        found += [
            part for total in (c.phi_sum, c.theta_sum) for part in (total.data, total.indices)
        ]
        found += [prior for p in c.priors for prior in p[:2]]
    model = estimator.model_
    trace = [{k: v for k, v in r.items() if "second" not in k} for r in model.trace]
    seeds = [c.seed for c in posterior.chains]
    return [a.tobytes() for a in found], seeds, model.assignments.tobytes(), trace


@pytest.fixture(scope="module")
def whole(corpus):
    found = {}
    for name, options in SETTINGS.items():
        estimator = lda(**options)
        found[name] = summary(estimator, draw(estimator, corpus))
    return found


MOMENTS = [(0, 7), (1, 1), (1, 7), (1, BURN_IN), (1, BURN_IN + 4), (1, TOTAL)]
CASES = [("plain", every, moment) for every in (1, 5, "1h") for moment in MOMENTS]
CASES += [(name, 5, moment) for name in list(SETTINGS)[1:] for moment in (MOMENTS[2], MOMENTS[4])]


@pytest.mark.parametrize(("setting", "every", "moment"), CASES)
def test_an_interrupted_chain_resumes_to_the_same_bytes(
    corpus, whole, tmp_path, monkeypatch, setting, every, moment
):
    chain, sweep = moment
    options = SETTINGS[setting] | {"checkpoint_every": every}
    with monkeypatch.context() as patch:
        Interrupts(patch, chain, sweep)
        with pytest.raises(KeyboardInterrupt):
            draw(lda(tmp_path, **options), corpus)
    with monkeypatch.context() as patch:
        after = Interrupts(patch)
        estimator = lda(tmp_path, **options, resume=True)
        again = draw(estimator, corpus)
    assert summary(estimator, again) == whole[setting]
    wanted = [(c, s) for c in range(CHAINS) for s in range(1, TOTAL + 1)]
    assert after.swept == wanted[chain * TOTAL + sweep :]  # nothing runs a second time


def test_a_killed_run_resumes_from_its_last_checkpoint(corpus, whole, tmp_path, monkeypatch):
    """Nothing is written at the end, as after kill -9."""
    with monkeypatch.context() as patch:
        Interrupts(patch, 1, BURN_IN + 5)
        patch.setattr(chains._OneChain, "_write", lambda self: None)
        with pytest.raises(KeyboardInterrupt):
            draw(lda(tmp_path, checkpoint_every=4), corpus)
    with monkeypatch.context() as patch:
        after = Interrupts(patch)
        estimator = lda(tmp_path, checkpoint_every=4, resume=True)
        assert summary(estimator, draw(estimator, corpus)) == whole["plain"]
    assert after.swept[0] == (1, BURN_IN + 5)


def test_a_draw_that_is_half_taken_is_not_stored(corpus, whole, tmp_path, monkeypatch):
    """The interruption comes after a draw was kept and before its sweep has ended."""
    keep = chains.Recorder.keep

    def interrupted(self, state, priors, level):
        keep(self, state, priors, level)
        if state.sweep == BURN_IN + THIN:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(chains.Recorder, "keep", interrupted)
        with pytest.raises(KeyboardInterrupt):
            draw(lda(tmp_path, checkpoint_every=4), corpus)
    estimator = lda(tmp_path, checkpoint_every=4, resume=True)
    assert summary(estimator, draw(estimator, corpus)) == whole["plain"]


def test_finished_chains_are_read_and_further_ones_run(corpus, whole, tmp_path, monkeypatch):
    draw(lda(tmp_path), corpus, chains=2)
    before = {p: p.stat().st_mtime_ns for p in tmp_path.rglob("sweep-*")}
    with monkeypatch.context() as patch:
        after = Interrupts(patch)
        estimator = lda(tmp_path, resume=True)
        assert summary(estimator, draw(estimator, corpus)) == whole["plain"]
    assert {chain for chain, _ in after.swept} == {2}
    assert {p: p.stat().st_mtime_ns for p in before} == before


def test_each_chain_has_a_folder_and_two_checkpoints_at_most(corpus, tmp_path):
    draw(lda(tmp_path, checkpoint_every=2), corpus)
    assert sorted(p.name for p in tmp_path.iterdir()) == [f"chain-{c:04d}" for c in range(CHAINS)]
    for place in tmp_path.iterdir():
        headers = [p.name for p in checkpoint_headers(place / CHECKPOINTS)]
        assert headers == [f"sweep-{TOTAL:09d}.json", f"sweep-{TOTAL - 2:09d}.json"]


def test_a_seed_of_the_system_is_taken_from_the_folder(corpus, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        Interrupts(patch, 1, 3)
        with pytest.raises(KeyboardInterrupt):
            draw(lda(tmp_path, random_state=None), corpus)
    resumed = lda(tmp_path, random_state=None, resume=True)
    again = draw(resumed, corpus)
    same = lda(random_state=resumed.random_state_)
    assert summary(resumed, again) == summary(same, draw(same, corpus))


@pytest.mark.parametrize(
    ("estimator", "asked", "message"),
    [
        ({}, {}, "holds a chain, 'chain-0000', at sweep"),
        ({"resume": True}, {"thin": 2}, "'thin' parameter must be as in the run"),
        ({"resume": True}, {"draws": 9}, "'draws' parameter must be as in the run"),
        ({"resume": True}, {"words": ["w2"]}, "'words' parameter must be as in the run"),
        ({"resume": True}, {"documents": None}, "'documents' parameter must be as in the run"),
        ({"resume": True}, {"theta_mean": False}, "'theta_mean' parameter must be as in the run"),
        ({"resume": True, "max_iter": 13}, {}, "'burn_in' parameter must be as in the run"),
        ({"resume": True, "random_state": 5}, {}, "'random_state' parameter must be as in the run"),
    ],
)
def test_other_chains_are_not_resumed(corpus, tmp_path, estimator, asked, message):
    draw(lda(tmp_path), corpus, chains=1)
    with pytest.raises(InputError, match=message):
        draw(lda(tmp_path, **estimator), corpus, **asked)


def test_a_model_and_chains_share_a_folder(corpus, tmp_path):
    estimator = lda(tmp_path)
    draw(estimator, corpus, chains=1)
    estimator.save(tmp_path)
    assert (tmp_path / "chain-0000" / CHECKPOINTS).is_dir()
    again = lda(tmp_path, resume=True)
    draw(again, corpus, chains=1)
    assert again.assignments_.tobytes() == polyaurn.load(tmp_path).assignments.tobytes()


def test_draws_that_do_not_fit_are_rejected(corpus):
    choice = make_choice(corpus, 3, None, None, None)
    fresh = [chains.Recorder(corpus, 4, np.arange(3), choice, theta_mean=False) for _ in "ab"]
    state, info = list(polyaurn.sweeps(corpus, 3, max_iter=2, evaluate_every=1))[-1]
    fresh[0].keep(state, state.priors, info.log_posterior)
    arrays = fresh[0].arrays()
    fresh[1].restore(arrays, None)
    assert fresh[1].arrays().keys() == arrays.keys()
    assert all(np.array_equal(fresh[1].arrays()[name], arrays[name]) for name in arrays)
    for name in ("log_posterior", "topic_sizes", "prior", "alpha", "phi_sum.data"):
        with pytest.raises(InputError, match="do not fit together"):
            fresh[1].restore(arrays | {name: arrays[name][:0]}, None)


def test_neighbouring_seeds_share_no_chain(corpus):
    found = [chain_seed(seed, c) for seed in range(200) for c in range(20)]
    assert len(set(found)) == len(found)
    assert all(seed >> 127 == 1 for seed in found if seed >= 200)  # beyond seeds that users give
    one, other = (draw(lda(random_state=seed), corpus) for seed in (4, 5))
    levels = [tuple(c.log_posterior) for found in (one, other) for c in found.chains]
    assert len(set(levels)) == 2 * CHAINS
    assert one.chains[0].seed == 4
