"""What pages share: their frame, style, rows of charts and cells of tables."""

from collections.abc import Iterable

from polyaurn.pages import charts

STYLE = (
    """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 1300px; margin: 2em auto;
  padding: 0 1.2em; }
h1 { font-size: 1.5em; margin-bottom: .2em; } h2 { font-size: 1.15em; margin-top: 2em; }
.charts { display: flex; flex-wrap: wrap; gap: 1em; margin-top: 1em; }
.charts > * { flex: 1 1 480px; }
table { border-collapse: collapse; } td, th { padding: .3em .9em .3em 0; text-align: right; }
th { border-bottom: 1px solid #999; font-weight: 600; } td { border-bottom: 1px solid #eee; }
td:first-child, th:first-child, td.words, td.law, th.law { text-align: left; }
.best { font-weight: 700; } .small { color: #666; font-size: .9em; }
"""
    + charts.STYLE
)


_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>{style}</style></head><body><main>
<h1>{title}</h1>
{body}
</main></body></html>
"""


def page(title: str, body: str, style: str = "") -> str:
    """Return a whole page, in the common style and one of its own."""
    return _PAGE.format(title=title, body=body, style=STYLE + style)


def charts_in_a_row(svgs: Iterable[str]) -> str:
    """Return charts side by side, in as many rows as the page needs."""
    return f'<div class="charts">{"".join(f"<div>{svg}</div>" for svg in svgs)}</div>'


def wide(table: str, label: str) -> str:
    """Return a table that scrolls by itself where it is too wide, by keyboard, too."""
    return f'<div class="wide" tabindex="0" role="region" aria-label="{label}">{table}</div>'


def cell(value: float | None, form: str, unit: float | None = None) -> str:
    """Return a cell of a table; a dash where there is no value."""
    if value is None:
        return "<td>&ndash;</td>"
    return f"<td>{form.format(value if unit is None else value / unit)}</td>"
