"""How many topics: a grid of models that resumes, extends, and is judged on one page."""

import json
import threading
import time

import numpy as np
import pytest

from polyaurn import LDA, Corpus, InputError, evaluate, load, topic_grid
from polyaurn.model.distance import match_topics
from polyaurn.studies.topic_grid import cells
from polyaurn.studies.topic_grid import loop as grid
from polyaurn.studies.topic_grid.cells import seconds_left
from polyaurn.studies.topic_grid.summary import LITERATURE, best, summarise
from support.topic_grid import OPTIONS, bytes_of, without_times


def test_each_cell_is_the_model_users_would_train(whole, small):
    found, folder = whole
    train, test = small.split(0.2, 5)
    assert [(c["topics"], c["seed"]) for c in found["cells"]] == [(2, 5), (2, 6), (4, 5), (4, 6)]
    for cell in found["cells"]:
        model = load(folder / cell["model"])
        lda = LDA(cell["topics"], random_state=cell["seed"], max_iter=12, verbose=False).fit(train)
        assert model.assignments.tobytes() == lda.assignments_.tobytes()
        assert model.parameters == lda.model_.parameters
        score = evaluate.left_to_right(lda, test, 3, random_state=5)
        assert (cell["held_out"], cell["held_out_error"]) == (
            score.per_token,
            score.per_token_error,
        )
        completion = evaluate.document_completion(lda, test, random_state=5)
        assert cell["completion"] == completion.per_token
        assert cell["coherence_npmi"] == pytest.approx(evaluate.coherence(lda, train).mean())
        assert cell["diversity"] == evaluate.diversity(lda)


def test_rows_are_means_over_seeds(whole):
    found, folder = whole
    assert [row["topics"] for row in found["topics"]] == [2, 4]
    for row in found["topics"]:
        values = [c["held_out"] for c in found["cells"] if c["topics"] == row["topics"]]
        assert row["held_out"]["mean"] == pytest.approx(np.mean(values))
        assert row["held_out"]["spread"] == pytest.approx(np.std(values, ddof=1))
        p, q = (
            load(folder / c["model"]).topic_word_counts
            for c in found["cells"]
            if c["topics"] == row["topics"]
        )
        assert row["stability"] == {"mean": match_topics(p, q)[1].mean(), "spread": None}


def test_measures_of_the_literature_are_of_the_documents_trained_on(whole, small):
    found, folder = whole
    train, _ = small.split(0.2, 5)
    for row in found["topics"]:
        cells_of = [c for c in found["cells"] if c["topics"] == row["topics"]]
        models = [load(folder / cell["model"]) for cell in cells_of]
        for name in ("arun_2010", "cao_juan_2009"):
            values = [getattr(evaluate, name)(model) for model in models]
            assert [cell[name] for cell in cells_of] == values
            assert row[name]["mean"] == pytest.approx(np.mean(values))
        mimno = [evaluate.mimno_coherence(m, train, n_words=20).mean() for m in models]
        assert [cell["mimno_2011"] for cell in cells_of] == pytest.approx(mimno)
        values = [evaluate.griffiths_2004(model, train) for model in models]
        assert row["griffiths_2004"]["mean"] == pytest.approx(evaluate.harmonic_mean(values))


def test_without_documents_held_out_all_are_trained_on(small, tmp_path):
    options = OPTIONS | {"test_share": 0, "doc_topic_prior": "6/K", "learn_priors_every": 0}
    found = topic_grid(small, [2, 4], 1, out=tmp_path, **options)
    assert found["corpus"]["train_documents"] == small.n_documents
    assert found["corpus"]["test_documents"] == 0
    assert found["suggestion"]["topics"] is None
    assert "no document is held out" in found["suggestion"]["sentence"]
    assert all(row["held_out"] is row["behind_best"] is None for row in found["topics"])
    assert all(row["griffiths_2004"]["mean"] < 0 for row in found["topics"])
    assert load(tmp_path / "models" / "k0004-seed5").priors.alpha.tolist() == [1.5] * 4
    page = (tmp_path / "sweep.html").read_text()
    assert "none held out" in page
    assert "alpha 6/K" in page
    assert "Cao Juan 2009" in page
    again = []
    assert topic_grid(small, [2, 4], 1, out=tmp_path, on_progress=again.append, **options) == found
    assert again == []


