"""Which corpora the experiments run on: the paper's where they are, others, generated ones."""

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from polyaurn.base.errors import InputError

if TYPE_CHECKING:
    from polyaurn.corpus.corpus import Corpus

LIMIT = 10  # the paper's rare-word limit
ENDS = 1 << 20  # bytes at either end of a file that identify it


class Shape(NamedTuple):
    """Sizes of a corpus that is generated; `spread` is that of the logarithm of lengths."""

    documents: int
    words: int
    tokens: int
    spread: float
    topics: int = 100


PAPER = {  # after the rare-word limit; the spreads of lengths are ours, the paper gives none
    "enron": Shape(39_860, 27_508, 6_377_365, 1.0),
    "nytimes": Shape(1_825_116, 273_405, 494_687_810, 0.8),
    "pubmed": Shape(8_199_999, 89_987, 768_434_972, 0.5),
}
STANDIN = {
    "tiny": Shape(150, 400, 6_000, 0.5, 5),
    "small": Shape(3_400, 7_000, 470_000, 0.6, 50),
    "full": Shape(18_000, 20_000, 1_900_000, 0.8),
}
PREFERRED: dict[str, tuple[str, ...]] = {
    "small": ("kos", "ap", "nips20", "20newsgroups"),
    "full": ("nips20", "20newsgroups", "imdb"),
}
_BAG = re.compile(r"docword\.(.+)\.txt(\.gz)?")
_TEXT = re.compile(r"(.+?)\.(txt|tsv|csv|parquet|urn)(\.gz)?")
_ALIASES = {"nyt": "nytimes"}


