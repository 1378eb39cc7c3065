"""Which documents a sweep visits, and how often it draws Phi: decided by the sweep's number.

**Growth.** From topics drawn at random, the first sweeps over a large corpus are the slowest, since
every word has nearly every topic, and teach the least. So a chain may begin on a 64th of the
documents, drawn by chance, and double it until all are in; documents join with topics drawn from
the Phi of the moment. This only chooses where the chain over the whole corpus starts, and where a
chain starts does not change what it converges to.

**Refreshes.** Phi may be drawn several times in a sweep, after each part of the documents. Each part
is drawn given Phi, and Phi given all topics: still a Gibbs sampler with the same target, but what
one part learnt reaches the next sooner.
"""

from typing import Any, NamedTuple

from polyaurn.errors import InputError

WHOLE = 64  # shares of the corpus are counted in 64ths
GROWTH = (1, 2, 4, 8, 16, 32)  # shares visited before all documents are in
SWEEPS_A_SHARE = 4
WARM_STARTS = ("auto", "grow", "random")
LEAST_GROWN = 1 << 18  # tokens of a corpus for which growing pays
MOST_REFRESHES = 8


class Plan(NamedTuple):
    """What one sweep does.

    Attributes
    ----------
    share : int
        Documents visited, in 64ths of the corpus.
    refreshes : int
        How often Phi is drawn.
    """

    share: int = WHOLE
    refreshes: int = 1

    @property
    def phase(self) -> str:
        """What the trace says: "grow 1/64" and so on, then "full"."""
        return "full" if self.share == WHOLE else f"grow {self.share}/{WHOLE}"


class Schedule(NamedTuple):
    """What every sweep of a chain does; a function of the sweep's number, so that runs resume."""

    grows: bool
    refreshes: int

    def plan(self, sweep: int) -> Plan:
        """Return the plan of a sweep, counted from 0."""
        if self.grows and sweep < SWEEPS_A_SHARE * len(GROWTH):
            return Plan(GROWTH[sweep // SWEEPS_A_SHARE])
        return Plan(WHOLE, self.refreshes)


def make_schedule(
    warm_start: Any, phi_refreshes: Any, n_tokens: int, n_words: int, max_iter: int | None
) -> Schedule:
    """Return the schedule of a chain, or refuse the parameters.

    Parameters
    ----------
    warm_start : {"auto", "grow", "random"}
        Whether to begin on a share of the documents. "auto" does so where it helps: for corpora
        of at least 262,144 tokens, if `max_iter` leaves as many sweeps over all documents.
    phi_refreshes : int or "auto"
        How often Phi is drawn in a sweep over all documents.
    n_tokens, n_words : int
        N and V.
    max_iter : int, optional
        Sweeps that will be done.

    Returns
    -------
    Schedule
        Plans, by sweep.
    """
    if warm_start not in WARM_STARTS:
        raise InputError(
            f"The 'warm_start' parameter must be one of {', '.join(map(repr, WARM_STARTS))}. "
            f"Got {warm_start!r} instead; 'random' gives the paper's plain behaviour."
        )
    automatic = phi_refreshes == "auto"
    whole = isinstance(phi_refreshes, int) and not isinstance(phi_refreshes, bool)
    if not (automatic or (whole and 1 <= phi_refreshes <= MOST_REFRESHES)):
        raise InputError(
            f"The 'phi_refreshes' parameter must be 'auto' or a whole number from 1 to "
            f"{MOST_REFRESHES}. Got {phi_refreshes!r} instead; 1 gives the paper's plain behaviour."
        )
    large = n_tokens >= LEAST_GROWN
    patient = max_iter is None or max_iter >= 2 * SWEEPS_A_SHARE * len(GROWTH)
    return Schedule(
        grows=large and (warm_start == "grow" or (warm_start == "auto" and patient)),
        refreshes=refreshes_for(n_tokens, n_words) if automatic else phi_refreshes,
    )


def refreshes_for(n_tokens: int, n_words: int) -> int:
    """Return how many refreshes pay: their cost grows with words, that of topics with tokens."""
    return 1
