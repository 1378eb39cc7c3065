import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from polyaurn import LDA, Corpus, InputError, TopicModel, load, sweeps
from polyaurn.chain.priors import make_priors

TEXTS = ["cat dog cat", "dog cat bird", "planet star", "star moon planet", "moon star star"] * 8


@pytest.fixture(scope="module")
def fitted(small):
    return LDA(n_components=4, max_iter=30, evaluate_every=7).fit(small)


@pytest.fixture(scope="module")
def of_last_draw(small):
    fixed = {"learn_priors_every": 0, "average_draws": 1}
    return LDA(n_components=4, max_iter=30, evaluate_every=7, **fixed).fit(small)


def test_attributes_after_fit(of_last_draw, small):
    fitted = of_last_draw
    assert fitted.topic_word_counts_.shape == (4, small.n_words)
    assert sp.issparse(fitted.topic_word_counts_)
    assert fitted.topic_word_counts_.format == "csr"
    assert fitted.topic_word_counts_.dtype.kind == "i"
    assert fitted.doc_topic_counts_.shape == (small.n_documents, 4)
    assert fitted.assignments_.dtype == np.uint16
    assert len(fitted.assignments_) == small.n_tokens
    assert fitted.n_iter_ == 30
    n = np.zeros((4, small.n_words), int)
    np.add.at(n, (fitted.assignments_, small.word), 1)
    assert (fitted.topic_word_counts_.toarray() == n).all()
    assert np.allclose(fitted.components_, n + 0.01)
    assert fitted.model_.doc_topics().sum(axis=1) == pytest.approx(np.ones(small.n_documents))


def test_trace_has_a_record_a_sweep(fitted):
    assert [r["sweep"] for r in fitted.trace_] == list(range(1, 31))
    assert list(fitted.trace_[0]) == [
        "sweep", "phase", "law", "seconds", "phi_seconds", "z_seconds", "log_posterior",
        "phi_nonzeros", "tokens_per_second", "work_per_token", "acceptance", "alpha_sum",
        "beta_mean",
    ]  # fmt: skip
    evaluated = [r["sweep"] for r in fitted.trace_ if r["log_posterior"] is not None]
    assert evaluated == [7, 14, 21, 28, 30]
    parts = np.cumsum([r["phi_seconds"] + r["z_seconds"] for r in fitted.trace_])
    seconds = np.array([r["seconds"] for r in fitted.trace_])
    assert np.allclose(parts[:23], seconds[:23])
    averaging = np.diff(seconds - parts)[22:]  # sums of the last quarter's draws take time, too
    assert len(averaging) == 7
    assert (averaging > 0).all()
    assert fitted.trace_[-1]["log_posterior"] > fitted.trace_[6]["log_posterior"]


def test_fit_is_the_loop(fitted, of_last_draw, small):
    *_, (state, _) = sweeps(small, 4, max_iter=30)
    assert state.z.tobytes() == fitted.assignments_.tobytes()
    assert state.priors.alpha.tobytes() == fitted.model_.priors.alpha.tobytes()
    assert state.priors.beta.tobytes() == fitted.model_.priors.beta.tobytes()
    *_, (state, _) = sweeps(small, 4, max_iter=30, learn_priors_every=0)
    assert state.z.tobytes() == of_last_draw.assignments_.tobytes()
    model = TopicModel.from_state(small, state, make_priors(0.1, 0.01, 4, small.n_words))
    assert model.topics() == of_last_draw.topics()


def test_topics_by_frequency_are_the_most_probable_words(fitted, small):
    topics = fitted.topics(5, weights=True, order="frequency")
    phi = fitted.components_ / fitted.components_.sum(axis=1, keepdims=True)
    for k, topic in enumerate(topics):
        best = sorted(phi[k], reverse=True)[:5]
        assert [p for _, p in topic] == pytest.approx(best)
        assert [phi[k, small.vocab.index(word)] for word, _ in topic] == pytest.approx(best)
    assert fitted.topics(5, order="frequency") == [[word for word, _ in topic] for topic in topics]
    with pytest.raises(InputError, match="'n_words'"):
        fitted.topics(0)


