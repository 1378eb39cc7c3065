"""What commands do: read, train and save, show. Heavy imports are deferred."""

import math
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from polyaurn.base.checks import is_digits
from polyaurn.base.errors import InputError
from polyaurn.base.printable import printable, printable_json
from polyaurn.cli.options import READING

if TYPE_CHECKING:
    from polyaurn.corpus.corpus import Corpus
    from polyaurn.corpus.tokenization import Tokenization
    from polyaurn.estimator.training import Training
    from polyaurn.model.model import TopicModel


def read(path: Path, reading: dict[str, Any], *, quiet: bool, bars: bool | None = None) -> "Corpus":
    """Read a corpus as the options say, and report what was read."""
    from polyaurn.corpus.readers import read_corpus, recognise
    from polyaurn.training.progress import following

    show = not quiet if bars is None else bars
    reads = following(f"reading {path.name or path}", size_of(path), show=show)
    with noting_warnings(quiet=quiet), reads:
        corpus = read_corpus(path, **reading_options(reading))
    if not quiet:
        note(f"{path}, read as {reading['format'] or recognise(path)}: {corpus!r}")
        note_language(corpus, path, reading)
        if corpus.word_report is not None:
            note(f"{corpus.word_report}")
        if corpus.n_empty:
            note(f"Note: {corpus.note_of_empty_documents()}")
    return corpus


def note_language(corpus: "Corpus", path: Path, reading: dict[str, Any]) -> None:
    """Say which language was recognised, where text was read and none was named."""
    from polyaurn.corpus.languages import AUTO, name_of
    from polyaurn.corpus.readers import TEXT_FORMATS, recognise
    from polyaurn.corpus.tokenization import TOKEN_LISTS

    rules, asked = corpus.tokenization, reading["language"]
    named = asked not in (None, AUTO) or reading.get("tokenization") is not None
    if rules is None or named or rules.tokenizer_name == TOKEN_LISTS:
        return
    if (reading["format"] or recognise(path)) not in TEXT_FORMATS:
        return
    if rules.language is None:
        note(
            "language: not recognised; words and stop words are taken as in English "
            "(--language sets it)"
        )
    else:
        note(f"language: {name_of(rules.language)} (recognised; --language sets it)")


def size_of(path: Path) -> int | None:
    """Return how many bytes there are to read; None where that is not known, or not followed."""
    from polyaurn.corpus.matrix_names import matrix_in
    from polyaurn.corpus.text_files import documents_in

    try:
        path = matrix_in(path)
        if path.is_dir():
            return sum(file.stat().st_size for file in documents_in(path).values())
        known = path.suffix not in (".parquet", ".pq", ".urn", ".h5", ".h5ad")
        return path.stat().st_size if known else None
    except OSError:
        return None


def reading_options(reading: dict[str, Any]) -> dict[str, Any]:
    """Return options of the command line as those of `read_corpus`."""
    options = dict(reading)
    for name in ("text_column", "name_column"):
        if options[name] is not None and is_digits(options[name].removeprefix("-")):
            options[name] = int(options[name])
    options["ngram_range"] = _ngram_range(options.pop("ngrams"))
    whole = options.get("tokenization") is not None  # with these options in it
    cutting = ("stop_words", "token_pattern", "ngram_range", "language", "stem", "html", "phrases")
    for name in cutting:
        if whole or options.get(name) in (None, False):
            options.pop(name, None)
    for name in ("min_df", "max_df"):
        options[name] = _document_limit(options[name])
    return options


def _document_limit(given: str | None) -> Any:
    """Return a number of documents or a share of them; text as it is, to be reported later."""
    for kind in (int, float):
        try:
            return None if given is None else kind(given)
        except ValueError:
            continue
    return given


def _ngram_range(most: int | None) -> tuple[int, int] | None:
    if most is not None and most < 1:
        raise InputError(f"The '--ngrams' option must be at least 1. Got {most} instead.")
    return None if most is None else (1, most)


