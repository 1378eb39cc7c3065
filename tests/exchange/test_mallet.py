"""States of MALLET: what is read, what is written, what is rejected."""

import gzip
import tracemalloc
import warnings
from dataclasses import replace

import numpy as np
import pytest

from polyaurn import LDA, Corpus, InputError, exchange, load
from polyaurn.chain.priors import make_priors
from polyaurn.exchange import mallet_read

HEAD = "#doc source pos typeindex type topic\n#alpha : 0.5 0.25 0.125 \n#beta : 0.01\n"
BY_HAND = (
    HEAD
    + "0 file:/a b/1.txt 0 7 zebra 2\n"
    + "0 file:/a b/1.txt 1 3 été 0\n"
    + "0 file:/a b/1.txt 2 7 zebra 1\n"
    + "2 NA 0 9 New York 0\n"
    + "2 NA 1 3 été 2\n"
)


def write(path, text):
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def error(path, text):
    with pytest.raises(InputError) as caught:
        exchange.read_mallet_state(write(path, text))
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    return message


@pytest.mark.plain
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_state_by_hand(tmp_path, packed, ends):
    text = BY_HAND.replace("\n", ends).encode()
    path = write(tmp_path / "state", gzip.compress(text, mtime=0) if packed else text)
    model, corpus = exchange.read_mallet_state(path, with_corpus=True)
    assert model.vocab == ("été", "zebra", "New York")
    assert list(model.doc_names) == ["file:/a b/1.txt", "NA", "NA"]
    assert corpus.word.tolist() == [0, 1, 1, 0, 2]
    assert corpus.doc_ptr.tolist() == [0, 3, 3, 5]
    assert model.assignments.tolist() == [0, 2, 1, 2, 0]
    assert model.assignments.dtype == np.uint16
    assert model.topic_word_counts.toarray().tolist() == [[1, 0, 1], [0, 1, 0], [1, 1, 0]]
    assert model.doc_topic_counts.toarray().tolist() == [[1, 1, 1], [0, 0, 0], [1, 0, 1]]
    assert model.priors.alpha.tolist() == [0.5, 0.25, 0.125]
    assert model.priors.beta.tolist() == [0.01] * 3
    model.save(tmp_path / "model")
    assert (load(tmp_path / "model").topic_word_counts != model.topic_word_counts).nnz == 0


def test_names_that_are_all_missing_are_numbers(tmp_path):
    path = write(tmp_path / "state", HEAD + "1 NA 0 0 cat 1\n")
    assert list(exchange.read_mallet_state(path).doc_names) == ["0", "1"]


def test_other_encodings(tmp_path):
    path = write(tmp_path / "state", BY_HAND.encode("latin-1"))
    assert "été" in exchange.read_mallet_state(path, encoding="latin-1").vocab
    assert "line 5: expected utf-8 text. Got byte 0xe9" in error(path, path.read_bytes())
    with pytest.raises(InputError, match="'encoding' parameter"):
        exchange.read_mallet_state(path, encoding="utf-9")


@pytest.mark.parametrize("name", ["state.gz", "state.txt"])
def test_written_and_read_again(small, tmp_path, name, monkeypatch):
    corpus = small.prune(min_count=1)
    trained = LDA(4, max_iter=40, average_draws=1, verbose=False).fit(corpus)
    alpha = np.linspace(0.05, 1 / 3, 4)
    model = replace(trained.model_, priors=make_priors(alpha, 0.01, 4, len(trained.model_.vocab)))
    path = exchange.write_mallet_state(model, trained.corpus_, tmp_path / name)
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == name.endswith(".gz")
    monkeypatch.setattr(mallet_read, "_PIECE", 1000)  # words and documents continue in other pieces
    again, corpus = exchange.read_mallet_state(path, with_corpus=True)
    assert corpus == trained.corpus_
    assert np.array_equal(again.assignments, model.assignments)
    for counts in ("topic_word_counts", "doc_topic_counts"):
        assert (getattr(again, counts) != getattr(model, counts)).nnz == 0
        assert getattr(again, counts).dtype == np.int32
    assert np.array_equal(again.priors.alpha, alpha)
    assert np.array_equal(again.priors.beta, model.priors.beta)
    assert again.parameters["corpus_sha256"] == trained.corpus_.fingerprint
    assert np.array_equal(again.transform(corpus), model.transform(corpus))
    before = path.read_bytes()
    exchange.write_mallet_state(model, corpus, path, force=True)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_every_token_has_its_line(tmp_path):
    corpus = Corpus.from_matrix([[2, 1], [0, 1]], ["cat", "dog"], doc_names=["a", "b"])
    lda = LDA(1, max_iter=1, verbose=False, doc_topic_prior=0.5).fit(corpus)
    path = exchange.write_mallet_state(lda, corpus, tmp_path / "state")
    assert path.read_text().splitlines() == [
        "#doc source pos typeindex type topic",
        "#alpha : 0.5 ",
        "#beta : 0.01",
        "0 a 0 0 cat 0",
        "0 a 1 0 cat 0",
        "0 a 2 1 dog 0",
        "1 b 0 1 dog 0",
    ]


