"""Child processes that read a task and print records, both as JSON."""

import sys

import pytest

from polyaurn.studies.child import ChildError, records_of


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Write a module that answers with a generator, and return its name."""
    monkeypatch.setenv("PYTHONPATH", ":".join([str(tmp_path), *sys.path]))

    def write(*lines):
        body = "\n    ".join(lines)
        (tmp_path / "made_for_a_test.py").write_text(
            "from polyaurn import InputError\nfrom polyaurn.studies.child import answer\n"
            f"def work(task):\n    {body}\nanswer(work)\n"
        )
        return "made_for_a_test"

    return write


def test_records_come_back_as_they_are_made(module):
    name = module("yield {'sum': sum(task)}", "yield None")
    assert list(records_of(name, [1, 2, 3])) == [{"sum": 6}, None]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("raise InputError('one sentence')", "^one sentence$"),
        ("raise MemoryError", "^not enough memory$"),
        ("task['missing']", "^TypeError: "),
        ("import os; os._exit(3)", "^no reason given$"),
    ],
)
def test_the_last_line_of_a_child_that_fails_is_its_reason(module, line, message):
    records = records_of(module("yield 1", line), [])
    assert next(records) == 1
    with pytest.raises(ChildError, match=message):
        next(records)


def test_a_child_that_never_reads_its_task_is_reported():
    task = "x" * 1_000_000  # more than a pipe holds
    with pytest.raises(ChildError, match=r"No module named polyaurn\.missing"):
        list(records_of("polyaurn.missing", task))
