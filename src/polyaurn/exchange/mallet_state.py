"""Lines of a MALLET state out of bytes: compiled, because there is one for each token."""

import numpy as np

from polyaurn.base.compilation import njit
from polyaurn.corpus.parsers import NEWLINE, RETURN, SPACE

_FNV, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
_ZERO, _NINE = 48, 57
_LARGEST = 2**31 - 1


@njit(nogil=True, cache=True)
def _whole(text, begin, end):
    """Return the whole number below 2**31 that fills a field, or -1."""
    value = np.int64(-1)
    for i in range(begin, end):
        if not _ZERO <= text[i] <= _NINE:
            return np.int64(-1)
        value = (0 if value < 0 else value * 10) + np.int64(text[i] - _ZERO)
        if value > _LARGEST:
            return np.int64(-1)
    return value


@njit(nogil=True, cache=True)
def _hash(text, begin, end):
    h = _FNV
    for i in range(begin, end):
        h = (h ^ np.uint64(text[i])) * _PRIME
    return h


@njit(nogil=True, cache=True)
def _fields(text, begin, end, left, right):
    """Note the first four and the last four blanks of a line; return how many there are."""
    n = 0
    at = begin
    while at < end:
        if text[at] == SPACE:
            if n < 4:
                left[n] = at
            n += 1
        at += 1
    found = 0
    while found < min(n, 4):
        at -= 1
        if text[at] == SPACE:
            right[found] = at
            found += 1
    return n


@njit(nogil=True, cache=True)
def parse_state(text, n_topics, number, topic, place, hashes):
    """Read lines 'document name position type word topic', with single blanks between.

    Either the name or the word may hold blanks; a line that can be read both ways is a bad one.
    For line i, number[i] receives document and type, place[i] where the name and the word begin
    and end, hashes[i] hashes of both. Returns the number of lines, and the offset of a bad one (-1
    if none).
    """
    left, right = np.empty(4, np.int64), np.empty(4, np.int64)
    at, line = 0, 0
    while at < len(text):
        begin = at
        while text[at] != NEWLINE:
            at += 1
        end = at - 1 if at > begin and text[at - 1] == RETURN else at
        at += 1
        blanks = _fields(text, begin, end, left, right)
        if blanks < 5:
            return line, begin
        d = _whole(text, begin, left[0])
        k = _whole(text, right[0] + 1, end)
        by_left = _whole(text, left[2] + 1, left[3])
        if _whole(text, left[1] + 1, left[2]) < 0:
            by_left = np.int64(-1)
        by_right = _whole(text, right[2] + 1, right[1])
        if _whole(text, right[3] + 1, right[2]) < 0:
            by_right = np.int64(-1)
        if blanks > 5 and by_left >= 0 and by_right >= 0:
            return line, begin
        v, name_end, word_begin = by_left, left[1], left[3] + 1
        if by_left < 0:
            v, name_end, word_begin = by_right, right[3], right[1] + 1
        if d < 0 or v < 0 or not 0 <= k < n_topics or word_begin >= right[0]:
            return line, begin
        number[line, 0], number[line, 1], topic[line] = d, v, k
        place[line, 0], place[line, 1] = left[0] + 1, name_end
        place[line, 2], place[line, 3] = word_begin, right[0]
        hashes[line, 0] = _hash(text, left[0] + 1, name_end)
        hashes[line, 1] = _hash(text, word_begin, right[0])
        line += 1
    return line, -1
