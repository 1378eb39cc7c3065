"""Regular expressions of words: the default one, and which of those in untrusted files are run.

Python's `re` has no time limit, and a pattern such as ``(?:a+)+b`` takes time that doubles with
each letter. Patterns that users pass are run as they are; one that came in a file is run only if
`is_bounded` finds that its time is limited by the length of the words it is applied to.
"""

import re
import unicodedata
from functools import cache
from typing import Any

from polyaurn.base.errors import InputError

WORDS = "words"  # a name, since the expression depends on Python's Unicode tables
TERMS = "terms"  # the default for text: WORDS, not torn at apostrophes, and without numbers
LETTERS = r"(?u)\b\w\w+\b"  # that of scikit-learn, and of version 0.1; it tears words at marks
LEFT_OUT = "\n\n"  # in place of a word taken out of a text before it is cut: no phrase crosses it
_HEBREW_MARKS = "\u05f3\u05f4"  # geresh and gershayim, punctuation to Unicode
_LAST_MARK = 0x1FFFF  # there are only variation selectors beyond
_VARIATION_SELECTORS = range(0xFE00, 0xFE10)
_MOST_CHARACTERS = 300  # of a pattern in a file
_MOST_CHOICES = 64  # product over its bounded repeats
_SPACES = [chr(c) for c in range(0x3001) if chr(c).isspace()]


def check_pattern(token_pattern: Any) -> None:
    """Raise an error if a pattern is neither a name nor a regular expression."""
    try:
        re.compile(token_pattern)
    except (re.error, TypeError, RecursionError, OverflowError) as error:
        raise InputError(
            "The 'token_pattern' parameter must be a regular expression. Got "
            f"{token_pattern!r:.100} ({error}); the default is '{TERMS}'."
        ) from None


def expression(token_pattern: str, *, single: bool = False) -> str:
    """Return the regular expression of a word; with `single`, one letter may be one."""
    if token_pattern not in (WORDS, TERMS):
        return token_pattern
    found = words_expression(_HEBREW_MARKS if token_pattern == TERMS else "")
    return found.removesuffix("+") + "*" if single else found


@cache
def words_expression(joiners: str = "") -> str:
    r"""Return what `WORDS` stands for: a letter, digit or underscore, and more of them or marks.

    Without combining marks this finds the same words as scikit-learn's ``\b\w\w+\b``. Vowel signs
    of Indic scripts and of Thai, points of Arabic and Hebrew and accents without a composed letter
    are such marks. A joiner (U+200C, U+200D, and `joiners`) between two letters belongs to the
    word.
    """
    ranges: list[list[int]] = []
    for code in range(0x300, _LAST_MARK):
        if unicodedata.category(chr(code)) in ("Mn", "Mc") and code not in _VARIATION_SELECTORS:
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    marks = "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)
    return rf"\w(?:[\w{marks}]|[\u200c\u200d{joiners}](?=\w))+"


def has_marks(word: str) -> bool:
    """Return whether a word has combining marks, which `LETTERS` never leaves in one."""
    return not word.isascii() and any(unicodedata.category(c) in ("Mn", "Mc") for c in word)


def is_bounded(token_pattern: str) -> bool:
    """Return whether a pattern is certain to end soon on any text.

    It may have one unbounded repeat on each path, of single characters that are not white space,
    so that an attempt is limited to a stretch of text without blanks. Repeats inside repeats,
    references to groups and lookarounds are not accepted.
    """
    if token_pattern in (WORDS, TERMS):
        return True
    if not isinstance(token_pattern, str) or len(token_pattern) > _MOST_CHARACTERS:
        return False
    try:
        from re import _parser  # type: ignore[attr-defined]

        re.compile(token_pattern)
        unbounded, choices = _cost(_parser.parse(token_pattern), inside=False)
    except (ImportError, re.error, RecursionError, OverflowError, _Unbounded):
        return False
    return unbounded <= 1 and choices <= _MOST_CHOICES


class _Unbounded(Exception):  # noqa: N818
    """A part of a pattern that is not accepted."""


def _cost(nodes: Any, *, inside: bool) -> tuple[int, int]:
    """Return the unbounded repeats on a path, and the ways to repeat those that are bounded."""
    unbounded, choices = 0, 1
    for operation, value in nodes:
        name = str(operation)
        if name in ("LITERAL", "NOT_LITERAL", "ANY", "IN", "AT"):
            continue
        if name == "SUBPATTERN":
            more = _cost(value[-1], inside=inside)
        elif name == "BRANCH" and not inside:
            branches = [_cost(branch, inside=inside) for branch in value[1]]
            more = max(n for n, _ in branches), sum(n for _, n in branches)
        elif name in ("MAX_REPEAT", "MIN_REPEAT") and not inside:
            more = _cost_of_repeat(*value)
        else:
            raise _Unbounded
        unbounded, choices = unbounded + more[0], choices * more[1]
    return unbounded, choices


def _cost_of_repeat(least: int, most: Any, body: Any) -> tuple[int, int]:
    """Return the cost of a repeat; `most` is a very large number where there is no limit."""
    if int(most) == 1:  # optional, which may hold a repeat
        unbounded, choices = _cost(body, inside=False)
        return unbounded, choices + 1
    if int(most) <= _MOST_CHOICES:
        _, choices = _cost(body, inside=True)
        return 0, choices * (int(most) - least + 1)
    if len(body) != 1 or any(_takes(body[0], space) for space in _SPACES):
        raise _Unbounded
    return 1, 1


def _takes(node: Any, character: str) -> bool:
    """Return whether a single-character part of a pattern accepts a character."""
    operation, value = node
    name = str(operation)
    code = ord(character)
    if name in ("LITERAL", "NOT_LITERAL"):
        return bool(code == value) == (name == "LITERAL")
    if name != "IN":
        return True  # any character, or something that is not one
    found = False
    negated = False
    for kind, what in value:
        if str(kind) == "NEGATE":
            negated = True
        elif str(kind) == "RANGE":
            found |= bool(what[0] <= code <= what[1])
        elif str(kind) == "LITERAL":
            found |= bool(code == what)
        else:
            found |= _in_category(str(what), character)
    return found != negated


def _in_category(category: str, character: str) -> bool:
    """Return whether a character is in a class: of words, digits or spaces, or not of them."""
    letter = {"WORD": r"\w", "DIGIT": r"\d", "SPACE": r"\s"}[category.rpartition("_")[2]]
    return bool(re.match(letter, character)) != ("NOT" in category)
