"""Texts in several languages or scripts: they are counted, and said aloud."""

from pathlib import Path

import pytest

from polyaurn import Corpus
from polyaurn.base.errors import LanguageWarning
from polyaurn.corpus.languages import LANGUAGES, Recognised, recognised

FOLDER = Path(__file__).parent / "languages"
WITHOUT_BLANKS = ("ja", "th", "zh")


def texts_in(language):
    """Return 24 sentences, whose words are separated by blanks in the file."""
    text = (FOLDER / f"{language}.txt").read_text(encoding="utf-8")
    return (text.replace(" ", "") if language in WITHOUT_BLANKS else text).splitlines()


def test_several_languages_are_said_aloud_and_cut_as_english():
    mixed = texts_in("de")[:9] + texts_in("fr")[:9]
    with pytest.warns(LanguageWarning, match="in several languages"):
        corpus = Corpus.from_texts(mixed)
    assert corpus.tokenization.language is None
    assert corpus.tokenization.stop_words == "english-extended"
    mostly = texts_in("de") + texts_in("fr")[:2]
    with pytest.warns(LanguageWarning, match=r"of 26 looked at, 2 in French, the others in German"):
        assert Corpus.from_texts(mostly).tokenization.language == "de"


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
    assert corpus.tokenization.language is None
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
