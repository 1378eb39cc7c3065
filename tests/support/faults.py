"""Planted faults: a kernel's own source with one line made wrong, compiled again.

A statistical test that cannot fail proves nothing, so each has a counterpart that runs on a
kernel broken here and must fail.
"""

import inspect
from collections.abc import Callable, Iterable
from functools import cache, partial
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest

from polyaurn.backends.cpu.steps import CPUSteps
from polyaurn.backends.registry import load_steps
from support.chains import (
    BY_COLUMN,
    BY_ROW,
    FINE,
    MH_EXACT,
    PARTITIONED,
    SPARSE,
    length_of_columns,
    steps_of,
    with_cut,
    with_steps,
)

Fault = Callable[[], type[CPUSteps]]


@cache
def steps_with(sampler: str, fault: str) -> type[CPUSteps]:
    """Return a sampler with one of its faults, compiled once in a process."""
    return FAULTS[sampler][fault]()


def plant(
    module: str, *changes: tuple[str, str], package: str = "polyaurn.backends.cpu"
) -> ModuleType:
    """Return a copy of a kernel module in which pieces of code are replaced."""
    source = inspect.getsource(import_module(f"{package}.{module}"))
    for right, wrong in changes:
        assert right in source, f"{right!r} is no longer in {module}: plant the fault again"
        source = source.replace(right, wrong)
    broken = ModuleType(f"broken_{module}")
    source = source.replace("cache=True", "cache=False").replace("@kernel\n", "@cuda.jit\n")
    code = compile(source, f"<broken {module}>", "exec")
    exec(code, broken.__dict__)
    return broken


@cache
def urn_of_whole_parts() -> ModuleType:
    """Break the urn: what pseudo-counts have beside their whole parts is left out."""
    return plant("phi_urn", ("if part > 0:", "if part > 2:"))


def own_token_kept(sampler: str) -> type[CPUSteps]:
    """Break the z step: the token at hand stays in the document's counts while it is drawn."""
    broken = plant(
        "z",
        (" - own)", ")"),
        ("m_d[z_b[at]] -= np.uint16(1)\n", "old = z_b[at]\n"),
        ("m_d[k] += np.uint16(1)\n", "m_d[old] -= np.uint16(1); m_d[k] += np.uint16(1)\n"),
    )
    return with_steps(load_steps(sampler), z_step=broken.draw_z)


def alpha_doubled(sampler: str) -> type[CPUSteps]:
    """Break the z step: the prior of topics counts twice."""
    broken = plant(
        "z",
        ("sigma_a_v = sigma_a[v]", "sigma_a_v = 2.0 * sigma_a[v]"),
    )
    return with_steps(load_steps(sampler), z_step=broken.draw_z)


def cumulative_sum_as_score(sampler: str) -> type[CPUSteps]:
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
    return with_steps(load_steps(sampler), z_step=broken.draw_z)


def counts_of_a_thread_dropped(sampler: str) -> type[CPUSteps]:
    """Break the counting: of what one of two threads found, all but a cell a word is lost."""
    broken = plant(
        "counts", (" last[v] = at\n", " last[v] = at if v % 2 else min(at, first[v] + 1)\n")
    )
    z_step = plant("z")
    z_step.draw_and_count = broken.draw_and_count
    made = with_steps(load_steps(sampler), z_step=z_step.draw_z)
    made.count = lambda steps, z: broken.count(steps.layout, z, steps.workers)
    return made


def _in_z_step(sampler: str, module: str, *changes: tuple[str, str]) -> Fault:
    """Break the z step of a sampler that has a module of its own for it."""

    def broken() -> type[CPUSteps]:
        return with_steps(steps_of(sampler), z_step=plant(module, *changes).draw_z)

    return broken


def _in_visit(sampler: str, *changes: tuple[str, str]) -> Fault:
    """Break a visit of the partitioned sampler whose columns are all short, or all long."""

    def broken() -> type[CPUSteps]:
        kernels = plant("partitioned_visit", length_of_columns(sampler), *changes)
        return with_steps(load_steps(PARTITIONED), visit=kernels.visit_block)

    return broken


def _in_sparse_phi(*changes: tuple[str, str]) -> Fault:
    """Break the Phi step of the sampler "sparse-dirichlet"."""
    return lambda: with_cut(FINE, plant("phi_sparse", *changes).draw_phi)


