"""Snippets: the part of a document's text in which a topic's words are densest."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from polyaurn.model.data import ModelData
from polyaurn.model.leading_words import leading_words

LENGTH = 200  # characters
WORDS = 50  # leading words of a topic that a snippet is chosen by
AGAIN = 0.1  # share of a word's weight that counts where it occurs again
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
    weight = _weights(words)
    first, stop = _heaviest(_places(text, weight), weight, length)
    latest = min(first, len(text) - length)
    earliest = max(0, latest - length // 4, stop - length)
    if earliest == 0:
        return 0
    ends = [m.end() for m in re.finditer(r"[.!?] |[。！？]", text[earliest : latest + 1])]
    if ends:
        return earliest + ends[-1]
    blank = text.find(" ", earliest, first)
    return blank + 1 if blank >= 0 else latest


def _heaviest(
    places: list[tuple[int, int, str]], weight: dict[str, float], length: int
) -> tuple[int, int]:
    """Return begin and end of the words that weigh most together within a length."""
    inside: Counter[str] = Counter()
    best, found, total, last = 0.0, (0, 0), 0.0, 0
    for start, _, word in places:
        while last < len(places) and places[last][1] - start <= length:
            new = places[last][2]
            total += weight[new] * (AGAIN if inside[new] else 1.0)
            inside[new] += 1
            last += 1
        if total > best + 1e-9:
            best, found = total, (start, places[last - 1][1])
        if inside[word]:
            inside[word] -= 1
            total -= weight[word] * (AGAIN if inside[word] else 1.0)
        else:  # a word longer than the window
            last += 1
    return found


def _weights(words: Sequence[str]) -> dict[str, float]:
    """Return what words weigh, by their place among a topic's leading words."""
    return {word.casefold(): 1.0 / (rank + 5) for rank, word in reversed([*enumerate(words)])}


def _places(text: str, words: Iterable[str]) -> list[tuple[int, int, str]]:
    """Return begin, end and word of every occurrence, in the order of the text."""
    ordered = sorted(words, key=lambda word: (-len(word), word))
    pattern = "|".join(
        re.escape(word) if _UNSPACED.search(word) else rf"(?<!\w){re.escape(word)}(?!\w)"
        for word in ordered
    )
    found = re.finditer(pattern, text, re.IGNORECASE) if ordered else iter(())
    known = set(ordered)
    return [(m.start(), m.end(), m[0].casefold()) for m in found if m[0].casefold() in known]
