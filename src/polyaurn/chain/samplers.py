"""The list of samplers: everything that is known about each without running it.

A sampler is an entry of `SAMPLERS` and, in each of its backends, a file with its name whose class
`Steps` does the arithmetic: "polya-urn" is ``backends/cpu/polya_urn.py``. Every test of the
contract runs on each entry.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from polyaurn.base.checks import check_one_of, check_whole
from polyaurn.base.errors import InputError

AUTO = "auto"  # chooses by the size of the problem, see `choose_sampler`
DEFAULT_SAMPLER = AUTO
SMALL_WORK = 5e9  # tokens times topics up to which collapsed sampling is ahead
MOST_ROWS = 4e9  # bytes of its counts by document and topic
COLLAPSED_START = "partitioned"  # what samples in a collapsed start
# What "auto" takes to learn LDA's priors where collapsed sampling has no kernels.
# "sparse-dirichlet" does not bias them and is to take its place here, once measured there.
LEARNS_ELSEWHERE = "polya-urn"
UNBIASED = ("partitioned", "sparse-dirichlet")  # to learn or draw priors with, the best first
COMPARED = ("polya-urn", "partially-collapsed", "collapsed", "light")  # side by side, by default


class Sampler(NamedTuple):
    """What users and the rest of the package should know about a sampler.

    Attributes
    ----------
    about : str
        What it is, in a line.
    law : str
        What the chain converges to on one thread: "exact", the posterior; "asymptotic", near it
        for large counts.
    parallel_law : str
        The same on several threads; "approximate" where threads change the result.
    draws_phi : bool
        Whether Phi is drawn. Others cannot grow, nor draw it several times per sweep.
    is_urn : bool
        Whether Phi is drawn as counts from an urn, about beta times K balls of each word beside
        its tokens. Priors that are learned or drawn with it are biased.
    proposes : bool
        Whether topics are proposed and accepted, `mh_steps` times per token.
    cell_bytes : int
        Bytes of the computer's memory for each word and topic; 0 where memory is sparse.
    thread_cell_bytes : int
        The same for each thread, which counts by itself what it draws.
    row_bytes : int
        Bytes for each document and topic.
    backends : tuple of str
        Where it runs.
    referenced : bool
        Whether the plain reference has it, too.
    begins_collapsed : bool
        Whether `warm_start` "auto" has collapsed sampling begin its chain, up to `SMALL_WORK`.
    """

    about: str
    law: str
    parallel_law: str
    draws_phi: bool = True
    is_urn: bool = False
    proposes: bool = False
    cell_bytes: int = 0
    thread_cell_bytes: int = 0
    row_bytes: int = 0
    backends: tuple[str, ...] = ("cpu",)
    referenced: bool = False
    begins_collapsed: bool = False

    def law_of(self, n_threads: int) -> str:
        """Return what the chain converges to on a number of threads."""
        return self.law if n_threads == 1 else self.parallel_law

    def bytes_of_cell(self, n_threads: int) -> int:
        """Return the bytes of memory for each word and topic on a number of threads."""
        return self.cell_bytes + self.thread_cell_bytes * n_threads


SAMPLERS: dict[str, Sampler] = {
    "polya-urn": Sampler(
        "Phi as sparse Poisson counts: fast and small",
        law="asymptotic",
        parallel_law="asymptotic",
        is_urn=True,
        backends=("cpu", "gpu"),
        referenced=True,
    ),
    "partially-collapsed": Sampler(
        "Phi from its Dirichlet posterior: exact, memory K by V",
        law="exact",
        parallel_law="exact",
        cell_bytes=14,
        thread_cell_bytes=4,
        backends=("cpu", "gpu"),
        referenced=True,
    ),
    "sparse-dirichlet": Sampler(
        "the same, kept sparse: exact up to rounding its smallest parts, fast and small",
        law="exact",
        parallel_law="exact",
        backends=("cpu", "gpu"),
        referenced=True,
        begins_collapsed=True,
    ),
    "polya-urn-mh": Sampler(
        "the urn with Metropolis-Hastings proposals: for very many topics",
        law="asymptotic",
        parallel_law="asymptotic",
        is_urn=True,
        proposes=True,
    ),
    "collapsed": Sampler(
        "fully collapsed, three sparse buckets; on several threads AD-LDA, approximate",
        law="exact",
        parallel_law="approximate",
        draws_phi=False,
    ),
    "partitioned": Sampler(
        "fully collapsed on any number of threads: only totals of topics wait for each other",
        law="asymptotic",
        parallel_law="asymptotic",
        draws_phi=False,
        row_bytes=2,
    ),
    "light": Sampler(
        "fully collapsed by Metropolis-Hastings (LightLDA); on several threads approximate",
        law="exact",
        parallel_law="approximate",
        draws_phi=False,
        proposes=True,
    ),
    "collapsed-dense": Sampler(
        "the textbook's collapsed sampler, one thread, O(K) per token: for teaching and testing",
        law="exact",
        parallel_law="exact",
        draws_phi=False,
        cell_bytes=4,
    ),
}
# Samplers whose chain on one thread converges to the posterior; tests of exactness run on each.
EXACT = tuple(name for name, sampler in SAMPLERS.items() if sampler.law == "exact")
# Samplers that give the same bytes for any number of threads.
THREAD_FREE = tuple(
    name for name, sampler in SAMPLERS.items() if sampler.parallel_law != "approximate"
)
# Samplers that have a plain NumPy oracle, the same in every byte.
REFERENCED = tuple(name for name, sampler in SAMPLERS.items() if sampler.referenced)
MH_STEPS = 2  # pairs of proposals per token, when not given
MOST_MH_STEPS = 64


def samplers_with(fact: str) -> str:
    """Return the names of the samplers of which a yes-or-no fact is true, for a sentence."""
    return ", ".join(repr(name) for name, entry in SAMPLERS.items() if getattr(entry, fact))


def samplers_in_brief() -> str:
    """Return the samplers with a line about each, for help."""
    listed = "; ".join(f"'{name}' ({entry.about})" for name, entry in SAMPLERS.items())
    return f"'{AUTO}' (by the size of the problem); {listed}"


def samplers_on(backend: str) -> tuple[str, ...]:
    """Return the names of the samplers that run on a backend."""
    return tuple(name for name, entry in SAMPLERS.items() if backend in entry.backends)


def unbiased_on(backend: str) -> str:
    """Return the sampler that takes an urn's place on a backend where its bias matters."""
    return next(name for name in UNBIASED if backend in SAMPLERS[name].backends)