Z_STEP_FAULTS = (own_token_kept, alpha_doubled, cumulative_sum_as_score)
_ALL = (*Z_STEP_FAULTS, counts_of_a_thread_dropped)
_ACCEPT = "uniform_of(key_a, key_b, i, 4 * step + {}) * {} < {}"
FAULTS: dict[str, dict[str, Fault]] = {
    "partially-collapsed": {
        fault.__name__: partial(fault, "partially-collapsed") for fault in _ALL
    },
    SPARSE: {
        "cells_without_counts_never_drawn": _in_sparse_phi(
            (
                "            if at == end:\n",
                "            if n == 0: continue\n            if at == end:\n",
            )
        ),
        "prior_forgotten_beside_counts": _in_sparse_phi(
            ("g += size[i]", "g += (n == 0) * size[i]")
        ),
        "balls_one_topic_too_far": _in_sparse_phi(
            ("position += size[i]", "position += 1.0 + size[i]")
        ),
        "balls_of_one_size": _in_sparse_phi(
            ("size[i] = ball_size(bits(a, b, ball + 2 * i + 1), scale, quantile)", "size[i] = 0.07")
        ),
    },
    MH_EXACT: {
        "word_always_accepted": _in_z_step(MH_EXACT, "z_mh", ("< ratio:", "< 2.0:")),
        "document_always_accepted": _in_z_step(
            MH_EXACT, "z_mh", ("* w < weight[other]:", "* w < w:")
        ),
    },
    "collapsed": {
        "own_token_kept": _in_z_step(
            "collapsed",
            "collapsed",
            ("(number[start + j] - np.int32(k == old))", "number[start + j]"),
        ),
        "prior_forgotten": _in_z_step(
            "collapsed", "collapsed", ("beta[v] * (M + A)", "beta[v] * M")
        ),
        "totals_stale": _in_z_step(
            "collapsed", "collapsed", ("n_k[old] -= 1\n            n_k[k] += 1\n", "pass\n")
        ),
    },
    "light": {
        "proposals_not_corrected": _in_z_step(
            "light", "light", (") * f * q_c, (", ") * f, ("), (") * f_c * q\n", ") * f_c\n")
        ),
        "document_always_accepted": _in_z_step(
            "light", "light", (_ACCEPT.format(1, "f", "f_c"), "True")
        ),
        "stale_after_the_document": _in_z_step(
            "light", "light", ("k, f, q = c, f_c, -1.0", "k, f = c, f_c")
        ),
        "stale_after_the_word": _in_z_step(
            "light", "light", ("k, f, q = c, f_c, q_c", "k, f = c, f_c")
        ),
        "tables_of_the_tokens_at_hand": _in_z_step(
            "light",
            "light",
            (
                "others = replace_counts(layout, counts, before, nothing, workers)",
                "others = counts",
            ),
        ),
    },
    "collapsed-dense": {
        "alpha_doubled": _in_z_step(
            "collapsed-dense", "collapsed_dense", ("(alpha[j] + m[j])", "(2 * alpha[j] + m[j])")
        ),
        "totals_forgotten": _in_z_step(
            "collapsed-dense", "collapsed_dense", (" / (beta_all + n_k[j])", "")
        ),
    },
}
FAULTS |= {  # a second statement: new samplers are the last entries of the first
    sampler: {
        "own_token_kept": _in_visit(
            sampler,
            ("            m[row + old] -= one\n", ""),
            (
                "            m[row + k] += one\n",
                "            m[row + old] -= one\n            m[row + k] += one\n",
            ),
        ),
        "alpha_doubled": _in_visit(
            sampler, ("prior[k] = alpha[k] *", "prior[k] = 2.0 * alpha[k] *")
        ),
        "totals_stale": _in_visit(sampler, ("n_k[k] + moved[k] + beta_all", "n_k[k] + beta_all")),
        "document_part_of_beta_forgotten": _in_visit(
            sampler,
            ("beta_v * np.float64(R)", "0.0 * np.float64(R)"),
            ("weight[k] += np.int64(beta_v * np.float64(inverse[k]))", "pass"),
        ),
    }
    for sampler in (BY_COLUMN, BY_ROW)
}
FORGETS_FRACTIONS: dict[str, Fault] = {  # of pseudo-counts; all else is right
    BY_COLUMN: _in_visit(BY_COLUMN, ("if part > 0 else", "if part > 9 else")),
    BY_ROW: _in_visit(BY_ROW, ("if part > 0 else", "if part > 9 else")),
    SPARSE: _in_sparse_phi(("gamma_mass(n, ", "gamma_mass(np.ceil(n), ")),
    "collapsed": _in_z_step(
        "collapsed",
        "collapsed",
        (
            "number[start + j] - np.int32(k == old)",
            "np.floor(number[start + j]) - np.int32(k == old)",
        ),
    ),
    "light": _in_z_step(
        "light",
        "light",
        ("table_number[slot] = number[j]", "table_number[slot] = np.floor(number[j])"),
    ),
    "collapsed-dense": _in_z_step(
        "collapsed-dense", "collapsed_dense", ("beta[v] + n[v, j]", "beta[v] + np.floor(n[v, j])")
    ),
}
# Faults of a second move: how many pairs of proposals per token show them.
STALE = {"stale_after_the_document": 16, "stale_after_the_word": 4}
# A fault that Geweke's test and the moments of Phi show, but hardly the topics of seven tokens.
IN_PHI_ONLY = (SPARSE, "prior_forgotten_beside_counts")
BROKEN = [
    (sampler, fault) for sampler, faults in FAULTS.items() for fault in faults if fault not in STALE
]
# Faults that only one sweep from enumerated draws is sharp enough to see.
FAINT = [
    (MH_EXACT, "document_always_accepted"),
    ("collapsed", "totals_stale"),
    (BY_COLUMN, "totals_stale"),
    (BY_ROW, "totals_stale"),
    ("light", "tables_of_the_tokens_at_hand"),
]
PLAIN_TO_SEE = [pair for pair in BROKEN if pair not in FAINT]


def in_turn(pairs: Iterable[tuple[str, str]]) -> list[Any]:
    """Return samplers and faults as parameters; tests of one fault share a process, compiled."""
    return [pytest.param(*pair, marks=pytest.mark.xdist_group(" ".join(pair))) for pair in pairs]
