"""Chains on a GPU as seen from outside it: who may have one, what is kept, what is said.

No GPU is needed: `gpu_fake` stands in. That real kernels give the same bytes is for test_gpu.
"""

import json
import signal
import tomllib
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import polyaurn
from polyaurn import LDA, InputError
from polyaurn.backends.gpu import toolkit
from polyaurn.backends.gpu.failures import failures_named, guarded
from polyaurn.backends.gpu.held import DevicePhi
from polyaurn.backends.registry import BACKENDS, check_device
from polyaurn.base.errors import DeviceError, DeviceWarning
from polyaurn.chain.priors import make_priors
from polyaurn.chain.state import on_host
from polyaurn.files.names import CHECKPOINTS, CONFIG, TIMINGS
from polyaurn.model.folder import TIMED
from polyaurn.model.model import TopicModel
from polyaurn.training.sweeps import sweeps
from support.gpu_fake import DRIVER, OUT_OF_MEMORY, RUNTIME, installed

SETTINGS = {
    "plain": {},
    "partially-collapsed": {"sampler": "partially-collapsed"},
    "grow": {"warm_start": "grow", "n_components": 12},
    "refreshes": {"phi_refreshes": 3},
    "learning": {"learn_priors_every": 3},
    "seeds": {"seed_words": {1: ["w3", "w4"]}, "seed_strength": 40},
}


pytestmark = pytest.mark.filterwarnings(
    "ignore::polyaurn.base.errors.UnfinishedStartWarning"  # runs are stopped early on purpose
)


@pytest.fixture
def gpu(monkeypatch):
    return installed(monkeypatch)


