"""Numbers out of bytes: compiled, because corpora have hundreds of millions of them.

Kernels take bytes that end with a whole line. They stop at the first line they cannot take and
return where it starts; the caller says in words what is wrong with it.
"""

import numpy as np

from polyaurn.base.compilation import njit

NEWLINE, SPACE, TAB, RETURN, COLON, HASH = 10, 32, 9, 13, 58, 35
_PLUS, _MINUS, _POINT, _E, _CAPITAL_E = 43, 45, 46, 101, 69
_ZERO, _NINE = 48, 57
_LARGEST = 2**31 - 1


@njit(nogil=True, cache=True)
def _blank(c):
    return c in (SPACE, TAB, RETURN)


@njit(nogil=True, cache=True)
def _number(text, at):
    """Read a whole number below 2**31; return it (or -1) and where it ends."""
    value = np.int64(-1)
    while at < len(text) and _ZERO <= text[at] <= _NINE:
        value = (0 if value < 0 else value * 10) + np.int64(text[at] - _ZERO)
        if value > _LARGEST:
            return np.int64(-1), at
        at += 1
    return value, at


@njit(nogil=True, cache=True)
def _whole(text, at):
    """Read a whole number below 2**31 that may be written as 2.0 or 2e0; as `_number`."""
    if text[at] == _PLUS:
        at += 1
    value, at = _number(text, at)
    if value < 0:
        return value, at
    shift, zeros = 0, 0  # digits after the point, but for zeros at the end
    if text[at] == _POINT:
        at += 1
        while _ZERO <= text[at] <= _NINE:
            zeros += 1
            if text[at] != _ZERO:
                if shift + zeros > 9:
                    return np.int64(-1), at
                for _ in range(zeros):
                    value *= 10
                value += text[at] - _ZERO
                shift, zeros = shift + zeros, 0
            at += 1
    if text[at] == _E or text[at] == _CAPITAL_E:
        at += 1
        down = text[at] == _MINUS
        if down or text[at] == _PLUS:
            at += 1
        power, at = _number(text, at)
        if power < 0:
            return np.int64(-1), at
        shift += power if down else -power
    while shift > 0 and value > 0:
        if value % 10 != 0:
            return np.int64(-1), at
        value //= 10
        shift -= 1
    while shift < 0 and 0 < value <= _LARGEST:
        value *= 10
        shift += 1
    return (value if value <= _LARGEST else np.int64(-1)), at


@njit(nogil=True, cache=True)
def _above_zero(text, at):
    """Read any number; return 1 if it is above 0, 0 if not, -1 if it is no number, and its end."""
    minus = text[at] == _MINUS
    if minus or text[at] == _PLUS:
        at += 1
    digits, above, pointed = 0, False, False
    while _ZERO <= text[at] <= _NINE or (text[at] == _POINT and not pointed):
        if text[at] == _POINT:
            pointed = True
        else:
            digits += 1
            above |= text[at] != _ZERO
        at += 1
    if digits == 0:
        return np.int64(-1), at
    if text[at] == _E or text[at] == _CAPITAL_E:
        at += 1
        if text[at] == _PLUS or text[at] == _MINUS:
            at += 1
        if not _ZERO <= text[at] <= _NINE:
            return np.int64(-1), at
        while _ZERO <= text[at] <= _NINE:
            at += 1
    return np.int64(above and not minus), at


@njit(nogil=True, cache=True)
def parse_cells(text, n_rows, n_columns, ids, values, binarise, row, column, count):
    """Read lines 'row column count', as `parse_triplets`; counts may be written as reals.

    Without `ids` a line is a count, without `values` it is row and column, and counts are 1. With
    `binarise` a count may be any number, and is 1 where that is above 0.
    """
    at, line, n = 0, 0, 0
    while at < len(text):
        start = at
        while _blank(text[at]):
            at += 1
        if text[at] != NEWLINE:
            r, c, v = np.int64(1), np.int64(1), np.int64(1)
            if ids:
                r, at = _number(text, at)
                while _blank(text[at]):
                    at += 1
                c, at = _number(text, at)
            if ids and values:
                if not _blank(text[at]):
                    return n, line, start
                while _blank(text[at]):
                    at += 1
            if values and binarise:
                v, at = _above_zero(text, at)
            elif values:
                v, at = _whole(text, at)
            while _blank(text[at]):
                at += 1
            if text[at] != NEWLINE or v < 0 or not (1 <= r <= n_rows and 1 <= c <= n_columns):
                return n, line, start
            row[n], column[n], count[n] = r - 1, c - 1, v
            n += 1
        at += 1
        line += 1
    return n, line, -1


@njit(nogil=True, cache=True)
def parse_triplets(text, n_documents, n_words, document, word, count):
    """Read lines 'document word count', ids from 1; ids come out from 0.

    Returns the number of triplets, of lines read, and the offset of a bad line (-1 if none).
    """
    at, line, n = 0, 0, 0
    while at < len(text):
        start = at
        while at < len(text) and _blank(text[at]):
            at += 1
        if text[at] != NEWLINE:
            d, at = _number(text, at)
            while _blank(text[at]):
                at += 1
            w, at = _number(text, at)
            while _blank(text[at]):
                at += 1
            c, at = _number(text, at)
            while _blank(text[at]):
                at += 1
            if text[at] != NEWLINE or c < 0 or not (1 <= d <= n_documents and 1 <= w <= n_words):
                return n, line, start
            document[n], word[n], count[n] = d - 1, w - 1, c
            n += 1
        at += 1
        line += 1
    return n, line, -1


@njit(nogil=True, cache=True)
def parse_pairs(text, label, length, word, count):
    """Read lines 'label id:count id:count ...'; a '#' begins a comment.

    `label` receives the first field where it is a whole number, else -1; `length` the number of
    pairs of each line. Returns the number of pairs, of lines, and the offset of a bad line.
    """
    at, line, n = 0, 0, 0
    while at < len(text):
        start, before = at, n
        while _blank(text[at]):
            at += 1
        label[line], at = _number(text, at)
        while not _blank(text[at]) and text[at] != NEWLINE and text[at] != HASH:
            label[line] = -1
            at += 1
        while True:
            while _blank(text[at]):
                at += 1
            if text[at] == HASH:
                while text[at] != NEWLINE:
                    at += 1
            if text[at] == NEWLINE:
                break
            w, at = _number(text, at)
            if w < 0 or text[at] != COLON:
                return n, line, start
            c, at = _number(text, at + 1)
            if c < 0 or not (_blank(text[at]) or text[at] == NEWLINE):
                return n, line, start
            word[n], count[n] = w, c
            n += 1
        length[line] = n - before
        at += 1
        line += 1
    return n, line, -1
