"""Files that are not ours: never deleted, never replaced, and in nobody's way."""

import json
import shutil

import numpy as np
import pytest

from polyaurn import LDA, InputError, load, write_report
from polyaurn.base.errors import CheckpointWarning
from polyaurn.files.names import CHECKPOINTS, CONFIG, HEADER
from polyaurn.model.folder import save

MINE = {
    "checkpoints/sweep-best.npz": b"mine",
    "checkpoints/sweep-000000001.npz": b"mine",
    "checkpoints/sweep-000000002.json": b'{"mine": 1}',
    "checkpoints/sweep-000000003-2.npz": b"mine",
    "checkpoints/.draft.new": b"mine",
    "checkpoints/.draft.0badf00d.new": b"mine",
    "checkpoints/notes.txt": b"mine",
    ".lock": b"mine",
    ".draft.new": b"mine",
    ".draft.0badf00d.new": b"mine",
    "notes.txt": b"mine",
}


def put(folder, files):
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def still_there(folder, files):
    assert {name: (folder / name).read_bytes() for name in files} == files


def lda(folder=None, **options):
    given = {"max_iter": 6, "checkpoint_every": 1, "warm_start": "smooth"} | options
    return LDA(3, checkpoint=folder, verbose=False, **given)


def test_checkpoints_do_not_touch_files_of_others(small, tmp_path):
    put(tmp_path, MINE)
    with pytest.warns(CheckpointWarning, match=r"sweep-000000001.npz' is not a checkpoint"):
        lda(tmp_path, callbacks=lambda state, info: info.sweep == 4).fit(small)
    still_there(tmp_path, MINE)
    again = lda(tmp_path, resume=True).fit(small)
    assert np.array_equal(again.assignments_, lda().fit(small).assignments_)
    still_there(tmp_path, MINE)
    ours = {p.name for p in (tmp_path / CHECKPOINTS).glob("sweep-00000000[456].json")}
    assert ours == {"sweep-000000005.json", "sweep-000000006.json"}


def test_an_archive_of_arrays_with_a_name_like_ours_stays(small, tmp_path):
    (tmp_path / CHECKPOINTS).mkdir()
    np.savez(tmp_path / CHECKPOINTS / "sweep-000000009.npz", weights=np.arange(3))
    before = (tmp_path / CHECKPOINTS / "sweep-000000009.npz").read_bytes()
    lda(tmp_path).fit(small)
    assert (tmp_path / CHECKPOINTS / "sweep-000000009.npz").read_bytes() == before


def test_what_a_killed_writer_left_among_checkpoints_is_removed(small, tmp_path):
    lda(tmp_path, callbacks=lambda state, info: info.sweep == 3).fit(small)
    inside = tmp_path / CHECKPOINTS
    shutil.copy(inside / "sweep-000000002.npz", inside / "sweep-000000009.npz")  # without header
    (inside / ".sweep-000000009.npz.0badf00d.new").write_bytes(b"half")
    lda(tmp_path, resume=True).fit(small)
    assert sorted(p.name for p in inside.iterdir()) == [
        "sweep-000000005.json", "sweep-000000005.npz",
        "sweep-000000006.json", "sweep-000000006.npz",
    ]  # fmt: skip


@pytest.mark.parametrize("options", [(), ("--resume",), ("--force",)])
def test_a_run_killed_inside_its_first_checkpoint_can_begin_again(run, texts, tmp_path, options):
    """The arrays are there, or a part of them, and no header yet."""
    line = ("train", texts, "-k", 2, "--seed", 3, "--sweeps", 5, "--out")
    kept = tmp_path / "kept"
    lda(kept, warm_start="random", callbacks=lambda state, info: True).fit([[1, 2], [2, 1]])
    arrays = (kept / CHECKPOINTS / "sweep-000000001.npz").read_bytes()
    assert run(*line, "whole")[0] == 0
    for number, left in enumerate([
        {"checkpoints/sweep-000000001.npz": arrays},
        {"checkpoints/.sweep-000000001.npz.0badf00d.new": arrays[:99]},
        {"checkpoints/sweep-000000001.npz": arrays, "checkpoints/.DS_Store": b"mac",
         "checkpoints/.sweep-000000001.json.0badf00d.new": b"{"},
        {"chain-0001/checkpoints/.sweep-000000001.npz.0badf00d.new": b""},
    ]):  # fmt: skip
        put(tmp_path / f"m{number}", left)
        code, _, err = run(*line, f"m{number}", *options)
        assert code == 0, err
        assert load(tmp_path / f"m{number}").assignments.tobytes() == (
            load(tmp_path / "whole").assignments.tobytes()
        )


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize(
    "name", ["config.toml", "vocab.txt", "arrays-2.npz", "model.json", "timings.jsonl", "notes.txt"]
)
def test_train_writes_into_no_folder_of_others(run, texts, tmp_path, name, force):
    put(tmp_path / "m", {name: b'{"files": {"notes.txt": {"file": "notes.txt"}}}'})
    code, _, err = run("train", texts, "--out", "m", "-k", 2, *["--force"] * force)
    assert code == 2
    assert name in err
    assert [p.name for p in (tmp_path / "m").iterdir()] == [name]


