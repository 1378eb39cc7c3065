"""The text of documents that a model was trained on, found by what its run wrote down."""

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyaurn.base.errors import InputError
from polyaurn.cli.options import READING
from polyaurn.cli.sources import find_source, has_texts, stream
from polyaurn.cli.steps import note, size_of

if TYPE_CHECKING:
    from polyaurn.model.model import TopicModel


class NoTextError(InputError):
    """There is no text to show, though nothing is wrong with what the user gave."""


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
    from polyaurn.training.progress import following

    reading = {name: default for name, (_, default) in READING.items()} | where
    source, missing = find_source(model, folder, corpus, reading, cut=False)
    if source is None:
        raise NoTextError(
            missing
            or f"The folder '{folder}' does not say which corpus the model was trained on. Name it "
            "with --corpus."
        )
    path = source.path
    if not has_texts(source):
        raise NoTextError(
            f"The corpus '{path}' holds counts of words ({source.kind}), so there is no text to "
            "show. Name the text itself with --corpus, one document for each of the model's."
        )
    wanted, found, n = set(documents), {}, 0
    with following(f"reading {path.name or path}", size_of(path), show=not quiet):
        for _, text in stream(source):
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
