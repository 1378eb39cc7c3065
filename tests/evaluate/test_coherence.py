"""Coherence against gensim and by hand; what MALLET's users ask of topics."""

import tracemalloc

import numpy as np
import pytest

from polyaurn import LDA, Corpus, InputError, datasets
from polyaurn.corpus.urn_file import read_urn, write_urn
from polyaurn.evaluate import coherence, diversity, mimno_coherence, topic_diagnostics
from polyaurn.evaluate.coherence import _pairs
from polyaurn.evaluate.windows import count_windows

MEASURES = ("u_mass", "c_uci", "c_npmi", "c_v")


def make_texts(seed=0, n=60, longest=300):
    """Texts of Zipfian words, some shorter and some longer than any window, one empty."""
    rng = np.random.default_rng(seed)
    p = 1 / np.arange(1, 41)
    texts = [
        [f"w{v:02d}" for v in rng.choice(40, rng.integers(1, longest), p=p / p.sum())]
        for _ in range(n)
    ]
    return [*texts, []]


TOPICS = [
    ["w00", "w01", "w02", "w03", "w04"],
    ["w05", "w12", "w30", "w07"],
    ["w39", "w38"],
    ["w10", "w20", "w35", "w02", "w11", "w08"],
]


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("longest", [8, 90, 300])
def test_texts_have_the_coherence_of_gensim(measure, longest):
    models = pytest.importorskip("gensim.models", reason="gensim is not installed")
    from gensim.corpora import Dictionary

    texts = make_texts(longest=longest, n=400 if longest == 8 else 60)
    dictionary = Dictionary(texts)
    theirs = models.CoherenceModel(
        topics=TOPICS, texts=texts, dictionary=dictionary, coherence=measure, processes=1,
        corpus=[dictionary.doc2bow(text) for text in texts] if measure == "u_mass" else None,
    ).get_coherence_per_topic()  # fmt: skip
    assert coherence(TOPICS, texts, measure) == pytest.approx(theirs, abs=1e-6)
    assert np.abs(np.subtract(theirs, coherence(TOPICS, make_texts(1), measure))).max() > 1e-3


@pytest.mark.parametrize("measure", MEASURES)
def test_a_corpus_has_whole_documents_for_windows(measure):
    texts = make_texts(longest=90)
    joined = [" ".join(text) for text in texts if text]
    corpus = Corpus.from_texts(joined, stop_words=None, min_df=1, max_df=1.0)
    size = {} if measure == "u_mass" else {"window_size": 90}
    whole = coherence(TOPICS, [text for text in texts if text], measure, **size)
    assert coherence(TOPICS, corpus, measure) == pytest.approx(whole, abs=1e-12)


def count_plainly(texts, size, W):
    """Windows that hold words and pairs, one window after another."""
    alone, together, n = np.zeros(W, int), np.zeros((W, W), int), 0
    for text in texts:
        for i in range(max(1, len(text) - size + 1) if size else 1):
            n += 1
            there = sorted({v for v in (text[i : i + size] if size else text) if v >= 0})
            alone[there] += 1
            for v in there:
                for w in there:
                    together[v, w] += v != w
    return alone, together, n


@pytest.mark.plain
@pytest.mark.parametrize("size", [0, 1, 2, 5, 30])
def test_windows_are_counted_as_by_looking_at_each(size):
    rng = np.random.default_rng(size)
    texts = [rng.integers(-1, 4, n).tolist() for n in (0, 1, 3, 17, 40, 40)] + [[-1] * 9]
    every = _pairs([np.array([2, 0, 3, 1])], 4)  # of four words
    alone, together = np.zeros(4, np.int64), np.zeros(6, np.int64)
    ptr = np.concatenate(([0], np.cumsum([len(t) for t in texts]))).astype(np.int64)
    word = np.array([v for text in texts for v in text], np.int32)
    n = count_windows(ptr, word, size, True, alone, every.first, every.partner, together)
    expected = count_plainly(texts, size, 4)
    assert n == expected[2]
    assert alone.tolist() == expected[0].tolist()
    assert together.tolist() == expected[1][np.tril_indices(4, -1)].tolist()
    forgotten = np.zeros(4, np.int64)
    again = count_windows(ptr, word, size, False, forgotten, every.first, every.partner, together)
    assert again == n
    assert (forgotten <= alone).all()
    assert (forgotten < alone).any() == (size in (2, 5, 30)), (
        "gensim's rule differs where words recur"
    )