@pytest.mark.parametrize("where", ["training", "scoring"])
def test_an_interrupted_grid_resumes_to_the_same_bytes(whole, small, tmp_path, where):
    def interrupt(place):
        if place["cell"] == 3 and (place["step"] == where) and place["sweep"] >= 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        topic_grid(small, [2, 4], 2, out=tmp_path, on_progress=interrupt, **OPTIONS)
    assert len(list((tmp_path / "cells").iterdir())) == 2
    assert not (tmp_path / "sweep.html").exists()
    reported = []
    found = topic_grid(small, [2, 4], 2, out=tmp_path, on_progress=reported.append, **OPTIONS)
    assert {place["cell"] for place in reported} == {3, 4}
    assert without_times(found) == without_times(whole[0])
    assert bytes_of(tmp_path) == bytes_of(whole[1])
    assert json.loads((tmp_path / "sweep.json").read_text()) == found
    assert not [path for path in tmp_path.rglob(".*")]


def test_more_topics_and_seeds_use_what_is_there(whole, small, tmp_path):
    topic_grid(small, [2], 1, out=tmp_path, **OPTIONS)
    before = (tmp_path / "cells" / "k0002-seed5.json").stat().st_mtime_ns
    trained = []
    found = topic_grid(
        small, (2, 4), 2, out=tmp_path, **OPTIONS,
        on_progress=lambda place: trained.append((place["topics"], place["seed"])),
    )  # fmt: skip
    assert sorted(set(trained)) == [(2, 6), (4, 5), (4, 6)]
    assert (tmp_path / "cells" / "k0002-seed5.json").stat().st_mtime_ns == before
    assert without_times(found) == without_times(whole[0])
    reported = []
    again = topic_grid(small, 4, 1, out=tmp_path, on_progress=reported.append, **OPTIONS)
    assert reported == []
    assert again["topics"][0]["stability"] is None
    assert again["best"]["stability"] is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"max_iter": 13}, "sweeps 12 there, 13 now"),
        ({"doc_topic_prior": 0.2}, "alpha 0.1 there, 0.2 now"),
        ({"topic_word_prior": np.full(80, 0.01)}, r"beta 0.01 there, [0-9a-f]{8}... now"),
        ({"sampler": "partially-collapsed"}, "sampler auto there, partially-collapsed now"),
        ({"sampler": "light", "n_jobs": 2}, "threads none there, 2 now"),
        ({"random_state": 6}, "first seed 5 there, 6 now"),
        ({"test_share": 0.3, "particles": 4}, "test share 0.2 there, 0.3 now"),
    ],
)
def test_a_folder_of_another_setting_is_rejected(whole, small, change, message):
    with pytest.raises(InputError, match=f"same setting. It differs: .*{message}.*Choose another"):
        topic_grid(small, [2, 4], 2, out=whole[1], **OPTIONS | change)


def test_the_default_sampler_may_resume_on_another_number_of_threads(whole, small):
    reported = []
    again = topic_grid(
        small, [2, 4], 2, out=whole[1], on_progress=reported.append, **OPTIONS | {"n_jobs": 2}
    )
    assert reported == []
    assert again["cells"] == whole[0]["cells"]


