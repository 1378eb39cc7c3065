"""What a run computes: cells, each a small piece of work, by the figures that need them."""

from typing import Any, NamedTuple

from polyaurn.backends.registry import BACKENDS
from polyaurn.studies.paper.corpora import LIMIT, Source, Variant

URN, PARTLY, SPARSE, LIGHT = "polya-urn", "partially-collapsed", "collapsed", "light"
BOTH = (URN, PARTLY)
FIGURES = ("corpora", "traces", "phases", "algorithms", "quality", "cores", "sparsity", "theory",
           "complexity")  # fmt: skip


class Scale(NamedTuple):
    """How much is computed."""

    topics: dict[int, int]  # numbers of topics, and sweeps for each
    seeds: int  # chains of each kind
    timed: int  # sweeps where only time matters; the second half is used
    compared: tuple[int, ...]  # numbers of topics of the comparison of algorithms
    judged: tuple[int, ...]  # numbers of topics whose models are scored
    scored: int  # held-out documents scored left to right, at most
    single: tuple[int, ...]  # numbers of topics on one core
    scaling: tuple[int, ...]  # numbers of topics with several numbers of cores
    sparse: int  # number of topics where words and documents are cut
    share: float  # share of the documents used there
    limits: tuple[int, ...]  # rare-word limits
    pruned_limits: tuple[int, ...]  # those of corpora without rare words
    words: tuple[int, ...]  # vocabulary sizes
    shares: tuple[float, ...]  # data sizes
    theory: dict[str, dict[str, Any]]  # options of the studies
    own_process: bool = True  # whether each cell has a process of its own


SCALES = {
    "tiny": Scale(
        topics={2: 10, 5: 10, 20: 10}, seeds=2, timed=6, compared=(20,), judged=(5,), scored=10,
        single=(5,), scaling=(5,), sparse=5, share=1.0, limits=(1, 10), pruned_limits=(10, 20),
        words=(50, 100), shares=(0.5, 1.0), own_process=False,
        theory={"urn": {"weights": [2, 4, 8, 16]}, "appendix-a": {"n": 400},
                "complexity": {"sizes": [1024, 4096], "n_sweeps": 10}},
    ),
    "small": Scale(
        topics={10: 200, 100: 200, 1000: 60}, seeds=2, timed=30, compared=(100, 1000),
        judged=(20, 100), scored=100, single=(10, 100), scaling=(100,), sparse=100, share=0.25,
        limits=(1, 5, 10, 50), pruned_limits=(10, 30, 100, 300), words=(500, 1500, 4000),
        shares=(0.125, 0.25, 0.5, 1.0),
        theory={"urn": {}, "appendix-a": {},
                "complexity": {"sizes": [2**13, 2**15, 2**17, 2**19], "n_sweeps": 40}},
    ),
    "full": Scale(
        topics={10: 1000, 100: 1000, 1000: 1000}, seeds=5, timed=100, compared=(100, 1000),
        judged=(100, 1000), scored=500, single=(10, 100, 1000), scaling=(100, 1000), sparse=100,
        share=1.0, limits=(1, 2, 5, 10, 50, 100), pruned_limits=(10, 20, 50, 100, 200),
        words=(1000, 3000, 10_000, 30_000), shares=(0.0625, 0.125, 0.25, 0.5, 1.0),
        theory={"urn": {}, "appendix-a": {}, "complexity": {}},
    ),
}  # fmt: skip


class Cell(NamedTuple):
    """One piece of work; the same cell always gives the same statistics.

    `kind` is "corpus" (sizes), "chain" (a run, with its times), "quality" (a run on part of the
    documents, scored on the rest) or "study" (of `paper.theory`). `aids` turns the package's
    burn-in aids on; the log posterior is computed after each `every` sweeps, never for 0. On
    `device` "gpu", `threads` are those of the work left to the CPU.
    """

    kind: str
    corpus: Variant | None = None
    sampler: str = ""
    topics: int = 0
    seed: int = 0
    sweeps: int = 0
    threads: int = 1
    every: int = 0
    aids: bool = False
    scored: int = 0
    study: str = ""
    device: str = "cpu"

    @property
    def on_threads(self) -> bool:
        """Whether its sweeps run on threads, not on a device of its own."""
        return BACKENDS[self.device].on_threads

    @property
    def name(self) -> str:
        """The name of its file."""
        if self.kind == "study":
            return f"study-{self.study}"
        assert self.corpus is not None
        if self.kind == "corpus":
            return f"corpus-{self.corpus.key}"
        return (
            f"{self.kind}-{self.corpus.key}-{self.sampler}{'-aids' if self.aids else ''}"
            f"-k{self.topics}-sweeps{self.sweeps}"
            + (f"-threads{self.threads}" if self.on_threads else f"-{self.device}")
            + (f"-every{self.every}" if self.every else "")
            + (f"-scored{self.scored}" if self.scored else "")
            + f"-seed{self.seed}"
        )


