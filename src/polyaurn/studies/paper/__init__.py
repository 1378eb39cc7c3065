"""The paper's experiments, run again: cells that are kept, figures, claims, and one page."""

from polyaurn.studies.paper.plan import FIGURES

__all__ = ["FIGURES"]