def test_a_folder_of_other_defaults_is_rejected(small, tmp_path):
    """Version 0.1 kept priors as given, and a device decides what "auto" takes."""
    topic_grid(small, [2], 1, out=tmp_path, **OPTIONS)
    file = tmp_path / "setting.json"
    stored = json.loads(file.read_text())
    for name, value, expected in (
        ("learn_priors_every", None, "learn priors every none there, 10 now"),
        ("average_draws", 1, "average draws 1 there, auto now"),
        ("device", "gpu", "device gpu there, cpu now"),
    ):
        setting = stored["setting"] | {name: value}
        file.write_text(json.dumps(stored | {"setting": setting}))
        with pytest.raises(InputError, match=expected):
            topic_grid(small, [2], 1, out=tmp_path, **OPTIONS)


def test_a_folder_of_another_corpus_is_rejected(whole, medium):
    with pytest.raises(InputError, match=r"differs: corpus [0-9a-f]{8}... there"):
        topic_grid(medium, [2, 4], 2, out=whole[1], **OPTIONS)


def test_damaged_cells_are_computed_again_or_rejected(whole, small, tmp_path):
    topic_grid(small, [2], 2, out=tmp_path, **OPTIONS)
    file = tmp_path / "cells" / "k0002-seed6.json"
    kept = json.loads(file.read_text())
    for text in (
        "",
        "[1]",
        '{"topics": 2}',
        json.dumps(kept | {"seed": 7}),
        json.dumps(kept | {"held_out": "high"}),
    ):
        file.write_text(text)
        topic_grid(small, [2], 2, out=tmp_path, **OPTIONS)
        assert without_times(json.loads(file.read_text())) == without_times(kept)
    model = tmp_path / "models" / "k0002-seed6"
    (model / "arrays.npz").write_bytes(b"damaged")
    with pytest.raises(InputError, match=r"k0002-seed6' holds a damaged .*Or delete the folder"):
        topic_grid(small, [2], 2, out=tmp_path, **OPTIONS)
    for path in model.iterdir():
        path.unlink()
    model.rmdir()
    topic_grid(small, [2], 2, out=tmp_path, **OPTIONS)
    assert load(model).n_topics == 2
    (tmp_path / "setting.json").write_text("{")
    with pytest.raises(InputError, match=r"must be the setting of a topic grid\. It is damaged"):
        topic_grid(small, [2], 2, out=tmp_path, **OPTIONS)


def test_the_number_of_planted_topics_predicts_best(medium, tmp_path):
    found = topic_grid(medium, [2, 8], 2, out=tmp_path, max_iter=60, particles=5, max_scored=40)
    assert found["best"]["held_out"] == {"topics": 8, "equal": []}
    assert found["best"]["completion"] == {"topics": 8, "equal": []}
    assert found["corpus"]["scored_documents"] == 40
    assert found["corpus"]["test_documents"] == 150


def test_numbers_of_numpy_are_numbers(whole, small, tmp_path):
    given = {
        name: np.float64(value) if isinstance(value, float) else np.int64(value)
        for name, value in OPTIONS.items()
        if name != "score"
    }
    given["score"] = OPTIONS["score"]
    found = topic_grid(small, np.array([2, 4]), np.int64(2), out=tmp_path, **given)
    assert without_times(found) == without_times(whole[0])
    assert (tmp_path / "setting.json").read_bytes() == (whole[1] / "setting.json").read_bytes()


def test_coherence_is_the_same_in_pieces(whole, small, tmp_path, monkeypatch):
    monkeypatch.setattr(cells, "TOPICS_AT_ONCE", 3)
    found = topic_grid(small, [4], 1, out=tmp_path, **OPTIONS)
    assert found["cells"][0]["coherence_npmi"] == whole[0]["cells"][2]["coherence_npmi"]


def test_documents_scored_are_drawn_from_those_held_out(medium):
    train, test, scored = grid.split_documents(medium, 0.1, 30, 0)
    assert (train, test) == medium.split(0.1, 0)
    assert scored.n_documents == 30
    places = [test.doc_names.index(name) for name in scored.doc_names]
    assert places == sorted(places)
    assert places[-1] > 100
    X = np.ones((20, 2), int)
    X[::2] = 0
    assert all(
        len(document) for document in grid.split_documents(Corpus.from_matrix(X), 0.4, 9, 0)[2]
    )


