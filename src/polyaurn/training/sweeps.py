"""Sweeps of a chain as users run them: parameters checked, a backend chosen, kernels compiled."""

from collections.abc import Callable, Iterator
from threading import Timer
from typing import Any

from polyaurn.backends.backend import MakeSteps
from polyaurn.backends.registry import BACKENDS, check_device, load_steps
from polyaurn.base.arrays import release
from polyaurn.base.checks import wrong
from polyaurn.base.threads import Workers, count_threads
from polyaurn.chain.hdp import HDP, first_top
from polyaurn.chain.loop import begin, chain, resume, sweep
from polyaurn.chain.priors import make_priors
from polyaurn.chain.samplers import (
    COLLAPSED_START,
    DEFAULT_SAMPLER,
    SAMPLERS,
    check_proposals,
)
from polyaurn.chain.schedule import Plan, Schedule
from polyaurn.chain.state import (
    WHOLE,
    Halt,
    Info,
    Priors,
    State,
    check_share,
    check_start,
    halt_of,
    on_host,
)
from polyaurn.chain.steps import AnySteps
from polyaurn.corpus.corpus import Corpus
from polyaurn.corpus.inputs import as_corpus
from polyaurn.training.settings import LEARN_EVERY, SETTINGS, Settings

MOST_BALLS = 2e9  # of the prior, for one word: their number is drawn around it, and is below 2**31


