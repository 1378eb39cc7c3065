"""The only loop of the project: sweeps, one after another, as a generator."""

import os
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import numpy as np

from polyaurn.backends.devices import check_device
from polyaurn.backends.registry import (
    DEFAULT_SAMPLER,
    SAMPLERS,
    KernelSet,
    check_draws_phi,
    check_sampler,
    load_kernels,
)
from polyaurn.base.arrays import release
from polyaurn.base.rng import check_seed, moment
from polyaurn.base.threads import Workers, count_threads
from polyaurn.chain.learning import learn_priors
from polyaurn.chain.schedule import Plan, Schedule, make_schedule
from polyaurn.chain.starting import check_share, check_start, check_sweeps
from polyaurn.chain.state import (
    WHOLE,
    Cost,
    Counts,
    Halt,
    Info,
    Priors,
    State,
    Work,
    check_invariants,
    check_topics,
    make_priors,
    on_host,
)
from polyaurn.corpus.corpus import Corpus, as_corpus
from polyaurn.evaluate.diagnostics import log_posterior

PLAIN = Plan()
CHECK = os.environ.get("POLYAURN_CHECK", "0") not in ("", "0")  # look for contradictions each sweep


def sweep(
    layout: Any,
    state: State,
    priors: Priors,
    kernels: KernelSet,
    seed: int,
    workers: Workers,
    plan: Plan = PLAIN,
) -> tuple[State, Cost]:
    """Do one sweep: draw Phi given the counts, then topics given Phi.

    Parameters
    ----------
    layout : Layout
        The corpus as the kernels read it.
    state : State
        Where the chain is; left as it is.
    priors : Priors
        alpha, beta.
    kernels : KernelSet
        The sampler.
    seed : int
        The seed; with the sweep's number it fixes every draw.
    workers : Workers
        Threads.
    plan : Plan
        Which share of the documents to visit, in how many parts, whether to raise the priors.

    Returns
    -------
    state : State
        Where the chain is now.
    cost : Cost
        What the two steps took, counting included in the second.
    """
    priors = plan.priors(priors)
    z, counts, work = state.z, state.counts, Work(0)
    phi_seconds = z_seconds = 0.0
    visits = _visits(layout, state, plan)
    several = len(visits) > 1
    new = None
    parts = list(state.parts) if len(state.parts) == len(visits) else []
    for part, blocks in enumerate(visits):
        when = moment(state.sweep, part)
        start = perf_counter()
        phi = None  # free the last one before the next is drawn
        known = _with_pseudo_counts(layout, counts, priors, kernels, workers)
        phi = kernels.draw_phi(layout, known, priors, seed, when, workers)
        middle = perf_counter()
        if plan.share > state.share:
            z = new = kernels.enter(layout, z, phi, seed, when, workers, blocks)
        if several and part == len(parts):
            parts.append(kernels.count_blocks(layout, z, counts, blocks, workers))
        drawn, n, done = kernels.draw_z(layout, z, phi, priors, seed, when, workers, blocks, new)
        if several:
            new = drawn
            counts = kernels.replace_counts(layout, counts, parts[part], n, workers)
            parts[part] = n
        else:
            counts = n
        work = work.plus(done)
        phi_seconds += middle - start
        z_seconds += perf_counter() - middle
    kept = phi if hasattr(phi, "nonzeros") else None
    after = State(drawn, counts, state.sweep + 1, kept, plan.share, tuple(parts), state.priors)
    return after, Cost(phi_seconds, z_seconds, work)


def _with_pseudo_counts(
    layout: Any, counts: Counts, priors: Priors, kernels: KernelSet, workers: Workers
) -> Counts:
    """Return what Phi is drawn given: Phi given n and beta + n0 is Phi given n + n0 and beta."""
    if priors.pseudo is None:
        return counts
    from polyaurn.backends.cpu.collapsed_parts import no_counts

    nothing = no_counts(layout.n_words)
    merged: Counts = kernels.replace_counts(layout, counts, nothing, priors.pseudo, workers)
    return merged


