"""Topics over time: planted drift is recovered, bytes are the same, bad input is reported."""

import json
import shutil
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from polyaurn import Corpus, InputError, TopicsOverTime, diff, load
from polyaurn.model.data import word_probabilities
from support.drifting import BLOCK, CHANGE, SLICES, drifting, planted

SEEDS = range(4)
QUICK = {"max_iter": 60, "slice_iter": 15, "n_jobs": 1, "evaluate_every": 0, "verbose": False}


def trained(corpus, years, **parameters):
    return TopicsOverTime(3, **QUICK | parameters).fit(corpus, years, by="year")


def matched(topics):
    """Return which planted topic each of the first slice's topics is."""
    phi = word_probabilities(next(iter(topics.models_.values())))
    alike = np.sqrt(phi) @ np.sqrt(planted(0)[0]).T
    return alike.argmax(axis=1)


def distances(seed, **parameters):
    """Return the mean distance of words and of sizes from the planted ones, over slices.

    Topics are paired in the first slice only: in later ones they must have kept their numbers.
    """
    corpus, years, shares = drifting(seed)
    topics = trained(corpus, years, random_state=seed, held_out=0.0, **parameters)
    of = matched(topics)
    assert sorted(of) == [0, 1, 2]
    words, sizes = [], []
    share = topics.topic_sizes(as_frame=False)["share"].reshape(SLICES, 3)
    for t, model in enumerate(topics.models_.values()):
        phi = word_probabilities(model)
        words.append(np.abs(phi - planted(t)[0][of]).sum(axis=1).mean() / 2)
        sizes.append(np.abs(share[t] - shares[t][of]).mean())
    return np.mean(words), np.mean(sizes), words[CHANGE]


@cache
def over_seeds(**parameters):
    """Return the means over seeds, and their standard errors."""
    found = np.array([distances(seed, **parameters) for seed in SEEDS])
    return found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(len(SEEDS))


def test_planted_drift_of_words_and_sizes_is_recovered():
    """Over four seeds words are within 0.069 +- 0.001 of total variation, shares within 0.006.

    In the slice in which one of the three topics changes two thirds of its words, all topics
    together are within 0.121 +- 0.001: the carried counts still have the old words.
    """
    (words, sizes, at_change), error = over_seeds(carry=0.3)
    assert words + 4 * error[0] < 0.08
    assert sizes + 4 * error[1] < 0.01
    assert at_change + 4 * error[2] < 0.15


def test_planted_drift_is_recovered_by_default():
    """Words are within 0.080 +- 0.001, and 0.155 +- 0.001 in the slice of the change."""
    (words, sizes, at_change), error = over_seeds()
    assert words + 4 * error[0] < 0.09
    assert sizes + 4 * error[1] < 0.01
    assert at_change + 4 * error[2] < 0.17
    late, other = over_seeds(carry=0.8)  # the fault: too much of what was before
    assert late[0] - 4 * other[0] > 0.09
    assert late[2] - 4 * other[2] > 0.17


def test_without_fading_the_drift_is_not_followed():
    """With carry=1, three slices of the old words outweigh the first of the new ones."""
    (_, _, faded), error = over_seeds(carry=0.3)
    (_, _, kept), other = over_seeds(carry=1.0)
    assert kept - faded > 4 * np.hypot(error[2], other[2])
    assert kept > 0.2


def test_without_carrying_topics_lose_their_numbers():
    corpus, years, _ = drifting(0)
    topics = trained(corpus, years, carry=0.0)
    numbers = [tuple((word_probabilities(m) @ planted(0)[0][1:].T).argmax(axis=0))
               for m in topics.models_.values()]  # fmt: skip
    assert len(set(numbers)) > 1
    assert all(model.priors.pseudo is None for model in topics.models_.values())
    both = trained(corpus, years, carry=0.0, both_ways=True)  # nothing to pass back
    assert both.slices_.complete
    kept = trained(corpus, years, carry=0.5)
    numbers = [tuple((word_probabilities(m) @ planted(0)[0][1:].T).argmax(axis=0))
               for m in kept.models_.values()]  # fmt: skip
    assert len(set(numbers)) == 1