def gains_from_collapsed_start(sampler: str, n_tokens: int, n_topics: int) -> bool:
    """Return whether a sampler of Phi is ahead when collapsed sampling begins its chain.

    The device is not asked: a chain must not depend on it. Collapsed sweeps run on the CPU in any
    case.
    """
    small = n_tokens * n_topics <= SMALL_WORK
    return sampler != AUTO and SAMPLERS[sampler].begins_collapsed and small


def check_sampler(sampler: Any, name: str = "sampler") -> str:
    """Return the sampler's name, or reject it with a list of the samplers."""
    return check_one_of(sampler, name, (AUTO, *SAMPLERS), remedy=f"{AUTO!r} chooses by size")


def choose_sampler(
    sampler: str,
    *,
    n_tokens: int,
    n_documents: int,
    n_topics: int,
    backend: str = "cpu",
    warm_start: Any = "auto",
    phi_refreshes: Any = "auto",
    learns: bool = False,
    hdp: bool = False,
    on_shards: bool = False,
) -> str:
    """Return the sampler that "auto" stands for; any other name as it is.

    Collapsed sampling reaches a held-out score first while tokens times topics are few. Beyond, and
    for what only samplers that draw Phi can do, shards among it, "sparse-dirichlet" where priors
    are learned, which the urn would bias, and the urn elsewhere: both grow and need less memory.
    Where collapsed sampling has no kernels, `LEARNS_ELSEWHERE` and the urn. A hierarchical
    Dirichlet process draws its weights in every sweep, and never takes the urn.
    """
    if sampler != AUTO:
        return sampler
    if backend not in SAMPLERS["partitioned"].backends:
        if hdp:
            return unbiased_on(backend)
        return LEARNS_ELSEWHERE if learns else "polya-urn"
    of_phi = on_shards or warm_start in ("grow", "collapsed") or phi_refreshes not in (AUTO, 1)
    large = n_tokens * n_topics > SMALL_WORK
    rows = SAMPLERS["partitioned"].row_bytes * n_documents * n_topics > MOST_ROWS
    if of_phi or large or rows:
        return "sparse-dirichlet" if learns or hdp else "polya-urn"
    return "partitioned"


def check_proposals(samplers: Sequence[str], mh_steps: Any) -> int:
    """Return the number of pairs of proposals, 2 when not given, for samplers that propose."""
    if mh_steps is None:
        return MH_STEPS
    if not any(sampler in SAMPLERS and SAMPLERS[sampler].proposes for sampler in samplers):
        raise InputError(
            f"The 'mh_steps' parameter must be left out for sampler {samplers[0]!r}, which "
            f"proposes nothing. Got {mh_steps!r}; samplers that take it are "
            f"{samplers_with('proposes')}."
        )
    return check_whole(mh_steps, "mh_steps", 1, MOST_MH_STEPS, remedy=f"{MH_STEPS} is usual")
