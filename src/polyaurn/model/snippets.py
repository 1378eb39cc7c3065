"""Snippets: the part of a document's text in which a topic's words are densest."""

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate

from polyaurn.model.data import ModelData
from polyaurn.model.leading_words import leading_words

LENGTH = 200  # characters
WORDS = 50  # leading words of a topic that a snippet is chosen by
_MOST = 1_000_000  # characters of a text that are searched
_UNSPACED = re.compile(  # scripts whose words have no blanks between them
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
)


def snippets(model: ModelData, topic: int, texts: Iterable[str], length: int = LENGTH) -> list[str]:
    """Return of each text the part of about this length that shows a topic best."""
    found = leading_words(model, topic, WORDS)[0]
    words = [model.vocab[v] for v in found.tolist()]
    return [snippet(text, words, length) for text in texts]


def snippet(text: str, words: Sequence[str], length: int = LENGTH) -> str:
    """Return the part of a text in which words are densest, on one line, with dots where it is cut.

    Words that come first weigh more. A text without any of them is shown from its beginning.
    """
    text = " ".join(text[:_MOST].split())
    if len(text) <= length:
        return text
    start = _start(text, words, length)
    end = start + length
    if end < len(text) and " " in text[start:end]:
        end = text.rindex(" ", start, end + 1)
    return ("… " if start else "") + text[start:end].strip() + (" …" if end < len(text) else "")


def _start(text: str, words: Sequence[str], length: int) -> int:
    """Return where the heaviest window begins, at a sentence or a word if possible."""
    first, stop = _heaviest(_places(text, words), length)
    latest = min(first, len(text) - length)
    earliest = max(0, latest - length // 4, stop - length)
    if earliest == 0:
        return 0
    ends = [m.end() for m in re.finditer(r"[.!?] |[。！？]", text[earliest : latest + 1])]
    if ends:
        return earliest + ends[-1]
    blank = text.find(" ", earliest, first)
    return blank + 1 if blank >= 0 else latest


def _heaviest(places: list[tuple[int, int, float]], length: int) -> tuple[int, int]:
    """Return begin and end of the words that weigh most together within a length."""
    sums = [0.0, *accumulate(weight for _, _, weight in places)]
    best, found, last = 0.0, (0, 0), 0
    for i, (start, _, _) in enumerate(places):
        while last < len(places) and places[last][1] - start <= length:
            last += 1
        if last > i and sums[last] - sums[i] > best + 1e-9:
            best, found = sums[last] - sums[i], (start, places[last - 1][1])
    return found


def _places(text: str, words: Sequence[str]) -> list[tuple[int, int, float]]:
    """Return begin, end and weight of every occurrence of a word, in the order of the text."""
    weight = {word.casefold(): 1.0 / (rank + 5) for rank, word in reversed([*enumerate(words)])}
    if not weight:
        return []
    ordered = sorted(weight, key=lambda word: (-len(word), word))
    pattern = "|".join(
        re.escape(word) if _UNSPACED.search(word) else rf"(?<!\w){re.escape(word)}(?!\w)"
        for word in ordered
    )
    found = re.finditer(pattern, text, re.IGNORECASE)
    return [(m.start(), m.end(), weight.get(m[0].casefold(), 0.0)) for m in found]
