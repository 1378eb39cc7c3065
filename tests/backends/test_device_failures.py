"""When a GPU fails, or Ctrl-C comes: what is kept, and what is said; `gpu_fake` stands in."""

import signal
import warnings

import numpy as np
import pytest

import polyaurn
from polyaurn.backends.gpu.failures import failures_named, guarded
from polyaurn.backends.registry import BACKENDS
from polyaurn.base.errors import DeviceError
from support.gpu_fake import (
    DRIVER,
    OUT_OF_MEMORY,
    RUNTIME,
    contents,
    lda,
    stop_at,
    summary,
    train,
)

pytestmark = pytest.mark.filterwarnings(
    "ignore::polyaurn.base.errors.UnfinishedStartWarning"  # runs are stopped early on purpose
)


NO_ROOM = "Out of memory allocating 2,147,483,648 bytes (allocated so far: 9 bytes)"  # as CuPy
FAULTS = {  # step, the sweeps it has seen, and what is raised; then the sweep that is kept
    "no room for Phi": (("draw_phi", 12), OUT_OF_MEMORY(NO_ROOM), 12),
    "in the middle of topics": (("draw_z", 12), OUT_OF_MEMORY("Out of memory"), 10),
    "no room to score": (("log_posterior", 12), OUT_OF_MEMORY("Out of memory"), 10),
    "numba's": (("draw_z", 12), DRIVER("[700] CUDA_ERROR_ILLEGAL_ADDRESS"), 10),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_failed_run_continues_on_the_cpu(gpu, corpus, tmp_path, fault):
    where, error, kept = FAULTS[fault]
    gpu.faults[where] = error
    failed = lda("gpu", tmp_path / "m", checkpoint_every=5)
    with pytest.raises(DeviceError) as said:
        failed.fit(corpus)
    what = "ran out of memory" if isinstance(error, MemoryError) else "failed"
    what += ": a step needs 2.1 GB more" if str(error) == NO_ROOM else ""
    assert str(said.value) == (
        f"The GPU {what} ({error}). The run is kept in '{tmp_path / 'm'}' as it was after sweep "
        f"{kept}; resume it with resume=True (--resume) and device='cpu' (--device cpu)."
    )
    assert hasattr(failed, "model_") == (kept == 12)
    again = lda("cpu", tmp_path / "m", resume=True).fit(corpus)
    assert summary(again.model_) == summary(lda().fit(corpus).model_)


@pytest.mark.parametrize("at", [("draw_phi", 12), ("draw_z", 12), ("copy", "z")])
def test_a_lost_gpu_leaves_the_last_checkpoint(gpu, corpus, tmp_path, at):
    folder = tmp_path / "m"
    lda("gpu", folder, checkpoint_every=5, callbacks=stop_at(6)).fit(corpus)
    gpu.loss = at, RUNTIME("cudaErrorDevicesUnavailable: the device has gone")
    with pytest.raises(DeviceError, match=r"for itself \(cudaErrorDevicesUnavailable") as said:
        lda("gpu", folder, checkpoint_every=5, resume=True).fit(corpus)
    kept = 6 if at[0] == "copy" else 10
    assert f"after sweep {kept}; resume it" in str(said.value)
    again = lda("cpu", folder, resume=True).fit(corpus)
    assert summary(again.model_) == summary(lda().fit(corpus).model_)


def test_failures_with_nothing_to_continue_from(gpu, corpus, tmp_path):
    gpu.faults["draw_z", 0] = OUT_OF_MEMORY("Out of memory")
    with pytest.raises(DeviceError, match=r"no checkpoint yet; train again with device='cpu'"):
        lda("gpu", tmp_path / "m").fit(corpus)
    with pytest.raises(DeviceError, match="with a 'checkpoint' folder it could be resumed"):
        lda("gpu").fit(corpus)
    again = lda("cpu", tmp_path / "m", resume=True).fit(corpus)
    assert summary(again.model_) == summary(lda().fit(corpus).model_)


def test_a_model_is_made_though_counts_find_no_room(gpu, corpus):
    gpu.faults["copy", "counts"] = OUT_OF_MEMORY("Out of memory")
    fixed = {"learn_priors_every": 0}  # learning needs the counts
    found, whole = (lda(device, **fixed).fit(corpus).model_ for device in ("gpu", "cpu"))
    assert summary(found) == summary(whole)
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
    assert summary(stopped.model_) == summary(lda(callbacks=stop_at(9)).fit(corpus).model_)
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
    assert summary(again.model_) == summary(lda().fit(corpus).model_)


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


NO_DRIVER = DRIVER("[2] Call to cuMemAlloc results in CUDA_ERROR_OUT_OF_MEMORY")


@pytest.mark.parametrize(
    ("error", "free", "what"),
    [
        (OUT_OF_MEMORY(NO_ROOM), 1_400_000_000, "a step needs 2.1 GB more, and 1.4 GB are free"),
        (OUT_OF_MEMORY("Out of memory allocating 9,000,000 bytes"), 0,
         "a step needs 9.0 MB more, and 0.0 MB are free"),
        (NO_DRIVER, 250_000_000, "250.0 MB are free"),
    ],
)  # fmt: skip
def test_how_much_memory_a_failed_step_needs_and_is_free(
    gpu, corpus, monkeypatch, error, free, what
):
    monkeypatch.setenv("POLYAURN_GPU_MEMORY", "5")  # is what a run may plan with
    gpu.free, gpu.faults["draw_phi", 3] = free, error
    with pytest.raises(DeviceError) as said:
        lda("gpu").fit(corpus)
    assert str(said.value).startswith(f"The GPU ran out of memory: {what} ({error}). ")


@pytest.mark.parametrize(
    ("error", "what"),
    [
        (RUNTIME("cudaErrorDevicesUnavailable: CUDA-capable device(s) is/are busy"), "reached: it"),
        (DRIVER("[46] CUDA_ERROR_DEVICE_UNAVAILABLE"), "cannot be reached: it is gone, or another"),
        (RUNTIME("cudaErrorNoDevice: no CUDA-capable device is detected"), "is no longer there"),
        (RUNTIME("cudaErrorECCUncorrectable: uncorrectable ECC error"), "an error in its memory"),
        (RUNTIME("cudaErrorIllegalAddress: an illegal memory access"), "The GPU failed"),
    ],
)
def test_what_happened_to_a_gpu_is_named(error, what):
    with pytest.raises(DeviceError, match=what), failures_named():
        raise error


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


def test_a_failure_at_the_command_line(gpu, run, texts, tmp_path):
    gpu.faults["draw_z", 7] = OUT_OF_MEMORY("Out of memory allocating 5 bytes")
    code, out, err = train(
        run, texts, "--device", "gpu", "--checkpoint-every", 3, "--out", "m", "-q"
    )
    assert (code, out, err.count("\n")) == (2, "", 1)
    said = ": a step needs 0.0 MB more (Out of memory allocating 5 bytes)."
    assert err.startswith(f"polyaurn: The GPU ran out of memory{said}")
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
