"""The command that makes the paper's theory visible. Heavy imports are deferred."""

from pathlib import Path
from typing import Annotated

import typer

from polyaurn.cli.options import Json, Quiet
from polyaurn.cli.steps import note, print_json


def theory(
    study: Annotated[
        str, typer.Argument(help="appendix-a, urn or complexity.", show_default=False)
    ],
    out: Annotated[Path, typer.Option(help="Folder for the picture and the numbers.")] = Path(
        "polyaurn-theory"
    ),
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make the paper's theory visible: a PNG and a JSON for each study.

    appendix-a: a collapsed Gibbs sampler that is slower than an uncollapsed one.
    urn: the distance between the urn and the Dirichlet as counts grow.
    complexity: work per token against the size of the corpus.

    Example: polyaurn theory urn --out theory
    """
    from polyaurn.studies.paper.theory import run
    from polyaurn.training.progress import status

    with status(f"computing {study}", show=not quiet):
        numbers, picture, _ = run(study, out)
    if json:
        print_json({"study": study, "picture": str(picture), "numbers": str(numbers)})
    elif not quiet:
        note(f"Written: {picture} and {numbers}")
