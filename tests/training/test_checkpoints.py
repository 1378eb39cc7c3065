"""Runs that continue where they stopped, to the same bytes; and runs that may not."""

import json
from itertools import groupby

import numpy as np
import pytest

import polyaurn
from polyaurn import LDA, InputError
from polyaurn.base.errors import CheckpointWarning
from polyaurn.chain.samplers import THREAD_FREE
from polyaurn.chain.state import Halt
from polyaurn.files.names import CHECKPOINTS
from polyaurn.model.folder import TIMED
from polyaurn.training.checkpoints import Every, read_every

SETTINGS = {
    "plain": {},
    "grow": {"warm_start": "grow", "n_components": 12},
    "refreshes": {"phi_refreshes": 3},
    "learning": {"learn_priors_every": 3},
    "vector priors": {"doc_topic_prior": [0.1, 0.2, 0.3, 0.4]},
} | {name: {"sampler": name} for name in THREAD_FREE}


pytestmark = pytest.mark.filterwarnings(
    "ignore::polyaurn.base.errors.UnfinishedStartWarning"  # runs that stop early are the subject
)


@pytest.fixture(scope="module")
def corpus():
    return polyaurn.datasets.generate(n_documents=120, n_words=90, n_topics=4, random_state=2)


@pytest.fixture(scope="module")
def large():
    """Large enough to begin on a share of its documents."""
    return polyaurn.datasets.generate(
        n_documents=1500, n_words=90, n_topics=4, mean_length=180, random_state=2
    )


def lda(folder=None, **options):
    given = {"n_components": 4, "max_iter": 20, "evaluate_every": 3, "random_state": 7} | options
    return LDA(**given, checkpoint=folder, verbose=False)


def summary(model):
    """All that a run gives, but for how long it took."""
    trace = [{k: v for k, v in record.items() if k not in TIMED} for record in model.trace]
    priors = [prior.tobytes() for prior in model.priors[:2]]
    return model.assignments.tobytes(), priors, trace, json.dumps(model.parameters)


def stop_at(sweep):
    return lambda state, info: info.sweep == sweep


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_resumed_run_has_the_same_bytes(corpus, large, tmp_path, setting):
    options = SETTINGS[setting]
    documents = large if setting == "grow" else corpus
    whole = summary(lda(**options, n_jobs=1).fit(documents).model_)
    for sweep in (1, 7, 19):
        folder = tmp_path / str(sweep)
        half = lda(folder, **options, n_jobs=2, callbacks=stop_at(sweep)).fit(documents)
        assert half.n_iter_ in (sweep, sweep + 1)  # documents that were not in yet had a sweep
        again = lda(folder, **options, n_jobs=1, resume=True).fit(documents)
        assert summary(again.model_) == whole


def test_the_share_of_a_growing_corpus_is_kept(large, tmp_path):
    phases = [r["phase"] for r in lda(n_components=12, warm_start="grow").fit(large).trace_]
    assert phases[0].startswith("grow 32/64")  # else the setting above tests nothing


def test_a_run_may_be_resumed_many_times_and_when_it_is_done(corpus, tmp_path):
    whole = summary(lda().fit(corpus).model_)
    for sweep in (3, 4, 11, 20, 20):
        run = lda(tmp_path / "m", resume=True, callbacks=stop_at(sweep)).fit(corpus)
        assert run.n_iter_ == sweep
    assert summary(run.model_) == whole
    seconds = [record["seconds"] for record in run.trace_]
    assert seconds == sorted(seconds)


def test_a_finished_model_continues(corpus, tmp_path):
    folder = tmp_path / "m"
    options = {"learn_priors_every": 30, "average_draws": 1}
    lda(max_iter=432, **options).fit(corpus).save(folder)  # 300 annealed sweeps, as any longer one
    more = lda(folder, max_iter=453, **options, resume=True).fit(corpus)
    whole = lda(max_iter=453, **options).fit(corpus)
    assert summary(more.model_) == summary(whole.model_)


def phases(run):
    return [(phase, len(list(same))) for phase, same in groupby(r["phase"] for r in run.trace_)]


def test_a_longer_run_never_smooths_after_a_full_sweep(corpus, tmp_path):
    folder = tmp_path / "m"
    options = {"warm_start": "smooth", "learn_priors_every": 0}
    first = lda(max_iter=100, **options).fit(corpus)
    first.save(folder)
    more = lda(folder, max_iter=400, **options, resume=True).fit(corpus)
    assert phases(more) == [("smooth", 33), ("full", 367)]
    chain = polyaurn.sweeps(
        corpus,
        4,
        random_state=7,
        warm_start="random",
        learn_priors_every=0,
        max_iter=400,
        start=Halt(first.assignments_, 100),
    )
    assert more.assignments_.tobytes() == [state for state, _ in chain][-1].z.tobytes()


