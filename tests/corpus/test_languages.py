"""Languages of text: recognition, stop words, words of scripts without blanks, stems, lemmas."""

import json
import os
import subprocess
import sys
import unicodedata
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

import polyaurn
from polyaurn import LDA, Corpus, InputError, import_corpus, read_corpus
from polyaurn.base.errors import LanguageWarning
from polyaurn.corpus import segmenters, stems
from polyaurn.corpus.languages import LANGUAGES, check_language, recognise_language
from polyaurn.corpus.lemmas import Lemmas
from polyaurn.corpus.stop_words import stop_words_of
from polyaurn.corpus.tokenization import Tokenization, tokenization_of

FOLDER = Path(__file__).parent / "languages"
SHIPPED = ("ar", "de", "es", "fr", "hi", "ja", "ru", "th", "zh")
WITHOUT_BLANKS = ("ja", "th", "zh")
FUNCTION_WORDS = {  # chosen by hand, so that a list which lacks them is seen
    "ar": "في من على إلى مع التي بعد عندما كان هذه لأن كل ثم",
    "de": "der die und mit dem nicht wird obwohl weil hatte auch nach waren",
    "es": "el la los las que con para del cuando porque aunque está por",
    "fr": "le la les du dans avec est pour qui quand très parce après",
    "hi": "के में की है और से का को हैं यह ने गया थे हर हम क्योंकि",
    "ja": "は が を に で と の する いる ある です ます た この それから",
    "ru": "и в на с что как который когда мы был для после потому очень",
    "th": "และ ที่ ใน กับ แล้ว ก็ มาก เมื่อ เพราะ ของ จาก ให้ เรา",
    "zh": "的 了 和 在 也 很 我们 因为 虽然 以后 非常 然后 这样",
}
ONE_SENTENCE = {
    "en": "The team won the cup because the goalkeeper was not afraid of the penalty.",
    "it": "La squadra ha vinto la coppa perché il portiere non aveva paura del rigore.",
    "pt": "A equipa ganhou a taça porque o guarda-redes não teve medo do penálti que foi marcado.",
    "nl": "De ploeg heeft de beker gewonnen omdat de keeper niet bang was voor een strafschop.",
    "pl": "Drużyna zdobyła puchar, bo bramkarz nie bał się karnego, i to był jego mecz.",
    "tr": "Takım kupayı kazandı ve bu maç için çok daha iyi bir hazırlık yapmıştı.",
    "sv": "Laget vann cupen eftersom målvakten inte var rädd för den straff som det fick.",
    "el": "Η ομάδα κέρδισε το κύπελλο επειδή ο τερματοφύλακας δεν φοβήθηκε το πέναλτι.",
    "he": "הקבוצה זכתה בגביע כי השוער לא פחד מהפנדל שניתן בסוף המשחק.",
    "ko": "골키퍼가 승부차기를 막아서 팀이 우승컵을 차지했다.",
    "uk": "Команда виграла кубок, тому що воротар не боявся пенальті, і це було для всіх.",
    "fa": "تیم ما جام را برد زیرا دروازه‌بان از پنالتی که در پایان برای آن گرفته شد نمی‌ترسید.",
}


def segments(language):
    """Return the words of each line of a file, as written by hand, with their dictionary forms."""
    lines = (FOLDER / f"{language}.txt").read_text(encoding="utf-8").splitlines()
    return [[part.split("=") for part in line.split()] for line in lines]


def texts_in(language):
    blank = "" if language in WITHOUT_BLANKS else " "
    return [blank.join(part[0] for part in line) for line in segments(language)]


def whole_words(language):
    """Return what is a word, small; without blanks, also compounds of neighbouring words."""
    if language not in WITHOUT_BLANKS:
        text = "".join(c if c.isalnum() or unicodedata.category(c)[0] == "M" else " "
                       for line in texts_in(language) for c in f"{line} ")  # fmt: skip
        return set(unicodedata.normalize("NFC", text).lower().split())
    found = set()
    for line in segments(language):
        for start in range(len(line)):
            for end in range(start, min(start + 4, len(line))):
                before = "".join(part[0] for part in line[start:end])
                found |= {before + form for form in line[end]}
    return found


