"""How text becomes words: marks, forms of Unicode, patterns of strangers, lists of tokens."""

import copy
import json
import pickle
import re
import unicodedata

import numpy as np
import pytest

from polyaurn import Corpus, InputError, import_corpus, read_corpus
from polyaurn.corpus.patterns import LETTERS, WORDS, is_bounded, words_expression
from polyaurn.corpus.tokenization import Tokenization, tokenization_for, tokenization_of
from polyaurn.corpus.urn_file import HEADER_BYTES, MARK

HINDI = "हिन्दी भाषा में लिखा हुआ एक छोटा वाक्य"
THAI = "กินข้าวที่บ้าน ดีมาก"
ARABIC = "كِتَابٌ جَدِيدٌ"
HEBREW = "שָׁלוֹם עוֹלָם"


def words_of(text, **options):
    return list(Corpus.from_texts([text], stop_words=None, **options).vocab)


def chop(text):
    return [word[:4] for word in text.split()]


@pytest.mark.parametrize("text", [HINDI, THAI, ARABIC, HEBREW], ids=["hi", "th", "ar", "he"])
def test_marks_stay_inside_words(text):
    whole = sorted(unicodedata.normalize("NFC", word) for word in text.split())
    assert words_of(text, language=None) == whole  # Thai is not cut where there are no blanks


def test_scikit_learns_pattern_tears_them_as_ever():
    assert words_of(HINDI, token_pattern=LETTERS) != words_of(HINDI)


def test_composed_and_decomposed_text_have_the_same_words():
    composed = "Café Zoë naïve über Ångström"
    decomposed = unicodedata.normalize("NFD", composed)
    assert decomposed != composed
    assert words_of(decomposed) == words_of(composed) == sorted(composed.lower().split())
    seen = []
    Corpus.from_texts([decomposed], tokenizer=lambda text: seen.append(text) or text.split())
    assert composed.lower() in seen
    assert decomposed.lower() not in seen
    left = Corpus.from_texts([decomposed + " blau"], stop_words=["café", "zoë"])
    assert left.vocab == ("blau", "naïve", "ångström", "über")


def test_stop_words_are_found_in_any_form():
    stop = [unicodedata.normalize("NFD", "café")]
    assert Corpus.from_texts(["café blau"], stop_words=stop).vocab == ("blau",)


def test_a_joiner_belongs_to_a_word_and_a_mark_by_itself_is_no_word():
    assert words_of("می\u200cخواهم ab\u200d cd\u200c") == ["ab", "cd", "می\u200cخواهم"]
    assert words_of("\u0301ab ☺\ufe0f 1\ufe0f\u20e3") == ["ab"]


def test_text_without_marks_is_cut_as_ever():
    some = "It's 3.14 a b_c _x 42nd e-mail\tÜBER straße 日本語 x1 ñ ¿qué? " + "".join(
        map(chr, range(768))
    )
    assert re.findall(words_expression(), some) == re.findall(LETTERS, some)


def test_a_turkish_capital_stays_one_word():
    assert words_of("İstanbul") == ["i\u0307stanbul"]


@pytest.mark.parametrize(
    "pattern",
    [
        WORDS,
        LETTERS,
        r"\w+",
        r"[a-z]+",
        r"\S+",
        r"(?u)\b[a-z][a-z_]+[a-z]\b",
        r"[^\W\d]{3,}",
        r"(?i)#?\w{2,}",
        r"\b[A-Za-z]{3,20}\b",
        r"[^\s,;]+",
        r"[a-z]+|\d{4}",
        r"\d+(?:st|nd|rd)?",
    ],
)
def test_simple_patterns_are_bounded(pattern):
    assert is_bounded(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?:a+)+b",
        r"(a+)+b",
        r"(?:a|a)*b",
        r"(?:a|a){1,30}b",
        r"(?:a?){1,40}a{40}",
        r".*.*x",
        r"\w+\w+x",
        r"[\s\S]*x",
        r"[^x]*x",
        r".+",
        r"(?:.*)+",
        r"(\w+)\1",
        r"(?=a+)b",
        r"(?:(?:a{1,9}){1,9}){1,9}b",
        r"\w{0,60}\w{0,60}x",
        r"(?:ab)*c",
        r"(?<!a)b",
        "a" * 400,
        "(",
        r"(?:\w+ ?)+x",
        r"(?P<a>a)(?(a)b|c)",
        r"[^a-z]+x",
        r"(?:a+|b)*c",
    ],
)
def test_others_are_not(pattern):
    assert not is_bounded(pattern)


