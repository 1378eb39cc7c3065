"""Counts of a model in parts, joined."""

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from polyaurn.files.sealed import Damaged
from polyaurn.model.parts import Part, read_counts, write_part

K, V, W = 30, 4000, 8


def written(folder, counts, bounds):
    """Write the columns between bounds as parts; return their paths."""
    for i, (lo, hi) in enumerate(pairwise(bounds)):
        inside = np.zeros(V)
        inside[lo:hi] = 1
        own = sp.csr_matrix(counts @ sp.diags(inside)).astype(counts.dtype)
        own.eliminate_zeros()
        own.sort_indices()
        part = Part(np.zeros(1, np.uint16), np.ones(1, np.int64), own, np.ones(K), np.ones(V))
        write_part(folder, f"part-{i:05d}.npz", part)
    return sorted(folder.glob("*.npz"))


@pytest.mark.parametrize("dtype", [np.int32, np.float64])
@pytest.mark.parametrize("bounds", [[0, V], [0, 10, 10, 3000, V], np.linspace(0, V, W + 1)])
def test_parts_are_joined_as_they_were(tmp_path, dtype, bounds):
    counts = sp.random(K, V, 0.3, format="csr", random_state=0)
    counts.data = (np.floor(9 * counts.data) + 1).astype(dtype)
    counts.sort_indices()
    found = read_counts(written(tmp_path, counts, np.array(bounds, int)), V)
    assert found.dtype == dtype
    for one, other in ((found.indptr, counts.indptr), (found.indices, counts.indices)):
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes()
    assert found.data.tobytes() == counts.data.tobytes()


def test_joining_takes_the_memory_of_one_part_beside_the_counts(tmp_path):
    counts = sp.random(K, V, 0.9, format="csr", random_state=0)
    paths = written(tmp_path, counts, np.linspace(0, V, W + 1).astype(int))
    size = counts.data.nbytes + counts.indices.nbytes
    read_counts(paths, V)  # imports
    tracemalloc.start()
    read_counts(paths, V)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.6 * size


def test_a_part_of_other_topics_is_damage(tmp_path):
    counts = sp.random(K, V, 0.1, format="csr", random_state=0)
    paths = written(tmp_path, counts, [0, 2000, V])
    part = Part(np.zeros(1, np.uint16), np.ones(1, np.int64), counts[:-1], np.ones(K), np.ones(V))
    write_part(tmp_path, paths[1].name, part)
    with pytest.raises(Damaged, match=r"part-00001\.npz has no rows of all topics"):
        read_counts(paths, V)
