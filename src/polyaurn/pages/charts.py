"""Line charts as SVG, for pages that work offline and need no plotting library."""

import math
from collections.abc import Mapping, Sequence
from html import escape
from zlib import crc32

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
WIDTH, HEIGHT = 620, 380
LEFT, RIGHT, TOP, BOTTOM = 76, 16, 34, 48
LABEL_WIDTH = 34
KEY_HEIGHT = 20

Points = Sequence[tuple[float, float]]


def line_chart(
    series: Mapping[str, Points],
    *,
    title: str,
    x_label: str,
    y_label: str,
    y_from: float | None = None,
    points: Points = (),
    band: Sequence[tuple[float, float, float]] = (),
    level: float | None = None,
    log_x: bool = False,
    key: bool = False,
) -> str:
    """Draw lines through points (x, y), by the name of each line, as an ``<svg>`` element.

    Without `y_from`, where the y axis begins, everything is shown. `points` are drawn as rings.
    `band` is a shaded area between a low and a high y at each x, and `level` a dashed line. With
    `log_x` the x axis is logarithmic, with numbers where there are points. With `key` the
    names of the lines are below, so that the chart needs no legend.
    """
    edges = [(x, low) for x, low, _ in band], [(x, high) for x, _, high in reversed(band)]
    shown = [point for line in (*series.values(), points, *edges) for point in line]
    xs, ys = [x for x, _ in shown] or [0.0, 1.0], [y for _, y in shown] or [0.0, 1.0]
    inset = 12 if points else 0  # so that rings at the edges are visible
    x_axis = (
        _LogAxis(xs, LEFT + inset, WIDTH - RIGHT - inset)
        if log_x and shown
        else _Axis(min(0.0, *xs), max(xs), LEFT, WIDTH - RIGHT - inset)
    )
    y_axis = _Axis(
        min(ys) if y_from is None else y_from, max(ys), HEIGHT - BOTTOM - inset, TOP + inset
    )
    marks = [f'<text font-weight="600" font-size="14" x="{LEFT}" y="20">{escape(title)}</text>']
    for x, label in x_axis.ticks():
        at = x_axis.place(x)
        marks.append(f'<path fill="none" stroke="#e3e3e3" d="M{at:.1f} {TOP}V{HEIGHT - BOTTOM}"/>')
        marks.append(
            f'<text x="{at:.1f}" y="{HEIGHT - BOTTOM + 17}" text-anchor="middle">{label}</text>'
        )
    for y, label in y_axis.ticks():
        at = y_axis.place(y)
        marks.append(f'<path fill="none" stroke="#e3e3e3" d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}"/>')
        marks.append(f'<text x="{LEFT - 7}" y="{at + 4:.1f}" text-anchor="end">{label}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    marks.append(
        f'<text x="{middle}" y="{HEIGHT - 10}" text-anchor="middle">{escape(x_label)}</text>'
    )
    across = (TOP + HEIGHT - BOTTOM) / 2
    marks.append(
        f'<text transform="translate(16 {across}) rotate(-90)" text-anchor="middle">'
        f"{escape(y_label)}</text>"
    )
    clip = f"clip-{crc32((title + x_label).encode())}"
    marks.append(
        f'<clipPath id="{clip}"><rect x="{LEFT}" y="{TOP}" width="{WIDTH - LEFT - RIGHT}" '
        f'height="{HEIGHT - TOP - BOTTOM}"/></clipPath><g clip-path="url(#{clip})">'
    )
    if band:
        around = (f"{x_axis.place(x):.1f} {y_axis.place(y):.1f}" for x, y in edges[0] + edges[1])
        marks.append(f'<path fill="{COLOURS[0]}" fill-opacity=".18" d="M{"L".join(around)}Z"/>')
    if level is not None:
        at = y_axis.place(level)
        marks.append(
            f'<path fill="none" stroke="#777" stroke-dasharray="5 4" d="M{LEFT} {at:.1f}'
            f'H{WIDTH - RIGHT}"/>'
        )
    for (name, line), colour in zip(series.items(), _colours(len(series)), strict=True):
        path = "L".join(f"{x_axis.place(x):.1f} {y_axis.place(y):.1f}" for x, y in line)
        if path:
            marks.append(
                f'<path fill="none" stroke="{colour}" stroke-width="2" d="M{path}">'
                f"<title>{escape(name)}</title></path>"
            )
    for x, y in points:
        marks.append(
            f'<circle cx="{x_axis.place(x):.1f}" cy="{y_axis.place(y):.1f}" r="3.5" fill="none" '
            f'stroke="#555"><title>{x:g}: {y:.4f}</title></circle>'
        )
    marks.append("</g>")
    height = HEIGHT
    if key:
        names = _names(list(series))
        marks.append(names[0])
        height += names[1]
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}" '
        'font-family="system-ui, sans-serif" font-size="12" fill="#333">'
        + "".join(marks)
        + "</svg>"
    )