def test_the_second_pass_lets_later_slices_inform_earlier_ones():
    """A slice of few documents is nearer to the planted topics with both its neighbours' counts."""
    gains = []
    for seed in SEEDS:
        corpus, years, _ = drifting(seed, per_slice=40)
        error = {}
        for back in (False, True):
            topics = trained(corpus, years, carry=0.8, both_ways=back, held_out=0.0)
            phi = word_probabilities(topics.models_["2004"])  # new words, of which it is the first
            error[back] = np.abs(phi - planted(3)[0][matched(topics)]).sum(axis=1).mean() / 2
        gains.append(error[False] - error[True])
    assert np.mean(gains) > 4 * np.std(gains, ddof=1) / np.sqrt(len(gains)) > 0


def test_the_prior_of_a_slice_is_the_faded_counts_of_the_others():
    corpus, years, _ = drifting(1, per_slice=20)
    years = [year + 1 if year > 2003 else year for year in years]  # nothing in 2004
    topics = trained(corpus, years, carry=0.5)
    assert list(topics.models_) == ["2001", "2002", "2003", "2005", "2006", "2007"]
    n = [m.topic_word_counts.toarray() for m in topics.models_.values()]
    mass = [m.topic_word_mass.toarray() for m in topics.models_.values()]
    assert mass[0] == pytest.approx(n[0])
    assert mass[2] - n[2] == pytest.approx(n[1] / 2 + n[0] / 4, abs=1e-5)
    assert mass[3] - n[3] == pytest.approx(n[2] / 4 + n[1] / 8 + n[0] / 16, abs=1e-5)
    back = trained(corpus, years, carry=0.5, both_ways=True)
    n = [m.topic_word_counts.toarray() for m in back.models_.values()]
    mass = [m.topic_word_mass.toarray() for m in back.models_.values()]
    later = n[3] / 4 + n[4] / 8 + n[5] / 16
    forward = list(topics.models_.values())  # earlier slices as the first pass left them
    earlier = sum(m.topic_word_counts.toarray() / d for m, d in zip(forward, (4, 2), strict=False))
    assert mass[2] - n[2] == pytest.approx(later + earlier, abs=1e-4)


def test_pseudo_counts_of_seed_words_are_carried_and_fade():
    corpus, years, _ = drifting(1, per_slice=20)
    given = {"seed_words": {2: ["w00", "w01"]}, "seed_strength": 100}
    seeded = trained(corpus, years, carry=0.5, **given)
    n = [m.topic_word_counts.toarray() for m in seeded.models_.values()]
    mass = [m.topic_word_mass.toarray() for m in seeded.models_.values()]
    first = mass[0] - n[0]
    assert first.sum() == pytest.approx(first[2, :2].sum())
    assert first.sum() > 0
    assert mass[2] - n[2] == pytest.approx(n[1] / 2 + n[0] / 4 + first / 4, abs=1e-5)
    alone = trained(corpus, years, carry=0.0, **given)
    assert all(m.priors.pseudo.number.sum() == first.sum() for m in alone.models_.values())


def files(folder):
    """Return the bytes of all files but timings, which differ."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file() and path.name != "timings.jsonl"
    }


def stop_in(number, sweep=5):
    """Return a callback that ends the training in a slice's run, counted from 0."""
    seen = {"runs": -1}

    def callback(state, info):
        seen["runs"] += info.sweep == 1
        return seen["runs"] == number and info.sweep >= sweep

    return callback


@pytest.mark.parametrize("both_ways", [False, True])
def test_the_same_bytes_for_any_threads_and_after_a_stop(tmp_path, both_ways):
    corpus, years, _ = drifting(2, per_slice=25)
    given = {"both_ways": both_ways, "carry": 0.7, "random_state": 5}
    trained(corpus, years, checkpoint=tmp_path / "whole", **given)
    trained(corpus, years, checkpoint=tmp_path / "three", **given | {"n_jobs": 3})
    whole = files(tmp_path / "whole")
    assert whole == files(tmp_path / "three")
    assert {f"slice-{2001 + t}/model.json" for t in range(SLICES)} < set(whole)

    place, stops = tmp_path / "stopped", [1, 3 if both_ways else 0, 1]
    for i, number in enumerate(stops):
        topics = trained(
            corpus, years, checkpoint=place, resume=i > 0, callbacks=stop_in(number), **given
        )
        if not i:
            assert topics.n_slices_ == 1
            assert (place / "unfinished").is_dir()
    shutil.copytree(place, tmp_path / "copy")
    resumed = trained(corpus, years, checkpoint=place, resume=True, **given)
    assert resumed.slices_.complete
    assert files(place) == whole
    saved = resumed.save(tmp_path / "saved")
    assert files(saved) == whole
    again = TopicsOverTime.load(saved)
    assert again.topic_words(as_frame=False)["word"] == resumed.topic_words(as_frame=False)["word"]
    assert load(saved / "slice-2003").n_topics == 3


