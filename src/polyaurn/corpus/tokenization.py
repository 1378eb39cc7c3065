"""`Tokenization`: how text becomes words, kept with corpora and models."""

import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from polyaurn.base.checks import is_whole
from polyaurn.base.errors import InputError, LanguageWarning
from polyaurn.corpus.columns import listed
from polyaurn.corpus.english import EXTENDED
from polyaurn.corpus.languages import (
    AUTO,
    FOREIGN,
    check_language,
    is_language,
    name_of,
    peek,
    recognised,
)
from polyaurn.corpus.other_languages import other_stop_words
from polyaurn.corpus.patterns import LETTERS, TERMS, WORDS, check_pattern, has_marks, is_bounded
from polyaurn.corpus.phrases import Phrases, check_phrases
from polyaurn.corpus.segmenters import check_segmenter
from polyaurn.corpus.stems import SNOWBALL, check_stem
from polyaurn.corpus.stop_words import ENGLISH, stop_words_of
from polyaurn.corpus.word_filter import stop_set

Tokenizer = Callable[[str], Iterable[str]]
TOKEN_LISTS = "lists of tokens"  # in place of a tokenizer's name
MOST_NGRAMS = 100
_MOST_PATTERN = 10_000  # characters, in a file


@dataclass(frozen=True)
class Tokenization:
    """How text becomes words; immutable, and saved with corpora and models.

    Parameters
    ----------
    stop_words : "auto", "english-extended", "english", tuple of str, or None
        Words that are left out; "auto" takes those of the language.
    ngram_range : pair of int
        Least and greatest number of neighbouring words that are counted together.
    lowercase : bool
        Whether capitals are folded.
    token_pattern : str
        "terms", "words", or the regular expression of a word.
    strip_accents : {"ascii", "unicode"} or None
        How accents are folded.
    normalization : "NFC" or None
        The Unicode form that text is brought to first; None in models of version 0.1.
    tokenizer : callable or None
        Splits a text into words, in place of `token_pattern`.
    tokenizer_name : str
        What the tokenizer is called. A name without a tokenizer says that there was one, which
        could not be saved.
    phrases : tuple of pairs of str
        Neighbouring words that are counted as one, "new" and "york" as "new_york".
    html : bool
        Whether texts are HTML, whose tags are removed.
    trusted : bool
        False where the pattern came in a file and might never end; it is then not run.
    language : str or None
        The language of the text: an ISO 639-1 code, an English name, or "auto" until `settled`.
        None, also of models that do not say it, is treated as English.
    stem : bool or "snowball"
        Whether words of one stem are counted as one.
    forms : tuple of str
        A vocabulary whose words stand for their stems.
    """

    stop_words: str | tuple[str, ...] | None = AUTO
    ngram_range: tuple[int, int] = (1, 1)
    lowercase: bool = True
    token_pattern: str = TERMS
    strip_accents: str | None = None
    normalization: str | None = "NFC"
    tokenizer: Tokenizer | None = None
    tokenizer_name: str = ""
    phrases: Phrases = ()
    html: bool = False
    trusted: bool = True
    language: str | None = None
    stem: bool | str | None = None
    forms: tuple[str, ...] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        language = check_language(self.language)
        object.__setattr__(self, "language", language)
        object.__setattr__(self, "stem", check_stem(self.stem, language))
        object.__setattr__(self, "stop_words", stop_list(self.stop_words, language))
        object.__setattr__(self, "ngram_range", _check_ngrams(self.ngram_range))
        check_pattern(self.token_pattern)
        object.__setattr__(self, "phrases", check_phrases(self.phrases))
        if self.tokenizer is not None:
            if not callable(self.tokenizer):
                raise InputError(
                    "The 'tokenizer' parameter must be a function that splits a text into words. "
                    f"Got {type(self.tokenizer).__name__} instead."
                )
            object.__setattr__(self, "tokenizer_name", _name_of(self.tokenizer))

    @property
    def spoken(self) -> str:
        """The language, for the end of a list, where it is another one than English."""
        return "" if self.language in (None, "en", AUTO) else f", {name_of(self.language)}"

    def settled(self, texts: Iterable[str]) -> tuple["Tokenization", Iterable[str]]:
        """Return the same rules with the language of texts, if it is to be recognised, and texts.

        An iterator of texts is consumed by this; the texts that are returned are all of them.
        """
        texts = listed(texts, "texts")
        if self.language != AUTO:
            return self, texts
        sample, documents = peek(texts)
        found = recognised(sample)
        if found.note():
            warnings.warn(found.note(), LanguageWarning, stacklevel=4)
        language = found.mostly if found.language == FOREIGN else found.language
        rules = replace(self, language=language)
        others = other_stop_words(found, sample) if self.stop_words == AUTO else None
        if others:
            own = stop_set(rules.stop_words)
            rules = replace(rules, stop_words=tuple(sorted(own | others)))
        return rules, documents

    def with_forms(self, vocabulary: Sequence[str]) -> "Tokenization":
        """Return the same rules with a vocabulary whose words are shown for their stems."""
        return replace(self, forms=tuple(vocabulary)) if self.stem else self

    def with_tokenizer(self, tokenizer: Tokenizer) -> "Tokenization":
        """Return the same rules with a function that splits a text into words."""
        return replace(self, tokenizer=tokenizer, trusted=True)

    def with_pattern(self, token_pattern: str) -> "Tokenization":
        """Return the same rules with a pattern of words, in place of any tokenizer."""
        return replace(
            self, token_pattern=token_pattern, tokenizer=None, tokenizer_name="", trusted=True
        )

    def check_usable(self) -> None:
        """Raise an error if text cannot be cut in this way here."""
        if self.tokenizer is None and self.tokenizer_name:
            listed = self.tokenizer_name == TOKEN_LISTS
            how = "was given as lists of tokens" if listed else "was cut by the function "
            name = "" if listed else f"'{self.tokenizer_name}', which is not saved with a model"
            also = "Give lists of tokens, or a" if listed else "Give the"
            raise InputError(
                f"Text cannot be cut as in training: it {how}{name}. {also} tokenizer: "
                "polyaurn.load(folder, tokenizer=...), or model.with_tokenizer(...)."
            )
        if self.tokenizer is None:
            check_segmenter(self.language)
        if not self.trusted and self.tokenizer is None:
            raise InputError(
                f"The token pattern {self.token_pattern!r:.100} came with a file, and might never "
                "end, so it is not run. If you trust it, give it yourself: --token-pattern, or "
                "polyaurn.load(folder, token_pattern=...)."
            )

    def to_json(self) -> dict[str, Any]:
        """Return the rules as values for JSON; of a tokenizer, only its name."""
        stop = self.stop_words
        return {
            "stop_words": list(stop) if isinstance(stop, tuple) else stop,
            "ngram_range": list(self.ngram_range),
            "lowercase": self.lowercase,
            "token_pattern": self.token_pattern,
            "strip_accents": self.strip_accents,
            "normalization": self.normalization,
            "tokenizer": self.tokenizer_name or None,
            "language": self.language,
            "stem": self.stem,
            "phrases": [list(pair) for pair in self.phrases],
            "html": self.html,
        }

    def __getstate__(self) -> dict[str, Any]:
        """Leave out a tokenizer that other processes could not find by its name."""
        state = dict(self.__dict__)
        named = all(getattr(self.tokenizer, n, None) for n in ("__module__", "__qualname__"))
        if named and not _is_importable(self.tokenizer):
            state["tokenizer"] = None
        return state


