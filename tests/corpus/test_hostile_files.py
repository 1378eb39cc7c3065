"""Every reader gives a valid corpus or one sentence, whatever is in a file.

The targets and the ways to spoil a file are those of `fuzz/`, which tries many more.
"""

import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from polyaurn.files import reading as files

FUZZ = Path(__file__).resolve().parents[2] / "fuzz"
sys.path.insert(0, str(FUZZ))

from mutations import good_files, hostile  # noqa: E402
from targets import ACCEPTED, REJECTED, TARGETS  # noqa: E402

READERS = [name for name in TARGETS if name != "model"]
quickly = settings(
    max_examples=200,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


def reader(name, monkeypatch):
    if name == "parquet":
        pytest.importorskip("pyarrow")
    monkeypatch.setattr(files, "SMALL", 1 << 24)  # so that no input takes long
    return TARGETS[name]


@pytest.mark.parametrize("name", READERS)
def test_good_files_are_accepted(name, monkeypatch):
    verdicts = [reader(name, monkeypatch)(data) for data in good_files(name)]
    assert ACCEPTED in verdicts
    if name not in ("matrix-market", "parquet", "anything"):  # which have files of other kinds
        assert set(verdicts) == {ACCEPTED}


@pytest.mark.parametrize("name", READERS)
def test_damaged_files_give_a_valid_corpus_or_one_sentence(name, monkeypatch):
    target, verdicts = reader(name, monkeypatch), set()

    @quickly
    @given(st.integers(0, 2**32), st.integers(0, 2**32))
    def spoilt(seed, index):
        verdicts.add(target(hostile(name, seed, index)))

    spoilt()
    assert verdicts == {ACCEPTED, REJECTED}


@pytest.mark.parametrize("name", READERS)
def test_any_bytes_give_a_valid_corpus_or_one_sentence(name, monkeypatch):
    target = reader(name, monkeypatch)
    lines = st.lists(st.sampled_from([b"1", b"2", b" ", b":", b"\n", b"\t", b",", b'"', b"\xc3"]))

    @settings(quickly, max_examples=100)
    @given(st.one_of(st.binary(max_size=300), lines.map(b"".join), st.text().map(str.encode)))
    @example(b"")
    @example(b"\n")
    @example(b"\0")
    @example(b"\x1f\x8b")
    def anything(data):
        assert target(data) in (ACCEPTED, REJECTED)

    anything()


def test_an_input_can_be_repeated():
    assert hostile("uci", 1, 7) == hostile("uci", 1, 7) != hostile("uci", 2, 7)
