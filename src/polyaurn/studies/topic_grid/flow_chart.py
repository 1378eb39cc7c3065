"""Topics of neighbouring numbers side by side, as one SVG picture and as tables."""

from html import escape
from itertools import pairwise
from typing import Any

from polyaurn.base.printable import printable
from polyaurn.pages.charts import COLOURS
from polyaurn.pages.parts import wide
from polyaurn.studies.topic_grid.flows import MERGES, MIXES, SPLITS, STAYS

LEAST_WIDTH, PAGE_WIDTH, BAR, HEAD = 220, 1080, 12, 26
LEAST_HEIGHT, MOST_HEIGHT, PER_TOPIC = 340, 2000, 13
MOST_GAP, LABEL_HEIGHT = 14.0, 11.0  # pixels
SHOWN_WORDS = 3  # beside a bar
MOST_TOPICS = 1000  # in the picture
_COLOURS = COLOURS[:-1]
STYLE = """
.flows { overflow-x: auto; } .flows svg { max-width: none; }
.flows path { fill-opacity: .3; } .flows path:hover { fill-opacity: .7; }
.flows text { font-size: 11px; } .flows .number { font-weight: 600; font-size: 13px; }
details { margin: .4em 0; } summary { cursor: pointer; }
details td, details th { text-align: left; vertical-align: top; }
.wide { overflow-x: auto; }
"""
_WORDS = {STAYS: ("stays", "stay"), SPLITS: ("splits", "split"), MERGES: ("merges", "merge"),
          MIXES: ("splits and merges", "do both")}  # fmt: skip

Bars = list[tuple[float, float]]  # top and height of each topic


