"""What commands do: read, train and save, show. Heavy imports wait inside."""

import math
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from polyaurn.base.errors import InputError
from polyaurn.base.printable import printable, printable_json
from polyaurn.cli.options import READING

if TYPE_CHECKING:
    from polyaurn.corpus.corpus import Corpus
    from polyaurn.model.model import TopicModel


def read(path: Path, reading: dict[str, Any], *, quiet: bool, bars: bool | None = None) -> "Corpus":
    """Read a corpus as the options say, and tell what was read."""
    from polyaurn.corpus.readers import read_corpus, recognise
    from polyaurn.training.progress import following

    show = not quiet if bars is None else bars
    with following(f"reading {path.name or path}", size_of(path), show=show):
        corpus = read_corpus(path, **reading_options(reading))
    if not quiet:
        note(f"{path}, read as {reading['format'] or recognise(path)}: {corpus!r}")
        if corpus.n_empty:
            note(f"Note: {corpus.note_of_empty_documents()}")
    return corpus


def size_of(path: Path) -> int | None:
    """Return how many bytes there are to read; None where that cannot be told, or not followed."""
    from polyaurn.corpus.text_files import documents_in

    try:
        if path.is_dir():
            return sum(file.stat().st_size for file in documents_in(path).values())
        return None if path.suffix in (".parquet", ".pq", ".urn") else path.stat().st_size
    except OSError:
        return None


def reading_options(reading: dict[str, Any]) -> dict[str, Any]:
    """Turn options of the command line into those of `read_corpus`."""
    options = dict(reading)
    for name in ("text_column", "name_column"):
        if options[name] is not None and options[name].lstrip("-").isdigit():
            options[name] = int(options[name])
    most = options.pop("ngrams")
    if most is not None:
        if most < 1:
            raise InputError(f"The '--ngrams' option must be at least 1. Got {most} instead.")
        options["ngram_range"] = (1, most)
    for name in ("stop_words", "token_pattern"):
        if options[name] is None:
            del options[name]
    return options


