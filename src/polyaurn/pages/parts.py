"""What pages share: their style, and cells of tables."""

from polyaurn.pages import charts

STYLE = (
    """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 1300px; margin: 2em auto;
  padding: 0 1.2em; }
h1 { font-size: 1.5em; margin-bottom: .2em; } h2 { font-size: 1.15em; margin-top: 2em; }
.charts { display: flex; flex-wrap: wrap; gap: 1em; } .charts > * { flex: 1 1 480px; }
table { border-collapse: collapse; } td, th { padding: .3em .9em .3em 0; text-align: right; }
th { border-bottom: 1px solid #999; font-weight: 600; } td { border-bottom: 1px solid #eee; }
td:first-child, th:first-child, td.words, td.law, th.law { text-align: left; }
.best { font-weight: 700; } .small { color: #666; font-size: .9em; }
"""
    + charts.STYLE
)


def cell(value: float | None, form: str, unit: float | None = None) -> str:
    """Return a cell of a table; a dash where there is no value."""
    if value is None:
        return "<td>&ndash;</td>"
    return f"<td>{form.format(value if unit is None else value / unit)}</td>"
