"""`Corpus`: the one type of input, and the checks of documents."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from polyaurn.base.arrays import I32, I64, release
from polyaurn.base.checks import check_fraction
from polyaurn.base.errors import InputError
from polyaurn.base.rng import Purpose, bits, check_seed, key
from polyaurn.corpus.anndata import is_anndata, read_anndata
from polyaurn.corpus.names import Numbered, check_unicode, check_vocabulary
from polyaurn.corpus.pruning import document_frequency, words_to_keep
from polyaurn.corpus.text import WORD, count_words

_PIECE = 1 << 22  # tokens checked at a time, so that checks take little memory


@dataclass(frozen=True, eq=False, repr=False)
class Corpus:
    """Documents as sequences of word numbers; immutable.

    Parameters
    ----------
    doc_ptr : ndarray of int64, length D + 1
        Document d is ``word[doc_ptr[d]:doc_ptr[d + 1]]``. Empty documents keep their place.
    word : ndarray of int32, length N
        The word of each token, an index into `vocab`. A document is a bag of words: its tokens
        are stored in increasing order of word.
    vocab : sequence of str, length V
        The words, all different.
    doc_names : sequence of str, length D, optional
        Names of the documents; '1', '2', ... when not given.

    Attributes
    ----------
    n_documents, n_words, n_tokens : int
        D, V and N of the paper.

    Examples
    --------
    >>> from polyaurn import Corpus
    >>> corpus = Corpus.from_texts(["red apple, green apple", "green leaf"], stop_words=None)
    >>> corpus
    Corpus(2 documents, 4 words, 6 tokens)
    >>> corpus.vocab
    ('apple', 'green', 'leaf', 'red')
    """

    doc_ptr: I64
    word: I32
    vocab: tuple[str, ...]
    doc_names: Sequence[str] = field(default_factory=tuple)

    def __post_init__(self) -> None:
        doc_ptr = np.array(self.doc_ptr, dtype=np.int64)
        word = _frozen(self.word)
        vocab = check_vocabulary(self.vocab)
        if doc_ptr.ndim != 1 or len(doc_ptr) < 1 or doc_ptr[0] != 0 or doc_ptr[-1] != len(word):
            raise InputError(
                "The 'doc_ptr' parameter must start at 0 and end at the number of tokens, "
                f"{len(word):,}. Got {doc_ptr[:3]}... instead; see Corpus.from_matrix for an "
                "easier way in."
            )
        falls = doc_ptr[1:] < doc_ptr[:-1]
        if falls.any():
            d = int(np.argmax(falls))
            raise InputError(
                f"The 'doc_ptr' parameter must not decrease. Got {doc_ptr[d]} before "
                f"{doc_ptr[d + 1]} at document {d}; give cumulative document lengths."
            )
        least, most = _extremes(word)
        if len(word) and not 0 <= least <= most < len(vocab):
            bad = least if least < 0 else most
            raise InputError(
                f"The 'word' parameter must hold numbers from 0 to {len(vocab) - 1:,} (the "
                f"vocabulary has {len(vocab):,} words). Got {bad:,} instead; is the vocabulary "
                "complete?"
            )
        if len(doc_ptr) == 1:
            raise InputError(
                "The corpus must have at least one document. Got none; is the input empty?"
            )
        if not len(word):
            raise InputError(
                f"The corpus must have at least one token. Got {len(doc_ptr) - 1:,} documents "
                "without any word; check the text column, the tokenisation and the pruning."
            )
        word = sort_inside_documents(doc_ptr, word)
        names = self.doc_names if len(self.doc_names) else Numbered(len(doc_ptr) - 1)
        if len(names) != len(doc_ptr) - 1:
            raise InputError(
                f"The 'doc_names' parameter must have one name for each of the "
                f"{len(doc_ptr) - 1:,} documents. Got {len(names):,} instead."
            )
        if not isinstance(names, Numbered):
            names = tuple(" ".join(str(name).split()) for name in names)
            check_unicode(names, "'doc_names' parameter")
        doc_ptr.flags.writeable = word.flags.writeable = False
        for name, value in (
            ("doc_ptr", doc_ptr),
            ("word", word),
            ("vocab", vocab),
            ("doc_names", names),
        ):
            object.__setattr__(self, name, value)

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[str],
        *,
        doc_names: Sequence[str] = (),
        min_count: int = 1,
        max_doc_fraction: float = 1.0,
        max_words: int | None = None,
        stop_words: Any = "english",
        ngram_range: tuple[int, int] = (1, 1),
        lowercase: bool = True,
        token_pattern: str = WORD,
        tokenizer: Callable[[str], Iterable[str]] | None = None,
        strip_accents: str | None = None,
    ) -> "Corpus":
        """Count the words of texts.

        Parameters
        ----------
        texts : iterable of str
            One string for each document.
        doc_names : sequence of str
            Names of the documents.
        min_count : int
            Drop words seen fewer than this many times in the corpus (the paper uses 10).
        max_doc_fraction : float
            Drop words that occur in more than this share of the documents.
        max_words : int, optional
            Keep this many words, those of highest TF-IDF.
        stop_words : "english", iterable of str, path of a file with one word per line, or None
            Words to leave out; the default is scikit-learn's English list.
        ngram_range : pair of int
            (1, 2) counts single words and pairs of neighbours.
        lowercase : bool
            Fold capitals.
        token_pattern : str
            Regular expression of a word; the default takes two or more word characters.
        tokenizer : callable, optional
            Splits a text into words, in place of `token_pattern`.
        strip_accents : {"ascii", "unicode"}, optional
            Fold accents.

        Returns
        -------
        Corpus
            With a vocabulary in alphabetical order.
        """
        matrix, vocabulary = count_words(
            texts,
            stop_words=stop_words,
            ngram_range=ngram_range,
            lowercase=lowercase,
            token_pattern=token_pattern,
            tokenizer=tokenizer,
            strip_accents=strip_accents,
        )
        corpus = cls.from_matrix(matrix, vocabulary, doc_names=doc_names)
        return corpus.prune(
            min_count=min_count, max_doc_fraction=max_doc_fraction, max_words=max_words
        )

    @classmethod
    def from_matrix(
        cls, matrix: Any, vocabulary: Iterable[str] | None = None, *, doc_names: Sequence[str] = ()
    ) -> "Corpus":
        """Take a matrix of counts, documents by words.

        Parameters
        ----------
        matrix : sparse or dense matrix, D by V
            Whole, non-negative numbers.
        vocabulary : iterable of str, optional
            Name of each column; 'x0', 'x1', ... when not given.
        doc_names : sequence of str
            Name of each row.

        Returns
        -------
        Corpus
            Every word of the vocabulary is kept, whether it occurs or not.
        """
        if not sp.issparse(matrix):
            try:
                matrix = np.asarray(matrix)
            except ValueError:
                raise InputError(
                    "The 'matrix' parameter must be a two-dimensional array of counts. Got rows of "
                    "different lengths; for lists of words use Corpus.from_texts."
                ) from None
            if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
                raise InputError(
                    "The 'matrix' parameter must be a two-dimensional array of counts, documents "
                    f"by words. Got {matrix.ndim} dimension(s) of type {matrix.dtype} instead; "
                    "for texts use Corpus.from_texts."
                )
        given = sp.csr_matrix(matrix)
        _check_counts(given)
        csr = sp.csr_matrix(
            (given.data.astype(np.int64), given.indices, given.indptr), shape=given.shape, copy=True
        )
        csr.sum_duplicates()
        names = (
            tuple(f"x{v}" for v in range(csr.shape[1])) if vocabulary is None else tuple(vocabulary)
        )
        if len(names) != csr.shape[1]:
            raise InputError(
                f"The 'vocabulary' parameter must have one word for each of the matrix's "
                f"{csr.shape[1]:,} columns. Got {len(names):,} words instead; is the matrix "
                "transposed?"
            )
        cumulative = np.concatenate(([0], np.cumsum(csr.data)))
        word = np.repeat(csr.indices.astype(np.int32, copy=False), csr.data)
        word.flags.writeable = False
        return cls(cumulative[csr.indptr], word, names, doc_names)

    @property
    def n_documents(self) -> int:
        """D, empty documents included."""
        return len(self.doc_ptr) - 1

    @property
    def n_words(self) -> int:
        """V, words that do not occur included."""
        return len(self.vocab)

    @property
    def n_tokens(self) -> int:
        """N."""
        return len(self.word)

    @property
    def n_empty(self) -> int:
        """How many documents have no token."""
        return int((np.diff(self.doc_ptr) == 0).sum())

    def note_of_empty_documents(self) -> str:
        """Return a sentence that says how many documents are empty."""
        if self.n_empty == 1:
            rest = "is empty; it keeps its place and has no topics of its own."
        else:
            rest = "are empty; they keep their place and have no topics of their own."
        return f"{self.n_empty:,} of {self.n_documents:,} documents {rest}"

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the documents and the vocabulary, by which corpora are compared."""
        digest = hashlib.sha256()
        for array in (self.doc_ptr.astype("<i8"), self.word.astype("<i4", copy=False)):
            digest.update(np.int64(len(array)).astype("<i8").tobytes())
            digest.update(np.ascontiguousarray(array).view(np.uint8).data)
        digest.update("\n".join(self.vocab).encode())
        return digest.hexdigest()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Corpus):
            return NotImplemented
        return self.fingerprint == other.fingerprint and self.doc_names == other.doc_names

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __len__(self) -> int:
        return self.n_documents

    def __iter__(self) -> Iterator[I32]:
        for d in range(self.n_documents):
            yield self[d]

    def __getitem__(self, d: int) -> I32:
        """Return the words of one document, as numbers."""
        d = range(self.n_documents)[d]
        return self.word[self.doc_ptr[d] : self.doc_ptr[d + 1]]

    def __repr__(self) -> str:
        empty = f" ({self.n_empty:,} empty)" if self.n_empty else ""
        return (
            f"Corpus({self.n_documents:,} documents{empty}, {self.n_words:,} words, "
            f"{self.n_tokens:,} tokens)"
        )

    def to_matrix(self) -> sp.csr_matrix:
        """Return the counts as a CSR matrix of int32, documents by words."""
        csr = sp.csr_matrix(
            (np.ones(self.n_tokens, np.int32), self.word, self.doc_ptr),
            shape=(self.n_documents, self.n_words),
            copy=True,
        )
        csr.sum_duplicates()
        return csr

    def select(self, documents: npt.ArrayLike) -> "Corpus":
        """Return some of the documents, in the order given, with the whole vocabulary.

        Parameters
        ----------
        documents : array_like of int or of bool
            Numbers of the documents, or a mask.

        Returns
        -------
        Corpus
            The documents chosen.
        """
        chosen = np.arange(self.n_documents)[np.asarray(documents)]
        lengths = np.diff(self.doc_ptr)[chosen]
        ptr = np.concatenate(([0], np.cumsum(lengths)))
        take = np.arange(ptr[-1]) + np.repeat(self.doc_ptr[chosen] - ptr[:-1], lengths)
        names = [self.doc_names[d] for d in chosen.tolist()]
        word = self.word[take]
        word.flags.writeable = False
        return Corpus(ptr, word, self.vocab, names)

    def split(self, test_fraction: float = 0.1, random_state: Any = 0) -> tuple["Corpus", "Corpus"]:
        """Split into training and test documents, the same for the same seed anywhere.

        Parameters
        ----------
        test_fraction : float
            Share of the documents that go to the test set, above 0 and below 1.
        random_state : int, None or NumPy generator
            The seed; another one gives another split.

        Returns
        -------
        train, test : Corpus
            Documents in their old order; both keep the whole vocabulary.
        """
        remedy = "0.1 keeps a tenth of the documents for testing"
        check_fraction(test_fraction, "test_fraction", ends=False, remedy=remedy)
        D = self.n_documents
        n_test = round(D * test_fraction)
        if not 0 < n_test < D:
            raise InputError(
                f"The 'test_fraction' parameter must leave documents on both sides. Got "
                f"{test_fraction!r} of {D:,} documents; change it or use more documents."
            )
        order = np.argsort(bits(key(check_seed(random_state), 0, Purpose.SPLIT), np.arange(D)))
        test = np.zeros(D, bool)
        test[order[:n_test]] = True
        return self.select(~test), self.select(test)

    def prune(
        self,
        *,
        min_count: int = 0,
        max_doc_fraction: float = 1.0,
        max_words: int | None = None,
    ) -> "Corpus":
        """Drop words; documents stay, even those that become empty.

        Parameters
        ----------
        min_count : int
            Drop words seen fewer than this many times in the corpus (the paper's rare-word
            limit, 10 there). 0 keeps even words that do not occur.
        max_doc_fraction : float
            Drop words that occur in more than this share of the documents that have words.
        max_words : int, optional
            Of the words left, keep this many, those of highest TF-IDF: count times the logarithm
            of documents over documents with the word.

        Returns
        -------
        Corpus
            With the vocabulary in the same order as before.
        """
        if (min_count, max_doc_fraction, max_words) == (0, 1.0, None):
            return self
        keep = words_to_keep(
            np.bincount(self.word, minlength=self.n_words),
            lambda: document_frequency(self.doc_ptr, self.word, self.n_words),
            self.n_documents - self.n_empty,
            min_count,
            max_doc_fraction,
            max_words,
        )
        if keep.all():
            return self
        if not keep.any():
            raise InputError(
                f"The pruning must leave at least one word. Got min_count={min_count}, "
                f"max_doc_fraction={max_doc_fraction} on {self.n_words:,} words, none of which is "
                "left; lower min_count or raise max_doc_fraction."
            )
        stays = keep[self.word]
        new_number = np.cumsum(keep, dtype=np.int32) - np.int32(1)
        kept_before = np.concatenate(([0], np.cumsum(stays)))
        word = new_number[self.word[stays]]
        word.flags.writeable = False
        return Corpus(
            kept_before[self.doc_ptr],
            word,
            tuple(w for w, k in zip(self.vocab, keep.tolist(), strict=True) if k),
            self.doc_names,
        )