@pytest.mark.parametrize("language", SHIPPED)
def test_leading_words_are_whole_and_no_stop_words(language):
    texts = texts_in(language)
    assert recognise_language(texts) == language
    corpus = Corpus.from_texts(texts)
    topics = LDA(10, max_iter=60, verbose=False).fit(corpus).topics(8)
    leading = {word for topic in topics for word in topic}
    assert len(leading) >= 40  # of 80, in ten topics of 24 sentences
    assert not leading & set(FUNCTION_WORDS[language].split())
    assert not leading & set(stop_words_of(language))
    assert leading <= whole_words(language)
    assert corpus.n_tokens >= 130
    assert repr(corpus).endswith(f"{LANGUAGES[language]})")


@pytest.mark.parametrize(
    ("language", "subjects"),
    [
        ("ar", ("الخبز", "المباراة", "الفلك")),
        ("de", ("brot", "torwart", "erde")),
        ("es", ("pan", "gol", "sonda")),
        ("fr", ("beurre", "match", "sonde")),
        ("hi", ("रोटी", "मैच", "चंद्रमा")),
        ("zh", ("面包", "守门员", "地球")),
        ("ja", ("パン", "選手", "地球")),
        ("ru", ("хлеб", "вратарь", "зонд")),
        ("th", ("ขนมปัง", "กองหน้า", "ดวงจันทร์")),
    ],
)
def test_three_subjects_are_found(language, subjects):
    lines = texts_in(language)  # eight on each subject
    longer = [" ".join(lines[start + (i + j) % 8] for j in range(4))
              for start in (0, 8, 16) for i in range(8)]  # fmt: skip
    leading = LDA(3, max_iter=200, verbose=False).fit(longer).topics(10)
    assert [sum(word in topic for word in subjects) for topic in leading] == [1, 1, 1]


def test_planted_faults_are_seen():
    """English rules on German and Hindi, and on Chinese clauses, break what is tested above."""
    german = Corpus.from_texts(texts_in("de"), language="en").vocab
    assert set(german) & set(FUNCTION_WORDS["de"].split())
    torn = Corpus.from_texts(texts_in("hi"), token_pattern=r"(?u)\b\w\w+\b").vocab
    assert not set(torn) <= whole_words("hi")
    clauses = Corpus.from_texts(texts_in("zh"), language=None).vocab
    assert not set(clauses) <= whole_words("zh")


@pytest.mark.parametrize("language", ONE_SENTENCE)
def test_a_language_is_recognised_in_one_sentence(language):
    assert recognise_language([ONE_SENTENCE[language]]) == language
    assert recognise_language([ONE_SENTENCE[language]] * 3 + ["", "42"]) == language


def test_names_in_latin_letters_do_not_hide_a_script():
    assert recognise_language(["用 TensorFlow 和 scikit-learn 训练神经网络和分类模型"]) == "zh"
    assert recognise_language(
        ["The letter α is the first of the Greek alphabet and β is next"]
    ) == ("en")


def test_little_text_is_of_no_language_and_cut_as_english():
    corpus = Corpus.from_texts(["red apple and a green leaf", "der Apfel"])
    assert corpus.tokenization.language is None
    assert corpus.vocab == ("apfel", "apple", "der", "green", "leaf", "red")
    assert recognise_language(["a-b c-d a-e", "e-f a-h e-o"] * 9) is None  # Portuguese has them
    assert recognise_language([]) is None
    assert recognise_language(["", "12 3.4"]) is None


def test_a_script_without_a_list_is_said_aloud():
    georgian = ["გუნდმა თასი მოიგო რადგან მეკარეს არ ეშინოდა პენალტის"] * 4
    with pytest.warns(LanguageWarning, match="one that is not recognised"):
        Corpus.from_texts(georgian)
    assert Corpus.from_texts(georgian, language=None).n_words == 8


