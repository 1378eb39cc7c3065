"""Texts for benchmarks: corpora by name, and where each comes from."""

import gzip
import io
import tarfile
from collections.abc import Callable
from itertools import groupby, pairwise
from pathlib import Path

import numpy as np

from common import SHARED, open_corpus
from polyaurn import datasets

PLANTED = ["said", "mr", "told", "says", "000", "zorb", "quelt", "according"]
GROUP = "soc.religion.christian"
EDITORIALS = "nytEditorialSnippets_GroundTruth.txt"


def spaced(texts: list[str], most: int | None) -> list[str]:
    """Return about so many texts, evenly spaced."""
    return texts[:: max(1, len(texts) // most)] if most else texts


def posts() -> list[list[str]]:
    """Return the columns of 20 Newsgroups: a key, the group, and the text."""
    with gzip.open(SHARED / "20newsgroups.tsv.gz", "rt", encoding="utf-8") as lines:
        return [line.rstrip("\n").split("\t") for line in lines]


def newsgroups(most: int | None) -> list[str]:
    """Return posts of 20 Newsgroups, evenly spaced."""
    return spaced([post[-1] for post in posts()], most)


def computers(most: int | None) -> list[str]:
    """Return posts of 20 Newsgroups, five sixths of them on computers."""
    found = posts()
    on = [post[-1] for post in found if post[1].startswith("comp.")]
    off = [post[-1] for post in found if not post[1].startswith("comp.")]
    return spaced(on, most and most * 5 // 6) + spaced(off, (most or len(on)) // 6)


def one_group(most: int | None) -> list[str]:
    """Return the posts of one group, all on one subject."""
    return spaced([post[-1] for post in posts() if post[1] == GROUP], most)


def news(most: int | None) -> list[str]:
    """Return the articles of the Australian Broadcasting Corporation that come with gensim."""
    from gensim.test.utils import datapath

    lines = Path(datapath("lee_background.cor")).read_text(encoding="utf-8").splitlines()
    return spaced(lines, most)


def editorials(archive: Path) -> list[str]:
    """Return editorials of the New York Times, whose sentences come with vaderSentiment's source.

    Lines have the number of the editorial and of the sentence, a rating, and the sentence.
    """
    with tarfile.open(archive) as source:
        (inner,) = (m for m in source if m.name.endswith("hutto_ICWSM_2014.tar.gz"))
        packed = source.extractfile(inner).read()  # type: ignore[union-attr]
    with tarfile.open(fileobj=io.BytesIO(packed)) as source:
        (inner,) = (m for m in source if m.name.endswith("/" + EDITORIALS))
        text = source.extractfile(inner).read().decode("utf-8", "replace")  # type: ignore[union-attr]
    rows = [line.split("\t") for line in text.splitlines() if line.count("\t") == 2]
    articles = groupby(rows, key=lambda row: row[0].split("_")[0])
    return [" ".join(row[2] for row in sentences) for _, sentences in articles]


def papers(most: int | None) -> list[str]:
    """Return the words of NIPS papers, long documents, in alphabetical order."""
    corpus = open_corpus("nips20")
    kept = corpus.select(range(0, corpus.n_documents, corpus.n_documents // min(most or 300, 300)))
    vocab, ends = np.array(kept.vocab), kept.doc_ptr
    return [" ".join(vocab[kept.word[a:b]]) for a, b in pairwise(ends)]


def docstrings(most: int | None) -> list[str]:
    """Return docstrings of Python, numpy, scipy and scikit-learn of at least 20 words."""
    texts = [
        text
        for module, file in datasets._source_files()
        for _, text in datasets._docstrings(module, file)
        if len(text.split()) >= 20
    ]
    return spaced(list(dict.fromkeys(texts)), most)


def tiny(most: int | None) -> list[str]:
    """Return a few hundred texts on six subjects, for trying a program.

    Words of news reports are planted after their sentences, whatever their subject; "zorb" and
    "quelt" are in no list.
    """
    random = np.random.default_rng(1)
    subjects = (
        "goal striker league coach", "court judge jury trial", "flood rain storm climate",
        "bank market shares price", "hospital doctor nurse virus", "film actor scene music",
    )  # fmt: skip
    texts = []
    for d in range(120):
        own = random.choice(subjects[d % 6].split(), (4, 3))
        planted = random.choice(PLANTED, 4)
        texts.append(
            " ".join(f"{' '.join(row)} {word}." for row, word in zip(own, planted, strict=True))
        )
    return texts


POSTS = (
    "20newsgroups.tsv.gz, one post in a line: the by-date version of 20 Newsgroups, with its "
    "subject line, without other headers and quoted lines"
)
CORPORA: dict[str, tuple[Callable[[int | None], list[str]], str]] = {
    "ABC news": (news, "gensim: test/test_data/lee_background.cor, one article in a line"),
    "20 Newsgroups": (newsgroups, f"{POSTS}; evenly spaced"),
    "20 Newsgroups, mostly computers": (
        computers,
        f"{POSTS}; five sixths of them from comp.*, evenly spaced",
    ),
    "20 Newsgroups, Christianity": (one_group, f"{POSTS}; those of {GROUP}"),
    "docstrings": (
        docstrings,
        "the installed Python, numpy, scipy and scikit-learn: docstrings of at least 20 words",
    ),
    "NIPS papers": (
        papers,
        "docword.nips20.txt.gz, the UCI bag of words with words seen more than 20 times; evenly "
        "spaced, words in alphabetical order",
    ),
    "tiny": (tiny, "text_corpora.py"),
}


def texts_of(name: str, most: int | None = None) -> tuple[list[str], str]:
    """Return texts, and where they come from; the name may be NAME=FILE."""
    name, _, file = name.partition("=")
    if not file:
        read, source = CORPORA[name]
        return read(most), source
    path = Path(file)
    if path.name.startswith("vaderSentiment"):
        source = (
            f"{path.name} (pip download --no-deps --no-binary :all: vaderSentiment): {EDITORIALS} "
            "in hutto_ICWSM_2014.tar.gz, the sentences of an editorial joined"
        )
        return spaced(editorials(path), most), source
    return spaced(path.read_text(encoding="utf-8").splitlines(), most), f"lines of {path.name}"
