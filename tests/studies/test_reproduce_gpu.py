"""The paper's experiments with chains on a GPU, for which `gpu_fake` stands in."""

import json
import re

import pytest

from polyaurn import InputError
from polyaurn.base.errors import DeviceWarning
from polyaurn.studies.paper.estimate import Estimate
from polyaurn.studies.paper.loop import Reproduction
from polyaurn.studies.paper.plan import PARTLY, SPARSE, URN
from support.gpu_fake import installed

STATISTICS = ("sha256_of_z", "work_per_token", "phi_nonzeros", "mean_min", "held_out", "coherence")


@pytest.fixture
def gpu(monkeypatch):
    return installed(monkeypatch)


@pytest.fixture
def scored_on(monkeypatch):
    """Score on the CPU whatever the device, and return the list of devices asked for."""
    from polyaurn.evaluate import held_out

    real, asked = held_out.score_documents, []

    def score(*given):
        asked.append(given[5])  # the device
        return real(*given[:5], "cpu", *given[6:])

    monkeypatch.setattr(held_out, "score_documents", score)
    return asked


def tiny(out, figure=None, **options):
    return Reproduction(out, figure, scale="tiny", threads=1, seeds=1, cores=(1,), **options)


def statistics_of(folder, kind):
    """Return the statistics that random draws decide, by cell, whatever it ran on."""
    found = {}
    for file in (folder / "cells").glob(f"{kind}-*"):
        record = json.loads(file.read_text())
        measured = record["measured"]
        values = {name: measured[name] for name in STATISTICS if name in measured}
        values["levels"] = [(point[0], point[2]) for point in measured.get("points", ())]
        found[re.sub(r"-threads1|-gpu", "", record["cell"])] = values
    return found


@pytest.mark.parametrize(("figure", "kind"), [("traces", "chain"), ("quality", "quality")])
def test_statistics_are_those_of_the_cpu(gpu, scored_on, tmp_path, figure, kind):
    for device in ("cpu", "gpu"):
        outcome = tiny(tmp_path / device, figure, device=device).run()
        assert (outcome.missing, outcome.failed) == (0, {})
    assert scored_on == (["cpu"] * 2 + ["gpu"] * 2 if figure == "quality" else [])
    here, there = (statistics_of(tmp_path / device, kind) for device in ("cpu", "gpu"))
    assert here == there
    assert len({values["sha256_of_z"] for values in here.values()}) == len(here) > 1
    names = [file.name for file in (tmp_path / "gpu" / "cells").glob(f"{kind}-*")]
    assert all("-gpu-" in name and "-threads" not in name for name in names)


def test_the_page_says_where_chains_ran(gpu, tmp_path):
    outcome = tiny(tmp_path, "complexity", device="gpu").run()
    assert outcome.results["setting"]["device"] == "gpu"
    [machine] = outcome.results["provenance"]["machines"]
    assert machine["gpu"] == "a fake"
    page = (tmp_path / "reproduction.html").read_text()
    assert "1 thread for what the CPU does, chains on the GPU" in page
    assert "ns per token" in page
    assert "core ns" not in page
    assert "several machines" not in page


def test_other_samplers_and_numbers_of_cores_stay_on_the_cpu(gpu, tmp_path):
    plan = tiny(tmp_path, device="gpu").plan
    where = {
        figure: {(cell.sampler, cell.device) for cell in cells if cell.sampler}
        for figure, cells in plan.cells.items()
    }
    for figure in ("traces", "phases", "quality", "sparsity"):
        assert where[figure] == {(URN, "gpu"), (PARTLY, "gpu")}
    assert {device for _, device in where["algorithms"] | where["cores"]} == {"cpu"}
    assert (SPARSE, "cpu") in where["algorithms"]
    assert len({cell.name for cell in plan.work()}) == len(plan.work())


def test_the_estimate_times_the_gpu_apart(gpu, tmp_path):
    made = tiny(tmp_path, "quality", device="gpu")
    estimate, left = made.estimate()
    [trial] = [name for name in made._trial if name.startswith(URN)]
    assert trial.endswith("-gpu")
    cell = next(cell for cell in left if cell.sampler == URN)
    slow = Estimate(made.plan, {trial: {"phi": 10.0, "z": 10.0}}, {})
    assert slow.seconds(cell) > 10.0 * estimate.seconds(cell)
    assert slow.seconds(cell._replace(threads=8)) == slow.seconds(cell)  # its threads do not help
    assert slow.seconds(cell._replace(device="cpu")) < 1.0  # of which this trial says nothing
    assert estimate.largest_phi(left) == 0.0  # it is not in the computer's memory


def test_a_folder_of_the_cpu_is_not_mixed(gpu, tmp_path):
    tiny(tmp_path, "corpora").run()
    with pytest.raises(InputError, match=r"same setting. It differs: device"):
        tiny(tmp_path, "corpora", device="gpu")


def test_without_a_gpu(run, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "polyaurn.backends.gpu.backend.GPU.missing", lambda self: "there is none here"
    )
    with pytest.warns(DeviceWarning, match="Running on the CPU: there is none here"):
        assert "device" not in tiny(tmp_path / "a", device="auto").setting
    command = ("reproduce", "traces", "--scale", "tiny", "--out", "b", "--only-list", "--device")
    code, _, err = run(*command, "gpu")
    assert (code, err.count("\n")) == (2, 1)
    assert "'--device' option is 'gpu', but there is none here. Use 'cpu'" in err
    assert not (tmp_path / "b").exists()
    code, out, err = run(*command, "auto")
    assert code == 0
    assert "Note: Running on the CPU: there is none here." in err
    assert "-gpu" not in out
