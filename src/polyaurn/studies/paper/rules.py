"""The rules by which claims are judged, on the data of the figures.

A rule returns what was measured, in words, and whether it agrees with the claim; None where nothing
was measured. What is near enough is our choice, the same for all runs; the paper gives no numbers.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from polyaurn.studies.paper.plan import URN

NEARLY = 1.25  # a quotient up to this, either way, is "nearly identical"
IDENTICAL = 0.02  # of the climb: curves this near look identical
PHI_FACTORS = (4.0, 8.0)
Z_REDUCTION = (0.1, 0.3)  # around the paper's 20%
SIMILAR_LIKELIHOOD, SIMILAR_COHERENCE = 0.005, 0.05  # of the level
LINEAR = 0.7  # efficiency at the most cores
LARGER = 1.05  # a ratio at one end over that at the other
COUNT = 0.05  # counted work against the sum of minima
ROOT = -0.4  # a power at most this is a fall like one over the root, or faster
SHORTER = 0.1  # a share of tokens that is substantial
UNTOUCHED = 0.2  # effective sizes this near are the same

Data = dict[str, Any]
Judged = tuple[str, bool] | None
Rule = Callable[[Data], Judged]


def _everywhere(
    rows: list[Data], shown: Callable[[Data], str], holds: Callable[[Data], bool]
) -> Judged:
    """Judge whether a condition holds in all rows; list values by corpus and number of topics."""
    if not rows:
        return None
    measured = "; ".join(f"{r['corpus']}, K = {r['topics']:,}: {shown(r)}" for r in rows)
    return measured, all(map(holds, rows))


def _times(ratio: float, digits: int = 2) -> str:
    return f"{ratio:.{digits}f} times"


def _few_and_many(rows: list[Data]) -> tuple[list[Data], list[Data]]:
    """Split rows into those with the fewest topics and the others."""
    fewest = min((r["topics"] for r in rows), default=0)
    return ([r for r in rows if r["topics"] == fewest], [r for r in rows if r["topics"] > fewest])


def faster(data: Data) -> Judged:
    """Judge whether the urn is faster with all but the fewest topics."""
    _, rows = _few_and_many(data["rows"])
    return _everywhere(rows, lambda r: _times(r["time_ratio"]), lambda r: r["time_ratio"] > 1.0)


def same_at_few(data: Data) -> Judged:
    """Judge whether times are nearly the same with the fewest topics."""
    rows, _ = _few_and_many(data["rows"])
    return _everywhere(
        rows, lambda r: _times(r["time_ratio"]), lambda r: 1.0 / NEARLY <= r["time_ratio"] <= NEARLY
    )


def identical(data: Data) -> Judged:
    """Judge whether traces by iteration coincide."""
    return _everywhere(data["rows"], lambda r: f"{r['gap']:.1%}", lambda r: r["gap"] <= IDENTICAL)


def phi_factor(data: Data) -> Judged:
    """Judge whether Phi is four to eight times faster."""
    low, high = PHI_FACTORS
    factors = [1.0 / r["phi_ratio"] for r in data["rows"]]
    judged = _everywhere(
        data["rows"], lambda r: _times(1 / r["phi_ratio"], 1),
        lambda r: low <= 1.0 / r["phi_ratio"] <= high,
    )  # fmt: skip
    if judged is not None and min(factors) >= low and max(factors) > high:
        return f"{judged[0]}; never less than four times, but more than eight", judged[1]
    return judged


def _by_corpus(rows: list[Data]) -> dict[str, list[Data]]:
    """Return the rows of each corpus with several numbers of topics, in their order."""
    found: dict[str, list[Data]] = {}
    for row in sorted(rows, key=lambda r: int(r["topics"])):
        found.setdefault(row["corpus"], []).append(row)
    return {corpus: mine for corpus, mine in found.items() if len(mine) > 1}


def _in_corpora(
    data: Data, shown: Callable[[Data], str], holds: Callable[[list[Data]], bool]
) -> Judged:
    """Judge whether a condition on the rows of a corpus holds in all corpora."""
    corpora = _by_corpus(data["rows"])
    judged = _everywhere([r for rows in corpora.values() for r in rows], shown, lambda r: True)
    return judged and (judged[0], all(map(holds, corpora.values())))


def z_gains(data: Data) -> Judged:
    """Judge whether z gains with every step of K."""
    return _in_corpora(
        data, lambda r: _times(1 / r["z_ratio"]),
        lambda rows: all(a["z_ratio"] > b["z_ratio"] for a, b in pairwise(rows)),
    )  # fmt: skip


def z_reduction(data: Data) -> Judged:
    """Judge whether z gains about a fifth from K = 100 to K = 1000."""
    cuts = {}
    for corpus, rows in _by_corpus(data["rows"]).items():
        z = {r["topics"]: r["z_ratio"] for r in rows}
        if 100 in z and 1000 in z:
            cuts[corpus] = 1.0 - z[1000] / z[100]
    if not cuts:
        return None
    low, high = Z_REDUCTION
    measured = "; ".join(f"{corpus}: {cut:.0%}" for corpus, cut in cuts.items())
    return measured, low <= max(cuts.values()) <= high


def sparser(data: Data) -> Judged:
    """Judge whether Phi has a smaller share of nonzeros with more topics."""
    return _in_corpora(
        data, lambda r: f"{r['nonzero_share']:.2%} nonzero",
        lambda rows: rows[0]["nonzero_share"] > rows[-1]["nonzero_share"],
    )  # fmt: skip


def first_of_four(data: Data) -> Judged:
    """Judge whether the urn is the first at the common level."""
    names = ("urn", "partially collapsed", "sparse AD-LDA", "Light AD-LDA")
    whole = [r for r in data["rows"] if all(n in r["samplers"] for n in names)]
    if not whole:
        return None
    first, parts = True, []
    for row in whole:
        times = {n: row["samplers"][n]["seconds_to_level"] for n in names}
        reached = {n: t for n, t in times.items() if t is not None}
        best = min(reached, key=lambda n: float(reached[n]))
        first = first and best == "urn"
        listed = ", ".join(f"{n} {t:.2f} s" for n, t in reached.items())
        parts.append(f"K = {row['topics']:,}: {listed}")
    return "; ".join(parts), first


def similar(measure: str, most: float) -> Rule:
    """Return a rule: means of a measure differ by at most so much of the level."""

    def shown(row: Data) -> str:
        p = row[measure]["p"]
        return f"{row[measure]['difference']:+.2%}" + ("" if p is None else f" (Welch's p {p:.3f})")

    def judge(data: Data) -> Judged:
        rows = [r for r in data["rows"] if r[measure] is not None]
        return _everywhere(rows, shown, lambda r: abs(r[measure]["difference"]) <= most)

    return judge


def faster_on_one_core(other: str) -> Rule:
    """Return a rule: on one core the urn's sweeps take less time than another's."""

    def ratio(row: Data) -> float:
        return float(row["samplers"][other] / row["samplers"][URN])

    def judge(data: Data) -> Judged:
        rows = [r for r in data["single"] if {URN, other} <= r["samplers"].keys()]
        return _everywhere(rows, lambda r: _times(ratio(r)), lambda r: ratio(r) > 1.0)

    return judge


def linear(data: Data) -> Judged:
    """Judge whether cores are used well."""
    return _everywhere(
        [r for r in data["scaling"] if r["efficiency"] and len(r["cores"]) > 1],
        lambda r: (
            f"{r['speedup'][-1]:.2f} times with {r['cores'][-1]} cores ({r['efficiency'][-1]:.0%})"
        ),
        lambda r: r["efficiency"][-1] >= LINEAR,
    )


def gains(question: str, *, large_last: bool) -> Rule:
    """Return a rule: the urn gains more at one end of a question."""

    def judge(data: Data) -> Judged:
        rows = data[question]
        if len(rows) < 2:
            return None
        low, high = rows[0]["ratio"], rows[-1]["ratio"]
        measured = (
            f"{low:.2f} times at {rows[0]['value']:,}, {high:.2f} times at {rows[-1]['value']:,}"
        )
        return measured, (high / low if large_last else low / high) >= LARGER

    return judge


def converges(data: Data) -> Judged:
    """Judge whether the urn approaches the Dirichlet as fast as conjectured."""
    slopes = data["slopes"]
    if not slopes:
        return None
    measured = "; ".join(f"{name}: w^{slope:.2f}" for name, slope in slopes.items())
    return measured, all(slope <= ROOT for slope in slopes.values())


def uncollapsed_wins(data: Data) -> Judged:
    """Judge whether the uncollapsed sampler wins, and by more with rho."""
    rows = data["appendix"]
    if not rows:
        return None
    factors = [r["uncollapsed"] / r["collapsed"] for r in rows]
    sizes = [r["uncollapsed"] for r in rows]
    measured = "; ".join(
        f"rho = {r['rho']}: {factor:,.0f} times" for r, factor in zip(rows, factors, strict=True)
    )
    grows = all(a < b for a, b in pairwise(factors))
    return measured, grows and factors[0] > 1.0 and min(sizes) >= (1.0 - UNTOUCHED) * max(sizes)


def work_counted(data: Data) -> Judged:
    """Judge whether counted work is the sum of minima."""
    return _everywhere(
        data["rows"], lambda r: f"{r['counted']:.1f} counted, {r['minimum']:.1f} expected",
        lambda r: abs(r["counted"] / r["minimum"] - 1.0) <= COUNT,
    )  # fmt: skip


def time_follows(data: Data) -> Judged:
    """Judge whether the time of z grows no faster than the work."""
    power = data["time_power"]
    return None if power is None else (f"work to the power {power:.2f}", power <= LARGER)


def words_shorter(data: Data) -> Judged:
    """Judge whether many words have fewer topics than their documents, at the largest K."""
    rows = data["rows"]
    largest = max(rows, key=lambda r: int(r["topics"]), default=None)
    return _everywhere(
        rows, lambda r: f"{r['shorter']:.0%}",
        lambda r: r is not largest or r["shorter"] >= SHORTER,
    )  # fmt: skip
