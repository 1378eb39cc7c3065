"""The only loop of the project: sweeps, one after another, as a generator."""

import os
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from polyaurn.base.arrays import I64
from polyaurn.base.rng import moment
from polyaurn.chain.hdp import LARGE
from polyaurn.chain.schedule import Plan, Schedule, is_smooth
from polyaurn.chain.state import (
    WHOLE,
    Halt,
    Info,
    Priors,
    State,
    Work,
    check_invariants,
    on_host,
    to_host,
)
from polyaurn.chain.steps import Address, AnySteps, Layout, tokens_of_blocks
from polyaurn.corpus.corpus import Corpus

PLAIN = Plan()
CHECK = os.environ.get("POLYAURN_CHECK", "0") not in ("", "0")  # check invariants each sweep


class Draw(NamedTuple):
    """What a sweep drew and what that took: seconds of its steps, and the work of the z step."""

    phi: Any
    phi_seconds: float
    z_seconds: float
    work: Work


def sweep(state: State, steps: AnySteps, plan: Plan, seed: int) -> tuple[State, Draw]:
    """Draw Phi given the counts, topics given Phi, and priors given the topics.

    The priors close the sweep, so that those of a state always belong to its topics: the log
    posterior, checkpoints and models need them together. A plan may raise the priors for the
    sweep, visit a share of the documents only, or visit them in parts with a Phi before each.
    """
    priors = plan.raised(state.priors)
    visits = _visits(steps.layout, state, plan) if steps.in_parts else [None]
    z, counts, work = state.z, state.counts, Work(0)
    new: Any = None  # topics drawn so far
    parts = list(state.parts) if len(state.parts) == len(visits) else []
    phi_seconds = z_seconds = 0.0
    phi = None
    for part, blocks in enumerate(visits):
        address = Address(seed, moment(state.sweep, part))
        begin = perf_counter()
        phi = None  # free the last one before the next is drawn
        phi = steps.draw_phi(counts, priors, address)
        middle = perf_counter()
        if plan.share > state.share:
            z = new = steps.enter(z, phi, address, blocks)
        if len(visits) == 1:
            new, counts, done = steps.draw_z(z, phi, priors, address, blocks, new)
        else:
            if part == len(parts):
                parts.append(steps.count_blocks(z, counts, blocks))
            new, n, done = steps.draw_z(z, phi, priors, address, blocks, new)
            counts, parts[part] = steps.replace_counts(counts, parts[part], n), n
        work = work.plus(done)
        phi_seconds += middle - begin
        z_seconds += perf_counter() - middle
    begin = perf_counter()
    after = State(
        new, counts, state.priors, state.sweep + 1, plan.share, tuple(parts), is_smooth(plan.phase)
    )
    after = after._replace(priors=steps.draw_priors(after, plan, Address(seed, state.sweep)))
    phi_seconds += perf_counter() - begin
    return after, Draw(phi, phi_seconds, z_seconds, work)


def _visits(layout: Layout, state: State, plan: Plan) -> list[Any]:
    """Return the blocks of each part of a sweep; None stands for all."""
    if plan.share < WHOLE or state.share < WHOLE:
        return [np.flatnonzero(layout.share <= plan.share)]
    if plan.refreshes == 1:
        return [None]
    part = np.arange(len(layout.blocks) - 1) % plan.refreshes
    return [np.flatnonzero(part == p) for p in range(min(plan.refreshes, part.max() + 1))]


def begin(steps: AnySteps, priors: Priors, schedule: Schedule, seed: int) -> State:
    """Return where a chain begins: topics drawn uniformly, for the documents that are in."""
    share = schedule.plan(0).share
    blocks = None if share == WHOLE else np.flatnonzero(steps.layout.share <= share)
    z = steps.start(seed, blocks)
    return State(z, steps.count(z), priors, 0, share)


def resume(steps: AnySteps, priors: Priors, halt: Halt) -> State:
    """Return the state of a chain that stopped, its counts counted again."""
    learned = halt.priors._replace(pseudo=priors.pseudo) if halt.priors else priors
    return State(halt.z, steps.count(halt.z), learned, halt.sweep, halt.share)


def chain(
    corpus: Corpus | None,
    steps: AnySteps,
    state: State,
    schedule: Schedule,
    *,
    seed: int,
    law: str,
    max_iter: int | None = None,
    evaluate_every: int = 0,
    collapsed: Callable[[], AnySteps] | None = None,
) -> Iterator[tuple[State, Info]]:
    """Yield the state after each sweep and what the sweep reports, until `max_iter` are done.

    `collapsed` makes the steps of sweeps that are planned to be collapsed, perhaps on another
    backend. The corpus is needed for checks only; it is None where this process has a part of the
    documents.
    """
    tokens = tokens_of_blocks(steps.layout)
    seconds = 0.0
    first: AnySteps | None = None  # of a collapsed start, as long as that lasts
    while max_iter is None or state.sweep < max_iter:
        plan = schedule.plan(state.sweep)
        if state.share == WHOLE and plan.share < WHOLE:  # documents never leave
            plan = plan._replace(share=WHOLE, refreshes=schedule.refreshes)
        if first is None and plan.collapsed and collapsed is not None:
            first = collapsed()
            state = _handed_over(state, first)
        elif first is not None and not plan.collapsed:
            first = None
            state = _handed_over(state, steps)
        state, draw = sweep(state, first or steps, plan, seed)
        if CHECK and corpus is not None:
            check_invariants(corpus.word, corpus.n_words, len(state.priors.alpha), on_host(state))
        seconds += draw.phi_seconds + draw.z_seconds
        whole = plan.share == WHOLE
        last = state.sweep == max_iter
        scored = whole and evaluate_every and (last or state.sweep % evaluate_every == 0)
        score = (first or steps).log_posterior(state) if scored else None
        visited = int((tokens if whole else tokens[steps.layout.share <= plan.share]).sum())
        sizes = None if state.priors.top is None else (first or steps).topic_sizes(state)
        yield state, _report(state, draw, plan, law, seconds, score, visited, sizes)
        del draw  # free its Phi while the next is drawn


def _handed_over(state: State, steps: AnySteps) -> State:
    """Return a state for steps of another backend: its topics copied, and counted there."""
    z = to_host(state.z)
    return state._replace(z=z, counts=steps.count(z), parts=())


def _report(
    state: State,
    draw: Draw,
    plan: Plan,
    law: str,
    seconds: float,
    log_posterior: float | None,
    n_tokens: int,
    sizes: I64 | None,
) -> Info:
    work = draw.work
    phi = draw.phi if hasattr(draw.phi, "nonzeros") else None
    top = state.priors.top
    return Info(
        sweep=state.sweep,
        phase=plan.phase,
        law=law,
        seconds=seconds,
        phi_seconds=draw.phi_seconds,
        z_seconds=draw.z_seconds,
        log_posterior=log_posterior,
        phi_nonzeros=phi.nonzeros if phi else 0,
        tokens_per_second=n_tokens / (draw.phi_seconds + draw.z_seconds),
        work_per_token=work.steps / max(1, n_tokens),
        acceptance=work.accepted / work.proposed if work.proposed else None,
        alpha_sum=float(state.priors.alpha.sum()),
        beta_mean=float(state.priors.beta.mean()),
        gamma=None if top is None else top.gamma,
        topics=None if sizes is None else int((sizes > 0).sum()),
        large_topics=None if sizes is None else int((sizes > LARGE * sizes.sum()).sum()),
        phi=phi,
    )
