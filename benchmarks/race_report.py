"""Summaries, the table and the picture of the race, from its raw results."""

import json
import math
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from polyaurn.base.errors import InputError

HEADER = (
    "corpus", "K", "priors", "peer", "its score", "its seconds", "sampler", "our seconds to it",
    "ratio", "our score at its seconds", "difference", "seeds",
)  # fmt: skip
PANELS = 3  # side by side


class Reached(NamedTuple):
    """When our score is the peer's: infinite if never, at most so long if from the first run on."""

    seconds: float
    at_most: bool = False


class Row(NamedTuple):
    """A line of the table: medians over seeds for one cell and sampler."""

    setting: dict[str, Any]
    sampler: str
    peer_score: float
    peer_seconds: float
    seconds: float
    ratio: float
    bound: bool  # the first run was already ahead: seconds at most, ratio at least
    score: float
    difference: float
    seeds: int


def load_all(paths: Iterable[Path]) -> list[dict[str, Any]]:
    """Return raw results, in order of corpus, topics and priors."""
    found = []
    for path in paths:
        try:
            result = json.loads(path.read_text())
            result["setting"]["corpus"], result["seeds"], result["shares"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{path} must be a result of race.py. Got {error!r} while reading it; name only "
                "its results."
            ) from error
        found.append(result)
    keys = ("corpus", "topics", "learn", "peer", "peer_sweeps")
    return sorted(found, key=lambda result: [result["setting"][key] for key in keys])


def time_to(points: list[dict[str, Any]], level: float) -> Reached:
    """Return when a score is first reached, linear in log time between runs."""
    points = sorted(points, key=lambda point: point["seconds"])
    if points[0]["score"] >= level:
        return Reached(points[0]["seconds"], at_most=True)
    for a, b in pairwise(points):
        if b["score"] >= level:
            share = (level - a["score"]) / (b["score"] - a["score"])
            return Reached(a["seconds"] * (b["seconds"] / a["seconds"]) ** share)
    return Reached(math.inf)


def score_at(points: list[dict[str, Any]], seconds: float) -> float:
    """Return the score at a time, linear in log time between runs.

    After the last run it is the last score; before the first there is none: minus infinity.
    """
    points = sorted(points, key=lambda point: point["seconds"])
    if seconds < points[0]["seconds"]:
        return -math.inf
    for a, b in pairwise(points):
        if seconds < b["seconds"]:
            share = math.log(seconds / a["seconds"]) / math.log(b["seconds"] / a["seconds"])
            return float(a["score"] + share * (b["score"] - a["score"]))
    return float(points[-1]["score"])


def complete_seeds(result: dict[str, Any], sampler: str) -> list[tuple[dict, list[dict]]]:
    """Return the peer's run and ours of each seed that has them all."""
    return [
        (runs["peer"], runs["ours"][sampler])
        for runs in result["seeds"].values()
        if len(runs["ours"].get(sampler, ())) >= len(result["shares"])
    ]


def summarise(result: dict[str, Any], sampler: str) -> Row | None:
    """Return medians over seeds; None where no seed is complete."""
    seeds = complete_seeds(result, sampler)
    if not seeds:
        return None
    reached = [time_to(ours, peer["score"]) for peer, ours in seeds]
    scores = [score_at(ours, peer["seconds"]) for peer, ours in seeds]
    return Row(
        result["setting"],
        sampler,
        median(peer["score"] for peer, _ in seeds),
        median(peer["seconds"] for peer, _ in seeds),
        median(found.seconds for found in reached),
        median(p["seconds"] / found.seconds for (p, _), found in zip(seeds, reached, strict=True)),
        any(found.at_most for found in reached),
        median(scores),
        median(score - peer["score"] for (peer, _), score in zip(seeds, scores, strict=True)),
        len(seeds),
    )


def rows_of(results: list[dict[str, Any]]) -> list[Row]:
    """Return the lines of the table."""
    rows = []
    for result in results:
        samplers = {name: None for runs in result["seeds"].values() for name in runs["ours"]}
        rows += [summarise(result, sampler) for sampler in samplers]
    return [row for row in rows if row is not None]


