"""The notebook of the documentation, executed in a kernel as a reader would."""

import json
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOK = ROOT / "docs" / "notebook.ipynb"
MOST = 4_000_000  # bytes of outputs, of which the report and the picture are most

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")


def outputs(cell, kind):
    """Return what a cell showed, of one kind; the last state of a display that was updated."""
    data = [output.get("data", {}) for output in cell.outputs]
    return [found[kind] for found in data if kind in found]


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    for package in ("matplotlib", "pandas", "plotly"):
        pytest.importorskip(package)
    folder = tmp_path_factory.mktemp("notebook")
    kernels = folder / "kernels" / "python3"
    kernels.mkdir(parents=True)
    start = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    about = {"argv": start, "display_name": "Python 3", "language": "python"}
    (kernels / "kernel.json").write_text(json.dumps(about))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(folder))
        patch.setenv("JUPYTER_PLATFORM_DIRS", "1")
        patch.setenv("IPYTHONDIR", str(folder / "ipython"))
        patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "src"), *sys.path[1:]]))
        notebook = nbformat.read(NOTEBOOK, as_version=4)
        (folder / "work").mkdir()
        client = nbclient.NotebookClient(
            notebook, timeout=240, kernel_name="python3",
            resources={"metadata": {"path": str(folder / "work")}},
        )  # fmt: skip
        client.execute()
    return notebook


def cell_with(notebook, text):
    return next(cell for cell in notebook.cells if cell.cell_type == "code" and text in cell.source)


def test_it_is_stored_without_outputs():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in code)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_every_cell_runs_and_shows_what_the_page_says(executed):
    said = [
        output.text
        for cell in executed.cells
        for output in cell.get("outputs", [])
        if output.output_type == "stream"
    ]
    assert said == []  # no warnings
    training = cell_with(executed, ".fit(corpus)")
    line, shown = outputs(training, "text/html")
    assert '<progress value="1.0000"' in line
    assert "sweep 60/60" in line
    assert "share of tokens" in shown
    assert "most frequent of" in outputs(cell_with(executed, "python_docs"), "text/html")[0]
    assert "The largest topic" in outputs(cell_with(executed, "label_topics"), "text/html")[0]
    for drawn in ("plot_dendrogram", "plot_per_class"):
        assert outputs(cell_with(executed, drawn), "image/png")
    assert any(
        "application/vnd.plotly.v1+json" in output.data
        for output in cell_with(executed, "plot_document_map").outputs
    )
    assert outputs(cell_with(executed, "lda.report"), "text/html")[0].startswith("<iframe")
    assert (
        "2 chains of 5 draws" in outputs(cell_with(executed, "sample_posterior"), "text/html")[-1]
    )
    assert outputs(cell_with(executed, "hierarchy"), "text/html")
    assert len(nbformat.writes(executed)) < MOST
