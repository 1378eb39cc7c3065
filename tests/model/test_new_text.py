"""New text is cut as that of training was: in Python, by commands and on the served page."""

import json
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest

import polyaurn
from polyaurn import LDA, Corpus, InputError
from polyaurn.corpus.known_words import in_words_of
from polyaurn.corpus.patterns import LETTERS
from polyaurn.evaluate import document_completion, left_to_right
from polyaurn.files.sealed import _digest
from polyaurn.pages.report.serve import mix_text

TEXTS = [
    "The Cats chased birds; dogs were Barking",
    "Dogs bark, cats purr and birds sing",
    "Planets orbit stars; Moons orbit planets",
    "The moon and the stars above a planet",
] * 8
NEW = [
    "Barking dogs, purring Cats, a bird",
    "an Orbiting Moon near the planets",
    "dogs of the Moon",
]
THEN = Path(__file__).parents[1] / "survival" / "version_0_1"


def stem(text):
    """Split at blanks and cut endings, as stemmers do."""
    return [word.strip(";,.").removesuffix("s").removesuffix("ing") for word in text.split()]


OPTIONS = {
    "default": {},
    "capitals": {"lowercase": False, "stop_words": None},
    "pattern": {"token_pattern": r"(?u)\b\w{4,}\b"},
    "pairs": {"ngram_range": (1, 2), "stop_words": ["the", "a"]},
    "accents": {"strip_accents": "ascii"},
    "stems": {"tokenizer": stem, "stop_words": None},
    "capital stems": {"tokenizer": stem, "stop_words": None, "lowercase": False},
}


def train(**options):
    corpus = Corpus.from_texts(TEXTS, **options)
    return LDA(3, max_iter=30, verbose=False).fit(corpus)


@pytest.mark.filterwarnings("ignore:.*the model :UserWarning")  # knows too few words, on purpose
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_one_text_has_one_answer(options, run, tmp_path):
    lda = train(**options)
    lda.save(tmp_path / "m")
    tokenizer = options.get("tokenizer")
    loaded = polyaurn.load(tmp_path / "m", tokenizer=tokenizer)
    cut = Corpus.from_texts(NEW, **options)  # as a user would who remembers all options
    mixtures = lda.model_.transform(cut, n_jobs=1)
    for found in (lda.transform(NEW), lda.model_.transform(NEW), loaded.transform(NEW)):
        assert np.array_equal(found, mixtures)
    tokens = in_words_of(lda.model_.vocab, cut).tokens.tolist()
    assert sum(tokens) >= 4
    for text, mixture, n in zip(NEW, mixtures, tokens, strict=True):
        assert np.array_equal(loaded.transform([text])[0], mixture)
        served = mix_text(loaded, text)
        assert all(share == pytest.approx(mixture[k], abs=1e-5) for k, share in served["topics"])
        assert served["known"] == n
    for score in (document_completion, lambda *given: left_to_right(*given, 3)):
        assert score(loaded, NEW).per_token == score(lda, cut).per_token
    assert lda.score(NEW) == lda.score(cut)
    if tokenizer is None:
        (tmp_path / "new.txt").write_text("\n".join(NEW) + "\n")
        code, _, error = run("infer", "m", "new.txt", "--out", "mixtures.npz")
        assert code == 0, error
        with np.load(tmp_path / "mixtures.npz") as arrays:
            assert any(np.array_equal(arrays[name], mixtures) for name in arrays.files)


def test_the_rules_make_a_difference():
    answers = [train(**options).model_ for options in OPTIONS.values()]
    words = {model.vocab for model in answers}
    assert len(words) >= 5


def test_a_function_is_asked_for_and_never_guessed(tmp_path, run):
    lda = train(**OPTIONS["stems"])
    lda.save(tmp_path / "m")
    loaded = polyaurn.load(tmp_path / "m")
    says = r"function '[a-z_.]*test_new_text\.stem', .* polyaurn.load\(folder, tokenizer=...\)"
    for use in (loaded.transform, lambda X: document_completion(loaded, X)):
        with pytest.raises(InputError, match=says):
            use(NEW)
    with pytest.raises(InputError, match=says):
        mix_text(loaded, NEW[0])
    (tmp_path / "new.txt").write_text(NEW[0])
    for command in (("infer", "m", "new.txt", "--out", "o.csv"), ("evaluate", "m", "new.txt")):
        code, _, error = run(*command)
        assert code == 2
        assert "tokenizer" in error
    assert not (tmp_path / "o.csv").exists()
    corpus = Corpus.from_texts(NEW, **OPTIONS["stems"])
    assert np.array_equal(loaded.transform(corpus), lda.transform(NEW))
    assert np.array_equal(loaded.with_tokenizer(stem).transform(NEW), lda.transform(NEW))
    loaded.save(tmp_path / "again")
    again = polyaurn.load(tmp_path / "again", tokenizer=stem)
    assert np.array_equal(again.transform(NEW), lda.transform(NEW))