def test_equal_is_within_the_larger_spread():
    def some(K, *values):
        names = ("completion", "diversity", "train_seconds", "seconds", *LITERATURE)
        same = dict.fromkeys(names, 1.0) | {"arun_2010": float(K), "griffiths_2004": -float(K)}
        same["coherence_npmi_error"] = None
        return [
            same | {"topics": K, "seed": s, "held_out": v, "coherence_npmi": None}
            for s, v in enumerate(values)
        ]

    rows = summarise(
        some(10, -8.0, -7.8) + some(20, -7.72, -7.7) + some(50, -7.8, -7.81),
        lambda K, seeds: [0.5 + K / 100, 0.4],
    )
    assert rows[0]["held_out"] == pytest.approx({"mean": -7.9, "spread": 0.2 / np.sqrt(2)})
    found = best(rows)
    assert found["held_out"] == {"topics": 20, "equal": []}
    assert found["coherence_npmi"] is None
    assert found["diversity"] == {"topics": 10, "equal": [20, 50]}
    assert found["stability"] == {"topics": 50, "equal": [10, 20]}
    assert found["arun_2010"] == {"topics": 10, "equal": []}, "lower is better"
    assert found["griffiths_2004"] == {"topics": 10, "equal": []}
    wider = best(summarise(some(10, -8.0, -7.8) + some(20, -7.9, -7.7), lambda K, seeds: []))
    assert wider["held_out"] == {"topics": 20, "equal": [10]}
    narrow_at_the_top = some(10, -8.0, -7.8) + some(20, -7.81, -7.81)
    found = best(summarise(narrow_at_the_top, lambda K, seeds: []))
    assert found["held_out"] == {"topics": 20, "equal": [10]}


def test_the_time_left_goes_by_the_nearest_finished_cell():
    assert seconds_left([(10, 0.25, 5.0)], {}, []) == 15.0
    assert seconds_left([(10, 0.5, 5.0)], {}, [10, 40]) == 5.0 + 10.0 + 20.0
    assert seconds_left([(10, 0.5, 5.0)], {10: 12.0, 90: 100.0}, [90, 40]) == pytest.approx(
        7.0 + 100.0 + 100.0 * np.sqrt(40 / 90)
    )
    assert seconds_left([(10, 1.0, 20.0)], {10: 12.0}, []) == 0.0


def test_the_time_left_is_shared_by_models_side_by_side():
    running = [(10, 0.5, 5.0), (10, 0.25, 2.0)]
    assert seconds_left(running, {10: 10.0}, [10], 2) == (5.0 + 8.0 + 10.0) / 2
    assert seconds_left([(10, 0.1, 1.0), (5, 0.9, 9.0)], {}, [], 2) == 9.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"topics": []}, "must be whole numbers from 1 to 65,535, each once. Got none"),
        ({"topics": [10, 10]}, "Got 10, 10; 10,20,50,100 is"),
        ({"topics": [10, 2.5]}, "Got 10, 2.5"),
        ({"topics": "10"}, "'topics' parameter"),
        ({"topics": [0]}, "Got 0"),
        ({"topics": [65_536]}, "Got 65536"),
        ({"seeds": 0}, "'seeds' parameter must be a whole number, at least 1"),
        ({"max_iter": 0}, "'max_iter' parameter"),
        ({"max_scored": 1.5}, "'max_scored' parameter"),
        ({"particles": 0}, "'particles' parameter"),
        ({"score": "perplexity"}, "'score' parameter must be one of 'completion', 'left-to-right'"),
        ({"test_share": 1.0}, "'test_share' parameter must be between 0 and 1. Got 1.0"),
        ({"test_share": "all"}, "Got 'all'"),
        ({"test_share": 0.001}, r"both sides.*Got 0.001 of 60 documents, 0 of them empty"),
        ({"sampler": "gibbs"}, "'sampler' parameter must be one of 'auto', 'polya-urn'"),
        ({"doc_topic_prior": [0.1, 0.1]}, "must be one positive number, which serves for every"),
        ({"topic_word_prior": -1}, "'topic_word_prior' parameter must be a positive number"),
        ({"topic_word_prior": [0.1] * 3}, "80 of them"),
        ({"random_state": None}, "'random_state' parameter must be an integer, from which"),
        ({"random_state": -1}, "must not be negative"),
        ({"n_jobs": 0}, "'n_jobs' parameter"),
        ({"out": 7}, "'out' parameter must be a path"),
    ],
)  # fmt: skip
def test_bad_grids_are_rejected_and_nothing_is_written(small, tmp_path, change, message):
    options = OPTIONS | {"topics": [2], "seeds": 1, "out": tmp_path / "grid"} | change
    with pytest.raises(InputError, match=message):
        topic_grid(small, **options)
    assert not list(tmp_path.iterdir())