def fit_and_save(
    corpus: "Corpus",
    *,
    out: Path,
    trace: Path | None = None,
    quiet: bool = False,
    bars: bool | None = None,
    resume: bool = False,
    config: str | None = None,
    facts: dict[str, Any] | None = None,
    make: Callable[..., "Training"] | None = None,
    fit: Callable[[Any, "Corpus"], object] | None = None,
    **parameters: Any,
) -> tuple["TopicModel", bool]:
    """Train, stop on Ctrl-C, save; return the model and whether it was stopped early.

    `facts` are stored in the model besides those of its run. `make` makes the estimator and `fit`
    trains it, where that is not a training from the beginning.
    """
    import warnings
    from dataclasses import replace

    from polyaurn.base.errors import (
        BiasWarning,
        CheckpointWarning,
        ClusterWarning,
        CompilationWarning,
        SeedWarning,
        TopicCountWarning,
        UnfinishedStartWarning,
    )
    from polyaurn.estimator.lda import LDA
    from polyaurn.evaluate.trend import trend_in_words
    from polyaurn.files.locks import locked
    from polyaurn.files.names import remove_checkpoints
    from polyaurn.model.dominance import note_of_dominant_topic
    from polyaurn.model.folder import keep_labels, write_model
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
        for kind in (BiasWarning, CheckpointWarning, ClusterWarning, CompilationWarning,
                     SeedWarning, TopicCountWarning, UnfinishedStartWarning):  # fmt: skip
            warnings.simplefilter("always", kind)
        warnings.showwarning = lambda message, *_, **__: note(f"Note: {message}")
        if not resume:
            remove_checkpoints(folder)
        lda = (make or LDA)(
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
        (fit or type(lda).fit)(lda, corpus)
        trace_file.rewrite(lda.trace_)
        model = replace(lda.model_, parameters=lda.model_.parameters | (facts or {}))
        if resume:
            model = keep_labels(model, folder)
        write_model(model, folder, config, parts=getattr(lda, "parts_", None))
        stopped = bool(stop.asked and lda.n_iter_ < lda.max_iter)
        if not stopped:
            remove_checkpoints(folder)
    if stopped:
        kept = "no checkpoint" if lda.checkpoint_every in ("0", "never") else "a checkpoint"
        note(
            f"Stopped after sweep {lda.n_iter_:,} of {lda.max_iter:,}; the model so far and {kept} "
            f"are in {out}. Continue with the same command and --resume."
        )
    elif not quiet:
        last = lda.trace_[-1]
        score = last["log_posterior"]
        n_tokens = model.parameters["n_tokens"]
        per_token = "" if score is None else f", log posterior {score / n_tokens:.4f} per token"
        begun = "" if swept else "The run was complete already: "
        took = f" in {last['seconds']:.1f} s of sampling" if "seconds" in last else ""
        of = f" of sampler '{model.parameters['sampler']}'"
        note(f"{begun}{lda.n_iter_:,} sweeps{of}{took}{per_token}")
        for sentence in (trend_in_words(lda.trace_), note_of_dominant_topic(model)):
            if sentence:
                note(sentence)
    return model, stopped


def as_trained(
    model: "TopicModel",
    path: Path,
    reading: dict[str, Any],
    folder: Path,
    *,
    pruned: bool = False,
    cut: bool = True,
) -> dict[str, Any]:
    """Return options for reading text as the model's was read, where the user says nothing.

    The model says how text is cut, and the options in its folder in which column it is, and in
    which the names are, if there is one of that name. `pruned` takes over which words were dropped,
    too; without `cut` text is not cut into words.
    """
    from polyaurn.cli.config import NAMES, PRUNING, WHERE, options_in
    from polyaurn.corpus.json_lines import holds_tokens
    from polyaurn.corpus.readers import TABLE_FORMATS, TEXT_FORMATS, recognise
    from polyaurn.model.slices.folder import config_for

    options, config = dict(reading), config_for(model, folder)
    form = options["format"] or recognise(path)
    if pruned:
        plain = {name: READING[name][1] for name in PRUNING}
        dropped = options_in(config, PRUNING)
        options |= {name: v for name, v in dropped.items() if options[name] == plain[name]}
    where = options_in(config, WHERE)
    if form in TABLE_FORMATS or (form == "mallet" and _has_column(path, where.get("text_column"))):
        if form in ("parquet", "jsonl"):
            where.pop("separator", None)
        options |= {name: str(v) for name, v in where.items() if options[name] is None}
        names = options_in(config, NAMES)
        if names and options["name_column"] is None:
            named = options | {"name_column": str(names["name_column"])}
            options = named if _has_names(path, form, named) else options
    if form == "jsonl" and holds_tokens(path, options["encoding"], options["text_column"]):
        return options
    if form in TEXT_FORMATS:
        options["html"] = options["html"] or bool(model.tokenization and model.tokenization.html)
    if cut and form in TEXT_FORMATS:
        options["tokenization"] = _cut_as_trained(model, options)
    return options


def _has_names(path: Path, form: str, options: dict[str, Any]) -> bool:
    """Return whether a file has the column of names in options; in JSON Lines, every object."""
    from polyaurn.corpus.readers import stream_texts

    wanted = ("encoding", "text_column", "name_column", "separator")
    columns = {name: reading_options(options)[name] for name in wanted}
    rows = stream_texts(path, "table" if form == "mallet" else form, **columns)
    try:
        deque(rows if form == "jsonl" else islice(rows, 1), maxlen=0)
    except InputError:
        return False
    return True


def _has_column(path: Path, name: Any) -> bool:
    """Return whether a file that looks like MALLET's has this column's name in its first line."""
    from polyaurn.files.reading import open_bytes

    with open_bytes(path) as file:
        head = file.readline(1 << 16).decode(errors="replace")
    return name in [field.strip('"\ufeff') for field in head.rstrip("\r\n").split("\t")]


def _cut_as_trained(model: "TopicModel", options: dict[str, Any]) -> "Tokenization":
    """Return how the model's text was cut, with the changes that options ask for."""
    from dataclasses import replace

    from polyaurn.corpus.tokenization import tokenization_for

    rules = model.tokenization or tokenization_for(model.vocab)
    if options["language"] is not None:
        rules = replace(rules, language=options["language"], stop_words="auto")
    if options["stop_words"] is not None:
        rules = replace(rules, stop_words=options["stop_words"])
    if options["stem"]:
        rules = replace(rules, stem=True)
    ngrams = _ngram_range(options["ngrams"])
    if ngrams is not None:
        rules = replace(rules, ngram_range=ngrams)
    if options["token_pattern"] is not None:
        rules = rules.with_pattern(options["token_pattern"])
    if options["html"]:
        rules = replace(rules, html=True)
    rules.check_usable()
    return rules


@contextmanager
def noting_warnings(*, quiet: bool) -> Iterator[None]:
    """Show warnings to the user as notes, each once."""
    import warnings

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", UserWarning)
        yield
    if not quiet:
        for message in dict.fromkeys(str(warning.message) for warning in said):
            note(f"Note: {message}")


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
    top = model.topics(10, order="frequency")
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
    """Print a note to the user, on standard error."""
    typer.echo(printable(message, lines=True), err=True)