def flow_chart(flows: dict[str, Any]) -> str:
    """Draw the topics of each number as a column of bars, and flows of tokens between columns."""
    columns, steps = flows["topics"], flows["steps"]
    most = max(column["topics"] for column in columns)
    if not steps or most > MOST_TOPICS:
        return ""
    height = min(MOST_HEIGHT, max(LEAST_HEIGHT, PER_TOPIC * most))
    total = max(1, *(sum(column["tokens"]) for column in columns))
    scale = 0.75 * height / total
    orders = _orders(columns, steps)
    bars = [
        _place(column["tokens"], order, scale, height)
        for column, order in zip(columns, orders, strict=True)
    ]
    colours = _colours(columns, steps, orders)
    pitch = max(LEAST_WIDTH, PAGE_WIDTH // len(columns))
    marks: list[str] = []
    for i, step in enumerate(steps):
        marks += _ribbons(step, i, columns, bars, orders, colours, scale, pitch)
    for i, column in enumerate(columns):
        marks += _column(column, i * pitch, bars[i], colours[i])
    numbers = ", ".join(str(column["topics"]) for column in columns)
    width = pitch * len(columns)
    return (
        '<div class="flows" tabindex="0" role="region" aria-label="Picture of the topics">'
        f'<svg viewBox="0 0 {width} {height + HEAD + 8}" role="img" style="width:{width}px" '
        f'aria-label="Topics of models with {numbers} topics side by side; the tables below say '
        'the same" font-family="system-ui, sans-serif" fill="#333">'
        + "".join(marks)
        + "</svg></div>"
    )


def _orders(columns: list[dict[str, Any]], steps: list[dict[str, Any]]) -> list[list[int]]:
    """Return the topics of each column from top to bottom, so that flows cross little."""
    first = columns[0]["tokens"]
    orders = [sorted(range(len(first)), key=lambda k: (-first[k], k))]
    for step, column in zip(steps, columns[1:], strict=True):
        rank = {k: i for i, k in enumerate(orders[-1])}
        weight, at = [0.0] * len(column["tokens"]), [0.0] * len(column["tokens"])
        for topic in step["topics"]:
            for flow in topic["to"]:
                weight[flow["topic"]] += flow["tokens"]
                at[flow["topic"]] += flow["tokens"] * rank[topic["topic"]]
        centre = [a / w if w else float(len(rank)) for a, w in zip(at, weight, strict=True)]
        orders.append(sorted(range(len(centre)), key=centre.__getitem__))
    return orders


def _place(tokens: list[int], order: list[int], scale: float, height: float) -> Bars:
    """Return the top and the height of each topic's bar."""
    heights = [max(1.0, n * scale) for n in tokens]
    room = height - sum(heights)
    gap = max(0.0, min(MOST_GAP, room / max(1, len(order) - 1)))
    y = HEAD + max(0.0, room - gap * (len(order) - 1)) / 2
    bars: Bars = [(0.0, 0.0)] * len(order)
    for k in order:
        bars[k] = (y, heights[k])
        y += heights[k] + gap
    return bars


def _colours(
    columns: list[dict[str, Any]], steps: list[dict[str, Any]], orders: list[list[int]]
) -> list[list[str]]:
    """Return a colour for each topic: that of the topic from which most of its tokens come."""
    first = [""] * len(orders[0])
    for i, k in enumerate(orders[0]):
        first[k] = _COLOURS[i % len(_COLOURS)]
    found = [first]
    for step, column in zip(steps, columns[1:], strict=True):
        from_ = [(-1, 0)] * len(column["tokens"])
        for topic in step["topics"]:
            for flow in topic["to"]:
                m = flow["topic"]
                from_[m] = max(from_[m], (flow["tokens"], -topic["topic"]))
        found.append([found[-1][-k] if n >= 0 else "#999" for n, k in from_])
    return found


def _ribbons(
    step: dict[str, Any],
    i: int,
    columns: list[dict[str, Any]],
    bars: list[Bars],
    orders: list[list[int]],
    colours: list[list[str]],
    scale: float,
    pitch: int,
) -> list[str]:
    """Draw the flows of a step, from each bar's top downwards in the order of the other column."""
    flows = {
        (topic["topic"], flow["topic"]): flow for topic in step["topics"] for flow in topic["to"]
    }
    rank = {m: place for place, m in enumerate(orders[i + 1])}
    leaving, arriving = [top for top, _ in bars[i]], [top for top, _ in bars[i + 1]]
    left, right = i * pitch + BAR, (i + 1) * pitch
    middle = (left + right) / 2
    marks = []
    for k in orders[i]:
        for m in sorted((m for j, m in flows if j == k), key=rank.__getitem__):
            flow = flows[k, m]
            a, b, h = leaving[k], arriving[m], max(0.5, flow["tokens"] * scale)
            leaving[k] += h
            arriving[m] += h
            said = (
                f"topic {k} of {step['from']:,} ({_words(columns[i], k)}) to topic {m} of "
                f"{step['to']:,} ({_words(columns[i + 1], m)}): {flow['share']:.0%} of its tokens, "
                f"likeness {flow['likeness']:.2f}"
            )
            marks.append(
                f'<path fill="{colours[i][k]}" d="M{left} {a:.1f}C{middle:g} {a:.1f} {middle:g} '
                f"{b:.1f} {right} {b:.1f}V{b + h:.1f}C{middle:g} {b + h:.1f} {middle:g} "
                f'{a + h:.1f} {left} {a + h:.1f}Z"><title>{said}</title></path>'
            )
    return marks


def _column(column: dict[str, Any], x: float, bars: Bars, colours: list[str]) -> list[str]:
    marks = [f'<text class="number" x="{x}" y="14">{column["topics"]:,} topics</text>']
    tops = sorted(top for top, _ in bars)
    pitch = min((b - a for a, b in pairwise(tops)), default=LABEL_HEIGHT)
    last = -LABEL_HEIGHT
    for k in sorted(range(len(bars)), key=lambda k: bars[k][0]):
        top, height = bars[k]
        size = f"{column['tokens'][k]:,} tokens"
        said = f"topic {k} of {column['topics']:,}: {_words(column, k)}; {size}"
        marks.append(
            f'<rect x="{x}" y="{top:.1f}" width="{BAR}" height="{height:.1f}" '
            f'fill="{colours[k]}"><title>{said}</title></rect>'
        )
        middle = top + height / 2
        if pitch >= LABEL_HEIGHT or middle - last >= LABEL_HEIGHT:  # labels do not overlap
            marks.append(
                f'<text x="{x + BAR + 4}" y="{middle + 4:.1f}">'
                f"{_words(column, k, SHOWN_WORDS)}<title>{said}</title></text>"
            )
            last = middle
    return marks


def _words(column: dict[str, Any], k: int, most: int | None = None) -> str:
    words = ", ".join(printable(word) for word in column["words"][k][:most])
    return escape(words) or "no tokens"


def flow_tables(flows: dict[str, Any]) -> str:
    """Return for each step a table of what becomes of its topics, folded under its summary."""
    columns = {column["topics"]: column for column in flows["topics"]}
    return "".join(_table(step, columns) for step in flows["steps"])


def _table(step: dict[str, Any], columns: dict[int, dict[str, Any]]) -> str:
    smaller, larger = columns[step["from"]], columns[step["to"]]
    rows = []
    for topic in step["topics"]:
        to = "<br>".join(
            f"topic {flow['topic']}: {_words(larger, flow['topic'], 6)} "
            f"({flow['share']:.0%}, likeness {flow['likeness']:.2f})"
            for flow in topic["to"]
        )
        k = topic["topic"]
        rows.append(
            f"<tr><td>{k}</td><td>{_words(smaller, k)}</td><td>{_WORDS[topic['what']][0]}</td>"
            f"<td>{to or '&ndash;'}</td></tr>"
        )
    table = (
        f"<table><tr><th>topic of {step['from']:,}</th><th>its words</th>"
        "<th>what becomes of it</th>"
        f"<th>topics of {step['to']:,} that take its tokens</th></tr>{''.join(rows)}</table>"
    )
    label = f"From {step['from']:,} to {step['to']:,} topics"
    return f"<details><summary>{step_in_words(step)}</summary>{wide(table, label)}</details>"


def step_in_words(step: dict[str, Any]) -> str:
    """Say how many topics stay, split and merge from one number to the next."""
    kinds = [topic["what"] for topic in step["topics"]]
    parts = [
        f"{kinds.count(kind):,} {words[kinds.count(kind) > 1]}"
        for kind, words in _WORDS.items()
        if kind in kinds
    ]
    return f"{step['from']:,} to {step['to']:,} topics: {', '.join(parts)}"
