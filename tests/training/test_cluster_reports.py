"""What a training with workers says: its progress, what it exchanges, and what nodes lack."""

import json
import warnings
from pathlib import Path

import pytest

import polyaurn
from polyaurn import LDA, InputError, datasets
from polyaurn.chain.state import OF_CLUSTER, Info
from polyaurn.corpus.urn_file import write_urn
from polyaurn.training.cluster import _Listener
from polyaurn.training.cluster_program import check_storage
from polyaurn.training.run import make_run
from support.thread_group import run_threads


@pytest.fixture(scope="module")
def corpus():
    return datasets.generate(n_documents=1000, n_words=500, n_topics=9, mean_length=60.0)


class Line:
    def __init__(self):
        self.said = []

    def sweep(self, info, beside=""):
        self.said.append((info.sweep, beside))


@pytest.mark.parametrize("exchange", [0.3, 0.8])
def test_progress_and_the_warning_of_much_exchange(corpus, exchange):
    record = {name: 0 for name in Info._fields if name != "phi"} | {"phase": "full"}
    account = {"bytes": 2_500_000, "slowest": 1, "busy": 1.0, "exchange": exchange}
    line, asked = Line(), []
    run = make_run(LDA(9, callbacks=lambda state, info: info.sweep == 12), corpus)
    listener = _Listener(run, line, lambda: bool(asked))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for sweep in range(1, 13):
            assert not listener.stopping()
            listener.hear({"info": record | {"sweep": sweep}, "cluster": account})
    assert line.said[4] == (5, ", 2.5 MB, worker 1 1.00 s")
    assert listener.stopping()
    assert len(said) == (exchange > 0.5)
    for warning in said:
        assert "Workers spend 44% of their time exchanging" in str(warning.message)


@pytest.mark.parametrize("of_shares", [0.1, 0.9])
def test_only_full_sweeps_say_whether_workers_exchange_too_much(corpus, of_shares):
    """A growing chain's first sweeps visit a 64th of the documents."""
    record = {name: 0 for name in Info._fields if name != "phi"}
    listener = _Listener(make_run(LDA(9), corpus), Line(), lambda: False)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for sweep in range(1, 60):
            exchange = of_shares if sweep <= 24 else 1 - of_shares
            account = {"bytes": 1, "slowest": 1, "busy": 1 - exchange, "exchange": exchange}
            phase = "grow 1/64" if sweep <= 24 else "full"
            listener.hear({"info": record | {"sweep": sweep, "phase": phase}, "cluster": account})
            assert len(said) == (of_shares < 0.5 and sweep >= 34)


def test_what_was_exchanged_is_in_the_trace(corpus, run, tmp_path):
    """Without a terminal nothing is shown while a run lasts: its trace says what it costs."""
    write_urn(corpus, tmp_path / "corpus.urn")
    command = ["train", "corpus.urn", "--topics", 9, "--sweeps", 3, "--threads", 1, "--quiet"]
    on_workers = ["--cluster", "local", "--workers", 2, "--trace", "trace.jsonl"]
    assert run(*command, "--out", "model", *on_workers)[0] == 0
    read = lambda name: list(map(json.loads, (tmp_path / name).read_text().splitlines()))  # noqa: E731
    times, kept = read("model/timings.jsonl")[1:], polyaurn.load(tmp_path / "model").trace
    for found in (times, kept, read("trace.jsonl")):
        assert [set(OF_CLUSTER) <= set(record) for record in found] == [True] * 3
        assert all(record["bytes_sent"] > 1000 for record in found)
        assert all(record["slowest_worker"] in (0, 1) for record in found)
        assert all(record["busy_seconds"] > 0 < record["exchange_seconds"] for record in found)
    assert run(*command, "--out", "alone")[0] == 0
    assert not set(OF_CLUSTER) & set(polyaurn.load(tmp_path / "alone").trace[0])


def test_a_node_that_does_not_see_the_files_of_the_run(tmp_path):
    seen = {name: str(tmp_path / name) for name in ("corpus", "priors", "folder")}
    for path in seen.values():
        Path(path).touch()

    def work(group, lacking):
        task = seen | {lacking: f"/nowhere/{lacking}"} if group.rank == 2 else seen
        with pytest.raises(InputError, match=r"share\. Worker 2 does not see it; give") as found:
            check_storage(group, task)  # raised by all: none waits for the others
        return str(found.value)

    for name in seen:
        said = run_threads(3, lambda group, name=name: work(group, name))
        assert said[2].startswith(f"The file '/nowhere/{name}' must be on storage that all workers")
    run_threads(3, lambda group: check_storage(group, seen))
