"""The rules by which claims are judged, on the data of the figures.

A rule returns what was measured, in words, and whether it agrees; None means that there is nothing
to judge by. What is near enough is our choice, the same for all runs; the paper gives no numbers.
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
UNTOUCHED = 0.2  # effective sizes this near are the same

Data = dict[str, Any]
Judged = tuple[str, bool] | None
Rule = Callable[[Data], Judged]


def _at(rows: list[Data], value: Callable[[Data], str]) -> str:
    """List values by corpus and number of topics."""
    return "; ".join(f"{r['corpus']}, K = {r['topics']:,}: {value(r)}" for r in rows)


def _few_and_many(rows: list[Data]) -> tuple[list[Data], list[Data]]:
    """Part rows into those with the fewest topics and the others."""
    fewest = min((r["topics"] for r in rows), default=0)
    return ([r for r in rows if r["topics"] == fewest], [r for r in rows if r["topics"] > fewest])


def faster(data: Data) -> Judged:
    """Tell whether the urn is faster with all but the fewest topics."""
    _, rows = _few_and_many(data["rows"])
    if not rows:
        return None
    measured = _at(rows, lambda r: f"{r['time_ratio']:.2f} times")
    return measured, all(r["time_ratio"] > 1.0 for r in rows)


def same_at_few(data: Data) -> Judged:
    """Tell whether times are nearly the same with the fewest topics."""
    rows, _ = _few_and_many(data["rows"])
    if not rows:
        return None
    ratios = [r["time_ratio"] for r in rows]
    measured = _at(rows, lambda r: f"{r['time_ratio']:.2f} times")
    return measured, all(1.0 / NEARLY <= x <= NEARLY for x in ratios)


def identical(data: Data) -> Judged:
    """Tell whether traces by iteration lie on each other."""
    rows = data["rows"]
    if not rows:
        return None
    return _at(rows, lambda r: f"{r['gap']:.1%}"), all(r["gap"] <= IDENTICAL for r in rows)


def phi_factor(data: Data) -> Judged:
    """Tell whether Phi is four to eight times faster."""
    rows = data["rows"]
    if not rows:
        return None
    factors = [1.0 / r["phi_ratio"] for r in rows]
    low, high = PHI_FACTORS
    measured = _at(rows, lambda r: f"{1 / r['phi_ratio']:.1f} times")
    if min(factors) >= low and max(factors) > high:
        measured += "; never less than four times, but more than eight"
    return measured, low <= min(factors) and max(factors) <= high


def _by_corpus(rows: list[Data]) -> dict[str, list[Data]]:
    found: dict[str, list[Data]] = {}
    for row in sorted(rows, key=lambda r: int(r["topics"])):
        found.setdefault(row["corpus"], []).append(row)
    return {corpus: mine for corpus, mine in found.items() if len(mine) > 1}


def z_gains(data: Data) -> Judged:
    """Tell whether z gains with every step of K."""
    corpora = _by_corpus(data["rows"])
    if not corpora:
        return None
    measured = _at([r for rows in corpora.values() for r in rows],
                   lambda r: f"{1 / r['z_ratio']:.2f} times")  # fmt: skip
    falling = (
        before["z_ratio"] > after["z_ratio"]
        for rows in corpora.values() for before, after in pairwise(rows)
    )  # fmt: skip
    return measured, all(falling)


def z_reduction(data: Data) -> Judged:
    """Tell whether z gains about a fifth from K = 100 to K = 1000."""
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
    """Tell whether Phi has a smaller share of nonzeros with more topics."""
    corpora = _by_corpus(data["rows"])
    if not corpora:
        return None
    measured = _at([r for rows in corpora.values() for r in rows],
                   lambda r: f"{r['nonzero_share']:.2%} nonzero")  # fmt: skip
    return measured, all(
        rows[0]["nonzero_share"] > rows[-1]["nonzero_share"] for rows in corpora.values()
    )


def first_of_four(data: Data) -> Judged:
    """Tell whether the urn is the first at the common level."""
    names = ("urn", "partially collapsed", "sparse AD-LDA", "Light AD-LDA")
    whole = [r for r in data["rows"] if all(n in r["samplers"] for n in names)]
    if not whole:
        return None
    first, said = True, []
    for row in whole:
        times = {n: row["samplers"][n]["seconds_to_level"] for n in names}
        reached = {n: t for n, t in times.items() if t is not None}
        best = min(reached, key=lambda n: float(reached[n]))
        first = first and best == "urn"
        listed = ", ".join(f"{n} {t:.2f} s" for n, t in reached.items())
        said.append(f"K = {row['topics']:,}: {listed}")
    return "; ".join(said), first


def similar(measure: str, most: float) -> Rule:
    """Return a rule: means of a measure differ by at most so much of the level."""

    def judge(data: Data) -> Judged:
        rows = [r for r in data["rows"] if r[measure] is not None]
        if not rows:
            return None
        measured = _at(rows, lambda r: f"{r[measure]['difference']:+.2%}{_chance(r[measure]['p'])}")
        return measured, all(abs(r[measure]["difference"]) <= most for r in rows)

    return judge


def _chance(p: float | None) -> str:
    return "" if p is None else f" (Welch's p {p:.3f})"


def faster_alone(other: str) -> Rule:
    """Return a rule: on one core the urn's sweeps take less time than another's."""

    def judge(data: Data) -> Judged:
        rows = [r for r in data["single"] if URN in r["samplers"] and other in r["samplers"]]
        if not rows:
            return None
        ratios = [r["samplers"][other] / r["samplers"][URN] for r in rows]
        measured = _at(rows, lambda r: f"{r['samplers'][other] / r['samplers'][URN]:.2f} times")
        return measured, all(ratio > 1.0 for ratio in ratios)

    return judge


def linear(data: Data) -> Judged:
    """Tell whether cores are used well."""
    rows = [r for r in data["scaling"] if r["efficiency"] and len(r["cores"]) > 1]
    if not rows:
        return None
    measured = _at(
        rows, lambda r: f"{r['speedup'][-1]:.2f} times with {r['cores'][-1]} cores "
        f"({r['efficiency'][-1]:.0%})"
    )  # fmt: skip
    return measured, all(r["efficiency"][-1] >= LINEAR for r in rows)


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
    """Tell whether the urn comes to the Dirichlet as fast as conjectured."""
    slopes = data["slopes"]
    if not slopes:
        return None
    measured = "; ".join(f"{name}: w^{slope:.2f}" for name, slope in slopes.items())
    return measured, all(slope <= ROOT for slope in slopes.values())


def uncollapsed_wins(data: Data) -> Judged:
    """Tell whether the uncollapsed sampler wins, and by more with rho."""
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
    """Tell whether counted work is the sum of minima."""
    rows = data["rows"]
    if not rows:
        return None
    measured = _at(rows, lambda r: f"{r['counted']:.1f} counted, {r['minimum']:.1f} expected")
    return measured, all(abs(r["counted"] / r["minimum"] - 1.0) <= COUNT for r in rows)


def time_follows(data: Data) -> Judged:
    """Tell whether the time of z grows no faster than the work."""
    power = data["time_power"]
    return None if power is None else (f"work to the power {power:.2f}", power <= LARGER)


def words_shorter(data: Data) -> Judged:
    """Tell whether many words have fewer topics than their documents."""
    rows = data["rows"]
    if not rows:
        return None
    most = [max(rows, key=lambda r: int(r["topics"]))]
    return _at(rows, lambda r: f"{r['shorter']:.0%}"), all(r["shorter"] >= 0.1 for r in most)
