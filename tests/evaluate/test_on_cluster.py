"""Scores and mixtures of documents that workers share among themselves."""

import json

import numpy as np
import pytest

from polyaurn import InputError
from polyaurn.backends.sharded import new_documents
from polyaurn.corpus.urn_file import write_urn
from polyaurn.evaluate import document_completion, left_to_right
from polyaurn.files.npz import write_npz
from support.thread_group import run_threads


class Silent:
    def report(self, record):
        """Say nothing."""

    def stopping(self):
        return False


class Threads:
    """An engine whose workers are threads."""

    name = "threads"

    def run(self, size, program, task, *, restarts, on_record):
        run_threads(size, lambda group: program(group, task, Silent()))


@pytest.fixture
def by_threads(monkeypatch):
    made = new_documents.Cluster.__new__(new_documents.Cluster)
    made._engine = Threads()
    for module in ("evaluate.held_out", "model.inference"):
        monkeypatch.setattr(f"polyaurn.{module}.cluster_of", lambda *given: made)
    return made


@pytest.mark.parametrize("size", [1, 3])
def test_any_number_of_workers_gives_the_scores_of_one_process(
    trained, small, by_threads, size, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    model, documents = trained.model_, small.select(range(30))
    by_threads._size = size
    together = (
        left_to_right(model, documents, 3, n_jobs=1), document_completion(model, documents),
        model.transform(documents, n_jobs=1),
    )  # fmt: skip
    assert not list(tmp_path.iterdir())
    monkeypatch.undo()
    single = (
        left_to_right(model, documents, 3, n_jobs=1), document_completion(model, documents),
        model.transform(documents, n_jobs=1),
    )  # fmt: skip
    for one, other in zip(together, single, strict=True):
        for a, b in zip(one[:2], other[:2], strict=True):
            assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


def test_more_workers_than_documents(trained, small, by_threads, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    by_threads._size = 4
    theta = trained.model_.transform(small.select([3]), n_jobs=1)
    assert theta.shape == (1, 4)


def test_a_worker_without_the_files(tmp_path):
    group = type("Group", (), {"rank": 2})
    task = {"folder": str(tmp_path / "nowhere")}
    with pytest.raises(InputError, match="on storage that all workers share"):
        new_documents.work(group, task, Silent())
    with (tmp_path / new_documents.GIVEN).open("wb") as file:
        write_npz(file, {"word": np.zeros(3)})
    with pytest.raises(InputError, match=r"cannot be used .*; try again"):
        new_documents.work(group, {"folder": str(tmp_path)}, Silent())


def test_the_command_line_shares_the_work(run, trained, small, tmp_path):
    trained.model_.save(tmp_path / "model")
    write_urn(small, tmp_path / "held.urn")
    command = ("evaluate", "model", "held.urn", "--particles", 2, "--json", "--threads", 1, "-q")
    single = json.loads(run(*command)[1])
    code, out, err = run(*command, "--cluster", "local", "--workers", 2)
    assert (code, err, json.loads(out)) == (0, "", single)
    code, _, err = run(*command, "--workers", 2)
    assert code == 2
    assert "must be left out without a cluster. Got 2" in err