def _names(names: list[str]) -> tuple[str, int]:
    """Return the names of lines as SVG below a chart, and the height they take."""
    marks, x, row = [], LEFT, 0
    for name, colour in zip(names, _colours(len(names)), strict=True):
        width = 40 + 7 * len(name)
        if x > LEFT and x + width > WIDTH:
            x, row = LEFT, row + 1
        y = HEIGHT + 8 + KEY_HEIGHT * row
        marks.append(
            f'<path stroke="{colour}" stroke-width="3" d="M{x} {y - 4}h20"/>'
            f'<text x="{x + 26}" y="{y}">{escape(name)}</text>'
        )
        x += width
    return "".join(marks), KEY_HEIGHT * (row + 1)


def legend(names: Sequence[str]) -> str:
    """Return the names of lines beside their colours, as HTML."""
    return "".join(
        f'<span class="key"><i style="background:{colour}"></i>{escape(name)}</span>'
        for name, colour in zip(names, _colours(len(names)), strict=True)
    )


STYLE = """
svg { width: 100%; max-width: 620px; height: auto; }
.key { margin-right: 1.2em; white-space: nowrap; }
.key i { display: inline-block; width: 1.4em; height: 3px; margin-right: .4em; }
.key i { vertical-align: middle; }
"""


class _Axis:
    """Maps numbers to coordinates."""

    def __init__(self, low: float, high: float, begin: float, end: float) -> None:
        if not high > low:
            low, high = low - 0.5, high + 0.5
        self.low, self.high, self.begin, self.end = low, high, begin, end

    def place(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return self.begin + share * (self.end - self.begin)

    def ticks(self) -> list[tuple[float, str]]:
        """Return about six round numbers, and their labels."""
        rough = (self.high - self.low) / 6
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(power * f for f in (1, 2, 5, 10) if power * f >= rough)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        decimals = max(0, -math.floor(math.log10(step) + 1e-9))
        return [(i * step, f"{i * step:,.{decimals}f}") for i in range(first, last + 1)]


class _LogAxis(_Axis):
    """Maps positive numbers to coordinates, by their logarithms."""

    def __init__(self, values: Sequence[float], begin: float, end: float) -> None:
        super().__init__(math.log(min(values)), math.log(max(values)), begin, end)
        self._values = sorted(set(values))

    def place(self, value: float) -> float:
        return super().place(math.log(value))

    def ticks(self) -> list[tuple[float, str]]:
        """Return the numbers themselves, except those whose labels would overlap."""
        chosen: list[tuple[float, str]] = []
        for value in self._values:
            if not chosen or self.place(value) - self.place(chosen[-1][0]) > LABEL_WIDTH:
                chosen.append((value, f"{value:,g}"))
        return chosen


def _colours(n: int) -> list[str]:
    return [COLOURS[i % len(COLOURS)] for i in range(n)]
