"""The command that compares numbers of topics: choose-topics. Heavy imports are deferred."""

import inspect
import sys
from itertools import product
from pathlib import Path
from shutil import get_terminal_size
from typing import Annotated, Any

import typer

from polyaurn.base.checks import is_digits
from polyaurn.cli.checks import choose_device
from polyaurn.cli.options import (
    INTERRUPTED,
    CorpusPath,
    Json,
    Quiet,
    python_settings,
    reads_corpus,
    takes_settings,
)
from polyaurn.cli.steps import note, print_json, read
from polyaurn.cli.tables import show_table

FOLDER, FORMER_FOLDER = "polyaurn-choose-topics", "polyaurn-sweep"


@reads_corpus
@takes_settings(
    "max_iter", "doc_topic_prior", "topic_word_prior", "sampler", "random_state", "n_jobs",
    "device", "learn_priors_every", "average_draws", max_iter=200,
)  # fmt: skip
def choose_topics(
    corpus: CorpusPath,
    topics: Annotated[
        str, typer.Option("--topics", "-k", help="Numbers of topics, separated by commas.")
    ] = "10,20,50,100",
    seeds: Annotated[int, typer.Option(help="Models for each number of topics.")] = 3,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for models, numbers and the page.", show_default=FOLDER),
    ] = None,
    test_share: Annotated[
        float, typer.Option(help="Share of the documents held out; 0 for none.")
    ] = 0.1,
    score: Annotated[
        str,
        typer.Option(
            help="How held-out documents are scored: 'completion', half of a document from the "
            "other half, or 'left-to-right', its probability, which takes longer than training.",
        ),
    ] = "completion",
    particles: Annotated[
        int, typer.Option(help="Particles of left-to-right; more give a smaller error.")
    ] = 20,
    json: Json = False,
    quiet: Quiet = False,
    *,
    settings: dict[str, Any],
    reading: dict[str, Any],
) -> None:
    """Choose the number of topics: train models with several numbers of them, and compare them.

    A suggestion in a sentence, and what it rests on in a table and on a page: held-out score,
    coherence, diversity, stability between seeds, and which topics split and merge. Seeds count up
    from --seed. Finished models are kept: after Ctrl-C the same command continues, and more numbers
    of topics, more seeds, or another --score use what is there.

    Example: polyaurn choose-topics reviews.csv --text-column review --topics 10,20,50,100 --seeds 3
    """
    from polyaurn.cli.config import source_as_config
    from polyaurn.files.atomic import write_text
    from polyaurn.files.names import CONFIG
    from polyaurn.studies.topic_grid import topic_grid
    from polyaurn.studies.topic_grid.folder import GridFolder
    from polyaurn.studies.topic_grid.setting import MAX_SCORED, check_grid, make_scoring
    from polyaurn.training.progress import status

    numbers: list[Any] = [
        int(k) if is_digits(k) else k for k in topics.replace(" ", "").split(",") if k
    ]
    options = python_settings(settings) | {
        "test_share": test_share, "score": score, "particles": particles,
    }  # fmt: skip
    device = options.pop("device")
    wanted = list(product(*check_grid(numbers, seeds, **options)))
    options["device"] = choose_device(device, options["sampler"], quiet=quiet)
    out = out or _default_folder()
    folder = GridFolder(out, make_scoring(max_scored=MAX_SCORED, **options))
    documents = read(corpus, reading, quiet=quiet or json, bars=not quiet)
    try:
        with status("compiling", show=not quiet) as say:
            found = topic_grid(
                documents, numbers, seeds, out=out, **options,
                on_progress=lambda place: say(_in_words(place)),
            )  # fmt: skip
    except KeyboardInterrupt:
        kept = sum(folder.cell(*place) is not None for place in wanted)
        note(
            f"Stopped; {kept} of {len(wanted)} models are finished and kept in {out}. Run the same "
            "command again to continue."
        )
        raise typer.Exit(INTERRUPTED) from None
    write_text(out / CONFIG, source_as_config(corpus, reading, "a topic grid", pruning=True))
    if json:
        print_json(found)
    elif not quiet:
        _show(found)
        note(found["suggestion"]["sentence"])
        note(f"Written: {out / 'sweep.html'}, with sweep.csv, sweep.json and the models beside it")


def _default_folder() -> Path:
    """Return where a grid is stored by default: under the former name where only that is there."""
    from polyaurn.studies.folders import SETTING

    new, former = Path(FOLDER), Path(FORMER_FOLDER)
    return former if (former / SETTING).exists() and not new.exists() else new


def _in_words(place: dict[str, Any]) -> str:
    """Say how far the grid of models is."""
    step = (
        "scoring"
        if place["step"] == "scoring"
        else f"sweep {place['sweep']:,} of {place['sweeps']:,}"
    )
    minutes = place["seconds_left"] / 60
    left = (
        f"{place['seconds_left']:.0f} s" if minutes < 2
        else f"{minutes:.0f} min" if minutes < 120
        else f"{minutes / 60:.1f} h"
    )  # fmt: skip
    beside = f", {place['at_once']} side by side" if place["at_once"] > 1 else ""
    return (
        f"model {place['cell']} of {place['cells']}{beside}: {place['topics']:,} topics, seed "
        f"{place['seed']}, {step}; about {left} left for all"
    )


def _show(found: dict[str, Any]) -> None:
    """Show the table at a terminal, and tab-separated numbers elsewhere."""
    from polyaurn.studies.topic_grid.table import LITERATURE, columns, in_brief, table
    from polyaurn.training.progress import WIDE

    if not sys.stdout.isatty():
        for values in table(found):
            typer.echo("\t".join("" if value is None else str(value) for value in values))
        return
    between = " ± " if get_terminal_size().columns >= WIDE else "\n± "
    for shown in (columns(found), LITERATURE):
        titles = [title for title, _ in shown.values()]
        show_table(
            ("topics", "seeds", *titles),
            [
                (
                    row["topics"],
                    row["seeds"],
                    *(in_brief(row, name, between=between) for name in shown),
                )
                for row in found["topics"]
            ],
        )


def sweep(**options: Any) -> None:
    """Do what choose-topics does, under its former name."""
    if not (options["quiet"] or options["json"]):
        note("Note: 'polyaurn sweep' is now called 'polyaurn choose-topics'.")
    choose_topics(**options)


sweep.__signature__ = inspect.signature(choose_topics)  # type: ignore[attr-defined]
sweep.__annotations__ = choose_topics.__annotations__