def test_folders_of_others_are_not_touched(small, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="holds other files, which are left alone"):
        topic_grid(small, [2], out=tmp_path, **OPTIONS)
    with pytest.raises(InputError, match=r"mine\.txt' is a file"):
        topic_grid(small, [2], out=tmp_path / "mine.txt", **OPTIONS)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def trained_again(small, folder, **change):
    """Return whether a call on a finished folder trains anything, and what it gives."""
    steps = []
    found = topic_grid(
        small, [2, 4], 2, out=folder, on_progress=lambda place: steps.append(place["step"]),
        **OPTIONS | change,
    )  # fmt: skip
    return "training" in steps, found


def test_completion_is_the_score_unless_another_is_asked_for(whole, small, tmp_path):
    options = {name: value for name, value in OPTIONS.items() if name != "score"}
    found = topic_grid(small, [2, 4], 2, out=tmp_path, **options)
    for cell, before in zip(found["cells"], whole[0]["cells"], strict=True):
        assert cell["held_out"] == cell["completion"] == before["completion"]
        assert cell["held_out_error"] is None
    assert bytes_of(tmp_path) == bytes_of(whole[1])
    text = (tmp_path / "sweep.html").read_text()
    assert "<th>completion</th>" not in text
    assert "Held-out is completion" in text


def test_another_score_uses_the_models_that_are_there(whole, small, tmp_path):
    options = {"score": "completion"}
    _, first = trained_again(small, tmp_path, **options)
    again, second = trained_again(small, tmp_path)
    assert not again
    assert without_times(second) == without_times(whole[0])
    again, third = trained_again(small, tmp_path, particles=4, max_scored=5)
    assert not again
    assert third["corpus"]["scored_documents"] == 5
    again, last = trained_again(small, tmp_path, **options)
    assert not again
    assert without_times(last) == without_times(first)


def test_a_folder_of_version_0_2_before_scores_of_documents_is_resumed(whole, small, tmp_path):
    """Its setting names what left-to-right took, and its cells have no scores of documents."""
    topic_grid(small, [2, 4], 2, out=tmp_path, **OPTIONS)
    file = tmp_path / "setting.json"
    stored = json.loads(file.read_text())
    stored["setting"] |= {"particles": 20, "most_documents_scored": 300}
    file.write_text(json.dumps(stored))
    for path in (tmp_path / "cells").iterdir():
        cell = json.loads(path.read_text())
        for name in ("scoring", "held_out_by_document", "coherence_npmi_error"):
            del cell[name]
        path.write_text(json.dumps(cell, indent=1))
    again, found = trained_again(small, tmp_path)
    assert not again
    assert without_times(found) == without_times(whole[0])