@pytest.mark.parametrize(
    ("given", "code"),
    [("de", "de"), ("German", "de"), (" CHINESE ", "zh"), ("auto", "auto"), ("none", None)],
)
def test_languages_have_codes_and_names(given, code):
    assert check_language(given) == code


@pytest.mark.parametrize("given", ["klingon", "deu", 3, "", ["de"]])
def test_other_names_are_rejected(given):
    with pytest.raises(InputError, match=r"'language' parameter must be .* Got "):
        Corpus.from_texts(["ein Satz"], language=given)


def test_a_misspelled_name_has_a_remedy():
    with pytest.raises(InputError, match="'german' is the nearest"):
        check_language("grman")


def test_there_are_stop_words_of_many_languages():
    lists = {code: stop_words_of(code) for code in LANGUAGES if code != "en"}
    assert sum(len(words) >= 29 for words in lists.values()) >= 50
    for words in lists.values():
        assert list(words) == sorted(set(words))
        assert all(unicodedata.is_normalized("NFC", word) for word in words)
    assert stop_words_of("en") == stop_words_of(None) == "english-extended"
    for code, some in FUNCTION_WORDS.items():
        if code not in WITHOUT_BLANKS:
            missing = {unicodedata.normalize("NFC", w) for w in some.split()} - set(lists[code])
            assert not missing, code


def test_stop_words_can_still_be_chosen():
    text = ["Der Hund und the dog sind gut"]
    assert Corpus.from_texts(text, stop_words="english", language="de").vocab == (
        "der", "dog", "gut", "hund", "sind", "und",
    )  # fmt: skip
    assert "der" in Corpus.from_texts(text, stop_words=None, language="de").vocab
    german = Corpus.from_texts(text, stop_words="german").vocab
    assert german == Corpus.from_texts(text, language="de").vocab == ("dog", "hund", "the")
    assert Corpus.from_texts(text, stop_words=["hund"], language="de").n_words == 6


def test_english_words_can_be_those_of_scikit_learn():
    from sklearn.feature_extraction.text import CountVectorizer

    texts = [ONE_SENTENCE["en"], "It's been said that they'd gone; naïve e-mails, too, at 10:30."]
    plain = CountVectorizer(stop_words="english")
    counts = plain.fit_transform(texts)
    for language in ("auto", "en", None):
        corpus = Corpus.from_texts(
            texts, language=language, stop_words="english", token_pattern="words"
        )
        assert corpus.vocab == tuple(plain.get_feature_names_out())
        assert (corpus.to_matrix() != counts).nnz == 0
    assert not set(corpus.vocab) & ENGLISH_STOP_WORDS


def test_elided_articles_are_no_words():
    french = ["L'équipe d'Italie qu'il entraîne aujourd'hui, c'est l'espoir jusqu'au bout"]
    found = Corpus.from_texts(french, language="fr").vocab
    assert found == ("bout", "entraîne", "espoir", "italie", "équipe")


def test_decomposed_text_has_the_same_words_and_stop_words():
    french, hindi = texts_in("fr"), texts_in("hi")
    apart = [unicodedata.normalize("NFD", text) for text in french]
    assert apart != french
    assert Corpus.from_texts(apart) == Corpus.from_texts(french)
    composed = [text.replace("ज\u093c", "\u095b") for text in hindi]
    assert composed != hindi
    assert Corpus.from_texts(composed) == Corpus.from_texts(hindi)


def test_turkish_capitals_are_folded_as_in_turkish():
    folded = Corpus.from_texts(["IŞIK İstanbul ISPANAK"], language="tr").vocab
    assert folded == ("istanbul", "ıspanak", "ışık")
    assert Corpus.from_texts(["IŞIK"], language=None).vocab == ("işik",)


def test_thai_vowels_in_two_characters_are_the_same_word():
    assert Corpus.from_texts(["น้\u0e4d\u0e32ตาล"], language="th").n_words >= 1
    one, two = "ทำ", "ท\u0e4d\u0e32"
    assert one != two
    vocab = Corpus.from_texts([f"{two}อาหารอร่อย"], language="th").vocab
    assert vocab == Corpus.from_texts([f"{one}อาหารอร่อย"], language="th").vocab