def test_a_longer_run_that_is_killed_resumes_to_the_same_bytes(corpus, tmp_path):
    ends = []
    for stop in (None, 110, 150):
        folder = tmp_path / str(stop)
        lda(max_iter=100).fit(corpus).save(folder)
        for callbacks in ([stop_at(stop)] if stop else []) + [None]:
            run = lda(folder, max_iter=400, resume=True, callbacks=callbacks).fit(corpus)
        ends.append(summary(run.model_))
    assert ends[1:] == ends[:1] * 2


def test_a_run_stopped_in_its_smooth_start_may_become_longer(corpus, tmp_path):
    """Sweeps so far were those of the longer run, too, so that nothing is different."""
    folder = tmp_path / "m"
    smooth = {"warm_start": "smooth"}
    lda(folder, max_iter=100, callbacks=stop_at(20), **smooth).fit(corpus)
    more = lda(folder, max_iter=200, resume=True, **smooth).fit(corpus)
    assert summary(more.model_) == summary(lda(max_iter=200, **smooth).fit(corpus).model_)
    assert phases(more) == [("smooth", 66), ("full", 134)]


def test_at_most_two_checkpoints_are_kept(corpus, tmp_path):
    seen = []

    def look(state, info):
        seen.append(sorted(p.name for p in (tmp_path / "m" / CHECKPOINTS).glob("*")))

    lda(tmp_path / "m", checkpoint_every=4, callbacks=look).fit(corpus)
    assert max(len(names) for names in seen) == 4
    assert seen[-1] == [f"sweep-{sweep:09d}.{end}" for sweep in (12, 16) for end in ("json", "npz")]


def test_checkpoints_by_time(corpus, tmp_path, monkeypatch):
    clock = iter(range(10**9))
    monkeypatch.setattr("polyaurn.training.checkpoints.perf_counter", lambda: 10.0 * next(clock))
    written = []
    monkeypatch.setattr(
        "polyaurn.training.checkpoints.Checkpoints.write",
        lambda self, state, trace, extra: written.append(state.sweep),
    )
    lda(tmp_path / "a", checkpoint_every="55s").fit(corpus)
    assert written[0] == 6  # ten seconds per sweep, by this clock
    assert len(written) == 2  # a checkpoint that takes ten seconds is followed by 500 of training
    assert written[-1] == 20
    written.clear()
    lda(tmp_path / "b", checkpoint_every="never").fit(corpus)
    assert written == []


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("auto", Every(seconds=60.0)), (5, Every(sweeps=5)), ("12", Every(sweeps=12)),
        ("30s", Every(seconds=30.0)), ("1.5 min", Every(seconds=90.0)),
        ("2h", Every(seconds=7200.0)), (0, Every()), ("never", Every()),
    ],
)  # fmt: skip
def test_how_often(given, meant):
    assert read_every(given) == meant


@pytest.mark.parametrize("given", [-1, 1.5, True, None, "often", "5 days", "0s", "", "9" * 30])
def test_a_bad_interval_of_checkpoints_is_rejected(given):
    with pytest.raises(InputError, match="'checkpoint_every' parameter must be a number of sweeps"):
        read_every(given)


def stopped(corpus, folder, **options):
    return lda(folder, callbacks=stop_at(9), checkpoint_every=4, **options).fit(corpus)


def test_a_run_is_not_overwritten_by_mistake(corpus, tmp_path):
    stopped(corpus, tmp_path / "m")
    with pytest.raises(InputError, match=r"holds a run at sweep 9\. Resume it"):
        lda(tmp_path / "m").fit(corpus)
    with pytest.raises(InputError, match="must be a folder when 'resume' is True"):
        lda(resume=True).fit(corpus)
    with pytest.raises(InputError, match="'checkpoint' parameter must be a path"):
        lda(7).fit(corpus)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"n_components": 5}, "'n_components' parameter must be as in the run that is resumed"),
        ({"random_state": 8}, "Expected 7, got 8"),
        ({"sampler": "partially-collapsed"}, "'sampler' parameter"),
        ({"topic_word_prior": 0.02}, "'topic_word_prior' parameter"),
        ({"doc_topic_prior": [0.1, 0.1, 0.1, 0.1]}, "'doc_topic_prior' parameter"),
        ({"warm_start": "random"}, "'warm_start' parameter"),
        ({"evaluate_every": 1}, "'evaluate_every' parameter"),
        ({"max_iter": 8}, "'max_iter' parameter must be at least 9"),
    ],
)
def test_another_run_is_rejected(corpus, tmp_path, change, sentence):
    stopped(corpus, tmp_path / "m")
    with pytest.raises(InputError) as raised:
        lda(tmp_path / "m", resume=True, **change).fit(corpus)
    assert sentence in str(raised.value)


