"""Documents of a model for its page: where its corpus is, and its texts and columns."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from polyaurn.base.checks import is_digits
from polyaurn.base.errors import InputError
from polyaurn.cli.options import READING
from polyaurn.cli.steps import as_trained, note, read, reading_options

if TYPE_CHECKING:
    from polyaurn.base.arrays import I64
    from polyaurn.corpus.corpus import Corpus
    from polyaurn.model.model import TopicModel
    from polyaurn.model.slices.folder import PartOfCorpus

_Row = TypeVar("_Row")
_OF_CORPUS: dict[str, type] = {  # options of a run that say where its corpus is
    "corpus": str,
    "format": str,
    "name_column": str,
    "vocabulary": str,
    "encoding": str,
    "transpose": bool,
    "binarise": bool,
    "doc_names": str,
    "layer": str,
    "min_tokens": int,
}
_BEFORE: dict[str, type] = {"earlier": list}  # corpora of an updated model, before the new one
_OF_PAGE: dict[str, type] = {"date_column": str, "class_column": str}  # kept for the page


class Source(NamedTuple):
    """The file or folder of a model's documents, how it is read, and columns for the page.

    `part` says which of its documents are the model's, where these are not all, and `earlier` which
    documents come before them, those that an update sampled again.
    """

    path: Path
    reading: dict[str, Any]
    date_column: str | None
    class_column: str | None
    part: "PartOfCorpus | None" = None
    earlier: "tuple[Source, ...]" = ()

    @property
    def files(self) -> "tuple[Source, ...]":
        """The file or folder of each part of the documents, in their order."""
        return (*self.earlier, self._replace(earlier=()))

    @property
    def kind(self) -> str:
        """The format that the file is read as."""
        from polyaurn.corpus.readers import check_options, recognise

        kind = self.reading["format"] or recognise(self.path)
        return check_options(self.path, kind, self.reading)


def find_source(
    model: "TopicModel",
    folder: Path,
    corpus: Path | None,
    reading: dict[str, Any],
    date_column: str | None = None,
    class_column: str | None = None,
    *,
    cut: bool = True,
) -> tuple[Source | None, str]:
    """Return where a model's documents are, and a sentence where they are not found.

    What the user gives comes first, then the options of the run in the model's folder. `cut` says
    whether text is to be cut into words, which a model whose tokenizer is not saved cannot do.
    """
    from polyaurn.cli.config import options_in
    from polyaurn.model.slices.folder import config_for, part_of

    config = config_for(model, folder)
    kept = options_in(config, _OF_CORPUS)
    before = options_in(config, _BEFORE).get("earlier", []) if corpus is None else []
    columns = {"date_column": date_column, "class_column": class_column}
    columns |= {k: str(v) for k, v in options_in(config, _OF_PAGE).items() if columns[k] is None}
    path = corpus or (Path(str(kept["corpus"])) if "corpus" in kept else None)
    if path is None:
        _reject_columns(columns | reading)
        return None, ""
    given = reading
    if corpus is None:
        lost = next((file for file in map(Path, [*before, path]) if not file.exists()), None)
        if lost is not None:
            _reject_columns({"date_column": date_column, "class_column": class_column} | reading)
            whole = ", all documents in one file," if before else ""
            return None, (
                f"The corpus '{lost}' of the model is no longer there. Name its new place{whole} "
                "with --corpus."
            )
        taken = {name: kept[name] for name in _OF_CORPUS if name in kept and name != "corpus"}
        plain = {name: READING[name][1] for name in taken}
        reading = reading | {n: v for n, v in taken.items() if reading[n] == plain[n]}
        for name in ("vocabulary", "doc_names"):
            if reading[name] is not None:
                reading[name] = Path(reading[name])
    options = as_trained(model, path, reading, folder, cut=cut)
    named_as = {"name_column": given["name_column"]}  # in earlier files only if they have it
    earlier = tuple(
        Source(file, as_trained(model, file, reading | named_as, folder, cut=cut), None, None)
        for file in map(Path, before)
    )
    source = Source(path, options, columns["date_column"], columns["class_column"], earlier=earlier)
    part = part_of(model, folder)
    named = part is not None and corpus is not None and has_texts(source)
    if part is not None and named and sum(1 for _ in stream(source)) == len(part.numbers):
        part = None  # the slice's documents only
    return source._replace(part=part), ""


def find_matrix(
    model: "TopicModel",
    folder: Path,
    corpus: Path | None,
    reading: dict[str, Any],
    *,
    dropped: bool,
) -> Source | None:
    """Return where all documents and words are, those that were dropped before training included.

    None where the model has them all in whole numbers, as far as its folder says, and none are
    named. `dropped` says that documents may have been held out.
    """
    from polyaurn.cli.config import PRUNING, options_in
    from polyaurn.model.slices.folder import config_for

    source, moved = find_source(model, folder, corpus, reading)
    if corpus is not None:
        return source
    kept = options_in(config_for(model, folder), PRUNING | {"min_tokens": int})
    dropped |= any(value != READING[name][1] for name, value in kept.items())
    if not dropped and model.averaged_draws == 1:
        return None
    if moved:
        raise InputError(moved)
    if source is None:
        return None
    return source._replace(reading=source.reading | {"min_tokens": reading["min_tokens"]})


def words_of_corpus(model: "TopicModel", folder: Path) -> list[str]:
    """Return a model's corpus and how it was read, as the command line says it; none if unknown."""
    from polyaurn.cli.config import PRUNING, options_in
    from polyaurn.model.slices.folder import config_for

    kept = options_in(config_for(model, folder), _OF_CORPUS | PRUNING)
    if "corpus" not in kept:
        return []
    words = [str(kept.pop("corpus"))]
    for name, value in kept.items():
        if value != READING[name][1]:
            words += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    return words