def test_an_interruption_keeps_finished_slices():
    corpus, years, _ = drifting(3, per_slice=20)

    def interrupt(state, info):
        if stop(state, info):
            raise KeyboardInterrupt

    stop = stop_in(2)
    topics = TopicsOverTime(3, callbacks=interrupt, **QUICK)
    with pytest.raises(KeyboardInterrupt):
        topics.fit(corpus, years)
    assert list(topics.models_) == ["2001", "2002"]
    assert not topics.slices_.complete


def test_slices_by_label_documents_and_tables():
    corpus, years, _ = drifting(4, per_slice=30)
    names = [f"part {year}" for year in years]
    order = [f"part {year}" for year in range(2006, 2000, -1)]
    topics = TopicsOverTime(3, held_out=0.2, **QUICK).fit(corpus, slices=names, order=order)
    assert list(topics.models_) == order
    scores = topics.held_out_scores(as_frame=False)
    assert scores["held_out_documents"].tolist() == [6] * 6
    assert scores["documents"].tolist() == [24] * 6
    assert (scores["score"] < -2).all()
    assert (scores["error"] > 0).all()
    words = topics.topic_words(4, topics=[1])
    assert words.shape == (24, 7)
    assert words["slice"].tolist() == [name for name in order for _ in range(4)]
    sizes = topics.topic_sizes()
    assert sizes.groupby("slice")["share"].sum().to_numpy() == pytest.approx(np.ones(6))
    found = topics.representative_documents("part 2003", 0, 3, as_frame=False)
    for number, length in zip(found["number"], found["length"], strict=True):
        assert names[number] == "part 2003"
        assert length == corpus.doc_ptr[number + 1] - corpus.doc_ptr[number]
    assert topics.topics(0) == topics.topics("part 2006")


def test_words_that_enter_and_leave():
    corpus, years, _ = drifting(0)
    topics = trained(corpus, years, carry=0.3)
    changed = int(np.flatnonzero(matched(topics) == 0)[0])
    models = list(topics.models_.values())
    found = diff(models[CHANGE - 1], models[CHANGE])
    assert found.match == "number"
    lost = found.topic_table(as_frame=False)["words_lost"][changed].split(", ")
    assert {f"w{v:02d}" for v in range(BLOCK)} >= set(lost) > set()
    table = topics.word_changes(12, topics=[changed])
    table = table[table["slice"] == str(2001 + CHANGE)]
    new = {f"w{v:02d}" for v in range(BLOCK, 2 * BLOCK)}
    old = {f"w{v:02d}" for v in range(BLOCK)}
    enters = table[table["change"] == "enters"]
    leaves = table[table["change"] == "leaves"]
    assert len(enters) >= 8
    assert set(enters["word"]) <= new
    assert set(leaves["word"]) <= old
    assert (enters["after"] > enters["before"]).all()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"carry": 1.5}, "'carry' parameter must be a number from 0 to 1. Got 1.5"),
        ({"carry": "much"}, "'carry' parameter must be"),
        ({"held_out": 1}, "must leave documents to train on"),
        ({"slice_iter": 0}, "'slice_iter' parameter must be a whole number of sweeps"),
        ({"both_ways": "yes"}, "'both_ways' parameter must be True or False"),
        ({"colour": 1}, "'colour' parameter must be one of TopicsOverTime"),
        ({"resume": True}, "'checkpoint' parameter must be a folder"),
        ({"by": "era"}, "'by' parameter must be one of 'day', 'week', 'month', 'quarter'"),
        ({"dates": ["2001"] * 3 + ["soon"]}, "Got 'soon' at position 3; correct"),
        ({"by": "month"}, "Got '2001' at position 0, '2001' at position 1"),
        ({"dates": ["2001"] * 3}, "one value for each of the 4 documents. Got 3"),
        ({"dates": [""] * 4}, "must have a date. Got none"),
        ({"dates": None}, "'dates' parameter must be given"),
        ({"slices": [1] * 4}, "Got both"),
        ({"dates": None, "slices": [1, 1, 2, 2], "order": [1, 2, 3]}, "Got 3, which no document"),
        ({"dates": None, "slices": [1, 1, 2, 2], "order": [1]}, "list each of the 2 labels"),
        ({"dates": None, "slices": [1, "1", 2, 2]}, "differ as text"),
        ({"dates": ["2001", "2001", "2002", "2003"]}, "no word in the documents of '2003'"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:.*documents have no date")
def test_bad_input_is_one_sentence(given, said):
    corpus = Corpus.from_tokens([["a", "b"], ["a"], ["b"], []])
    of_fit = {n: given.pop(n) for n in ("dates", "by", "slices", "order") if n in given}
    with pytest.raises(InputError) as error:
        TopicsOverTime(2, **QUICK | given).fit(corpus, **{"dates": ["2001"] * 4} | of_fit)
    assert said in str(error.value)


def test_many_bad_dates_are_counted_and_missing_ones_left_out():
    corpus, years, _ = drifting(5, per_slice=10)
    with pytest.raises(InputError, match=r"'x' at position 4 and 55 more"):
        trained(corpus, ["x"] * 60)
    with pytest.warns(UserWarning, match="2 of 60 documents have no date and were left out"):
        topics = trained(corpus, [None, float("nan"), *years[2:]])
    assert sum(len(m.doc_names) for m in topics.models_.values()) == 58 - SLICES


def test_folders_that_are_not_ours_are_not_touched(tmp_path):
    corpus, years, _ = drifting(6, per_slice=10)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"'notes\.txt'"):
        trained(corpus, years, checkpoint=tmp_path / "other")
    with pytest.raises(InputError, match=r"must hold topics over time. It has no slices\.json"):
        TopicsOverTime.load(tmp_path / "other")
    with pytest.raises(InputError, match="does not exist"):
        TopicsOverTime.load(tmp_path / "nothing")
    place = tmp_path / "time"
    trained(corpus, years, checkpoint=place)
    with pytest.raises(InputError, match="holds slices already"):
        trained(corpus, years, checkpoint=place)
    with pytest.raises(InputError, match=r"It differs: carry 0\.5 there, 0\.8 now"):
        trained(corpus, years, checkpoint=place, resume=True, carry=0.8)
    with pytest.raises(InputError, match="corpus"):
        trained(corpus.select(range(1, 60)), years[1:], checkpoint=place, resume=True)
    header = json.loads((place / "slices.json").read_text())
    header["setting"]["carry"] = 0.9
    (place / "slices.json").write_text(json.dumps(header))
    with pytest.raises(InputError, match=r"damaged slices .*changed after it was written"):
        TopicsOverTime.load(place)


