"""The command that runs the paper's experiments again: reproduce. Heavy imports are deferred."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyaurn.cli.checks import choose_device
from polyaurn.cli.options import INTERRUPTED, Json, Quiet, takes_settings
from polyaurn.cli.steps import note, print_json

if TYPE_CHECKING:
    from polyaurn.studies.paper.loop import Reproduction

FAILED = 1  # exit code when pieces of work ended early


@takes_settings("n_jobs", "device")
def reproduce(
    figure: Annotated[
        str | None,
        typer.Argument(
            help="corpora, traces, phases, algorithms, quality, cores, sparsity, theory or "
            "complexity; all when not given.",
            show_default=False,
        ),
    ] = None,
    corpora: Annotated[
        Path | None,
        typer.Option(
            help="Folder of docword.NAME.txt.gz files (or texts); generated data when not given.",
            show_default=False,
        ),
    ] = None,
    scale: Annotated[
        str, typer.Option(help="'small' takes minutes, 'full' hours to days.")
    ] = "small",
    out: Annotated[Path, typer.Option(help="Folder for results and the page.")] = Path(
        "polyaurn-reproduction"
    ),
    use: Annotated[
        str,
        typer.Option(
            help="Corpora of the folder to use, separated by commas, instead of the default choice."
        ),
    ] = "",
    generated: Annotated[
        str, typer.Option(help="Generate these in the paper's sizes: enron,nytimes,pubmed.")
    ] = "",
    cores: Annotated[
        str,
        typer.Option(
            help="Numbers of cores to measure the scaling with, where the machine has as many."
        ),
    ] = "1,2,4,8,16",
    seeds: Annotated[
        int | None, typer.Option(help="Chains of each kind: 2 for small, 5 for full, if not given.")
    ] = None,
    budget: Annotated[
        float | None, typer.Option(help="Start no new piece of work after this many minutes.")
    ] = None,
    only_list: Annotated[
        bool, typer.Option("--only-list", help="Only print the pieces of work and their time.")
    ] = False,
    json: Json = False,
    quiet: Quiet = False,
    *,
    settings: dict[str, Any],
) -> None:
    """Run the paper's experiments again, and write one page: what it found, and what is found here.

    Every finished piece is kept: after Ctrl-C, or with --budget, the same command continues. The
    page, results.json, summary.md and the figures are written at the end and when stopped.

    Example: polyaurn reproduce --corpora corpora --scale small --out reproduction
    """
    from polyaurn.base.errors import InputError
    from polyaurn.studies.paper.estimate import in_words
    from polyaurn.studies.paper.loop import Reproduction
    from polyaurn.studies.paper.results import pieces
    from polyaurn.training.progress import status
    from polyaurn.training.signals import interrupted_by_signals

    if budget is not None and not budget > 0:
        raise InputError(
            f"The 'budget' parameter must be above 0 minutes. Got {budget:g} instead; leave it out "
            "for no limit."
        )
    run = Reproduction(
        out, figure, corpora=corpora, scale=scale, use=_split(use), generated=_split(generated),
        threads=settings["threads"], cores=[_number(n) for n in _split(cores)], seeds=seeds,
        device=choose_device(settings["device"], quiet=quiet or json),
    )  # fmt: skip
    quiet = quiet or json
    if not quiet or (only_list and not json):
        for source in run.plan.sources.values():
            note(f"Corpus {source.name}: {source.about()}")
    with status("timing each sampler for an estimate", show=not quiet):
        estimate, left = run.estimate()
    if json and only_list:
        print_json(
            [
                {"piece": cell.name, "done": cell not in left, "seconds": estimate.seconds(cell)}
                for cell in run.wanted
            ]
        )
        return
    if only_list:
        for cell in run.wanted:
            state = f"{estimate.seconds(cell):8.1f} s" if cell in left else "      done"
            typer.echo(f"{state}  {cell.name}")
    if not quiet or only_list:
        _announce(run, estimate, left)
    if only_list:
        return
    try:
        with interrupted_by_signals(), status("beginning", show=not quiet) as say:
            outcome = run.run(
                budget=budget,
                on_progress=lambda name, i, n, seconds: say(
                    f"piece {i} of {n}: {name}; about {in_words(seconds)} left for all"
                ),
            )
    except KeyboardInterrupt:
        kept = len(run.done(run.wanted))
        note(
            f"Stopped; {kept} of {pieces(len(run.wanted))} finished and kept in {out}. Run the "
            "same command again to continue."
        )
        raise typer.Exit(INTERRUPTED) from None
    if outcome.failed:
        name, why = next(iter(outcome.failed.items()))
        note(
            f"{pieces(len(outcome.failed))} ended early; the first is {name} ({why}). The "
            "others are kept, and the same command tries again."
        )
    from polyaurn.studies.paper.page import PAGE

    if json:
        facts = {"page": str(out / PAGE), "missing": outcome.missing, "failed": outcome.failed}
        print_json(facts)
    elif not quiet:
        if outcome.missing:
            note(f"Missing: {pieces(outcome.missing)}; the same command continues.")
        note(f"Written: {out / PAGE}, with results.json, summary.md and figures beside it")
    if outcome.failed:
        raise typer.Exit(FAILED)


def _announce(run: "Reproduction", estimate: Any, left: list[Any]) -> None:
    """Say how long it will take, what takes longest, and how much memory is needed."""
    from polyaurn.studies.paper.estimate import in_words, shares
    from polyaurn.studies.paper.results import pieces

    done = len(run.wanted) - len(left)
    if not left:
        note(f"All work is done: {pieces(done)}.")
        return
    kept = f" ({done} done before)" if done else ""
    note(f"{pieces(len(left))} of work{kept}, about {in_words(estimate.total(left))} in all.")
    longest = list(shares(estimate, left).items())[:3]
    note(f"Most of it: {', '.join(f'{name} {in_words(s)}' for name, s in longest)}.")
    memory = estimate.largest_phi(left)
    if memory > 2e9:
        note(f"The partially collapsed sampler will need about {memory / 1e9:.0f} GB for its Phi.")


def _split(text: str) -> list[str]:
    return [part for part in text.replace(" ", "").split(",") if part]


def _number(text: str) -> Any:
    return int(text) if text.isdecimal() else text
