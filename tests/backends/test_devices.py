"""Who may have a GPU, and what is said without one; no GPU is needed, `gpu_fake` stands in."""

import json
import tomllib
from types import SimpleNamespace

import pytest

import polyaurn
from polyaurn import InputError
from polyaurn.backends.gpu import toolkit
from polyaurn.backends.gpu.device_arrays import DevicePhi
from polyaurn.backends.registry import BACKENDS, check_device
from polyaurn.base.errors import DeviceWarning
from polyaurn.files.names import CONFIG
from polyaurn.training.sweeps import sweeps
from support.gpu_fake import RUNTIME, contents, lda, summary, train


@pytest.mark.parametrize("absent", ["numba_cuda", "cupy"])
def test_a_package_that_is_missing_is_named(monkeypatch, absent):
    there = {"numba_cuda", "cupy"} - {absent}
    monkeypatch.setattr(
        "polyaurn.backends.gpu.backend.find_spec", lambda name: name in there or None
    )
    package = {"numba_cuda": "numba-cuda", "cupy": "CuPy"}[absent]
    with pytest.raises(InputError) as raised:
        check_device("gpu")
    assert str(raised.value) == (
        f"The 'device' parameter is 'gpu', but the package {package} is not installed (pip install "
        "'polyaurn[gpu]' brings it). Use 'cpu', or 'auto' to take a GPU only where there is one."
    )


def with_driver(monkeypatch, count, driver=0):
    """Let both packages be there, and count the GPUs as a function does."""
    runtime = SimpleNamespace(
        getDeviceCount=count, driverGetVersion=lambda: driver, runtimeGetVersion=lambda: 13000
    )
    module = SimpleNamespace(cuda=SimpleNamespace(runtime=runtime))
    monkeypatch.setattr("polyaurn.backends.gpu.backend.find_spec", lambda name: True)
    monkeypatch.setattr("polyaurn.backends.gpu.toolkit.cupy", lambda: module)


def test_a_missing_driver_and_a_missing_gpu_are_distinguished(monkeypatch):
    def no_driver():
        raise RUNTIME("cudaErrorInsufficientDriver: CUDA driver is insufficient\nand more")

    with_driver(monkeypatch, no_driver)
    assert BACKENDS["gpu"].missing() == (
        "there is no NVIDIA GPU or no driver for one "
        "(cudaErrorInsufficientDriver: CUDA driver is insufficient)"
    )
    with_driver(monkeypatch, lambda: 0)
    with pytest.raises(InputError, match=r"'gpu', but there is no NVIDIA GPU \(nvidia-smi -L"):
        check_device("gpu")
    with_driver(monkeypatch, lambda: 1)
    assert check_device("gpu") == check_device("auto") == "gpu"


@pytest.mark.parametrize("hides", ["", "-1"])
def test_an_environment_that_hides_every_gpu_is_named(monkeypatch, hides):
    def none_there():
        raise RUNTIME("cudaErrorNoDevice: no CUDA-capable device is detected")

    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", hides)
    for count in (none_there, lambda: 0):
        with_driver(monkeypatch, count)
        with pytest.raises(InputError, match=f"CUDA_VISIBLE_DEVICES is '{hides}', which hides"):
            check_device("gpu")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    assert "nvidia-smi" in BACKENDS["gpu"].missing()


def test_an_old_driver_is_named(monkeypatch):
    def too_old():
        raise RUNTIME("cudaErrorInsufficientDriver: CUDA driver version is insufficient")

    with_driver(monkeypatch, too_old, driver=12040)
    assert BACKENDS["gpu"].missing() == (
        "its driver is too old: it supports CUDA 12.4, and the packages are for CUDA 13.0 "
        "(update the driver, or pip install 'polyaurn[gpu-cuda12]')"
    )
    with_driver(monkeypatch, too_old, driver=0)
    assert "no driver for one" in BACKENDS["gpu"].missing()


@pytest.mark.parametrize("said", ["libnvrtc.so.13: no such file\nand more", ""])
def test_packages_that_do_not_load_are_reported(monkeypatch, said):
    def broken():
        raise ImportError(said)

    with_driver(monkeypatch, lambda: 1)
    monkeypatch.setattr("polyaurn.backends.gpu.toolkit.cupy", broken)
    first = "libnvrtc.so.13: no such file" if said else "ImportError"
    lacking = f"its packages cannot be loaded ({first}; pip install 'polyaurn[gpu]' brings them)"
    assert BACKENDS["gpu"].missing() == lacking
    with pytest.warns(DeviceWarning, match="cannot be loaded"):
        assert check_device("auto") == "cpu"


def test_a_limit_of_memory_that_is_no_number_is_rejected(monkeypatch):
    monkeypatch.setenv("POLYAURN_GPU_MEMORY", "40GB")
    with pytest.raises(InputError, match=r"POLYAURN_GPU_MEMORY must be a whole .* Got '40GB'"):
        toolkit.free_bytes()


def test_a_phi_that_was_drawn_over_is_rejected():
    layout = SimpleNamespace(phi_version=3)
    phi = DevicePhi(layout, 0, {})
    layout.phi_version += 1
    with pytest.raises(InputError, match="no longer on the GPU"):
        phi.on_host()


def test_auto_falls_back_with_a_warning_at_the_users_line(no_gpu, corpus, tmp_path):
    with pytest.warns(DeviceWarning, match=r"^Running on the CPU: there is none here\.$") as said:
        found = lda("auto").fit(corpus)
    assert [warning.filename for warning in said] == [__file__]
    assert summary(found.model_) == summary(lda().fit(corpus).model_)
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
def test_an_unknown_device_is_rejected(corpus, value, tmp_path):
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


# At the command line


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
