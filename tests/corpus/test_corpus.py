import numpy as np
import pytest
import scipy.sparse as sp

from polyaurn import Corpus, InputError
from polyaurn.corpus.pruning import document_frequency

SPLIT = ("12", "19", "23", "25")  # of the corpus `small`, seed 3: fixed for ever
TEXTS = ["The red apple and the green apple", "Green leaf, green tree", "", "red red leaf"]


def test_from_texts_counts_words_and_keeps_empty_documents():
    corpus = Corpus.from_texts(TEXTS, doc_names=["a", "b", "c", "d"])
    assert corpus.vocab == ("apple", "green", "leaf", "red", "tree")
    assert corpus.doc_ptr.tolist() == [0, 4, 8, 8, 11]
    assert corpus[0].tolist() == [0, 0, 1, 3]
    assert corpus[3].tolist() == [2, 3, 3]
    assert corpus.doc_names == ("a", "b", "c", "d")
    assert (corpus.n_documents, corpus.n_words, corpus.n_tokens, corpus.n_empty) == (4, 5, 11, 1)
    assert corpus.word.dtype == np.int32
    assert corpus.doc_ptr.dtype == np.int64


def test_text_options_reach_the_vectorizer(tmp_path):
    pairs = Corpus.from_texts(TEXTS, ngram_range=(2, 2), stop_words=None)
    assert "red apple" in pairs.vocab
    stop = tmp_path / "stop.txt"
    stop.write_text("red\ngreen\n")
    assert Corpus.from_texts(TEXTS, stop_words=str(stop)).vocab == (
        "and", "apple", "leaf", "the", "tree",
    )  # fmt: skip
    assert Corpus.from_texts(TEXTS, tokenizer=lambda t: t.split("e"), stop_words=None).n_words > 5
    assert "Green" in Corpus.from_texts(TEXTS, lowercase=False).vocab


def test_from_matrix_round_trip_and_default_names():
    rng = np.random.default_rng(0)
    X = sp.random(20, 12, density=0.3, random_state=rng, format="csr")
    X.data = np.ceil(X.data * 4)
    corpus = Corpus.from_matrix(X)
    assert (corpus.to_matrix() != X).nnz == 0
    assert corpus.vocab[:2] == ("x0", "x1")
    assert corpus.doc_names[0] == "0"
    assert corpus.doc_names[-1] == "19"
    assert corpus.doc_names[1:3] == ["1", "2"]
    assert (Corpus.from_matrix(X.toarray()).to_matrix() != X).nnz == 0


def test_unsorted_documents_are_sorted():
    corpus = Corpus(np.array([0, 3, 5]), np.array([2, 0, 1, 1, 0]), ("a", "b", "c"))
    assert corpus.word.tolist() == [0, 1, 2, 0, 1]
    duplicated = sp.csr_matrix(([1, 2, 1], [1, 1, 0], [0, 3]), shape=(1, 2))
    assert Corpus.from_matrix(duplicated).word.tolist() == [0, 1, 1, 1]


def test_a_corpus_cannot_be_changed():
    mine = np.array([0, 1], np.int32)
    corpus = Corpus(np.array([0, 2]), mine, ("a", "b"))
    mine[0] = 1
    assert corpus.word.tolist() == [0, 1]
    with pytest.raises(ValueError, match="read-only"):
        corpus.word[0] = 1
    with pytest.raises(AttributeError):
        corpus.vocab = ()
    assert isinstance(corpus.vocab, tuple)


def test_prune_by_count_by_documents_and_by_tf_idf():
    X = np.array([[1, 2, 0, 9, 0], [1, 0, 0, 3, 0], [1, 1, 0, 0, 0], [1, 0, 1, 0, 0]])
    corpus = Corpus.from_matrix(X, list("abcde"))
    assert corpus.prune() is corpus
    assert corpus.prune(min_count=1).vocab == tuple("abcd")
    assert corpus.prune(min_count=2).vocab == tuple("abd")
    assert corpus.prune(max_doc_fraction=0.5).vocab == tuple("bcde")
    # count * log(D / df): a 0, b 3 log 2, c log 4, d 12 log 2
    assert corpus.prune(max_words=2).vocab == ("b", "d")
    rare = corpus.prune(min_count=12)
    assert rare.vocab == ("d",)
    assert rare.n_empty == 2
    assert rare.n_documents == 4


def test_document_frequency_counts_each_document_once():
    corpus = Corpus.from_matrix(np.array([[2, 0, 1], [3, 0, 0], [0, 0, 0], [0, 0, 4]]))
    found = document_frequency(corpus.doc_ptr, corpus.word, corpus.n_words)
    assert found.tolist() == [2, 0, 2]


