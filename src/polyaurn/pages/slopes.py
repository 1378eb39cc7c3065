"""A slope chart as SVG: the size of each topic before and after, as a line between two columns."""

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

WIDTH, TOP, BOTTOM = 820, 48, 16
LEFT, RIGHT = 300, 520  # of the two columns
GAP = 17  # between labels
LETTERS = 30  # of a label
STYLE = """
.slopes { overflow-x: auto; } .slopes svg { min-width: 640px; max-width: 820px; }
.slopes .grew, .slopes .new { color: var(--up); } .slopes .shrank, .slopes .died {
  color: var(--down); } .slopes .moved { color: var(--moved); }
.slopes .same { color: var(--faint); }
"""


class Slope(NamedTuple):
    """One line: labels and sizes at both ends, None where there is no end, and its kind."""

    label_before: str
    label_after: str
    before: float | None
    after: float | None
    kind: str


def slope_chart(slopes: Sequence[Slope], titles: tuple[str, str]) -> str:
    """Draw lines from sizes before to sizes after, with labels that do not overlap."""
    sizes = [v for s in slopes for v in (s.before, s.after) if v is not None]
    height = TOP + BOTTOM + GAP * max(12, len(slopes))
    low, scale = height - BOTTOM, (height - TOP - BOTTOM) / max([*sizes, 1e-9])
    marks = [
        f'<text x="{x}" y="20" text-anchor="{side}" font-weight="600">{escape(title)}</text>'
        for x, side, title in zip((LEFT, RIGHT), ("end", "start"), titles, strict=True)
    ]
    ends = [[(low - scale * v if v is not None else None) for v in (s.before, s.after)]
            for s in slopes]  # fmt: skip
    texts = [_spread([end[side] for end in ends], low) for side in (0, 1)]
    for place, (slope, (a, b)) in enumerate(zip(slopes, ends, strict=True)):
        said = f"{slope.label_after or slope.label_before}: {_size(slope.before)}, then "
        marks.append(
            f'<g class="{escape(slope.kind)}"><title>{escape(said + _size(slope.after))}</title>'
        )
        if a is not None and b is not None:
            marks.append(
                f'<path d="M{LEFT} {a:.1f}L{RIGHT} {b:.1f}" fill="none" stroke-width="2"/>'
            )
        for side, (x, y) in enumerate(((LEFT, a), (RIGHT, b))):
            at = texts[side][place]
            if y is None or at is None:
                continue
            out, anchor = (-1, "end") if side == 0 else (1, "start")
            label = slope.label_before if side == 0 else slope.label_after
            size = slope.before if side == 0 else slope.after
            marks.append(
                f'<circle cx="{x}" cy="{y:.1f}" r="3.5" stroke="none" fill="currentColor"/>'
                f'<path d="M{x + 6 * out} {y:.1f}L{x + 18 * out} {at:.1f}" fill="none" '
                f'stroke-width="1" opacity=".5"/>'
                f'<text x="{x + 22 * out}" y="{at + 4:.1f}" text-anchor="{anchor}" '
                f'stroke="none">{escape(_text(label, size, side))}</text>'
            )
        marks.append("</g>")
    return (
        '<div class="slopes" tabindex="0" role="region" aria-label="Sizes">'
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" '
        'aria-label="Sizes of topics before and after" font-family="system-ui, sans-serif" '
        f'font-size="12.5" fill="currentColor" stroke="currentColor" stroke-width="0">'
        f"{''.join(marks)}</svg></div>"
    )


def _text(label: str, size: float | None, side: int) -> str:
    short = label if len(label) <= LETTERS else label[: LETTERS - 1] + "…"
    return f"{short}  {_size(size)}" if side == 0 else f"{_size(size)}  {short}"


def _size(size: float | None) -> str:
    return "not there" if size is None else f"{size:.1%}"


def _spread(places: Sequence[float | None], low: float) -> list[float | None]:
    """Return places for labels, near those given, at least `GAP` apart and inside the chart."""
    order = sorted((y, i) for i, y in enumerate(places) if y is not None)
    groups: list[tuple[float, int]] = []  # where the first label of each is, and how many it has
    for y, _ in order:
        first, many = y, 1
        while groups and groups[-1][0] + GAP * groups[-1][1] > first:
            above, n = groups.pop()
            first = (above * n + (first - GAP * n) * many) / (n + many)
            many += n
        first = min(max(first, TOP), max(TOP, low - GAP * (many - 1)))
        groups.append((first, many))
    found: list[float | None] = [None] * len(places)
    spread = [first + GAP * n for first, many in groups for n in range(many)]
    for at, (_, i) in zip(_apart(spread), order, strict=True):
        found[i] = at
    return found


def _apart(places: list[float]) -> list[float]:
    """Return places of which none is nearer than `GAP` to the one above it."""
    for i in range(1, len(places)):
        places[i] = max(places[i], places[i - 1] + GAP)
    return places