@pytest.mark.parametrize("make", [list, tuple, np.array])
def test_strings_matrices_and_corpora_give_the_same_model(make):
    corpus = Corpus.from_texts(TEXTS)
    expected = LDA(2, max_iter=10).fit(corpus).assignments_.tobytes()
    assert LDA(2, max_iter=10).fit(make(TEXTS)).assignments_.tobytes() == expected
    for X in (
        corpus.to_matrix(),
        corpus.to_matrix().toarray(),
        corpus.to_matrix().toarray().tolist(),
    ):
        assert LDA(2, max_iter=10).fit(X).assignments_.tobytes() == expected


def test_separable_texts_give_separate_topics():
    lda = LDA(2, max_iter=100).fit(TEXTS)
    found = {frozenset(topic) for topic in lda.topics()}
    assert found == {frozenset(["cat", "dog", "bird"]), frozenset(["star", "moon", "planet"])}


def test_callbacks_see_every_sweep_and_may_stop():
    seen = []

    def watch(state, info):
        seen.append((state.sweep, info.sweep))

    several = [watch, lambda state, info: info.sweep == 5]
    lda = LDA(2, max_iter=50, warm_start="random", callbacks=several).fit(TEXTS)
    assert seen == [(i, i) for i in range(1, 6)]
    assert lda.n_iter_ == 5
    assert LDA(2, max_iter=3, callbacks=watch).fit(TEXTS).n_iter_ == 3
    fourth = {"warm_start": "random", "callbacks": lambda state, info: np.int64(info.sweep) == 4}
    numpy_true = LDA(2, max_iter=9, **fourth)
    assert numpy_true.fit(TEXTS).n_iter_ == 4
    for bad in ([3], 3, "print"):
        with pytest.raises(InputError, match="'callbacks'"):
            LDA(2, callbacks=bad).fit(TEXTS)


def test_an_interruption_keeps_the_last_sweep():
    def interrupt(state, info):
        if info.sweep == 4:
            raise KeyboardInterrupt

    lda = LDA(2, max_iter=50, warm_start="random", callbacks=interrupt)
    with pytest.raises(KeyboardInterrupt):
        lda.fit(TEXTS)
    assert lda.n_iter_ == 4
    whole = LDA(2, max_iter=4, warm_start="random").fit(TEXTS)
    assert lda.assignments_.tobytes() == whole.assignments_.tobytes()


def test_scikit_learn_conventions():
    lda = LDA(n_components=3, doc_topic_prior=0.5, random_state=2)
    copy = clone(lda)
    assert copy.get_params()["doc_topic_prior"] == 0.5
    assert copy.set_params(n_components=7).n_components == 7
    with pytest.raises(NotFittedError):
        lda.topics()
    assert not hasattr(lda, "model_")


def test_empty_documents_are_kept_and_noted():
    with pytest.warns(UserWarning, match="1 of 3 documents is empty"):
        lda = LDA(2, max_iter=3).fit(["cat dog", "", "star moon"])
    assert lda.doc_topic_counts_.sum(axis=1).A1.tolist() == [2, 0, 2]
    assert lda.model_.doc_topics()[1] == pytest.approx([0.5, 0.5])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LDA(2, max_iter=3).fit(["cat dog", "star moon"])


def test_vector_priors_change_the_model(small):
    beta = np.linspace(0.01, 1.0, small.n_words)
    plain = LDA(3, max_iter=5).fit(small)
    shaped = LDA(3, max_iter=5, doc_topic_prior=[5, 0.1, 0.1], topic_word_prior=beta).fit(small)
    assert shaped.assignments_.tobytes() != plain.assignments_.tobytes()
    assert shaped.model_.topic_sizes[0] > shaped.model_.topic_sizes[1:].sum()
    assert np.allclose(shaped.components_ - shaped.topic_word_counts_.toarray(), beta)


