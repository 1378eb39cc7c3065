"""Chains on a GPU as seen from outside it: the same bytes, and nothing copied in vain.

No GPU is needed: `gpu_fake` stands in. That real kernels give the same bytes is for tests/gpu.
"""

import pytest

import polyaurn
from polyaurn import LDA, InputError, TopicsOverTime
from polyaurn.base.errors import DeviceError
from polyaurn.chain.priors import make_priors
from polyaurn.chain.state import on_host
from polyaurn.files.names import CHECKPOINTS
from polyaurn.model.model import TopicModel
from polyaurn.training.run import make_run
from polyaurn.training.sweeps import sweeps
from support.drifting import drifting
from support.gpu_fake import OUT_OF_MEMORY, lda, stop_at, summary

SETTINGS = {
    "plain": {},
    "partially-collapsed": {"sampler": "partially-collapsed"},
    "grow": {"warm_start": "grow", "n_components": 12},
    "refreshes": {"phi_refreshes": 3},
    "learning": {"learn_priors_every": 3},
    "sparse-dirichlet": {"sampler": "sparse-dirichlet", "learn_priors_every": 3},
    "collapsed start": {"warm_start": "collapsed"},
    "seeds": {"seed_words": {1: ["w3", "w4"]}, "seed_strength": 40},
}

pytestmark = pytest.mark.filterwarnings(
    "ignore::polyaurn.base.errors.UnfinishedStartWarning"  # runs are stopped early on purpose
)


@pytest.mark.parametrize("setting", SETTINGS)
def test_models_and_runs_cross_devices(gpu, corpus, large, tmp_path, setting):
    options = SETTINGS[setting]
    documents = large if setting == "grow" else corpus
    whole = summary(lda(**options).fit(documents).model_)
    assert summary(lda("gpu", **options).fit(documents).model_) == whole
    for here, there in (("gpu", "cpu"), ("cpu", "gpu"), ("gpu", "gpu")):
        folder = tmp_path / f"{here}-{there}"
        half = lda(here, folder, **options, callbacks=stop_at(7)).fit(documents)
        assert half.n_iter_ in (7, 8)
        again = lda(there, folder, **options, resume=True).fit(documents)
        assert summary(again.model_) == whole


def test_a_run_keeps_the_sampler_that_auto_took_on_the_gpu(gpu, corpus, tmp_path):
    lda("gpu", tmp_path / "m", sampler="auto", callbacks=stop_at(7)).fit(corpus)
    again = lda("cpu", tmp_path / "m", sampler="auto", resume=True).fit(corpus)
    assert summary(again.model_) == summary(lda().fit(corpus).model_)
    assert lda("cpu", sampler="auto").fit(corpus).model_.parameters["sampler"] == "partitioned"


def test_an_update_by_fractions_of_counts_is_that_of_the_cpu(gpu, corpus):
    model = lda(average_draws=3).fit(corpus).model_
    options = {"sampler": "polya-urn", "n_jobs": 1, "verbose": False}
    found = [
        LDA.from_model(model, device=device, **options).update(corpus, forget=0.3, max_iter=6)
        for device in ("cpu", "gpu")
    ]
    assert found[0].model_.priors.pseudo.number.dtype.kind == "f"
    assert summary(found[0].model_) == summary(found[1].model_)
    assert gpu.copies


def test_topics_over_time_are_those_of_the_cpu(gpu):
    corpus, years, _ = drifting(0)
    options = {"max_iter": 6, "slice_iter": 3, "n_jobs": 1, "verbose": False}
    cpu, fake = (
        TopicsOverTime(3, sampler="sparse-dirichlet", device=device, **options)
        .fit(corpus, years, by="year")
        .models_
        for device in ("cpu", "gpu")
    )
    assert gpu.copies
    for model, other in zip(cpu.values(), fake.values(), strict=True):
        assert summary(model) == summary(other)


def test_what_learns_priors_without_bias_is_named(gpu, corpus):
    for device, sampler in (("cpu", "partitioned"), ("gpu", "sparse-dirichlet")):
        assert f"sampler {sampler!r} does not bias" in make_run(lda(device), corpus).note
    assert not make_run(lda("gpu", sampler="sparse-dirichlet"), corpus).note


def test_a_collapsed_start_is_said_to_run_on_the_cpu(gpu, corpus):
    options = {"sampler": "sparse-dirichlet", "learn_priors_every": 0}
    for device, where in (("cpu", ""), ("gpu", " (the first 15, a collapsed start, on the CPU)")):
        expected = f"Sampler 'sparse-dirichlet', 20 sweeps{where}, fixed priors."
        assert make_run(lda(device, **options), corpus).in_brief == expected
    *_, said = make_run(lda("gpu", **options, warm_start="anneal"), corpus).in_brief.split("20 ")
    assert said == "sweeps, fixed priors."