def sweeps(
    corpus: Any,
    n_components: int = 100,
    *,
    doc_topic_prior: Any = 0.1,
    topic_word_prior: Any = 0.01,
    sampler: str = DEFAULT_SAMPLER,
    random_state: Any = 0,
    n_jobs: int | None = -1,
    evaluate_every: int = 10,
    max_iter: int | None = None,
    warm_start: str = "auto",
    phi_refreshes: int | str = "auto",
    mh_steps: int | None = None,
    learn_priors_every: int = LEARN_EVERY,
    model: str = "lda",
    gamma: float = 1.0,
    alpha_prior: Any = (1.0, 1.0),
    gamma_prior: Any = (1.0, 1.0),
    topic_weights: str = "dirichlet",
    start_topics: int | None = None,
    pseudo_counts: Any = None,
    device: str = "cpu",
    start: State | Halt | None = None,
    on_compile: Callable[[], None] | None = None,
) -> Iterator[tuple[State, Info]]:
    """Iterate over the sweeps of a chain; stop when you like.

    Parameters
    ----------
    corpus : Corpus, matrix of counts, or sequence of str
        The documents.
    n_components : int
        Number of topics, K.
    doc_topic_prior : float, array_like of length K, or str
        alpha.
    topic_word_prior : float or array_like of length V
        beta.
    sampler : str
        "auto", which takes "partitioned" up to 5e9 tokens times topics; beyond, "sparse-dirichlet"
        where priors are learned and "polya-urn" elsewhere; and "polya-urn" on a GPU. Or a name
        in `polyaurn.chain.samplers.SAMPLERS`; the page on samplers describes them.
    random_state : int, None or NumPy generator
        The seed. The same seed gives the same chain, and for any number of threads, except with
        samplers that are approximate on several.
    n_jobs : int or None
        Threads; -1 takes all cores.
    evaluate_every : int
        Compute the log posterior every so many sweeps, and after the last; 0 for never.
    max_iter : int, optional
        Stop when this many sweeps are done, those before `start` included; without it the
        generator never ends by itself.
    warm_start : {"auto", "anneal", "collapsed", "grow", "smooth", "random"}
        Begin with a larger beta and lower it to the one asked for, over 75% of `max_iter` sweeps
        and at most 300, or 100 where the end is not known ("anneal"); do so with "partitioned",
        and continue with a sampler that draws Phi ("collapsed"); or begin on a 64th of the
        documents and double it until all are in ("grow"); or with larger priors for the first
        third of `max_iter` sweeps, at most 120 ("smooth", as in version 0.1); or with none of these
        ("random", the paper's plain behaviour). "auto" is "collapsed" for "sparse-dirichlet" up to
        5e9 tokens times topics; otherwise it grows where the sampler draws Phi, tokens times topics
        are 4e8 or more and `max_iter` is large enough, and anneals elsewhere. All sweeps count as
        sweeps.
    phi_refreshes : int or "auto"
        How often Phi is drawn in a sweep over all documents, 1 to 8; the paper's way is 1.
        "auto" takes one for each 40 tokens per word, from 1 to 4.
    mh_steps : int, optional
        Pairs of Metropolis-Hastings proposals per token, 2 when not given; only for samplers that
        propose.
    learn_priors_every : int
        Learn an asymmetric alpha and a symmetric beta from the topics every so many sweeps, once
        all documents are in and the start is over; 0 keeps the priors as they are.
    model : {"lda", "hdp"}
        "hdp" is a hierarchical Dirichlet process of at most `n_components` topics, whose priors of
        topics are drawn in every sweep; `learn_priors_every` then learns beta. See `polyaurn.HDP`
        for the following parameters, which are its own.
    gamma : float
        Concentration of the weights of topics.
    alpha_prior, gamma_prior : pair of float, or None
        Shape and rate of the gamma prior of a concentration; None keeps it as given.
    topic_weights : {"dirichlet", "sticks"}
        The prior of the weights of topics.
    start_topics : int, optional
        Topics that tokens are spread over at first; 100 when not given.
    pseudo_counts : sparse or dense matrix, K by V, optional
        Tokens that topics are taken to have had beforehand: the prior of word v in topic k is
        beta[v] plus theirs. Fractions are rounded to 2**-20.
    device : {"cpu", "gpu", "auto"}
        Where sweeps run; "auto" takes a GPU where there is one. The topics are the same. A GPU
        runs some of the samplers (see the page on GPUs), and the sweeps of a collapsed start on the
        CPU; one that fails raises `polyaurn.base.errors.DeviceError`.
    start : State or Halt, optional
        Continue from here instead of from topics drawn uniformly. A chain that did a full sweep
        does not smooth again.
    on_compile : callable, optional
        Called without arguments when kernels have to be compiled, which happens once on a
        machine and takes half a minute or so.

    Yields
    ------
    state : State
        Topics, counts, priors and the number of sweeps done. Its arrays are new
        every sweep and may be kept. On a GPU they are changed by the next sweep:
        `polyaurn.state.on_host` copies what is to be kept or looked at.
    info : Info
        Timings and the log posterior. `info.phase` is "full" once the warm start is over; before
        that, topics are drawn under raised priors ("smooth") or for a share of the documents
        ("grow 1/64"), and are no draws of the chain that was asked for.

    Examples
    --------
    >>> import polyaurn
    >>> corpus = polyaurn.datasets.generate(n_documents=50, n_words=100, n_topics=5)
    >>> for state, info in polyaurn.sweeps(corpus, n_components=5, max_iter=60):
    ...     if info.phase == "full" and info.sweep >= 40:
    ...         break
    >>> len(state.z) == corpus.n_tokens
    True
    """
    given = dict(locals())  # parameters by name, so that none is left out
    of_chain = {name: given[name] for name, known in SETTINGS.items() if known.of_chain}
    corpus = as_corpus(corpus)
    settings = Settings(**of_chain | {"max_iter": 1 if max_iter is None else max_iter})
    backend = check_device(device, sampler)
    settings = settings.for_corpus(corpus.n_tokens, corpus.n_documents, backend)
    sampler = settings.sampler
    max_iter = None if max_iter is None else settings.max_iter
    K, seed = settings.n_components, settings.random_state
    priors = settings.priors(corpus.n_words, pseudo_counts)
    check_balls(priors, sampler)
    mh_steps = check_proposals([sampler], mh_steps)
    learn, hdp = settings.learn_priors_every, settings.hdp
    threads = count_threads(n_jobs)
    schedule = settings.schedule(
        corpus.n_tokens, corpus.n_words, max_iter, float(priors.beta.mean())
    )
    if start is not None:
        start = on_host(start) if isinstance(start, State) else start
        check_start(start, corpus, K)
        schedule = schedule.continued(start.sweep, smooth=start.smooth)
    made = load_steps(sampler, backend)
    first = load_steps(COLLAPSED_START) if schedule.collapsed else made

    def run(start: State | Halt | None) -> Iterator[tuple[State, Info]]:
        with Workers(threads) as workers:
            of_lengths = K if BACKENDS[backend].in_place else None
            warm_up(made, on_compile, of_lengths, learns=learn > 0, hdp=hdp)
            if schedule.collapsed:
                warm_up(first, on_compile, learns=learn > 0, hdp=hdp)
            steps = made(corpus, K, workers, mh_steps=mh_steps, learn_every=learn, hdp=hdp)
            state = _first_state(corpus, steps, priors, schedule, seed, start)
            del start
            yield from chain(
                corpus, steps, state, schedule, seed=seed, law=SAMPLERS[sampler].law_of(threads),
                max_iter=max_iter, evaluate_every=settings.evaluate_every,
                collapsed=lambda: first(corpus, K, workers, learn_every=learn, hdp=hdp),
            )  # fmt: skip

    return run(start)


