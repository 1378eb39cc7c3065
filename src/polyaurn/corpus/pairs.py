"""SVMlight and LDA-C: one document per line, 'label id:count id:count ...'."""

from pathlib import Path
from typing import Any

import numpy as np

from polyaurn.base.errors import InputError
from polyaurn.corpus.corpus import Corpus
from polyaurn.corpus.count_files import find_vocabulary, from_triplets, line_at, whole_lines
from polyaurn.files.reading import check_proportion, open_bytes


def read_pairs(path: Path, vocabulary: Any = None, *, ldac: bool = False) -> Corpus:
    """Read a file, with the vocabulary given or one beside it.

    In LDA-C the label is the number of pairs, and ids start at 0; in SVMlight ids start at 1, or
    at 0 where an id 0 occurs.
    """
    from polyaurn.corpus.parsers import parse_pairs

    parts: list[list[Any]] = []
    lines = 0
    with open_bytes(path) as file:
        for piece in whole_lines(file, path):
            text = np.frombuffer(piece, np.uint8)
            label, length = (np.empty(np.count_nonzero(text == 10), np.int64) for _ in range(2))
            word, count = (np.empty(np.count_nonzero(text == 58), np.int32) for _ in range(2))
            n, read, bad = parse_pairs(text, label, length, word, count)
            if bad >= 0:
                shown = line_at(piece, bad)[:60].decode(errors="replace")
                first = "pairs" if ldac else "label"
                raise InputError(
                    f"The file '{path}', line {lines + read + 1}: expected '{first} id:count ...' "
                    f"with whole, non-negative numbers below 2**31. Got {shown!r}; correct the "
                    "line, and give counts, not weights."
                )
            lines += read
            check_proportion(path, documents=lines)
            parts.append([label, length, word[:n], count[:n]])
    if not parts:
        raise InputError(f"The file '{path}' is empty. Give a file with documents.")
    label, length, word, count = (np.concatenate([p[i] for p in parts]) for i in range(4))
    wrong = np.flatnonzero(label != length)
    if ldac and len(wrong):
        d = int(wrong[0])
        raise InputError(
            f"The file '{path}', line {d + 1}: expected LDA-C, where the first number counts the "
            f"pairs that follow. Got {label[d]} before {length[d]} pairs; is it SVMlight?"
        )
    if not ldac and len(word) and word.min() > 0:
        word = word - np.int32(1)
    most = int(word.max()) + 1 if len(word) else 0
    check_proportion(path, words=most)
    words = find_vocabulary(path, vocabulary, most, required=False, at_least=True)
    document = np.repeat(np.arange(len(length), dtype=np.int32), length)
    return from_triplets(path, document, word, count, len(length), words)
