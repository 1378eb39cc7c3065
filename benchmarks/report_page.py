"""The size of a report of many documents with text, and the time until it is painted.

Documents are sentences of 20 Newsgroups, drawn at random, so that their words and their compression
are those of real text; each has a date and a class. The page is opened several times in Chromium,
each time as the first page of a new browser: "first-contentful-paint" and the end of the page's own
scripts are what the browser itself reports, from the start of navigation.
"""

import argparse
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from common import parse_options, write_result
from polyaurn import LDA, Corpus, write_report
from text_corpora import texts_of

FLAGS = "--headless=new --no-sandbox --disable-gpu --no-first-run --disable-dev-shm-usage"


def documents(corpus: str, n: int) -> list[str]:
    """Return documents of three to twelve sentences each."""
    random = np.random.default_rng(0)
    found = [s.strip() for t in texts_of(corpus)[0] for s in re.split(r"(?<=[.!?])\s+", t)]
    sentences = [s for s in found if 10 <= len(s) <= 300]
    lengths = random.integers(3, 13, n)
    chosen = random.integers(len(sentences), size=int(lengths.sum()))
    ends = np.cumsum(lengths)
    return [
        " ".join(sentences[i] for i in chosen[end - length : end])
        for end, length in zip(ends, lengths, strict=True)
    ]


def paint(page: Path) -> dict[str, float]:
    """Return seconds until the page is first painted, and until its scripts have run."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or str(shutil.which("chromium-browser"))
    for flag in FLAGS.split():
        options.add_argument(flag)
    service = webdriver.ChromeService(str(shutil.which("chromedriver")))
    browser = webdriver.Chrome(options=options, service=service)
    try:
        browser.get(page.as_uri())
        while not (times := browser.execute_script(_TIMES)):
            time.sleep(0.05)
    finally:
        browser.quit()
    return {name: value / 1000 for name, value in times.items()}


_TIMES = """
const first = performance.getEntriesByName("first-contentful-paint")[0];
const load = performance.getEntriesByType("navigation")[0].loadEventEnd;
return first && load ? { first_paint: first.startTime, loaded: load } : null;
"""


def measure(given: Any, n_topics: int) -> dict[str, Any]:
    """Train on the documents, write the page and open it."""
    texts = documents(given.corpus, given.documents)
    random = np.random.default_rng(1)
    days = np.datetime64("2015-01-01") + random.integers(3000, size=len(texts))
    classes = [f"class {c}" for c in random.integers(12, size=len(texts))]
    corpus = Corpus.from_texts(texts)
    lda = LDA(n_topics, max_iter=given.sweeps, random_state=0, verbose=False).fit(corpus)
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        page = write_report(
            lda, Path(folder) / "page.html", corpus=corpus, texts=texts,
            dates=[str(day) for day in days], classes=classes,
        )  # fmt: skip
        row = {
            "topics": n_topics, "documents": len(texts), "words": corpus.n_words,
            "tokens": corpus.n_tokens, "characters": sum(map(len, texts)),
            "seconds_to_write": time.perf_counter() - start, "bytes": page.stat().st_size,
        }  # fmt: skip
        opened = [paint(page) for _ in range(given.openings)]
    return row | {name: [o[name] for o in opened] for name in (opened[0] if opened else {})}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", default="20 Newsgroups", help="of text_corpora.py")
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--topics", type=int, nargs="+", default=[100, 1000])
    parser.add_argument("--sweeps", type=int, default=20)
    parser.add_argument("--openings", type=int, default=5)
    given = parse_options(parser, lambda _: None)
    rows = []
    for n_topics in given.topics:
        row = measure(given, n_topics)
        rows.append(row)
        painted = ", ".join(f"{s:.2f}" for s in row.get("first_paint", []))
        print(
            f"{row['topics']:5,} topics  {row['documents']:7,} documents  "
            f"{row['bytes'] / 1e6:.1f} MB of {row['characters'] / 1e6:.0f} million characters  "
            f"written in {row['seconds_to_write']:.1f} s  first painted after {painted} s",
            flush=True,
        )
    if not given.no_save:
        write_result("report-page", {"sweeps": given.sweeps, "results": rows})


if __name__ == "__main__":
    sys.exit(main())
