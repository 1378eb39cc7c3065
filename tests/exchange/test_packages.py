"""Models of gensim and scikit-learn, in and out; pyLDAvis. Against the packages themselves."""

import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.decomposition import LatentDirichletAllocation

from polyaurn import LDA, Corpus, InputError, evaluate, exchange, load
from polyaurn.chain.priors import make_priors
from polyaurn.model.data import word_probabilities


@pytest.fixture(scope="module")
def clear():
    """Documents of one or two of four subjects, with words of their own: any method finds them."""
    rng = np.random.default_rng(0)
    topics = np.full((4, 40), 0.1 / 40) + 0.9 * np.kron(np.eye(4), rng.dirichlet(np.ones(10)))
    mixtures = rng.dirichlet(np.full(4, 0.2), 120)
    return Corpus.from_matrix(np.array([rng.multinomial(60, row) for row in mixtures @ topics]))


@pytest.fixture(scope="module")
def trained(clear):
    return LDA(4, max_iter=60, learn_priors_every=0, verbose=False).fit(clear)


def bags(corpus):
    matrix = corpus.to_matrix()
    return [
        list(zip(row.indices.tolist(), row.data.tolist(), strict=True))
        for row in (matrix[d] for d in range(corpus.n_documents))
    ]


def uneven(model):
    V = len(model.vocab)
    return replace(model, priors=make_priors([0.1, 0.2, 0.3, 0.4], np.linspace(0.01, 0.1, V), 4, V))


def check_usable(model, corpus, tmp_path):
    """All that a model without documents is for."""
    assert model.doc_topics().shape == (0, model.n_topics)
    assert len(model.topics(5)) == model.n_topics
    mixtures = model.transform(corpus)
    assert np.allclose(mixtures.sum(axis=1), 1.0)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.topic_word_counts.dtype == np.float64
    assert np.array_equal(again.topic_word_counts.toarray(), model.topic_word_counts.toarray())
    assert again.topics(5, weights=True) == model.topics(5, weights=True)
    assert np.array_equal(again.transform(corpus), mixtures)
    score = evaluate.left_to_right(again, corpus, 5)
    assert -np.log(len(model.vocab)) < score.per_token < 0.0
    assert np.isfinite(evaluate.document_completion(again, corpus).per_token)
    assert np.isfinite(evaluate.coherence(again, corpus)).all()
    found = evaluate.topic_diagnostics(again, corpus)
    assert np.allclose(found["tokens"], model.topic_word_counts.sum(axis=1).A1)
    assert (found["documents"] == 0).all()
    return mixtures


def agree_where_it_is_clear(ours, theirs):
    order = np.sort(ours, axis=1)
    clear = order[:, -1] - order[:, -2] > 0.2
    assert clear.mean() > 0.5
    return (ours.argmax(axis=1) == theirs.argmax(axis=1))[clear].mean() > 0.97


def test_from_sklearn(clear, tmp_path):
    matrix = clear.to_matrix()
    for method in ("batch", "online"):
        lda = LatentDirichletAllocation(4, learning_method=method, random_state=0, max_iter=20)
        theirs = lda.fit_transform(matrix)
        model = exchange.from_sklearn(lda, np.array(clear.vocab))
        expected = lda.components_ / lda.components_.sum(axis=1, keepdims=True)
        assert np.abs(word_probabilities(model) - expected).max() < 1e-14
        listed = np.array([p for _, p in model.topics(40, weights=True, order="frequency")[0]])
        assert np.allclose(listed, np.sort(expected[0])[::-1][: len(listed)])
        assert (model.priors.alpha == 0.25).all()
        assert agree_where_it_is_clear(model.transform(clear), theirs)
    check_usable(model, clear, tmp_path)


