"""A small AnnData file of cells."""

import numpy as np
import pytest


def write_h5ad(path):
    """Write logarithms, and counts in a layer; some cells have too few to be trained on."""
    anndata = pytest.importorskip("anndata", reason="anndata is not installed")
    counts = np.random.default_rng(0).poisson(1.0, (30, 12)) * (np.arange(30) % 9 > 0)[:, None]
    anndata.AnnData(np.log1p(counts), layers={"counts": counts}).write_h5ad(path)
