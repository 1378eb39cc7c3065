import json
import sys

import numpy as np
import pytest
from scipy import stats

from polyaurn import InputError
from polyaurn.evaluate.diagnostics import effective_sample_size
from polyaurn.studies.paper import theory
from polyaurn.studies.paper.theory import appendix_a, complexity, urn
from support.p_values import UNLIKELY


@pytest.mark.parametrize("sampler", [appendix_a.collapsed, appendix_a.uncollapsed])
def test_both_samplers_of_appendix_a_have_the_t_distribution(sampler, monkeypatch):
    rho = 0.5

    def p_values():
        path = sampler(rho, 60_000, np.random.default_rng(3))[::15]
        whitened = (path[:, 1] - rho * path[:, 0]) / np.sqrt(1 - rho**2)
        return [stats.kstest(x, stats.t(4).cdf).pvalue for x in (path[:, 0], path[:, 1], whitened)]

    assert min(p_values()) > UNLIKELY
    monkeypatch.setattr(appendix_a, "DEGREES", 1.0)
    assert min(p_values()) < UNLIKELY**2


def test_effective_sample_size_of_known_chains():
    rng = np.random.default_rng(0)
    n = 100_000
    noise = rng.standard_normal(n)
    assert effective_sample_size(noise) == pytest.approx(n, rel=0.05)
    for phi in (0.5, 0.9):
        x = np.empty(n)
        x[0] = noise[0]
        for i in range(1, n):
            x[i] = phi * x[i - 1] + noise[i]
        assert effective_sample_size(x) == pytest.approx(n * (1 - phi) / (1 + phi), rel=0.15)
    assert np.isnan(effective_sample_size(np.ones(10)))


def test_appendix_a_finds_the_collapsed_sampler_slower_as_rho_grows():
    result = appendix_a.study(n=4000)
    ratios = [row["ess_ratio"] for row in result["rows"]]
    assert ratios[0] > 4
    assert ratios[0] < ratios[1] < ratios[2]
    assert all(row["uncollapsed"]["ess_z1"] > 2000 for row in result["rows"])


@pytest.mark.parametrize(("w", "F"), [(3.0, 0.2), (40.0, 0.05), (200.0, 0.5)])
def test_the_urn_marginal_is_that_of_simulated_urns(w, F):
    rng = np.random.default_rng(1)
    a, b = rng.poisson(w * F, 40_000), rng.poisson(w * (1 - F), 40_000)
    x = a[a + b > 0] / (a + b)[a + b > 0]
    atoms, p = urn.urn_marginal(w, F)
    cells = np.quantile(x, np.linspace(0, 1, 12)[1:-1])
    observed = np.bincount(np.searchsorted(cells, x), minlength=11)
    expected = np.bincount(np.searchsorted(cells, atoms), p, minlength=11)
    keep = expected > 1e-6
    chi = ((observed - expected * len(x))[keep] ** 2 / (expected * len(x))[keep]).sum()
    assert stats.chi2.sf(chi, keep.sum() - 1) > UNLIKELY
    other = urn.urn_marginal(w, F * 1.2)
    wrong = np.bincount(np.searchsorted(cells, other[0]), other[1], minlength=11)
    chi = ((observed - wrong * len(x))[keep] ** 2 / np.maximum(wrong * len(x), 1e-9)[keep]).sum()
    assert stats.chi2.sf(chi, keep.sum() - 1) < UNLIKELY**2
    # Appendix B: the mean is F, the variance F (1 - F) E(1 / balls)
    balls = np.arange(1, 1000)
    p_balls = stats.poisson.pmf(balls, w)
    inverse = (p_balls / balls).sum() / p_balls.sum()
    mean = (atoms * p).sum()
    assert mean == pytest.approx(F, rel=1e-6)
    assert ((atoms - mean) ** 2 * p).sum() == pytest.approx(F * (1 - F) * inverse, rel=1e-6)


def test_covariances_of_simulated_urns():
    rng = np.random.default_rng(2)
    w, F = 30.0, np.array([0.5, 0.3, 0.2])
    gamma = rng.poisson(w * F, size=(200_000, 3))
    x = gamma / gamma.sum(axis=1, keepdims=True)
    product = (x[:, 0] - F[0]) * (x[:, 1] - F[1])
    error = product.std() / np.sqrt(len(product))
    balls = np.arange(1, 200)
    p = stats.poisson.pmf(balls, w)
    inverse = (p / balls).sum() / p.sum()
    assert abs(product.mean() + F[0] * F[1] * inverse) < 5 * error
    assert abs(product.mean() + F[0] * F[1] / (2 * w)) > 20 * error


def test_the_urn_tends_to_the_dirichlet_at_the_conjectured_rate(monkeypatch):
    monkeypatch.setattr(urn, "WEIGHTS", (4, 16, 64, 128, 256, 512))
    result = urn.study()
    for family in result["families"].values():
        levy = [row["levy"] for row in family["rows"]]
        assert levy == sorted(levy, reverse=True)
        assert -0.75 < family["slopes"]["kolmogorov_largest_coordinate"] < -0.4
        assert family["slopes"]["variance"] == pytest.approx(-1.0, abs=0.05)
        assert max(row["mean"] for row in family["rows"]) < 1e-6


def test_work_is_counted_and_stays_below_both_sparsities():
    result = complexity.study(sizes=(4096, 16_384), n_sweeps=20)
    assert len(result["rules"]) == 2
    for rule in result["rules"].values():
        for row in rule["rows"]:
            assert 1.0 <= row["work"] <= min(row["mean_K_d"], row["mean_K_v"]) * 1.01
        assert 0.9 < rule["exponent_of_total_work"] < 1.6


def test_studies_write_a_picture_and_numbers(tmp_path, monkeypatch):
    monkeypatch.setattr(appendix_a, "CORRELATIONS", (0.9, 0.99, 0.999))
    numbers, picture, result = theory.run("appendix-a", tmp_path / "deep", n=200)
    assert json.loads(numbers.read_text()) == result
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert sorted(p.name for p in (tmp_path / "deep").iterdir()) == [
        "appendix-a.json",
        "appendix-a.png",
    ]
    small = {"sizes": (512, 1024), "n_sweeps": 4}
    assert theory.run("complexity", tmp_path, **small)[1].stat().st_size > 1000
    monkeypatch.setattr(urn, "WEIGHTS", (2, 4, 8, 16))
    assert theory.run("urn", tmp_path)[1].stat().st_size > 1000


def test_bad_studies_are_one_sentence(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="'appendix-a', 'urn', 'complexity'"):
        theory.run("nonsense", tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be written"):
        theory.run("appendix-a", tmp_path / "file", n=100)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"pip install 'polyaurn\[plots\]'"):
        theory.run("urn", tmp_path)