def test_a_function_is_not_for_models_that_had_none(tmp_path):
    train().save(tmp_path / "m")
    with pytest.raises(InputError, match="for models whose text was cut by one"):
        polyaurn.load(tmp_path / "m", tokenizer=stem)
    with pytest.raises(InputError, match="must stand without 'token_pattern'"):
        polyaurn.load(tmp_path / "m", tokenizer=stem, token_pattern=r"\w+")
    with pytest.raises(InputError, match="must be a function"):
        train(**OPTIONS["stems"]).model_.with_tokenizer("stem")


def test_a_pattern_in_a_strangers_folder_is_not_run(tmp_path, run):
    train(token_pattern=r"\w+").save(tmp_path / "m")
    header = json.loads((tmp_path / "m/model.json").read_text())
    header["tokenization"]["token_pattern"] = r"(?:a+)+b"
    del header["sha256"]
    header["sha256"] = _digest(header)
    (tmp_path / "m/model.json").write_text(json.dumps(header))
    text = "a" * 64
    loaded = polyaurn.load(tmp_path / "m")
    with pytest.raises(InputError, match="might never end"):
        loaded.transform([text])
    with pytest.raises(InputError, match="might never end"):
        mix_text(loaded, text)
    (tmp_path / "new.txt").write_text(text + "\n")
    assert run("infer", "m", "new.txt", "--out", "o.csv")[0] == 2
    code, _, error = run("infer", "m", "new.txt", "--token-pattern", r"\w+", "--out", "o.csv")
    assert code == 0, error
    trusted = polyaurn.load(tmp_path / "m", token_pattern=r"\w+")
    assert trusted.transform(["dogs"]).shape == (1, 3)


def test_a_damaged_rule_is_a_damaged_model(tmp_path):
    train().save(tmp_path / "m")
    header = json.loads((tmp_path / "m/model.json").read_text())
    header["tokenization"] = {"stop_words": "/etc/hostname"}
    del header["sha256"]
    header["sha256"] = _digest(header)
    (tmp_path / "m/model.json").write_text(json.dumps(header))
    with pytest.raises(InputError, match=r"damaged model \(The tokenization"):
        polyaurn.load(tmp_path / "m")


def test_a_folder_of_version_0_1_says_it_in_its_options(tmp_path):
    shutil.copytree(THEN / "text-model", tmp_path / "m")
    rules = polyaurn.load(tmp_path / "m").tokenization
    assert (rules.token_pattern, rules.normalization, rules.stop_words) == (
        LETTERS,
        None,
        "english",
    )
    config = tmp_path / "m" / "config.toml"
    config.write_text('token-pattern = "(?:a+)+b"\nngrams = 2\nstop-words = "none"\n')
    rules = polyaurn.load(tmp_path / "m").tokenization
    assert (rules.ngram_range, rules.stop_words, rules.trusted) == ((1, 2), None, False)
    with pytest.raises(InputError, match="might never end"):
        polyaurn.load(tmp_path / "m").transform(["a" * 64])
    config.write_text("ngrams = 2\n")  # counts have no pattern
    assert polyaurn.load(tmp_path / "m").tokenization is None
    for bad in ("token-pattern = 3\n", "not toml", 'token-pattern = "("\n'):
        config.write_text(bad)
        with pytest.raises(InputError, match="must be the options of a run"):
            polyaurn.load(tmp_path / "m")
    config.unlink()
    assert polyaurn.load(tmp_path / "m").transform(["star"]).shape[0] == 1


