"""Commands that judge and use models: infer, evaluate, compare. Heavy imports wait inside."""

from pathlib import Path
from typing import Annotated, Any

import typer

from polyaurn.cli_options import (
    INTERRUPTED,
    CorpusPath,
    MhSteps,
    ModelPath,
    Quiet,
    reads_corpus,
)
from polyaurn.cli_steps import (
    as_trained,
    note,
    noting_warnings,
    number_or_word,
    print_json,
    prior,
    read,
    score,
)

COMPARED = ("polya-urn", "partially-collapsed", "collapsed", "light")


@reads_corpus
def infer(
    model: ModelPath,
    corpus: CorpusPath,
    out: Annotated[
        Path, typer.Option(help="NAME.csv, NAME.parquet or NAME.npz.", show_default=False)
    ],
    seed: Annotated[int, typer.Option(help="The same seed gives the same mixtures.")] = 0,
    threads: Annotated[int, typer.Option("--threads", "-t", help="-1 takes all cores.")] = -1,
    force: Annotated[bool, typer.Option("--force", help="Replace the file.")] = False,
    quiet: Quiet = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Find the topics of new documents, the model's topics staying as they are.

    Example: polyaurn infer model new.csv --text-column review --out mixtures.csv
    """
    from polyaurn.mixturefiles import check_mixture_file, write_mixtures
    from polyaurn.store import load

    check_mixture_file(out, force=force)
    loaded = load(model)
    documents = read(corpus, as_trained(loaded, corpus, reading), quiet=quiet)
    with noting_warnings(quiet=quiet):
        theta = loaded.transform(documents, random_state=seed, n_jobs=threads)
    write_mixtures(out, documents.doc_names, theta)
    if not quiet:
        note(
            f"Mixtures of {len(theta):,} documents over {theta.shape[1]:,} topics written to {out}"
        )


@reads_corpus
def evaluate(
    model: ModelPath,
    corpus: CorpusPath,
    particles: Annotated[int, typer.Option(help="Of left-to-right; more are more exact.")] = 20,
    seed: Annotated[int, typer.Option(help="The same seed gives the same numbers.")] = 0,
    threads: Annotated[int, typer.Option("--threads", "-t", help="-1 takes all cores.")] = -1,
    json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
    quiet: Quiet = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Score a model on documents: held-out log likelihood, completion, coherence, diversity.

    The documents should be ones the model was not trained on. Coherence is counted on them too,
    over the topics whose ten top words all occur there.

    Example: polyaurn evaluate model held-out.csv --text-column review
    """
    from polyaurn.evaluate.held_out import check_particles
    from polyaurn.progress import status
    from polyaurn.store import load

    check_particles(particles)
    loaded = load(model)
    documents = read(corpus, as_trained(loaded, corpus, reading), quiet=quiet or json)
    with status("scoring", show=not quiet and not json):
        found = score(loaded, documents, particles, seed, threads)
    if json:
        print_json(found)
        return
    for name, value in found.items():
        shown = "-" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:.5f}"
        typer.echo(f"{name.replace('_', ' '):<32}  {shown}")


@reads_corpus
def compare(
    corpus: CorpusPath,
    topics: Annotated[int, typer.Option("--topics", "-k", help="Number of topics, K.")] = 100,
    samplers: Annotated[
        str, typer.Option(help="Which to run, in this order, between commas; 'all' runs all.")
    ] = ",".join(COMPARED),
    seconds: Annotated[float, typer.Option(help="Time of sampling for each.")] = 60.0,
    out: Annotated[Path, typer.Option(help="The page; the JSON lies beside it.")] = Path(
        "polyaurn-compare.html"
    ),
    alpha: Annotated[str, typer.Option(help="A number, or a file of K numbers.")] = "0.1",
    beta: Annotated[str, typer.Option(help="A number, or a file of V numbers.")] = "0.01",
    seed: Annotated[int, typer.Option(help="The same for all.")] = 0,
    threads: Annotated[int, typer.Option("--threads", "-t", help="-1 takes all cores.")] = -1,
    warm_start: Annotated[
        str, typer.Option(help="'random' compares samplers alone; 'auto' with their warm starts.")
    ] = "random",
    phi_refreshes: Annotated[
        str, typer.Option(help="Draws of Phi in a sweep, 1 to 8, or 'auto'.")
    ] = "1",
    mh_steps: MhSteps = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the page.")] = False,
    quiet: Quiet = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Run samplers in turn on one corpus for the same time, and write a page about them.

    It shows the log posterior against time and against sweeps, tokens a second, memory and the
    quality of topics. Ctrl-C ends the comparison and writes what there is.

    Example: polyaurn compare docword.kos.txt.gz --topics 50 --samplers polya-urn,collapsed
    """
    from polyaurn.comparing import check_samplers, check_seconds
    from polyaurn.comparing import compare as run
    from polyaurn.comparison_page import check_page, write_page
    from polyaurn.kernels import SAMPLERS
    from polyaurn.progress import status
    from polyaurn.state import check_topics

    check_topics(topics, "--topics")
    check_seconds(seconds)
    names = list(SAMPLERS) if samplers == "all" else samplers.replace(" ", "").split(",")
    check_samplers(names)
    check_page(out, force=force)
    documents = read(corpus, reading, quiet=quiet)
    with status("compiling", show=not quiet) as say:
        found = run(
            documents,
            topics,
            names,
            seconds,
            doc_topic_prior=prior(alpha, "--alpha"),
            topic_word_prior=prior(beta, "--beta"),
            random_state=seed,
            n_jobs=threads,
            warm_start=warm_start,
            phi_refreshes=number_or_word(phi_refreshes),
            mh_steps=mh_steps,
            on_look=lambda name, look: say(
                f"{name} ({names.index(name) + 1} of {len(names)}): {look['seconds']:.0f} of "
                f"{seconds:g} s, sweep {look['sweep']:,}"
            ),
        )
    page, numbers = write_page(found, out)
    if not found["complete"]:
        note(f"Stopped; what there is was written to {page} and {numbers}")
        raise typer.Exit(INTERRUPTED)
    if not quiet:
        note(f"Written: {page} and {numbers}")