def test_pairs_of_topics_are_listed_once_and_found_again():
    topics = [np.array(topic) for topic in ([4, 1, 2], [3], [2, 4], [])]
    pairs = _pairs(topics, 5)
    later = np.repeat(np.arange(5), np.diff(pairs.first))
    listed = list(zip(later.tolist(), pairs.partner.tolist(), strict=True))
    assert listed == [(2, 1), (4, 1), (4, 2)]
    assert [listed[p] for p in pairs.of] == [(4, 1), (4, 2), (2, 1), (4, 2)]


def test_many_topics_need_no_square_of_their_words():
    """Three thousand topics of ten words each: all pairs of words would take 7 GB."""
    K = 3000
    topics = [[f"w{10 * k + j}" for j in range(10)] for k in range(K)]
    there = np.random.default_rng(0).random((30, 10 * K)) < 0.3
    there[:, 0] = there[:2, 1] = there[0] = True
    corpus = Corpus.from_matrix(there.astype(np.int32), [f"w{v}" for v in range(10 * K)])
    tracemalloc.start()
    found = coherence(topics, corpus)
    assert tracemalloc.get_traced_memory()[1] < 3e8
    tracemalloc.stop()
    few = [topics[k] for k in (0, 7, K - 1)]
    assert found[[0, 7, K - 1]].tolist() == coherence(few, corpus).tolist()


def test_documents_are_counted_in_pieces_with_the_same_values(monkeypatch, tmp_path):
    """Memory holds a piece of the words, not a matrix of the corpus."""
    corpus = datasets.generate(3000, 400, 4, 200.0)
    counted = corpus.to_matrix()
    words = np.argsort(-np.asarray((counted > 0).sum(axis=0)).ravel())[:40].reshape(4, 10)
    topics = [[corpus.vocab[v] for v in topic] for topic in words]
    there = (counted > 0).astype(int)
    both = [(there[:, topic].T @ there[:, topic]).toarray() for topic in words]
    by_hand = [
        sum(np.log((n[j, i] + 1) / n[i, i]) for j in range(10) for i in range(j)) for n in both
    ]
    assert mimno_coherence(topics, corpus) == pytest.approx(by_hand, rel=1e-12)
    scores = (mimno_coherence, coherence, lambda *given: coherence(*given, "c_npmi"))
    whole = [score(topics, corpus).tolist() for score in scores]
    monkeypatch.setattr("polyaurn.corpus.arrays.PIECE", 1000)
    mapped = read_urn(write_urn(corpus, tmp_path / "c.urn"))
    for documents in (corpus, mapped):
        tracemalloc.start()
        assert [score(topics, documents).tolist() for score in scores] == whole
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert most < corpus.n_tokens  # a quarter of its words


def test_models_are_scored_on_their_corpus():
    corpus = datasets.generate(200, 120, 4, 50.0)
    lda = LDA(4, max_iter=60, verbose=False).fit(corpus)
    assert diversity(lda) == diversity(lda.topics(10, order="frequency"))
    probable = lda.topics(10, order="frequency")
    assert mimno_coherence(lda, corpus).tolist() == mimno_coherence(probable, corpus).tolist()
    with pytest.raises(InputError, match="Missing there: 'zebra'"):
        mimno_coherence([["zebra"]], corpus)
    for model in (lda, lda.model_):
        found = coherence(model, corpus, "c_npmi", n_words=6)
        assert found.tolist() == coherence(lda.topics(6, order="frequency"), corpus).tolist()
    used = np.unique(corpus.word)
    shuffled = np.random.default_rng(0).permutation(used)[:24].reshape(4, 6)
    random = [[corpus.vocab[v] for v in topic] for topic in shuffled]
    assert found.mean() > coherence(random, corpus).mean() + 0.05