def test_a_pattern_that_came_in_a_file_never_runs_unless_it_is_bounded():
    stated = Tokenization(token_pattern=r"(?:a+)+b").to_json()
    found = tokenization_of(stated)
    with pytest.raises(InputError, match="might never end, so it is not run"):
        Corpus.cut(["a" * 60], found)
    assert Corpus.cut(["aab"], found.with_pattern(r"\w+")).vocab == ("aab",)
    assert tokenization_of(Tokenization(token_pattern=r"\w+").to_json()).trusted


def test_rules_survive_json():
    rules = Tokenization(
        stop_words=["a", "b"],
        ngram_range=(1, 2),
        lowercase=False,
        token_pattern=r"\w+",
        strip_accents="unicode",
    )
    assert tokenization_of(json.loads(json.dumps(rules.to_json()))) == rules
    assert tokenization_of(Tokenization().to_json()) == Tokenization()


@pytest.mark.parametrize(
    "change",
    [
        {"stop_words": "/etc/hostname"},
        {"stop_words": [1]},
        {"ngram_range": [1, 10**6]},
        {"ngram_range": 2},
        {"ngram_range": [1.7, 2.2]},
        {"ngram_range": [True, 2]},
        {"ngram_range": [1, 2, 3]},
        {"lowercase": 1},
        {"token_pattern": None},
        {"token_pattern": "("},
        {"token_pattern": "a" * 10**5},
        {"strip_accents": "x"},
        {"normalization": "NFKC"},
        {"tokenizer": 3},
    ],
)
def test_rules_in_a_file_are_checked(change):
    with pytest.raises(InputError):
        tokenization_of(Tokenization().to_json() | change)
    with pytest.raises(InputError):
        tokenization_of(None)


def test_every_part_of_a_corpus_keeps_its_rules():
    corpus = Corpus.from_texts(["Red apples", "green Leaves", "red leaf"], lowercase=False)
    rules = corpus.tokenization
    assert not rules.lowercase
    assert corpus.select([0, 2]).tokenization is rules
    assert all(part.tokenization is rules for part in corpus.split(0.4))
    assert corpus.prune(min_count=1, max_doc_fraction=0.9).prune(max_words=1).tokenization is rules
    assert Corpus.from_matrix(corpus.to_matrix()).tokenization is None


def test_imported_files_keep_them(tmp_path):
    (tmp_path / "t.txt").write_text("Red apple\nGreen leaf\n")
    options = {"lowercase": False, "stop_words": ["Green"], "token_pattern": r"\w+"}
    imported = import_corpus(tmp_path / "t.txt", tmp_path / "c.urn", **options)
    again = read_corpus(tmp_path / "c.urn")
    assert again.tokenization == imported.tokenization == Tokenization(**options)
    cut = import_corpus(tmp_path / "t.txt", tmp_path / "d.urn", tokenizer=chop)
    assert cut.tokenization.tokenizer is chop
    lost = read_corpus(tmp_path / "d.urn").tokenization
    assert (lost.tokenizer, lost.tokenizer_name) == (None, f"{__name__}.chop")
    head = (tmp_path / "c.urn").read_bytes()[:HEADER_BYTES]
    assert json.loads(head[len(MARK) :].split(b"\n")[0])["format_version"] == 2


