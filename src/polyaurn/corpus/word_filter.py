"""Which tokens of a text are counted: stop words, numbers and what is too long are left out."""

from collections.abc import Iterable

from polyaurn.corpus.english import EXTENDED, extended_stop_words, is_number

LONGEST = 100  # characters; longer ones are addresses, keys and encoded files
STOP_WORD, NUMBER, LONG = "stop words", "numbers", f"of more than {LONGEST} characters"
KEPT = ""


class WordFilter(dict[str, str]):
    """Why each word is left out, or `KEPT`; found once for each word that is met.

    Parameters
    ----------
    stop_words : frozenset of str
        Words that are left out.
    all_kinds : bool
        Whether numbers and words of any length are kept.
    """

    def __init__(self, stop_words: frozenset[str], *, all_kinds: bool) -> None:
        super().__init__()
        self._stop, self._all_kinds = stop_words, all_kinds

    def __missing__(self, word: str) -> str:
        why = KEPT
        if word in self._stop:
            why = STOP_WORD
        elif not self._all_kinds and len(word) > LONGEST:
            why = LONG
        elif not self._all_kinds and is_number(word):
            why = NUMBER
        self[word] = why
        return why

    def __call__(self, tokens: Iterable[str]) -> list[str]:
        """Return the tokens of a document that are counted."""
        return [word for word in tokens if self[word] == KEPT]

    def left_out(self) -> dict[str, set[str]]:
        """Return the words that were met and left out, by reason."""
        found: dict[str, set[str]] = {}
        for word, why in self.items():
            if why != KEPT:
                found.setdefault(why, set()).add(word)
        return found


def stop_set(stop_words: str | tuple[str, ...] | None) -> frozenset[str]:
    """Return the words that a value of 'stop_words' stands for."""
    if stop_words == EXTENDED:
        return extended_stop_words()
    if stop_words == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS)
    return frozenset(stop_words or ())