def check_balls(priors: Priors, sampler: str) -> None:
    """Reject a beta for which an urn's balls of one word, about beta times K, overflow 32 bits."""
    K, beta = len(priors.alpha), float(priors.beta.max())
    if SAMPLERS[sampler].is_urn and beta * K > MOST_BALLS:
        raise wrong(
            "topic_word_prior", f"at most {MOST_BALLS / K:.4g} with {K:,} topics for {sampler!r}",
            beta, "give a smaller one, or take sampler='partially-collapsed'",
        )  # fmt: skip


def _first_state(
    corpus: Corpus,
    steps: AnySteps,
    priors: Priors,
    schedule: Schedule,
    seed: int,
    start: State | Halt | None,
) -> State:
    """Return where a chain begins, or continues."""
    if start is None:
        state = begin(steps, priors, schedule, seed)
    else:
        state = resume(steps, priors, start if isinstance(start, Halt) else halt_of(start))
        if start.share < WHOLE:
            check_share(steps.layout, state)
    release(corpus.word)  # a corpus on disk need not be in memory while a chain runs
    return state


def state_of(
    corpus: Corpus,
    halt: Halt,
    priors: Priors,
    sampler: str,
    n_jobs: int | None = -1,
) -> State:
    """Return the state of a chain that was halted, its counts counted again."""
    check_start(halt, corpus, len(priors.alpha))
    with Workers(count_threads(n_jobs)) as workers:
        state = resume(load_steps(sampler)(corpus, len(priors.alpha), workers), priors, halt)
        return state._replace(smooth=halt.smooth)


def give_all_topics(
    corpus: Corpus, state: State, sampler: str, seed: int, n_jobs: int | None = -1
) -> State:
    """Let all documents join a chain that was stopped while it grew: one sweep over them."""
    if state.share == WHOLE:
        return state
    with Workers(count_threads(n_jobs)) as workers:
        steps = load_steps(sampler)(corpus, len(state.priors.alpha), workers)
        return sweep(state, steps, Plan(), seed)[0]


def warm_up(
    steps: MakeSteps[Any, Any, Any],
    on_compile: Callable[[], None] | None = None,
    n_topics: int | None = None,
    *,
    learns: bool = False,
    hdp: HDP | None = None,
) -> None:
    """Run a sampler's steps once on a tiny corpus, so that compiling does not count as sampling.

    `on_compile` is called when this takes longer than loading compiled kernels does. With
    `n_topics`, kernels for that many topics and for documents of several lengths run as well;
    `learns` says whether priors are learned, and `hdp` how they are drawn.
    """
    announcer = Timer(2.0, on_compile or (lambda: None))
    announcer.daemon = True
    announcer.start()
    try:
        # More topics than tokens, so that rows come out empty and are drawn again
        _run_once(steps, Corpus.from_matrix([[2, 1], [0, 1]]), 9, 0.01, learns, hdp)
        if n_topics is not None:
            of_lengths = Corpus.from_matrix([[20, 10], [200, 150], [500, 100], [2000, 100]])
            _run_once(steps, of_lengths, n_topics, 50.0, learns, hdp)
    finally:
        announcer.cancel()


def _run_once(
    steps: MakeSteps[Any, Any, Any],
    tiny: Corpus,
    K: int,
    beta: float,
    learns: bool,
    hdp: HDP | None,
) -> None:
    priors = make_priors(0.1, beta, K, tiny.n_words)
    if hdp is not None:
        hdp = hdp._replace(start_topics=None)  # of as many topics as the tiny corpus has
        alpha, top = first_top(1.0, 1.0, K, K)
        priors = priors._replace(alpha=alpha, top=top)
    made = steps(tiny, K, learn_every=int(learns), hdp=hdp)
    state = begin(made, priors, Schedule((), 2), 0)
    state, _ = sweep(state, made, Plan(WHOLE, 2), 0)
    made.log_posterior(state)
