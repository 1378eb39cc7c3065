"""Memory that is not there is noticed before a run starts."""

from types import SimpleNamespace

import pytest

from polyaurn import LDA, InputError, datasets
from polyaurn.backends.registry import BACKENDS
from polyaurn.training import memory
from polyaurn.training.memory import check_memory, free_bytes, least_bytes
from polyaurn.training.settings import Settings


def a_run(n_tokens, n_words, n_topics, sampler, n_jobs=1):
    return SimpleNamespace(
        corpus=SimpleNamespace(n_tokens=n_tokens, n_words=n_words, n_documents=1000),
        settings=Settings(n_components=n_topics, sampler=sampler, n_jobs=n_jobs),
        backend=BACKENDS["cpu"],
    )


def test_too_little_memory_is_foreseen(monkeypatch):
    with pytest.raises(InputError, match="take the sampler 'polya-urn'"):
        check_memory(a_run(10**6, 10**9, 60_000, "partially-collapsed"))
    monkeypatch.setattr(memory, "free_bytes", lambda: 10_000)
    corpus = datasets.generate(n_documents=120, n_words=90, n_topics=4)
    with pytest.raises(InputError, match=r"needs at least 0\.0 GB of memory .* train on fewer"):
        LDA(4, verbose=False).fit(corpus)
    with pytest.raises(InputError, match="needs at least"):
        LDA(4, verbose=False).sample_posterior(corpus)


def test_every_thread_counts_by_itself(monkeypatch):
    """18 GB fit 14 + 4 bytes for each word and topic, of one thread, and not those of eight."""
    monkeypatch.setattr(memory, "free_bytes", lambda: 18_100_000_000)
    check_memory(a_run(10**6, 10**6, 1000, "partially-collapsed", n_jobs=1))
    with pytest.raises(InputError, match=r"46\.0 GB .* 8 threads\).*take fewer threads"):
        check_memory(a_run(10**6, 10**6, 1000, "partially-collapsed", n_jobs=8))
    check_memory(a_run(10**4, 10**6, 1000, "partially-collapsed", n_jobs=8))  # one block
    check_memory(a_run(10**6, 10**6, 1000, "polya-urn", n_jobs=8))


def test_the_memory_of_a_run():
    assert least_bytes(100, 10, 5, "collapsed-dense") == 600 + 200
    assert least_bytes(100, 10, 5, "partially-collapsed", 3) == 600 + 50 * (14 + 3 * 4)


def test_free_memory_is_known_here():
    assert 1e7 < free_bytes() < 1e14


@pytest.mark.parametrize(
    "files",
    [
        {
            "memory.max": "3000000\n", "memory.current": "2500000\n",
            "memory.stat": "anon 7\ninactive_file 400000\n",
        },
        {
            "memory/memory.limit_in_bytes": "3000000\n",
            "memory/memory.usage_in_bytes": "2500000\n",
            "memory/memory.stat": "inactive_file 3\ntotal_inactive_file 400000\n",
        },
    ],
)  # fmt: skip
def test_limits_of_containers_count(tmp_path, monkeypatch, files):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(memory, "_CGROUP", tmp_path)
    assert free_bytes() == 900_000