def _visits(layout: Any, state: State, plan: Plan) -> list[Any]:
    """Return the blocks of each part of a sweep; None stands for all."""
    if plan.share < WHOLE or state.share < WHOLE:
        return [np.flatnonzero(layout.share <= plan.share)]
    if plan.refreshes == 1:
        return [None]
    part = np.arange(len(layout.blocks) - 1) % plan.refreshes
    return [np.flatnonzero(part == p) for p in range(min(plan.refreshes, part.max() + 1))]


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
    learn_priors_every: int = 0,
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
    doc_topic_prior : float or array_like of length K
        alpha.
    topic_word_prior : float or array_like of length V
        beta.
    sampler : str
        One of "polya-urn", "partially-collapsed", "polya-urn-mh",
        "collapsed", "light" or "collapsed-dense".
    random_state : int, None or NumPy generator
        The seed. The same seed gives the same chain, and for any number of threads unless the
        sampler is "collapsed" or "light".
    n_jobs : int or None
        Threads; -1 takes all cores.
    evaluate_every : int
        Compute the log posterior every so many sweeps, and after the last; 0 never.
    max_iter : int, optional
        Stop when this many sweeps are done, those before `start` included; without it the
        generator never ends by itself.
    warm_start : {"auto", "grow", "smooth", "random"}
        Begin on a 64th of the documents and double it until all are in ("grow"), or with larger
        priors for the first third of `max_iter` sweeps, at most 120 ("smooth"), or with neither
        ("random", the paper's plain behaviour). "auto" does both, each where it helps: it grows
        when tokens times topics are 4e8 or more, unless `max_iter` is too small, and smooths
        with at most 200 topics. All sweeps count as sweeps.
    phi_refreshes : int or "auto"
        How often Phi is drawn in a sweep over all documents, 1 to 8; the paper's way is 1.
        "auto" takes one for each 40 tokens a word, from 1 to 4.
    mh_steps : int, optional
        Pairs of Metropolis-Hastings proposals a token, 2 when not given; only for samplers that
        propose, "light" and "polya-urn-mh".
    learn_priors_every : int
        Learn an asymmetric alpha and a symmetric beta from the topics every so many sweeps, once
        all documents are in and the start is over; 0 keeps the priors as they are.
    pseudo_counts : sparse or dense matrix of whole numbers, K by V, optional
        Tokens that topics are taken to have had beforehand: the prior of word v in topic k is
        beta[v] plus theirs. For samplers that draw Phi.
    device : {"cpu", "gpu", "auto"}
        Where sweeps run; "auto" takes a GPU where there is one. The topics are the same. A GPU
        runs "polya-urn" and "partially-collapsed"; one that fails raises
        `polyaurn.base.errors.DeviceError`.
    start : State or Halt, optional
        Go on from here instead of from topics drawn uniformly.
    on_compile : callable, optional
        Called without arguments when kernels have to be compiled, which happens once on a
        machine and takes half a minute or so.

    Yields
    ------
    state : State
        Topics, counts, the number of sweeps done, and the Phi of this sweep. Its arrays are new
        every sweep and may be kept. On a GPU they are changed by the next sweep:
        `polyaurn.chain.state.on_host` copies what is to be kept or looked at.
    info : Info
        Timings and the log posterior.

    Examples
    --------
    >>> import polyaurn
    >>> corpus = polyaurn.datasets.generate(n_documents=50, n_words=100, n_topics=5)
    >>> for state, info in polyaurn.sweeps(corpus, n_components=5):
    ...     if info.sweep == 20:
    ...         break
    >>> len(state.z) == corpus.n_tokens
    True
    """
    corpus = as_corpus(corpus)
    K = check_topics(n_components)
    priors = make_priors(doc_topic_prior, topic_word_prior, K, corpus.n_words, pseudo=pseudo_counts)
    if pseudo_counts is not None:
        check_draws_phi("pseudo_counts", sampler)
    seed = check_seed(random_state)
    device = check_device(device, check_sampler(sampler))
    kernels = load_kernels(sampler, mh_steps=mh_steps, device=device)
    if device == "gpu":
        from polyaurn.backends.gpu.failures import guarded

        kernels = guarded(kernels)
    threads = count_threads(n_jobs)
    check_sweeps(max_iter, "max_iter", 1, optional=True)
    check_sweeps(evaluate_every, "evaluate_every", 0)
    check_sweeps(learn_priors_every, "learn_priors_every", 0)
    schedule = make_schedule(
        warm_start,
        phi_refreshes,
        n_tokens=corpus.n_tokens,
        n_words=corpus.n_words,
        n_topics=K,
        max_iter=max_iter,
        sampler=sampler,
    )
    if start is not None:
        start = on_host(start) if isinstance(start, State) else start
        check_start(start, corpus, K)
    law = SAMPLERS[sampler].law_of(threads)
    return _chain(corpus, K, priors, kernels, law, seed, threads, evaluate_every, max_iter,
                  schedule, learn_priors_every, start, on_compile)  # fmt: skip


def _chain(
    corpus: Corpus,
    K: int,
    priors: Priors,
    kernels: KernelSet,
    law: str,
    seed: int,
    threads: int,
    evaluate_every: int,
    max_iter: int | None,
    schedule: Schedule,
    learn_priors_every: int,
    start: State | Halt | None,
    on_compile: Callable[[], None] | None,
) -> Iterator[tuple[State, Info]]:
    with Workers(threads) as workers:
        warm_up(kernels, on_compile, K)
        layout = kernels.make_layout(corpus, K, workers)
        if isinstance(start, State) and kernels.log_posterior is None:
            state = start._replace(phi=None, parts=())
        else:
            halt: Any = start or _beginning(layout, kernels, seed, schedule)
            counts = kernels.count(layout, halt.z, workers)
            state = State(halt.z, counts, halt.sweep, share=halt.share, priors=halt.priors)
            del halt
            release(corpus.word)  # a corpus on disk need not be in memory while sweeps go on
        if start is not None and start.share < WHOLE:
            check_share(layout, state)
        del start
        if state.priors is not None:
            priors = state.priors._replace(pseudo=priors.pseudo)
            state = state._replace(priors=priors)
        tokens = np.add.reduceat(
            np.diff(corpus.doc_ptr)[layout.documents], layout.blocks[:-1], dtype=np.int64
        )  # of each block
        seconds = 0.0
        while max_iter is None or state.sweep < max_iter:
            plan = schedule.plan(state.sweep)
            if state.share == WHOLE and plan.share < WHOLE:  # documents never leave
                plan = Plan(WHOLE, schedule.refreshes, plan.smooth)
            state, cost = sweep(layout, state, priors, kernels, seed, workers, plan)
            if learn_priors_every and plan.phase == "full" and not state.sweep % learn_priors_every:
                begin = perf_counter()
                here = on_host(state._replace(phi=None))
                priors = learn_priors(corpus.doc_ptr, here.z, here.counts, priors)
                state = state._replace(priors=priors)
                cost = cost._replace(phi_seconds=cost.phi_seconds + perf_counter() - begin)
            spent = cost.phi_seconds + cost.z_seconds
            seconds += spent
            if CHECK:
                check_invariants(corpus.word, corpus.n_words, K, on_host(state))
            evaluate = evaluate_every and (
                state.sweep % evaluate_every == 0 or state.sweep == max_iter
            )
            whole = plan.share == WHOLE
            n_tokens = corpus.n_tokens if whole else int(tokens[layout.share <= plan.share].sum())
            yield (
                state,
                Info(
                    sweep=state.sweep,
                    phase=plan.phase,
                    law=law,
                    seconds=seconds,
                    phi_seconds=cost.phi_seconds,
                    z_seconds=cost.z_seconds,
                    log_posterior=(
                        _score(corpus, layout, state, priors, kernels, workers)
                        if evaluate and whole
                        else None
                    ),
                    phi_nonzeros=state.phi.nonzeros if state.phi else 0,
                    tokens_per_second=n_tokens / spent,
                    work_per_token=cost.work.steps / max(1, n_tokens),
                    acceptance=(
                        cost.work.accepted / cost.work.proposed if cost.work.proposed else None
                    ),
                    alpha_sum=float(priors.alpha.sum()),
                    beta_mean=float(priors.beta.mean()),
                ),
            )
            state = state._replace(phi=None)  # free its memory while the next is drawn


def _score(
    corpus: Corpus, layout: Any, state: State, priors: Priors, kernels: KernelSet, workers: Workers
) -> float:
    """Return the log posterior, computed where the state is."""
    if kernels.log_posterior is not None:
        return float(kernels.log_posterior(layout, state, priors))
    return log_posterior(corpus, state, priors, workers)


def _beginning(layout: Any, kernels: KernelSet, seed: int, schedule: Schedule) -> Halt:
    """Return where a chain begins: topics drawn uniformly, for the documents that are in."""
    share = schedule.plan(0).share
    blocks = None if share == WHOLE else np.flatnonzero(layout.share <= share)
    return Halt(kernels.start(layout, seed, blocks), 0, share)


def state_of(
    corpus: Corpus, halt: Halt, n_topics: int, sampler: str, n_jobs: int | None = -1
) -> State:
    """Return the state of a chain that was halted.

    Parameters
    ----------
    corpus : Corpus
        The documents.
    halt : Halt
        Where the chain stopped.
    n_topics : int
        K.
    sampler : str
        Its name.
    n_jobs : int or None
        Threads.

    Returns
    -------
    State
        With its counts, counted again.
    """
    check_start(halt, corpus, n_topics)
    kernels = load_kernels(sampler)
    with Workers(count_threads(n_jobs)) as workers:
        layout = kernels.make_layout(corpus, n_topics, workers)
        counts = kernels.count(layout, halt.z, workers)
    return State(halt.z, counts, halt.sweep, share=halt.share, priors=halt.priors)


def give_all_topics(
    corpus: Corpus,
    state: State,
    priors: Priors,
    sampler: str,
    seed: int,
    n_jobs: int | None = -1,
) -> State:
    """Let all documents join a chain that was stopped while it grew: one sweep over them.

    Parameters
    ----------
    corpus : Corpus
        The documents.
    state : State
        Where the chain stopped.
    priors : Priors
        alpha, beta.
    sampler : str
        Its name.
    seed : int
        The chain's seed.
    n_jobs : int or None
        Threads.

    Returns
    -------
    State
        Every token has a topic; the same state if it had one already.
    """
    if state.share == WHOLE:
        return state
    kernels = load_kernels(sampler)
    with Workers(count_threads(n_jobs)) as workers:
        layout = kernels.make_layout(corpus, len(priors.alpha), workers)
        return sweep(layout, state, priors, kernels, seed, workers)[0]


def warm_up(
    kernels: KernelSet, on_compile: Callable[[], None] | None = None, n_topics: int | None = None
) -> None:
    """Run the kernels once on a tiny corpus, so that compiling does not count as sampling.

    Parameters
    ----------
    kernels : KernelSet
        The sampler.
    on_compile : callable, optional
        Called when this takes longer than loading compiled kernels does.
    n_topics : int, optional
        K of the chain. A GPU has kernels of its own for it, and for documents of several lengths.
    """
    from threading import Timer

    announcer = Timer(2.0, on_compile or (lambda: None))
    announcer.daemon = True
    announcer.start()
    try:
        # More topics than tokens, so that rows come out empty and are drawn again
        _run_once(kernels, Corpus.from_matrix([[2, 1], [0, 1]]), 9, 0.01)
        if n_topics is not None and kernels.log_posterior is not None:
            of_lengths = Corpus.from_matrix([[20, 10], [200, 150], [500, 100], [2000, 100]])
            _run_once(kernels, of_lengths, n_topics, 50.0)
    finally:
        announcer.cancel()


def _run_once(kernels: KernelSet, tiny: Corpus, K: int, beta: float) -> None:
    priors, workers = make_priors(0.1, beta, K, tiny.n_words), Workers(1)
    layout = kernels.make_layout(tiny, K)
    z = kernels.start(layout, 0)
    state = State(z, kernels.count(layout, z, workers), 0)
    state, _ = sweep(layout, state, priors, kernels, 0, workers, Plan(WHOLE, 2))
    _score(tiny, layout, state, priors, kernels, workers)
