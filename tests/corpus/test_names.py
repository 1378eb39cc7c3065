"""Names that cannot be stored are noticed at the door, before long work."""

import os

import pytest

from polyaurn import Corpus, InputError, load

HALF = "half \udc80 of it"


def test_half_a_character_in_a_name_or_a_word_is_rejected():
    with pytest.raises(InputError, match=r"'doc_names' parameter .* at position 2, .*surrogate"):
        Corpus.from_texts(["red apple", "green leaf"], doc_names=["whole", HALF])
    with pytest.raises(InputError, match=r"'vocab' parameter .* at position 1, .*surrogate"):
        Corpus.from_matrix([[1, 2]], [HALF, "leaf"])
    with pytest.raises(InputError, match="surrogate"):
        Corpus.from_texts(["a\ud800b red"], tokenizer=str.split)


def test_whole_characters_of_any_plane_are_taken():
    names = ["\U0001f333", "été", "\uffff", "\ue000"]
    corpus = Corpus.from_texts(["red apple"] * 4, doc_names=names)
    assert list(corpus.doc_names) == names


def test_a_folder_with_a_name_that_is_not_unicode(run, tmp_path):
    (tmp_path / "texts").mkdir()
    try:
        (tmp_path / "texts" / os.fsdecode(b"\xff.txt")).write_text("red apple")
    except OSError:
        pytest.skip("this disk takes only names of Unicode")
    (tmp_path / "texts" / "b.txt").write_text("green leaf")
    code, _, err = run("train", "texts", "--out", "m", "-k", 2, "--sweeps", 2)
    assert code == 0, err
    assert "\ufffd" in "".join(load(tmp_path / "m").doc_names)  # readers replace what is not
