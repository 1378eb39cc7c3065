"""Which documents a sweep visits, with which priors, how often it draws Phi: by its number.

**Growth.** From topics drawn at random, the first sweeps over a large corpus are the slowest, since
every word has nearly every topic, and improve topics the least. So a chain may begin on a 64th of
the documents, drawn at random, and double it until all are in; documents join with topics drawn
from the current Phi. This only chooses where the chain over the whole corpus starts, and where a
chain starts does not change what it converges to.

**Annealing.** The first sweeps settle early for topics that are blends of several, and leave them
slowly. So a chain may begin with a larger beta, under which topics stay mixed until their words
have sorted themselves out, and lower it sweep by sweep to what was asked for: by the same factor
each time, from a quarter of the mean count of a word in a topic. Where beta is learned, it falls no
further than to the one that fits the topics: below that, they would become sharper than they are,
and beta would recover slowly. This, too, only chooses where the chain starts. **Smoothing** is its
form of version 0.1: larger priors for some sweeps.

**A collapsed start.** Given Phi, a token's own count is in the draw, so that rare words hardly
leave their topics; collapsed sampling takes the token out first and needs fewer sweeps. So the
annealed sweeps of a sampler that draws Phi may be collapsed ones, whose topics it continues from.

**Refreshes.** Phi may be drawn several times in a sweep, before each part of the documents. Each
part is drawn given Phi, and Phi given all topics: still a Gibbs sampler with the same target, but
what one part learned reaches the next sooner.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from polyaurn.base.arrays import F64
from polyaurn.base.checks import check_one_of, is_whole, wrong
from polyaurn.base.errors import InputError
from polyaurn.chain.samplers import (
    AUTO,
    SAMPLERS,
    gains_from_collapsed_start,
    samplers_with,
)
from polyaurn.chain.state import SHARES, WHOLE, Priors

SWEEPS_PER_SHARE = 8
LEAST_BEGINNING = 1 << 17  # tokens of the first share
COSTLY_START = 4e8  # tokens times topics from which growing pays
SMOOTH_SWEEPS = 120  # at most, and at most a third of all
MOST_SMOOTH_TOPICS = 200  # with more, smoothing cost more than it brought
SMOOTH_ALPHA, SMOOTH_BETA = (3.0, 0.3), (5.0, 0.05)  # times as large, but not beyond
ANNEALED = 0.75  # share of the sweeps
MOST_ANNEALED = 300  # sweeps
ANNEALED_WITHOUT_END = 100  # sweeps of a chain whose length is not known
HOTTEST = 100.0  # times as large as the beta asked for, at most
FIRST_BETA = 0.25  # times the mean count of a word in a topic
WARM_STARTS = ("auto", "anneal", "collapsed", "grow", "smooth", "random")
AUTO_OF_0_1 = "auto of version 0.1"  # of runs that it began: grows and smooths, each where it helps
MOST_REFRESHES = 8
TOKENS_PER_WORD = 40  # for each refresh: then drawing Phi costs little beside drawing topics


FULL, ANNEAL, SMOOTH, COLLAPSED = "full", "anneal", "smooth", "collapsed"  # phases


def is_smooth(phase: str) -> bool:
    """Return whether a sweep of this phase has another target: raised priors, or collapsed."""
    return phase.endswith((SMOOTH, ANNEAL, COLLAPSED))


def note_of_unfinished_start(record: dict[str, Any]) -> str:
    """Say what the topics are of a chain whose last sweep, of this record, was not a full one."""
    kinds = []
    if record["phase"] not in (SMOOTH, ANNEAL, COLLAPSED):
        kinds.append(
            "of the documents only a share had topics, and the others got theirs in one more sweep"
        )
    if is_smooth(record["phase"]):
        collapsed = record["phase"] == COLLAPSED
        kinds.append(
            f"topics were drawn {'by its collapsed start' if collapsed else 'under raised priors'}"
        )
    return (
        f"The chain ended inside its warm start, after sweep {record['sweep']:,} "
        f"({record['phase']}): {'; '.join(kinds)}. Resume it, run more sweeps, or begin with "
        "warm_start='random' (--warm-start random)."
    )


class Plan(NamedTuple):
    """What one sweep does.

    Attributes
    ----------
    share : int
        Documents visited, in 64ths of the corpus.
    refreshes : int
        How often Phi is drawn.
    smooth : bool
        Whether priors are raised, as in version 0.1.
    heat : float
        How many times as large as `beta` annealing makes it; below 1 in the start of clusters.
    beta : float
        The mean beta asked for, which annealing ends with unless a larger one is learned before.
    collapsed : bool
        Whether topics are drawn by collapsed sampling, in place of the chain's own sampler.
    """

    share: int = WHOLE
    refreshes: int = 1
    smooth: bool = False
    heat: float = 1.0
    collapsed: bool = False
    beta: float = math.inf

    @property
    def phase(self) -> str:
        """As the trace reports it: "grow 1/64", ..., "anneal" and the like, then "full"."""
        if self.collapsed:
            return COLLAPSED
        parts = [f"grow {self.share}/{WHOLE}"] if self.share < WHOLE else []
        parts += [SMOOTH] * self.smooth + [ANNEAL] * (self.heat != 1.0)
        return " ".join(parts) or FULL

    def raised(self, given: Priors) -> Priors:
        """Return the priors of the sweep: the model's, raised in an annealed or smooth start."""
        heat = self.heat_of(given)
        if heat != 1.0:
            beta = heat * given.beta
            beta.flags.writeable = False  # as priors are; a writable one is compiled for again
            return given._replace(beta=beta)
        if not self.smooth:
            return given
        return given._replace(
            alpha=_raise(given.alpha, *SMOOTH_ALPHA), beta=_raise(given.beta, *SMOOTH_BETA)
        )

    def heat_of(self, given: Priors) -> float:
        """Return how many times as large beta is made: 1 where a larger one has been learned."""
        mean = float(given.beta.mean())
        if self.heat <= 1.0 or mean <= self.beta:
            return self.heat
        return max(1.0, self.heat * self.beta / mean)


