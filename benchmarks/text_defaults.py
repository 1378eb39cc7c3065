"""Which defaults for text give good topics: options compared on several corpora.

For each corpus, each set of options and each seed a model is trained, and numbers are taken from
the ten words that it shows for each topic: NPMI coherence in the same documents, diversity (share
of different words among all leading words), topics with a function word or number among them, and
topics led by one (among their first three). NPMI and diversity of the ten most probable words are
kept, too. `FUNCTION_WORDS` is the list, the same for all options. Since nearly all of it is in the
default stop list, topics are also judged by two measures that owe nothing to that: those led by a
word of stopwordsiso's English list, half of which the defaults keep, and those led by a word in
more than a fifth of the documents. The median of NPMI over topics is the better measure where a few
documents of tables or encoded files make topics whose words occur nowhere else.

Held-out scores are of a second model, trained without every tenth document. Of each word of such a
document all tokens are seen or all are scored, as a checksum of both says, the same for all
options. A document's mixture is found from the words seen, as far as an option has them. Scored are
only words that every option has, by their probabilities among these words: so scores are of the
same tokens and of the same choice between words, whatever else the options keep. Differences to the
defaults have the standard error of the means over seeds.
"""

import argparse
import hashlib
import json
import re
import sys
import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
from stopwordsiso import stopwords

from common import parse_options, write_result
from polyaurn import LDA, Corpus
from polyaurn.corpus.english import TOPICAL
from polyaurn.evaluate import coherence, diversity
from text_corpora import texts_of

_LISTED = """
    said says say saying told tell asked added mr mrs ms dr sir don didn doesn isn wasn ve ll re
    won couldn wouldn dont didnt im ive just like really actually probably maybe also one two three
    four five six seven eight nine ten first second last new make makes made making get gets got go
    going went come came take took know think want way thing things lot good better best great
    bad big little much many time times year years day days week weeks people use used using need
    does did done can could would should may might will let look looking sure yes right well even
    still back far long old able seen see say put set since per percent monday tuesday wednesday
    thursday friday saturday sunday thanks hi edu com
"""
FUNCTION_WORDS = (ENGLISH_STOP_WORDS - TOPICAL) | frozenset(_LISTED.split())
FORMER = {
    "stop_words": "english", "token_pattern": "words", "min_df": 1, "max_df": 1.0,
    "flat_words": "keep",
}  # fmt: skip
OPTIONS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "max_df=0.5": {"max_df": 0.5},
    "max_df=0.3": {"max_df": 0.3},
    "max_df=0.2": {"max_df": 0.2},
    "min_df=2": {"min_df": 2},
    "min_df=5": {"min_df": 5},
    "min_df=10": {"min_df": 10},
    "flat_words='drop'": {"flat_words": "drop"},
    "former": FORMER,
    "former, min_df=5, max_df=0.2": FORMER | {"min_df": 5, "max_df": 0.2},
    "former, min_df=5, max_df=0.5, three letters or more": FORMER
    | {"min_df": 5, "max_df": 0.5, "token_pattern": r"(?u)\b[^\W\d_]{3,}\b"},
}
FREQUENT = 0.2  # of the documents
HELD_OUT = 10  # every tenth document
_ALL = {"min_df": 1, "max_df": 1.0, "flat_words": "keep"}
MEASURES = {"NPMI": "median_npmi", "diversity": "diversity", "held-out": "held_out"}
LED = ("led_by_function_words", "led_by_listed_words", "led_by_frequent_words")


@dataclass(frozen=True)
class Texts:
    """Texts, and the words of each set of options."""

    texts: list[str]
    corpora: dict[str, Corpus]

    @cached_property
    def reference(self) -> Corpus:
        """All words of the texts, which coherence is computed from."""
        return Corpus.from_texts(self.texts, stop_words=None, token_pattern="words", **_ALL)

    @cached_property
    def held_out(self) -> np.ndarray:
        """Whether a document is held out."""
        return np.arange(len(self.texts)) % HELD_OUT == 0

    @cached_property
    def common(self) -> list[str]:
        """The words that all options have."""
        return sorted(set.intersection(*(set(c.vocab) for c in self.corpora.values())))

    @cached_property
    def scored(self) -> sp.csr_matrix:
        """Counts of the common words that are scored in each document held out."""
        corpus = Corpus.from_texts(self.texts, stop_words=None, **_ALL).select(self.held_out)
        number = {word: v for v, word in enumerate(corpus.vocab)}
        counts = corpus.to_matrix()[:, [number[word] for word in self.common]]
        return halves(counts, self.common, seen=False)

    def completion(self, model: Any, vocab: tuple[str, ...], seen: sp.csr_matrix) -> float:
        """Return the mean log probability per token of what is scored."""
        number = {word: v for v, word in enumerate(vocab)}
        phi = model.components_ / model.components_.sum(axis=1, keepdims=True)
        p = model.transform(seen) @ phi[:, [number[word] for word in self.common]]
        p /= p.sum(axis=1, keepdims=True)
        scored = self.scored.tocoo()
        return float(scored.data @ np.log(p[scored.row, scored.col]) / scored.data.sum())