def fit_and_save(
    corpus: "Corpus",
    *,
    out: Path,
    trace: Path | None = None,
    quiet: bool = False,
    bars: bool | None = None,
    resume: bool = False,
    config: str | None = None,
    **parameters: Any,
) -> tuple["TopicModel", bool]:
    """Train, stop on Ctrl-C, save; return the model and whether it was stopped early."""
    import warnings

    from polyaurn.base.errors import CheckpointWarning, SeedWarning, UnfinishedStartWarning
    from polyaurn.estimator.lda import LDA
    from polyaurn.files.locks import locked
    from polyaurn.files.names import remove_checkpoints
    from polyaurn.model.folder import write_model
    from polyaurn.training.signals import StopOnSignal
    from polyaurn.training.trace import TraceFile

    folder, swept = out.absolute(), deque[int](maxlen=1)
    with (
        StopOnSignal() as stop,
        locked(folder),
        TraceFile(trace) as trace_file,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", UserWarning)  # empty documents were noted already
        for told in (CheckpointWarning, SeedWarning, UnfinishedStartWarning):
            warnings.simplefilter("always", told)
        warnings.showwarning = lambda message, *_, **__: note(f"Note: {message}")
        if not resume:
            remove_checkpoints(folder)
        lda = LDA(
            **parameters,
            checkpoint=folder,
            resume=resume,
            verbose=not quiet if bars is None else bars,
            callbacks=[
                trace_file.write,
                lambda state, info: swept.append(info.sweep),
                lambda state, info: stop.asked,
            ],
        )
        lda.fit(corpus)
        trace_file.rewrite(lda.trace_)
        write_model(lda.model_, folder, config)
        stopped = bool(stop.asked and lda.n_iter_ < lda.max_iter)
        if not stopped:
            remove_checkpoints(folder)
    if stopped:
        kept = "no checkpoint" if lda.checkpoint_every in ("0", "never") else "a checkpoint"
        note(
            f"Stopped after sweep {lda.n_iter_:,} of {lda.max_iter:,}; the model so far and {kept} "
            f"are in {out}. Go on with the same command and --resume."
        )
    elif not quiet:
        last = lda.trace_[-1]
        score = last["log_posterior"]
        per_token = (
            "" if score is None else f", log posterior {score / corpus.n_tokens:.4f} a token"
        )
        begun = "" if swept else "The run was complete already: "
        note(f"{begun}{lda.n_iter_:,} sweeps in {last['seconds']:.1f} s of sampling{per_token}")
    return lda.model_, stopped


def as_trained(
    model: "TopicModel", path: Path, reading: dict[str, Any], folder: Path, *, pruned: bool = False
) -> dict[str, Any]:
    """Return options for reading text as the model's was read, where the user says nothing.

    The model's folder tells, or else the model's words do. `pruned` takes over which words were
    dropped, too.
    """
    from polyaurn.cli.config import CUT, PRUNING, WHERE, cut_in
    from polyaurn.corpus.known_words import cut_of
    from polyaurn.corpus.readers import TEXT_FORMATS, recognise
    from polyaurn.files.names import CONFIG

    options = dict(reading)
    form = options["format"] or recognise(path)
    if pruned:
        plain = {name: READING[name][1] for name in PRUNING}
        dropped = cut_in(folder / CONFIG, PRUNING)
        options |= {name: v for name, v in dropped.items() if options[name] == plain[name]}
    if form in TEXT_FORMATS:
        kept = cut_in(folder / CONFIG, CUT | (WHERE if form in ("table", "parquet") else {}))
        if kept:
            return options | {name: v for name, v in kept.items() if options[name] is None}
        cut = cut_of(model.vocab)
        longest = cut["ngram_range"][1]
        if options["ngrams"] is None and longest > 1:
            options["ngrams"] = longest
        if options["stop_words"] is None and cut["stop_words"] is None:
            options["stop_words"] = "none"
    return options


@contextmanager
def noting_warnings(*, quiet: bool) -> Iterator[None]:
    """Say warnings to the user as notes."""
    import warnings

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", UserWarning)
        yield
    if not quiet:
        for warning in said:
            note(f"Note: {warning.message}")


def score(
    model: "TopicModel",
    corpus: "Corpus",
    particles: int,
    options: dict[str, Any],
) -> dict[str, int | float | None]:
    """Return what the evaluate command reports; values that cannot be computed are None."""
    from polyaurn.evaluate import coherence, diversity, document_completion, left_to_right

    held_out = left_to_right(model, corpus, particles, **options)
    completion = document_completion(model, corpus, **options)
    top = model.topics(10)
    there = {corpus.vocab[v] for v in set(corpus.word.tolist())}
    whole = [topic for topic in top if len(topic) > 1 and there.issuperset(topic)]
    return {
        "documents": len(held_out.tokens),
        "tokens": int(held_out.tokens.sum()),
        "unknown_tokens": int(held_out.unknown.sum()),
        "log_likelihood_a_token": held_out.per_token,
        "its_standard_error": held_out.per_token_error if particles > 1 else None,
        "perplexity": held_out.perplexity,
        "completion_a_token": completion.per_token if completion.tokens.sum() else None,
        "coherence_npmi": float(coherence(whole, corpus, "c_npmi").mean()) if whole else None,
        "topics_with_coherence": len(whole),
        "diversity": diversity(top),
    }


def print_json(value: Any) -> None:
    """Print a value for machines."""
    import json

    typer.echo(printable_json(json.dumps(_finite(value), ensure_ascii=False, indent=2)))


def _finite(value: Any) -> Any:
    """Return a value with None in place of infinities and NaN, which JSON does not have."""
    if isinstance(value, dict):
        return {name: _finite(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def note(message: str) -> None:
    """Say something to the user, on standard error."""
    typer.echo(printable(message, lines=True), err=True)
