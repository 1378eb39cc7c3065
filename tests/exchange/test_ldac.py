"""Models of LDA-C: NAME.beta and NAME.other."""

import gzip
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from polyaurn import LDA, InputError, evaluate, exchange, load
from polyaurn.chain.priors import make_priors
from polyaurn.model.data import word_probabilities

WORDS = ["cat", "dog", "star"]
OTHER = "num_topics 2\nnum_terms 3\nalpha 0.25\n"
BETA = " -0.6931471806 -0.6931471806 -100.0000000000\n -100 -1.3862943611 -0.2876820724\n"


def write(folder, beta=BETA, other=OTHER, name="final"):
    (folder / f"{name}.other").write_text(other)
    path = folder / f"{name}.beta"
    path.write_bytes(beta.encode() if isinstance(beta, str) else beta)
    return path


def test_a_model_by_hand(tmp_path):
    path = write(tmp_path)
    (tmp_path / "vocab.txt").write_text("cat\ndog\nstar\n")
    for vocab in (WORDS, tmp_path / "vocab.txt"):
        model = exchange.read_ldac_beta(path, vocab)
        assert np.allclose(
            word_probabilities(model), [[0.5, 0.5, 0.0], [0.0, 0.25, 0.75]], atol=1e-9
        )
        assert model.topics() == [["cat", "dog"], ["star", "dog"]]
        assert model.priors.alpha.tolist() == [0.25, 0.25]
    exchange.write_ldac_beta(model, tmp_path / "again.beta")
    first, second = (np.loadtxt(p) for p in (path, tmp_path / "again.beta"))
    assert np.abs(first - second).max() < 1e-9  # -100 included
    theta = model.transform(np.array([[5, 0, 0], [0, 0, 5]]))
    assert theta.argmax(axis=1).tolist() == [0, 1]


def test_written_and_read_again(small, tmp_path):
    corpus = small.prune(min_count=1)
    trained = LDA(4, max_iter=40, learn_priors_every=0, verbose=False).fit(corpus)
    path = exchange.write_ldac_beta(trained, tmp_path / "final.beta")
    assert (tmp_path / "final.other").read_text().startswith("num_topics 4\nnum_terms ")
    assert np.loadtxt(path).shape == (4, len(trained.model_.vocab))
    model = exchange.read_ldac_beta(path, trained.model_.vocab)
    ratio = word_probabilities(model) / word_probabilities(trained.model_)
    assert np.abs(ratio - 1.0).max() < 1e-9
    model.save(tmp_path / "model")
    scores = [
        evaluate.left_to_right(m, trained.corpus_, 10) for m in (load(tmp_path / "model"), trained)
    ]
    spread = np.hypot(*(s.per_token_error for s in scores))
    assert abs(scores[0].per_token - scores[1].per_token) < 5 * spread
    with pytest.raises(InputError, match="is there already"):
        exchange.write_ldac_beta(trained, path)
    path.unlink()
    with pytest.raises(InputError, match=r"final.other' is there already"):
        exchange.write_ldac_beta(trained, path)
    with pytest.raises(InputError, match=r"must end in .beta"):
        exchange.write_ldac_beta(trained, tmp_path / "final.txt")
    V = len(model.vocab)
    uneven = replace(trained.model_, priors=make_priors([0.1, 0.2, 0.3, 0.4], 0.01, 4, V))
    with pytest.raises(InputError, match="LDA-C has one number for alpha"):
        exchange.write_ldac_beta(uneven, tmp_path / "b.beta")
    assert not list(tmp_path.glob("*b.*"))
    exchange.write_ldac_beta(uneven, tmp_path / "b.beta", flatten_priors=True)
    assert exchange.read_ldac_beta(tmp_path / "b.beta", model.vocab).priors.alpha[0] == 0.25


@pytest.mark.parametrize(
    ("beta", "message"),
    [
        (BETA.replace("-1.38", "nan "), "line 2: expected 3 log probabilities"),
        (BETA.replace("-1.3862943611", "nan"), "line 2: expected log probabilities, which are"),
        (BETA.replace("-1.3862943611", "1.5"), "Got '1.5' for word 2"),
        (BETA.replace("-1.3862943611", "word"), "Got 'word' for word 2"),
        (BETA.replace("-1.3862943611", "-9"), "line 2: expected log probabilities of a topic"),
        (BETA.replace("-100.0000000000", "-inf"), None),
        (BETA.split("\n")[0], "line 2: expected 3 log probabilities"),
        (BETA + BETA, "line 3: expected the end after 2 topics"),
        (bytes(range(1, 256)) * 9, "line 1: expected 3 log probabilities"),
        (b"\x00" * 100_000, "line 1: expected at most 256 bytes"),
        (gzip.compress(BETA.encode(), mtime=0)[:-12], "must be a whole gzip file"),
    ],
)
def test_bad_beta_files_are_named(tmp_path, beta, message):
    path = write(tmp_path, beta)
    if message is None:
        assert exchange.read_ldac_beta(path, WORDS).topics() == [["cat", "dog"], ["star", "dog"]]
        return
    with pytest.raises(InputError) as caught:
        exchange.read_ldac_beta(path, WORDS)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ("", "line 1: expected 'num_topics'"),
        (OTHER.replace("2", "65536", 1), "line 1: expected 'num_topics' and a positive number of"),
        (OTHER.replace("2", "-2", 1), "line 1: expected 'num_topics'"),
        (OTHER.replace("3", "many"), "line 2: expected 'num_terms'"),
        (OTHER.replace("0.25", "nan"), "line 3: expected 'alpha'"),
        (OTHER.replace("0.25", "0"), "line 3: expected 'alpha'"),
        ("x" * 5000, "line 1: expected at most 1,000 bytes"),
    ],
)
def test_bad_other_files_are_named(tmp_path, other, message):
    path = write(tmp_path, other=other)
    with pytest.raises(InputError, match=message):
        exchange.read_ldac_beta(path, WORDS)


def test_files_that_do_not_belong_together(tmp_path):
    path = write(tmp_path, other=OTHER.replace("3", "999999999"))
    with pytest.raises(InputError, match="must have 999,999,999 words"):
        exchange.read_ldac_beta(path, WORDS)
    (tmp_path / "final.other").unlink()
    with pytest.raises(InputError, match=r"final.other' cannot be read: No such file"):
        exchange.read_ldac_beta(path, WORDS)


def test_a_bomb_takes_little_memory(tmp_path):
    path = write(tmp_path)
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(64):
            file.write(b"1 " * (1 << 19))
    tracemalloc.start()
    with pytest.raises(InputError, match="line 1: expected at most 256 bytes"):
        exchange.read_ldac_beta(path, WORDS)
    assert tracemalloc.get_traced_memory()[1] < 10 << 20
    tracemalloc.stop()