def tokenization_of(stated: Any) -> Tokenization:
    """Return the rules that a file states, from `to_json`; raise an error if they are not valid."""
    try:
        stop, ngrams = stated["stop_words"], stated["ngram_range"]
        accents, form, name = (
            stated[key] for key in ("strip_accents", "normalization", "tokenizer")
        )
        fine = (
            (stop in (None, "english", EXTENDED) or _all_strings(stop))
            and accents in (None, "ascii", "unicode")
            and form in (None, "NFC")
            and isinstance(stated["lowercase"], bool)
            and isinstance(stated["token_pattern"], str)
            and len(stated["token_pattern"]) <= _MOST_PATTERN
            and (name is None or isinstance(name, str))
            and stated.get("language") != AUTO
            and stated.get("stem") in (None, SNOWBALL)
            and isinstance(stated.get("html", False), bool)
        )
        if not fine:
            raise InputError("The tokenization has values of a wrong kind.")
        return Tokenization(
            stop_words=tuple(stop) if isinstance(stop, list) else stop,
            ngram_range=tuple(ngrams),
            lowercase=stated["lowercase"],
            token_pattern=stated["token_pattern"],
            strip_accents=accents,
            normalization=form,
            tokenizer_name=name or "",
            phrases=stated.get("phrases", ()),
            html=stated.get("html", False),
            trusted=is_bounded(stated["token_pattern"]),
            language=stated.get("language"),
            stem=stated.get("stem"),
        )
    except (KeyError, TypeError):
        raise InputError("The tokenization is not complete.") from None


