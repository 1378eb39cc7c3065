"""Text of strangers at a terminal."""

import json

import pytest

from polyaurn.base.printable import printable, printable_json

HOSTILE = ["\x1b[2J", "\x9b31m", "\x07", "\x7f", "\r", "\u202e", "\u2066", "\u2028", "\udc80", "\0"]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_reaches_the_terminal_but_what_is_seen(text):
    for shown in (printable(text), printable(text, lines=True)):
        assert shown.startswith("\\")
        assert text[0] not in shown
        assert shown.encode()


def test_what_is_seen_stays_as_it_is():
    words = "naïve \u0915\u094d\u200d\u0937 \u0645\u06cc\u200c\u062e \\x1b"
    assert printable(words) == words
    assert printable("a\tb\nc", lines=True) == "a\tb\nc"
    assert printable("a\tb\nc") == "a\\x09b\\x0ac"


@pytest.mark.parametrize("text", HOSTILE)
def test_json_keeps_its_value(text):
    written = printable_json(json.dumps([text, "é"], ensure_ascii=False, indent=2))
    assert json.loads(written) == [text, "é"]
    assert text[0] not in written
    assert "é" in written
