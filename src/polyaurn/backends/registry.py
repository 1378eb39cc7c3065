"""Kernels, and the list of samplers.

A sampler is a `KernelSet`: functions that draw Phi, draw z and count. The loop in
`polyaurn.chain.loop` knows nothing else about it. To add a sampler, write its kernels and list
them in `SAMPLERS`; every test of the contract then runs on it.
"""

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

from polyaurn.base.errors import InputError

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
        ``(layout, counts, priors, seed, sweep, workers) -> Phi``, or whatever else topics are
        drawn given.
    enter : callable
        ``(layout, z, phi, seed, sweep, workers, blocks) -> z``: tokens of these blocks that have
        no topic receive one.
    draw_z : callable
        ``(layout, z, phi, priors, seed, sweep, workers, blocks, into) -> (z, counts, work)``:
        counts of these blocks, and the `Work` done.
    log_posterior : callable, optional
        ``(layout, state, priors) -> float``, where the state is not in the computer's memory.
    """

    make_layout: Callable[..., Any]
    start: Callable[..., Any]
    count: Callable[..., Any]
    count_blocks: Callable[..., Any]
    replace_counts: Callable[..., Any]
    draw_phi: Callable[..., Any]
    enter: Callable[..., Any]
    draw_z: Callable[..., Any]
    log_posterior: Callable[..., Any] | None = None


class Sampler(NamedTuple):
    """An entry of the list: where the steps are found, and what users should know.

    Attributes
    ----------
    steps : dict
        "module:function" of each step of `KernelSet`; loaded when the sampler is used, so that
        help needs no compiler.
    about : str
        What it is, in a line.
    law : str
        What the chain converges to on one thread: "exact", the posterior; "asymptotic", near it
        for large counts.
    parallel_law : str
        The same on several threads; "approximate" where threads change the result.
    draws_phi : bool
        Whether Phi is drawn. Others cannot grow, nor draw it several times a sweep.
    proposes : bool
        Whether `draw_z` takes `mh_steps`.
    """

    steps: dict[str, str]
    about: str
    law: str
    parallel_law: str
    draws_phi: bool = True
    proposes: bool = False

    def law_of(self, n_threads: int) -> str:
        """Return the law for a number of threads."""
        return self.law if n_threads == 1 else self.parallel_law


_COMPILED = {
    "make_layout": "cpu.layout:make_layout",
    "start": "cpu.start:uniform_topics",
    "count": "cpu.counts:count",
    "count_blocks": "cpu.counts:count_blocks",
    "replace_counts": "cpu.counts:replace_counts",
    "enter": "cpu.start:enter",
    "draw_z": "cpu.z:draw_z",
}
_BY_DOCUMENT = _COMPILED | {"make_layout": "cpu.layout:make_document_layout"}
_COLLAPSED = _BY_DOCUMENT | {"draw_phi": "cpu.collapsed_parts:hold_counts"}
_PLAIN = {
    "make_layout": "reference:make_layout",
    "start": "cpu.start:uniform_topics",
    "count": "reference:count",
    "count_blocks": "reference:count_blocks",
    "replace_counts": "reference:replace_counts",
    "enter": "reference:enter",
    "draw_z": "reference:draw_z",
}
SAMPLERS: dict[str, Sampler] = {
    "polya-urn": Sampler(
        _COMPILED | {"draw_phi": "cpu.phi_urn:draw_phi"},
        "Phi as sparse Poisson counts: fast and small",
        law="asymptotic",
        parallel_law="asymptotic",
    ),
    "partially-collapsed": Sampler(
        _COMPILED | {"draw_phi": "cpu.phi_dirichlet:draw_phi"},
        "Phi from its Dirichlet posterior: exact, memory K by V",
        law="exact",
        parallel_law="exact",
    ),
    "polya-urn-mh": Sampler(
        _BY_DOCUMENT | {"draw_phi": "cpu.phi_urn:draw_phi", "draw_z": "cpu.z_mh:draw_z"},
        "the urn with Metropolis-Hastings proposals: for very many topics",
        law="asymptotic",
        parallel_law="asymptotic",
        proposes=True,
    ),
    "collapsed": Sampler(
        _COLLAPSED | {"draw_z": "cpu.collapsed:draw_z"},
        "fully collapsed, three sparse buckets; on several threads AD-LDA, approximate",
        law="exact",
        parallel_law="approximate",
        draws_phi=False,
    ),
    "light": Sampler(
        _COLLAPSED | {"draw_z": "cpu.light:draw_z"},
        "fully collapsed by Metropolis-Hastings (LightLDA); on several threads approximate",
        law="exact",
        parallel_law="approximate",
        draws_phi=False,
        proposes=True,
    ),
    "collapsed-dense": Sampler(
        _COLLAPSED | {"draw_z": "cpu.collapsed_dense:draw_z"},
        "the textbook's collapsed sampler, one thread, O(K) a token: for teaching and testing",
        law="exact",
        parallel_law="exact",
        draws_phi=False,
    ),
}
# Those whose chain on one thread has the posterior as its law; tests of exactness run on each.
EXACT = tuple(name for name, sampler in SAMPLERS.items() if sampler.law == "exact")
# Those that give the same bytes for any number of threads.
THREAD_FREE = tuple(
    name for name, sampler in SAMPLERS.items() if sampler.parallel_law != "approximate"
)
_ON_GPU = {
    "make_layout": "gpu.steps:make_layout",
    "start": "gpu.steps:start",
    "count": "gpu.steps:count",
    "count_blocks": "gpu.steps:count_blocks",
    "replace_counts": "gpu.steps:replace_counts",
    "enter": "gpu.steps:enter",
    "draw_z": "gpu.steps:draw_z",
    "log_posterior": "gpu.log_posterior:log_posterior",
}
# The same samplers on a GPU, with the same bytes.
GPU_SAMPLERS: dict[str, dict[str, str]] = {
    "polya-urn": _ON_GPU | {"draw_phi": "gpu.phi_steps:draw_phi_urn"},
    "partially-collapsed": _ON_GPU
    | {"make_layout": "gpu.steps:make_full_layout", "draw_phi": "gpu.phi_steps:draw_phi_dirichlet"},
}
# Plain NumPy oracles, the same in every byte.
REFERENCES: dict[str, dict[str, str]] = {
    "polya-urn": _PLAIN | {"draw_phi": "reference:draw_phi_urn"},
    "partially-collapsed": _PLAIN | {"draw_phi": "reference:draw_phi_dirichlet"},
}
MH_STEPS = 2  # pairs of proposals a token, when not given
MOST_MH_STEPS = 64


def load_kernels(
    sampler: str,
    *,
    mh_steps: int | None = None,
    reference: bool = False,
    device: str = "cpu",
) -> KernelSet:
    """Return the kernels of a sampler.

    Parameters
    ----------
    sampler : str
        A name from `SAMPLERS`.
    mh_steps : int, optional
        Pairs of Metropolis-Hastings proposals a token, for samplers that have them.
    reference : bool
        Take the plain NumPy oracle instead of the compiled kernels.
    device : {"cpu", "gpu"}
        Where the kernels run; see `polyaurn.backends.devices.check_device`.

    Returns
    -------
    KernelSet
        The steps.
    """
    check_sampler(sampler)
    on_gpu = device == "gpu"
    steps = REFERENCES[sampler] if reference else SAMPLERS[sampler].steps
    steps = GPU_SAMPLERS[sampler] if on_gpu else steps
    loaded = {}
    for step, place in steps.items():
        module, function = place.split(":")
        loaded[step] = getattr(import_module(f"polyaurn.backends.{module}"), function)
    steps_a_token = check_proposals([sampler], mh_steps)
    if SAMPLERS[sampler].proposes:
        loaded["draw_z"] = partial(loaded["draw_z"], mh_steps=steps_a_token)
    return KernelSet(**loaded)


def check_sampler(sampler: Any, name: str = "sampler") -> str:
    """Return the sampler's name, or refuse it with a list of those there are."""
    if sampler not in SAMPLERS:
        raise InputError(
            f"The '{name}' parameter must be one of {', '.join(map(repr, SAMPLERS))}. "
            f"Got {sampler!r} instead; {DEFAULT_SAMPLER!r} is the fastest."
        )
    return str(sampler)


