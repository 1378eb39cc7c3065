"""Kernels, and the list of samplers.

A sampler is a `KernelSet`: functions that draw Phi, draw z and count. The loop in
`polyaurn.sampler` knows nothing else about it. To add a sampler, write its kernels and list
them here; every test of the contract then runs on it.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from polyaurn.errors import InputError

DEFAULT_SAMPLER = "polya-urn"


class KernelSet(NamedTuple):
    """The steps of one sampler.

    Attributes
    ----------
    make_layout : callable
        ``(corpus, n_topics, workers) -> layout``, whatever the other functions read. Its
        `documents` and `blocks` say which documents belong together.
    start : callable
        ``(layout, seed, blocks) -> z``, topics to begin with; documents of other blocks have
        none.
    count : callable
        ``(layout, z, workers) -> Counts``, of the tokens that have a topic.
    count_blocks : callable
        ``(layout, z, counts, blocks, workers) -> Counts``, of some blocks, given those of all.
    replace_counts : callable
        ``(layout, counts, old, new, workers) -> Counts``: some documents' counts for others'.
    draw_phi : callable
        ``(layout, counts, priors, seed, sweep, workers) -> Phi``.
    enter : callable
        ``(layout, z, phi, seed, sweep, workers, blocks) -> z``: tokens of these blocks that have
        no topic receive one.
    draw_z : callable
        ``(layout, z, phi, seed, sweep, workers, blocks, into) -> (z, counts, work)``: counts of
        these blocks, and the work in steps of the paper's complexity.
    """

    make_layout: Callable[..., Any]
    start: Callable[..., Any]
    count: Callable[..., Any]
    count_blocks: Callable[..., Any]
    replace_counts: Callable[..., Any]
    draw_phi: Callable[..., Any]
    enter: Callable[..., Any]
    draw_z: Callable[..., Any]


# Where each step is found; loaded when the sampler is used, so that help needs no compiler.
_COMPILED = {
    "make_layout": "layout:make_layout",
    "start": "start:uniform_topics",
    "count": "counts:count",
    "count_blocks": "counts:count_blocks",
    "replace_counts": "counts:replace_counts",
    "enter": "start:enter",
    "draw_z": "z:draw_z",
}
_PLAIN = {
    "make_layout": "reference:make_layout",
    "start": "start:uniform_topics",
    "count": "reference:count",
    "count_blocks": "reference:count_blocks",
    "replace_counts": "reference:replace_counts",
    "enter": "reference:enter",
    "draw_z": "reference:draw_z",
}
SAMPLERS: dict[str, dict[str, str]] = {
    "polya-urn": _COMPILED | {"draw_phi": "phi_urn:draw_phi"},
    "partially-collapsed": _COMPILED | {"draw_phi": "phi_dirichlet:draw_phi"},
}
# Those whose chain has the posterior as its stationary law; tests of exactness run on each.
EXACT = ("partially-collapsed",)
REFERENCES: dict[str, dict[str, str]] = {
    "polya-urn": _PLAIN | {"draw_phi": "reference:draw_phi_urn"},
    "partially-collapsed": _PLAIN | {"draw_phi": "reference:draw_phi_dirichlet"},
}


def load_kernels(sampler: str, *, reference: bool = False) -> KernelSet:
    """Return the kernels of a sampler.

    Parameters
    ----------
    sampler : str
        A name from `SAMPLERS`.
    reference : bool
        Take the plain NumPy oracle instead of the compiled kernels.

    Returns
    -------
    KernelSet
        The steps.
    """
    check_sampler(sampler)
    steps = (REFERENCES if reference else SAMPLERS)[sampler]
    loaded = {}
    for step, place in steps.items():
        module, function = place.split(":")
        loaded[step] = getattr(import_module(f"polyaurn.kernels.{module}"), function)
    return KernelSet(**loaded)


def check_sampler(sampler: Any, name: str = "sampler") -> str:
    """Return the sampler's name, or refuse it with a list of those there are."""
    if sampler not in SAMPLERS:
        raise InputError(
            f"The '{name}' parameter must be one of {', '.join(map(repr, SAMPLERS))}. "
            f"Got {sampler!r} instead; {DEFAULT_SAMPLER!r} is the fastest."
        )
    return str(sampler)
