"""Batches that are of a model's kind raise no alarm; those of another kind do."""

from dataclasses import replace

import numpy as np
import pytest

from polyaurn import LDA, Corpus, InputError, datasets, drift
from polyaurn.base.threads import Workers
from polyaurn.corpus.known_words import in_words_of
from polyaurn.evaluate.batch import ratio, see, select
from polyaurn.evaluate.left_out_documents import see_left_out


@pytest.fixture(scope="module")
def kind():
    """Return a model, its corpus, and many more documents of the same kind."""
    corpus = datasets.generate(n_documents=1200, n_words=300, n_topics=5, mean_length=40.0)
    train = corpus.select(np.arange(300))
    lda = LDA(5, max_iter=80, verbose=False, n_jobs=1).fit(train)
    return lda, train, corpus.select(np.arange(300, 1200))


def test_batches_of_the_same_kind_raise_no_alarm(kind):
    lda, _, more = kind
    alarms = [
        drift(lda, more.select(np.arange(lo, lo + 150)), n_jobs=1).drifted
        for lo in range(0, 900, 150)
    ]
    assert not any(alarms)


def test_each_signal_finds_its_own_kind_of_change(kind):
    lda, _, more = kind
    words = [more.vocab[v] for v in more.word.tolist()]
    documents = [
        words[lo:hi] for lo, hi in zip(more.doc_ptr[:200], more.doc_ptr[1:201], strict=True)
    ]
    heard = [[f"new{w}" if i % 4 == 0 else w for i, w in enumerate(d)] for d in documents]
    found = drift(lda, heard, n_jobs=1)
    assert [name for name, s in found.signals.items() if s.beyond] == ["unknown"]
    assert found.signals["unknown"].difference == pytest.approx(0.25, abs=0.03)
    one = np.flatnonzero(lda.transform(more)[:, 0] > 0.6)
    assert drift(lda, more.select(one), n_jobs=1).signals["topics"].beyond
    rng = np.random.default_rng(0)
    mixed = [list(rng.permutation(words)[: len(d)]) for d in documents]  # words of no topic
    assert drift(lda, mixed, n_jobs=1).signals["score"].beyond


def test_the_baseline_is_what_new_documents_score(kind):
    """Within three standard errors; documents scored by their own topics, the fault, are not."""
    lda, train, more = kind
    known, new = (in_words_of(lda.model_.vocab, corpus) for corpus in (train, more))
    with Workers(1) as workers:
        how = {"seed": 0, "workers": workers, "device": "cpu"}
        fair = see_left_out(lda.model_, known, 2000, **how)
        truth = see(lda.model_, new, **how)
    honest, real = (ratio(b.log_likelihood, b.scored) for b in (fair, truth))
    assert abs(honest[0] - real[0]) < 3.0 * np.hypot(honest[1], real[1])
    assert fair.size == 150  # five tenths of 300


def test_own_words_flatter_a_model():
    """Each document has words of its own: the planted fault scores far above the truth."""
    texts = [[f"a{d}", f"a{d}", f"b{d % 7}", f"c{d % 5}", f"a{d}", f"b{d % 7}"] for d in range(70)]
    lda = LDA(3, max_iter=40, verbose=False, n_jobs=1).fit(texts)
    known = in_words_of(lda.model_.vocab, texts)
    with Workers(1) as workers:
        how = {"seed": 0, "workers": workers, "device": "cpu"}
        fair, flattered = see_left_out(lda.model_, known, 50, **how), see(lda.model_, known, **how)
    assert not flattered.unknown.any()
    assert fair.unknown.sum() == 3 * fair.size  # the words of one document only


def test_a_ratio_has_the_error_of_its_draws():
    rng = np.random.default_rng(1)
    found = []
    for _ in range(400):
        length = rng.integers(5, 60, 80)
        found.append(ratio(rng.normal(-7.0, 1.0, 80) * length, length))
    values, errors = np.array(found).T
    assert values.std(ddof=1) == pytest.approx(errors.mean(), rel=4 / np.sqrt(800))
    by_token = 1.0 / np.sqrt(80 * 32)  # the fault: tokens taken to be independent
    assert errors.mean() > 3 * by_token
    assert ratio(np.array([1.0, 100.0]), np.array([1, 100]), 2.0)[0] == pytest.approx(1.0)


def test_the_same_seed_gives_the_same_for_any_number_of_threads(kind):
    lda, _, more = kind
    batch = more.select(np.arange(60))
    one, two = (drift(lda, batch, n_jobs=n) for n in (1, 2))
    assert repr(one.signals) == repr(two.signals)
    assert one.verdict == two.verdict
    table = one.topic_table(as_frame=False)
    assert np.array_equal(table["low"], two.topic_table(as_frame=False)["low"])
    assert (table["low"] <= table["share"]).all()
    assert (table["share"] <= table["high"]).all()
    assert table["share"].sum() == pytest.approx(1.0)


def test_other_documents_can_be_compared_with(kind):
    lda, _, more = kind
    found = drift(lda.model_, more.select(np.arange(99)), against=more.select(np.arange(99, 300)))
    assert not found.drifted
    assert found.baseline_documents == 201


