"""Tables of other libraries: whatever has ``__arrow_c_stream__``, as Polars and DuckDB do."""

from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from polyaurn.base.checks import is_whole, wrong
from polyaurn.base.errors import InputError
from polyaurn.corpus.columns import STREAM
from polyaurn.corpus.corpus import Corpus
from polyaurn.corpus.cutter import filter_of
from polyaurn.corpus.languages import SAMPLE
from polyaurn.corpus.preparation import with_phrases
from polyaurn.corpus.pruning import WordChoice
from polyaurn.corpus.selection import keep_words
from polyaurn.corpus.text_files import Texts
from polyaurn.corpus.tokenization import Tokenization
from polyaurn.files.reading import one_line


def is_arrow_table(source: Any) -> bool:
    """Return whether something hands over its data as a stream of Arrow's."""
    return hasattr(source, STREAM)


def as_table(source: Any) -> Any:
    """Return a dataset of Hugging Face as a table of Arrow; leave everything else as it is."""
    if is_arrow_table(source) or not all(hasattr(source, n) for n in ("with_format", "features")):
        return source
    return source.with_format("arrow")[:]


def read_arrow(source: Any, text_column: Any, name_column: Any) -> Texts:
    """Yield the name and text of each row of a table, batch by batch.

    Parameters
    ----------
    source : object with ``__arrow_c_stream__``
        A data frame of Polars or pandas, a relation of DuckDB, a table or reader of Arrow, or a
        single column of texts.
    text_column, name_column : str or int, optional
        Columns by name or number; the text is in "text" by default.

    Yields
    ------
    tuple
        Name, None without a column of names, and text; a missing text is an empty document.
    """
    try:
        import pyarrow as pa
    except ImportError:
        raise InputError(
            "A table of another library is read with the package pyarrow. Install it with: "
            "pip install 'polyaurn[parquet]'."
        ) from None
    try:
        reader = _reader(pa, source)
        columns = [_column(reader.schema.names, text_column, "text_column")]
        kind = str(reader.schema.field(columns[0]).type)
        if not any(word in kind for word in ("string", "utf8")):
            raise InputError(
                "The 'text_column' parameter must name a column of text. Got "
                f"{reader.schema.names[columns[0]]!r}, which holds {kind[:60]}; choose another "
                "column."
            )
        if name_column is not None:
            columns.append(_column(reader.schema.names, name_column, "name_column"))
        yield from _rows(reader, columns)
    except (pa.ArrowException, NotImplementedError) as error:
        raise InputError(f"The table cannot be read as Arrow data: {one_line(error)}.") from None


def corpus_of_table(
    source: Any,
    text_column: Any,
    name_column: Any,
    tokenization: Tokenization,
    choice: WordChoice,
    *,
    phrases: bool,
) -> Corpus:
    """Count the words of a table's texts as they are read; phrases need all texts in memory."""
    rows = read_arrow(source, text_column, name_column)
    first = list(islice(rows, SAMPLE))
    tokenization, _ = tokenization.settled([text for _, text in first])
    rows = chain(first, rows)
    if phrases:
        listed = list(rows)
        tokenization = with_phrases(tokenization, phrases, lambda: (text for _, text in listed))
        rows = iter(listed)
    names: list[str] = []

    def texts() -> Iterator[str]:
        for name, text in rows:
            if name is not None:
                names.append(name)
            yield text

    words = filter_of(tokenization)
    corpus = Corpus.cut(texts(), tokenization, doc_names=names, words=words)
    return keep_words(corpus, choice, words.left_out())


def _reader(pa: Any, source: Any) -> Any:
    """Return a reader of batches; a single column becomes a table with one."""
    try:
        return pa.RecordBatchReader.from_stream(source)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.table({"text": pa.chunked_array(source)}).to_reader()


def _rows(reader: Any, columns: list[int]) -> Iterator[tuple[str | None, str]]:
    for batch in reader:
        values = [batch.column(column).to_pylist() for column in columns]
        for row in zip(*values, strict=True):
            yield str(row[1]) if len(row) > 1 else None, "" if row[0] is None else str(row[0])


def _column(names: list[str], column: Any, parameter: str) -> int:
    """Return the number of a column."""
    if is_whole(column):
        if 0 <= column < len(names):
            return int(column)
    elif column is not None and not isinstance(column, str):
        raise wrong(parameter, "the name or number of a column", column)
    elif names.count(column or "text") == 1:
        return names.index(column or "text")
    elif column is None and len(names) == 1:
        return 0
    shown = ", ".join(repr(name[:30]) for name in names[:12])
    got = "nothing, and there is no column 'text'" if column is None else repr(column)
    raise InputError(
        f"The '{parameter}' parameter must name one column of the table, which has {shown}. Got "
        f"{got}; give a name from the list."
    )