def test_japanese_suffixes_stay_with_their_nouns():
    text = "料理人と探査機、国際化の看護師長。子供達の経済的な開発用の高さを三人で。"
    found = set(Corpus.from_texts([text], language="ja", stop_words=None).vocab)
    assert found == {"料理人", "探査機", "国際化", "看護師長", "子供", "経済", "開発"}


def test_thai_loan_words_are_not_torn():
    texts = ["ค่าของแอตทริบิวต์ในอิลิเมนต์ราก", "ชื่อแอตทริบิวต์ต่างๆ ของโวลุม", "ค่าแอตทริบิวต์"]
    vocab = Corpus.from_texts(texts, language="th", stop_words=None).vocab
    assert {"แอตทริบิวต์", "อิลิเมนต์", "โวลุม", "ราก", "ชื่อ", "ค่า", "ของ"} <= set(vocab)
    assert not {"แอ", "ตท", "ริ", "บิวต์", "อิ", "ลิ", "เมนต์"} & set(vocab)


def test_only_thai_letters_are_cut_by_the_dictionary():
    """Digits, whose long runs PyThaiNLP is slow with, and other scripts stay as they are."""
    digits, thai_digits = "19" * 20, "๑๙" * 20
    text = f"น้ำตาล{digits}ขนมปัง covid-19 {thai_digits} naïve"
    vocab = Corpus.from_texts([text], language="th", token_pattern="words").vocab
    assert {"น้ำตาล", "ขนมปัง", "covid", digits, thai_digits, "naïve"} <= set(vocab)


@pytest.mark.parametrize("language", WITHOUT_BLANKS)
def test_a_segmenter_that_is_missing_is_named(language, monkeypatch, tmp_path):
    monkeypatch.setattr(segmenters, "find_spec", lambda name: None)
    package = segmenters.PACKAGES[language]
    says = rf"in {LANGUAGES[language]}, .* needs the package {package}.*'polyaurn\[languages\]'"
    texts = texts_in(language)
    with pytest.raises(InputError, match=says):
        Corpus.from_texts(texts)
    (tmp_path / "t.txt").write_text("\n".join(texts), encoding="utf-8")
    for read in (read_corpus, lambda p: import_corpus(p, tmp_path / "c.urn")):
        with pytest.raises(InputError, match=says):
            read(tmp_path / "t.txt")
    assert not (tmp_path / "c.urn").exists()
    by_blanks = [" ".join(part[0] for part in line) for line in segments(language)]
    assert Corpus.from_texts(by_blanks, language=None).n_words > 50
    assert Corpus.from_texts(by_blanks, tokenizer=str.split).n_words > 50