def test_a_prior_that_differs_in_its_last_digits_is_another_run(corpus, tmp_path):
    alpha = np.array([0.1, 0.2, 0.3, 0.4])
    stopped(corpus, tmp_path / "m", doc_topic_prior=alpha)
    for other in (alpha * (1 + 1e-12), alpha[::-1]):
        with pytest.raises(InputError, match="'doc_topic_prior' parameter must be as in the run"):
            lda(tmp_path / "m", resume=True, doc_topic_prior=other).fit(corpus)
    assert (
        lda(tmp_path / "m", resume=True, doc_topic_prior=alpha.tolist()).fit(corpus).n_iter_ == 20
    )


def test_a_checkpoint_counts_as_written_only_when_it_is(corpus, tmp_path, monkeypatch):
    """The disk is full at the last sweep, and has space again when the run ends."""
    from polyaurn.training import checkpoints

    *_, (state, _) = polyaurn.sweeps(corpus, 4, max_iter=2)
    kept = checkpoints.Checkpoints(tmp_path, {"random_state": 7}, Every(sweeps=2))
    (tmp_path / CHECKPOINTS).mkdir()

    def full(*arguments, **options):
        raise InputError("The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr(checkpoints, "seal", full)
        assert "No checkpoint was written at sweep 2" in kept.after(state, [])
    assert kept.newest() is None
    assert kept.at_the_end(state, []) == ""
    saved = kept.newest()
    assert saved.halt.sweep == 2
    assert saved.halt.z.tobytes() == state.z.tobytes()
    before = (tmp_path / CHECKPOINTS / "sweep-000000002.json").stat().st_mtime_ns
    assert kept.at_the_end(state, []) == ""  # written already
    assert (tmp_path / CHECKPOINTS / "sweep-000000002.json").stat().st_mtime_ns == before


def test_another_corpus_is_rejected(corpus, tmp_path):
    stopped(corpus, tmp_path / "m")
    other = polyaurn.Corpus.from_matrix(corpus.to_matrix()[::-1], corpus.vocab)
    with pytest.raises(InputError, match="The corpus must be the one of the run that is resumed"):
        lda(tmp_path / "m", resume=True).fit(other)


def test_threads_matter_to_samplers_that_they_change(corpus, tmp_path):
    stopped(corpus, tmp_path / "m", sampler="collapsed", n_jobs=1)
    with pytest.raises(InputError, match="'n_jobs' parameter must be as in the run"):
        lda(tmp_path / "m", sampler="collapsed", n_jobs=2, resume=True).fit(corpus)


def test_no_seed_takes_that_of_the_run(corpus, tmp_path):
    half = stopped(corpus, tmp_path / "m", random_state=None)
    again = lda(tmp_path / "m", random_state=None, resume=True).fit(corpus)
    assert again.random_state_ == half.random_state_


def test_flipped_bytes_never_change_the_result(corpus, tmp_path):
    whole = summary(lda().fit(corpus).model_)
    stopped(corpus, tmp_path / "m")
    for path in sorted((tmp_path / "m" / CHECKPOINTS).glob("sweep-000000009.*")):
        content = path.read_bytes()
        for at in np.random.default_rng(4).integers(len(content), size=12):
            broken = bytearray(content)
            broken[at] ^= 4
            path.write_bytes(broken)
            again = lda(tmp_path / "m", resume=True, checkpoint_every="never")
            with pytest.warns(CheckpointWarning, match="newer checkpoint is damaged"):
                again.fit(corpus)
            assert summary(again.model_) == whole
        path.write_bytes(content)


def test_an_interrupted_fit_can_be_resumed(corpus, tmp_path):
    def interrupt(state, info):
        if info.sweep == 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lda(tmp_path / "m", callbacks=interrupt).fit(corpus)
    again = lda(tmp_path / "m", resume=True).fit(corpus)
    assert summary(again.model_) == summary(lda().fit(corpus).model_)


def test_a_model_and_its_run_share_a_folder(corpus, tmp_path):
    run = stopped(corpus, tmp_path / "m")
    with pytest.raises(InputError, match="holds a run that was not finished"):
        run.save(tmp_path / "m")
    with pytest.raises(InputError, match="holds a run that was not finished; continue it"):
        polyaurn.load(tmp_path / "m")
    run.save(tmp_path / "m", force=True)
    assert polyaurn.load(tmp_path / "m").n_topics == 4
