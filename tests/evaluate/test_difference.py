"""What changed between models whose changes are known."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from polyaurn import LDA, Corpus, InputError, diff
from polyaurn.exchange import read_ldac_beta, write_ldac_beta
from polyaurn.model.common_words import in_common_words, likeness_by_chance, mean_root
from polyaurn.training.updates import UPDATE, identity

SUBJECTS = {
    "sky": ["moon", "star", "orbit", "planet", "comet"],
    "pets": ["cat", "dog", "bird", "horse", "fish"],
    "cup": ["goal", "team", "match", "league", "penalty"],
    "bank": ["loan", "credit", "rate", "bond", "interest"],
}


def texts_of(seed, **numbers):
    """Return texts with so many documents of each subject, of twelve words."""
    rng = np.random.default_rng(seed)
    return [
        " ".join(rng.choice(SUBJECTS[subject], 12))
        for subject, number in numbers.items()
        for _ in range(number)
    ]


def trained(texts, k, seed=0):
    words = Corpus.from_texts(texts, min_df=1, max_df=1.0)
    return LDA(k, max_iter=60, random_state=seed, verbose=False, n_jobs=1).fit(words).model_


@pytest.fixture(scope="module")
def planted():
    """Return two models: the sky grew, the cup shrank, pets died, the bank is new."""
    old = texts_of(0, sky=30, pets=40, cup=80)
    new = texts_of(1, sky=70, cup=40, bank=40)
    return trained(old, 3), trained(new, 3, 1), new


def rows_of(found):
    table = found.topic_table(as_frame=False)
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


def subject(row):
    words = set((row["label_after"] or row["label_before"]).split(", "))
    return next(name for name, listed in SUBJECTS.items() if words & set(listed))


def test_planted_changes_are_found(planted):
    old, new, texts = planted
    found = diff(old, new, documents=texts)
    changes = {subject(row): row["change"] for row in rows_of(found)}
    assert changes == {"sky": "grew", "cup": "shrank", "pets": "died", "bank": "new"}
    assert found.counts == {"new": 1, "died": 1, "grew": 1, "shrank": 1, "moved": 0, "same": 0}
    sky = next(row for row in rows_of(found) if subject(row) == "sky")
    assert sky["share_before"] == pytest.approx(0.2, abs=0.02)
    assert sky["share_after"] == pytest.approx(70 / 150, abs=0.02)
    assert sky["distance"] < 0.2
    documents = found.document_table(as_frame=False)
    assert set(documents["number"].tolist()) <= set(range(110, 150))  # those of the bank
    assert len(documents["number"]) == 10
    assert documents["unknown_before"].min() == 1.0
    assert documents["gain"].min() > 0.0


def test_a_model_does_not_differ_from_itself(planted):
    old, _, _ = planted
    for match in ("number", "words"):
        found = diff(old, old, match=match)
        assert found.counts["same"] == 3
        assert (found.topic_table(as_frame=False)["distance"] == 0.0).all()
        assert found.shared_words == 1.0


def test_words_gained_and_lost(planted):
    old, _, _ = planted
    changed = [t.replace("orbit", "rocket").replace("comet", "shuttle")
               for t in texts_of(0, sky=60, pets=40, cup=50)]  # fmt: skip
    rows = {subject(row): row for row in rows_of(diff(old, trained(changed, 3)))}
    assert set(rows["sky"]["words_gained"].split(", ")) == {"rocket", "shuttle"}
    assert set(rows["sky"]["words_lost"].split(", ")) == {"orbit", "comet"}
    assert rows["pets"]["words_gained"] == rows["pets"]["words_lost"] == ""


def test_by_number_where_a_model_was_updated_from_the_other(planted):
    old, new, _ = planted
    n = sp.csr_matrix(old.topic_word_counts[[1, 0, 2]])
    m = sp.csr_matrix(old.doc_topic_counts[:, [1, 0, 2]])
    swapped = replace(old, topic_word_counts=n, doc_topic_counts=m)
    assert diff(old, swapped).counts["same"] == 3  # by words
    facts = {"number": 2, "of": [identity(old), "another"]}
    later = replace(swapped, parameters=old.parameters | {UPDATE: facts})
    found = diff(old, later)
    assert found.match == "number"
    assert found.counts["moved"] == 2
    assert diff(new, later).match == "words"  # it was updated from another model
    merged = replace(later, parameters=later.parameters | {"merged_topics": [[0], [1], [2]]})
    assert diff(old, merged).match == "words"


def test_a_topic_that_an_update_lacks_has_the_share_that_was_counted_before(planted):
    """150 of its 240 documents are earlier ones; by those of the update only it would have died."""
    old, _, _ = planted
    lda = LDA.from_model(old, n_jobs=1, verbose=False)
    new = lda.update(texts_of(3, sky=90), max_iter=20).model_
    shares = {subject(row): row for row in rows_of(diff(old, new))}
    for name, number in (("sky", 120), ("pets", 40), ("cup", 80)):
        assert shares[name]["share_after"] == pytest.approx(number / 240, abs=0.03)
    changes = {name: row["change"] for name, row in shares.items()}
    assert changes == {"sky": "grew", "pets": "same", "cup": "shrank"}  # pets are few
    fault = replace(new, parameters=old.parameters)
    assert diff(old, fault, match="number").counts["died"] == 2
    half = LDA.from_model(old, n_jobs=1, verbose=False).update(texts_of(3, sky=90), forget=0.5)
    shares = {subject(row): row["share_after"] for row in rows_of(diff(old, half))}
    assert shares["sky"] == pytest.approx(105 / 165, abs=0.03)
    seeded = replace(new, parameters={"seed": 0})  # pseudo-counts that are no earlier tokens
    assert diff(old, seeded, match="number").counts["died"] == 2


def test_documents_have_a_score_under_a_model_without_counts(planted, tmp_path):
    """LDA-C gives a word that it has not seen e^-100: no score of a document."""
    old, new, texts = planted
    write_ldac_beta(old, tmp_path / "old.beta", flatten_priors=True)
    without = read_ldac_beta(tmp_path / "old.beta", old.vocab)
    table = diff(without, new, documents=texts).document_table(as_frame=False)
    expected = diff(old, new, documents=texts).document_table(as_frame=False)
    assert set(table["number"].tolist()) <= set(range(110, 150))  # those of the bank
    assert table["score_before"].min() > 1.5 * expected["score_before"].min() > -20


def test_several_seeds(planted):
    old, new, _ = planted
    texts = texts_of(0, sky=30, pets=40, cup=80)
    found = diff(old, trained(texts, 3, 5), new)
    table = found.topic_table(as_frame=False)
    assert sorted(table["found_in"].tolist()) == [1, 2, 2]
    assert table["least_share"].min() == 0.0
    assert "2 of 3 topics" in found.summary


def test_the_mean_root_of_poisson_counts():
    rng = np.random.default_rng(0)
    for mean in (0.05, 1.0, 7.0, 39.0, 41.0, 300.0):
        draws = np.sqrt(rng.poisson(mean, 40_000))
        error = draws.std() / 200
        assert abs(mean_root(np.array([mean]))[0] - draws.mean()) < 4 * error
    assert abs(np.sqrt(1.0) - np.sqrt(rng.poisson(1.0, 40_000)).mean()) > 0.2  # the fault


def test_two_samples_of_one_topic_are_as_alike_as_chance_says():
    rng = np.random.default_rng(2)
    p = rng.dirichlet(np.full(60, 1.0))
    a, b = rng.multinomial(300, p, 200), rng.multinomial(500, p, 200)
    alike = (np.sqrt(a / 300) * np.sqrt(b / 500)).sum(axis=1)
    said = likeness_by_chance(a, b)
    assert said.mean() == pytest.approx(alike.mean(), abs=0.01)
    assert alike.mean() < 0.97  # without it, they would not be alike


def test_common_words_keep_their_counts(planted):
    old, new, _ = planted
    common = in_common_words(old, new)
    assert common.words[: len(old.vocab)] == old.vocab
    assert common.n_shared == 10
    assert common.after.sum() == pytest.approx(new.topic_word_counts.sum())
    column = common.words.index("loan")
    theirs = new.topic_word_counts[:, new.vocab.index("loan")].toarray().ravel()
    assert np.allclose(common.after[:, column].toarray().ravel(), theirs)


def test_bad_input_is_one_sentence(planted):
    old, new, texts = planted
    with pytest.raises(InputError, match="must have words in common"):
        diff(old, trained(texts_of(0, bank=20), 2))
    with pytest.raises(InputError, match="'match' parameter must be one of"):
        diff(old, new, match="best")
    with pytest.raises(InputError, match="'documents' parameter is for two models"):
        diff(old, new, new, documents=texts)
    with pytest.raises(InputError, match="one text for each"):
        diff(old, new, documents=texts, texts=["one"])
    with pytest.raises(InputError, match="'documents' parameter of diff must be given"):
        diff(old, new).document_table()
    with pytest.raises(InputError, match="must be a TopicModel"):
        diff(old, "newer")