def table(results: list[dict[str, Any]]) -> str:
    """Return the results as a Markdown table, and what they come to.

    Where several peers ran in a cell, the one that was nearest to us in time counts.
    """
    rows = rows_of(results)
    lines = [_line(HEADER), _line(["---"] * len(HEADER)), *map(line_of, rows)]
    for sampler in dict.fromkeys(row.sampler for row in rows):
        mine = nearest([row for row in rows if row.sampler == sampler])
        lines += ["", (
            f"`{sampler}`: median ratio {median(row.ratio for row in mine):.2f}; sooner than the "
            f"peer in {sum(row.ratio > 1 for row in mine)} of {len(mine)} cells, better at its "
            f"time in {sum(row.difference > 0 for row in mine)}."
        )]  # fmt: skip
    return "\n".join(lines)


def nearest(rows: list[Row]) -> list[Row]:
    """Return one line for each cell: that of the peer whose score took us longest by its time."""
    cells: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        cell = tuple(row.setting[name] for name in ("corpus", "topics", "learn"))
        if cell not in cells or row.ratio < cells[cell].ratio:
            cells[cell] = row
    return list(cells.values())


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def line_of(row: Row) -> str:
    """Return a line of the table."""
    setting = row.setting
    never = math.isinf(row.seconds)
    early = math.isinf(row.score)  # our shortest run takes longer than the peer
    cells = [
        Path(setting["corpus"]).name,
        str(setting["topics"]),
        "learned" if setting["learn"] else "fixed",
        f"{setting['peer']}, {setting['peer_sweeps']} sweeps",
        f"{row.peer_score:.3f}",
        f"{row.peer_seconds:.3g}",
        f"`{row.sampler}`",
        "not reached" if never else f"{'≤ ' * row.bound}{row.seconds:.3g}",
        "" if never else f"{'≥ ' * row.bound}{row.ratio:.2f}",
        "no run as short" if early else f"{row.score:.3f}",
        "" if early else f"{row.difference:+.3f}",
        str(row.seeds),
    ]
    return _line(cells)


def draw(results: list[dict[str, Any]], path: Path) -> None:
    """Draw score against seconds, one panel per cell."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    results = [result for result in results if result["seeds"]]
    if not results:
        raise InputError("The '--plot' option must name results with runs. Got none.")
    across = min(PANELS, len(results))
    down = -(-len(results) // across)
    figure, axes = plt.subplots(down, across, figsize=(4.2 * across, 3.2 * down), squeeze=False)
    for axis in axes.flat[len(results) :]:
        axis.remove()
    for axis, result in zip(axes.flat, results, strict=False):
        _panel(axis, result)
    figure.tight_layout()
    figure.savefig(path, dpi=70)
    plt.close(figure)


def _panel(axis: Any, result: dict[str, Any]) -> None:
    setting = result["setting"]
    named: set[str] = set()
    for runs in result["seeds"].values():
        peer = runs["peer"]
        for i, (sampler, points) in enumerate(runs["ours"].items()):
            label = f"polyaurn, {sampler}"
            points = sorted(points, key=lambda point: point["seconds"])
            axis.plot(
                [p["seconds"] for p in points], [p["score"] for p in points], color=f"C{i}",
                marker="o", ms=3, lw=1, label=None if label in named else label,
            )  # fmt: skip
            named.add(label)
        label = f"{setting['peer']}, {setting['peer_sweeps']} sweeps"
        axis.plot(
            peer["seconds"], peer["score"], "k*", ms=9, label=None if label in named else label
        )
        named.add(label)
        axis.axhline(peer["score"], color="grey", lw=0.6, ls=":")
    priors = "learned" if setting["learn"] else "fixed"
    seconds = median(runs["peer"]["seconds"] for runs in result["seeds"].values())
    ticks = [share * seconds for share in result["shares"]]
    axis.set_xscale("log")
    axis.set_xticks(ticks, [f"{tick:.3g}" for tick in ticks])
    axis.minorticks_off()
    axis.set(
        title=f"{Path(setting['corpus']).name}, K = {setting['topics']}, {priors} priors",
        xlabel=f"seconds of training, {setting['threads']} threads", ylabel="held-out score",
    )  # fmt: skip
    axis.legend(frameon=False, fontsize=8)
    axis.spines[["top", "right"]].set_visible(False)
