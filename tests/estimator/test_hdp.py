"""The estimator of hierarchical Dirichlet processes: everything that LDA has, and what it adds."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from polyaurn import HDP, LDA, InputError, datasets, load, report
from polyaurn.base.errors import BiasWarning, TopicCountWarning
from polyaurn.estimator.hdp import TopicCount
from polyaurn.model.checks import check_belongs
from polyaurn.training.settings import SETTINGS, Settings

pytestmark = pytest.mark.filterwarnings("ignore::polyaurn.base.errors.TopicCountWarning")


def small_hdp(**parameters):
    given = {"max_components": 12, "max_iter": 8, "n_jobs": 1, "verbose": False}
    return HDP(**given | parameters)


@parametrize_with_checks([small_hdp()])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_it_has_every_setting_with_its_default():
    names = {"max_components" if n == "n_components" else n for n in SETTINGS} - {"model"}
    given = HDP().get_params()
    assert set(given) == names
    for name in names - {"max_components"}:
        assert given[name] == getattr(Settings, name), name
    assert clone(HDP(7, gamma=2.0)).get_params() == HDP(7, gamma=2.0).get_params()


@pytest.fixture(scope="module")
def planted():
    """Documents of five topics."""
    return datasets.generate(
        n_documents=200, n_words=150, n_topics=5, mean_length=50.0, random_state=3
    )


@pytest.fixture(scope="module")
def hdp(planted):
    return HDP(60, max_iter=120, random_state=2, verbose=False).fit(planted)


def test_the_model_has_the_topics_that_have_tokens_the_largest_first(hdp, planted):
    model = hdp.model_
    sizes = np.asarray(hdp.doc_topic_counts_.sum(axis=0)).ravel()
    assert (sizes > 0).all()
    assert (np.diff(sizes) <= 0).all()
    assert model.n_topics == len(hdp.topics()) == len(sizes) < 60
    assert sizes.sum() == planted.n_tokens
    assert len(hdp.topic_info()["topic"]) == model.n_topics
    assert hdp.transform(planted).shape == (200, model.n_topics)
    assert np.isfinite(hdp.score(planted))


def test_how_many_topics_and_their_weights(hdp):
    count = hdp.n_topics_
    assert isinstance(count, TopicCount)
    assert count.last == hdp.model_.n_topics == hdp.trace_[-1]["topics"]
    assert count.low <= count.last + 3
    assert count.low <= count.high
    assert count.large == hdp.trace_[-1]["large_topics"] <= count.last
    assert "topics (" in str(count)
    weights, interval = hdp.weights_, hdp.weights_interval_
    assert weights.shape == (count.last,)
    assert interval.shape == (count.last, 2)
    assert (interval[:, 0] <= interval[:, 1]).all()
    assert 0.9 < weights.sum() <= 1.0 + 1e-12
    large = weights > 0.05
    assert ((interval[:, 0] < weights) & (weights < interval[:, 1]))[large].all()
    assert "gamma" not in LDA(2, max_iter=1, verbose=False).fit(hdp.corpus_).trace_[-1]


def test_intervals_are_of_whole_numbers_and_hold_the_last_draw(planted):
    for seed in range(4):
        hdp = small_hdp(max_components=30, max_iter=40, random_state=seed).fit(planted)
        count, draws = hdp.n_topics_, [r["topics"] for r in hdp.trace_ if r["sweep"] > 30]
        assert min(draws) <= count.low <= count.last <= count.high <= max(draws)
        assert count.large_low <= count.large <= count.large_high
        assert {type(count.low), type(count.large_high)} == {int}


def without_intervals(hdp):
    """Return whether it gives neither interval, and says the numbers without brackets."""
    unknown = np.isnan(hdp.weights_interval_).all() and np.isfinite(hdp.weights_).all()
    assert (hdp.n_topics_.low is None) == ("(" not in str(hdp.n_topics_))
    return bool(unknown), hdp.n_topics_.low is None and hdp.n_topics_.large_high is None


def test_few_draws_have_no_interval(planted):
    assert without_intervals(small_hdp(average_draws=1, max_iter=40).fit(planted)) == (True, False)
    assert without_intervals(small_hdp(max_iter=40).fit(planted)) == (False, False)
    few = small_hdp(max_iter=3).fit(planted)
    assert without_intervals(few) == (True, True)
    assert few.topic_info(as_frame=False)["weight_low"].tolist() == pytest.approx(
        [np.nan] * few.model_.n_topics, nan_ok=True
    )


def test_an_update_has_no_interval_of_weights_and_counts_topics(planted, tmp_path):
    hdp = small_hdp(max_iter=20).fit(planted.select(range(150)))
    gamma = hdp.model_.priors.top.gamma
    hdp.update(planted.select(range(150, 200)), max_iter=24)
    assert without_intervals(hdp)[0]
    last = hdp.trace_[-1]
    assert (last["topics"], last["gamma"]) == (hdp.n_topics_.last, gamma)
    assert hdp.n_topics_.low <= hdp.n_topics_.last <= hdp.n_topics_.high
    again = HDP.load(hdp.save(tmp_path / "model"))
    again.update(planted.select(range(20)), max_iter=4)
    assert again.trace_[-1]["gamma"] == gamma


def test_too_few_topics_are_warned_of(planted):
    with pytest.warns(TopicCountWarning, match=r"All 3 topics .* to more than 3"):
        small_hdp(max_components=3).fit(planted)


def test_a_number_of_topics_that_still_changes_is_noticed(hdp):
    from dataclasses import replace

    from polyaurn.model.top_level import note_of_topics

    def note(topics):
        trace = [{"sweep": i + 1, "topics": int(n)} for i, n in enumerate(topics)]
        return note_of_topics(replace(hdp.model_, trace=trace), 1000)

    rng = np.random.default_rng(1)
    level = 40 + rng.integers(-2, 3, 400)
    assert "still rising" in note(level + np.arange(400) // 10)
    assert "still falling" in note(level - np.arange(400) // 10)
    assert note(level) == ""
    assert note((level + np.arange(400) // 10)[:100]) == "", "too few draws"


def test_weights_drawn_with_the_urn_are_warned_of(planted):
    with pytest.warns(BiasWarning, match="sampler 'partitioned' does not bias them"):
        small_hdp(sampler="polya-urn", max_iter=2).fit(planted)


def test_weights_and_the_number_of_topics_are_in_table_report_and_picture(hdp):
    from polyaurn.pages.report.training import topics_by_sweep
    from polyaurn.plots import plot_trace

    table = hdp.topic_info(as_frame=False)
    assert table["weight"].tolist() == hdp.weights_.tolist()
    both = np.column_stack((table["weight_low"], table["weight_high"]))
    assert both.tolist() == hdp.weights_interval_.tolist()
    said = topics_by_sweep(hdp.model_)
    assert said["sentence"].startswith(str(hdp.n_topics_))
    assert said["points"][-1] == [120, hdp.n_topics_.last, hdp.n_topics_.large]
    lda = LDA(2, max_iter=3, n_jobs=1, verbose=False).fit(hdp.corpus_)
    assert topics_by_sweep(lda.model_) is None
    assert "weight" not in lda.topic_info(as_frame=False)
    below = plot_trace(hdp).figure.axes[1]
    assert below.lines[0].get_ydata()[-1] == hdp.n_topics_.last
    assert len(plot_trace(lda).figure.axes) == 1


def test_a_loaded_model_has_the_parameters_of_its_training(planted, tmp_path):
    hdp = small_hdp(alpha_prior=(2.0, 1.0), max_iter=2).fit(planted)
    again = HDP.load(hdp.save(tmp_path / "model"))
    assert (again.alpha_prior, again.gamma_prior) == ((2.0, 1.0), (1.0, 1.0))
    assert "gamma_prior" not in repr(again)


def test_a_model_of_another_kind_is_rejected(planted, tmp_path):
    folder = LDA(2, max_iter=2, n_jobs=1, verbose=False).fit(planted).save(tmp_path / "model")
    with pytest.raises(InputError, match=r"Got another one; LDA\.load and LDA\.from_model take it"):
        HDP.load(folder)


def test_any_number_of_threads_gives_the_same_bytes(planted):
    runs = [HDP(30, max_iter=15, n_jobs=n, sampler=s, verbose=False).fit(planted)
            for s in ("partitioned", "sparse-dirichlet") for n in (1, 3)]  # fmt: skip
    for one, three in (runs[:2], runs[2:]):
        assert one.assignments_.tobytes() == three.assignments_.tobytes()
        assert one.model_.priors.alpha.tobytes() == three.model_.priors.alpha.tobytes()


def same(one, other):
    first, second = one.model_, other.model_
    assert first.assignments.tobytes() == second.assignments.tobytes()
    assert first.priors.alpha.tobytes() == second.priors.alpha.tobytes()
    assert first.topic_word_counts.data.tobytes() == second.topic_word_counts.data.tobytes()
    assert first.priors.top.whole.tobytes() == second.priors.top.whole.tobytes()
    assert first.priors.top.order.tolist() == second.priors.top.order.tolist()
    assert first.priors.top.draws.tobytes() == second.priors.top.draws.tobytes()


@pytest.mark.parametrize("weights", ["dirichlet", "sticks"])
def test_a_run_that_was_stopped_resumes_to_the_same_bytes(planted, tmp_path, weights):
    given = {"max_components": 30, "max_iter": 24, "topic_weights": weights, "verbose": False}
    whole = HDP(**given).fit(planted)
    stop = [lambda state, info: info.sweep == 20]
    HDP(**given, checkpoint=tmp_path, checkpoint_every=7, callbacks=stop).fit(planted)
    again = HDP(**given, checkpoint=tmp_path, resume=True).fit(planted)
    same(whole, again)


def test_a_saved_model_is_the_same_and_its_run_is_made_longer(planted, tmp_path):
    given = {"max_components": 30, "warm_start": "random", "average_draws": 3, "verbose": False}
    short = HDP(max_iter=16, **given).fit(planted)
    folder = short.save(tmp_path / "model")
    read = HDP.load(folder)
    same(short, read)
    assert read.get_params()["max_components"] == 30
    assert read.n_topics_ == short.n_topics_
    assert read.weights_.tobytes() == short.weights_.tobytes()
    assert LDA.load(folder).n_components == short.model_.n_topics
    longer = HDP(max_iter=24, checkpoint=folder, resume=True, **given).fit(planted)
    same(longer, HDP(max_iter=24, **given).fit(planted))
    with pytest.raises(InputError, match="'gamma' parameter must be as in the run"):
        HDP(max_iter=24, checkpoint=folder, resume=True, gamma=2.0, **given).fit(planted)


def test_a_damaged_top_level_is_reported(hdp, tmp_path):
    from polyaurn.files.sealed import Damaged
    from polyaurn.model.top_level import arrays_of_top, top_of_arrays

    arrays, K = arrays_of_top(hdp.model_.priors.top), hdp.model_.n_topics
    assert top_of_arrays(arrays, K).gamma == hdp.model_.priors.top.gamma
    wrong = {
        "top_level.concentrations": np.array([1.0, -1.0]),
        "top_level.order": np.zeros(60, int),
        "top_level.topics": np.full(K, 3),
        "top_level.whole": np.zeros(60),
        "top_level.draws": np.array([0.5]),
    }
    for name, array in wrong.items():
        with pytest.raises(Damaged):
            top_of_arrays(arrays | {name: array}, K)


def test_posterior_draws_and_the_report(planted, tmp_path):
    hdp = HDP(20, max_iter=10, n_jobs=1, verbose=False)
    posterior = hdp.sample_posterior(planted, chains=2, draws=4, thin=2)
    assert posterior.topic_sizes.shape == (2, 4, 20)
    assert posterior.n_topics.shape == (2, 4)
    assert posterior.n_topics.max() <= 20
    assert np.unique(posterior.alpha.sum(axis=2)).size == 8, "priors are drawn in each sweep"
    page = tmp_path / "report.html"
    report(hdp).save(page)
    assert page.stat().st_size > 10_000


def test_few_topics_to_begin_with(planted):
    hdp = HDP(30, start_topics=1, max_iter=1, warm_start="random", verbose=False)
    first = hdp.fit(planted).trace_[0]["topics"]
    many = HDP(30, max_iter=1, warm_start="random", verbose=False).fit(planted)
    assert first < many.trace_[0]["topics"]


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"max_components": 0}, "'max_components' parameter must be an integer from 1"),
        ({"doc_topic_prior": None}, "'doc_topic_prior' parameter must be a positive number"),
        ({"doc_topic_prior": "50/K"}, "'doc_topic_prior' parameter must be a positive number"),
        ({"gamma": 0.0}, "'gamma' parameter must be a positive number"),
        ({"alpha_prior": (1.0,)}, "'alpha_prior' parameter must be a pair"),
        ({"topic_weights": "even"}, "'topic_weights' parameter must be one of"),
        ({"start_topics": 99}, "'start_topics' parameter must be at most 12"),
        ({"doc_topic_prior": [0.1, 0.2]}, "'doc_topic_prior' parameter must be a positive number"),
    ],
)
def test_parameters_are_checked(planted, parameters, sentence):
    with pytest.raises(InputError, match=sentence):
        small_hdp(**parameters).fit(planted)


@pytest.mark.parametrize("learn_every", [0, 10])
@pytest.mark.parametrize("backend", ["cpu", "gpu"])
def test_by_default_no_urn_draws_the_weights(backend, learn_every):
    given = Settings.of(HDP(learn_priors_every=learn_every))
    assert given.for_corpus(10**8, 10**6, backend).sampler == "sparse-dirichlet"
    together = Settings.of(HDP(learn_priors_every=learn_every, cluster="local"))
    assert together.for_corpus(1000, 100, "cpu").sampler == "sparse-dirichlet"


def test_parameters_of_an_hdp_are_rejected_for_lda():
    with pytest.raises(InputError, match="'gamma' parameter must be left as it is for model 'lda'"):
        Settings(gamma=2.0)


def test_new_documents_keep_the_weights(planted):
    hdp = small_hdp(max_iter=20).fit(planted.select(range(150)))
    K, alpha = hdp.model_.n_topics, hdp.model_.priors.alpha
    hdp.update(planted.select(range(150, 200)), max_iter=3)
    assert hdp.model_.n_topics == K
    assert np.array_equal(hdp.model_.priors.alpha, alpha)
    assert hdp.weights_.sum() == pytest.approx(1.0)


def test_an_updated_model_can_be_updated_and_trained_again(planted, tmp_path):
    first, second, third = (planted.select(range(d, d + 60)) for d in (0, 60, 120))
    hdp = small_hdp(max_components=30, start_topics=20, max_iter=20).fit(first)
    hdp.update(second, max_iter=3)
    assert hdp.max_components == 30
    K = hdp.model_.n_topics
    again = HDP.load(hdp.save(tmp_path / "model"))
    for updated in (hdp, again):
        assert updated.update(third, max_iter=3).model_.n_topics == K
        updated.set_params(max_iter=4, verbose=False)
        assert updated.fit(first).n_topics_.last >= 1


def test_the_documents_of_means_over_draws_are_recognised(planted):
    """Topics that closed are left out, and with them the tokens that they had in earlier draws."""
    hdp = small_hdp(max_components=60, max_iter=60, n_jobs=2).fit(planted)
    assert hdp.topic_word_counts_.sum() < planted.n_tokens
    assert check_belongs(hdp.model_, planted) is planted
    others = planted.select(range(199, -1, -1))
    with pytest.raises(InputError, match="must be what the model was trained on"):
        check_belongs(hdp.model_, others)


def test_loaded_models_are_plain_topic_models(hdp, tmp_path):
    model = load(hdp.save(tmp_path / "model"))
    assert model.topics() == hdp.topics()
    assert model.priors.top.topics.tolist() == hdp.model_.priors.top.topics.tolist()
    merged = model.merge_topics([[0, 1]])
    again = load(merged.save(tmp_path / "merged"))
    assert again.n_topics == model.n_topics - 1
    assert again.priors.top is None