def test_train_does_not_touch_checkpoints_of_others(run, texts, tmp_path):
    put(tmp_path / "m", {k: v for k, v in MINE.items() if "/" in k})
    code, _, err = run("train", texts, "--out", "m", "-k", 2)
    assert code == 2
    assert "'checkpoints'" in err
    still_there(tmp_path / "m", {k: v for k, v in MINE.items() if "/" in k})


def test_a_name_of_ours_that_the_model_has_not_is_not_replaced(small, tmp_path):
    """Documents with numbers need no list of names; a list that is there is the user's."""
    model = lda().fit(small).model_
    save(model, tmp_path / "m")
    put(tmp_path / "m", {"doc_names.txt": b"mine"})
    with pytest.raises(InputError, match=r"doc_names\.txt' is not part of a model"):
        save(model, tmp_path / "m", force=True)
    still_there(tmp_path / "m", {"doc_names.txt": b"mine"})


def test_a_header_cannot_name_files_elsewhere_for_deletion(small, tmp_path):
    model = lda().fit(small).model_
    folder = save(model, tmp_path / "m")
    put(tmp_path, {"precious": b"mine", "m/other.txt": b"mine"})
    header = json.loads((folder / HEADER).read_text())
    header["files"] |= {name: {"file": name} for name in ("../precious", "other.txt")}
    (folder / HEADER).write_text(json.dumps(header))
    save(model, folder, force=True)
    still_there(tmp_path, {"precious": b"mine", "m/other.txt": b"mine"})
    assert load(folder).topics() == model.topics()


LEFT = {
    ".DS_Store": b"mac", "Thumbs.db": b"windows", "desktop.ini": b"windows", "._model.json": b"mac",
    "report.html": b"<html>", "figures/map.png": b"png", ".draft.new": b"mine",
}  # fmt: skip


def test_files_beside_a_model_do_not_block_it_and_stay(run, texts, tmp_path):
    line = ("train", texts, "--out", "m", "-k", 2, "--seed", 3)
    assert run(*line, "--sweeps", 5)[0] == 0
    put(tmp_path / "m", LEFT)
    for options in (["--sweeps", 8, "--resume"], ["--sweeps", 4, "--force"]):
        code, _, err = run(*line, *options)
        assert code == 0, err
        assert load(tmp_path / "m").parameters["sweeps"] == options[1]
        still_there(tmp_path / "m", LEFT)
    load(tmp_path / "m").save(tmp_path / "m", force=True)
    still_there(tmp_path / "m", LEFT)


def test_what_systems_leave_does_not_make_a_folder_full(small, tmp_path):
    left = {name: content for name, content in LEFT.items() if content in (b"mac", b"windows")}
    put(tmp_path / "m", left)
    lda().fit(small).save(tmp_path / "m")
    still_there(tmp_path / "m", left)


def test_a_failed_save_keeps_the_config(run, texts, tmp_path, monkeypatch):
    """Of the old model, until the new one is there; of the new one, or none, from then on."""

    def full_disk(*arguments, **options):
        raise OSError(28, "No space left on device")

    run("train", texts, "--out", "m", "-k", 2, "--sweeps", 5, "--ngrams", 2)
    before = {p.name: p.read_bytes() for p in (tmp_path / "m").iterdir()}
    model = lda().fit(["other words", "more words"]).model_
    for broken in ("numpy.savez", "os.fsync"):
        with monkeypatch.context() as patch:
            patch.setattr(broken, full_disk)
            with pytest.raises(InputError, match="No space left"):
                model.save(tmp_path / "m", force=True)
            code, _, err = run("train", texts, "--out", "m", "-k", 2, "--sweeps", 5, "--force")
            assert code == 2
            assert "No space left" in err
        assert {p.name: p.read_bytes() for p in (tmp_path / "m").iterdir()} == before
    model.save(tmp_path / "m", force=True)
    assert not (tmp_path / "m" / CONFIG).exists()


