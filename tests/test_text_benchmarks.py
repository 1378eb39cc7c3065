"""What the benchmark of defaults for text computes, and what the page says of it."""

import importlib
import io
import subprocess
import sys
import tarfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from polyaurn import Corpus

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
PAGE = BENCHMARKS.parent / "docs" / "preparing_text.md"
RESULTS = [
    BENCHMARKS / "results" / f"text_defaults{rest}.json" for rest in ("", "-larger", "-subjects")
]


@pytest.fixture(autouse=True)
def _benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)


def test_a_word_of_a_document_is_seen_or_scored_whatever_else_is_kept():
    halves = importlib.import_module("text_defaults").halves
    counts = sp.csr_matrix(np.random.default_rng(0).integers(0, 4, (30, 40)))
    vocab = [f"w{v}" for v in range(40)]
    seen, scored = (halves(counts, vocab, seen=s).toarray() for s in (True, False))
    assert ((seen == 0) | (scored == 0)).all()
    np.testing.assert_array_equal(seen + scored, counts.toarray())
    assert 0.4 < seen.sum() / counts.sum() < 0.6
    few = [3, 20, 7]
    found = halves(counts[:, few], [vocab[v] for v in few], seen=True).toarray()
    np.testing.assert_array_equal(found, seen[:, few])


def test_held_out_scores_are_of_the_common_words_among_themselves():
    """A model that gives all common words one probability scores as a choice among them."""
    texts = importlib.import_module("text_defaults").Texts
    documents = ["apple pear plum fig"] * 20
    every, fewer = (Corpus.from_tokens([t.split()[:n] for t in documents]) for n in (4, 3))
    given = texts(documents, {"defaults": every, "other": fewer})
    assert given.common == ["apple", "pear", "plum"]

    class Flat:
        components_ = np.where(np.array(every.vocab) == "fig", [[5.0], [1.0]], [[1.0], [2.0]])

        def transform(self, counts):
            return np.full((counts.shape[0], 2), 0.5)

    score = given.completion(Flat(), every.vocab, given.scored)
    assert score == pytest.approx(np.log(1 / 3))


def test_editorials_are_joined_from_their_sentences(tmp_path):
    corpora = importlib.import_module("text_corpora")
    lines = b"1_1\t0.4\tA first sentence.\r\n1_2\t-1\tA second.\r\n2_1\t0\tAnother one.\r\n"
    inner = packed({f"hutto/{corpora.EDITORIALS}": lines, "hutto/other.txt": b""})
    archive = tmp_path / "vaderSentiment-3.3.2.tar.gz"
    archive.write_bytes(packed({"v/additional_resources/hutto_ICWSM_2014.tar.gz": inner}))
    texts, source = corpora.texts_of(f"editorials={archive}")
    assert texts == ["A first sentence. A second.", "Another one."]
    assert "vaderSentiment-3.3.2.tar.gz" in source
    assert str(tmp_path) not in source


def packed(files):
    """Return an archive of files."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return written.getvalue()


def test_the_page_has_the_tables_of_the_raw_results():
    page = PAGE.read_text(encoding="utf-8")
    done = subprocess.run(
        [sys.executable, BENCHMARKS / "text_defaults.py", "--table", *RESULTS],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    tables = done.stdout.strip().split("\n\n")
    assert len(tables) == 2
    for table in tables:
        assert table in page
