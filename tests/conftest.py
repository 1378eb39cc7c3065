"""What several tests share: small corpora, and the folder of large ones."""

import signal
import sys
from pathlib import Path

import numpy as np
import pytest

from polyaurn import LDA, Corpus, datasets
from polyaurn.cli import app
from support.engines import ray_cluster

SHARED = Path(__file__).resolve().parents[1] / ".." / "shared" / "corpora"
# A shell's background jobs ignore Ctrl-C, and so would the tests of it.
signal.signal(signal.SIGINT, signal.default_int_handler)

TEXTS = ["cat dog cat", "dog cat bird", "planet star", "star moon planet", "moon star star"] * 8


def pytest_collection_modifyitems(items):
    """Begin with slow tests, so that all workers end together; coverage would slow them further."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker("no_cover")


@pytest.fixture(scope="session")
def shared_corpora() -> Path:
    if not SHARED.is_dir():
        pytest.skip("the large corpora (../shared/corpora) are not on this machine")
    return SHARED


@pytest.fixture(scope="session")
def small() -> Corpus:
    """Draw a few thousand tokens from the generative model."""
    return datasets.generate(n_documents=60, n_words=80, n_topics=4, mean_length=40.0)


@pytest.fixture(scope="session")
def medium() -> Corpus:
    """Draw enough tokens that several threads have work."""
    return datasets.generate(n_documents=1500, n_words=400, n_topics=8, mean_length=60.0)


@pytest.fixture(scope="session")
def odd() -> Corpus:
    """Return a corpus of edge cases: empty documents, an unused word, a large count, one token."""
    X = np.zeros((7, 6), int)
    X[1] = [3, 0, 1, 0, 0, 2]
    X[2, 4] = 1
    X[4] = [0, 500, 1, 0, 2, 0]
    X[5] = [1, 1, 1, 0, 1, 1]
    return Corpus.from_matrix(X)


@pytest.fixture(scope="session")
def trained(small) -> LDA:
    """Train on documents in which every word occurs; `corpus_` holds them."""
    return LDA(4, max_iter=40, verbose=False).fit(small.prune(min_count=1))


@pytest.fixture(scope="module")
def ray_nodes():
    """Start a Ray cluster of three nodes; its tests share the xdist group "engines"."""
    with ray_cluster() as cluster:
        yield cluster


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Call the command line as the shell would; return exit code, output and errors."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["polyaurn", *map(str, arguments)])
        try:
            app.main()
        except SystemExit as end:
            code = end.code or 0
        else:
            code = 0
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(TEXTS) + "\n")
    return path
