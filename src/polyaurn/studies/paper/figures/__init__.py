"""The figures: each module has ``make(results)``, which turns finished cells into a `Figure`."""

from importlib import import_module

from polyaurn.studies.paper.plan import FIGURES
from polyaurn.studies.paper.results import Figure, Results


def make_figures(results: Results) -> dict[str, Figure]:
    """Make all figures from what is finished."""
    return {
        name: import_module(f"polyaurn.studies.paper.figures.{name}").make(results)
        for name in FIGURES
    }
