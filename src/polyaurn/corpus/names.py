"""Names of words and of documents."""

from collections.abc import Iterable, Sequence
from typing import Any

from polyaurn.base.errors import InputError


class Numbered(Sequence[str]):
    """Names '0', '1', ... that take no memory."""

    def __init__(self, length: int) -> None:
        self._length = length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [str(i) for i in range(self._length)[index]]
        return str(range(self._length)[index])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Numbered({self._length})"


def index_names(X: Any) -> Sequence[str]:
    """Return the names in the index of a pandas object; none where it has none but numbers."""
    index = getattr(X, "index", None)
    if index is None or callable(index) or not hasattr(X, "iloc"):
        return ()
    names = [str(name) for name in index]
    return () if names == Numbered(len(names)) else names


def column_names(n_words: int) -> tuple[str, ...]:
    """Return the words of a matrix without column names: 'x0', 'x1', ..."""
    return tuple(f"x{v}" for v in range(n_words))


def has_names(vocab: Sequence[str]) -> bool:
    """Return whether words are more than the numbers of columns."""
    return any(word != f"x{v}" for v, word in enumerate(vocab))


def check_vocabulary(
    vocabulary: Iterable[Any], source: str = "'vocab' parameter"
) -> tuple[str, ...]:
    """Return the vocabulary as a tuple, or raise an error unless words are different lines.

    `source` says where they come from, for the error message.
    """
    words = tuple(vocabulary)
    if not words:
        raise InputError(f"The {source} must hold at least one word. Got none.")
    seen: dict[str, int] = {}
    for v, word in enumerate(words):
        if not isinstance(word, str) or "\n" in word or "\r" in word:
            raise InputError(
                f"The {source} must hold words, each a string on one line. Got {word!r:.60} at "
                f"position {v + 1}; convert it first."
            )
        if seen.setdefault(word, v) != v:
            where = "in lines" if source.startswith("file ") else "at positions"
            raise InputError(
                f"The {source} must hold each word once. Got {word!r:.60} {where} "
                f"{seen[word] + 1:,} and {v + 1:,}; rename or merge them."
            )
    check_unicode(words, source)
    return words


def check_unicode(names: Sequence[str], source: str) -> None:
    """Raise an error if a name cannot be written to a file: one with half a character."""
    try:
        "\n".join(names).encode()
    except UnicodeEncodeError:
        bad = next(i for i, name in enumerate(names) if not _is_unicode(name))
        raise InputError(
            f"The {source} must hold whole characters of Unicode. Got {names[bad]!r:.60} at "
            f"position {bad + 1}, which has half of one (a lone surrogate), as names of files that "
            "are not UTF-8 do; rename it, or replace it with "
            "name.encode(errors='replace').decode()."
        ) from None


def _is_unicode(name: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in name)
