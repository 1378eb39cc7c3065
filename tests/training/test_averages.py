"""Counts averaged over draws of a chain: which draws, the same bytes, and models of means."""

import json

import numpy as np
import pytest

import polyaurn
from polyaurn import LDA, InputError, load
from polyaurn.chain.state import topic_word_matrix
from polyaurn.exchange.tables import topic_table, write_table
from polyaurn.model.checks import check_belongs
from polyaurn.model.data import word_probabilities
from polyaurn.pages.report.data import _facts
from polyaurn.training import averages
from polyaurn.training.averages import Average

pytestmark = pytest.mark.filterwarnings("ignore::polyaurn.base.errors.UnfinishedStartWarning")
K, SWEEPS = 4, 40
AVERAGED = [31, 32, 33, 34, 35, 36, 37, 38, 39, 40]  # the last quarter


def fit(corpus, folder=None, **options):
    given = {"max_iter": SWEEPS, "random_state": 7, "n_jobs": 1} | options
    return LDA(K, checkpoint=folder, verbose=False, **given).fit(corpus)


def stop_at(sweep):
    return lambda state, info: info.sweep == sweep


def recorded(corpus, **options):
    """Return a model and the counts after each sweep, as a callback saw them."""
    seen = {}

    def record(state, info):
        seen[info.sweep] = topic_word_matrix(state.counts, K).toarray()

    return fit(corpus, callbacks=record, **options).model_, seen


def bytes_of(model):
    n = model.topic_word_counts
    return n.data.tobytes(), n.indices.tobytes(), n.indptr.tobytes(), model.averaged_draws


def sweeps_of(draws, max_iter, n_tokens=1000):
    """Return the sweeps that are averaged."""
    made = Average(draws, max_iter, n_tokens)
    return [
        t for t in range(1, max_iter + 1) if t >= made._first and (made._last - t) % made._step == 0
    ]


@pytest.mark.parametrize(
    ("draws", "max_iter", "expected"),
    [
        ("auto", 40, AVERAGED),
        ("auto", 80, list(range(61, 81))),
        ("auto", 200, list(range(162, 201, 2))),
        ("auto", 1000, list(range(772, 1001, 12))),
        (5, 40, [32, 34, 36, 38, 40]),
        (3, 40, [34, 37, 40]),
        (100, 40, AVERAGED),
        (1, 40, [40]),
        ("auto", 7, [7]),
        ("auto", 8, [7, 8]),
        ("auto", 1, [1]),
    ],
)
def test_draws_are_spread_over_the_last_quarter_and_end_with_the_last(draws, max_iter, expected):
    assert sweeps_of(draws, max_iter) == expected


def test_a_huge_corpus_takes_one_draw_unless_asked():
    assert sweeps_of("auto", 40, averages.MOST_TOKENS) == AVERAGED
    assert sweeps_of("auto", 40, averages.MOST_TOKENS + 1) == [40]
    assert sweeps_of(5, 40, averages.MOST_TOKENS + 1) == [32, 34, 36, 38, 40]


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "many", None])
def test_other_numbers_of_draws_are_rejected(small, value):
    with pytest.raises(InputError, match="'average_draws' parameter must be 'auto' or a positive"):
        fit(small, average_draws=value)


@pytest.mark.parametrize("sampler", ["partitioned", "polya-urn"])
def test_the_mean_is_that_of_the_draws_of_the_chain(small, sampler):
    model, seen = recorded(small, sampler=sampler)
    assert model.averaged_draws == model.parameters["averaged_draws"] == len(AVERAGED)
    mean = np.mean([seen[t] for t in AVERAGED], axis=0)
    assert np.allclose(model.topic_word_counts.toarray(), mean, rtol=1e-15)
    assert (mean != seen[SWEEPS]).any()


def test_one_draw_is_the_last_and_the_chain_is_the_same(small):
    one, seen = recorded(small, average_draws=1)
    assert one.averaged_draws == 1
    assert "averaged_draws" not in one.parameters
    assert one.topic_word_counts.dtype == np.int32
    assert np.array_equal(one.topic_word_counts.toarray(), seen[SWEEPS])
    assert one.assignments.tobytes() == fit(small).model_.assignments.tobytes()


