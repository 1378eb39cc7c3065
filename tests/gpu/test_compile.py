"""GPU kernels where there is no GPU: their code for one, and their run in numba's simulator."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("numba_cuda")

from polyaurn.backends.gpu import buckets, sizes, z_short
from polyaurn.backends.gpu.toolkit import cuda
from support.faults import plant
from support.gpu_faults import FAULTS
from support.gpu_kernels import F64, KERNELS, compile_kernel
from support.gpu_sources import kernels_in_source

SCORES = ("score_lists", "score_long", "score_words")  # agree with the CPU's to 12 digits only
_FLOAT = re.compile(r"(?:@!?%p\d+ )?(\w+)((?:\.\w+)*)\.[fb]64\s+(%fd\d+), (.*);")


def joined(code):
    """Return operations of doubles that round other than a product, then a sum, each by itself.

    These are fused ones, approximate ones, and sums of a product where neither says how it rounds:
    the assembler may then join the two. Division and square root must say it.
    """
    products, copies, found = set(), {}, []
    lines = [line.strip() for line in code.splitlines()]
    operations = [match.groups() for match in map(_FLOAT.fullmatch, lines) if match]
    for name, rounding, to, sources in operations:
        if name == "mul" and not rounding:
            products.add(to)
        elif name in ("mov", "neg", "selp"):
            copies.setdefault(to, set()).update(re.findall(r"%fd\d+", sources))
    for _ in range(len(copies)):  # a copy of a product is one
        products |= {to for to, sources in copies.items() if sources & products}
    for name, rounding, to, sources in operations:
        fused = name in ("fma", "mad") or "approx" in rounding
        free = name in ("div", "rcp", "sqrt") and ".rn" not in rounding
        sum_of_product = name in ("add", "sub") and not rounding and any(
            source in products for source in re.findall(r"%fd\d+", sources)
        )  # fmt: skip
        if fused or free or sum_of_product:
            found.append(f"{name}{rounding}.f64 {to}, {sources}")
    return found


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_compiles(name):
    code = compile_kernel(*KERNELS[name])
    assert code.count(".entry") == 1
    assert ".local" not in code, "registers spill, or an array is in slow memory"
    if name not in SCORES:
        assert joined(code) == []


def test_a_product_joined_to_a_sum_is_seen():
    broken = plant(
        "phi",
        ("plus(times(share, scale), 0.5)", "share * scale + 0.5"),
        package="polyaurn.backends.gpu",
    )
    _, types = KERNELS["finish_dense"]
    assert [line[:10] for line in joined(compile_kernel(broken.finish(True), types))] == [
        "fma.rn.f64"
    ]


def test_operations_that_the_assembler_may_join_are_seen():
    lines = ["mul.f64 \t%fd3, %fd1, %fd2;", "mov.f64 \t%fd4, %fd3;", "add.f64 \t%fd5, %fd4, %fd1;"]
    assert joined("\n".join(lines)) == ["add.f64 %fd5, %fd4, %fd1"]
    for line in range(3):  # either may say how it rounds
        said = [x.replace(".f64", ".rn.f64") if i == line else x for i, x in enumerate(lines)]
        assert bool(joined("\n".join(said))) == (line == 1)
    assert joined("div.full.f64 %fd1, %fd2, %fd3;")
    assert joined("rcp.approx.ftz.f64 %fd1, %fd2;")
    assert not joined("div.rn.f64 %fd1, %fd2, %fd3;")


def test_an_array_in_slow_memory_is_seen():
    @cuda.jit
    def kernel(x):
        mine = cuda.local.array(64, np.float64)
        for j in range(64):
            mine[j] = x[j]
        x[0] = mine[int(x[1])]

    assert ".local" in compile_kernel(kernel, (F64,))


def test_every_kernel_is_compiled_here():
    functions = [kernel.py_func for kernel, _ in KERNELS.values()]
    listed = {(f.__module__.split(".")[-1], f.__qualname__.split(".")[0]) for f in functions}
    assert listed == set(kernels_in_source())


TOPICS = [1, 2, 100, 256, 257, 1000, 4096, 5000, 65_535]


@pytest.mark.parametrize("K", TOPICS)
def test_buckets_hold_every_document_once(K):
    rng = np.random.default_rng(0)
    lengths = np.sort(np.concatenate((np.arange(2_060), rng.integers(0, 9_000, 500))))[::-1]
    made, n_long = buckets.make_buckets(lengths, K)
    assert lengths[:n_long].min() > buckets.LONGEST
    inside = np.concatenate([np.arange(b.begin, b.end) for b in made])
    short = np.flatnonzero((lengths > 0) & (lengths <= buckets.LONGEST))
    assert np.sort(inside).tolist() == short.tolist()
    for bucket in made:
        assert lengths[bucket.begin : bucket.end].max() == bucket.longest


@pytest.mark.parametrize("K", TOPICS)
def test_launches_have_space(K):
    """Lists that are there fit; so does any list of a document that is resumed, in a warp."""
    for longest in (*buckets.EDGES, 1, 33, 700):
        lanes = buckets.lanes_for(longest, K)
        for listed in {1, min(longest, K) // 2 + 1, min(longest, K)}:
            for dense in (True, False):
                shape = buckets.shape_for(listed, longest, lanes, K, dense)
                assert_space(shape, listed, 1 << lanes)
    shape = buckets.shape_for(buckets.LONGEST, buckets.LONGEST, z_short.WARP, K, False)
    assert_space(shape, min(buckets.LONGEST, K), sizes.LANES)


def assert_space(shape, listed, lanes):
    assert lanes in (4, 8, 16, 32)
    assert listed <= lanes * (shape.room - 1)  # else a stretch is full before a topic enters
    assert shape.shared <= buckets.SHARED_BYTES
    assert shape.block % 32 == 0


def run(*arguments):
    """Run Python in another process; fail with what it says."""
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    return done.stdout


SIMULATOR = str(Path(__file__).parents[1] / "support" / "gpu_simulator.py")


def test_broken_kernels_are_seen_in_the_simulator():
    lines = run(SIMULATOR, *(f"fault: {name}" for name in FAULTS)).splitlines()
    assert sum("seen by" in line for line in lines) == len(FAULTS)


def test_kernels_that_no_case_runs_are_seen():
    *_, last = run(SIMULATOR, "chain: few topics").splitlines()
    assert last.startswith("These kernels did not run: [")
    assert "z_long.z_long.<locals>.draw dense=True" in last
    assert "tokens.draw_uniform" not in last


# NumPy 2.5 has no row_stack, older ones have.
WITHOUT = (
    "vars(np).pop('row_stack', None); np.__all__ = [x for x in np.__all__ if x != 'row_stack']"
)


@pytest.mark.parametrize(
    ("before", "after"),
    [(WITHOUT, "not hasattr(np, 'row_stack')"), ("np.row_stack = len", "np.row_stack is len")],
)
def test_numpy_is_left_as_it_was(before, after):
    program = f"""
import sys
import numpy as np
{before}
import polyaurn.backends.gpu.toolkit
assert {after}
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from support.gpu_kernels import KERNELS, compile_kernel
assert ".entry" in compile_kernel(*KERNELS["count_tokens"])
assert {after}
"""
    run("-c", program)
