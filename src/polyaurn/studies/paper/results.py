"""Finished cells as figures use them; and what a figure is."""

import statistics
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from polyaurn.pages.charts import line_chart
from polyaurn.studies.paper.plan import Cell, Plan

Records = dict[Cell, dict[str, Any]]
Measured = dict[str, Any]


class Results(NamedTuple):
    """A plan, and the cells of it that are finished."""

    plan: Plan
    records: Records

    def of(self, figure: str, wanted: Callable[[Cell], bool] = bool) -> dict[Cell, Measured]:
        """Return what was measured in the finished cells of a figure."""
        return {
            cell: self.records[cell]["measured"]
            for cell in self.plan.cells[figure]
            if cell in self.records and wanted(cell)
        }

    def missing(self, figure: str) -> int:
        """Return how many cells of a figure are not finished."""
        return sum(cell not in self.records for cell in self.plan.cells[figure])


class Table(NamedTuple):
    """Names of columns, and rows of text."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]


class Figure(NamedTuple):
    """A figure of the paper, made again."""

    title: str  # what it shows, with its place in the paper
    paper: str  # what the paper found
    found: str  # what we find; empty where nothing is finished
    charts: dict[str, str]  # SVG, by a short name
    tables: list[Table]
    data: dict[str, Any]  # ready for JSON; claims are judged by it
    notes: str  # how it was measured, and its limits


def lines_chart(lines: dict[str, list[tuple[float, float]]], **options: Any) -> str:
    """Draw lines with a ring at each of their points, and their names below."""
    points = [point for line in lines.values() for point in line]
    return line_chart(lines, points=points, key=True, **options)


def pairs(
    cells: dict[Cell, Measured], first: str, second: str
) -> dict[Cell, tuple[list[Measured], list[Measured]]]:
    """Return runs of two samplers of the same cell but for the seed, where both have them.

    Only seeds that both samplers have finished are taken, so that ratios compare like with like.
    The cell given is the first sampler's, with seed 0.
    """
    found: dict[Cell, tuple[list[Measured], list[Measured]]] = {}
    for cell, measured in cells.items():
        other = cell._replace(sampler=second)
        if cell.sampler == first and not cell.aids and other in cells:
            ours, theirs = found.setdefault(cell._replace(seed=0), ([], []))
            ours.append(measured)
            theirs.append(cells[other])
    return found


def ratio(above: Sequence[Measured], below: Sequence[Measured], name: str) -> float:
    """Return the median over seeds of a quotient of two runs' numbers."""
    quotients = (a[name] / b[name] for a, b in zip(above, below, strict=True))
    return float(statistics.median(quotients))


def median(runs: Sequence[Measured], name: str) -> float:
    """Return the median over seeds of a number."""
    return float(statistics.median(run[name] for run in runs))


def counted(n: int, what: str) -> str:
    """Return a number of things in words."""
    return f"{n:,} {what}" + ("s" if n != 1 else "")


def pieces(n: int) -> str:
    """Return a number of pieces of work in words."""
    return counted(n, "piece")


def spread(values: Sequence[float]) -> float | None:
    """Return the standard deviation; None of a single value."""
    return statistics.stdev(values) if len(values) > 1 else None