def test_mimno_is_the_sum_of_which_u_mass_is_the_mean():
    corpus = Corpus.from_matrix([[1, 1, 0], [2, 1, 1], [1, 0, 3], [0, 1, 1]], ["a", "b", "c"])
    together, alone = {"ab": 2, "ac": 2, "bc": 2}, {"a": 3, "b": 3}
    terms = [(together[pair], alone[pair[0]]) for pair in ("ab", "ac", "bc")]
    by_hand = sum(np.log((pair + 1) / one) for pair, one in terms)
    assert mimno_coherence([["a", "b", "c"]], corpus) == pytest.approx([by_hand])
    mean = np.mean([np.log(pair / one) for pair, one in terms])
    assert coherence([["a", "b", "c"]], corpus, "u_mass") == pytest.approx([mean])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ([["w00", "w01"]], [["w00", "w01"]], "c_x"),
            "'measure' parameter must be one of 'u_mass'",
        ),
        (([["w00", "zzz", "yyy"]], [["w00"]]), "Missing there: 'yyy' and 1 more"),
        (("w00", [["w00"]]), "'topics' parameter must be a trained model"),
        (([["w00", "w00"]], [["w00"]]), "each word once"),
        (([["w00", "w01"]], ["w00 w01"]), "Got a string for a text"),
        (([["w00", "w01"]], 5), "cut into words. Got int"),
        ((["w00", "w01"], [["w00"]]), "or lists of words, one for each topic"),
        ((5, [["w00"]]), "or lists of words, one for each topic"),
    ],
)
def test_bad_input_is_one_sentence(arguments, message):
    with pytest.raises(InputError, match=message):
        coherence(*arguments)


def test_windows_are_for_texts():
    corpus = Corpus.from_matrix([[1, 1]], ["a", "b"])
    for options in ({"corpus": corpus, "measure": "c_v"}, {"corpus": [["a", "b"]]}):
        with pytest.raises(InputError, match="'window_size' parameter must be a positive number"):
            coherence([["a", "b"]], **{"measure": "u_mass", **options}, window_size=5)
    assert np.isnan(coherence([["a"]], corpus)).all()


def test_topic_diagnostics_by_hand():
    X = np.array([[4, 2, 0], [0, 0, 3], [2, 2, 0]])
    corpus = Corpus.from_matrix(X, ["a", "b", "c"])
    lda = LDA(3, max_iter=5, verbose=False).fit(corpus)
    z = np.where(corpus.word < 2, 0, 1).astype(np.uint16)  # topic 2 is empty
    from polyaurn.backends.registry import load_steps
    from polyaurn.chain.state import State
    from polyaurn.model.model import TopicModel

    counts, priors = load_steps("polya-urn")(corpus, 3).count(z), lda.model_.priors
    model = TopicModel.from_state(corpus, State(z, counts, priors, 1), priors)
    found = topic_diagnostics(model, corpus, n_words=2)
    assert found["tokens"].tolist() == [10, 3, 0]
    assert found["documents"].tolist() == [2, 1, 0]
    assert found["rank_1_documents"].tolist() == [2, 1, 0]
    assert found["effective_words"] == pytest.approx([1 / (0.6**2 + 0.4**2), 1.0, 0.0])
    assert found["document_entropy"][:2] == pytest.approx(
        [-(0.6 * np.log(0.6) + 0.4 * np.log(0.4)), 0.0]
    )
    assert found["exclusivity"][:2] == pytest.approx([1.0, 1.0])
    overall = np.array([6, 4, 3]) / 13
    kl = 0.6 * np.log(0.6 / overall[0]) + 0.4 * np.log(0.4 / overall[1])
    assert found["corpus_distance"][:2] == pytest.approx([kl, np.log(13 / 3)])
    uniform = 0.6 * np.log(0.6 * 3) + 0.4 * np.log(0.4 * 3)
    assert found["uniform_distance"][:2] == pytest.approx([uniform, np.log(3)])
    for name in ("document_entropy", "corpus_distance", "uniform_distance", "exclusivity"):
        assert np.isnan(found[name][2])
    assert found["coherence_mimno"][0] == pytest.approx(np.log((2 + 1) / 2))
    assert "coherence_mimno" not in topic_diagnostics(model)
    assert diversity(model.topics(2)) == 1.0
