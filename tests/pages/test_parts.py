"""Parts of the report beside topics and documents: words over time, classes, similar topics."""

import numpy as np
import pytest
import scipy.sparse as sp

from polyaurn import Corpus, InputError
from polyaurn.model.distance import topic_distances
from polyaurn.pages.report.data import gather
from polyaurn.pages.report.page import render
from support.pages import synthetic


def test_words_over_time_are_counted(trained):
    corpus, D = trained.corpus_, trained.corpus_.n_documents
    years = [2000 + d % 5 if d % 7 else None for d in range(D)]
    data = gather(trained, corpus, years)
    counts = sp.csr_matrix(
        (np.ones(corpus.n_tokens, int), corpus.word, corpus.doc_ptr), (D, corpus.n_words)
    ).toarray()
    names = data["words"]["text"].split("\n")
    for v, flat in enumerate(data["packs"]["trends"][0]):
        column = counts[:, corpus.vocab.index(names[v])]
        expected = {
            t: n for t in range(5) if (n := int(column[[year == 2000 + t for year in years]].sum()))
        }
        assert dict(zip(flat[::2], flat[1::2], strict=True)) == expected
    dated = np.array([year is not None for year in years])
    assert sum(data["time"]["tokens"]) == counts[dated].sum()
    assert gather(trained, None, years)["packs"]["trends"] == []


def test_topics_by_class(trained, monkeypatch):
    D = trained.corpus_.n_documents
    kinds = [["news", "sport", " ", None][d % 4] for d in range(D)]
    found = gather(trained, classes=kinds)["classes"]
    theta = trained.model_.doc_topics()
    assert (found["labels"], found["without"]) == (["news", "sport"], D // 2)
    for c in range(2):
        assert np.allclose(np.array(found["share"])[:, c], theta[c::4].mean(axis=0), atol=1e-5)
    both = [d for d in range(D) if d % 4 < 2]
    assert np.allclose(found["overall"], theta[both].mean(axis=0), atol=1e-5)
    assert gather(trained, classes=["one"] * D)["classes"] is None
    monkeypatch.setattr("polyaurn.pages.report.classes.MOST_CLASSES", 2)
    data = gather(trained, classes=["a", "b", "b"] + ["c"] * (D - 3))
    assert data["classes"]["labels"] == ["b", "c"]
    assert "The 2 largest of 3 classes." in data["notes"]["classes"]
    with pytest.raises(InputError, match="'classes' parameter must have one value for each"):
        gather(trained, classes=["a"])


def test_similar_topics_are_in_the_order_of_their_tree(trained, monkeypatch):
    model = trained.model_
    found = gather(model)["similar"]
    distance = topic_distances(model.topic_word_mass)
    order = found["topics"]
    assert sorted(order) == list(range(4))
    for a, row in enumerate(found["alike"]):
        assert len(row) == a
        for b, value in enumerate(row):
            assert value / found["steps"] == pytest.approx(
                1 - distance[order[a], order[b]], abs=0.51 / found["steps"]
            )
    tops = [link[4] for link in found["links"]]
    assert tops == pytest.approx(model.hierarchy(as_frame=False).linkage[:, 2].tolist(), abs=1e-4)
    assert all(link[0] < link[1] and max(link[2:4]) <= link[4] for link in found["links"])
    monkeypatch.setattr("polyaurn.pages.report.similarity.MOST_TOPICS", 3)
    fewer = gather(model)["similar"]
    assert (len(fewer["topics"]), fewer["all"]) == (3, 4)


@pytest.mark.slow
def test_many_documents_with_text_fit_on_a_page(tmp_path):
    model, corpus = synthetic(100, 100_000, 30_000, 99)
    rng = np.random.default_rng(0)
    stems = ["".join(rng.choice(list("abcdefghijklmnopqrstuvwxyz"), 6)) for _ in range(30_000)]
    vocab = tuple(f"{stem}{v}" for v, stem in enumerate(stems))
    model = model.with_words(vocab)
    corpus = Corpus(corpus.doc_ptr, corpus.word, vocab)

    def read(documents):
        return [
            " of the ".join(
                vocab[v] for v in corpus.word[corpus.doc_ptr[d] : corpus.doc_ptr[d + 1]]
            )
            for d in documents.tolist()
        ]

    dates = [f"{2000 + d % 20}" for d in range(100_000)]
    classes = [f"class {d % 30}" for d in range(100_000)]
    data = gather(model, corpus, dates, texts=read, classes=classes)
    (tmp_path / "a.html").write_text(render(data))
    assert (tmp_path / "a.html").stat().st_size < 10e6
    shown = set(data["documents"]["number"])
    for k in (0, 57, 99):
        assert shown.issuperset(model.representative_documents(k, 8, as_frame=False)["number"])