@pytest.mark.parametrize("stops", [(5,), (30,), (31,), (35, 38), (39,), (40, 40)])
def test_a_run_resumed_inside_the_window_has_the_same_mean(small, tmp_path, stops):
    whole = bytes_of(fit(small).model_)
    for stop in stops:
        fit(small, tmp_path / "m", resume=True, callbacks=stop_at(stop), n_jobs=2)
    assert bytes_of(fit(small, tmp_path / "m", resume=True).model_) == whole


def test_a_run_that_stops_early_has_the_mean_of_its_draws_so_far(small):
    _, seen = recorded(small)
    stopped = fit(small, callbacks=stop_at(33)).model_
    assert stopped.averaged_draws == 3
    mean = np.mean([seen[t] for t in (31, 32, 33)], axis=0)
    assert np.allclose(stopped.topic_word_counts.toarray(), mean, rtol=1e-15)
    assert fit(small, callbacks=stop_at(31)).model_.averaged_draws == 1


@pytest.mark.parametrize("saved", [True, False], ids=["model", "checkpoint"])
def test_a_longer_run_averages_its_new_end_only(small, tmp_path, saved):
    def lengthen(name, stops):
        folder = tmp_path / name
        done = fit(small, None if saved else folder)
        if saved:
            done.save(folder)
        seen = {}

        def record(state, info):
            seen[info.sweep] = topic_word_matrix(state.counts, K).toarray()
            return info.sweep in stops

        for _ in (*stops, None):
            longer = fit(small, folder, resume=True, max_iter=44, callbacks=record).model_
        return longer, seen

    longer, seen = lengthen("once", [])
    assert longer.averaged_draws == 4  # of sweeps 34 to 44, those that are new
    assert np.allclose(longer.topic_word_counts.toarray(), np.mean(list(seen.values()), axis=0))
    assert bytes_of(lengthen("in pieces", [42])[0]) == bytes_of(longer)


def test_resuming_a_finished_run_keeps_the_mean(small, tmp_path):
    done = fit(small)
    done.save(tmp_path / "m")
    again = fit(small, tmp_path / "m", resume=True)
    assert bytes_of(again.model_) == bytes_of(done.model_)
    assert again.n_iter_ == SWEEPS


def test_a_saved_mean_is_read_again(small, tmp_path):
    model = fit(small).model_
    model.save(tmp_path / "m")
    found = load(tmp_path / "m")
    assert bytes_of(found) == bytes_of(model)
    assert json.loads((tmp_path / "m" / "model.json").read_text())["parameters"][
        "averaged_draws"
    ] == len(AVERAGED)
    check_belongs(found, small)


def test_a_mean_belongs_to_its_corpus_only(small):
    model = fit(small).model_
    check_belongs(model, small)
    counts = np.asarray(model.topic_word_counts.sum(axis=0)).ravel()
    assert np.allclose(counts, np.bincount(small.word, minlength=small.n_words))
    word = small.word.copy()
    other = next(i for i in range(1, len(word)) if word[i] != word[0])
    word[0] = word[other]
    changed = polyaurn.Corpus(small.doc_ptr, word, small.vocab)
    with pytest.raises(InputError, match="must be what the model was trained on"):
        check_belongs(model, changed)


def test_tables_scores_and_topics_of_a_mean(small, tmp_path):
    model = fit(small, learn_priors_every=0).model_
    assert [len(words) for words in model.topics(5)] == [5] * K
    phi = (model.topic_word_counts.toarray() + 0.01).astype(float)
    phi /= phi.sum(axis=1, keepdims=True)
    assert np.allclose(word_probabilities(model), phi)
    assert model.topic_sizes.sum() == small.n_tokens
    assert np.isfinite(model.transform(small)).all()
    write_table(topic_table(model), tmp_path / "topics.csv")
    assert (tmp_path / "topics.csv").stat().st_size > 0
    assert ["Draws averaged", "10"] in _facts(model)
    assert "Draws averaged" not in dict(_facts(fit(small, average_draws=1).model_))