def check_draws_phi(name: str, sampler: Any) -> None:
    """Refuse a parameter that is for samplers which draw Phi."""
    if not SAMPLERS[check_sampler(sampler)].draws_phi:
        having = ", ".join(repr(name) for name, entry in SAMPLERS.items() if entry.draws_phi)
        raise InputError(
            f"The '{name}' parameter must be left out for sampler {sampler!r}, which draws no Phi. "
            f"Samplers that take it are {having}."
        )


def check_proposals(samplers: Sequence[str], mh_steps: Any) -> int:
    """Return the number of pairs of proposals, 2 when not given.

    Refuse it when it is no such number, and when none of the samplers proposes anything.
    """
    if mh_steps is None:
        return MH_STEPS
    if not any(SAMPLERS[sampler].proposes for sampler in samplers):
        having = ", ".join(repr(name) for name, entry in SAMPLERS.items() if entry.proposes)
        raise InputError(
            f"The 'mh_steps' parameter must be left out for sampler {samplers[0]!r}, which "
            f"proposes nothing. Got {mh_steps!r}; samplers that take it are {having}."
        )
    whole = isinstance(mh_steps, int) and not isinstance(mh_steps, bool)
    if not (whole and 1 <= mh_steps <= MOST_MH_STEPS):
        raise InputError(
            f"The 'mh_steps' parameter must be a whole number from 1 to {MOST_MH_STEPS}. "
            f"Got {mh_steps!r} instead; {MH_STEPS} is usual."
        )
    return int(mh_steps)