class Plan(NamedTuple):
    """All cells of a run, by figure.

    `main` is the largest corpus and `least` the smallest; `sparse` is the one that is cut.
    `device` is where chains run, but for comparisons of algorithms and of numbers of cores.
    """

    scale: str
    sources: dict[str, Source]
    main: str
    least: str
    sparse: str
    threads: int
    seeds: int
    cells: dict[str, list[Cell]]
    device: str = "cpu"

    def work(self, figures: tuple[str, ...] = FIGURES) -> list[Cell]:
        """Return the cells of some figures, each once: corpora first, then seed by seed."""
        cells = dict.fromkeys(cell for figure in figures for cell in self.cells[figure])
        used = {cell.corpus for cell in cells if cell.corpus is not None}
        corpora = [Cell("corpus", corpus) for corpus in sorted(used, key=lambda v: v.key)]
        rest = [cell for cell in cells if cell.kind != "corpus"]
        return corpora + sorted(rest, key=lambda cell: cell.seed)


def make_plan(
    scale: str,
    sources: list[Source],
    sparse: Source,
    threads: int,
    cores: tuple[int, ...],
    seeds: int | None = None,
    device: str = "cpu",
) -> Plan:
    """List the cells of all figures, for corpora of which the smallest comes first.

    `sparse` is the corpus that is cut, `threads` are those of chains whose number of cores is not
    the question, `cores` the numbers of cores to compare, and `seeds` another number of chains.
    `device` is that of traces, phases, quality and sparsity; the rest stays on the CPU.
    """
    size, chains = SCALES[scale], SCALES[scale].seeds if seeds is None else seeds
    main, least = sources[-1].name, sources[0].name
    every = {K: max(1, sweeps // 50) for K, sweeps in size.topics.items()}

    def chain(
        source: str, sampler: str, K: int, seed: int, *, aids: bool = False, device: str = "cpu"
    ) -> Cell:
        return Cell("chain", Variant(source), sampler, K, seed, size.topics[K], threads, every[K],
                    aids, device=device)  # fmt: skip

    def timed(variant: Variant, sampler: str, K: int, seed: int, cores: int) -> Cell:
        return Cell("chain", variant, sampler, K, seed, size.timed, cores)

    everything = range(chains)
    traces = [
        chain(source.name, sampler, K, seed, device=device)
        for seed in everything for source in sources for K in size.topics for sampler in BOTH
    ]  # fmt: skip
    algorithms = [
        chain(main, sampler, K, seed, aids=aids)
        for seed in everything for K in size.compared
        for sampler, aids in ((URN, False), (PARTLY, False), (SPARSE, False), (LIGHT, False),
                              (URN, True))
    ]  # fmt: skip
    quality = [
        Cell("quality", Variant(main), sampler, K, seed, max(size.topics.values()), threads,
             scored=size.scored, device=device)
        for seed in everything for K in size.judged for sampler in BOTH
    ]  # fmt: skip
    single = [
        timed(Variant(least), sampler, K, seed, 1)
        for seed in everything for K in size.single for sampler in (URN, PARTLY, SPARSE)
    ]  # fmt: skip
    scaling = [
        timed(Variant(main), URN, K, seed, n)
        for seed in everything for K in size.scaling for n in cores
    ]  # fmt: skip
    cut = [
        timed(variant, sampler, size.sparse, seed, threads)._replace(device=device)
        for seed in everything for variant in _cuts(size, sparse) for sampler in BOTH
    ]  # fmt: skip
    return Plan(
        scale, {source.name: source for source in [*sources, sparse]}, main, least, sparse.name,
        threads, chains,
        {
            "corpora": [
                Cell("corpus", Variant(source.name))
                for source in dict.fromkeys([*sources, sparse])
            ],
            "traces": traces, "phases": traces, "algorithms": algorithms, "quality": quality,
            "cores": single + scaling, "sparsity": cut,
            "theory": [Cell("study", study="urn"), Cell("study", study="appendix-a")],
            "complexity": [
                Cell("study", study="complexity"), *(c for c in traces if c.sampler == URN),
            ],
        },
        device,
    )  # fmt: skip


def _cuts(size: Scale, sparse: Source) -> list[Variant]:
    """Return the corpora of the study of sparsity: by rare-word limit, by words, by size."""
    limits = size.limits if sparse.rare else size.pruned_limits
    cuts = [Variant(sparse.name, limit, None, size.share) for limit in limits]
    cuts += [Variant(sparse.name, LIMIT, words, size.share) for words in size.words]
    cuts += [Variant(sparse.name, LIMIT, None, size.share * share) for share in size.shares]
    return list(dict.fromkeys(cuts))