def test_what_a_state_cannot_hold_is_rejected_or_noted(odd, trained, tmp_path):
    model, corpus = trained.model_, trained.corpus_
    path = tmp_path / "state.gz"
    beta = np.full(len(model.vocab), 0.01)
    beta[3] = 0.5
    uneven = replace(model, priors=make_priors(0.1, beta, 4, len(beta)))
    with pytest.raises(InputError, match="MALLET has one number for beta"):
        exchange.write_mallet_state(uneven, corpus, path)
    exchange.write_mallet_state(uneven, corpus, path, flatten_priors=True)
    assert exchange.read_mallet_state(path).priors.beta[0] == beta.mean()
    with pytest.raises(InputError, match="is there already"):
        exchange.write_mallet_state(model, corpus, path)
    with pytest.raises(InputError, match="what the model was trained on"):
        exchange.write_mallet_state(model, corpus.select(np.arange(59)), tmp_path / "other")
    swapped = replace(model, assignments=np.roll(model.assignments, 1))
    with pytest.raises(InputError, match="what the model was trained on"):
        exchange.write_mallet_state(swapped, corpus, tmp_path / "other")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lda = LDA(2, max_iter=5, verbose=False).fit(odd)
    with pytest.warns(UserWarning, match="1 words that do not occur and 3 documents without"):
        exchange.write_mallet_state(lda, odd, tmp_path / "odd")
    again = exchange.read_mallet_state(tmp_path / "odd")
    assert len(again.vocab) == 5
    assert np.array_equal(again.doc_topic_counts.toarray(), lda.doc_topic_counts_.toarray()[:6])


def test_blanks_need_a_stand_in(tmp_path):
    words = ["new york", "new_york", "cat"]
    corpus = Corpus.from_matrix([[1, 0, 2]], words, doc_names=["my file"])
    lda = LDA(1, max_iter=1, verbose=False).fit(corpus)
    path = tmp_path / "state"
    with pytest.raises(InputError, match=r"cuts words and names at blanks. Got 'new york'"):
        exchange.write_mallet_state(lda, corpus, path)
    with pytest.raises(InputError, match=r"without blanks. Got ' '"):
        exchange.write_mallet_state(lda, corpus, path, blank=" ")
    with pytest.warns(UserWarning, match="1 words"):
        exchange.write_mallet_state(lda, corpus, path, blank="_")
    assert exchange.read_mallet_state(path).vocab == ("new_york", "cat")
    assert list(exchange.read_mallet_state(path).doc_names) == ["my_file"]
    both = Corpus.from_matrix([[1, 1, 2]], words)
    lda = LDA(1, max_iter=1, verbose=False).fit(both)
    with pytest.raises(InputError, match="must keep words apart"):
        exchange.write_mallet_state(lda, both, tmp_path / "both", blank="_")
    assert not (tmp_path / "both").exists()


TOKEN = "0 NA 0 0 cat 1\n"


