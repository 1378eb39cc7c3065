"""A report and a browser, which the tests of this folder share."""

import shutil
from itertools import pairwise

import numpy as np
import pytest

from polyaurn import LDA, Corpus, write_report
from support.browser import DESKTOP, HOSTILE, open_at

FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage"
)
SUBJECTS = (
    "cat dog bird fish horse mouse rabbit tiger",
    "moon star planet orbit comet rocket galaxy telescope",
    "goal team cup match player league coach stadium",
    "bread cheese apple soup pasta butter sugar salad",
)


@pytest.fixture(scope="session")
def lda():
    """Train on four subjects; one word and one document's name are hostile."""
    rng = np.random.default_rng(0)
    subjects = [subject.split() for subject in SUBJECTS]
    subjects[2].append("longer" * 15)
    subjects[3].append(HOSTILE)
    vocabulary = sorted({word for subject in subjects for word in subject} | {"common"})
    place = {word: v for v, word in enumerate(vocabulary)}
    X = np.zeros((80, len(vocabulary)), int)
    for d in range(80):
        for word in rng.choice(subjects[d % 4], 30):
            X[d, place[word]] += 1
        X[d, place["common"]] += 6
    names = [f"paper {d}" for d in range(60)] + ["long" * 30] * 19 + [HOSTILE]
    corpus = Corpus.from_matrix(X, vocabulary, doc_names=names)
    chain = {"sampler": "polya-urn", "warm_start": "smooth"}
    return LDA(6, max_iter=150, evaluate_every=1, verbose=False, **chain).fit(corpus)


@pytest.fixture(scope="session")
def options():
    """Return dates and classes of the documents; one class is hostile."""
    dates = [f"{2000 + d // 8}" for d in range(80)]
    return {"dates": dates, "classes": [("a", "b", HOSTILE)[d % 3] for d in range(80)]}


@pytest.fixture(scope="session")
def written(lda):
    """Return a text for each document, with all of its words, the hostile one among them."""
    corpus = lda.corpus_
    rows = [corpus.word[a:b].tolist() for a, b in pairwise(corpus.doc_ptr.tolist())]
    return ["The " + " and\nthe ".join(corpus.vocab[v] for v in row) + "." for row in rows]


@pytest.fixture(scope="session")
def page(lda, options, written, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(lda, path, corpus=lda.corpus_, texts=written, title=HOSTILE, **options)
    return path.as_uri()


@pytest.fixture(scope="session")
def page_of_counts(lda, options, tmp_path_factory):
    """Write a page without texts, where documents are bags of words."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    return write_report(lda, path, corpus=lda.corpus_, title=HOSTILE, **options).as_uri()


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    webdriver = pytest.importorskip("selenium.webdriver")
    binary = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("no browser here: chromium and chromedriver are not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in FLAGS.split():
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('profile')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    started = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield started
    started.quit()


@pytest.fixture
def opened(browser, page):
    """Open the page as it is at first, in a wide window."""
    open_at(browser, page, DESKTOP)
    return browser
