"""The text of documents that a model was trained on, found by what its run wrote down."""

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyaurn.base.errors import InputError
from polyaurn.cli.config import SOURCE, options_in
from polyaurn.cli.options import READING
from polyaurn.cli.steps import note, size_of

if TYPE_CHECKING:
    from polyaurn.model.model import TopicModel


_TAKEN = {  # options that a stored file may give, where not all apply
    "table": {"format", "encoding", "text_column", "separator"},
    "mallet": {"format", "encoding", "text_column", "separator"},
    "jsonl": {"format", "encoding", "text_column"},
    "parquet": {"format", "text_column"},
}


class NoTextError(InputError):
    """There is no text to show, though nothing is wrong with what the user gave."""


def find_corpus(
    model: "TopicModel", folder: Path, corpus: Path | None, where: dict[str, Any]
) -> tuple[Path, dict[str, Any]]:
    """Return the path of a model's corpus, and the options that say where its text is.

    What the user gives wins; the rest is from the ``config.toml`` in the model's folder.
    """
    from polyaurn.corpus.readers import recognise
    from polyaurn.model.folder import config_of

    stored = options_in(config_of(model, folder), SOURCE)
    path = corpus or (Path(stored["corpus"]) if "corpus" in stored else None)
    if path is None:
        raise NoTextError(
            f"The folder '{folder}' does not say which corpus the model was trained on. Name it "
            "with --corpus."
        )
    if corpus is None and not path.exists():
        raise NoTextError(
            f"The corpus '{path}' of the model is no longer there. Name its new place with "
            "--corpus."
        )
    options = dict(where)
    if corpus is not None:
        stored.pop("format", None)
    form = options["format"] or stored.get("format") or recognise(path)
    plain = {name for name in options if options[name] == READING[name][1]}
    for name in plain & stored.keys() & _TAKEN.get(form, {"format", "encoding"}):
        options[name] = str(stored[name])
    return path, options


def texts_of(
    model: "TopicModel",
    folder: Path,
    documents: Collection[int],
    corpus: Path | None,
    where: dict[str, Any],
    *,
    quiet: bool,
) -> dict[int, str]:
    """Return the texts of documents by their numbers, from the corpus of a model."""
    from polyaurn.corpus.readers import TEXT_FORMATS, check_options, recognise, stream_texts
    from polyaurn.training.progress import following

    path, options = find_corpus(model, folder, corpus, where)
    form = check_options(path, options["format"] or recognise(path), options)
    if form not in TEXT_FORMATS:
        raise NoTextError(
            f"The corpus '{path}' holds counts of words ({form}), so there is no text to show. "
            "Name the text itself with --corpus, one document for each of the model's."
        )
    del options["format"]
    if (options["text_column"] or "").isdecimal():
        options["text_column"] = int(options["text_column"])
    wanted, found, n = set(documents), {}, 0
    with following(f"reading {path.name or path}", size_of(path), show=not quiet):
        for _, text in stream_texts(path, form, **options):
            if n in wanted:
                found[n] = text
            n += 1
    if n != len(model.doc_names):
        raise InputError(
            f"The corpus '{path}' must be what the model was trained on, "
            f"{len(model.doc_names):,} documents. Got {n:,}; has the file changed? Name the "
            "original with --corpus."
        )
    _note_of_change(model, path, found)
    return found


def _note_of_change(model: "TopicModel", path: Path, texts: dict[int, str]) -> None:
    """Say where texts do not have the words that the model counted in them."""
    from polyaurn.corpus.known_words import in_words_of
    from polyaurn.model.data import document_lengths

    numbers = sorted(texts)
    if model.tokenization is None or not numbers:
        return
    try:
        model.tokenization.check_usable()
        known = in_words_of(model.vocab, [texts[d] for d in numbers], model.tokenization).tokens
    except InputError:  # a function cut the text that is not saved with the model
        return
    changed = int((known != document_lengths(model)[numbers]).sum())
    if changed:
        note(
            f"Note: {changed:,} of {len(numbers):,} texts in '{path}' do not have the words that "
            "the model was trained on; has the file changed?"
        )