def _raise(prior: F64, times: float, most: float) -> F64:
    raised: F64 = np.maximum(prior, np.minimum(times * prior, most))
    raised.flags.writeable = False
    return raised


class Schedule(NamedTuple):
    """What every sweep of a chain does; a function of the sweep's number, so that runs resume."""

    shares: tuple[int, ...]
    refreshes: int
    smooth: int = 0  # sweeps
    annealed: int = 0  # sweeps
    heat: float = 1.0  # of the first one
    collapsed: int = 0  # sweeps
    beta: float = math.inf  # the mean asked for

    def plan(self, sweep: int) -> Plan:
        """Return the plan of a sweep, counted from 0."""
        smooth = sweep < self.smooth
        heat = self.heat ** (1 - sweep / self.annealed) if sweep < self.annealed else 1.0
        if sweep < self.collapsed:
            return Plan(heat=heat, collapsed=True, beta=self.beta)
        if sweep < SWEEPS_PER_SHARE * len(self.shares):
            share = self.shares[sweep // SWEEPS_PER_SHARE]
            return Plan(share, 1, smooth, heat, beta=self.beta)
        return Plan(WHOLE, self.refreshes, smooth, heat, beta=self.beta)

    def continued(self, sweep: int, *, smooth: bool) -> "Schedule":
        """Return the schedule of a chain that did so many sweeps, the last of them smooth or not.

        Neither raised priors nor collapsed sweeps ever follow a sweep of the chain that was asked
        for, however many sweeps are asked for now.
        """
        return self if smooth or sweep == 0 else self._replace(smooth=0, annealed=0, collapsed=0)


def make_schedule(
    warm_start: Any,
    phi_refreshes: Any,
    *,
    n_tokens: int,
    n_words: int,
    n_topics: int,
    max_iter: int | None,
    sampler: str = "polya-urn",
    beta: float = 0.01,
    learns: bool = False,
    start_topics: int | None = None,
) -> Schedule:
    """Return the schedule of a chain, or reject the parameters.

    `warm_start` "auto" begins collapsed where an exact sampler gains from it. Otherwise it grows
    where a random start over all documents is costly and `max_iter` leaves as many sweeps for the
    whole corpus, and anneals elsewhere; where priors are learned (`learns`) it anneals in any case.
    False is "auto". `beta` is the mean of the priors of words, and `start_topics` says how many
    topics have tokens at first, where these are not all.
    `phi_refreshes` "auto" draws Phi once for each 40 tokens per word, from 1 to 4 times.
    """
    if warm_start is False:  # as tools of scikit-learn set it: do not continue an earlier fit
        warm_start = "auto"
    check_warm_start(warm_start)
    if warm_start == "auto" and gains_from_collapsed_start(sampler, n_tokens, n_topics):
        warm_start = COLLAPSED
    phi_refreshes = check_phi_refreshes(phi_refreshes)
    draws_phi = sampler == AUTO or SAMPLERS[sampler].draws_phi
    for name, given, wanted in (
        ("warm_start", warm_start, warm_start in ("grow", COLLAPSED)),
        ("phi_refreshes", phi_refreshes, phi_refreshes not in ("auto", 1)),
    ):
        if wanted and not draws_phi:
            raise InputError(
                f"The '{name}' parameter must be left as it is for sampler {sampler!r}, which "
                f"draws no Phi. Got {given!r}; samplers that take it are "
                f"{samplers_with('draws_phi')}."
            )
    shares = tuple(share for share in SHARES if share * n_tokens >= WHOLE * LEAST_BEGINNING)
    patient = max_iter is None or max_iter >= 2 * SWEEPS_PER_SHARE * len(shares)
    pays = n_tokens * n_topics >= COSTLY_START and patient and draws_phi
    grows = warm_start == "grow" or (warm_start in ("auto", AUTO_OF_0_1) and pays)
    # learned from the peaked topics of a chain that only grew, beta falls far below its value
    anneals = warm_start in ("anneal", COLLAPSED) or (
        warm_start == "auto" and (learns or not grows)
    )
    smooths = warm_start == "smooth" or (
        warm_start == AUTO_OF_0_1 and n_topics <= MOST_SMOOTH_TOPICS
    )
    smooth = min(SMOOTH_SWEEPS, SMOOTH_SWEEPS if max_iter is None else max_iter // 3)
    annealed = ANNEALED_WITHOUT_END
    if max_iter is not None:
        annealed = min(MOST_ANNEALED, int(ANNEALED * max_iter))
    heat = min(
        HOTTEST, FIRST_BETA * n_tokens / (max(1, n_words) * (start_topics or n_topics)) / beta
    )
    if phi_refreshes == "auto":
        most = 4 if draws_phi else 1
        phi_refreshes = min(most, max(1, n_tokens // (TOKENS_PER_WORD * n_words)))
    return Schedule(
        shares if grows else (),
        int(phi_refreshes),
        smooth if smooths else 0,
        annealed if anneals and heat > 1.0 else 0,
        max(1.0, heat),
        annealed if warm_start == COLLAPSED else 0,
        beta,
    )


def check_warm_start(value: Any) -> Any:
    """Return how a chain begins; False, which tools of scikit-learn set, stands for "auto"."""
    if value is False or value == AUTO_OF_0_1:
        return value
    remedy = "'random' gives the paper's plain behaviour"
    return check_one_of(value, "warm_start", WARM_STARTS, remedy=remedy)


def check_phi_refreshes(value: Any) -> int | str:
    """Return how often Phi is drawn in a sweep, or "auto"."""
    if isinstance(value, str) and value == "auto":
        return value
    if is_whole(value) and 1 <= value <= MOST_REFRESHES:
        return int(value)
    expected = f"'auto' or a whole number from 1 to {MOST_REFRESHES}"
    raise wrong("phi_refreshes", expected, value, "1 gives the paper's plain behaviour")
