"""Texts in several languages or scripts: they are counted, and said aloud."""

from pathlib import Path

import pytest

from polyaurn import LDA, Corpus, load
from polyaurn.base.errors import LanguageWarning
from polyaurn.corpus.languages import LANGUAGES, Recognised, recognised
from polyaurn.corpus.stop_words import stop_words_of
from polyaurn.corpus.tokenization import tokenization_of

FOLDER = Path(__file__).parent / "languages"
WITHOUT_BLANKS = ("ja", "th", "zh")
FUNCTION_WORDS = {
    "ru": "или по чтобы для после который когда очень",
    "de": "der die und mit dem nicht wird obwohl weil nach",
}


def texts_in(language):
    """Return 24 sentences, whose words are separated by blanks in the file."""
    text = (FOLDER / f"{language}.txt").read_text(encoding="utf-8")
    return (text.replace(" ", "") if language in WITHOUT_BLANKS else text).splitlines()


def test_several_languages_are_said_aloud_and_cut_as_the_first():
    mixed = texts_in("de")[:10] + texts_in("fr")[:9]
    with pytest.warns(LanguageWarning, match="in several languages"):
        corpus = Corpus.from_texts(mixed)
    assert corpus.tokenization.language == "de"
    assert {"und", "mit", "dans", "avec"} <= set(corpus.tokenization.stop_words)
    mostly = texts_in("de") + texts_in("fr")[:2]
    with pytest.warns(LanguageWarning, match=r"of 26 looked at, 2 in French, the others in German"):
        assert Corpus.from_texts(mostly).tokenization.language == "de"
    one = [*mostly[:-1], ""]
    with pytest.warns(LanguageWarning, match=r"are taken as in German; topics"):
        assert Corpus.from_texts(one).tokenization.stop_words == stop_words_of("de")


def english(n):
    """Return sentences in which a few names are in other scripts."""
    names = (
        "Wang (王小明)",
        "Tanaka (田中さん)",
        "Putin (Путин)",
        "Müller",
        "São Paulo",
        "Bangkok",
    )
    return [
        f"{names[i % 6]} said that it was not the only one of the {i} answers to the question "
        "which they have been asked at the meeting in the city, and that this would be there."
        for i in range(n)
    ]


@pytest.mark.parametrize("language", [*WITHOUT_BLANKS, "ru", "ar", "hi"])
@pytest.mark.parametrize("n", [24, 60])
def test_many_documents_in_another_script_are_said_aloud(language, n):
    with pytest.warns(
        LanguageWarning,
        match=rf"several languages: of {n + 24} looked at, 24 in .*others in English",
    ):
        corpus = Corpus.from_texts(english(n) + texts_in(language))
    assert corpus.tokenization.language == "en"
    listed = corpus.tokenization.stop_words
    assert (listed == "english-extended") == (language in WITHOUT_BLANKS)
    few = recognised([*english(200), *texts_in(language)])
    assert (few.language, len(few.others), few.looked_at) == ("en", 24, 224)
    assert "of 224 looked at, 24 in" in few.note()
    assert "language='en' (--language en)" in few.note()


def test_keywords_beside_another_script_are_said_aloud():
    found = recognised(
        ["a red apple on green leaves", "blue whales, grey whales, dolphins"] * 24 + texts_in("zh")
    )
    assert (found.language, found.others) == ("foreign", ("zh",) * 24)
    assert "the others in English" in found.note()


@pytest.mark.parametrize(("language", "n", "foreign"), [("ru", 623, 177), ("de", 780, 20)])
def test_topics_are_led_by_function_words_of_no_language(language, n, foreign):
    lines = texts_in(language)
    own = [" ".join(lines[(i + j * 7) % 24] for j in range(3)) for i in range(n)]
    mixed = own + english(foreign)
    with pytest.warns(LanguageWarning, match="and the stop words of English are left out, too"):
        corpus = Corpus.from_texts(mixed)
    assert corpus.tokenization.language == language
    both = {"the", "that", "was", "which"} | set(FUNCTION_WORDS[language].split())
    leading = {w for t in LDA(10, max_iter=20, verbose=False).fit(corpus).topics(8) for w in t}
    assert not leading & both
    assert tokenization_of(corpus.tokenization.to_json()) == corpus.tokenization
    with pytest.warns(LanguageWarning):
        alone = Corpus.from_texts(mixed, stop_words=language)
    assert {"the", "which"} <= set(alone.vocab)


def test_a_stop_word_of_few_documents_may_be_a_noun_of_the_others():
    german = [
        f"Das Kind ist mit der Mutter und dem Vater im Bad, und es ist Tag {i}." for i in "abc"
    ]
    with pytest.warns(LanguageWarning):
        corpus = Corpus.from_texts(german * 20 + english(9))
    assert {"kind", "bad"} <= set(corpus.vocab)
    assert not {"kind", "bad"} & (set(Corpus.from_texts(german, language="en").vocab))
    assert not {"the", "been"} & set(corpus.vocab)


def test_a_mixed_corpus_is_cut_again_by_its_config(run, tmp_path):
    (tmp_path / "t.txt").write_text("\n".join(texts_in("de") + texts_in("fr")[:3]) + "\n", "utf-8")
    assert run("train", "t.txt", "-k", 2, "--sweeps", 5, "--out", "m", "-q")[0] == 0
    assert run("train", "--config", "m/config.toml", "--out", "again", "-q")[0] == 0
    model, again = load(tmp_path / "m"), load(tmp_path / "again")
    assert again.tokenization == model.tokenization
    assert {"und", "avec"} <= set(again.tokenization.stop_words)


@pytest.mark.parametrize("language", WITHOUT_BLANKS)
def test_english_among_text_without_blanks_is_noted(language):
    found = recognised(texts_in(language) + english(4))
    assert (found.language, found.others) == (language, ("en",) * 4)
    assert f"taken as in {LANGUAGES[language]}" in found.note()


def test_chinese_among_japanese_is_noted():
    found = recognised(texts_in("ja") + [text * 3 for text in texts_in("zh")[:4]])
    assert (found.language, found.others) == ("ja", ("zh",) * 4)


def test_a_few_words_are_of_no_language():
    assert recognised(["ab cd", "می\u200cخواهم"]) == Recognised(None)


def test_foreign_names_and_a_rare_document_are_not_noted():
    assert recognised(english(60)) == Recognised("en", "en", (), 60)
    assert recognised(english(150) + texts_in("zh")[:1]).note() == ""
    with_numbers = [*english(60), *["α β γ", "1 2 3", "", "京"] * 5]
    assert recognised(with_numbers).others == ()
