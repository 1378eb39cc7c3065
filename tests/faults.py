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
    broken = plant(
        "z",
        (" - own)", ")"),
        ("m_d[z_b[at]] -= np.uint16(1)\n", "old = z_b[at]\n"),
        ("m_d[k] += np.uint16(1)\n", "m_d[old] -= np.uint16(1); m_d[k] += np.uint16(1)\n"),
    )
    return load_kernels(sampler)._replace(draw_z=broken.draw_z)


def alpha_doubled(sampler: str) -> KernelSet:
    """Break the z step: the prior of topics counts twice."""
    broken = plant(
        "z",
        ("sigma_a_v = sigma_a[v]", "sigma_a_v = 2.0 * sigma_a[v]"),
        ("u - sigma_b)", "(u - sigma_b) / 2)"),
    )
    return load_kernels(sampler)._replace(draw_z=broken.draw_z)


def cumulative_sum_as_score(sampler: str) -> KernelSet:
    """Break the z step: a topic's score is the sum of all scores up to it."""
    column = "np.uint64(weight[start + q]) * (np.uint64(m[base + np.uint64(k)]) - own)"
    topics, more = "np.uint64(w[c]) * np.uint64(m_d[c])", "np.uint64(w[k]) * np.uint64(m_d[k])"
    broken = plant(
        "z",
        (" s = _NONE\n", " s = _NONE; so_far = _NONE\n"),
        ("if before > _NONE else _NONE\n", "if before > _NONE else _NONE; so_far = _NONE\n"),
        (f"s += {column}\n", f"so_far += {column}; s += so_far\n"),
        (f"s += {topics}\n", f"so_far += {topics}; s += so_far\n"),
        (f"s += {more}\n", f"so_far += {more}; s += so_far\n"),
    )
    return load_kernels(sampler)._replace(draw_z=broken.draw_z)


def counts_of_a_thread_dropped(sampler: str) -> KernelSet:
    """Break the counting: of what one of two threads found, all but a cell a word is lost."""
    broken = plant(
        "counts", (" last[v] = at\n", " last[v] = at if v % 2 else min(at, first[v] + 1)\n")
    )
    z_step = plant("z")
    z_step.gather_counts = broken.gather_counts
    return load_kernels(sampler)._replace(draw_z=z_step.draw_z, count=broken.count)


Z_STEP_FAULTS = (own_token_kept, alpha_doubled, cumulative_sum_as_score)
