"""Training slice by slice: what the slices before, and after, put into the prior of each.

Forward, the prior of slice t holds F[t] = carry^s (F[t-1] + n[t-1]), where n[t] are the counts of
topics by words in slice t and s the spans of time between the two. Backward, that of slice t
holds F[t] + B[t], where B[t] = carry^s (B[t+1] + n[t+1]).
"""

import hashlib
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from polyaurn.base.arrays import I64
from polyaurn.base.checks import check_fraction, check_whole
from polyaurn.base.errors import InputError
from polyaurn.base.rng import Purpose, bits, chain_seed, key
from polyaurn.chain.state import topic_word_matrix
from polyaurn.corpus.corpus import Corpus
from polyaurn.model.model import TopicModel
from polyaurn.model.slices.cutting import Cut
from polyaurn.model.slices.slices import KEY
from polyaurn.training.seeds import in_brief
from polyaurn.training.updates import Earlier

CARRY = 0.5
FORWARD, BACK = 1, 2


class Step(NamedTuple):
    """The training of one slice: in which pass, and from which seed."""

    number: int
    label: str
    direction: int
    seed: int


def check_carry(carry: Any) -> float:
    """Return the share of counts that a slice has from the one before."""
    return check_fraction(
        carry, "carry", remedy="0 makes slices independent, 1 lets nothing fade, 0.5 is usual"
    )


def check_held_out(held_out: Any) -> float:
    """Return the share of each slice's documents that is held out."""
    share = check_fraction(held_out, "held_out", remedy="0.1 is a tenth, 0 holds nothing out")
    if share == 1.0:
        raise InputError(
            "The 'held_out' parameter must leave documents to train on. Got 1; 0.1 is a tenth."
        )
    return share


def check_slice_iter(slice_iter: Any) -> int:
    """Return the sweeps of a slice that has earlier topics."""
    return check_whole(slice_iter, "slice_iter", of="sweeps")


def steps_of(labels: tuple[str, ...], seed: int, *, back: bool) -> list[Step]:
    """Return the trainings in order: forward, and back from the last slice but one."""
    n = len(labels)
    steps = [Step(t, labels[t], FORWARD, chain_seed(seed, t)) for t in range(n)]
    if back:
        steps += [Step(t, labels[t], BACK, chain_seed(seed, n + t)) for t in range(n - 2, -1, -1)]
    return steps


def held_out_documents(cut: Cut, lengths: Any, share: float, seed: int) -> Any:
    """Return which documents are held out: a share of each slice, never all that have words."""
    order = bits(key(seed, 0, Purpose.SPLIT), np.arange(len(cut.number)))
    held = np.zeros(len(cut.number), bool)
    for t in range(len(cut.labels)):
        documents: I64 = np.flatnonzero((cut.number == t) & (np.asarray(lengths) > 0))
        n = min(round(share * len(documents)), len(documents) - 1)
        held[documents[np.argsort(order[documents], kind="stable")[:n]]] = True
    return held


def carried(model: TopicModel, before: Any, carry: float, steps: int) -> sp.csr_matrix:
    """Return what a model's counts, and those that were carried to it, are some steps later."""
    counts = model.topic_word_counts if before is None else model.topic_word_counts + before
    faded = sp.csr_matrix(counts * carry**steps, dtype=np.float64)
    faded.eliminate_zeros()
    return faded


def from_before(model: TopicModel) -> sp.csr_matrix | None:
    """Return the counts that a slice's model had in its prior."""
    pseudo = model.priors.pseudo
    return None if pseudo is None else topic_word_matrix(pseudo, model.n_topics)


def start_of(
    step: Step, counts: sp.csr_matrix, model: TopicModel, digest: str, *, again: bool
) -> Earlier:
    """Return what the training of a slice begins with.

    `model` is that of the slice before, whose priors are taken over; with `again` it is the slice's
    own, and its topics are where the chain starts.
    """
    z = model.assignments if again else model.assignments[:0]
    said = facts_of(step, digest) | {
        "counts": in_brief(counts),
        "assignments": hashlib.sha256(np.asarray(z, "<u2").tobytes()).hexdigest()[:16],
    }
    return Earlier(counts, model.priors.alpha, model.priors.beta, z, counts, {KEY: said}, {}, 0)


def facts_of(step: Step, digest: str) -> dict[str, Any]:
    """Return what the run and the model of a slice know about their place."""
    return {
        "setting": digest, "slice": step.label, "number": step.number, "pass": step.direction,
    }  # fmt: skip


def lengths_of(corpus: Corpus) -> Any:
    """Return the tokens of each document."""
    return np.diff(corpus.doc_ptr)
