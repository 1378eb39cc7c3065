"""Which score finds phrases: the log-likelihood ratio or NPMI, at equal numbers of phrases.

What writers themselves mark as one thing is the yardstick: a pair counts as confirmed if it is also
written with a hyphen somewhere in the corpus ("hard-drive"), or if both words have capitals in at
least half of its occurrences ("New York").
"""

import argparse
import re
from collections import Counter

from common import parse_options, write_result
from polyaurn.corpus import phrases
from polyaurn.corpus.preparation import with_phrases
from polyaurn.corpus.tokenization import Tokenization
from text_corpora import texts_of

_PAIR = re.compile(r"(?=\b([^\W\d_]{2,})([ -])([^\W\d_]{2,})\b)")


def confirmed(texts: list[str]) -> set[tuple[str, str]]:
    """Return the pairs that writers mark as one thing."""
    together, capitals, hyphens = Counter(), Counter(), set()
    for text in texts:
        for first, between, second in _PAIR.findall(text):
            pair = (first.lower(), second.lower())
            together[pair] += 1
            capitals[pair] += first[0].isupper() and second[0].isupper()
            if between == "-":
                hyphens.add(pair)
    return hyphens | {pair for pair, n in together.items() if capitals[pair] >= n / 2}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", nargs="+", default=["20 Newsgroups", "docstrings"])
    parser.add_argument("--most", type=int, default=4000, help="documents of a corpus")
    parser.add_argument("--best", nargs="+", type=int, default=[100, 300, 1000])
    given = parse_options(parser, lambda _: None)
    phrases.LEAST_RATIO, phrases.LEAST_NPMI = 0.0, -1.0  # all pairs, in order of their score
    rows = []
    for name in given.corpora:
        texts, _ = texts_of(name, given.most)
        marked = confirmed(texts)
        for score in ("ratio", "npmi"):
            found = with_phrases(Tokenization(), True, lambda texts=texts: texts, score=score)
            pairs = [pair for pair in found.phrases if "_" not in pair[0]]
            for best in given.best:
                share = sum(pair in marked for pair in pairs[:best]) / max(len(pairs[:best]), 1)
                rows.append({"corpus": name, "score": score, "best": best, "confirmed": share})
                print(f"{name:20} {score:6} best {best:5,}: {share:.0%} confirmed", flush=True)
            print("  ", ", ".join("_".join(pair) for pair in pairs[:12]))
    if not given.no_save:
        write_result("phrases", {"results": rows})


if __name__ == "__main__":
    main()
