"""The chains that `gpu_compare.py` runs on both devices: every shape that kernels distinguish."""

from typing import NamedTuple

import numpy as np

from polyaurn.chain.samplers import samplers_on
from polyaurn.chain.schedule import Plan
from polyaurn.chain.state import WHOLE
from polyaurn.corpus.corpus import Corpus

EXACT, SPARSE = "partially-collapsed", "sparse-dirichlet"
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
    fractions: bool = False  # whether half of the cells have pseudo-counts, most of them tiny
    topics: str = "random"  # that tokens begin with; or "one" for a document, or "different"
    spare: int | None = None  # places of lists beyond the topics that are there; as always if None
    memory: int = 0  # bytes of the device, where the corpus shall not fit
    made_even: bool = False  # whether stretches of lists are known to be made even on the way
    resumed: bool = False  # whether documents stop for want of places, and are resumed
    hdp: bool = False  # whether weights of topics are drawn, and topics open
    no_empty: bool = False  # whether no topic comes out empty, which has Phi drawn on the CPU

    def corpus(self) -> Corpus:
        """Return documents of these lengths, of words that are common and rare."""
        if self.matrix:
            return Corpus.from_matrix(self.matrix)
        rng, ptr = np.random.default_rng(0), np.concatenate(([0], np.cumsum(self.lengths)))
        word = (self.n_words * rng.random(int(ptr[-1])) ** 3).astype(np.int32)
        return Corpus(ptr, word, tuple(f"w{v}" for v in range(self.n_words)))

    def pseudo_counts(self) -> np.ndarray | None:
        """Return tokens that topics have beforehand, topics by words."""
        if not self.pseudo and not self.fractions:
            return None
        rng, shape = np.random.default_rng(1), (self.K, self.corpus().n_words)
        pseudo = np.zeros(shape)
        if self.fractions:
            pseudo = 5.0 * rng.random(shape) ** 9 * (rng.random(shape) < 0.5)
        pseudo[1, 0] += self.pseudo
        return pseudo

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
BALLS = Case(sampler=SPARSE, K=40, beta=0.9, plans=(Plan(),), no_empty=True)
ENTERING = Case(sampler=SPARSE, K=20, beta=0.3, plans=GROWTH, no_empty=True)
WIDE = BALLS._replace(lengths=(30,), n_words=70, K=33, beta=0.05)
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
    "sparse gammas, balls in several turns": BALLS,
    "sparse gammas, words that enter": ENTERING,
    "sparse gammas, several ranges of words": WIDE,
    "sparse gammas, more topics": BALLS._replace(lengths=(9, 1), K=310, beta=0.7, n_words=5),
    **{
        f"priors that differ, {sampler}{', dense' * dense}{', fractions' * fractions}": (
            SPREAD._replace(sampler=sampler, dense=dense, fractions=fractions)
        )
        for sampler in samplers_on("gpu")
        for dense, fractions in ((False, False), (True, False), (True, True), (False, True))
        if not (dense and sampler == EXACT)
    },
    "weights of topics that are drawn": Case(
        lengths=(3, 0, 5), n_words=4, alpha=0.8, K=5, hdp=True, dense=True
    ),
    "fractions only": Case(
        matrix=((2, 0, 0), (1, 1, 0)), beta=0.001, fractions=True, plans=(Plan(),) * 8
    ),
    **{
        f"{name}, {sampler}{', dense' if dense else ''}": case._replace(
            sampler=sampler, dense=dense
        )
        for name, case in CORNERS.items()
        for sampler in samplers_on("gpu")
        for dense in (False, True)
        if not dense or sampler == "polya-urn"
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
