"""The chains that `gpu_compare.py` runs on both devices: every shape that kernels distinguish."""

from typing import NamedTuple

import numpy as np

from polyaurn.chain.samplers import samplers_on
from polyaurn.chain.schedule import Plan
from polyaurn.chain.state import WHOLE
from polyaurn.corpus.corpus import Corpus

EXACT = "partially-collapsed"
TWO = (Plan(),) * 2
GROWTH = (Plan(16), Plan(WHOLE), Plan(WHOLE, 3))


class Case(NamedTuple):
    """A chain to compare."""

    lengths: tuple[int, ...] = (1, 2, 0, 9, 33, 5)  # tokens of the documents
    matrix: tuple[tuple[int, ...], ...] = ()  # or the counts of words in documents
    n_words: int = 12
    sampler: str = "polya-urn"
    K: int = 3
    alpha: object = 0.3  # large ones let topics enter documents
    beta: object = 0.05  # small ones leave topics empty
    dense: bool = False  # rows of Phi; those of full columns always are
    log_lanes: int = 2  # of a document
    block: int = 32  # threads
    longest: int = 2_048  # tokens of a document that has a list
    plans: tuple[Plan, ...] = TWO
    pseudo: int = 0  # tokens of the first word that the second topic has beforehand
    topics: str = "random"  # that tokens begin with; or "one" for a document, or "different"
    spare: int | None = None  # places of lists beyond the topics that are there; as always if None
    memory: int = 0  # bytes of the device, where the corpus shall not fit
    made_even: bool = False  # whether stretches of lists are known to be made even on the way
    resumed: bool = False  # whether documents stop for want of places, and are resumed

    def corpus(self) -> Corpus:
        """Return documents of these lengths, of words that are common and rare."""
        if self.matrix:
            return Corpus.from_matrix(self.matrix)
        rng, ptr = np.random.default_rng(0), np.concatenate(([0], np.cumsum(self.lengths)))
        word = (self.n_words * rng.random(int(ptr[-1])) ** 3).astype(np.int32)
        return Corpus(ptr, word, tuple(f"w{v}" for v in range(self.n_words)))

    def first_topics(self, doc_ptr) -> np.ndarray:
        """Return the topics that tokens begin with, where they are not random."""
        if self.topics == "one":
            return np.repeat(np.arange(len(doc_ptr) - 1) % self.K, np.diff(doc_ptr))
        return np.concatenate([np.arange(n) % self.K for n in np.diff(doc_ptr)])


CORNERS = {
    "many topics of a word, one of a document": Case(
        matrix=((1, *[0] * 6),) * 3, K=70, beta=0.03, plans=(Plan(),)
    ),
    "topics that come out empty": Case(matrix=((1, 0),) * 3 + ((0, 1),), K=40, beta=0.01),
    "columns and rows that come out empty": Case(
        matrix=((2, 0, 0), (1, 1, 0)), beta=0.3, plans=(Plan(),) * 12
    ),
    "gammas too small to write down": Case(matrix=((1, 1),), K=4, beta=0.0005, plans=(Plan(),) * 6),
    "rates above the tables": Case(matrix=((150, 3),), K=2, beta=60.0, plans=(Plan(),), longest=10),
    "topics that come and go": Case(matrix=((9, 9, 9, 9), (9, 0, 9, 0)), K=40, beta=0.1),
}
SPREAD = Case(
    lengths=(9, 12, 20),
    K=20,
    alpha=tuple(10.0 ** -(k % 13) for k in range(20)),
    beta=tuple(10.0 ** -(v % 6) for v in range(12)),
    longest=15,
)
STREAMED = Case(lengths=(1, 9, 0, 9, 8, 5, 9, 4), K=40, memory=220)  # chunks of 10 tokens
CASES = {
    **{
        f"{1 << lanes} lanes, {'dense' if dense else 'packed'}": Case(
            lengths=(1, 2, 0, 31, 32, 33, 50), K=40, dense=dense, log_lanes=lanes, longest=40,
            block=128 if dense else 32,
        )
        for lanes in (2, 3, 4, 5)
        for dense in (True, False)
    },
    "few topics": Case(dense=True),
    "many topics": Case(K=300, beta=0.01),
    "all documents long, dense": Case(K=40, dense=True, longest=0),
    "all documents long, packed": Case(K=40, longest=0),
    "full columns": Case(sampler=EXACT, K=40, longest=20),
    "full columns, whole warps": Case(sampler=EXACT, K=12, log_lanes=5),
    "growth and several draws of Phi": Case(K=20, plans=GROWTH),
    "growth with full columns": Case(sampler=EXACT, K=9, plans=GROWTH, longest=20),
    "more topics than a block of the CPU may have": Case(lengths=(3, 1, 6), K=2_100, beta=0.0005),
    "more topics, long documents": Case(lengths=(9, 1), K=2_100, beta=0.0005, longest=4),
    "pseudo-counts": Case(K=10, pseudo=7),
    "counts of more than 16 bits": Case(K=3, pseudo=150_003),
    "counts of more than 16 bits, full columns": Case(sampler=EXACT, K=3, pseudo=150_003),
    "pseudo-counts, streamed": STREAMED._replace(sampler=EXACT, K=3, longest=6, pseudo=3),
    "streamed": STREAMED,
    "priors that differ, packed": SPREAD,
    "priors that differ, dense": SPREAD._replace(dense=True),
    "priors that differ, full columns": SPREAD._replace(sampler=EXACT),
    **{
        f"{name}, {sampler}{', dense' if dense else ''}": case._replace(
            sampler=sampler, dense=dense
        )
        for name, case in CORNERS.items()
        for sampler in samplers_on("gpu")
        for dense in (False, True)
        if not (dense and sampler == EXACT)
    },
    # Tokens begin with different topics, so that stretches are full from the first that enters.
    **{
        f"full stretches, {1 << lanes} lanes{', dense' if dense else ''}": Case(
            lengths=(30, 30, 1), K=70, alpha=3.0, beta=1.0, dense=dense, log_lanes=lanes,
            topics="different", spare=0, plans=(Plan(),), made_even=True,
        )
        for lanes, dense in ((2, False), (3, True), (5, False))
    },
    # Documents begin with one topic each, so that lists grow far beyond it.
    **{
        f"lists that overflow, {1 << lanes} lanes{', dense' if dense else ''}": Case(
            lengths=(40, 33, 1), K=70, alpha=3.0, beta=1.0, dense=dense, log_lanes=lanes,
            topics="one", spare=0, made_even=True, resumed=True,
        )
        for lanes, dense in ((2, False), (2, True), (4, False))
    },
    "lists with places to spare": Case(
        lengths=(40, 33, 1), K=70, alpha=3.0, beta=1.0, topics="one", spare=70
    ),
    "lists longer than was thought": Case(
        lengths=(20, 40, 1), K=50, alpha=0.5, spare=-100, resumed=True
    ),
}  # fmt: skip
