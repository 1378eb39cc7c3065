"""Workers run the same sources, which one name of a version does not promise."""

import pytest

from polyaurn.backends.sharded.versions import check_versions, digest_of_sources
from polyaurn.base.errors import InputError
from support.thread_group import run_threads


def test_workers_of_one_version_and_different_sources_are_rejected():
    def work(group):
        with pytest.raises(InputError) as found:
            check_versions(group, "0.2.0.dev0", "feedbeef99" if group.rank == 1 else "abad1dea99")
        return str(found.value)

    said = run_threads(3, work)
    assert said[0].startswith(
        "All workers must run the same version of polyaurn. Got 0.2.0.dev0 (sources abad1dea) on "
    )
    assert " and 0.2.0.dev0 (sources feedbeef) on " in said[0]
    assert len(set(said)) == 1
    run_threads(3, check_versions)


def test_the_digest_is_of_every_source(tmp_path):
    (tmp_path / "inside").mkdir()
    (tmp_path / "a.py").write_text("a = 1\n")
    digests = [digest_of_sources.__wrapped__(tmp_path)]
    for name, text in (("a.py", "a = 2\n"), ("inside/b.py", ""), ("inside/b.py", "b = 1\n")):
        (tmp_path / name).write_text(text)
        digests.append(digest_of_sources.__wrapped__(tmp_path))
    assert len(set(digests)) == 4
    (tmp_path / "a.pyc").write_text("not a source")
    assert digest_of_sources.__wrapped__(tmp_path) == digests[-1]