def test_selected_documents_are_theirs(kind):
    _, train, _ = kind
    known = in_words_of(train.vocab, train)
    some = select(known, np.array([7, 2]))
    assert np.array_equal(some.word[: some.tokens[0]], known.word[slice(*known.doc_ptr[7:9])])
    assert np.array_equal(some.word[some.tokens[0] :], known.word[slice(*known.doc_ptr[2:4])])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"threshold": 0.0}, "'threshold' parameter must be a positive number"),
        ({"unknown_threshold": 1.5}, "'unknown_threshold' parameter must be a number from 0 to 1"),
        ({"topics_threshold": -1}, "'topics_threshold' parameter"),
        ({"sample": 3}, "'sample' parameter"),
        ({"corpus": [["w0", "w1"]] * 5}, "'corpus' parameter must be what the model was trained"),
    ],
)
def test_bad_input_is_one_sentence(kind, given, message):
    lda, _, more = kind
    with pytest.raises(InputError, match=message):
        drift(lda, more.select(np.arange(50)), **given)


def test_batches_that_cannot_be_judged(kind):
    lda, train, more = kind
    for few in ([["w1"]] * 9, [["w1", "w2"]], [["never", "heard"]]):
        with pytest.raises(InputError, match="at least 2 documents with two or more words"):
            drift(lda, few)
    with pytest.raises(InputError, match="'against' parameter must have at least 2 documents"):
        drift(lda, more, against=[["never", "heard"]] * 9)
    with pytest.raises(InputError, match="'corpus' parameter must be what the model was trained"):
        drift(lda.model_, more)
    with pytest.raises(InputError, match="must stand without 'corpus'"):
        drift(lda, more, against=more, corpus=train)


@pytest.mark.parametrize("known", [0, 1])
def test_a_batch_of_which_nothing_is_known_has_drifted(kind, known):
    lda, _, _ = kind
    found = drift(lda, [["never", "heard", "of"]] * 20 + [["w1", "w2", "new"]] * known, n_jobs=1)
    assert found.drifted
    share = (60 + known) / (60 + 3 * known)
    assert found.signals["unknown"].batch == pytest.approx(share)
    assert [name for name, s in found.signals.items() if s.beyond] == ["unknown"]
    assert np.isnan(found.signals["score"].batch)
    assert np.isnan(found.topic_table(as_frame=False)["share"]).all()
    few = "hardly any words are" if known else "none of the words is"
    assert found.verdict.startswith(f"Drift: {few} known to the model: {share:.1%} of tokens")


SKY, PETS = (["moon", "star", "orbit", "planet"], ["cat", "dog", "bird", "horse"])


def updated(n_sky, forget=0.0):
    """Return a model of two subjects that was updated with documents of one of them."""
    lda = LDA(2, max_iter=60, verbose=False, n_jobs=1).fit(of_subjects(0, 60, 60))
    return LDA.from_model(lda.model_, n_jobs=1, verbose=False).update(
        of_subjects(1, n_sky, 0), forget=forget, max_iter=20
    )


def of_subjects(seed, n_sky, n_pets):
    rng = np.random.default_rng(seed)
    return [
        rng.choice(words, 12).tolist()
        for words, n in ((SKY, n_sky), (PETS, n_pets))
        for _ in range(n)
    ]


def test_what_was_counted_before_an_update_is_in_the_baseline():
    """A share of 60 / 160 is expected of pets; with the update's documents only, the fault, 0."""
    later = updated(40)
    both = of_subjects(2, 40, 40)
    found = drift(later, both, n_jobs=1)
    assert not found.drifted, found.verdict
    table = found.topic_table(as_frame=False)
    assert sorted(table["baseline"]) == pytest.approx([60 / 160, 100 / 160], abs=0.02)
    assert found.signals["unknown"].baseline == 0.0
    assert "counted before the update" in found.baseline
    fault = replace(later.model_, parameters={})
    alone = drift(fault, both, corpus=later.corpus_, n_jobs=1)
    assert alone.signals["topics"].beyond
    assert alone.signals["topics"].difference > 0.4
    assert drift(later, of_subjects(3, 0, 60), n_jobs=1).signals["topics"].beyond  # pets only
    forgotten = drift(updated(40, forget=0.9), both, n_jobs=1).topic_table(as_frame=False)
    assert min(forgotten["baseline"]) == pytest.approx(6 / 52, abs=0.02)


def test_words_that_were_known_before_an_update_are_known():
    """A word that one document of the update has, and the earlier ones have, is not unknown."""
    later = updated(20)
    counts = 2 * np.eye(30, 8, dtype=int)  # words 1 to 7 are of one document each
    counts[:, 0] += 4
    corpus = Corpus.from_matrix(counts, later.model_.vocab)
    later = LDA.from_model(later.model_, n_jobs=1, verbose=False).update(corpus, max_iter=5)
    known = in_words_of(later.model_.vocab, corpus)
    with Workers(1) as workers:
        how = {"seed": 0, "workers": workers, "device": "cpu"}
        assert see_left_out(later.model_, known, 30, **how).unknown.sum() == 0
        fault = replace(later.model_, priors=later.model_.priors._replace(pseudo=None))
        assert see_left_out(fault, known, 30, **how).unknown.sum() > 0