class Source(NamedTuple):
    """Where a corpus comes from: a file, or the generator.

    `name` is what the page calls it; `path` is None for a generated corpus, which has a `shape`.
    `rare` says whether rare words are still there, as in text and in what is generated.
    """

    name: str
    path: str | None = None
    shape: Shape | None = None
    rare: bool = False

    def identity(self) -> Any:
        """Return what distinguishes it from another corpus of the same name, ready for JSON."""
        if self.path is None:
            return {"generated": list(self.shape or ())}
        path = Path(self.path)
        if path.is_dir():
            return {"folder": path.name, "files": sum(1 for _ in path.rglob("*"))}
        size, digest = path.stat().st_size, hashlib.sha256()
        with path.open("rb") as file:
            digest.update(file.read(ENDS))
            file.seek(max(0, size - ENDS))
            digest.update(file.read(ENDS))
        return {"file": path.name, "bytes": size, "sha256_of_ends": digest.hexdigest()[:16]}

    def about(self) -> str:
        """Say in a few words what it is."""
        if self.path is not None:
            return f"file {Path(self.path).name}"
        return "generated from the model"

    def guess(self) -> tuple[int, int]:
        """Guess tokens and words before anything is read."""
        if self.shape is not None:
            return self.shape.tokens, self.shape.words
        path = Path(self.path or "")
        if _BAG.fullmatch(path.name):
            from polyaurn.files.reading import open_bytes

            with open_bytes(path) as file:
                head = [line.strip() for line in file.read(200).split(b"\n")[:3]]
            if len(head) == 3 and all(line.isdigit() for line in head):
                return round(1.4 * int(head[2])), int(head[1])
        size = path.stat().st_size if path.is_file() else 10_000_000
        return (size // 5, 30_000)


class Variant(NamedTuple):
    """A corpus as a cell reads it: a share of the documents, then a choice of words."""

    source: str
    min_count: int = LIMIT
    max_words: int | None = None
    share: float = 1.0

    @property
    def key(self) -> str:
        """The stem of its file's name."""
        return (
            self.source
            + (f"-limit{self.min_count}" if self.min_count != LIMIT else "")
            + (f"-words{self.max_words}" if self.max_words is not None else "")
            + (f"-share{self.share:g}" if self.share != 1.0 else "")
        )


def find(folder: Path) -> tuple[dict[str, Path], dict[str, Path]]:
    """Return the files of counts and the texts of a folder, by name."""
    bags: dict[str, Path] = {}
    texts: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        bag, text = _BAG.fullmatch(path.name), _TEXT.fullmatch(path.name)
        if bag:
            bags.setdefault(_name(bag[1]), path)
        elif text and not path.name.lower().startswith(("vocab.", "readme")):
            texts.setdefault(_name(text[1]), path)
        elif path.is_dir() and not path.name.startswith(".") and any(path.glob("*.txt")):
            texts.setdefault(_name(path.name), path)
    return bags, texts


def choose(
    folder: Path | None, use: Sequence[str], generated: Sequence[str], scale: str
) -> tuple[list[Source], Source]:
    """Return the corpora of a run by their guessed sizes, and the one whose rare words are cut.

    Those that `use` names are looked for in `folder`; by default, "small" takes one and "full" up
    to three. `generated` names corpora of the paper to be generated in their sizes.
    """
    if folder is not None and not folder.is_dir():
        raise InputError(
            f"The 'corpora' parameter must be a folder that exists. Got '{folder}'; give the "
            "folder of your docword.NAME.txt.gz files, or leave it out to run on generated data."
        )
    bags, texts = find(folder) if folder is not None else ({}, {})
    sources = [
        Source(name, str(bags.get(name, texts.get(name))), rare=name not in bags)
        for name in _names(bags, texts, use, scale)
    ]
    for name in generated:
        if name not in PAPER:
            raise InputError(
                f"The 'generated' parameter must name corpora of the paper: {', '.join(PAPER)}. "
                f"Got {name!r} instead; leave it out for the usual choice."
            )
    wanted = list(generated)
    if scale == "full" and not wanted and not use and not set(PAPER) & set(bags | texts):
        wanted = ["enron"]
    sources += [Source(f"{name}-like", shape=PAPER[name], rare=True) for name in wanted]
    if not sources:
        sources = [Source("generated", shape=STANDIN[scale], rare=True)]
    sources.sort(key=lambda source: source.guess()[0])
    return sources, _sparse(sources, bags, texts, chosen=bool(use))


def _sparse(
    sources: list[Source], bags: dict[str, Path], texts: dict[str, Path], *, chosen: bool
) -> Source:
    """Return the corpus whose words are cut: real text before what is generated."""
    names = [source.name for source in sources]
    near = names if chosen else [*names, *sorted(texts)]
    text = next((name for name in near if name in texts and name in bags), None)
    if text is not None:
        return Source(f"{text}-text", str(texts[text]), rare=True)
    return next((source for source in reversed(sources) if source.rare), sources[-1])


def _names(
    bags: dict[str, Path], texts: dict[str, Path], use: Sequence[str], scale: str
) -> list[str]:
    """Return the names of the corpora to read."""
    for name in use:
        if name not in bags and name not in texts:
            raise InputError(
                f"The 'use' parameter must name corpora of the folder. Got {name!r}; there are "
                f"{', '.join(sorted(bags | texts)) or 'none'}."
            )
    if use:
        return list(dict.fromkeys(use))
    there = [name for name in PAPER if name in bags or name in texts]
    if scale == "full":
        preferred = [name for name in PREFERRED["full"] if name in bags]
        return there or preferred or sorted(bags)[:3] or sorted(texts)[:3]
    preferred = [name for name in PREFERRED["small"] if name in bags]
    small = sorted(bags or texts, key=lambda name: (bags or texts)[name].stat().st_size)
    return (preferred or small)[:1]


def _name(name: str) -> str:
    return _ALIASES.get(name.lower(), name)


def open_variant(source: Source, variant: Variant, folder: Path) -> "Corpus":
    """Return a corpus from the folder of prepared ones, where it is stored if it is missing."""
    from polyaurn.corpus.readers import read_corpus
    from polyaurn.corpus.urn_file import write_urn

    file = folder / f"{variant.key}.urn"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        corpus = _read(source, folder)
        if variant.share < 1.0:
            corpus = corpus.split(variant.share)[1]
        write_urn(corpus.prune(min_count=variant.min_count, max_words=variant.max_words), file)
    return read_corpus(file)


def _read(source: Source, folder: Path) -> "Corpus":
    """Return all words of all documents; text is cut into words, or drawn, only once."""
    from polyaurn.corpus.readers import read_corpus
    from polyaurn.corpus.urn_file import write_urn

    if not source.rare:
        assert source.path is not None
        return read_corpus(source.path)
    file = folder / f"{source.name}-whole.urn"
    if not file.exists():
        write_urn(_generate(source) if source.path is None else read_corpus(source.path), file)
    return read_corpus(file)


def _generate(source: Source) -> "Corpus":
    from polyaurn.datasets import generate

    assert source.shape is not None
    D, V, N, spread, K = source.shape
    return generate(D, V, K, N / D, topic_concentration=V / 10.0, length_spread=spread)
