"""What notebooks show of a corpus, a model, an estimator, a hierarchy and posterior draws."""

from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn import config_context

from polyaurn import LDA, Corpus, datasets
from polyaurn.exchange.parts import topics_only

HOSTILE = "</td><script>alert(1)</script><img src=x onerror=alert(1)>"
ALLOWED = {"div", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "span", "bdi"}


class Page(HTMLParser):
    """Reads a fragment: its elements, attributes, rows and text; every element must be closed."""

    def __init__(self, fragment):
        super().__init__()
        self.tags, self.attributes, self.rows, self.text, self.open = set(), set(), 0, "", []
        self.feed(fragment)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.rows += tag == "tr"
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def read(fragment):
    page = Page(fragment)
    assert page.tags <= ALLOWED
    assert page.attributes <= {"style", "class"}
    assert page.rows <= 40
    assert len(fragment) < 20_000
    return page.text


@pytest.fixture(scope="module")
def hostile():
    X = np.random.default_rng(0).poisson(2.0, (30, 5))
    vocabulary = ["plain", HOSTILE, "\x1b[31mred", "\u202eleft", "long" * 100]
    return LDA(3, max_iter=5, verbose=False).fit(Corpus.from_matrix(X, vocabulary))


def test_words_and_labels_are_escaped_and_cut(hostile):
    model = hostile.model_.label_topics({0: HOSTILE, 1: "x" * 100})
    strange = replace(model, parameters=model.parameters | {"sampler": HOSTILE, "sweeps": HOSTILE})
    drawn = LDA(3, max_iter=5, verbose=False).sample_posterior(
        hostile.corpus_, chains=2, draws=5, thin=1
    )
    hierarchy = model.hierarchy()
    for shown in (hostile.corpus_, model, strange, hierarchy, drawn):
        said = read(shown._repr_html_())
        assert "<script>alert(1)" in said  # as text
        assert "\x1b" not in said
        assert "\u202e" not in said
        assert "long" * 21 not in said
        assert "x" * 41 not in said
    read(hostile._repr_html_())


def test_a_model_shows_its_largest_topics(trained):
    model = trained.model_
    said = read(model._repr_html_())
    assert "4 topics, 73 words, 60 documents" in said
    assert "40 sweeps" in said
    largest = int(np.argmax(model.topic_sizes))
    assert f"{model.topic_sizes[largest] / model.topic_sizes.sum():.1%}" in said
    assert ", ".join(model.topics(8)[largest][:2]) in said
    many = LDA(50, max_iter=2, verbose=False).fit(datasets.generate(40, 60, 4)).model_
    assert "The 20 largest of 50 topics." in read(many._repr_html_())
    assert "The last 15 of 49 steps." in read(many.hierarchy(as_frame=False)._repr_html_())
    bare = topics_only(np.array([[4.0, 0, 1], [0, 3, 3]]), 0.1, 0.01, list("abc"), "test", "words")
    assert "2 topics, 3 words" in read(bare._repr_html_())


def test_a_label_is_shown(trained):
    assert "label" not in read(trained.model_._repr_html_())
    assert "Rivers" in read(trained.label_topics({2: "Rivers"})._repr_html_())


def test_a_hierarchy_shows_labels_and_words(trained):
    model = trained.model_.label_topics({2: "Rivers"})
    table = model.hierarchy(as_frame=False).table
    said = read(model.hierarchy()._repr_html_())
    assert "2: Rivers" in said
    names = dict(zip(map(tuple, table["left"] + table["right"]),
                     table["left_name"] + table["right_name"], strict=True))  # fmt: skip
    for k in (0, 1, 3):
        assert f"{k}: {', '.join(model.topics(3)[k])}"[:40] in said
        assert names[(k,)].startswith(model.topics(1)[k][0])
    for topics, words in zip(table["left"], table["left_name"], strict=True):
        if len(topics) > 1:
            merged = model.merge_topics([topics])
            assert words == ", ".join(merged.topics(5)[min(topics)])


def test_a_corpus_shows_its_most_frequent_words(small):
    said = read(small._repr_html_())
    first = small.vocab[int(np.bincount(small.word).argmax())]
    assert f"{np.bincount(small.word).max():,}" in said
    assert first in said
    assert "The 10 most frequent of 80 words." in said
    empty = Corpus.from_matrix(np.array([[1, 0], [0, 0]]), ["a", "b"])
    assert "1 documents are empty" in read(empty._repr_html_())


def test_an_estimator_shows_its_diagram_until_it_is_trained(trained):
    fresh = LDA(7, max_iter=12)
    assert "sk-" in fresh._repr_html_()
    assert "sk-" in fresh._repr_mimebundle_()["text/html"]
    assert "share of tokens" in trained._repr_html_()
    bundle = trained._repr_mimebundle_()
    assert "share of tokens" in bundle["text/html"]
    assert bundle["text/plain"].startswith("LDA(")
    with config_context(display="text"):
        assert set(trained._repr_mimebundle_()) == {"text/plain"}


def test_draws_show_how_chains_agree(small):
    lda = LDA(4, max_iter=30, verbose=False)
    several = lda.sample_posterior(small, chains=2, draws=8, thin=1)
    said = read(several._repr_html_())
    assert "2 chains of 8 draws" in said
    assert "R-hat" in said
    worst = several.match_quality[1:].min()
    assert f"{worst:.2f}" in said
    one = lda.sample_posterior(small, chains=1, draws=3, thin=1)
    assert "least match" not in read(one._repr_html_())
