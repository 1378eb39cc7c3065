"""Planted faults: a kernel's own source with one line made wrong, compiled afresh.

A statistical test that cannot fail proves nothing, so each has a twin that runs on a kernel
broken here and must fail.
"""

import inspect
from importlib import import_module
from types import ModuleType

from polyaurn.kernels import KernelSet, load_kernels


def plant(module: str, *changes: tuple[str, str]) -> ModuleType:
    """Return a copy of a kernel module in which pieces of code are replaced."""
    source = inspect.getsource(import_module(f"polyaurn.kernels.{module}"))
    for right, wrong in changes:
        assert right in source, f"{right!r} is no longer in {module}: plant the fault anew"
        source = source.replace(right, wrong)
    broken = ModuleType(f"broken_{module}")
    code = compile(source.replace("cache=True", "cache=False"), f"<broken {module}>", "exec")
    exec(code, broken.__dict__)
    return broken


def own_token_kept(sampler: str) -> KernelSet:
    """Break the z step: the token at hand stays in the document's counts while it is drawn."""
    take, put = "m[old] -= np.uint32(1)\n", "m[k] += np.uint32(1)\n        for"
    broken = plant(
        "z",
        (f"            {take}", ""),
        (
            "                if m[old] == 0:\n",
            f"                {take}                if m[old] == 0:\n",
        ),
        (f"            {put}", f"            if k != old:\n                {put}"),
    )
    return load_kernels(sampler)._replace(draw_z=broken.draw_z)


def alpha_doubled(sampler: str) -> KernelSet:
    """Break the z step: the prior of topics counts twice."""
    broken = plant("z", ("(sigma_b + sigma_a[v])", "(sigma_b + 2.0 * sigma_a[v])"))
    return load_kernels(sampler)._replace(draw_z=broken.draw_z)


def cumulative_sum_as_score(sampler: str) -> KernelSet:
    """Break the z step: a topic's score is the sum of all scores up to it."""
    broken = plant(
        "z",
        ("s = np.uint64(0)\n", "s = np.uint64(0)\n            t = np.uint64(0)\n"),
        ("running[j] = s\n", "t += s\n                    running[j] = t\n"),
        (
            "            sigma_b = np.float64(s)\n",
            "            s = t\n            sigma_b = np.float64(s)\n",
        ),
    )
    return load_kernels(sampler)._replace(draw_z=broken.draw_z)


def counts_of_a_thread_dropped(sampler: str) -> KernelSet:
    """Break the counting: of what one of two threads found, all but a cell a word is lost."""
    broken = plant(
        "counts", ("last[v] = at\n", "last[v] = at if v % 2 else min(at, first[v] + 1)\n")
    )
    return load_kernels(sampler)._replace(count=broken.count)


Z_STEP_FAULTS = (own_token_kept, alpha_doubled, cumulative_sum_as_score)