def test_from_sklearn_below_its_prior():
    lda = LatentDirichletAllocation(2).fit([[3, 1], [1, 2]])
    lda.components_ = np.array([[0.1, 2.0], [4.0, 0.0]])  # less than the prior, 0.5, and nothing
    model = exchange.from_sklearn(lda, ["a", "b"])
    assert np.abs(word_probabilities(model) - [[0.1 / 2.1, 2.0 / 2.1], [1.0, 0.0]]).max() < 1e-14
    assert (model.priors.beta > 0).all()


def test_to_sklearn_and_back(trained):
    model, matrix = trained.model_, trained.corpus_.to_matrix()
    lda = exchange.to_sklearn(trained)
    assert np.array_equal(lda.components_, trained.components_)
    assert agree_where_it_is_clear(model.transform(trained.corpus_), lda.transform(matrix))
    assert 1.0 < lda.perplexity(matrix) < len(model.vocab)
    fresh = LatentDirichletAllocation(4, random_state=0, max_iter=1).fit(matrix)
    assert set(vars(fresh)) - set(vars(lda)) == {"bound_"}
    back = exchange.from_sklearn(lda, model.vocab)
    assert np.abs(back.topic_word_counts - model.topic_word_counts).max() < 1e-10
    assert back.priors.beta.tolist() == model.priors.beta.tolist()
    lda.partial_fit(matrix)
    assert np.isfinite(lda.components_).all()
    with pytest.raises(InputError, match="has one number for alpha"):
        exchange.to_sklearn(uneven(model))
    assert exchange.to_sklearn(uneven(model), flatten_priors=True).doc_topic_prior_ == 0.25


def test_gensim_both_ways(clear, trained, tmp_path):
    gensim = pytest.importorskip("gensim", reason="gensim is not installed")
    model = uneven(trained.model_)
    lda = exchange.to_gensim(model)
    assert isinstance(lda, gensim.models.LdaModel)
    assert np.abs(lda.get_topics() - word_probabilities(model)).max() < 1e-14
    for k, topic in lda.show_topics(4, 5, formatted=False):
        assert [word for word, _ in topic] == model.topics(5, order="frequency")[k]
    theirs = np.array(
        [
            [p for _, p in lda.get_document_topics(bag, minimum_probability=0.0)]
            for bag in bags(trained.corpus_)
        ]
    )
    assert agree_where_it_is_clear(model.transform(trained.corpus_), theirs)
    assert lda.id2word.doc2bow([model.vocab[5]]) == [(5, 1)]
    back = exchange.from_gensim(lda)
    assert np.array_equal(back.topic_word_counts.toarray(), model.topic_word_counts.toarray())
    assert np.array_equal(back.priors.beta, model.priors.beta)
    assert back.vocab == model.vocab
    lda.save(str(tmp_path / "gensim"))
    lda.update(bags(trained.corpus_))
    assert np.isfinite(lda.get_topics()).all()


@pytest.mark.parametrize("eta", ["symmetric", "matrix"])
def test_from_gensim(clear, tmp_path, eta):
    gensim = pytest.importorskip("gensim", reason="gensim is not installed")
    words = gensim.corpora.Dictionary([list(clear.vocab)])
    numbers = [words.token2id[word] for word in clear.vocab]
    texts = [[(numbers[v], n) for v, n in bag] for bag in bags(clear)]
    if eta == "matrix":
        eta = np.random.default_rng(0).uniform(0.01, 1.0, (4, clear.n_words))
    lda = gensim.models.LdaModel(texts, 4, words, passes=40, random_state=0, eta=eta, alpha="auto")
    model = exchange.from_gensim(lda)
    assert np.abs(word_probabilities(model) - lda.get_topics()).max() < 1e-6
    assert np.array_equal(model.priors.alpha, lda.alpha.astype(np.float64))
    mine = check_usable(model, clear, tmp_path)
    theirs = np.array([[p for _, p in lda.get_document_topics(t, 0.0)] for t in texts])
    assert agree_where_it_is_clear(mine, theirs)