def test_the_config_of_another_model_is_not_used(run, texts, tmp_path):
    """As when the power is cut between the new header and the new config."""
    run("train", texts, "--out", "m", "-k", 2, "--sweeps", 5, "--token-pattern", "[a-c]+")
    config = (tmp_path / "m" / CONFIG).read_text()
    run("infer", "m", texts, "--out", "right.csv")
    run("train", texts, "--out", "m", "-k", 2, "--sweeps", 5, "--force")
    run("infer", "m", texts, "--out", "new.csv")
    (tmp_path / "m" / CONFIG).write_text(config)
    code, _, err = run("infer", "m", texts, "--out", "old.csv")
    assert code == 0, err
    assert (tmp_path / "old.csv").read_bytes() == (tmp_path / "new.csv").read_bytes()


def test_save_replaces_what_it_wrote_and_nothing_else(small, tmp_path):
    """A cell of a notebook can be run again; files beside the model stay."""
    first, second = lda().fit(small).model_, lda(random_state=1).fit(small).model_
    first.save(tmp_path / "m")
    put(tmp_path / "m", LEFT)
    second.save(tmp_path / "m")
    assert np.array_equal(load(tmp_path / "m").assignments, second.assignments)
    still_there(tmp_path / "m", LEFT)
    fresh = second.save(tmp_path / "n")
    assert (fresh / HEADER).read_bytes() == (tmp_path / "m" / HEADER).read_bytes()


def changed_words(folder):
    (folder / "vocab.txt").write_bytes((folder / "vocab.txt").read_bytes().replace(b"w1\n", b"x\n"))


def changed_writer(folder):
    text = (folder / HEADER).read_text()
    (folder / HEADER).write_text(text.replace('"sampler"', '"Sampler"'))


NOT_OF_SAVE = {
    "words were changed": changed_words,
    "the header was changed": changed_writer,
    "a config was added": lambda folder: (folder / CONFIG).write_text("topics = 3\n"),
    "a run was begun": lambda folder: (folder / CHECKPOINTS).mkdir(),
    "chains were begun": lambda folder: (folder / "chain-0000").mkdir(),
    "the arrays are gone": lambda folder: (folder / "arrays.npz").unlink(),
}


@pytest.mark.parametrize("how", NOT_OF_SAVE)
def test_what_save_wrote_is_not_replaced_after_a_change(small, tmp_path, how):
    model = lda().fit(small).model_
    folder = model.save(tmp_path / "m")
    NOT_OF_SAVE[how](folder)
    before = {p.name: p.is_dir() or p.read_bytes() for p in folder.iterdir()}
    with pytest.raises(InputError, match="force=True"):
        model.save(folder)
    assert {p.name: p.is_dir() or p.read_bytes() for p in folder.iterdir()} == before


def test_models_of_other_writers_are_replaced_only_with_force(run, texts, small, tmp_path):
    model = lda().fit(small).model_
    assert run("train", texts, "--out", "trained", "-k", 2, "--sweeps", 5, "-q")[0] == 0
    save(model, tmp_path / "imported")
    for name in ("trained", "imported"):
        with pytest.raises(InputError, match="already holds a model"):
            model.save(tmp_path / name)
    model.save(tmp_path / "saved")
    code, _, err = run("train", texts, "--out", "saved", "-k", 2, "--sweeps", 5)
    assert (code, "already holds a model" in err) == (2, True)


def test_write_report_replaces_its_own_pages_and_no_others(run, small, tmp_path):
    model = lda().fit(small).model_
    page = write_report(model, tmp_path / "r.html", title="First")
    first = page.read_bytes()
    write_report(model, page, title="Second")
    second = page.read_bytes()
    assert b"Second" in second
    assert first != second
    for content in (b"", b"mine", second + b"mine", second.replace(b"Second", b"Mine"), first[:-9]):
        page.write_bytes(content)
        with pytest.raises(InputError, match="is there already"):
            write_report(model, page)
        assert page.read_bytes() == content
    model.save(tmp_path / "m")
    assert run("report", "m", "--out", "c.html", "-q")[0] == 0
    with pytest.raises(InputError, match="is there already"):
        write_report(model, tmp_path / "c.html")


def test_a_saved_model_that_was_labelled_is_not_replaced_unasked(run, small, tmp_path):
    lda = LDA(3, max_iter=3, verbose=False).fit(small)
    folder = lda.save(tmp_path / "model")
    assert run("label", folder, "1=Space", "-q")[0] == 0
    with pytest.raises(InputError, match="force"):
        lda.save(folder)
    assert load(folder).parameters["labels"] == [None, "Space", None]
