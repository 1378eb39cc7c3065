"""The theorem, numerically: the Poisson Pólya urn tends to the Dirichlet as its weight grows.

A coordinate of PPU(w, F) is a / (a + b) with independent Poisson a and b of rates w F and
w (1 - F), given that a + b is not zero. The same coordinate of Dir(w, F) is Beta. Both
distributions are computed, not simulated, so that the distances have no sampling error.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import betainc

from polyaurn.base.arrays import F64

WEIGHTS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


def families() -> dict[str, F64]:
    """Return the mean vectors F that are studied."""
    zipf = 1.0 / np.arange(1, 101)
    few = np.array([0.6, 0.3, 0.1 - 97e-4] + [1e-4] * 97)
    return {
        "uniform over 10": np.full(10, 0.1),
        "Zipf over 100": zipf / zipf.sum(),
        "sparse over 100": few / few.sum(),
    }


def urn_marginal(w: float, F: float) -> tuple[F64, F64]:
    """Return the atoms of a coordinate of PPU(w, F) and their probabilities, in order."""
    a, p_a = _poisson(w * F)
    b, p_b = _poisson(w * (1.0 - F))
    A, B = np.meshgrid(a, b, indexing="ij")
    p = np.outer(p_a, p_b)
    some = (A + B) > 0
    x, p = A[some] / (A + B)[some], p[some]
    order = np.argsort(x, kind="stable")
    return x[order], p[order] / p.sum()


def _poisson(rate: float) -> tuple[F64, F64]:
    spread = 6.0 * math.sqrt(rate) + 10.0
    x = np.arange(max(0, math.floor(rate - spread)), math.ceil(rate + spread) + 1)
    return x.astype(np.float64), stats.poisson.pmf(x, rate)


def distances(w: float, F: float) -> dict[str, float]:
    """Measure a coordinate of the urn, of mean F and weight w, against its Beta distribution.

    ``levy`` is the Lévy metric, the one-dimensional companion of the theorem's Lévy-Prokhorov
    metric; ``kolmogorov`` the largest difference of distribution functions, which does not shrink
    with the scale; ``mean`` and ``variance`` are differences of moments, the second relative to the
    Dirichlet's F (1 - F) / (w + 1). Covariances differ by the same ratio as variances: given the
    number of balls the urn is multinomial, so that both are those of the mean vector times the mean
    of one over the number of balls.
    """
    x, p = urn_marginal(w, F)
    atoms, start = np.unique(x, return_index=True)
    after = np.cumsum(p)[np.append(start[1:], len(x)) - 1]
    before = np.append(0.0, after[:-1])
    G = betainc(w * F, w * (1.0 - F), atoms)
    kolmogorov = float(max(np.abs(after - G).max(), np.abs(before - G).max()))
    mean = float((x * p).sum())
    variance = float(((x - mean) ** 2 * p).sum())
    exact = F * (1.0 - F) / (w + 1.0)
    return {
        "levy": _levy(atoms, before, after, w * F, w * (1.0 - F), kolmogorov),
        "kolmogorov": kolmogorov,
        "mean": abs(mean - F),
        "variance": abs(variance - exact) / exact,
    }


def _levy(atoms: F64, before: F64, after: F64, a: float, b: float, most: float) -> float:
    """Find the least e with G(x - e) - e <= U(x) <= G(x + e) + e, by bisection below `most`.

    U is a step function and G, the Beta, is continuous and rising, so that the steps decide.
    """
    low, high = 0.0, most
    for _ in range(20):
        e = (low + high) / 2.0
        above = betainc(a, b, np.minimum(atoms + e, 1.0)) + e
        below = betainc(a, b, np.maximum(atoms - e, 0.0)) - e
        fits = (after <= above).all() and (below <= before).all()
        low, high = (low, e) if fits else (e, high)
    return high


def study(weights: Sequence[int] = WEIGHTS) -> dict[str, Any]:
    """Measure the distance for at least four growing weights, and fit its rate.

    For each family and weight there is the largest distance over the coordinates that differ; the
    slopes are those of log distance against log weight over the upper half of the weights.
    """
    result: dict[str, Any] = {"study": "urn", "weights": list(weights), "families": {}}
    for name, F in families().items():
        some = np.unique(F)[:: max(1, len(np.unique(F)) // 4)]
        some = np.unique(np.append(some, F.max()))
        rows = []
        for w in weights:
            found = [distances(float(w), float(f)) for f in some]
            top = distances(float(w), float(F.max()))
            rows.append(
                {"weight": w, "kolmogorov_largest_coordinate": top["kolmogorov"]}
                | {key: max(d[key] for d in found) for key in ("levy", "mean", "variance")}
            )
        half = rows[len(rows) // 2 :]
        logs = np.log([row["weight"] for row in half])
        slopes = {
            key: float(np.polyfit(logs, np.log([row[key] for row in half]), 1)[0])
            for key in ("levy", "kolmogorov_largest_coordinate", "variance")
        }
        result["families"][name] = {"rows": rows, "slopes": slopes}
    return result


def draw(result: dict[str, Any], path: Path) -> None:
    """Draw distances against the weight, with the conjectured rate for the eye."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
    titles = {
        "kolmogorov_largest_coordinate": "Kolmogorov distance, largest coordinate",
        "levy": "Lévy distance, worst coordinate",
        "variance": "relative difference of variances",
    }
    for axis, (key, title) in zip(axes, titles.items(), strict=True):
        for name, family in result["families"].items():
            axis.loglog(
                result["weights"],
                [row[key] for row in family["rows"]],
                "o-",
                ms=3,
                label=f"{name} (slope {family['slopes'][key]:.2f})",
            )
        w = np.array(result["weights"], float)
        first = max(f["rows"][0][key] for f in result["families"].values())
        axis.loglog(w, first * (w / w[0]) ** -0.5, "k--", lw=0.8, label="slope -1/2")
        axis.set(xlabel="weight w", title=title)
        axis.legend(frameon=False, fontsize=8)
        axis.spines[["top", "right"]].set_visible(False)
    figure.suptitle("The Poisson Pólya urn PPU(w, F) against Dir(w, F)")
    figure.savefig(path, dpi=100, format="png")
    plt.close(figure)
