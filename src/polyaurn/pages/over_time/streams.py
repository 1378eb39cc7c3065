"""Streams of topics: their shares of the tokens of each slice, stacked, as one SVG picture."""

from collections.abc import Sequence
from html import escape

import numpy as np

from polyaurn.base.arrays import F64
from polyaurn.base.printable import printable

PALETTE = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00",
           "#8c6bb1", "#a6761d", "#66a61e", "#e7298a", "#1f9eb4", "#b8860b")  # fmt: skip
REST = "#9aa0a6"
WIDTH, HEIGHT, TOP, BOTTOM, LEFT, RIGHT = 1080, 400, 12, 34, 48, 22
LABEL_WIDTH = 64  # of the name of a slice
LEAST_BAND = 15.0  # pixels that a topic's number needs
STYLE = """
.streams { overflow-x: auto; } .streams svg { min-width: 760px; max-width: none; }
.streams path.band { stroke: #fff; stroke-width: 1; } .streams path.band:hover { opacity: .75; }
.streams .in { fill: #fff; font-weight: 600; pointer-events: none; stroke: #0008;
  stroke-width: 3px; paint-order: stroke; }
.legend a { margin-right: 1.1em; color: inherit; display: inline-block; }
.legend .swatch { margin-right: .35em; }
svg.share { width: 120px; height: 26px; vertical-align: middle; }
"""


def colours_of(share: F64) -> list[str]:
    """Return a colour of each topic: the largest have their own, all others one together."""
    colours = [REST] * len(share)
    largest = np.argsort(-share.max(axis=1), kind="stable")[: len(PALETTE)]
    for place, k in enumerate(sorted(largest.tolist())):
        colours[k] = PALETTE[place]
    return colours


def streams(share: F64, labels: Sequence[str], names: Sequence[str], colours: Sequence[str]) -> str:
    """Draw the shares of topics, K by slices, one band on another.

    Topics that have no colour of their own are one band at the top.
    """
    own = [k for k, colour in enumerate(colours) if colour != REST]
    rest = [k for k, colour in enumerate(colours) if colour == REST]
    bands = [(share[k], colours[k], f"{k}", f"topic {k}: {names[k]}") for k in own]
    if rest:
        bands.append((share[rest].sum(axis=0), REST, "others", f"{len(rest):,} other topics"))
    xs = _places(len(labels))
    marks = _axes(xs, labels)
    base = np.zeros(share.shape[1])
    for values, colour, number, name in bands:
        top = base + values
        marks.append(_band(xs, base, top, values, colour, number, name, labels))
        base = top
    return (
        '<div class="streams" tabindex="0" role="region" aria-label="Streams of topics">'
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="Shares of topics in each '
        'slice; the tables below say the same" font-family="system-ui, sans-serif" font-size="12" '
        'fill="#333">' + "".join(marks) + "</svg></div>"
    )


def legend(names: Sequence[str], colours: Sequence[str]) -> str:
    """Return the topics that have colours beside them, as links to their tables."""
    return "".join(
        f'<a href="#topic-{k}"><span class="swatch" style="background:{colour}"></span>{k} '
        f"{escape(printable(name))}</a>"
        for k, (name, colour) in enumerate(zip(names, colours, strict=True))
        if colour != REST
    )


def small_stream(values: F64, most: float, colour: str, labels: Sequence[str]) -> str:
    """Draw the shares of one topic as a small area, with their numbers in its title."""
    xs = np.linspace(0.0, 120.0, len(values)) if len(values) > 1 else np.array([0.0, 120.0])
    ys = 24.0 - 22.0 * (values if len(values) > 1 else np.repeat(values, 2)) / max(most, 1e-9)
    line = "L".join(f"{x:.1f} {y:.1f}" for x, y in zip(xs, ys, strict=True))
    said = ", ".join(f"{escape(_short(t))} {v:.1%}" for t, v in zip(labels, values, strict=True))
    return (
        f'<svg class="share" viewBox="0 0 120 26" role="img" aria-label="share: {said}">'
        f"<title>{said}</title>"
        f'<path fill="{colour}" fill-opacity=".35" stroke="none" d="M{line}L120 24L0 24Z"/>'
        f'<path fill="none" stroke="{colour}" stroke-width="1.5" d="M{line}"/></svg>'
    )


def _places(n: int) -> F64:
    if n == 1:
        return np.array([float(LEFT), float(WIDTH - RIGHT)])
    return np.linspace(LEFT, WIDTH - RIGHT, n)


def _axes(xs: F64, labels: Sequence[str]) -> list[str]:
    marks = []
    for part in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = _height(part)
        marks.append(
            f'<path fill="none" stroke="#e3e3e3" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>'
            f'<text x="{LEFT - 7}" y="{y + 4:.1f}" text-anchor="end">{part:.0%}</text>'
        )
    if len(labels) == 1:
        xs = np.array([xs.mean()])
    every = max(1, -(-LABEL_WIDTH * len(labels) // (WIDTH - LEFT - RIGHT)))
    for i, (x, label) in enumerate(zip(xs.tolist(), labels, strict=True)):
        if i % every == 0:
            at = "end" if i and i == len(labels) - 1 else "start" if i == 0 else "middle"
            marks.append(
                f'<text x="{x:.1f}" y="{HEIGHT - 10}" text-anchor="{at}">{escape(_short(label))}'
                "</text>"
            )
    return marks


def _band(
    xs: F64,
    base: F64,
    top: F64,
    values: F64,
    colour: str,
    number: str,
    name: str,
    labels: Sequence[str],
) -> str:
    """Draw one band, with the topic's number where it is thickest."""
    thick = int(np.argmax(values))
    if len(values) == 1:
        base, top = np.repeat(base, 2), np.repeat(top, 2)
    upper = [f"{x:.1f} {_height(y):.1f}" for x, y in zip(xs, top, strict=True)]
    lower = [f"{x:.1f} {_height(y):.1f}" for x, y in zip(xs, base, strict=True)]
    shares = ", ".join(f"{_short(t)} {v:.1%}" for t, v in zip(labels, values, strict=True))
    mark = (
        f'<path class="band" fill="{colour}" d="M{"L".join(upper + lower[::-1])}Z">'
        f"<title>{escape(printable(name))} ({escape(shares)})</title></path>"
    )
    if values[thick] * (HEIGHT - TOP - BOTTOM) >= LEAST_BAND:
        x = float(np.clip(xs[thick], LEFT + 12, WIDTH - RIGHT - 12))
        y = _height(float(base[thick] + top[thick]) / 2) + 4
        mark += f'<text class="in" x="{x:.1f}" y="{y:.1f}" text-anchor="middle">{number}</text>'
    return mark


def _height(part: float) -> float:
    return HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM)


def _short(label: str) -> str:
    plain = printable(label)
    return plain if len(plain) <= 12 else f"{plain[:11]}…"