def _reject_columns(options: dict[str, Any]) -> None:
    """Reject options that have no corpus to work on."""
    plain = {name: default for name, (_, default) in READING.items()}
    given = [name for name, value in options.items() if value != plain.get(name)]
    if given:
        option = given[0].replace("_", "-")
        raise InputError(
            f"The '--{option}' option is for reading a corpus. Got it without one; add --corpus."
        )


def read_source(source: Source, *, quiet: bool, bars: bool) -> "Corpus":
    """Return the corpus of a model, of which a slice has a part."""
    from polyaurn.corpus.joined_words import as_one

    if source.earlier:
        return as_one([read_source(file, quiet=quiet, bars=bars) for file in source.files])
    found = read(source.path, source.reading, quiet=quiet, bars=bars)
    part = source.part
    if part is None or len(found) == len(part.numbers) < part.n_documents:
        return found
    if len(found) != part.n_documents:
        raise InputError(
            f"The corpus '{source.path}' must be what the slices were cut from, "
            f"{part.n_documents:,} documents, or those that this slice was trained on, "
            f"{len(part.numbers):,}. Got {len(found):,}; has the file changed? Name the original "
            "with --corpus."
        )
    return found.select(part.numbers)


def read_documents(model: "TopicModel", source: Source, *, quiet: bool) -> "Corpus":
    """Return the corpus in the model's words, so that pruning need not be asked for again."""
    from polyaurn.corpus.corpus import Corpus
    from polyaurn.corpus.known_words import in_words_of

    found = read_source(source, quiet=True, bars=not quiet)
    known = in_words_of(model.vocab, found)
    documents = Corpus(known.doc_ptr, known.word, model.vocab, known.doc_names)
    if not quiet:
        note(f"{source.path}, read as {source.kind}, in the words of the model: {documents!r}")
    return documents


def read_found_documents(model: "TopicModel", source: Source, *, quiet: bool) -> "Corpus | None":
    """Return the corpus that the model's folder names; None, with a note, if it has changed."""
    from polyaurn.model.checks import check_belongs

    try:
        return check_belongs(model, read_documents(model, source, quiet=True))
    except InputError:
        if not quiet:
            note(
                f"Note: The corpus '{source.path}' is not what the model was trained on any more, "
                "so documents are shown without their words; give the right file with --corpus."
            )
        return None