def halves(counts: sp.csr_matrix, vocab: Any, *, seen: bool) -> sp.csr_matrix:
    """Return the counts of words that are seen in their documents, or of those scored."""
    cells = counts.tocoo()
    coins = [zlib.crc32(f"{d} {vocab[v]}".encode()) % 2 for d, v in zip(*cells.coords, strict=True)]
    kept = np.array(coins, bool) == seen
    coords = (cells.data[kept], (cells.row[kept], cells.col[kept]))
    return sp.csr_matrix(coords, shape=counts.shape)


@dataclass(frozen=True)
class Trial:
    """What is trained for each set of options."""

    topics: int
    sweeps: int
    seeds: int

    def run(self, given: Texts, corpus: Corpus) -> dict[str, list[float]]:
        """Return what was measured, for each seed."""
        warnings.simplefilter("ignore", UserWarning)  # documents without words
        found = [self._score(given, corpus, seed) for seed in range(self.seeds)]
        return {name: [f[name] for f in found] for name in found[0]}

    def _score(self, given: Texts, corpus: Corpus, seed: int) -> dict[str, float]:
        reference = given.reference
        model = self._fit(corpus, seed).model_
        shown, probable = model.topics(10), model.topics(10, order="frequency")
        npmi, npmi_probable = (_coherence(top, reference) for top in (shown, probable))
        part = self._fit(corpus.select(~given.held_out), seed)
        seen = halves(corpus.select(given.held_out).to_matrix(), corpus.vocab, seen=True)
        return {
            "npmi": float(npmi.mean()),
            "median_npmi": float(np.median(npmi)),
            "diversity": diversity(shown),
            "median_npmi_of_probable": float(np.median(npmi_probable)),
            "diversity_of_probable": diversity(probable),
            "with_function_words": float(sum(any(map(is_function, t)) for t in shown)),
            "led_by_function_words": led_by(shown, is_function),
            "led_by_listed_words": led_by(shown, stopwords("en").__contains__),
            "led_by_frequent_words": led_by(shown, frequent_in(reference).__contains__),
            "held_out": given.completion(part, corpus.vocab, seen),
        }

    def _fit(self, corpus: Corpus, seed: int) -> LDA:
        lda = LDA(self.topics, max_iter=self.sweeps, random_state=seed, verbose=False)
        return lda.fit(corpus)


def led_by(topics: list[list[str]], judged: Callable[[str], bool]) -> float:
    """Return how many topics have such a word among their first three."""
    return float(sum(any(map(judged, topic[:3])) for topic in topics))


def frequent_in(corpus: Corpus) -> set[str]:
    """Return the words that occur in more than a fifth of the documents."""
    frequency = (corpus.to_matrix() > 0).sum(axis=0).A1
    return {corpus.vocab[v] for v in np.flatnonzero(frequency > FREQUENT * corpus.n_documents)}


def left_out(texts: list[str], options: dict[str, Any], corpus: Corpus) -> list[str]:
    """Return the first hundred words that are left out as frequent or flat, by their documents."""
    every = Corpus.from_texts(texts, **options | {"max_df": 1.0, "flat_words": "keep"})
    order = np.argsort(-(every.to_matrix() > 0).sum(axis=0).A1, kind="stable")
    kept = set(corpus.vocab)
    return [every.vocab[v] for v in order if every.vocab[v] not in kept][:100]


def _coherence(top: list[list[str]], reference: Corpus) -> np.ndarray:
    """Return the NPMI of topics whose words are all in the reference."""
    known = set(reference.vocab)
    return coherence(
        [topic for topic in top if len(topic) > 1 and known.issuperset(topic)], reference, "c_npmi"
    )


def difference(row: dict[str, Any], other: dict[str, Any], name: str) -> tuple[float, float]:
    """Return the difference of two means over seeds, and its standard error."""
    a, b = np.asarray(row[name]), np.asarray(other[name])
    if len(a) < 2:
        return float(a.mean() - b.mean()), float("nan")
    error = np.sqrt(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b))
    return float(a.mean() - b.mean()), float(error)


def is_function(word: str) -> bool:
    """Return whether a word is of the list, or a number, or planted in all documents."""
    return word in FUNCTION_WORDS or word.isdigit() or word in ("zorb", "quelt", "according")


def signed(found: tuple[float, float]) -> str:
    """Return a difference and its error as the page shows them."""
    return f"{found[0]:+.3f} ± {found[1]:.3f}".replace("-", "−")


def titled(options: str) -> str:
    """Return options as Markdown."""
    if options == "defaults":
        return "**defaults**"
    return re.sub(r"\w+=[^,]+(, \w+=[^,]+)*", r"`\g<0>`", options).replace("'", '"')


