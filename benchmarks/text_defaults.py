"""Which defaults for text give good topics: options compared on several corpora.

For each corpus and each set of options a model is trained, and four numbers are taken from its
topics: NPMI coherence of the ten leading words in the same documents, diversity (share of different
words among all leading words), topics with a function word or number among their ten leading
words, and topics led by one (among their first three). `FUNCTION_WORDS` is the list, the same for
all options and not the stop list of any of them. The median of NPMI is the better measure where a
few documents of tables or encoded files make topics whose words occur nowhere else.
"""

import argparse
import gzip
import re
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from common import SHARED, parse_options, write_result
from polyaurn import LDA, Corpus, datasets
from polyaurn.evaluate import coherence, diversity

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
FUNCTION_WORDS = frozenset(_LISTED.split())
OLD = {
    "stop_words": "english", "token_pattern": "words", "min_df": 1, "max_df": 1.0,
    "flat_words": "keep",
}  # fmt: skip
OPTIONS: dict[str, dict[str, Any]] = {
    "old defaults": OLD,
    "old, min_count 10, max_df 0.5": OLD | {"min_count": 10, "max_df": 0.5},
    "old, min_df 5, max_df 0.2": OLD | {"min_df": 5, "max_df": 0.2},
    "old, min_df 5, letters only, 3 or more": OLD
    | {"min_df": 5, "max_df": 0.5, "token_pattern": r"(?u)\b[^\W\d_]{3,}\b"},
    "old, numbers and contractions as now": OLD | {"token_pattern": "terms"},
    "new list and pattern only": OLD | {"token_pattern": "terms", "stop_words": "english-extended"},
    "flat words dropped, scikit-learn's list": {"flat_words": "drop", "stop_words": "english"},
    "flat words dropped, min_df 10": {"flat_words": "drop", "min_df": 10},
    "flat words dropped, max_df 0.2": {"flat_words": "drop", "max_df": 0.2},
    "flat words dropped": {"flat_words": "drop"},
    "defaults": {},
}
PLANTED = ["said", "mr", "told", "says", "000", "zorb", "quelt", "according", "don't"]