def has_texts(source: Source) -> bool:
    """Return whether documents can be read as text."""
    from polyaurn.corpus.readers import TEXT_FORMATS

    return all(file.kind in TEXT_FORMATS for file in source.files)


def texts_at(source: Source, documents: "I64") -> list[str]:
    """Return the texts of some documents, in increasing order of their numbers."""
    wanted = set(documents.tolist())
    last = max(wanted, default=-1)
    found = {}
    for d, (_, text) in enumerate(stream(source)):
        if d in wanted:
            found[d] = text
        if d >= last:
            break
    return [found.get(d, "") for d in documents.tolist()]


def check_columns(path: Path, reading: dict[str, Any], **columns: str | None) -> None:
    """Reject columns that a table does not have, before long work."""
    for option, name in columns.items():
        if name is not None:
            next(_column(Source(path, reading, None, None), name, option), None)


def column(source: Source, name: str, option: str) -> list[str]:
    """Return a column of the table that documents come from, a value for each."""
    return list(_column(source, name, option))


def place_in(source: Source, document: int) -> str:
    """Return where in its file a document of a table is, for messages."""
    from polyaurn.corpus.table_files import row_of

    for file in source.earlier:
        n = sum(1 for _ in stream(file))
        if document < n:
            return place_in(file, document)
        document -= n
    if source.part is not None:
        document = int(source.part.numbers[document])
    if source.kind != "table":
        return f"of document {document + 1:,}, counted from 1"
    options = reading_options(source.reading)
    where = [options[name] for name in ("encoding", "text_column", "separator")]
    return f"in row {row_of(source.path, document, *where):,} of '{source.path}'"


def _column(source: Source, name: str, option: str) -> Iterator[str]:
    from polyaurn.corpus.readers import TABLE_FORMATS

    if source.earlier:
        for file in source.files:
            yield from _column(file, name, option)
        return
    if source.kind == "mallet" and is_digits(name):
        yield from _column_of_mallet(source, int(name))
        return
    if source.kind not in TABLE_FORMATS:
        instead = ""
        if option == "date_column":
            instead = " Give a table, or 'polyaurn report' a file with a date per line: --dates."
        if source.kind == "mallet":
            instead = " Its columns have numbers: 0 for names, 1 for labels."
        raise InputError(
            f"The '--{option.replace('_', '-')}' option is for tables, but '{source.path}' was "
            f"read as {source.kind}.{instead}"
        )
    try:
        for value, _ in stream(source._replace(reading=source.reading | {"name_column": name})):
            yield str(value)
    except InputError as error:
        raise InputError(str(error).replace("name_column", option)) from None


def _column_of_mallet(source: Source, number: int) -> Iterator[str]:
    """Yield one of the columns before the text, 0 for names and 1 for labels."""
    from polyaurn.corpus.text_files import decoded_lines

    lines = decoded_lines(source.path, source.reading["encoding"])
    rows = (line.split("\t" if line.count("\t") >= 2 else None, 2) for line in lines)
    values = (row[number] if number < len(row) else "" for row in rows)
    yield from _of_model(source, values)


def stream(source: Source) -> Iterator[tuple[str | None, str]]:
    """Yield the names and texts of a model's documents, HTML without its tags."""
    from polyaurn.corpus.html import text_of
    from polyaurn.corpus.readers import stream_texts

    if source.earlier:
        for file in source.files:
            yield from stream(file)
        return
    options, html = reading_options(source.reading), source.reading["html"]
    wanted = ("encoding", "text_column", "name_column", "separator")
    columns = {name: options[name] for name in wanted}
    rows = stream_texts(source.path, source.kind, html=html, **columns)
    for name, text in _of_model(source, rows):
        yield name, text_of(text) if html else text


def _of_model(source: Source, rows: Iterable[_Row]) -> Iterator[_Row]:
    """Yield the rows of a model's documents."""
    if source.part is None:
        yield from rows
        return
    wanted = set(source.part.numbers.tolist())
    yield from (row for number, row in enumerate(rows) if number in wanted)
