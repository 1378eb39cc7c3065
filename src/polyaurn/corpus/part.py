"""Documents as steps read them: a corpus, or a part of one that another process has the rest of."""

from typing import NamedTuple, Protocol

from polyaurn.base.arrays import I32, I64


class Documents(Protocol):
    """What steps read of a corpus."""

    @property
    def doc_ptr(self) -> I64:
        """Document d is ``word[doc_ptr[d]:doc_ptr[d + 1]]``."""

    @property
    def word(self) -> I32:
        """The word of each token."""

    @property
    def n_documents(self) -> int:
        """D."""

    @property
    def n_words(self) -> int:
        """V."""

    @property
    def n_tokens(self) -> int:
        """N."""


class Part(NamedTuple):
    """Documents that follow one another in a corpus, without names.

    `first_document` and `first_token` are the numbers of its first ones in the corpus.
    """

    doc_ptr: I64
    word: I32
    n_words: int
    first_document: int = 0
    first_token: int = 0

    @property
    def n_documents(self) -> int:
        """D of the part."""
        return len(self.doc_ptr) - 1

    @property
    def n_tokens(self) -> int:
        """N of the part."""
        return len(self.word)