@pytest.fixture
def no_gpu(monkeypatch):
    monkeypatch.setattr(
        "polyaurn.backends.gpu.backend.GPU.missing", lambda self: "there is none here"
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


def lda(device="cpu", folder=None, **options):
    given = {"n_components": 4, "max_iter": 20, "evaluate_every": 3, "random_state": 7}
    given |= {"sampler": "polya-urn"} | options  # "auto" takes another one on the CPU
    return LDA(**given, device=device, checkpoint=folder, verbose=False, n_jobs=1)


def told(model):
    """All that a run gives, but for how long it took."""
    trace = [{k: v for k, v in record.items() if k not in TIMED} for record in model.trace]
    counts = model.topic_word_counts
    arrays = model.assignments, counts.data, counts.indices, *model.priors[:2]
    return [a.tobytes() for a in arrays], trace, json.dumps(model.parameters)


def stop_at(sweep):
    return lambda state, info: info.sweep == sweep


# Who may have a GPU


@pytest.mark.parametrize("absent", ["numba_cuda", "cupy"])
def test_a_package_that_is_missing_is_named(monkeypatch, absent):
    there = {"numba_cuda", "cupy"} - {absent}
    monkeypatch.setattr(
        "polyaurn.backends.gpu.backend.find_spec", lambda name: name in there or None
    )
    package = {"numba_cuda": "numba-cuda", "cupy": "CuPy"}[absent]
    with pytest.raises(InputError) as refused:
        check_device("gpu")
    assert str(refused.value) == (
        f"The 'device' parameter is 'gpu', but the package {package} is not installed (pip install "
        "'polyaurn[gpu]' brings it). Use 'cpu', or 'auto' to take a GPU only where there is one."
    )


def with_driver(monkeypatch, count):
    """Let both packages be there, and count the GPUs as a function does."""
    runtime = SimpleNamespace(getDeviceCount=count)
    module = SimpleNamespace(cuda=SimpleNamespace(runtime=runtime))
    monkeypatch.setattr("polyaurn.backends.gpu.backend.find_spec", lambda name: True)
    monkeypatch.setattr("polyaurn.backends.gpu.toolkit.cupy", lambda: module)


def test_a_missing_driver_and_a_missing_gpu_are_told_apart(monkeypatch):
    def no_driver():
        raise RUNTIME("cudaErrorInsufficientDriver: CUDA driver is insufficient\nand more")

    with_driver(monkeypatch, no_driver)
    assert BACKENDS["gpu"].missing() == (
        "there is no NVIDIA GPU or no driver for one "
        "(cudaErrorInsufficientDriver: CUDA driver is insufficient)"
    )
    with_driver(monkeypatch, lambda: 0)
    with pytest.raises(InputError, match=r"'gpu', but there is no NVIDIA GPU \(nvidia-smi"):
        check_device("gpu")
    with_driver(monkeypatch, lambda: 1)
    assert check_device("gpu") == check_device("auto") == "gpu"


@pytest.mark.parametrize("said", ["libnvrtc.so.13: no such file\nand more", ""])
def test_packages_that_do_not_load_are_told(monkeypatch, said):
    def broken():
        raise ImportError(said)

    with_driver(monkeypatch, lambda: 1)
    monkeypatch.setattr("polyaurn.backends.gpu.toolkit.cupy", broken)
    first = "libnvrtc.so.13: no such file" if said else "ImportError"
    lacking = f"its packages cannot be loaded ({first}; pip install 'polyaurn[gpu]' brings them)"
    assert BACKENDS["gpu"].missing() == lacking
    with pytest.warns(DeviceWarning, match="cannot be loaded"):
        assert check_device("auto") == "cpu"


def test_a_limit_of_memory_that_is_no_number_is_refused(monkeypatch):
    monkeypatch.setenv("POLYAURN_GPU_MEMORY", "40GB")
    with pytest.raises(InputError, match=r"POLYAURN_GPU_MEMORY must be a whole .* Got '40GB'"):
        toolkit.free_bytes()


def test_a_phi_that_was_drawn_over_is_refused():
    layout = SimpleNamespace(phi_version=3)
    phi = DevicePhi(layout, 0, {})
    layout.phi_version += 1
    with pytest.raises(InputError, match="no longer on the GPU"):
        phi.on_host()


def test_auto_falls_back_with_a_warning_at_the_users_line(no_gpu, corpus, tmp_path):
    with pytest.warns(DeviceWarning, match=r"^Running on the CPU: there is none here\.$") as said:
        found = lda("auto").fit(corpus)
    assert [warning.filename for warning in said] == [__file__]
    assert told(found.model_) == told(lda().fit(corpus).model_)
    with pytest.warns(DeviceWarning) as said:
        next(iter(sweeps(corpus, 4, device="auto")))
    assert said[0].filename == __file__
    with pytest.warns(DeviceWarning) as said:
        polyaurn.topic_grid(corpus, [2], 1, out=tmp_path, max_iter=2, device="auto")
    assert [warning.filename for warning in said] == [__file__]


def test_samplers_without_kernels_for_a_gpu(gpu, corpus):
    with pytest.raises(InputError, match=r"'light' has no kernels for it \(polya-urn, partially-c"):
        lda("gpu", sampler="light").fit(corpus)
    with pytest.warns(DeviceWarning, match="sampler 'light' has no kernels"):
        assert lda("auto", sampler="light", max_iter=2).fit(corpus).n_iter_ == 2


@pytest.mark.parametrize("value", ["GPU", "cuda", None, 0, ["gpu"]])
def test_a_device_that_is_none_is_refused(corpus, value, tmp_path):
    expected = "The 'device' parameter must be one of 'cpu', 'gpu', 'auto'. Got"
    for attempt in (
        lambda: lda(value).fit(corpus),
        lambda: lda(value).sample_posterior(corpus, chains=1, draws=1),
        lambda: sweeps(corpus, 3, device=value),
        lambda: polyaurn.topic_grid(corpus, [2], 1, out=tmp_path / "g", device=value),
    ):
        with pytest.raises(InputError, match=expected):
            attempt()
    assert not (tmp_path / "g").exists()


# The same bytes, and nothing copied in vain


@pytest.mark.parametrize("setting", SETTINGS)
def test_models_and_runs_cross_devices(gpu, corpus, large, tmp_path, setting):
    options = SETTINGS[setting]
    documents = large if setting == "grow" else corpus
    whole = told(lda(**options).fit(documents).model_)
    assert told(lda("gpu", **options).fit(documents).model_) == whole
    for here, there in (("gpu", "cpu"), ("cpu", "gpu"), ("gpu", "gpu")):
        folder = tmp_path / f"{here}-{there}"
        half = lda(here, folder, **options, callbacks=stop_at(7)).fit(documents)
        assert half.n_iter_ in (7, 8)
        again = lda(there, folder, **options, resume=True).fit(documents)
        assert told(again.model_) == whole


def test_a_run_keeps_the_sampler_that_auto_took_on_the_gpu(gpu, corpus, tmp_path):
    lda("gpu", tmp_path / "m", sampler="auto", callbacks=stop_at(7)).fit(corpus)
    again = lda("cpu", tmp_path / "m", sampler="auto", resume=True).fit(corpus)
    assert told(again.model_) == told(lda().fit(corpus).model_)
    assert lda("cpu", sampler="auto").fit(corpus).model_.parameters["sampler"] == "partitioned"


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
    assert told(here.model_) == told(there.model_)
    assert gpu.copies.count("counts") == 2 * (1 + 3)  # after the burn-in, and each draw


def test_a_grid_goes_on_elsewhere(gpu, corpus, tmp_path):
    options = {"max_iter": 6, "n_jobs": 1, "particles": 1, "sampler": "polya-urn"}
    gpu.faults["draw_z", 3] = OUT_OF_MEMORY("Out of memory")
    expected = r"^The GPU ran out of memory \(Out of memory\)\. Models that are finished are kept"
    with pytest.raises(DeviceError, match=expected):
        polyaurn.topic_grid(corpus, [2, 3], 1, out=tmp_path / "a", device="gpu", **options)
    found = polyaurn.topic_grid(corpus, [2, 3], 1, out=tmp_path / "a", **options)
    whole = polyaurn.topic_grid(corpus, [2, 3], 1, out=tmp_path / "b", **options)
    for score in ("held_out", "completion", "coherence_npmi"):
        assert [c[score] for c in found["cells"]] == [c[score] for c in whole["cells"]]


# When it fails


FAULTS = {  # step, the sweeps it has seen, and what is raised; then the sweep that is kept
    "no room for Phi": (("draw_phi", 12), OUT_OF_MEMORY("Out of memory allocating 5 bytes"), 12),
    "in the middle of topics": (("draw_z", 12), OUT_OF_MEMORY("Out of memory"), 10),
    "no room to score": (("log_posterior", 12), OUT_OF_MEMORY("Out of memory"), 10),
    "numba's": (("draw_z", 12), DRIVER("[700] CUDA_ERROR_ILLEGAL_ADDRESS"), 10),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_failed_run_goes_on_on_the_cpu(gpu, corpus, tmp_path, fault):
    where, error, kept = FAULTS[fault]
    gpu.faults[where] = error
    failed = lda("gpu", tmp_path / "m", checkpoint_every=5)
    with pytest.raises(DeviceError) as said:
        failed.fit(corpus)
    what = "ran out of memory" if isinstance(error, MemoryError) else "failed"
    assert str(said.value) == (
        f"The GPU {what} ({error}). The run is kept in '{tmp_path / 'm'}' as it was after sweep "
        f"{kept}; resume it with resume=True (--resume) and device='cpu' (--device cpu)."
    )
    assert hasattr(failed, "model_") == (kept == 12)
    again = lda("cpu", tmp_path / "m", resume=True).fit(corpus)
    assert told(again.model_) == told(lda().fit(corpus).model_)


@pytest.mark.parametrize("at", [("draw_phi", 12), ("draw_z", 12), ("copy", "z")])
def test_a_lost_gpu_leaves_the_last_checkpoint(gpu, corpus, tmp_path, at):
    folder = tmp_path / "m"
    lda("gpu", folder, checkpoint_every=5, callbacks=stop_at(6)).fit(corpus)
    gpu.loss = at, RUNTIME("cudaErrorDevicesUnavailable: the device has gone")
    with pytest.raises(DeviceError, match=r"The GPU failed \(cudaErrorDevicesUnavailable") as said:
        lda("gpu", folder, checkpoint_every=5, resume=True).fit(corpus)
    kept = 6 if at[0] == "copy" else 10
    assert f"after sweep {kept}; resume it" in str(said.value)
    again = lda("cpu", folder, resume=True).fit(corpus)
    assert told(again.model_) == told(lda().fit(corpus).model_)


def test_failures_with_nothing_to_go_on_from(gpu, corpus, tmp_path):
    gpu.faults["draw_z", 0] = OUT_OF_MEMORY("Out of memory")
    with pytest.raises(DeviceError, match=r"no checkpoint yet; train again with device='cpu'"):
        lda("gpu", tmp_path / "m").fit(corpus)
    with pytest.raises(DeviceError, match="with a 'checkpoint' folder it could be resumed"):
        lda("gpu").fit(corpus)
    again = lda("cpu", tmp_path / "m", resume=True).fit(corpus)
    assert told(again.model_) == told(lda().fit(corpus).model_)


def test_a_model_is_made_though_counts_find_no_room(gpu, corpus):
    gpu.faults["copy", "counts"] = OUT_OF_MEMORY("Out of memory")
    fixed = {"learn_priors_every": 0}  # learning needs the counts
    found, whole = (lda(device, **fixed).fit(corpus).model_ for device in ("gpu", "cpu"))
    assert told(found) == told(whole)
    assert found.averaged_draws == 5


def test_draws_before_a_failure_are_kept(gpu, corpus):
    gpu.faults["draw_z", 24] = OUT_OF_MEMORY("Out of memory")
    failed = lda("gpu")
    with pytest.raises(DeviceError, match="device='cpu'; draws so far are in posterior_"):
        failed.sample_posterior(corpus, chains=1, draws=3, thin=2)
    assert failed.posterior_.chains[0].sweep.tolist() == [22, 24]


def test_ctrl_c_waits_for_the_sweep(gpu, corpus):
    gpu.faults["draw_z", 8] = 1
    stopped = lda("gpu")
    with pytest.raises(KeyboardInterrupt):
        stopped.fit(corpus)
    assert told(stopped.model_) == told(lda(callbacks=stop_at(9)).fit(corpus).model_)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    sampled = lda("gpu")
    with pytest.raises(KeyboardInterrupt):
        sampled.sample_posterior(corpus, chains=1, draws=1)
    assert sampled.n_iter_ == 9


def test_a_second_ctrl_c_does_not_wait(gpu, corpus, tmp_path):
    gpu.faults["draw_z", 8] = 2
    stopped = lda("gpu", tmp_path / "m", checkpoint_every=5)
    with pytest.raises(KeyboardInterrupt):
        stopped.fit(corpus)
    assert not hasattr(stopped, "model_")  # half of its topics are of one sweep, half of another
    gpu.faults.clear()
    again = lda("gpu", tmp_path / "m", resume=True).fit(corpus)
    assert told(again.model_) == told(lda().fit(corpus).model_)


def test_errors_of_others_stay_as_they_are():
    with pytest.raises(ZeroDivisionError), failures_named():
        raise ZeroDivisionError
    with pytest.raises(MemoryError), failures_named():
        raise MemoryError
    with pytest.raises(DeviceError, match=r"^The GPU failed \(CudaAPIError\)\.$"), failures_named():
        raise DRIVER
    with pytest.raises(DeviceError, match="ran out of memory"), failures_named():
        raise RUNTIME("cudaErrorMemoryAllocation: out of memory")
    with pytest.raises(DeviceError, match="ran out of memory"), failures_named():
        raise DRIVER("[2] Call to cuMemAlloc results in CUDA_ERROR_OUT_OF_MEMORY")


def test_small_grids_are_no_matter_for_a_warning():
    def draw_phi(layout):
        said = "\x1b[1mGrid size 1 will likely result in GPU under-utilization\x1b[0m"  # as numba
        warnings.warn(said, stacklevel=2)
        return layout

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert guarded(draw_phi)(5) == 5
        with BACKENDS["gpu"].failures():  # where new documents are inferred and scored
            assert draw_phi(5) == 5


def test_other_warnings_of_a_device_are_shown():
    def draw_phi():
        warnings.warn("Host array used in CUDA kernel will incur copy overhead", stacklevel=2)

    with pytest.warns(UserWarning, match="copy overhead"):
        guarded(draw_phi)()
    with pytest.warns(UserWarning, match="copy overhead"), BACKENDS["gpu"].failures():
        draw_phi()


# At the command line


def train(run, texts, *options):
    return run("train", texts, "-k", 2, "--sweeps", 12, "-t", 1, "--sampler", "polya-urn", *options)


def contents(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.name not in (TIMINGS, CONFIG)}


def test_auto_says_so_in_a_line(no_gpu, run, texts, tmp_path):
    note = "Note: Running on the CPU: there is none here.\n"
    code, _, err = train(run, texts, "--device", "auto", "--out", "a")
    assert (code, err.count(note), err.count("warn")) == (0, 1, 0)
    assert train(run, texts, "--device", "auto", "--out", "quiet", "-q") == (0, "", "")
    code, out, err = train(run, texts, "--device", "auto", "--out", "json", "--json")
    assert (code, err) == (0, note)
    assert json.loads(out)["sweeps"] == 12
    train(run, texts, "--out", "b")
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    code, _, err = run(
        "choose-topics", texts, "-k", 2, "--seeds", 1, "--sweeps", 3, "--device", "auto"
    )
    assert (code, err.count(note)) == (0, 1)


@pytest.mark.parametrize("command", ["train", "choose-topics", "demo"])
def test_without_a_gpu_one_sentence_and_2(no_gpu, run, texts, tmp_path, command):
    corpus = () if command == "demo" else (texts,)
    code, out, err = run(command, *corpus, "--device", "gpu", "--out", "m")
    assert (code, out) == (2, "")
    assert err == (
        "polyaurn: The '--device' option is 'gpu', but there is none here. Use 'cpu', or 'auto' to "
        "take a GPU only where there is one.\n"
    )
    assert not (tmp_path / "m").exists()
    code, _, err = run(command, *corpus, "--device", "cuda", "--out", "m")
    assert (code, err.count("\n")) == (2, 1)
    assert "'--device' option must be one of 'cpu', 'gpu', 'auto'. Got 'cuda' instead." in err


def test_a_file_may_name_the_device(gpu, run, texts, tmp_path):
    (tmp_path / "run.toml").write_text(
        'corpus = "texts.txt"\ndevice = "gpu"\ntopics = 2\nsampler = "polya-urn"\n'
    )
    code, _, err = run("train", "--config", "run.toml", "--sweeps", 3, "--out", "m", "-q")
    assert (code, err) == (0, "")
    assert gpu.copies
    assert tomllib.loads((tmp_path / "m" / CONFIG).read_text())["device"] == "gpu"
    gpu.copies.clear()
    run("train", "--config", "m/config.toml", "--device", "cpu", "--out", "n", "-q")
    assert gpu.copies == []
    assert contents(tmp_path / "m") == contents(tmp_path / "n")


def test_a_failure_at_the_command_line(gpu, run, texts, tmp_path):
    gpu.faults["draw_z", 7] = OUT_OF_MEMORY("Out of memory allocating 5 bytes")
    code, out, err = train(
        run, texts, "--device", "gpu", "--checkpoint-every", 3, "--out", "m", "-q"
    )
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("polyaurn: The GPU ran out of memory (Out of memory allocating 5 bytes).")
    assert f"kept in '{tmp_path / 'm'}' as it was after sweep 6; resume it" in err
    assert "--resume" in err
    assert "--device cpu" in err
    assert train(run, texts, "--device", "gpu", "--out", "m", "-q")[0] == 2  # a run is there
    assert train(run, texts, "--device", "cpu", "--resume", "--out", "m", "-q") == (0, "", "")
    train(run, texts, "--out", "never", "-q")
    assert contents(tmp_path / "m") == contents(tmp_path / "never")


def test_ctrl_c_at_the_command_line_keeps_the_model(gpu, run, texts, tmp_path):
    gpu.faults["draw_z", 4] = 1
    code, _, err = train(run, texts, "--device", "gpu", "--out", "m", "-q")
    assert code == 130
    assert "Stopped after sweep 5 of 12; the model so far and a checkpoint are in m" in err
    assert len(np.unique(polyaurn.load(tmp_path / "m").assignments)) == 2
