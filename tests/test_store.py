import json

import numpy as np
import pytest

from polyaurn import LDA, Corpus, InputError, load
from polyaurn.store import HEADER, check_target, save


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


def test_header_tells_what_repeats_the_run(model, tmp_path):
    save(model, tmp_path / "m")
    header = json.loads((tmp_path / "m" / HEADER).read_text())
    assert header["format_version"] == 1
    facts = header["parameters"]
    assert facts["seed"] == 0
    assert facts["sweeps"] == 5
    assert facts["sampler"] == "polya-urn"
    assert (facts["doc_topic_prior"], facts["topic_word_prior"]) == ("vector", 0.01)
    assert len(facts["corpus_sha256"]) == 64


def test_numbered_documents_need_no_list(small, tmp_path):
    lda = LDA(2, max_iter=2).fit(small)
    lda.save(tmp_path / "m")
    assert not (tmp_path / "m" / "doc_names.txt").exists()
    assert load(tmp_path / "m").doc_names[-1] == "60"


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


def test_a_folder_that_cannot_be_written_is_refused_before_long_work(tmp_path, monkeypatch):
    def denied(*arguments, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.mkdtemp", denied)  # root may write anywhere
    with pytest.raises(InputError, match="Permission denied"):
        check_target(tmp_path / "m")
    with pytest.raises(InputError, match="must be a path"):
        check_target(None)


def test_a_failed_write_leaves_nothing(model, tmp_path, monkeypatch):
    def full_disk(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", full_disk)
    with pytest.raises(InputError, match="No space left on device"):
        save(model, tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_missing_damaged_and_newer_models(model, tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        load(tmp_path / "none")
    with pytest.raises(InputError, match=r"has no model\.json"):
        load(tmp_path)
    folder = save(model, tmp_path / "m")
    header = json.loads((folder / HEADER).read_text())
    (folder / HEADER).write_text(json.dumps(header | {"format_version": 99}))
    with pytest.raises(InputError, match="upgrade polyaurn"):
        load(folder)
    (folder / HEADER).write_text(json.dumps(header))
    vocab = (folder / "vocab.txt").read_text()
    (folder / "vocab.txt").write_text(vocab + "extra\n")
    with pytest.raises(InputError, match="do not belong together"):
        load(folder)
    (folder / "vocab.txt").write_text(vocab)
    arrays = (folder / "arrays.npz").read_bytes()
    (folder / "arrays.npz").write_bytes(arrays[: len(arrays) // 2])
    with pytest.raises(InputError, match="damaged model"):
        load(folder)
    (folder / HEADER).write_text("{")
    with pytest.raises(InputError, match="damaged model"):
        load(folder)


def test_pickles_are_never_opened(model, tmp_path):
    folder = save(model, tmp_path / "m")
    np.savez(folder / "arrays.npz", alpha=np.array([object()], dtype=object))
    with pytest.raises(InputError, match="damaged model"):
        load(folder)
