"""Snippets: the part of a text where words are densest, cut between words."""

import pytest

from polyaurn.model.snippets import snippet

DULL = "It was a long evening with dinner and nothing to report. " * 10
BEST = "Then the rocket left for the moon, and the crew saw its orbit."
TEXT = f"{DULL}{BEST} {DULL}"
WORDS = ["moon", "orbit", "rocket"]


@pytest.mark.parametrize("length", [70, 100, 200, 400])
def test_the_densest_part_is_shown(length):
    found = snippet(TEXT, WORDS, length)
    assert BEST in found
    assert found.startswith("… ")
    assert found.endswith(" …")
    assert len(found) <= length + 4
    assert found[2:-2] in TEXT


def test_case_blanks_and_whole_words():
    assert snippet("  a\n\tb ", WORDS) == "a b"
    found = snippet("moonlight, honeymoon. " * 20 + "THE MOON. " + DULL, ["moon"], 60)
    assert "THE MOON" in found
    phrase = snippet(DULL + "new york is large. " + "york new. " * 40, ["new york"], 60)
    assert "new york is large" in phrase


def test_texts_without_the_words_are_shown_from_the_beginning():
    assert snippet(TEXT, ["zebra"], 30) == "It was a long evening with …"
    assert snippet(TEXT, [], 30) == "It was a long evening with …"
    assert snippet("x" * 500, ["zebra"], 30) == "x" * 30 + " …"
    assert snippet("", WORDS) == ""


def test_scripts_without_blanks():
    dull = "我们今天去看电影然后回家吃饭睡觉。" * 20
    assert "月球轨道" in snippet(f"{dull}月球轨道上的火箭。{dull}", ["月球", "轨道"], 40)


def test_one_word_again_and_again_does_not_win():
    text = f"{DULL}{'moon ' * 12}. {DULL}{BEST} {DULL}"
    assert BEST in snippet(text, WORDS, 100)


def test_a_word_longer_than_the_window():
    assert snippet(DULL + "x" * 300 + " moon " + DULL, ["x" * 300, "moon"], 60)


def test_words_are_no_patterns():
    assert "c++ (new)" in snippet(DULL + "c++ (new) " + DULL, ["c++", "(new)"], 60)


def test_the_end_of_a_text():
    found = snippet(DULL + "The moon", ["moon"], 60)
    assert found.endswith("The moon")
    assert len(found) <= 64