def test_split_is_reproducible_and_complete(small):
    train, test = small.split(0.25, random_state=3)
    again, _ = small.split(0.25, random_state=3)
    other, _ = small.split(0.25, random_state=4)
    assert train == again
    assert hash(train) == hash(again)
    assert train != other
    assert train.fingerprint != other.fingerprint
    assert (train.n_documents, test.n_documents) == (45, 15)
    assert train.n_tokens + test.n_tokens == small.n_tokens
    assert train.vocab == test.vocab == small.vocab
    names = sorted([*train.doc_names, *test.doc_names], key=int)
    assert names == list(small.doc_names)
    assert list(train.doc_names) == sorted(train.doc_names, key=int)
    assert test.doc_names[:4] == SPLIT


def test_fingerprint_sees_every_part():
    base = Corpus.from_matrix([[1, 1], [0, 1]], ["a", "b"])
    for other in (
        Corpus.from_matrix([[1, 1], [1, 0]], ["a", "b"]),
        Corpus.from_matrix([[1, 0], [1, 1]], ["a", "b"]),
        Corpus.from_matrix([[1, 1], [0, 1]], ["a", "c"]),
    ):
        assert other.fingerprint != base.fingerprint
    assert Corpus.from_matrix([[1, 1], [0, 1]], ["a", "b"]).fingerprint == base.fingerprint


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Corpus.from_matrix([[1.5, 0]]), "whole, non-negative counts. Got 1.5 at row 0"),
        (lambda: Corpus.from_matrix([[1, -2]]), "Got -2 at row 0, column 1"),
        (lambda: Corpus.from_matrix([[0.0, np.nan]]), "Got nan"),
        (lambda: Corpus.from_matrix([[1.0, np.inf]]), "Got inf"),
        (lambda: Corpus.from_matrix([[0, 0]]), "without any word; give counts above 0"),
        (lambda: Corpus.from_matrix(np.zeros((0, 2))), "at least one document"),
        (lambda: Corpus.from_matrix([["a", "b"]]), "two-dimensional array of counts"),
        (lambda: Corpus.from_matrix([[1, 2]], ["a"]), "one word for each of the matrix's 2"),
        (lambda: Corpus.from_matrix([[1, 2]], ["a", "a"]), "'a' at positions 1 and 2"),
        (lambda: Corpus.from_matrix([[1, 2]], ["a", 3]), "Got 3 at position 2"),
        (lambda: Corpus.from_matrix([[1, 2]], doc_names=["a", "b"]), "one name for each"),
        (lambda: Corpus([0, 1], [5], ("a",)), "numbers from 0 to 0"),
        (lambda: Corpus([0, 2], [0], ("a",)), "end at the number of tokens, 1"),
        (lambda: Corpus([0, 2, 1, 3], [0, 0, 0], ("a",)), "must not decrease"),
        (lambda: Corpus.from_texts("one string"), "several strings"),
        (lambda: Corpus.from_texts(["fine", None]), "Got NoneType"),
        (lambda: Corpus.from_texts([["cat", "dog"]]), "use Corpus.from_tokens"),
        (lambda: Corpus.from_texts(["fine"], token_pattern="["), "'token_pattern'"),
        (lambda: Corpus.from_texts(["fine"], stop_words=5), "'stop_words'"),
        (lambda: Corpus.from_texts(["fine"], min_count="3"), "'min_count' parameter must be a nu"),
        (lambda: Corpus.from_matrix([[1, 2], [3]]), "rows of different lengths"),
        (lambda: Corpus.from_texts(["the", "and"]), "at least one word after"),
        (lambda: Corpus.from_texts(["fine"], stop_words="/no/such"), "cannot be read"),
        (lambda: Corpus.from_texts(["apple"], min_count=5), "leave at least one word"),
        (lambda: Corpus.from_texts(["apple"], min_count=-1), "'min_count'"),
        (lambda: Corpus.from_texts(["apple"], max_doc_fraction=0), "'max_doc_fraction'"),
        (lambda: Corpus.from_texts(["apple"], max_words=0), "'max_words'"),
        (lambda: Corpus.from_texts(["apple"], max_words=1.5), "'max_words' parameter must be a wh"),
        (lambda: Corpus.from_texts(["apple"]).split(2.0), "'test_fraction'"),
        (lambda: Corpus.from_texts(["apple"]).split(0.5), "both sides"),
    ],
)
def test_bad_input_is_one_sentence(make, says):
    with pytest.raises(InputError) as caught:
        make()
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