BAD = [
    ({"n_components": 0}, "'n_components' parameter must be an integer from 1 to 65,535. Got 0"),
    ({"n_components": 65_536}, "Got 65,536 instead; topics are stored in 16 bits"),
    ({"n_components": 2.5}, "Got 2.5"),
    ({"doc_topic_prior": {}}, "Got {}"),
    ({"doc_topic_prior": float("inf")}, "finite, and above zero"),
    ({"doc_topic_prior": 0}, "'doc_topic_prior' parameter must be a positive number"),
    ({"doc_topic_prior": [0.1, -1.0]}, "Got -1.0 at position 1"),
    ({"doc_topic_prior": [0.1]}, "Got an array of shape (1,)"),
    ({"topic_word_prior": float("nan")}, "'topic_word_prior' parameter must be"),
    ({"topic_word_prior": "big"}, "Got 'big'"),
    ({"topic_word_prior": [[0.1]]}, "shape (1, 1)"),
    ({"sampler": "gibbs"}, "'polya-urn', 'partially-collapsed'"),
    ({"max_iter": 0}, "'max_iter'"),
    ({"evaluate_every": -1}, "'evaluate_every'"),
    ({"random_state": "x"}, "'random_state'"),
    ({"n_jobs": 0}, "'n_jobs'"),
]


@pytest.mark.parametrize(("parameters", "says"), BAD)
def test_bad_parameters_are_one_sentence(parameters, says):
    with pytest.raises(InputError) as caught:
        LDA(**({"n_components": 2, "max_iter": 2} | parameters)).fit(TEXTS)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


class Frame:
    """As much of a data frame as is looked at."""

    ndim = 2
    columns = ("cat", "star")

    def __array__(self, dtype=None, copy=None):
        return np.array([[2, 0], [0, 3]])


def test_a_data_frame_names_its_words():
    assert LDA(2, max_iter=2).fit(Frame()).corpus_.vocab == ("cat", "star")


def test_fit_transform_gives_mixtures():
    mixtures = LDA(2, max_iter=5).fit_transform(TEXTS)
    assert mixtures.shape == (40, 2)
    assert mixtures.sum(axis=1) == pytest.approx(np.ones(40))


@pytest.mark.parametrize("X", ["one string", 7, [1, 2], [], {"a": 1}, ["cat dog", None]])
def test_bad_documents_are_one_sentence(X):
    with pytest.raises(InputError):
        LDA(2).fit(X)


def test_a_state_of_another_corpus_is_rejected(small):
    state, _ = next(sweeps(TEXTS, 20))
    with pytest.raises(InputError, match="'start' parameter must be a State of this corpus"):
        sweeps(small, 20, start=state)
    with pytest.raises(InputError, match="with at most 2 topics"):
        sweeps(TEXTS, 2, start=state)
    with pytest.raises(InputError, match="Got int instead"):
        sweeps(TEXTS, 2, start=5)
    wrong = state._replace(z=np.roll(state.z, 1))
    with pytest.raises(InputError, match="contradicts itself"):
        sweeps(TEXTS, 20, start=wrong)


def test_save_and_load(fitted, tmp_path):
    fitted.save(tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.topics() == fitted.topics()
    assert again.assignments.tobytes() == fitted.assignments_.tobytes()


@pytest.mark.parametrize("sampler", ["polya-urn", "polya-urn-mh"])
@pytest.mark.parametrize("beta", [1e9, 1e12, [0.1] * 5 + [2e9]])
def test_a_beta_whose_balls_overflow_is_rejected(sampler, beta, tmp_path):
    """Above 2**31 balls of a word their number wraps around: an error of NumPy, or a wrong Phi."""
    options = {"topic_word_prior": beta, "sampler": sampler}
    message = r"'topic_word_prior' parameter must be at most 5e\+08 with 4 topics for 'polya-urn"
    with pytest.raises(InputError, match=message):
        LDA(4, max_iter=1, checkpoint=tmp_path / "m", **options).fit(TEXTS)
    assert not (tmp_path / "m").exists()
    with pytest.raises(InputError, match=message):
        sweeps(TEXTS, 4, **options)
    LDA(4, max_iter=1, topic_word_prior=beta, sampler="partially-collapsed").fit(TEXTS)
