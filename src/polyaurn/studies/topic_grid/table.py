"""The table of a topic grid: a row for each number of topics, in full and as it is shown."""

from typing import Any

from polyaurn.studies.topic_grid.setting import COMPLETION

LITERATURE = {
    "arun_2010": ("Arun 2010", 3),
    "cao_juan_2009": ("Cao Juan 2009", 4),
    "mimno_2011": ("Mimno 2011", 2),
    "griffiths_2004": ("Griffiths 2004", 0),
}
_COLUMNS = {
    "held_out": ("held-out", 4),
    "completion": ("completion", 4),
    "coherence_npmi": ("NPMI", 3),
    "diversity": ("diversity", 3),
    "stability": ("stability", 3),
    "seconds": ("seconds", 1),
}


def columns(found: dict[str, Any]) -> dict[str, tuple[str, int]]:
    """Return the measures that are shown, with the title and decimals of each.

    Completion is not shown twice where it is the held-out score, and neither of them where no
    document is held out.
    """
    left_out = {"completion"} if found["scoring"]["score"] == COMPLETION else set()
    if not found["corpus"]["test_documents"]:
        left_out |= {"held_out", "completion"}
    return {name: column for name, column in _COLUMNS.items() if name not in left_out}


def in_brief(row: dict[str, Any], name: str, *, between: str = " &plusmn; ") -> str:
    """Return the mean and the spread of a measure as they are shown; a dash where there is none."""
    value, decimals = row[name], (_COLUMNS | LITERATURE)[name][1]
    if value is None:
        return "–"
    text = f"{value['mean']:,.{decimals}f}"
    return text if value["spread"] is None else f"{text}{between}{value['spread']:,.{decimals}f}"


def behind_in_brief(row: dict[str, Any], *, between: str = " &plusmn; ") -> str:
    """Return how far a held-out score is below the best, with its standard error."""
    behind = row["behind_best"]
    if behind is None:
        return "–"
    if not behind["mean"] and not behind["error"]:
        return "best"
    error = "" if behind["error"] is None else f"{between}{behind['error']:,.4f}"
    return f"{behind['mean']:,.4f}{error}"


def table(found: dict[str, Any]) -> list[list[Any]]:
    """Return the table as rows of values, the first one names; means, and spreads beside them.

    The suggestion is in the row of the number that it suggests, or of the best where it suggests
    none.
    """
    names = [*_COLUMNS, "train_seconds", *LITERATURE]
    rows: list[list[Any]] = [
        [
            "topics", "seeds", *(name + end for name in names for end in ("", "_spread")),
            "behind_best", "behind_best_error", "suggestion",
        ]
    ]  # fmt: skip
    suggested = found["suggestion"]
    chosen = suggested["topics"] or suggested["best"] or found["topics"][0]["topics"]
    for row in found["topics"]:
        values = [row[name] or {"mean": None, "spread": None} for name in names]
        pairs = [number for value in values for number in (value["mean"], value["spread"])]
        behind = row["behind_best"] or {"mean": None, "error": None}
        said = suggested["sentence"] if row["topics"] == chosen else None
        rows.append([row["topics"], row["seeds"], *pairs, behind["mean"], behind["error"], said])
    return rows
