"""Appendix A: a collapsed Gibbs sampler can be arbitrarily slower than an uncollapsed one.

The target is a T distribution on the plane, mean 0, unit scales and correlation rho. The collapsed
sampler draws one coordinate given the other, each from a T distribution with 5 degrees of freedom.
The uncollapsed one draws the scale Phi given z, then both coordinates at once. The formulas are
the paper's, which belong to a joint distribution with 4 degrees of freedom (the conditionals then
have 5).
"""

from pathlib import Path
from typing import Any

import numpy as np

from polyaurn.base.arrays import F64
from polyaurn.evaluate.diagnostics import effective_sample_size

DEGREES = 4.0  # of freedom, of the joint distribution
CORRELATIONS = (0.9, 0.99, 0.999)


def collapsed(rho: float, n: int, rng: np.random.Generator) -> F64:
    """Run the collapsed sampler; return its path, n by 2."""
    t = rng.standard_t(DEGREES + 1.0, size=(n, 2))
    path = np.empty((n, 2))
    x, y = 0.0, 0.0
    for i in range(n):
        x = rho * y + np.sqrt(_scale(y, rho)) * t[i, 0]
        y = rho * x + np.sqrt(_scale(x, rho)) * t[i, 1]
        path[i] = x, y
    return path


def _scale(other: float, rho: float) -> float:
    """Return the squared scale of one coordinate given the other.

    A T vector with nu = 4 degrees given one coordinate is T with nu + 1 = 5 degrees, centre rho z
    and squared scale (nu + z^2) / (nu + 1) (1 - rho^2) = (0.8 + 0.2 z^2) (1 - rho^2).
    """
    return float((DEGREES + other**2) / (DEGREES + 1.0) * (1.0 - rho**2))


def uncollapsed(rho: float, n: int, rng: np.random.Generator) -> F64:
    """Run the sampler that keeps Phi; return the path of z, n by 2."""
    half = np.array([[1.0, 0.0], [rho, np.sqrt(1.0 - rho**2)]])  # square root of Sigma
    shape = (DEGREES + 2.0) / 2.0
    gammas = rng.standard_gamma(shape, size=n)
    normals = rng.standard_normal((n, 2))
    path = np.empty((n, 2))
    length = 0.0  # z' Sigma^-1 z
    for i in range(n):
        phi = (DEGREES + length) / 2.0 / gammas[i]
        e = np.sqrt(phi) * normals[i]
        length = float(e @ e)
        path[i] = half @ e
    return path


def study(n: int = 20_000, seed: int = 0) -> dict[str, Any]:
    """Compare the two samplers, each of n iterations, by effective sample size.

    For each rho there are the sizes of z_1 and of its square, and the first 25 points of each path.
    """
    result: dict[str, Any] = {"study": "appendix-a", "iterations": n, "seed": seed, "rows": []}
    for rho in CORRELATIONS:
        row: dict[str, Any] = {"rho": rho}
        for name, sampler in (("collapsed", collapsed), ("uncollapsed", uncollapsed)):
            path = sampler(rho, n, np.random.Generator(np.random.PCG64(seed)))
            row[name] = {
                "ess_z1": effective_sample_size(path[:, 0]),
                "ess_z1_squared": effective_sample_size(path[:, 0] ** 2),
                "variance_z1": float(path[:, 0].var()),
                "path": path[:25].round(6).tolist(),
            }
        row["ess_ratio"] = row["uncollapsed"]["ess_z1"] / row["collapsed"]["ess_z1"]
        result["rows"].append(row)
    return result


def draw(result: dict[str, Any], path: Path) -> None:
    """Draw 25 steps of each sampler on its target, as the paper's figure does."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 3, figsize=(10, 6.6), layout="constrained")
    grid = np.linspace(-4.5, 4.5, 301)
    X, Y = np.meshgrid(grid, grid)
    for column, row in enumerate(result["rows"]):
        rho = row["rho"]
        q = (X**2 - 2 * rho * X * Y + Y**2) / (1 - rho**2)
        density = (1 + q / DEGREES) ** (-(DEGREES + 2) / 2)
        for axis, name in zip(axes[:, column], ("collapsed", "uncollapsed"), strict=True):
            axis.contourf(X, Y, np.sqrt(density), levels=12, cmap="Greys", alpha=0.7)
            steps = np.array(row[name]["path"])
            axis.plot(steps[:, 0], steps[:, 1], "-o", ms=3, lw=0.9, color="tab:red")
            share = 100 * row[name]["ess_z1"] / result["iterations"]
            axis.set_title(f"{name}, rho = {rho}\neffective sample size {share:.3g}%", fontsize=10)
            axis.set(xlim=(-4.5, 4.5), ylim=(-4.5, 4.5), xlabel="$z_1$", ylabel="$z_2$")
            axis.set_aspect("equal")
    figure.suptitle("25 iterations of a collapsed and an uncollapsed Gibbs sampler on a T target")
    figure.savefig(path, dpi=100, format="png")
    plt.close(figure)
