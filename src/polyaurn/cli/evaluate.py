"""Commands that judge and use models: infer, evaluate, compare. Heavy imports are deferred."""

from pathlib import Path
from typing import Annotated, Any

import typer

from polyaurn.chain.samplers import COMPARED
from polyaurn.cli.checks import check_only_for, check_settings, was_worker
from polyaurn.cli.options import (
    INTERRUPTED,
    CorpusPath,
    EscapeFormulas,
    Force,
    Json,
    ModelPath,
    Quiet,
    reads_corpus,
    takes_settings,
)
from polyaurn.cli.steps import (
    as_trained,
    note,
    noting_warnings,
    print_json,
    read,
    score,
)
from polyaurn.cli.tables import show_table

CLUSTER = ("cluster", "n_workers", "cluster_address")


@reads_corpus
@takes_settings("random_state", "n_jobs", "device", *CLUSTER)
def infer(
    model: ModelPath,
    corpus: CorpusPath,
    out: Annotated[
        Path, typer.Option(help="NAME.csv, NAME.parquet or NAME.npz.", show_default=False)
    ],
    escape_formulas: EscapeFormulas = False,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    *,
    settings: dict[str, Any],
    reading: dict[str, Any],
) -> None:
    """Find the topics of new documents; the model's topics do not change.

    Example: polyaurn infer model new.csv --text-column review --out mixtures.csv
    """
    from polyaurn.corpus.known_words import in_words_of, note_of_unknown
    from polyaurn.exchange.tables import check_mixture_file, write_mixtures
    from polyaurn.model.labels import given_labels
    from polyaurn.model.storage import load_topics
    from polyaurn.training.progress import following

    if was_worker(settings):
        return
    check_mixture_file(out, force=force)
    check_only_for("--escape-formulas", escape_formulas, "csv", here=out.suffix == ".csv")
    options = check_settings(settings, quiet=quiet)
    loaded = load_topics(model)
    documents = read(
        corpus, as_trained(loaded, corpus, reading, model), quiet=quiet or json, bars=not quiet
    )
    with noting_warnings(quiet=quiet), following("finding topics", show=not quiet):
        theta = loaded.transform(documents, **options)
        labels = given_labels(loaded)
        write_mixtures(out, documents.doc_names, theta, labels, escape_formulas=escape_formulas)
    known = in_words_of(loaded.vocab, documents, loaded.tokenization)
    said = note_of_unknown(known)
    if said and not (quiet or note_of_unknown(known, only_if_much=True)):  # else it was a warning
        note(f"Note: {said}")
    if json:
        print_json(
            {
                "file": str(out),
                "documents": len(theta),
                "topics": theta.shape[1],
                "labels": labels,
                "tokens": int(known.tokens.sum()),
                "unknown_tokens": int(known.unknown.sum()),
                "mean_mixture": theta.mean(axis=0).tolist(),
            }
        )
    elif not quiet:
        D, K = theta.shape
        of = "The mixture of 1 document" if D == 1 else f"Mixtures of {D:,} documents"
        note(f"{of} over {K:,} topic{'s' * (K != 1)} written to {out}")


@reads_corpus
@takes_settings("random_state", "n_jobs", "device", *CLUSTER)
def evaluate(
    model: ModelPath,
    corpus: CorpusPath,
    particles: Annotated[
        int,
        typer.Option(help="Particles of the left-to-right estimate; more give a smaller error."),
    ] = 20,
    json: Json = False,
    quiet: Quiet = False,
    *,
    settings: dict[str, Any],
    reading: dict[str, Any],
) -> None:
    """Score a model on documents: held-out log likelihood, completion, coherence, diversity.

    The documents should be ones the model was not trained on. Coherence is computed on them too,
    over the topics whose ten top words all occur there.

    Example: polyaurn evaluate model held-out.csv --text-column review
    """
    from polyaurn.evaluate.held_out import check_particles
    from polyaurn.model.storage import load_topics
    from polyaurn.training.progress import following

    if was_worker(settings):
        return
    check_particles(particles)
    options = check_settings(settings, quiet=quiet)
    loaded = load_topics(model)
    documents = read(
        corpus, as_trained(loaded, corpus, reading, model), quiet=quiet or json, bars=not quiet
    )
    with following("scoring", show=not quiet):
        found = score(loaded, documents, particles, options)
    if json:
        print_json(found)
        return
    show_table(
        ("measure", "value"),
        [
            (name.replace("_", " "), value if isinstance(value, int) else _brief(value))
            for name, value in found.items()
        ],
        left=("measure",),
        header=False,
    )


def _brief(value: float | None) -> str:
    return "-" if value is None else f"{value:,.1f}" if abs(value) >= 100 else f"{value:.5f}"


@reads_corpus
@takes_settings(
    "n_components", "doc_topic_prior", "topic_word_prior", "random_state", "n_jobs", "warm_start",
    "phi_refreshes", "mh_steps", warm_start="random", phi_refreshes=1,
)  # fmt: skip
def compare(
    corpus: CorpusPath,
    samplers: Annotated[
        str,
        typer.Option(help="Samplers to run, in this order, separated by commas; 'all' runs all."),
    ] = ",".join(COMPARED),
    seconds: Annotated[float, typer.Option(help="Time of sampling for each.")] = 60.0,
    out: Annotated[Path, typer.Option(help="The page; the JSON is written beside it.")] = Path(
        "polyaurn-compare.html"
    ),
    force: Annotated[bool, typer.Option("--force", help="Replace the page.")] = False,
    json: Json = False,
    quiet: Quiet = False,
    *,
    settings: dict[str, Any],
    reading: dict[str, Any],
) -> None:
    """Run samplers in turn on one corpus for the same time, and write a page about them.

    It shows the log posterior against time and against sweeps, tokens per second, memory and the
    quality of topics. Ctrl-C ends the comparison and writes what there is.

    Example: polyaurn compare docword.kos.txt.gz --topics 50 --samplers polya-urn,collapsed
    """
    from polyaurn.chain.samplers import SAMPLERS, check_proposals
    from polyaurn.studies.compare import check_samplers, check_seconds, check_starts
    from polyaurn.studies.compare import compare as run
    from polyaurn.studies.compare_page import check_page, write_page
    from polyaurn.training.progress import status

    check_seconds(seconds)
    names = list(SAMPLERS) if samplers == "all" else samplers.replace(" ", "").split(",")
    check_samplers(names)
    mh_steps = settings.pop("mh_steps")
    check_proposals(names, mh_steps)
    options = check_settings(settings, quiet=quiet)
    check_starts(names, options["warm_start"], options["phi_refreshes"])
    check_page(out, force=force)
    documents = read(corpus, reading, quiet=quiet or json, bars=not quiet)
    with status("compiling", show=not quiet) as say:
        found = run(
            documents,
            options.pop("n_components"),
            names,
            seconds,
            **options,
            mh_steps=mh_steps,
            on_look=lambda name, look: say(
                f"{name} ({names.index(name) + 1} of {len(names)}): {look['seconds']:.0f} of "
                f"{seconds:g} s, sweep {look['sweep']:,}"
            ),
        )
    page, numbers = write_page(found, out)
    if json:
        print_json(found | {"page": str(page), "numbers": str(numbers)})
    if not found["complete"]:
        note(f"Stopped; what there is was written to {page} and {numbers}")
        raise typer.Exit(INTERRUPTED)
    if not (quiet or json):
        note(f"Written: {page} and {numbers}")
