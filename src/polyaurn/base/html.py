"""Small tables of HTML for notebooks: escaped, without scripts, in the colours of the page."""

from collections.abc import Iterable, Sequence
from html import escape

from polyaurn.base.printable import printable

LEFT, RIGHT = "text-align:left;vertical-align:top", "text-align:right;vertical-align:top"
_BAR = "display:inline-block;height:.7em;background:currentColor;opacity:.4;width:{:.1f}em"
_WIDEST = 6.0  # em


class Markup(str):
    """HTML that is escaped already."""


def text(value: object, most: int = 60) -> Markup:
    """Return text from anywhere, cut and escaped; its direction does not change that of others."""
    said = printable(str(value))
    said = said if len(said) <= most else said[: most - 1] + "…"
    return Markup(f"<bdi>{escape(said)}</bdi>")


def words(several: Iterable[str]) -> Markup:
    """Return words in a row."""
    return Markup(", ".join(text(word, 30) for word in several))


def bar(part: float, label: str = "") -> Markup:
    """Return a bar of a length from 0 to 1, with a label behind it."""
    part = min(max(part, 0.0), 1.0) if part == part else 0.0  # NaN has no length
    drawn = f'<span style="{_BAR.format(_WIDEST * part)}"></span>'
    return Markup(f'<span style="white-space:nowrap">{drawn} {escape(label)}</span>')


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Markup:
    """Return a table; text is escaped, and numbers are at the right of their columns."""
    head = "".join(f'<th style="{LEFT}">{escape(name)}</th>' for name in columns)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return Markup(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")


def summary(title: str, facts: str, *parts: str) -> str:
    """Return a title and a line of facts, with further parts below."""
    first = f"<strong>{escape(title)}</strong> {escape(printable(facts))}"
    return f'<div class="polyaurn"><p>{first}</p>{"".join(parts)}</div>'


def note(sentence: str) -> Markup:
    """Return a sentence below a table."""
    return Markup(f'<p style="opacity:.75">{escape(sentence)}</p>')


def _cell(value: object) -> str:
    if isinstance(value, Markup):
        return f'<td style="{LEFT}">{value}</td>'
    if isinstance(value, int | float):
        return f'<td style="{RIGHT}">{value:,}</td>'
    return f'<td style="{LEFT}">{text(value)}</td>'
