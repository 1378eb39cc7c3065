"""MALLET's state files, written: a line for each token."""

import gzip
import io
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from polyaurn.base.errors import InputError
from polyaurn.base.events import tracked
from polyaurn.corpus.corpus import Corpus
from polyaurn.corpus.names import Numbered
from polyaurn.exchange.mallet_read import HEADER, NO_NAME
from polyaurn.exchange.parts import one_number
from polyaurn.files.atomic import check_new_file, new_file
from polyaurn.model.checks import check_belongs
from polyaurn.model.model import fitted


def write_mallet_state(
    model: Any,
    corpus: Corpus,
    path: str | Path,
    *,
    blank: str | None = None,
    flatten_priors: bool = False,
    force: bool = False,
) -> Path:
    """Write a model as MALLET writes its states.

    Parameters
    ----------
    model : TopicModel or LDA
        What to write.
    corpus : Corpus
        What it was trained on.
    path : str or Path
        The file; gzipped if it ends in ``.gz``.
    blank : str, optional
        Takes the place of blanks in words and names, at which MALLET splits; when not given, such
        words and names are rejected.
    flatten_priors : bool
        MALLET has one number for beta; True writes the mean of a vector, and leaves out
        pseudo-counts of seeds; False rejects them.
    force : bool
        Replace a file that is there.

    Returns
    -------
    Path
        The file. Words that do not occur and documents without tokens have no line; a warning says
        how many.
    """
    trained = fitted(model)
    target = check_new_file(path, force=force)
    documents = check_belongs(trained, corpus)
    beta = one_number(trained.priors.beta, "beta", "MALLET", flatten=flatten_priors)
    if trained.priors.pseudo is not None and not flatten_priors:
        raise InputError(
            "The 'flatten_priors' parameter must be True here: MALLET has no pseudo-counts. Got a "
            "model with seeded topics, whose seeds would be left out."
        )
    used = np.unique(documents.word).tolist()
    words = dict(zip(used, _without_blanks((trained.vocab[v] for v in used), blank), strict=True))
    _check_different(words.values())
    if isinstance(documents.doc_names, Numbered):
        names: Iterable[str] = (NO_NAME for _ in range(documents.n_documents))
    else:
        names = _without_blanks(documents.doc_names, blank)
    lost_words = documents.n_words - len(used)
    if lost_words or documents.n_empty:
        warnings.warn(
            f"{lost_words:,} words that do not occur and {documents.n_empty:,} documents without "
            "tokens have no line in a MALLET state.",
            stacklevel=2,
        )
    with new_file(target) as fresh, _open_text(fresh, packed=target.suffix == ".gz") as file:
        file.write(f"{HEADER}\n#alpha : ")
        file.writelines(f"{a!r} " for a in trained.priors.alpha.tolist())
        file.write(f"\n#beta : {beta!r}\n")
        ends = documents.doc_ptr.tolist()
        for d, name in enumerate(tracked(names, "writing documents", documents.n_documents)):
            tokens = slice(ends[d], ends[d + 1])
            v_of, k_of = documents.word[tokens].tolist(), trained.assignments[tokens].tolist()
            file.writelines(
                f"{d} {name or NO_NAME} {i} {v} {words[v]} {k}\n"
                for i, (v, k) in enumerate(zip(v_of, k_of, strict=True))
            )
    return target


@contextmanager
def _open_text(path: Path, *, packed: bool) -> Iterator[TextIO]:
    """Open a text file for writing; the same text gives the same bytes, packed or not."""
    with path.open("wb") as raw:
        if not packed:
            with io.TextIOWrapper(raw, encoding="utf-8", newline="\n") as file:
                yield file
            return
        with (
            gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=raw, mtime=0) as body,
            io.TextIOWrapper(body, encoding="utf-8", newline="\n") as file,
        ):
            yield file


def _without_blanks(texts: Iterable[str], blank: str | None) -> list[str]:
    if blank is not None and (not isinstance(blank, str) or not blank or blank.split() != [blank]):
        raise InputError(
            f"The 'blank' parameter must be a string without blanks. Got {blank!r} instead; '_' is "
            "usual."
        )
    found = list(texts)
    for i, text in enumerate(found):
        if " " in text:
            if blank is None:
                raise InputError(
                    "The 'blank' parameter must be given here: MALLET cuts words and names at "
                    f"blanks. Got {text[:60]!r}; '_' is usual."
                )
            found[i] = text.replace(" ", blank)
    return found


def _check_different(words: Iterable[str]) -> None:
    seen: set[str] = set()
    for word in words:
        if not word or word in seen:
            raise InputError(
                "The 'blank' parameter must keep words apart, and none may be empty. Got "
                f"{word!r} for two words or for none; choose another."
            )
        seen.add(word)