def as_corpus(X: Any) -> Corpus:
    """Return a corpus made from strings, from counts in a matrix, data frame or AnnData object.

    The columns of a data frame become the vocabulary, as do the genes of AnnData. A `Corpus` is
    returned as it is.
    """
    if isinstance(X, Corpus):
        return X
    if is_anndata(X):
        return read_anndata(X, None, Corpus.from_matrix)
    if sp.issparse(X) or (hasattr(X, "ndim") and X.ndim == 2):
        columns = getattr(X, "columns", None)
        return Corpus.from_matrix(X, None if columns is None else [str(name) for name in columns])
    items = list(X) if isinstance(X, Iterable) and not isinstance(X, str | dict) else []
    if any(isinstance(item, str) for item in items):
        return Corpus.from_texts(items)
    if items and all(isinstance(item, list | tuple | np.ndarray) for item in items):
        return Corpus.from_matrix(np.asarray(items))
    what = "one string" if isinstance(X, str) else type(X).__name__
    raise InputError(
        "The 'X' parameter must be a Corpus, a matrix of counts, or several strings. Got "
        f"{what} instead; put strings in a list, or read a file with polyaurn.read_corpus."
    )


def _check_counts(csr: sp.csr_matrix) -> None:
    data = csr.data
    bad = (
        ~((data >= 0) & (data == np.floor(data)) & np.isfinite(data))
        if data.dtype.kind == "f"
        else data < 0
    )
    if bad.any():
        at = int(np.argmax(bad))
        row = int(np.searchsorted(csr.indptr, at, side="right")) - 1
        raise InputError(
            "The 'matrix' parameter must hold whole, non-negative counts. Got "
            f"{data[at].item()!r} at row {row}, column {int(csr.indices[at])}; topic models need "
            "counts, not weights such as TF-IDF."
        )


