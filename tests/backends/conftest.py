"""A GPU that is not one, and corpora to run on it."""

import pytest

import polyaurn
from support.gpu_fake import installed


@pytest.fixture
def gpu(monkeypatch):
    return installed(monkeypatch)


@pytest.fixture
def no_gpu(monkeypatch):
    monkeypatch.setattr(
        "polyaurn.backends.gpu.backend.GPU.missing", lambda self: "there is none here"
    )


@pytest.fixture(scope="module")
def corpus():
    return polyaurn.datasets.generate(n_documents=120, n_words=90, n_topics=4, random_state=2)


@pytest.fixture(scope="module")
def large():
    """Large enough to begin on a share of its documents."""
    return polyaurn.datasets.generate(
        n_documents=1500, n_words=90, n_topics=4, mean_length=180, random_state=2
    )