def test_segmenters_write_nothing_and_say_nothing(tmp_path):
    """In a process of its own, since packages do so when they are imported."""
    for name in WITHOUT_BLANKS:
        (tmp_path / f"{name}.txt").write_text("\n".join(texts_in(name)), encoding="utf-8")
    (tmp_path / "home").mkdir()
    program = """
import sys, polyaurn
for name in sys.argv[1:]:
    print(polyaurn.read_corpus(name))
"""
    files = [str(tmp_path / f"{name}.txt") for name in WITHOUT_BLANKS]
    home = {"HOME": str(tmp_path / "home"), "TMPDIR": str(tmp_path / "home")}
    done = subprocess.run(
        [sys.executable, "-c", program, *files],
        env=os.environ | home | {"NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert len(done.stdout.splitlines()) == 3
    assert done.stderr == ""
    assert list((tmp_path / "home").iterdir()) == []


def test_a_language_without_a_segmenter_asks_for_a_tokenizer():
    lao = ["ທີມຊະນະການແຂ່ງຂັນ"]
    with pytest.raises(InputError, match=r"in Lao, .* no package is known here.* tokenizer"):
        Corpus.from_texts(lao)
    assert Corpus.from_texts(lao, tokenizer=str.split).vocab == tuple(lao)


def test_stems_are_shown_by_their_commonest_form():
    texts = ["houses house houses housing", "apple apples", "the apples were red"]
    corpus = Corpus.from_texts(texts, stem=True)
    assert corpus.vocab == ("apples", "houses", "red")
    assert corpus.to_matrix().toarray().tolist() == [[0, 4, 0], [2, 0, 0], [1, 0, 1]]
    pairs = Corpus.from_texts(texts, stem="snowball", ngram_range=(1, 2)).vocab
    assert "apples red" in pairs
    assert "houses houses" in pairs
    assert Corpus.from_texts(["mothers of the mother"], stem=True, stop_words=["mother"]).vocab == (
        "mothers", "of", "the",
    )  # fmt: skip


def test_new_text_has_the_forms_of_training(tmp_path):
    corpus = Corpus.from_texts(["houses house houses", "apple apples apples"] * 9, stem=True)
    lda = LDA(2, max_iter=30, verbose=False).fit(corpus)
    lda.save(tmp_path / "m")
    new = ["a house, housing and one apple"]
    loaded = polyaurn.load(tmp_path / "m")
    assert Corpus.cut(new, loaded.tokenization).vocab == ("apples", "houses")
    assert np.array_equal(loaded.transform(new), lda.transform(new))
    assert np.array_equal(lda.transform(new), lda.transform(["houses houses apples"]))


def test_imported_stems_are_those_of_a_corpus_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("polyaurn.corpus.conversion.DOCUMENTS_PER_PIECE", 2)
    for language in ("de", "ru", "en"):
        lines = texts_in(language) if language != "en" else ["cats cat", "cat", "dogs cat", "dog"]
        (tmp_path / "t.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        imported = import_corpus(tmp_path / "t.txt", tmp_path / "c.urn", stem=True)
        whole = read_corpus(tmp_path / "t.txt", stem=True)
        assert imported == whole
        assert read_corpus(tmp_path / "c.urn").tokenization == whole.tokenization
        new = [" ".join(lines[1:3])]
        again = read_corpus(tmp_path / "c.urn").tokenization
        assert set(Corpus.cut(new, again).vocab) <= set(whole.vocab)


def test_stems_that_cannot_be_had(monkeypatch):
    with pytest.raises(InputError, match="'stem' parameter must be True"):
        Corpus.from_texts(["cats"], stem="porter")
    with pytest.raises(InputError, match="Got it for Chinese"):
        Corpus.from_texts(texts_in("zh"), stem=True)
    monkeypatch.setitem(sys.modules, "snowballstemmer", None)
    with pytest.raises(InputError, match=r"needs the package snowballstemmer.*\[languages\]"):
        Corpus.from_texts(["cats"], stem=True)
    assert stems.check_stem(False, "zh") is None


def pipeline(text):
    """Do as a spaCy pipeline does, for a handful of words."""
    known = {"Häuser": "Haus", "Hauses": "Haus", "liefen": "laufen", "lief": "laufen"}
    return [
        SimpleNamespace(
            lemma_=known.get(word, word), is_alpha=word.isalpha(), is_stop=word.lower() == "die"
        )
        for word in text.replace(",", " ,").split()
    ]


def test_a_pipeline_of_spacy_gives_lemmas(tmp_path):
    texts = ["Die Häuser , die des Hauses", "Katzen liefen , Katzen lief 3"] * 8
    options = {"tokenizer": Lemmas(pipeline), "lowercase": False, "stop_words": None}
    corpus = Corpus.from_texts(texts, **options)
    assert corpus.vocab == ("Haus", "Katzen", "des", "laufen")
    lda = LDA(2, max_iter=20, verbose=False).fit(corpus)
    lda.save(tmp_path / "m")
    with pytest.raises(InputError, match=r"function 'polyaurn\.corpus\.lemmas\.Lemmas'"):
        polyaurn.load(tmp_path / "m").transform(["Häuser"])
    loaded = polyaurn.load(tmp_path / "m", tokenizer=Lemmas(pipeline))
    assert np.array_equal(loaded.transform(["Häuser liefen"]), lda.transform(["Haus laufen"]))


@pytest.mark.parametrize("language", ["de", "hi", "ja", "zh"])
def test_new_documents_are_cut_as_in_training(language, run, tmp_path):
    texts = texts_in(language)
    (tmp_path / "t.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")
    train = ("train", "t.txt", "-k", 3, "--sweeps", 30, "--words", 5)
    code, _, said = run(*train, "--out", "m")
    assert code == 0, said
    name = LANGUAGES[language]
    assert f"language: {name} (recognised; --language sets it)" in said.splitlines()
    (tmp_path / "new.txt").write_text(texts[0] + "\n", encoding="utf-8")  # too short for "auto"
    assert run("infer", "m", "new.txt", "--out", "o.npz", "-q")[0] == 0
    model = polyaurn.load(tmp_path / "m")
    assert model.tokenization == Corpus.from_texts(texts).tokenization
    with np.load(tmp_path / "o.npz") as arrays:
        (mixture,) = [a for a in map(arrays.__getitem__, arrays.files) if a.shape == (1, 3)]
    assert np.array_equal(mixture, model.transform([texts[0]]))
    config = (tmp_path / "m/config.toml").read_text()
    assert f'language = "{language}"' in config
    assert run("train", "--config", "m/config.toml", "--out", "again", "-q")[0] == 0
    again = polyaurn.load(tmp_path / "again")
    assert again.vocab == model.vocab
    assert again.tokenization == model.tokenization
    assert np.array_equal(again.assignments, model.assignments)
    named = ("--language", name.lower(), "--out", "named")
    code, _, said = run(*train, *named)
    assert code == 0
    assert "recognised" not in said
    assert polyaurn.load(tmp_path / "named").vocab == model.vocab


def test_the_command_line_says_what_it_does_not_recognise(run, tmp_path):
    mixed = texts_in("de")[:9] + texts_in("es")[:9]
    (tmp_path / "t.txt").write_text("\n".join(mixed) + "\n", encoding="utf-8")
    code, _, said = run("info", "t.txt")
    assert code == 0
    assert "language: Spanish (recognised; --language sets it)" in said
    assert "Note: The texts are in several languages: of 18 looked at, 9 in " in said
    assert "and the stop words of German are left out, too" in said
    assert "Warning" not in said
    (tmp_path / "g.txt").write_text("გუნდმა თასი მოიგო რადგან მეკარეს\n" * 5, encoding="utf-8")
    assert "language: not recognised; words and stop" in run("info", "g.txt")[2]
    code, _, said = run("info", "t.txt", "--language", "klingon")
    assert code == 2
    assert "'--language' option must be" in said
    code, _, said = run("import", "t.txt", "--out", "t.urn", "--language", "es", "--stem")
    assert code == 0, said
    assert read_corpus(tmp_path / "t.urn").tokenization.stem == "snowball"
    code, _, said = run("info", "t.urn", "--language", "es")
    assert code == 2
    code, _, said = run("info", "t.urn")
    assert "recognised" not in said


def test_rules_with_a_language_survive_json_and_files_are_checked():
    for rules in (Tokenization(language="german", stem=True), Tokenization(language="ja")):
        assert tokenization_of(json.loads(json.dumps(rules.to_json()))) == rules
    today = Tokenization().to_json()
    before = {name: today[name] for name in today if name not in ("language", "stem")}
    assert tokenization_of(before) == Tokenization()
    for change in ({"language": "auto"}, {"language": "xx"}, {"language": 3}, {"stem": "porter"}):
        with pytest.raises(InputError):
            tokenization_of(today | change)


def test_iterators_of_texts_lose_none_to_recognition():
    texts = texts_in("de") * 60
    assert len(texts) > 1000
    assert Corpus.from_texts(iter(texts)) == Corpus.from_texts(texts)
    lengths = np.diff(Corpus.from_texts(iter(texts)).doc_ptr).reshape(60, -1)
    assert all((a == b).all() for a, b in pairwise(lengths))