def _frozen(word: Any) -> I32:
    """Return a read-only array of int32 as it is, and a copy of anything else."""
    if isinstance(word, np.ndarray) and word.dtype == np.int32 and not word.flags.writeable:
        return word
    return np.array(word, dtype=np.int32)


def _extremes(word: I32) -> tuple[int, int]:
    """Return the least word number, or 0, and the largest."""
    least = most = 0
    for lo in range(0, len(word), _PIECE):
        piece = word[lo : lo + _PIECE]
        least, most = min(least, int(piece.min())), max(most, int(piece.max()))
        release(word)
    return least, most


def sort_inside_documents(doc_ptr: I64, word: I32) -> I32:
    """Return tokens in increasing order of word inside each document; the same array if they are.

    Tokens are compared a piece at a time, so that a mapped file does not have to fit in memory.
    """
    for lo in range(0, len(word) - 1, _PIECE):
        piece = word[lo : lo + _PIECE + 1]
        falls = lo + 1 + np.flatnonzero(piece[1:] < piece[:-1])
        if not np.array_equal(falls, doc_ptr[np.searchsorted(doc_ptr, falls)]):
            doc = np.repeat(np.arange(len(doc_ptr) - 1), np.diff(doc_ptr))
            return word[np.lexsort((word, doc))]
        release(word)
    return word
