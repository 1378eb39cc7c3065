"""Labels in a model's folder: only the header is replaced, completely or not at all."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from polyaurn import LDA, InputError, exchange, load
from polyaurn.files.locks import locked
from polyaurn.model.folder import keep_labels, write_labels
from polyaurn.model.labels import column_names

FIRST = Path(__file__).parents[1] / "survival" / "version_0_1" / "model"


@pytest.fixture
def saved(trained, tmp_path):
    return trained.save(tmp_path / "m")


def files(folder):
    return {f.name: (f.read_bytes(), f.stat().st_ino) for f in folder.iterdir()}


def header(folder):
    return json.loads((folder / "model.json").read_text())


def test_only_the_header_is_replaced(trained, saved):
    before = files(saved)
    model = load(saved).label_topics({1: "One"})
    write_labels(model, saved)
    after = files(saved)
    assert {name for name in before if before[name] != after.get(name)} == {"model.json"}
    again = load(saved)
    assert again.parameters == model.parameters
    assert again.topics() == trained.topics()
    write_labels(again.label_topics({1: None}), saved)
    assert load(saved).parameters == trained.model_.parameters
    changed = {"sha256": None, "written_by": None}  # saving it again asks for force from now on
    assert header(saved) | changed == json.loads(before["model.json"][0]) | changed


def test_a_folder_of_version_0_1(tmp_path):
    folder = tmp_path / "old"
    shutil.copytree(FIRST, folder)
    model = load(folder).label_topics({0: "First"})
    write_labels(model, folder)
    again = load(folder)
    assert again.parameters["labels"][0] == "First"
    assert (again.assignments == model.assignments).all()


def test_a_write_that_fails_leaves_the_header(saved, monkeypatch):
    before = files(saved)["model.json"]
    monkeypatch.setattr(
        Path, "replace", lambda self, to: (_ for _ in ()).throw(OSError(28, "full"))
    )
    with pytest.raises(InputError, match="cannot be written: full"):
        write_labels(load(saved).label_topics({1: "One"}), saved)
    monkeypatch.undo()
    assert files(saved)["model.json"] == before
    assert not [file for file in saved.iterdir() if file.name.endswith(".new")]
    assert load(saved)


def test_labels_are_for_the_model_that_is_there(trained, saved, small):
    other = LDA(4, max_iter=41, verbose=False).fit(trained.corpus_)
    with pytest.raises(InputError, match="It holds another one; has it been replaced meanwhile"):
        write_labels(other.label_topics({1: "One"}), saved)
    header = json.loads((saved / "model.json").read_text())
    header["parameters"]["seed"] = 9
    (saved / "model.json").write_text(json.dumps(header))
    with pytest.raises(InputError, match=r"It is damaged \(model\.json was changed after"):
        write_labels(trained.label_topics({1: "One"}), saved)


def test_a_folder_that_is_being_written_to(saved):
    from concurrent.futures import ThreadPoolExecutor

    model = load(saved).label_topics({1: "One"})
    with (
        locked(saved),
        ThreadPoolExecutor(1) as pool,
        pytest.raises(InputError, match="is being written to by another thread"),
    ):
        pool.submit(write_labels, model, saved).result()


def test_labels_are_kept_for_the_same_run_only(trained, saved):
    write_labels(load(saved).label_topics({1: "One"}), saved)
    longer = LDA(4, max_iter=45, verbose=False).fit(trained.corpus_).model_
    assert keep_labels(longer, saved).parameters["labels"][1] == "One"
    other = LDA(4, max_iter=40, random_state=1, verbose=False).fit(trained.corpus_).model_
    assert "labels" not in keep_labels(other, saved).parameters
    imported = replace(longer, parameters={"n_topics": 4})
    assert "labels" not in keep_labels(imported, saved).parameters
    assert "labels" not in keep_labels(longer, saved / "none").parameters


def test_labels_of_a_stranger(trained):
    """Whatever a header says, it is no obstacle to labels."""
    for odd in ({"labels": {"0": "x"}}, {"labels": [1, None, [], {}], "label_requests": "x"},
                {"label_requests": [3, {}, {"topic": "x"}, {"topic": True}]}):  # fmt: skip
        model = replace(trained.model_, parameters=trained.model_.parameters | odd)
        assert len(set(model.topic_info(as_frame=False)["label"])) == 4
        named = model.label_topics({2: "Two"})
        assert named.parameters["labels"] == [None, None, "Two", None]
        assert "label_requests" not in named.parameters


def test_columns_are_unique_and_have_their_number():
    assert column_names(3, [None, "A", "A"]) == ["topic_0", "topic_1: A", "topic_2: A"]


def test_anndata_gets_labels_that_it_can_write(small, tmp_path):
    anndata = pytest.importorskip("anndata", reason="anndata is not installed")
    adata = anndata.AnnData(small.to_matrix().astype("float32"))
    adata.var_names = list(small.vocab)
    lda = LDA(3, max_iter=5, verbose=False).fit(exchange.from_anndata(adata))
    exchange.to_anndata(lda.label_topics({1: "One"}), adata)
    assert adata.uns["polyaurn"]["labels"].tolist() == ["", "One", ""]
