import hashlib
import json
import tracemalloc
import zipfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from polyaurn import LDA, Corpus, InputError, load
from polyaurn.files.locks import LOCK
from polyaurn.files.names import HEADER, TIMINGS
from polyaurn.model.contents import WRITING
from polyaurn.model.folder import check_target, save

FILES = ["arrays.npz", "vocab.txt", "trace.jsonl", "doc_names.txt", TIMINGS]


@pytest.fixture(scope="module")
def model():
    corpus = Corpus.from_texts(
        ["red apple", "green été leaf", "apple\u2028tree leaf"], doc_names=["a", "b\tb", "c"]
    )
    return LDA(3, max_iter=5, doc_topic_prior=[0.1, 0.2, 0.3]).fit(corpus).model_


def test_round_trip_keeps_every_byte(model, tmp_path):
    save(model, tmp_path / "deep" / "m")
    again = load(tmp_path / "deep" / "m")
    for name in ("topic_word_counts", "doc_topic_counts"):
        assert (getattr(again, name) != getattr(model, name)).nnz == 0
        assert getattr(again, name).dtype == np.int32
    assert again.assignments.tobytes() == model.assignments.tobytes()
    assert again.vocab == model.vocab
    assert list(again.doc_names) == list(model.doc_names) == ["a", "b b", "c"]
    assert again.trace == model.trace
    assert again.parameters == model.parameters
    assert again.priors.alpha.tolist() == [0.1, 0.2, 0.3]
    assert again.topics() == model.topics()
    assert sorted(p.name for p in (tmp_path / "deep").iterdir()) == ["m"]


def test_the_header_has_what_repeats_the_run(model, tmp_path):
    save(model, tmp_path / "m")
    header = json.loads((tmp_path / "m" / HEADER).read_text())
    assert header["format_version"] == 2
    facts = header["parameters"]
    assert facts["seed"] == 0
    assert facts["sweeps"] == 5
    assert facts["sampler"] == "partitioned"
    assert (facts["doc_topic_prior"], facts["topic_word_prior"]) == ("vector", 0.01)
    assert len(facts["corpus_sha256"]) == 64


def test_numbered_documents_need_no_list(small, tmp_path):
    lda = LDA(2, max_iter=2).fit(small)
    lda.save(tmp_path / "m")
    assert not (tmp_path / "m" / "doc_names.txt").exists()
    assert load(tmp_path / "m").doc_names[-1] == "59"


def test_a_model_is_replaced_only_with_force_and_other_files_never(model, tmp_path):
    save(model, tmp_path / "m")
    with pytest.raises(InputError, match="already holds a model"):
        save(model, tmp_path / "m")
    save(model, tmp_path / "m", force=True)
    assert load(tmp_path / "m").topics() == model.topics()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.doc").write_text("years of work")
    with pytest.raises(InputError, match="holds other files"):
        save(model, tmp_path / "other", force=True)
    assert (tmp_path / "other" / "thesis.doc").exists()
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file"):
        save(model, tmp_path / "file")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "m", "other"]