def test_states_are_copied_for_checkpoints_and_at_the_end(gpu, corpus, tmp_path):
    plain = {"average_draws": 1, "learn_priors_every": 0}
    lda("gpu", **plain).fit(corpus)
    assert gpu.copies == ["z", "counts"]
    gpu.copies.clear()
    lda("gpu", **plain | {"average_draws": 3}).fit(corpus)
    assert gpu.copies == ["z", "counts"] * (3 + 1)  # each draw; the model
    gpu.copies.clear()
    lda("gpu", tmp_path / "m", checkpoint_every=8, **plain).fit(corpus)
    assert gpu.copies == ["z"] * 4 + ["z", "counts"]  # after sweeps 1, 8, 16, 20; the model


def test_a_checkpoint_is_there_after_the_first_sweep(gpu, corpus, tmp_path):
    seen = {}

    def look(folder):
        return lambda state, info: seen.setdefault(
            (folder, info.sweep), len(list((tmp_path / folder / CHECKPOINTS).glob("*.json")))
        )

    for device in ("gpu", "cpu"):
        lda(device, tmp_path / device, max_iter=3, callbacks=look(device)).fit(corpus)
    never = {"checkpoint_every": "never", "callbacks": look("never")}
    lda("gpu", tmp_path / "never", max_iter=3, **never).fit(corpus)
    assert [seen[device, 2] for device in ("gpu", "cpu", "never")] == [1, 0, 0]


def test_a_user_copies_states_before_the_next_sweep(gpu, corpus):
    options = {"random_state": 1, "max_iter": 6, "warm_start": "random", "sampler": "polya-urn"}
    priors = make_priors(0.1, 0.01, 4, corpus.n_words)
    cpu = [state for state, _ in sweeps(corpus, 4, **options)]
    chain = sweeps(corpus, 4, device="gpu", **options)
    states = [on_host(next(chain)[0]) for _ in range(3)]
    kept, _ = next(chain)
    model = TopicModel.from_state(corpus, kept, priors)
    assert model.assignments.tobytes() == cpu[3].z.tobytes()
    level = polyaurn.diagnostics.log_posterior(corpus, kept, priors)
    assert level == polyaurn.diagnostics.log_posterior(corpus, cpu[3], priors)
    assert [s.z.tobytes() for s in states] == [s.z.tobytes() for s in cpu[:3]]
    for device in ("cpu", "gpu"):
        *_, (last, _) = sweeps(corpus, 4, device=device, start=kept, **options)
        assert on_host(last).z.tobytes() == cpu[5].z.tobytes()
    next(chain)
    with pytest.raises(InputError, match="no longer on the GPU"):
        on_host(kept)


def test_draws_of_the_posterior(gpu, corpus):
    options = {"chains": 2, "draws": 3, "thin": 2, "documents": [0, 4], "topics": [1]}
    fixed = {"learn_priors_every": 0}  # learning copies states too
    (here, cpu), (there, fake) = (
        (model, model.sample_posterior(corpus, **options))
        for model in (lda(**fixed), lda("gpu", **fixed))
    )
    assert cpu.theta.tobytes() == fake.theta.tobytes()
    assert cpu.log_posterior.tobytes() == fake.log_posterior.tobytes()
    assert summary(here.model_) == summary(there.model_)
    assert gpu.copies.count("counts") == 2 * (1 + 3)  # after the burn-in, and each draw


def test_a_grid_continues_elsewhere(gpu, corpus, tmp_path):
    options = {"max_iter": 6, "n_jobs": 1, "particles": 1, "sampler": "polya-urn"}
    gpu.faults["draw_z", 3] = OUT_OF_MEMORY("Out of memory")
    expected = r"^The GPU ran out of memory \(Out of memory\)\. Models that are finished are kept"
    with pytest.raises(DeviceError, match=expected):
        polyaurn.topic_grid(corpus, [2, 3], 1, out=tmp_path / "a", device="gpu", **options)
    found = polyaurn.topic_grid(corpus, [2, 3], 1, out=tmp_path / "a", **options)
    whole = polyaurn.topic_grid(corpus, [2, 3], 1, out=tmp_path / "b", **options)
    for score in ("held_out", "completion", "coherence_npmi"):
        assert [c[score] for c in found["cells"]] == [c[score] for c in whole["cells"]]
