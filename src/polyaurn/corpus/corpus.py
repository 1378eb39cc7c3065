"""`Corpus`: the one type of input, and the checks of documents."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
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
from polyaurn.corpus.arrays import (
    PIECE,
    as_numbers,
    check_counts,
    check_documents,
    frozen,
    sort_inside_documents,
    take_documents,
)
from polyaurn.corpus.cutter import filter_of
from polyaurn.corpus.names import (
    Numbered,
    check_unicode,
    check_vocabulary,
    column_names,
    index_names,
)
from polyaurn.corpus.patterns import TERMS
from polyaurn.corpus.preparation import with_phrases
from polyaurn.corpus.pruning import WordChoice, WordReport
from polyaurn.corpus.selection import keep_words
from polyaurn.corpus.summary import Shown
from polyaurn.corpus.text import count_tokens, count_words
from polyaurn.corpus.tokenization import TOKEN_LISTS, Tokenization, Tokenizer
from polyaurn.corpus.word_filter import WordFilter


@dataclass(frozen=True, eq=False, repr=False)
class Corpus(Shown):
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
        Names of the documents; '0', '1', ... when not given.
    tokenization : Tokenization, optional
        How text became words, where the documents were text; a model trained on them cuts new
        text in the same way.
    word_report : WordReport, optional
        How many words were found in texts, and why some were left out; ``str`` is a sentence.

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
    tokenization: Tokenization | None = None
    word_report: WordReport | None = None

    def __post_init__(self) -> None:
        doc_ptr = np.array(self.doc_ptr, dtype=np.int64)
        word = frozen(self.word)
        vocab = check_vocabulary(self.vocab)
        check_documents(doc_ptr, word, len(vocab))
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
        checked = {"doc_ptr": doc_ptr, "word": word, "vocab": vocab, "doc_names": names}
        for name, value in checked.items():
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
        min_df: int | float | str = "auto",
        max_df: int | float | str = "auto",
        max_features: int | None = None,
        flat_words: str = "keep",
        stop_words: Any = "auto",
        ngram_range: tuple[int, int] = (1, 1),
        phrases: bool = False,
        html: bool = False,
        lowercase: bool = True,
        token_pattern: str = TERMS,
        tokenizer: Tokenizer | None = None,
        strip_accents: str | None = None,
        language: str | None = "auto",
        stem: bool | str | None = None,
    ) -> "Corpus":
        """Count the words of texts, which are brought to the Unicode form NFC first.

        Words that say little about a text's subject are left out; `word_report` says how many and
        why, and the page "Preparing text" how the defaults were found.

        Parameters
        ----------
        texts : iterable of str
            One string for each document.
        doc_names : sequence of str
            Names of the documents; by default those in the index of a pandas series.
        min_count : int
            Drop words seen fewer than this many times in the corpus (the paper uses 10).
        max_doc_fraction : float
            Drop words that occur in more than this share of the documents.
        max_words : int, optional
            Keep this many words, those of highest TF-IDF.
        min_df : int, float or "auto"
            Drop words in fewer documents: a number of documents, or as a float a share of them.
            "auto" is one in a hundred documents, from 2 to 5; 1 below 50 or with `min_count`.
        max_df : int, float or "auto"
            Drop words in more documents. "auto" is a fifth of them, up to half where they are few
            or long; all of them below 50 documents or where `max_doc_fraction` is given.
        max_features : int, optional
            Keep this many words, the most frequent ones.
        flat_words : {"keep", "drop"}
            Whether to drop words that documents of all kinds have alike, such as "said" in news;
            from 1,000 documents on. It may drop words of a subject, too.
        stop_words : str, iterable of str, path of a file with one word per line, or None
            Words to leave out. "auto" takes those of the language, for English "english-extended";
            "english" is scikit-learn's list, and the name of another language its list.
        ngram_range : pair of int
            (1, 2) counts single words and pairs of neighbours.
        phrases : bool
            Find phrases of two or three words first, and count them as words: "new_york".
        html : bool
            Whether texts are HTML; tags, scripts and styles are removed.
        lowercase : bool
            Fold capitals.
        token_pattern : str
            Regular expression of a word. "words" takes two or more letters, digits and
            underscores, with their combining marks; "terms", the default, also leaves out numbers,
            and does not tear contractions such as "don't".
        tokenizer : callable, optional
            Splits a text into words, in place of `token_pattern`.
        strip_accents : {"ascii", "unicode"}, optional
            Fold accents.
        language : str or None
            An ISO 639-1 code or an English name, such as "de" or "german". "auto" recognises it in
            the first thousand texts; where it cannot, and with None, text is cut as in English.
            Chinese, Japanese and Thai need a segmenter: ``pip install 'polyaurn[languages]'``.
        stem : bool or "snowball", optional
            Count words with the same stem as one, shown in its most frequent form.

        Returns
        -------
        Corpus
            With a vocabulary in alphabetical order, its `tokenization` and its `word_report`.
        """
        tokenization = Tokenization(
            stop_words=stop_words,
            ngram_range=ngram_range,
            lowercase=lowercase,
            token_pattern=token_pattern,
            tokenizer=tokenizer,
            strip_accents=strip_accents,
            language=language,
            stem=stem,
            html=html,
        )
        choice = WordChoice(
            min_count, max_doc_fraction, max_words, min_df, max_df, max_features, flat_words
        )
        names = doc_names if len(doc_names) else index_names(texts)
        rules, documents = tokenization.settled(texts)
        if phrases and isinstance(documents, Iterator):
            documents = list(documents)
        rules = with_phrases(rules, phrases, lambda: documents)
        words = filter_of(rules)
        corpus = cls.cut(documents, rules, doc_names=names, words=words)
        return keep_words(corpus, choice, words.left_out())

    @classmethod
    def cut(
        cls,
        texts: Iterable[str],
        tokenization: Tokenization,
        *,
        doc_names: Sequence[str] = (),
        words: WordFilter | None = None,
    ) -> "Corpus":
        """Count the words of texts, cut as another corpus or a model was: ``model.tokenization``.

        Parameters
        ----------
        texts : iterable of str
            One string for each document.
        tokenization : Tokenization
            How text becomes words.
        doc_names : sequence of str
            Names of the documents; by default those in the index of a pandas series.
        words : WordFilter, optional
            Remembers the words that are left out.

        Returns
        -------
        Corpus
            With a vocabulary in alphabetical order.
        """
        rules, documents = tokenization.settled(texts)
        matrix, vocab = count_words(documents, rules, words=words)
        names = doc_names if len(doc_names) else index_names(texts)
        return cls.from_matrix(matrix, vocab, doc_names=names, tokenization=rules.with_forms(vocab))

    @classmethod
    def from_tokens(
        cls,
        documents: Iterable[Iterable[str]],
        *,
        doc_names: Sequence[str] = (),
        min_count: int = 1,
        max_doc_fraction: float = 1.0,
        max_words: int | None = None,
    ) -> "Corpus":
        """Count tokens as they are: nothing is folded, and there are no stop words.

        Parameters
        ----------
        documents : iterable of iterables of str
            The tokens of each document, in any order.
        doc_names : sequence of str
            Names of the documents; by default those in the index of a pandas series.
        min_count, max_doc_fraction, max_words
            Which words to keep; see `from_texts`.

        Returns
        -------
        Corpus
            With a vocabulary in alphabetical order.

        Examples
        --------
        >>> from polyaurn import Corpus
        >>> Corpus.from_tokens([["red", "apple"], ["green", "apple"]]).vocab
        ('apple', 'green', 'red')
        """
        matrix, words = count_tokens(documents)
        names = doc_names if len(doc_names) else index_names(documents)
        as_given = Tokenization(
            stop_words=None, lowercase=False, normalization=None, tokenizer_name=TOKEN_LISTS
        )
        corpus = cls.from_matrix(matrix, words, doc_names=names, tokenization=as_given)
        return corpus.prune(
            min_count=min_count, max_doc_fraction=max_doc_fraction, max_words=max_words
        )

    @classmethod
    def from_matrix(
        cls,
        matrix: Any,
        vocabulary: Iterable[str] | None = None,
        *,
        doc_names: Sequence[str] = (),
        tokenization: Tokenization | None = None,
    ) -> "Corpus":
        """Take a matrix of counts, documents by words.

        Parameters
        ----------
        matrix : sparse or dense matrix, D by V
            Whole, non-negative numbers.
        vocabulary : iterable of str, optional
            Name of each column; 'x0', 'x1', ... when not given.
        doc_names : sequence of str
            Name of each row; by default those in the index of a data frame.
        tokenization : Tokenization, optional
            How text became these counts.

        Returns
        -------
        Corpus
            Every word of the vocabulary is kept, whether it occurs or not.
        """
        doc_names = doc_names if len(doc_names) else index_names(matrix)
        given = sp.csr_matrix(as_numbers(matrix))
        check_counts(given)
        csr = sp.csr_matrix(
            (given.data.astype(np.int64), given.indices, given.indptr), shape=given.shape, copy=True
        )
        csr.sum_duplicates()
        names = column_names(csr.shape[1]) if vocabulary is None else tuple(vocabulary)
        if len(names) != csr.shape[1]:
            raise InputError(
                f"The 'vocabulary' parameter must have one word for each of the matrix's "
                f"{csr.shape[1]:,} columns. Got {len(names):,} words instead; is the matrix "
                "transposed?"
            )
        cumulative = np.concatenate(([0], np.cumsum(csr.data)))
        word = np.repeat(csr.indices.astype(np.int32, copy=False), csr.data)
        word.flags.writeable = False
        return cls(cumulative[csr.indptr], word, names, doc_names, tokenization)

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
            for lo in range(0, len(array), PIECE):  # a corpus on disk need not be in memory
                digest.update(np.ascontiguousarray(array[lo : lo + PIECE]).view(np.uint8).data)
                release(array)
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
        spoken = self.tokenization.spoken if self.tokenization else ""
        return (
            f"Corpus({self.n_documents:,} documents{empty}, {self.n_words:,} words, "
            f"{self.n_tokens:,} tokens{spoken})"
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
        ptr, word = take_documents(self.doc_ptr, self.word, chosen)
        names = [self.doc_names[d] for d in chosen.tolist()]
        return Corpus(ptr, word, self.vocab, names, self.tokenization)

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
        min_df: int | float | str = 1,
        max_df: int | float | str = 1.0,
        max_features: int | None = None,
        flat_words: str = "keep",
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
        min_df, max_df : int, float or "auto"
            Drop words in fewer or more documents than this; a float is a share of the documents
            that have words. "auto" is what `from_texts` does by default.
        max_features : int, optional
            Of the words left, keep this many, the most frequent ones.
        flat_words : {"keep", "drop"}
            Whether to drop words that occur in documents of all kinds alike.

        Returns
        -------
        Corpus
            With the vocabulary in the same order as before.
        """
        choice = WordChoice(
            min_count, max_doc_fraction, max_words, min_df, max_df, max_features, flat_words
        )
        return self if choice.keeps_all else keep_words(self, choice)