def test_models_side_by_side_are_the_same(whole, small, tmp_path):
    heard = []
    found = topic_grid(
        small, [2, 4], 2, out=tmp_path, on_progress=heard.append, **OPTIONS | {"n_jobs": 3}
    )
    assert heard[0]["at_once"] == 3
    assert {place["at_once"] for place in heard} <= {1, 2, 3}
    assert {place["cell"] for place in heard} == {1, 2, 3, 4}
    assert without_times(found) == without_times(whole[0])
    assert bytes_of(tmp_path) == bytes_of(whole[1])


def threads_of_pools():
    return {thread for thread in threading.enumerate() if "ThreadPoolExecutor" in thread.name}


@pytest.mark.parametrize("where", ["training", "scoring"])
def test_models_side_by_side_stop_together_and_resume(whole, small, tmp_path, where):
    def interrupt(place):
        if place["step"] == where and place["sweep"] >= 7:
            raise KeyboardInterrupt

    options = OPTIONS | {"n_jobs": 2}
    before = threads_of_pools()  # with those that other tests in this process have left
    with pytest.raises(KeyboardInterrupt):
        topic_grid(small, [2, 4], 2, out=tmp_path, on_progress=interrupt, **options)
    assert not (tmp_path / "sweep.html").exists()
    assert threads_of_pools() <= before
    found = topic_grid(small, [2, 4], 2, out=tmp_path, **options)
    assert without_times(found) == without_times(whole[0])
    assert bytes_of(tmp_path) == bytes_of(whole[1])


@pytest.mark.parametrize(
    ("topics", "threads", "given"),
    [
        ([350, 250, 200, 150, 100, 50, 20, 10, 5], 16, [3, 3, 3, 2, 2, 1, 1, 1]),
        ([400, 100], 9, [6, 3]),
        ([40], 7, [7]),
        ([40, 40, 40, 40], 2, [1, 1]),
        ([10_000, 4, 4, 4], 4, [4]),
        ([], 3, []),
    ],
)
def test_all_threads_are_given_out_and_most_to_the_largest(topics, threads, given):
    assert cells.allot(topics, threads) == given
    assert sum(given) == threads * bool(topics)


@pytest.mark.parametrize("at_once", [2, 5, 8])
def test_threads_of_finished_models_go_to_those_that_wait(at_once, monkeypatch):
    left = [(K, seed) for seed in (0, 1) for K in (5, 50, 20, 10)]
    threads, busy, lock, calls = 12, [0], threading.Lock(), []
    allot = cells.allot

    def watched(topics, free):
        calls.append((topics, free))
        return allot(topics, free)

    def compute(place, n):
        with lock:
            busy[0] += n
            assert busy[0] <= threads
        time.sleep(0.001 * (place[0] % 7))
        with lock:
            busy[0] -= n
        return place

    monkeypatch.setattr(cells, "allot", watched)
    progress = cells.Progress(None, 1, {}, left, at_once)
    found = cells._side_by_side(compute, left, threads, at_once, progress)
    assert found == {place: place for place in left}
    assert calls[0] == ([50, 50, 20, 20, 10, 10, 5, 5][:at_once], threads)
    assert all(free > 0 for topics, free in calls if topics)


def test_models_run_side_by_side_as_far_as_threads_and_memory_allow(small, monkeypatch):
    left = [(4, 0), (2, 0), (4, 1)]
    options = {"sampler": "auto", "device": "cpu", "n_jobs": 2}
    assert cells.models_at_once(left, small, options) == 2
    assert cells.models_at_once(left, small, options | {"n_jobs": 9}) == 3
    assert cells.models_at_once(left, small, options | {"n_jobs": 1}) == 1
    assert cells.models_at_once(left, small, options | {"device": "gpu"}) == 1
    assert cells.models_at_once(left, small, options | {"sampler": "light"}) == 1
    monkeypatch.setattr(cells, "free_bytes", lambda: 1000)
    assert cells.models_at_once(left, small, options) == 1
