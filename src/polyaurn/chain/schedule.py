"""Which documents a sweep visits, with which priors, how often it draws Phi: by its number.

**Growth.** From topics drawn at random, the first sweeps over a large corpus are the slowest, since
every word has nearly every topic, and teach the least. So a chain may begin on a 64th of the
documents, drawn by chance, and double it until all are in; documents join with topics drawn from
the Phi of the moment. This only chooses where the chain over the whole corpus starts, and where a
chain starts does not change what it converges to.

**Smoothing.** With few topics the first sweeps settle early for topics that are blends of several,
and leave them slowly. So a chain may begin with larger priors, under which topics stay mixed until
their words have sorted themselves out. This, too, only chooses a starting point.

**Refreshes.** Phi may be drawn several times in a sweep, before each part of the documents. Each
part is drawn given Phi, and Phi given all topics: still a Gibbs sampler with the same target, but
what one part learnt reaches the next sooner.
"""

from typing import Any, NamedTuple

import numpy as np

from polyaurn.backends.registry import DEFAULT_SAMPLER, SAMPLERS
from polyaurn.base.arrays import F64
from polyaurn.base.errors import InputError
from polyaurn.chain.state import SHARES, WHOLE, Priors

SWEEPS_A_SHARE = 8
LEAST_BEGINNING = 1 << 17  # tokens of the first share
COSTLY_START = 4e8  # tokens times topics from which growing pays
SMOOTH_SWEEPS = 120  # at most, and at most a third of all
MOST_SMOOTH_TOPICS = 200  # with more, smoothing cost more than it brought
SMOOTH_ALPHA, SMOOTH_BETA = (3.0, 0.3), (5.0, 0.05)  # times as large, but not beyond
WARM_STARTS = ("auto", "grow", "smooth", "random")
MOST_REFRESHES = 8
TOKENS_A_WORD = 40  # for each refresh: then drawing Phi costs little beside drawing topics


class Plan(NamedTuple):
    """What one sweep does.

    Attributes
    ----------
    share : int
        Documents visited, in 64ths of the corpus.
    refreshes : int
        How often Phi is drawn.
    smooth : bool
        Whether priors are raised.
    """

    share: int = WHOLE
    refreshes: int = 1
    smooth: bool = False

    @property
    def phase(self) -> str:
        """What the trace says: "grow 1/64", "grow 1/64 smooth" and so on, "smooth", then "full"."""
        parts = [f"grow {self.share}/{WHOLE}"] if self.share < WHOLE else []
        return " ".join(parts + ["smooth"] * self.smooth) or "full"

    def priors(self, given: Priors) -> Priors:
        """Return the priors of the sweep, given those of the model."""
        if not self.smooth:
            return given
        return given._replace(
            alpha=_raise(given.alpha, *SMOOTH_ALPHA), beta=_raise(given.beta, *SMOOTH_BETA)
        )


def _raise(prior: F64, times: float, most: float) -> F64:
    raised: F64 = np.maximum(prior, np.minimum(times * prior, most))
    raised.flags.writeable = False  # as priors are: compiled kernels tell the two apart
    return raised


class Schedule(NamedTuple):
    """What every sweep of a chain does; a function of the sweep's number, so that runs resume."""

    shares: tuple[int, ...]
    refreshes: int
    smooth: int = 0  # sweeps

    def plan(self, sweep: int) -> Plan:
        """Return the plan of a sweep, counted from 0."""
        smooth = sweep < self.smooth
        if sweep < SWEEPS_A_SHARE * len(self.shares):
            return Plan(self.shares[sweep // SWEEPS_A_SHARE], 1, smooth)
        return Plan(WHOLE, self.refreshes, smooth)


def make_schedule(
    warm_start: Any,
    phi_refreshes: Any,
    *,
    n_tokens: int,
    n_words: int,
    n_topics: int,
    max_iter: int | None,
    sampler: str = DEFAULT_SAMPLER,
) -> Schedule:
    """Return the schedule of a chain, or refuse the parameters.

    Parameters
    ----------
    warm_start : {"auto", "grow", "smooth", "random"} or False
        Whether to begin on a share of the documents, or with larger priors. "auto" does the first
        where a random start over all documents is costly, tokens times topics being 4e8 or more,
        and where `max_iter` leaves as many sweeps for the whole corpus; and the second with at
        most 200 topics. False is "auto".
    phi_refreshes : int or "auto"
        How often Phi is drawn in a sweep over all documents. "auto" takes one for each 40 tokens
        a word, from 1 to 4.
    n_tokens, n_words, n_topics : int
        N, V and K.
    max_iter : int, optional
        Sweeps that will be done.
    sampler : str
        Its name; growth and refreshes are for samplers that draw Phi.

    Returns
    -------
    Schedule
        Plans, by sweep.
    """
    if warm_start is False:  # as tools of scikit-learn set it: nothing earlier is gone on from
        warm_start = "auto"
    if warm_start not in WARM_STARTS:
        raise InputError(
            f"The 'warm_start' parameter must be one of {', '.join(map(repr, WARM_STARTS))}. "
            f"Got {warm_start!r} instead; 'random' gives the paper's plain behaviour."
        )
    whole = isinstance(phi_refreshes, int) and not isinstance(phi_refreshes, bool)
    if phi_refreshes != "auto" and not (whole and 1 <= phi_refreshes <= MOST_REFRESHES):
        raise InputError(
            f"The 'phi_refreshes' parameter must be 'auto' or a whole number from 1 to "
            f"{MOST_REFRESHES}. Got {phi_refreshes!r} instead; 1 gives the paper's plain behaviour."
        )
    draws_phi = SAMPLERS[sampler].draws_phi
    if not draws_phi and (warm_start == "grow" or phi_refreshes not in ("auto", 1)):
        name, given = (
            ("warm_start", warm_start) if warm_start == "grow" else ("phi_refreshes", phi_refreshes)
        )
        raise InputError(
            f"The '{name}' parameter must be left as it is for sampler {sampler!r}, which draws no "
            f"Phi. Got {given!r}; samplers that take it are "
            f"{', '.join(repr(name) for name, entry in SAMPLERS.items() if entry.draws_phi)}."
        )
    shares = tuple(share for share in SHARES if share * n_tokens >= WHOLE * LEAST_BEGINNING)
    patient = max_iter is None or max_iter >= 2 * SWEEPS_A_SHARE * len(shares)
    pays = n_tokens * n_topics >= COSTLY_START and patient and draws_phi
    grows = warm_start == "grow" or (warm_start == "auto" and pays)
    smooths = warm_start == "smooth" or (warm_start == "auto" and n_topics <= MOST_SMOOTH_TOPICS)
    smooth = min(SMOOTH_SWEEPS, SMOOTH_SWEEPS if max_iter is None else max_iter // 3)
    if phi_refreshes == "auto":
        most = 4 if draws_phi else 1
        phi_refreshes = min(most, max(1, n_tokens // (TOKENS_A_WORD * n_words)))
    return Schedule(shares if grows else (), phi_refreshes, smooth if smooths else 0)