@pytest.mark.plain
@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("0 NA 0 cat 1\n", "line 4: expected six fields"),
        (TOKEN + "\n", "line 5: expected six fields"),
        (TOKEN + "0 NA 1", "line 5: expected six fields"),
        ("0 NA 0 0 cat -1\n", "line 4: expected a topic from 0 to 2"),
        ("0 NA 0 0 cat 3\n", "line 4: expected a topic from 0 to 2"),
        ("0 NA 0 0 cat 99999999999999999999999\n", "line 4: expected a topic from 0 to 2"),
        (TOKEN * 9 + "0 NA 0 0 cat 65536\n", "line 13: expected a topic from 0 to 2"),
        ("0 NA 0 -5 cat 1\n", "line 4: expected 'document source position"),
        ("0 NA 0 9999999999 cat 1\n", "line 4: expected 'document source position"),
        ("-1 NA 0 0 cat 1\n", "line 4: expected 'document source position"),
        ("0 NA 0 5 1 2 0\n", "blanks in the source or in the word"),
        ("0 NA 0 0  1\n", "line 4: expected 'document source position"),
        ("3 NA 0 0 cat 1\n" + TOKEN, "line 5: expected a document number that does not fall"),
        ("2000000000 NA 0 0 cat 1\n", "line 4: expected document numbers that leave few out"),
        (TOKEN + "0 b 1 0 cat 1\n", "line 5: expected one name for document 0"),
        (TOKEN + "0 NA 1 0 dog 1\n", "line 5: expected 'cat', the word of type index 0 on line 4"),
        (TOKEN + "0 NA 1 1 cat 1\n", "line 5: expected the type index of 'cat' from line 4"),
        ("0 NA 0 0 c\rt 1\n", "line 4: expected a word. Got 'c\\rt'"),
        ("", "line 4: expected a token. Got the end"),
    ],
)
def test_bad_lines_are_named(tmp_path, lines, message):
    assert message in error(tmp_path / "state", HEAD + lines)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "line 1: expected MALLET's"),
        (bytes(range(256)) * 50, "line 1: expected MALLET's"),
        (HEAD.replace("#alpha : 0.5", "#alpha : nan"), "line 2: expected '#alpha : '"),
        (HEAD.replace("#alpha : 0.5", "#alpha : -1"), "line 2: expected '#alpha : '"),
        (HEAD.replace("#alpha : 0.5", "#alpha : many"), "line 2: expected '#alpha : '"),
        (HEAD.replace("0.5", "0.5 " * 65_535), "line 2: expected '#alpha : ' and 1 to 65,535"),
        (HEAD.replace("0.01", "0.01 0.02"), "line 3: expected '#beta : ' and one positive"),
        (HEAD.replace("#beta", "#eta"), "line 3: expected '#beta : '"),
        (HEAD.split("\n")[0] + "\n" + TOKEN, "line 2: expected '#alpha : '"),
    ],
)
def test_bad_heads_are_named(tmp_path, text, message):
    assert message in error(tmp_path / "state", text)


def test_gzip_that_is_cut_off_or_damaged(tmp_path):
    packed = gzip.compress((BY_HAND + "3 NA 0 3 été 1\n" * 5000).encode(), mtime=0)
    assert "must be a whole gzip file" in error(tmp_path / "cut.gz", packed[: len(packed) // 2])
    assert "must be a whole gzip file" in error(
        tmp_path / "bad.gz", packed[:40] + b"\xff" * 20 + packed[60:]
    )
    with pytest.raises(InputError, match="cannot be read"):
        exchange.read_mallet_state(tmp_path / "nowhere")


@pytest.mark.parametrize("line", [1, 2, 4])
def test_a_bomb_takes_little_memory(tmp_path, line):
    path = tmp_path / "bomb.gz"
    head = "".join(HEAD.splitlines(keepends=True)[: line - 1])
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(head.encode() + b"0 NA ")
        for _ in range(128):
            file.write(b"x" * (1 << 20))
    tracemalloc.start()
    with pytest.raises(InputError, match=f"line {line}: expected at most 4,194,304 bytes"):
        exchange.read_mallet_state(path)
    assert tracemalloc.get_traced_memory()[1] < 40 << 20
    tracemalloc.stop()
