"""Apostrophes, geresh and gershayim inside words."""

import pytest

from polyaurn import LDA, Corpus


def words_of(text, language=None, **options):
    return Corpus.from_texts([text], language=language, stop_words=None, **options).vocab


@pytest.mark.parametrize("mark", ["'", "\u2019", "\u02bc"])
@pytest.mark.parametrize("language", ["uk", None])
def test_an_apostrophe_between_cyrillic_letters_is_a_letter(mark, language):
    found = words_of(f"Комп{mark}ютер і здоров{mark}я, слово", language)
    assert found == ("здоровʼя", "компʼютер", "слово")
    assert "ютер" in words_of("комп'ютер", language, token_pattern="words")


@pytest.mark.parametrize(("single", "double"), [("'", '"'), ("\u05f3", "\u05f4"), ("’", "”")])
@pytest.mark.parametrize("language", ["he", None])
def test_geresh_and_gershayim_are_inside_words(single, double, language):
    text = f"צה{double}ל ראה ג{single}ירפה, דו{double}חות על ארה{double}ב"
    whole = {"צה״ל", "ראה", "ג׳ירפה", "דו״חות", "על", "ארה״ב"}
    assert set(words_of(text, language)) == whole
    assert set(words_of(text, language, phrases=True)) == whole


def test_quotation_marks_between_hebrew_letters_are_no_gershayim():
    assert set(words_of('קראתי ב"הארץ" ואת ה"מחברות הישנות"', "he")) == {
        "קראתי", "הארץ", "ואת", "מחברות", "הישנות",
    }  # fmt: skip


@pytest.mark.parametrize("mark", ["'", "\u2019"])
def test_turkish_suffixes_after_an_apostrophe_are_left_out(mark):
    text = "Türkiye'nin başkenti, İSTANBUL'DAKİ evler, 1990'larda Kur'an'ı O'Neill'a 'okudu'"
    found = words_of(text.replace("'", mark), "tr")
    assert words_of(f"R{mark}de X{mark}ler D{mark}Artagnan", "tr") == ("dʼartagnan",)
    assert found == ("başkenti", "evler", "istanbul", "kurʼan", "okudu", "oʼneill", "türkiye")


def test_elisions_and_contractions_are_cut_as_before():
    assert words_of("L'homme qu'elle aime, c'est l’ami", "fr") == (
        "aime", "ami", "elle", "est", "homme", "qu",
    )  # fmt: skip
    assert words_of("dell'arte, un'altra, l'ora", "it") == ("altra", "arte", "dell", "ora", "un")
    assert words_of("The company's plan doesn't work", "en") == ("company", "plan", "the", "work")


def test_stop_words_and_queries_have_the_same_marks():
    stopped = Corpus.from_texts(["м'яч і п’ять"], language="uk", stop_words=["п'ять"])
    assert stopped.vocab == ("мʼяч",)
    lda = LDA(2, max_iter=5, verbose=False).fit(Corpus.from_texts(["м'яч гра"] * 3, language="uk"))
    assert "мʼяч" in lda.find_topics("м'яч").iloc[0]["words"]