def test_a_document_of_unknown_words_has_the_prior_by_itself_and_among_others():
    model = train().model_
    prior = model.priors.alpha / model.priors.alpha.sum()
    with pytest.warns(UserWarning, match="Is this the model of another language"):
        found = model.transform(["zzzz qqqq"])
    assert found[0] == pytest.approx(prior)
    together = model.transform(["zzzz qqqq", *NEW])
    assert np.array_equal(together[0], found[0])
    assert np.array_equal(together[1:], model.transform(NEW))
    for empty in ([""], ["the"], [[], ["dogs"]], np.zeros((1, len(model.vocab)), int)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert model.transform(empty)[0] == pytest.approx(prior)


def test_a_few_unknown_words_cause_no_warning():
    model = train().model_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.transform(["dogs cats birds zzzz", *NEW])
    with pytest.warns(UserWarning, match=r"3 of 4 tokens \(75.0%\)"):
        model.transform(["dogs zzzz qqqq wwww"])
    with pytest.warns(UserWarning, match="2 of 3 documents have no word that the model knows"):
        model.transform(["dogs cats birds", "", ""])


def test_stop_words_of_the_model_are_not_unknown_words_however_documents_were_cut():
    model = LDA(2, max_iter=5, verbose=False).fit(Corpus.from_texts(TEXTS)).model_
    cut = Corpus.from_texts(["the cats and unheard dogs"], stop_words=None)
    for X in (cut, [["the", "cats", "and", "unheard", "dogs"]], ["the cats and unheard dogs"]):
        known = in_words_of(model.vocab, X, model.tokenization)
        assert (known.tokens.tolist(), known.unknown.tolist()) == ([2], [1])
    assert in_words_of(model.vocab, cut).unknown.tolist() == [3]


def test_pairs_that_a_model_lacks_are_not_unknown_words():
    model = train(ngram_range=(1, 2)).model_
    known = in_words_of(model.vocab, ["dogs planets birds zzzz"], model.tokenization)
    assert (known.tokens.tolist(), known.unknown.tolist()) == ([3], [1])
    plain = in_words_of(("birds",), Corpus.from_tokens([["birds", "birds dogs"]]))
    assert (plain.tokens.tolist(), plain.unknown.tolist()) == ([1], [1])


def test_lists_of_tokens_are_trained_on_and_met(tmp_path):
    tokens = [stem(text) for text in TEXTS]
    lda = LDA(3, max_iter=30, verbose=False).fit(tokens)
    same = LDA(3, max_iter=30, verbose=False).fit(Corpus.from_tokens(tokens))
    assert np.array_equal(lda.assignments_, same.assignments_)
    new = [stem(text) for text in NEW]
    mixtures = lda.transform(Corpus.from_tokens(new))
    assert np.array_equal(lda.transform(new), mixtures)
    assert np.array_equal(lda.transform(iter(new)), mixtures)
    assert lda.score(new) == lda.score(Corpus.from_tokens(new))
    with pytest.raises(InputError, match=r"given as lists of tokens\. Give lists of tokens"):
        lda.transform(NEW)
    lda.save(tmp_path / "m")
    loaded = polyaurn.load(tmp_path / "m", tokenizer=stem)
    assert np.array_equal(loaded.transform(NEW), mixtures)
    with pytest.raises(InputError, match="strings or lists of tokens"):
        lda.model_.transform({"a": 1})


def test_a_data_frame_of_zeros_has_the_prior():
    pd = pytest.importorskip("pandas")
    lda = LDA(2, max_iter=5, verbose=False).fit(Corpus.from_texts(TEXTS))
    frame = pd.DataFrame([[0, 0]], columns=["dogs", "zzzz"], index=["a"])
    with pytest.warns(UserWarning, match="1 of 1 documents"):
        assert lda.transform(frame)[0] == pytest.approx([0.5, 0.5])


def test_names_come_from_the_index_of_what_was_fitted():
    pd = pytest.importorskip("pandas")
    names = [f"n{d}" for d in range(len(TEXTS))]
    lda = LDA(2, max_iter=3, verbose=False)
    assert list(lda.fit(pd.Series(TEXTS, index=names)).model_.doc_names) == names
    counts = Corpus.from_texts(TEXTS).to_matrix().toarray()
    columns = [f"c{v}" for v in range(counts.shape[1])]
    frame = pd.DataFrame(counts, index=names, columns=columns)
    assert list(lda.fit(frame).model_.doc_names) == names
    found = lda.fit(counts).model_.representative_documents(0, 4)
    assert [str(number) for number in found["number"]] == list(found["document"])


def test_a_pipeline_names_the_words_of_its_model(tmp_path):
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.pipeline import make_pipeline

    from polyaurn.pages.report.data import gather

    pipeline = make_pipeline(CountVectorizer(), LDA(2, max_iter=5, verbose=False)).fit(TEXTS)
    bare = pipeline[-1].model_
    assert bare.vocab[0] == "x0"
    assert "words are not known" in gather(bare)["notes"]["topics"]
    data = gather(pipeline)
    assert "not known" not in data["notes"]["topics"]
    assert set(data["words"]["text"].split("\n")) == set(pipeline[0].get_feature_names_out())
    polyaurn.write_report(pipeline, tmp_path / "r.html")
    assert b"planets" in (tmp_path / "r.html").read_bytes()
