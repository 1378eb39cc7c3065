"""Stems of words, and the full word by which each is shown.

Words are counted by their stems. A stem is shown by the form seen most often; since that form has
the same stem, a vocabulary of such forms says by itself which form belongs to a stem.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from polyaurn.base.errors import InputError
from polyaurn.corpus.languages import AUTO, LANGUAGES, name_of

SNOWBALL = "snowball"
Tally = dict[str, Counter[str]]  # how often each form of a stem was seen
_ALGORITHMS = {
    "ar", "ca", "cs", "da", "de", "el", "en", "eo", "es", "et", "eu", "fa", "fi", "fr", "ga", "hi",
    "hu", "hy", "id", "it", "lt", "nl", "no", "pl", "pt", "ro", "ru", "st", "sv", "tr",
}  # fmt: skip


def check_stem(stem: Any, language: str | None) -> str | None:
    """Return `SNOWBALL` or None; raise an error where there is no stemmer for a language."""
    if stem is None or stem is False:
        return None
    if stem is not True and stem != SNOWBALL:
        raise InputError(
            f"The 'stem' parameter must be True, False or '{SNOWBALL}'. Got {stem!r:.60} instead; "
            "for lemmas give a tokenizer."
        )
    if language not in (None, AUTO) and language not in _ALGORITHMS:
        raise InputError(
            f"The 'stem' parameter is for languages with a Snowball stemmer. Got it for "
            f"{name_of(language)}; leave it out, or give a tokenizer that stems."
        )
    return SNOWBALL


def stemmer_of(language: str | None) -> Callable[[str], str]:
    """Return a function from a word to its stem; English where the language is not known."""
    try:
        import snowballstemmer
    except ImportError:
        raise InputError(
            "The 'stem' parameter needs the package snowballstemmer. Install it with: "
            "pip install 'polyaurn[languages]'."
        ) from None
    stem = snowballstemmer.stemmer(LANGUAGES[language or "en"].lower()).stemWord
    known: dict[str, str] = {}

    def remembered(word: str) -> str:
        if word not in known:
            known[word] = stem(word)
        return known[word]

    return remembered


def shown_forms(words: Sequence[str], tally: Tally, known: Mapping[str, str]) -> list[str]:
    """Return stems, and runs of stems, as words: their known forms, or the commonest."""
    shown = {s: min(seen, key=lambda form: (-seen[form], form)) for s, seen in tally.items()}
    shown |= known
    return [" ".join(shown.get(part, part) for part in word.split(" ")) for word in words]


@lru_cache(maxsize=8)
def forms_by_stem(vocabulary: tuple[str, ...], language: str | None) -> Mapping[str, str]:
    """Return the words of a vocabulary, and of its n-grams, by their stems."""
    stem = stemmer_of(language)
    return {stem(form): form for word in vocabulary for form in word.split(" ")}
