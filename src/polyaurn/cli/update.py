"""The command that continues a model with new documents. Heavy imports are deferred."""

from pathlib import Path
from typing import Annotated, Any

import typer

from polyaurn.base.errors import InputError
from polyaurn.cli.checks import check_not_both, check_settings, check_words
from polyaurn.cli.options import (
    CorpusPath,
    Json,
    ModelPath,
    Quiet,
    Words,
    reads_corpus,
    takes_settings,
)
from polyaurn.cli.sources import Source, read_source
from polyaurn.cli.steps import as_trained, fit_and_save, read
from polyaurn.cli.train import show
from polyaurn.training.settings import UPDATE_SWEEPS


@reads_corpus
@takes_settings(
    "max_iter", "n_jobs", "device", "evaluate_every", "checkpoint_every", max_iter=UPDATE_SWEEPS
)
def update(
    context: typer.Context,
    model: ModelPath,
    corpus: CorpusPath,
    out: Annotated[Path, typer.Option(help="Folder for the updated model.", show_default=False)],
    forget: Annotated[
        float, typer.Option(help="Share of the model's counts to forget, from 0 to 1.")
    ] = 0.0,
    new_topics: Annotated[
        int, typer.Option(help="Topics to add, for what the old ones do not explain.")
    ] = 0,
    with_: Annotated[
        list[Path] | None,
        typer.Option(
            "--with",
            help="The model's own documents, whose topics are then sampled again; several files, "
            "each with --with, if an update joined them.",
            show_default=False,
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Resume from the last checkpoint; start if there is none."),
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a model or a run in the folder.")
    ] = False,
    words: Words = 10,
    json: Json = False,
    quiet: Quiet = False,
    *,
    settings: dict[str, Any],
    reading: dict[str, Any],
) -> None:
    """Continue a model with new documents: topics keep their numbers, new words join.

    Example: polyaurn update model new.csv --text-column review --out model-2

    The model's counts are the prior of the new topics. With --forget they fade, so that the topics
    follow the new documents. The run is kept in the folder and resumed as with 'train'.
    """
    from polyaurn.cli.config import WHERE, as_command, options_in, source_as_config
    from polyaurn.corpus.joined_words import earlier_documents, join_words, one_after_another
    from polyaurn.corpus.readers import TEXT_FORMATS, recognise
    from polyaurn.estimator.lda import LDA
    from polyaurn.model.folder import check_target
    from polyaurn.model.slices.folder import config_for, part_of
    from polyaurn.model.storage import load
    from polyaurn.training.updates import check_counts, check_forget, check_new_topics

    parameters = check_settings(settings, quiet=quiet)
    check_not_both(resume, force)
    check_words(words)
    check_forget(forget)
    check_new_topics(new_topics)
    if out.resolve() == model.resolve():
        raise InputError(
            "The '--out' option must be another folder than that of the model, which an update "
            f"needs until its end. Got '{out}' for both; choose a new folder."
        )
    check_target(out, force=force or resume, name="--out")
    loaded = load(model)
    if loaded.clusters is not None:
        raise InputError(
            f"The 'MODEL' argument must be a model of topics in mixtures. '{model}' is one of "
            "document clusters, which is not continued; train it again with all documents."
        )
    check_counts(loaded)
    options = as_trained(loaded, corpus, reading, model)
    documents = read(corpus, options, quiet=quiet or json, bars=not quiet)
    of_text = (options["format"] or recognise(corpus)) in TEXT_FORMATS
    documents = join_words(
        loaded.vocab, documents, loaded.tokenization, of_text=of_text, name="'CORPUS' argument"
    )
    earlier, cut = None, part_of(loaded, model)
    kept: dict[str, Any] = dict(options_in(config_for(loaded, model), WHERE))
    for path in with_ or []:
        known = as_trained(loaded, path, reading, model)
        kept |= {name: known[name] for name in WHERE if known[name] is not None}
        source = Source(path, known, None, None, cut)
        part = read_source(source, quiet=quiet or json, bars=not quiet)
        part = earlier_documents(loaded.vocab, part, loaded.tokenization)
        earlier = part if earlier is None else one_after_another(earlier, part)
    kept |= {name: value for name, value in options.items() if value is not None}
    whole = earlier is None or cut is None  # a slice has a part of its file
    changes: dict[str, Any] = {
        "forget": forget,
        "new_topics": new_topics,
        "earlier_documents": earlier,
    }
    trained, stopped = fit_and_save(
        documents,
        out=out,
        quiet=quiet or json,
        bars=not quiet,
        resume=resume,
        config=source_as_config(
            corpus if whole else None,
            kept,
            "an updated model",
            earlier=with_ or (),
            command=as_command(context),
        ),
        make=lambda **given: LDA.from_model(loaded, **given),
        fit=lambda lda, new: lda.update(new, max_iter=lda.max_iter, **changes),
        **parameters,
    )
    show(
        trained, out, 20, words, stopped, f"see all topics with: polyaurn topics {out}", json, quiet
    )