def test_what_is_no_model_is_rejected(monkeypatch, trained):
    with pytest.raises(InputError, match=r"must be a gensim LdaModel. Got int"):
        exchange.from_gensim(3)
    with pytest.raises(InputError, match="must be a fitted LatentDirichletAllocation"):
        exchange.from_sklearn(LatentDirichletAllocation(), ["a"])
    fitted = LatentDirichletAllocation(2).fit([[3, 1], [1, 2]])
    with pytest.raises(InputError, match=r"one word for each of the model's 2 words. Got 3"):
        exchange.from_sklearn(fitted, ["a", "b", "c"])
    with pytest.raises(InputError, match="'feature_names' parameter must hold each word once"):
        exchange.from_sklearn(fitted, ["a", "a"])
    with pytest.raises(InputError, match=r"a TopicModel or a trained LDA. Got str"):
        exchange.to_sklearn("model")
    monkeypatch.setitem(sys.modules, "gensim.corpora", None)
    with pytest.raises(InputError, match=r"pip install 'polyaurn\[gensim\]'"):
        exchange.to_gensim(trained)


def test_what_needs_documents_says_so(clear, trained, tmp_path):
    bare = exchange.from_sklearn(exchange.to_sklearn(trained), trained.model_.vocab)
    for write in (
        lambda: exchange.write_mallet_state(bare, trained.corpus_, tmp_path / "state"),
        lambda: exchange.document_table(bare),
    ):
        with pytest.raises(InputError, match="must have documents"):
            write()


def test_pyldavis_takes_the_arguments(odd, trained):
    pyldavis = pytest.importorskip("pyLDAvis", reason="pyLDAvis is not installed")
    arguments = exchange.pyldavis_arguments(trained, trained.corpus_)
    bare = exchange.from_sklearn(exchange.to_sklearn(trained), trained.model_.vocab)
    for given in (arguments, exchange.pyldavis_arguments(bare, trained.corpus_)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pyLDAvis' own, about pandas
            prepared = pyldavis.prepare(**given, n_jobs=1, sort_topics=False)
        assert prepared.topic_coordinates.topics.tolist() == [1, 2, 3, 4]
        terms = prepared.topic_info.query("Category == 'Topic1'").sort_values("logprob").Term
        assert terms.iloc[-1] == trained.topics(1)[0][0]
    assert int(arguments["term_frequency"].sum()) == trained.corpus_.n_tokens
    with pytest.raises(InputError, match="what the model was trained on"):
        exchange.pyldavis_arguments(trained, odd)


def test_a_page_of_pyldavis_lists_labels(trained, tmp_path):
    pytest.importorskip("pyLDAvis", reason="pyLDAvis is not installed")
    corpus, named = trained.corpus_, trained.label_topics({1: "<b>Flüsse & Seen"})
    page = exchange.write_pyldavis(named, corpus, tmp_path / "a.html").read_text()
    row = "<tr><td>1</td><td>&lt;b&gt;Fl&#252;sse &amp; Seen</td></tr>"
    assert page.endswith(f"<th>Label</th></tr>\n{row}\n</table>\n")
    bare = exchange.write_pyldavis(trained, corpus, tmp_path / "b.html").read_text()
    assert "<table>" not in bare
    exchange.write_pyldavis(named, corpus, tmp_path / "a.json")
    exchange.write_pyldavis(trained, corpus, tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_pyldavis_gets_no_word_without_tokens(odd):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lda, one = (LDA(k, max_iter=5, verbose=False).fit(odd) for k in (2, 1))
    arguments = exchange.pyldavis_arguments(lda, odd)
    assert arguments["vocab"] == ["x0", "x1", "x2", "x4", "x5"]
    assert np.allclose(arguments["topic_term_dists"].sum(axis=1), 1.0)
    with pytest.raises(InputError, match="at least two topics"):
        exchange.pyldavis_arguments(one, odd)