def test_damaged_rules_in_an_imported_file_are_reported(tmp_path):
    (tmp_path / "t.txt").write_text("red apple\n")
    import_corpus(tmp_path / "t.txt", tmp_path / "c.urn")
    damaged = (tmp_path / "c.urn").read_bytes().replace(b'"lowercase": true', b'"lowercase": 1234')
    (tmp_path / "c.urn").write_bytes(damaged)
    with pytest.raises(InputError, match="It is damaged"):
        read_corpus(tmp_path / "c.urn")


def test_a_function_that_has_no_name_is_left_out_of_pickles():
    named = Tokenization(tokenizer=chop)
    assert pickle.loads(pickle.dumps(named)).tokenizer is chop
    nameless = Tokenization(tokenizer=lambda text: text.split())
    again = pickle.loads(pickle.dumps(nameless))
    assert (again.tokenizer, again.tokenizer_name) == (None, nameless.tokenizer_name)
    with pytest.raises(InputError, match=r"<lambda>', which is not saved"):
        Corpus.cut(["a b"], again)
    assert copy.copy(named) == named
    method = Tokenization(tokenizer=str.split)
    assert method.tokenizer_name == "str.split"
    assert pickle.loads(pickle.dumps(method)).tokenizer("a b") == ["a", "b"]


def test_rules_that_fit_a_vocabulary():
    plain = tokenization_for(("apple", "leaf"))
    assert (plain.stop_words, plain.ngram_range, plain.lowercase) == ("english", (1, 1), True)
    other = tokenization_for(("Apple", "the", "the apple"))
    assert (other.stop_words, other.ngram_range, other.lowercase) == (None, (1, 2), False)
    assert tokenization_for(("भाषा",)).token_pattern == WORDS


def test_lists_of_tokens_are_counted_as_they_are():
    corpus = Corpus.from_tokens([["The", "cat", "cat"], [], ("dog", "a b")], min_count=1)
    assert corpus.vocab == ("The", "a b", "cat", "dog")
    assert corpus.to_matrix().toarray().tolist() == [[1, 0, 2, 0], [0] * 4, [0, 1, 0, 1]]
    assert Corpus.from_tokens([["b", "a", "a"]], min_count=2).vocab == ("a",)
    with pytest.raises(InputError, match="given as lists of tokens"):
        Corpus.cut(["cat"], corpus.tokenization)


@pytest.mark.parametrize(
    ("documents", "says"),
    [
        (["a text"], "for texts use Corpus.from_texts"),
        ([["a", 3]], "Got 3 at document 0"),
        ([[], []], "at least one word"),
        ([4], "Got int"),
    ],
)
def test_other_things_than_lists_of_tokens(documents, says):
    with pytest.raises(InputError, match=says):
        Corpus.from_tokens(documents)


def test_an_index_gives_names_and_numbers_begin_with_zero():
    pd = pytest.importorskip("pandas")
    texts = ["red apple", "green leaf"]
    assert Corpus.from_texts(pd.Series(texts, index=["a", "b"])).doc_names == ("a", "b")
    assert Corpus.from_texts(pd.Series(texts, index=[7, 9])).doc_names == ("7", "9")
    assert list(Corpus.from_texts(pd.Series(texts)).doc_names) == ["0", "1"]
    assert Corpus.from_texts(pd.Series(texts, index=[7, 9]), doc_names=["x", "y"]).doc_names == (
        "x",
        "y",
    )
    tokens = pd.Series([["a"], ["b"]], index=["m", "n"])
    assert Corpus.from_tokens(tokens).doc_names == ("m", "n")
    counts = pd.DataFrame([[1, 2], [3, 0]], columns=["red", "green"], index=["p", "q"])
    assert Corpus.from_matrix(counts, counts.columns).doc_names == ("p", "q")
    assert list(Corpus.from_matrix(np.eye(3)).doc_names) == ["0", "1", "2"]