def test_a_folder_that_cannot_be_written_is_rejected_before_long_work(tmp_path, monkeypatch):
    def denied(*arguments, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.mkdtemp", denied)  # root may write anywhere
    with pytest.raises(InputError, match="Permission denied"):
        check_target(tmp_path / "m")
    with pytest.raises(InputError, match="must be a path"):
        check_target(None)


def test_a_failed_write_leaves_nothing_and_keeps_what_was_there(model, tmp_path, monkeypatch):
    def full_disk(*args, **kwargs):
        raise OSError(28, "No space left on device")

    save(model, tmp_path / "old")
    for broken in ("numpy.savez", "os.fsync"):
        with monkeypatch.context() as patch:
            patch.setattr(broken, full_disk)
            with pytest.raises(InputError, match="No space left on device"):
                save(model, tmp_path / "new")
            with pytest.raises(InputError, match="No space left on device"):
                save(model, tmp_path / "old", force=True)
        assert [p.name for p in tmp_path.iterdir()] == ["old"]
        assert load(tmp_path / "old").topics() == model.topics()


def test_the_same_model_has_the_same_bytes_but_for_timings(tmp_path):
    texts = ["red apple tree", "green leaf tree"] * 5
    for name, threads in (("a", 1), ("b", 2)):
        LDA(2, max_iter=8, n_jobs=threads).fit(texts).save(tmp_path / name)
    one, other = (
        {p.name: p.read_bytes() for p in (tmp_path / name).iterdir()} for name in ("a", "b")
    )
    assert one.keys() == other.keys()
    assert {name for name in one if one[name] != other[name]} == {TIMINGS}


def test_replacing_a_model_needs_no_instant_without_one(model, tmp_path, monkeypatch):
    """Whatever file is the last one to be renamed, a whole model is in the folder."""
    folder = save(model, tmp_path / "m")
    newer = replace(model, parameters=model.parameters | {"mark": 1}, trace=model.trace[:4])
    rename, left = Path.replace, None

    def cut_off(self, target):
        nonlocal left
        if left == 0:
            raise KeyboardInterrupt
        left -= 1
        return rename(self, target)

    marks = []
    for renames in range(8):
        left = renames
        with monkeypatch.context() as patch, suppress(KeyboardInterrupt):
            patch.setattr(Path, "replace", cut_off)
            save(newer, folder, force=True)
        found = load(folder)
        marks.append((found.parameters.get("mark"), len(found.trace), "seconds" in found.trace[0]))
    assert marks == [(None, 5, True)] * 5 + [(1, 4, False)] + [(1, 4, True)] * 2
    assert sorted(p.name for p in folder.iterdir()) == sorted([*FILES, HEADER])


def damaged(folder):
    with pytest.raises(InputError, match="damaged model") as error:
        load(folder)
    return str(error.value)


def test_missing_and_newer_models(model, tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        load(tmp_path / "none")
    with pytest.raises(InputError, match=r"has no model\.json"):
        load(tmp_path)
    folder = save(model, tmp_path / "m")
    header = json.loads((folder / HEADER).read_text())
    (folder / HEADER).write_text(json.dumps(header | {"format_version": 99}))
    with pytest.raises(InputError, match="upgrade polyaurn"):
        load(folder)
    for text, reason in (
        (json.dumps(header | {"polyaurn_version": "9"}), "model.json was changed"),
        (json.dumps(header | {"format": "x"}), "is of format 'x'"),
        (json.dumps(header | {"format_version": "2"}), "format version '2'"),
        ("{", "not JSON"),
        ("[" * 200_000, "not JSON"),
        ("[1]", "not a JSON object"),
    ):
        (folder / HEADER).write_text(text)
        assert reason in damaged(folder)


@pytest.mark.parametrize("name", FILES)
def test_every_flipped_byte_is_noticed(model, tmp_path, name):
    folder = save(model, tmp_path / "m")
    whole = (folder / name).read_bytes()
    for at in np.random.default_rng(0).integers(len(whole), size=25):
        broken = bytearray(whole)
        broken[at] ^= 1
        (folder / name).write_bytes(broken)
        assert name in damaged(folder)
    (folder / name).write_bytes(whole[:-5])
    assert name in damaged(folder)
    (folder / name).unlink()
    if name == TIMINGS:  # the one that may be missing: it says nothing of the model
        assert "seconds" not in load(folder).trace[0]
    else:
        assert "No such file" in damaged(folder)


def sealed_again(folder, change):
    """Change a model as an enemy would, who can compute checksums."""
    header = json.loads((folder / HEADER).read_text())
    change(header)
    for fact in header["files"].values():
        if (folder / fact["file"]).exists():
            content = (folder / fact["file"]).read_bytes()
            fact |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    header.pop("sha256")
    text = json.dumps(header, sort_keys=True, separators=(",", ":"))
    header["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    (folder / HEADER).write_text(json.dumps(header))


ENEMIES = {
    "topics out of range": lambda a: a["assignments"].fill(9),
    "words out of range": lambda a: a["topic_word_counts.indices"].fill(99),
    "negative words": lambda a: a["topic_word_counts.indices"].fill(-1),
    "words twice": lambda a: a["topic_word_counts.indices"].fill(0),
    "counts below one": lambda a: a["topic_word_counts.data"].fill(0),
    "rows that overlap": lambda a: a["topic_word_counts.indptr"].fill(3),
    "documents that overlap": lambda a: a["doc_ptr"].fill(7),
    "no prior": lambda a: a["alpha"].fill(np.nan),
    "counts of another chain": lambda a: a["topic_word_counts.data"].__imul__(2),
    "fewer tokens": lambda a: a.update(assignments=a["assignments"][:-1]),
    "another type": lambda a: a.update(assignments=a["assignments"].astype(np.uint8)),
    "two dimensions": lambda a: a.update(alpha=a["alpha"][None]),
    "a pickle": lambda a: a.update(alpha=np.array([print], dtype=object)),
    "text": lambda a: a.update(beta=np.array(["0.1"] * len(a["beta"]))),
    "an array missing": lambda a: a.pop("beta"),
}


@pytest.mark.parametrize("enemy", ENEMIES)
def test_an_enemy_who_can_compute_checksums_is_rejected(model, tmp_path, enemy):
    folder = save(model, tmp_path / "m")
    with np.load(folder / "arrays.npz") as opened:
        arrays = {name: opened[name].copy() for name in opened.files}
    ENEMIES[enemy](arrays)
    np.savez(folder / "arrays.npz", **arrays)
    sealed_again(folder, lambda header: None)
    damaged(folder)


@pytest.mark.parametrize(
    "change",
    [
        lambda a: a["pseudo_counts.data"].fill(0),
        lambda a: a["pseudo_counts.data"].fill(-5),
        lambda a: a["pseudo_counts.data"].fill(2**31 - 1),
        lambda a: a["pseudo_counts.indices"].fill(99),
        lambda a: a["pseudo_counts.indptr"].fill(1),
        lambda a: a.update({"pseudo_counts.data": np.full(1, np.nan)}),
        lambda a: a.update({"pseudo_counts.indptr": np.array([0, 1, 1])}),
        lambda a: a.pop("pseudo_counts.data"),
    ],
)
def test_pseudo_counts_that_are_inconsistent_are_rejected(tmp_path, change):
    lda = LDA(3, max_iter=2, seed_words={1: ["leaf"]}, verbose=False).fit(["apple leaf", "tree"])
    folder = lda.save(tmp_path / "m")
    with np.load(folder / "arrays.npz") as opened:
        arrays = {name: opened[name].copy() for name in opened.files}
    sealed_again(folder, lambda header: None)
    assert load(folder).priors.pseudo.number.tolist() == [1]
    change(arrays)
    np.savez(folder / "arrays.npz", **arrays)
    sealed_again(folder, lambda header: None)
    damaged(folder)


@pytest.mark.parametrize(
    "change",
    [
        lambda h: h.update(pseudo_counts=True),
        lambda h: h["parameters"].update(n_topics=70_000),
        lambda h: h["parameters"].update(n_topics=2.0),
        lambda h: h["parameters"].update(n_documents=10**12),
        lambda h: h["parameters"].update(n_words=-1),
        lambda h: h.update(parameters=[]),
        lambda h: h.update(files=[]) or h.update(files={"x.txt": {"file": "../x.txt"}}),
        lambda h: h["files"]["vocab.txt"].update(file="../vocab.txt"),
        lambda h: h["files"].pop("trace.jsonl"),
        lambda h: h["files"].update({"/etc/passwd": {"file": "/etc/passwd"}}),
    ],
)
def test_headers_that_are_inconsistent_are_rejected(model, tmp_path, change):
    folder = save(model, tmp_path / "m")
    (tmp_path / "vocab.txt").write_bytes((folder / "vocab.txt").read_bytes())
    sealed_again(folder, change)
    damaged(folder)


def test_a_bomb_takes_no_memory(model, tmp_path):
    folder = save(model, tmp_path / "m")
    with (
        zipfile.ZipFile(folder / "arrays.npz", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("assignments.npy", "w") as file,
    ):
        head = {"descr": "<u2", "fortran_order": False, "shape": (1 << 27,)}
        np.lib.format.write_array_header_1_0(file, head)
        for _ in range(1 << 8):
            file.write(bytes(1 << 20))
    sealed_again(folder, lambda header: None)
    tracemalloc.start()
    assert "claims 268,435" in damaged(folder)
    assert tracemalloc.get_traced_memory()[1] < 20e6
    tracemalloc.stop()


def test_an_archive_that_claims_more_than_it_has(model, tmp_path):
    folder = save(model, tmp_path / "m")
    with (
        zipfile.ZipFile(folder / "arrays.npz", "w") as archive,
        archive.open("assignments.npy", "w") as file,
    ):
        head = {"descr": "<u2", "fortran_order": False, "shape": (10**12,)}
        np.lib.format.write_array_header_1_0(file, head)
    sealed_again(folder, lambda header: None)
    assert "claims 2,000,000,000,000 bytes" in damaged(folder)


def test_models_of_the_first_format_are_read(model, tmp_path):
    folder = tmp_path / "first"
    folder.mkdir()
    arrays = {"assignments": model.assignments}
    arrays |= {"alpha": model.priors.alpha, "beta": model.priors.beta}
    for name in ("topic_word_counts", "doc_topic_counts"):
        for part in ("data", "indices", "indptr"):
            arrays[f"{name}.{part}"] = getattr(getattr(model, name), part)
    np.savez_compressed(folder / "arrays.npz", **arrays)
    texts = {"vocab.txt": model.vocab, "doc_names.txt": model.doc_names}
    texts["trace.jsonl"] = [json.dumps(record) for record in model.trace]
    for name, lines in texts.items():
        (folder / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    header = {
        "format": "polyaurn-model", "format_version": 1, "polyaurn_version": "0.1.0",
        "parameters": model.parameters, "numbered_documents": False,
    }  # fmt: skip
    (folder / HEADER).write_text(json.dumps(header))
    again = load(folder)
    assert again.topics() == model.topics()
    assert (again.doc_topic_counts != model.doc_topic_counts).nnz == 0
    assert again.trace == model.trace


def test_what_an_interrupted_writer_left_is_no_obstacle(model, tmp_path):
    folder = tmp_path / "m"
    folder.mkdir()
    for name in ("arrays.npz", ".arrays.npz.0badf00d.new", "vocab-2.txt", WRITING):
        (folder / name).write_bytes(b"half")
    (folder / LOCK).write_bytes(b"polyaurn 1234\n")
    save(model, folder)
    assert load(folder).topics() == model.topics()
    left = {entry.name for entry in folder.iterdir()}
    assert left == {entry.name for entry in save(model, tmp_path / "new").iterdir()}


def test_what_fuzzing_found_in_model_folders(model, tmp_path):
    """A header that NumPy's tokenizer trips over; a reason as long as the file."""
    folder = save(model, tmp_path / "m")
    whole = (folder / "arrays.npz").read_bytes()
    at = whole.index(b"'descr'")
    (folder / "arrays.npz").write_bytes(whole[:at] + b"(((((((" + whole[at + 7 :])
    sealed_again(folder, lambda header: None)
    assert "damaged model (" in damaged(folder)
    (folder / HEADER).write_text(json.dumps({"format": "x" * 100_000}))
    assert len(damaged(folder)) < 600