def tokenization_for(vocab: tuple[str, ...]) -> Tokenization:
    """Return rules that can give the words of a vocabulary, where it is not known what was done.

    Used for models of counts, of other programs, and of version 0.1 in Python: n-grams, capitals,
    combining marks and stop words are kept where the vocabulary has some.
    """
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    longest = max(word.count(" ") for word in vocab) + 1
    return Tokenization(
        ngram_range=(1, min(longest, MOST_NGRAMS)),
        stop_words="english" if ENGLISH_STOP_WORDS.isdisjoint(vocab) else None,
        lowercase=all(word == word.lower() for word in vocab),
        token_pattern=WORDS if any(map(has_marks, vocab)) else LETTERS,
    )


def stop_list(stop_words: Any, language: str | None = None) -> Any:
    """Return the name of a list, a tuple of words, None, or "auto" until the language is known.

    A string is the name of a language, or the path of a file with one word per line.
    """
    names = ("none", ENGLISH, EXTENDED)
    if stop_words is None or (isinstance(stop_words, str) and stop_words in names):
        return None if stop_words == "none" else stop_words
    if isinstance(stop_words, str) and stop_words == AUTO:
        return AUTO if language == AUTO else stop_words_of(language)
    if isinstance(stop_words, str) and is_language(stop_words):
        return stop_words_of(check_language(stop_words))
    if isinstance(stop_words, str | Path):
        try:
            text = Path(stop_words).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(
                "The 'stop_words' parameter must be 'auto', 'none', a language such as 'english', "
                "a list of words or a UTF-8 file with one word per line. Got "
                f"{str(stop_words)!r}, which cannot be read "
                f"({getattr(error, 'strerror', None) or 'not UTF-8'}); check the path."
            ) from None
        return tuple(line.strip() for line in text.splitlines() if line.strip())
    words = tuple(stop_words) if isinstance(stop_words, Iterable) else (None,)
    if not _all_strings(words):
        raise InputError(
            "The 'stop_words' parameter must be 'auto', 'none', a language such as 'english', "
            f"a list of words or a file. Got {stop_words!r:.60} instead."
        )
    return words


def _check_ngrams(ngram_range: Any) -> tuple[int, int]:
    found = tuple(ngram_range) if isinstance(ngram_range, Iterable) else ()
    whole = len(found) == 2 and all(map(is_whole, found))
    if not whole or not 1 <= found[0] <= found[1] <= MOST_NGRAMS:
        raise InputError(
            f"The 'ngram_range' parameter must be two whole numbers from 1 to {MOST_NGRAMS}, the "
            f"second not below the first. Got {ngram_range!r:.60} instead; (1, 2) also counts "
            "pairs of words."
        )
    return int(found[0]), int(found[1])


def _all_strings(words: Any) -> bool:
    return isinstance(words, list | tuple) and all(isinstance(word, str) for word in words)


def _name_of(tokenizer: Any) -> str:
    """Return what a callable is called, for messages and files."""
    named = tokenizer if hasattr(tokenizer, "__qualname__") else type(tokenizer)
    module = getattr(named, "__module__", None)  # methods of built-in types have none
    return f"{module}.{named.__qualname__}" if module else str(named.__qualname__)


def _is_importable(function: Any) -> bool:
    """Return whether a function is found under its own name, as pickling requires."""
    found: Any = sys.modules.get(function.__module__)
    for name in function.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is not None and found == function
