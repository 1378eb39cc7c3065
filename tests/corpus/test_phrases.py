"""Phrases are found before counting, joined, and remembered."""

import numpy as np
import pytest

from polyaurn import LDA, Corpus, load, read_corpus
from polyaurn.base.errors import InputError
from polyaurn.corpus.conversion import import_corpus
from polyaurn.corpus.phrases import Joiner, find_phrases
from polyaurn.corpus.tokenization import Tokenization, tokenization_of


def texts(n=300):
    """Return texts with two phrases, one of them of three words, among words in random order."""
    random = np.random.default_rng(0)
    loose = ["apple", "pear", "plum", "fig", "cherry", "grape", "new", "york", "house", "white"]
    made = []
    for _ in range(n):
        words = [str(w) for w in random.choice(loose, 20)]
        made.append(f"{' '.join(words)}. In New York City; the White House, {' '.join(words[:3])}")
    return made


def test_phrases_of_two_and_three_words_are_counted_as_words():
    corpus = Corpus.from_texts(texts(), phrases=True, max_df=1.0)
    joined = [word for word in corpus.vocab if "_" in word]
    assert joined == ["new_york_city", "white_house"] or joined == [
        "new_york", "new_york_city", "white_house",
    ]  # fmt: skip
    assert not any("_" in word for word in Corpus.from_texts(texts(), max_df=1.0).vocab)


def test_stop_words_numbers_and_punctuation_are_in_no_phrase():
    made = ["the bank of england 2020 budget said so. Tower bridge, london eye"] * 60
    corpus = Corpus.from_texts(made, phrases=True, max_df=1.0)
    assert all("of" not in word.split("_") for word in corpus.vocab)
    assert "tower_bridge" in corpus.vocab
    assert "bridge_london" not in corpus.vocab


@pytest.mark.parametrize(
    ("text", "language", "options"),
    [
        ("hired a lawyer", "en", {}),
        ("vitamin C deficiency", "en", {"stop_words": None}),
        ("lawyers don't agree", "en", {}),
        ("lawyers _a_ agree", "en", {"token_pattern": "terms"}),
        ("дерево и камень", "ru", {}),
        ("hired my lawyer", "en", {"token_pattern": r"(?u)\b(\w{3,})\b"}),
        ("hired then lawyer", "en", {"token_pattern": r"(?u)\bthen\b|\b(\w\w+)\b"}),
        ("面包的黄油", "zh", {}),
        ("東京の大学", "ja", {}),
    ],
)
def test_words_that_are_left_out_are_in_no_phrase(text, language, options):
    made = [f"{text}. Tower bridge"] * 60
    corpus = Corpus.from_texts(made, phrases=True, max_df=1.0, language=language, **options)
    assert [word for word in corpus.vocab if "_" in word] == ["tower_bridge"]
    assert corpus.n_words == 3


@pytest.mark.parametrize("score", ["ratio", "npmi"])
def test_pairs_in_random_order_are_no_phrases(score):
    random = np.random.default_rng(1)
    words = [f"w{chr(97 + v)}" for v in range(20)]
    documents = [[[str(w) for w in random.choice(words, 30)]] for _ in range(400)]
    assert find_phrases(lambda: documents, frozenset(), score=score) == ()


def test_tokens_are_joined_from_left_to_right():
    join = Joiner((("new", "york"), ("new_york", "city"), ("york", "city")))
    tokens = ["in", "new", "york", "city", "york", "city"]
    assert join(tokens) == ["in", "new_york_city", "york_city"]


def test_phrases_are_remembered_by_models_and_files(tmp_path):
    lda = LDA(2, max_iter=3, verbose=False).fit(Corpus.from_texts(texts(), phrases=True))
    lda.model_.save(tmp_path / "model")
    rules = load(tmp_path / "model").tokenization
    assert rules.phrases == lda.model_.tokenization.phrases
    assert Corpus.cut(["a white house in Spain"], rules).vocab == ("spain", "white_house")
    assert tokenization_of(rules.to_json()).phrases == rules.phrases


def test_reading_and_importing_find_the_same_phrases(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(texts()), encoding="utf-8")
    corpus = read_corpus(path, phrases=True)
    assert corpus == Corpus.from_texts(iter(texts()), phrases=True)
    imported = import_corpus(path, tmp_path / "texts.urn", phrases=True)
    assert imported == corpus
    assert read_corpus(tmp_path / "texts.urn").tokenization == corpus.tokenization


def test_phrases_are_for_text(tmp_path):
    counts = tmp_path / "counts.ldac"
    counts.write_text("2 0:1 1:2\n", encoding="utf-8")
    with pytest.raises(InputError, match="'phrases' parameter is for text"):
        read_corpus(counts, phrases=True)
    with pytest.raises(InputError, match="must be True or False"):
        Corpus.from_texts(["apple"], phrases=3)
    with pytest.raises(InputError, match="pairs of words"):
        Tokenization(phrases=(("a", "b", "c"),))
    with pytest.raises(InputError):
        tokenization_of(Tokenization().to_json() | {"phrases": [["a"]]})