def newsgroups(most: int | None) -> list[str]:
    """Return posts of 20 Newsgroups, evenly spaced."""
    with gzip.open(SHARED / "20newsgroups.tsv.gz", "rt", encoding="utf-8") as lines:
        texts = [line.rstrip("\n").split("\t")[-1] for line in lines]
    return texts[:: max(1, len(texts) // most)] if most else texts


def with_planted(texts: list[str]) -> list[str]:
    """Return texts with words of news reports after their sentences, whatever their subject.

    "zorb" and "quelt" are in no list, so that only a rule that looks at documents finds them.
    """
    random = np.random.default_rng(0)
    planted = []
    for text in texts:
        parts = re.split(r"(?<=[.!?])\s+", text)
        after = random.choice(PLANTED, size=len(parts))
        planted.append(" ".join(f"{part} {word}." for part, word in zip(parts, after, strict=True)))
    return planted


def docstrings(most: int | None) -> list[str]:
    """Return docstrings of Python, numpy, scipy and scikit-learn of at least 20 words."""
    texts = [
        text
        for module, file in datasets._source_files()
        for _, text in datasets._docstrings(module, file)
        if len(text.split()) >= 20
    ]
    texts = list(dict.fromkeys(texts))
    return texts[:: max(1, len(texts) // most)] if most else texts


def documentation(most: int | None) -> list[str]:
    """Return paragraphs of 40 words or more from licences, descriptions and pages of packages."""
    packages = Path(np.__file__).parents[1]
    found: dict[str, None] = {}
    for suffix in ("LICENSE*", "*.md", "*.rst", "METADATA"):
        for file in sorted(packages.rglob(suffix)):
            if file.is_file() and file.stat().st_size < 1 << 20:
                text = file.read_text(encoding="utf-8", errors="replace")
                found |= dict.fromkeys(
                    p for p in re.split(r"\n\s*\n", text) if len(p.split()) >= 40
                )
    texts = list(found)
    return texts[:: max(1, len(texts) // most)] if most else texts


def tiny(most: int | None) -> list[str]:
    """Return a few hundred texts on six subjects, for trying this program."""
    random = np.random.default_rng(1)
    subjects = (
        "goal striker league coach", "court judge jury trial", "flood rain storm climate",
        "bank market shares price", "hospital doctor nurse virus", "film actor scene music",
    )  # fmt: skip
    texts = []
    for d in range(120):
        own = random.choice(subjects[d % 6].split(), 12)
        texts.append(". ".join(f"{a} {b} {c}" for a, b, c in own.reshape(4, 3)) + ".")
    return with_planted(texts)


CORPORA = {
    "20 Newsgroups": newsgroups,
    "20 Newsgroups, planted words": lambda most: with_planted(newsgroups(most)),
    "docstrings": docstrings,
    "documentation": documentation,
    "tiny": tiny,
}


@dataclass(frozen=True)
class Trial:
    """One corpus with one set of options."""

    topics: int
    sweeps: int
    seeds: int

    def run(self, texts: list[str], reference: Corpus, options: dict[str, Any]) -> dict[str, Any]:
        """Return what was measured, averaged over seeds."""
        corpus = Corpus.from_texts(texts, **options)
        found = [self._score(corpus, reference, seed) for seed in range(self.seeds)]
        words = {"words": corpus.n_words, "tokens": corpus.n_tokens}
        return words | {name: float(np.mean([f[name] for f in found])) for name in found[0]}

    def _score(self, corpus: Corpus, reference: Corpus, seed: int) -> dict[str, float]:
        warnings.simplefilter("ignore", UserWarning)  # documents without words
        model = LDA(self.topics, max_iter=self.sweeps, random_state=seed, verbose=False)
        top = model.fit(corpus).model_.topics(10)
        known = set(reference.vocab)
        whole = [topic for topic in top if len(topic) > 1 and known.issuperset(topic)]
        npmi = coherence(whole, reference, "c_npmi")
        return {
            "npmi": float(npmi.mean()),
            "median_npmi": float(np.median(npmi)),
            "diversity": diversity(top),
            "with_function_words": float(sum(any(map(is_function, t)) for t in top)),
            "led_by_function_words": float(sum(any(map(is_function, t[:3])) for t in top)),
        }


def is_function(word: str) -> bool:
    """Return whether a word is of the list, or a number, or planted in all documents."""
    return word in FUNCTION_WORDS or word.isdigit() or word in ("zorb", "quelt", "according")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", nargs="+", default=[n for n in CORPORA if n != "tiny"])
    parser.add_argument("--options", nargs="+", default=list(OPTIONS))
    parser.add_argument("--topics", type=int, default=30)
    parser.add_argument("--sweeps", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--most", type=int, default=5000, help="documents of a corpus")
    parser.add_argument("--name", default="text_defaults", help="of the file of results")
    given = parse_options(parser, lambda _: None)
    settings = {name: v for name, v in vars(given).items() if name not in ("no_save", "child")}
    trial = Trial(given.topics, given.sweeps, given.seeds)
    rows = []
    for name in given.corpora:
        texts = CORPORA[name](given.most)
        reference = Corpus.from_texts(
            texts, stop_words=None, token_pattern="words", min_df=1, max_df=1.0, flat_words="keep"
        )
        print(f"{name}: {len(texts):,} documents", flush=True)
        for title in given.options:
            row = trial.run(texts, reference, OPTIONS[title])
            rows.append({"corpus": name, "documents": len(texts), "options": title} | row)
            fine, led = row["with_function_words"], row["led_by_function_words"]
            print(
                f"  {title:42} {row['words']:7,} words  NPMI {row['npmi']:.3f} (median "
                f"{row['median_npmi']:.3f})  diversity {row['diversity']:.3f}  function words in "
                f"{fine:4.1f}, leading {led:4.1f} of {given.topics}",
                flush=True,
            )
    if not given.no_save:
        write_result(given.name, {"settings": settings, "results": rows})


if __name__ == "__main__":
    sys.exit(main())