def test_a_model_of_another_training_is_seen(tmp_path):
    corpus, years, _ = drifting(6, per_slice=10)
    for name, carry in (("a", 0.8), ("b", 0.5)):
        trained(corpus, years, checkpoint=tmp_path / name, carry=carry)
    shutil.rmtree(tmp_path / "a" / "slice-2003")
    shutil.copytree(tmp_path / "b" / "slice-2003", tmp_path / "a" / "slice-2003")
    with pytest.raises(InputError, match="'slice-2003' holds the model of another training"):
        TopicsOverTime.load(tmp_path / "a")


def test_progress_says_which_slice_and_counts_all_sweeps(monkeypatch):
    from contextlib import contextmanager

    from polyaurn.training import slice_progress

    said, sweeps, totals = [], [], []

    class Line:
        def note(self, text):
            said.append(text)

        def sweep(self, info):
            sweeps.append(info.sweep)

    @contextmanager
    def line(n_sweeps, n_tokens, *, show):
        totals.append(n_sweeps)
        yield Line()

    monkeypatch.setattr(slice_progress, "training_line", line)
    corpus, years, _ = drifting(6, per_slice=10)
    trained(corpus, years, both_ways=True, held_out=0.0)
    assert said[1] == "slice 2 of 6: 2002, 10 documents, 300 tokens"
    assert said[-1] == "slice 1 of 6: 2001, 10 documents, 300 tokens, second pass"
    assert totals == [60 + 5 * 15 + 5 * 15]
    assert sweeps == list(range(1, totals[0] + 1))


def test_parameters_are_those_of_both_and_a_clone_has_them():
    topics = TopicsOverTime(7, carry=0.3, max_iter=9, random_state=4)
    given = {"n_components": 7, "carry": 0.3, "held_out": 0.1, "max_iter": 9, "random_state": 4}
    assert given.items() <= topics.get_params().items()
    copy = clone(topics.set_params(both_ways=True, max_iter=8))
    assert copy.get_params() == topics.get_params()
    assert (copy.both_ways, copy.parameters["max_iter"]) == (True, 8)
    with pytest.raises(InputError, match="'max_itre' parameter must be one of TopicsOverTime"):
        topics.set_params(carry=0.9, max_itre=3)
    assert topics.carry == 0.3
