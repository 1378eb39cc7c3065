"""MALLET's state files, read in pieces: ``--output-state``, a line for each token."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple, overload

import numpy as np

from polyaurn.base.arrays import F64, I64, U16
from polyaurn.base.errors import InputError
from polyaurn.chain.priors import make_priors
from polyaurn.chain.state import MAX_TOPICS, doc_topic_matrix
from polyaurn.corpus.corpus import Corpus
from polyaurn.exchange.parts import read_line, shown, too_long
from polyaurn.files.reading import open_bytes
from polyaurn.model.checks import count_topics
from polyaurn.model.model import TopicModel

HEADER = "#doc source pos typeindex type topic"
NO_NAME = "NA"
_PIECE = _LONGEST_LINE = 1 << 22  # bytes
_EMPTY_DOCUMENTS = 1_000_000  # that a file may leave out, and 100 more for each token


@overload
def read_mallet_state(
    path: str | Path, *, encoding: str = ..., with_corpus: Literal[False] = ...
) -> TopicModel: ...


@overload
def read_mallet_state(
    path: str | Path, *, encoding: str = ..., with_corpus: Literal[True]
) -> tuple[TopicModel, Corpus]: ...


def read_mallet_state(
    path: str | Path, *, encoding: str = "utf-8", with_corpus: bool = False
) -> TopicModel | tuple[TopicModel, Corpus]:
    """Read a state that MALLET wrote with ``--output-state``.

    Parameters
    ----------
    path : str or Path
        The file, gzipped or plain.
    encoding : str
        Encoding of words and names; MALLET writes in the encoding of its machine.
    with_corpus : bool
        Return the documents as well, which the file holds.

    Returns
    -------
    model : TopicModel
        Words are those of the file, in the order of their numbers there; numbers that it leaves
        out are closed up. Documents that it leaves out are empty. Tokens of a document are in
        increasing order of word, as in a Corpus; those of one word keep their order.
    corpus : Corpus
        Only if `with_corpus`.
    """
    path = Path(path)
    _check_encoding(encoding)
    with open_bytes(path) as file:
        alpha, beta = _read_head(file, path)
        tokens = _Tokens(path, encoding, len(alpha))
        for first_line, piece in _pieces(file, path):
            tokens.add(first_line, piece)
    corpus, z = tokens.finish()
    model = _model(corpus, z, alpha, beta)
    return (model, corpus) if with_corpus else model


def _model(corpus: Corpus, z: U16, alpha: F64, beta: float) -> TopicModel:
    K = len(alpha)
    z.flags.writeable = False
    return TopicModel(
        topic_word_counts=count_topics(corpus, z, K),
        doc_topic_counts=doc_topic_matrix(corpus.doc_ptr, z, K),
        assignments=z,
        vocab=corpus.vocab,
        doc_names=corpus.doc_names,
        priors=make_priors(alpha, beta, K, corpus.n_words),
        parameters={
            "n_topics": K,
            "n_documents": corpus.n_documents,
            "n_words": corpus.n_words,
            "n_tokens": corpus.n_tokens,
            "corpus_sha256": corpus.fingerprint,
            "source": "MALLET state",
        },
    )


class _Seen(NamedTuple):
    """A word of the file: where it was first met, its number there, its hash."""

    line: int
    type: int
    hash: int
    word: str


class _Tokens:
    """What was read so far: numbers as arrays, words and names once each."""

    def __init__(self, path: Path, encoding: str, n_topics: int) -> None:
        self._path, self._encoding, self._K = path, encoding, n_topics
        self._parts: list[tuple[I64, I64, U16]] = []  # documents, words as first met, topics
        self._words: list[_Seen] = []
        self._number_of_type: dict[int, int] = {}
        self._line_of_word: dict[str, int] = {}
        self._names: dict[int, str] = {}
        self._last, self._last_name = -1, np.uint64(0)  # document, and the hash of its name
        self._n_tokens = 0

    def add(self, first_line: int, piece: bytes) -> None:
        """Read whole lines."""
        from polyaurn.exchange.mallet_state import parse_state

        text = np.frombuffer(piece, np.uint8)
        n = int(np.count_nonzero(text == 10))
        number, topic = np.empty((n, 2), np.int64), np.empty(n, np.uint16)
        place, hashes = np.empty((n, 4), np.int64), np.empty((n, 2), np.uint64)
        lines, bad = parse_state(text, self._K, number, topic, place, hashes)
        if bad >= 0:
            line = piece[bad : piece.index(b"\n", bad)].rstrip(b"\r")
            raise self._error(first_line + lines, self._complaint(line))
        document = np.ascontiguousarray(number[:, 0])
        self._check_documents(first_line, document, hashes[:, 0])
        for i in np.flatnonzero(np.diff(document, prepend=self._last)).tolist():
            name = piece[place[i, 0] : place[i, 1]]
            self._names[int(document[i])] = self._decode(name, first_line + i)
        word = self._number_words(first_line, piece, number[:, 1], place, hashes[:, 1])
        self._parts.append((document, word, topic))
        self._last, self._last_name = int(document[-1]), hashes[-1, 0]
        self._n_tokens += n

    def finish(self) -> tuple[Corpus, U16]:
        """Return the documents, and the topics of their tokens."""
        if not self._parts:
            raise self._error(4, "expected a token. Got the end of the file; is it whole?")
        document, met, topic = (np.concatenate(part) for part in zip(*self._parts, strict=True))
        by_type = sorted(range(len(self._words)), key=lambda w: self._words[w].type)
        new_number = np.empty(len(by_type), np.int32)
        new_number[by_type] = np.arange(len(by_type), dtype=np.int32)
        word = new_number[met]
        order = np.lexsort((word, document))
        word = word[order]
        word.flags.writeable = False
        lengths = np.bincount(document)
        named = any(name != NO_NAME for name in self._names.values())
        corpus = Corpus(
            np.concatenate(([0], np.cumsum(lengths))),
            word,
            tuple(self._words[w].word for w in by_type),
            [self._names.get(d, NO_NAME) for d in range(len(lengths))] if named else (),
        )
        return corpus, topic[order]

    def _check_documents(self, first_line: int, document: I64, name: Any) -> None:
        before = np.concatenate(([self._last], document[:-1]))
        name_before = np.concatenate(([self._last_name], name[:-1]))
        falls = document < before
        far = document > _EMPTY_DOCUMENTS + 100 * (self._n_tokens + np.arange(len(document)))
        renamed = (document == before) & (name != name_before)
        bad = falls | far | renamed
        if not bad.any():
            return
        i = int(np.argmax(bad))
        if falls[i]:
            what = (
                f"a document number that does not fall. Got {document[i]} after {before[i]}; sort "
                "the lines"
            )
        elif far[i]:
            what = (
                f"document numbers that leave few out. Got {document[i]} after "
                f"{self._n_tokens + i:,} tokens; number the documents from 0"
            )
        else:
            what = f"one name for document {document[i]}. Got a second one; is it two files joined"
        raise self._error(first_line + i, f"expected {what}.")

    def _number_words(self, first_line: int, piece: bytes, kind: I64, place: I64, name: Any) -> I64:
        types, first, inverse = np.unique(kind, return_index=True, return_inverse=True)
        for i in np.sort(first).tolist():
            v = int(kind[i])
            if v not in self._number_of_type:
                word = self._decode(piece[place[i, 2] : place[i, 3]], first_line + i)
                if "\r" in word:
                    raise self._error(first_line + i, f"expected a word. Got {word[:60]!r}.")
                seen = _Seen(first_line + i, v, int(name[i]), word)
                if word in self._line_of_word:
                    raise self._error(
                        seen.line,
                        f"expected the type index of {word[:60]!r} from line "
                        f"{self._line_of_word[word]:,}. Got {v}; a word has one number.",
                    )
                self._line_of_word[word] = seen.line
                self._number_of_type[v] = len(self._words)
                self._words.append(seen)
        met = np.array([self._number_of_type[v] for v in types.tolist()])
        expected = np.array([self._words[w].hash for w in met.tolist()], np.uint64)
        wrong = expected[inverse] != name
        if wrong.any():
            i = int(np.argmax(wrong))
            seen = self._words[self._number_of_type[int(kind[i])]]
            got = shown(piece[place[i, 2] : place[i, 3]])
            raise self._error(
                first_line + i,
                f"expected {seen.word[:60]!r}, the word of type index {seen.type} on line "
                f"{seen.line:,}. Got {got}; a word has one number.",
            )
        return np.asarray(met[inverse], np.int64)

    def _decode(self, text: bytes, line: int) -> str:
        try:
            return text.decode(self._encoding)
        except UnicodeDecodeError as error:
            raise self._error(
                line,
                f"expected {self._encoding} text. Got byte 0x{text[error.start]:02x}; name its "
                "encoding, such as latin-1.",
            ) from None

    def _complaint(self, line: bytes) -> str:
        fields = line.split(b" ")
        if len(fields) < 6:
            return (
                "expected six fields, document, source, position, type index, word and topic. Got "
                f"{shown(line)}; correct the line, or copy the file again if it ends there."
            )
        if not fields[-1].isdigit() or int(fields[-1][:20]) >= self._K:
            return (
                f"expected a topic from 0 to {self._K - 1:,}, as '#alpha' says on line 2. Got "
                f"{shown(fields[-1])} in {shown(line)}; correct the line."
            )
        return (
            "expected 'document source position type-index word topic' with whole numbers below "
            f"2**31, and blanks in the source or in the word, not in both. Got {shown(line)}; "
            "correct the line."
        )

    def _error(self, line: int, what: str) -> InputError:
        return InputError(f"The file '{self._path}', line {line}: {what}")


def _read_head(file: BinaryIO, path: Path) -> tuple[F64, float]:
    head = [read_line(file, path, number, _LONGEST_LINE) for number in (1, 2, 3)]
    if head[0].strip() != HEADER.encode():
        raise InputError(
            f"The file '{path}', line 1: expected MALLET's '{HEADER}'. Got {shown(head[0])}; is it "
            "written by --output-state?"
        )
    alpha = _numbers(head[1], path, 2, "alpha", MAX_TOPICS)
    beta = _numbers(head[2], path, 3, "beta", 1)
    return alpha, float(beta[0])


def _numbers(line: bytes, path: Path, number: int, name: str, most: int) -> F64:
    match = re.fullmatch(rf"#{name} : ?(.*)".encode(), line)
    fields = match.group(1).split() if match else []
    try:
        values = np.fromiter(map(float, fields), np.float64, len(fields))
    except ValueError:
        values = np.empty(0)
    if not 1 <= len(values) <= most or not ((values > 0) & np.isfinite(values)).all():
        many = "one positive number" if most == 1 else f"1 to {most:,} positive numbers"
        got = f"{len(values):,} numbers" if len(values) > most else shown(line)
        raise InputError(
            f"The file '{path}', line {number}: expected '#{name} : ' and {many}. Got {got}; "
            "MALLET 2.0.6 and later write it."
        )
    return values


def _pieces(file: BinaryIO, path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield whole lines, some at a time, with the number of the first; memory is bounded."""
    rest, line = b"", 4
    while piece := file.read(_PIECE):
        end = piece.rfind(b"\n") + 1
        if end:
            lines = rest + piece[:end]
            yield line, lines
            line += lines.count(b"\n")
            rest = piece[end:]
        else:
            rest += piece
        if len(rest) > _LONGEST_LINE:
            raise too_long(path, line, _LONGEST_LINE)
    if rest:
        yield line, rest + b"\n"


def _check_encoding(encoding: str) -> None:
    try:
        "x".encode(encoding)
    except (LookupError, TypeError):
        raise InputError(
            "The 'encoding' parameter must be one Python knows, such as 'utf-8' or 'latin-1'. Got "
            f"{encoding!r} instead."
        ) from None