def table(results: list[dict[str, Any]]) -> str:
    """Return the table of the page "Preparing text"."""
    head = ["corpus, documents", "options", "words", *MEASURES, "function", "listed", "frequent"]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    first: dict[str, Any] = {}
    for row in results:
        if "same_as" in row:
            continue
        new = first.get("corpus") != row["corpus"]
        first = row if new else first
        cells = [f"{row['corpus']}, {row['documents']:,}" if new else "", titled(row["options"])]
        cells.append(f"{row['words']:,}")
        for name in MEASURES.values():
            less = "" if new else f" ({signed(difference(row, first, name))})"
            cells.append(f"{np.mean(row[name]):.3f}".replace("-", "−") + less)
        cells += [f"{np.mean(row[name]):.1f}" for name in LED]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def best(results: list[dict[str, Any]]) -> str:
    """Return a table of the options that are best in a measure, where the defaults are not."""
    lines = ["| corpus | best in | options | " + " | ".join(MEASURES) + " |", "|" + "---|" * 6]
    for corpus in dict.fromkeys(row["corpus"] for row in results):
        first, *others = (r for r in results if r["corpus"] == corpus and "same_as" not in r)
        leaders: dict[str, list[str]] = {}
        for measure, name in MEASURES.items():
            row = max([first, *others], key=lambda r: np.mean(r[name]))
            leaders.setdefault(row["options"], []).append(measure)
        for row in others:
            if measures := leaders.get(row["options"]):
                gains = " | ".join(signed(difference(row, first, n)) for n in MEASURES.values())
                which = ", ".join(measures)
                lines.append(f"| {corpus} | {which} | {titled(row['options'])} | {gains} |")
    return "\n".join(lines)


def compared(name: str, given: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return what was measured on one corpus, and a description of it."""
    texts, source = texts_of(name, given.most)
    name = name.partition("=")[0]
    trial = Trial(given.topics, given.sweeps, given.seeds)
    options = {title: OPTIONS[title] for title in given.options}
    same, corpora, rows = {}, {}, []
    for title, chosen in options.items():
        corpus = Corpus.from_texts(texts, **chosen)
        equal = [
            t
            for t, c in corpora.items()
            if (c.vocab, c.n_tokens) == (corpus.vocab, corpus.n_tokens)
        ]
        if equal:
            same[title] = equal[0]
        else:
            corpora[title] = corpus
    of = Texts(texts, corpora)
    print(f"{name}: {len(texts):,} documents, {len(of.common):,} words in common", flush=True)
    for title, chosen in options.items():
        row = {"corpus": name, "documents": len(texts), "options": title}
        if title in same:
            rows.append(row | {"same_as": same[title]})
            continue
        corpus = corpora[title]
        row |= {
            "words": corpus.n_words,
            "tokens": corpus.n_tokens,
            "report": str(corpus.word_report),
        }
        row |= {"left_out": left_out(texts, chosen, corpus)} | trial.run(of, corpus)
        rows.append(row)
        found = [f"{n} {np.mean(row[key]):.3f} ({signed(difference(row, rows[0], key))})"
                 for n, key in MEASURES.items()]  # fmt: skip
        led = "/".join(f"{np.mean(row[n]):.1f}" for n in LED)
        print(f"  {title:50} {row['words']:7,} words  {'  '.join(found)}  led {led}", flush=True)
    tokens = int(of.scored.sum())
    described = {
        "from": source,
        "documents": len(texts),
        "sha256": hashlib.sha256("\n".join(texts).encode()).hexdigest(),
        "common_words": len(of.common),
        "scored_tokens": tokens,
    }
    return rows, described


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--corpora",
        nargs="+",
        default=["ABC news", "20 Newsgroups", "docstrings"],
        help="names, or NAME=FILE for a file with one text per line or vaderSentiment's archive",
    )
    parser.add_argument("--options", nargs="+", default=list(OPTIONS))
    parser.add_argument("--topics", type=int, default=30)
    parser.add_argument("--sweeps", type=int, default=150)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--most", type=int, default=2500, help="documents of a corpus")
    parser.add_argument("--name", default="text_defaults", help="of the file of results")
    parser.add_argument("--table", type=Path, nargs="+", help="show results of files instead")
    given = parse_options(parser, lambda _: None)
    if given.table:
        files = [json.loads(file.read_text(encoding="utf-8")) for file in given.table]
        results = [row for file in files for row in file["results"]]
        print(table(results), best(results), sep="\n\n")
        return
    rows: list[dict[str, Any]] = []
    settings = {
        name: getattr(given, name) for name in ("options", "topics", "sweeps", "seeds", "most")
    }
    settings["corpora"] = {}
    for name in given.corpora:
        found, settings["corpora"][name.partition("=")[0]] = compared(name, given)
        rows += found
    if not given.no_save:
        write_result(given.name, {"settings": settings, "results": rows})


if __name__ == "__main__":
    sys.exit(main())
