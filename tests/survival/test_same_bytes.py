"""Runs of earlier versions again, and their folders: the same topics, byte for byte."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import polyaurn
from support.same_bytes import CASES, DEFAULTS, MODELS, digest, run, small, train, use

THEN = Path(__file__).parent / "version_0_1"
HASHES = json.loads((THEN / "hashes.json").read_text())
FOLDERS = json.loads((THEN / "folders.json").read_text())
OF_0_2 = json.loads((THEN.parent / "version_0_2.json").read_text())


@pytest.mark.parametrize("case", CASES)
def test_chains_have_the_topics_of_version_0_1(case):
    found = run(case)
    assert found["topics"] == HASHES["chains"][case]["topics"]
    assert found["log_posterior"] == pytest.approx(HASHES["chains"][case]["log_posterior"], 1e-10)


def test_another_seed_has_other_topics():
    assert run("polya-urn", random_state=12) != HASHES["chains"]["polya-urn"]


@pytest.mark.parametrize("sampler", DEFAULTS)
@pytest.mark.filterwarnings("ignore::polyaurn.base.errors.UnfinishedStartWarning")
def test_trainings_with_defaults_stay_as_they_are(sampler, tmp_path):
    then = OF_0_2[sampler]
    score = pytest.approx(then["log_posterior"], 1e-10)
    assert train(sampler) == then | {"log_posterior": score}
    kept = {"checkpoint": tmp_path / "run", "n_jobs": 2}
    for resume in (False, True):  # stopped during the start, and while counts are averaged
        train(sampler, **kept, resume=resume, callbacks=lambda state, info: info.sweep in (13, 26))
    assert train(sampler, **kept, resume=True) == then | {"log_posterior": score}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore::polyaurn.base.errors.UnfinishedStartWarning")
@pytest.mark.filterwarnings("ignore::polyaurn.base.errors.TopicCountWarning")
def test_trainings_of_other_models_stay_as_they_are(name):
    then = OF_0_2[name]
    score = pytest.approx(then["log_posterior"], 1e-10)
    assert MODELS[name]() == then | {"log_posterior": score}


def test_use_of_a_model_gives_what_version_0_1_gave():
    found, then = use(), HASHES["use"]
    assert {k: v for k, v in found.items() if isinstance(v, str)} == {
        k: v for k, v in then.items() if isinstance(v, str)
    }
    for name in ("left_to_right", "completion"):
        assert found[name] == pytest.approx(then[name], 1e-12)


@pytest.mark.parametrize("name", ["run", "run-learned"])
def test_a_checkpoint_of_version_0_1_is_resumed_to_the_same_topics(name, tmp_path):
    shutil.copytree(THEN / name, tmp_path / "run")
    more = {"learn_priors_every": 2, "warm_start": "random"} if name == "run-learned" else {}
    lda = polyaurn.LDA(
        5, max_iter=12, random_state=4, verbose=False, checkpoint=tmp_path / "run", resume=True,
        **more,
    ).fit(small())  # fmt: skip
    assert [record["sweep"] for record in lda.trace_] == list(range(1, 13))
    assert digest(lda.assignments_) == FOLDERS[name]


def test_a_model_of_version_0_1_loads(tmp_path):
    model, then = polyaurn.load(THEN / "model"), FOLDERS["model"]
    assert digest(model.assignments) == then["topics"]
    assert digest(model.transform(small(), random_state=4)) == then["mixtures"]
    assert model.topics(5, order="frequency") == then["words"]


def test_a_model_and_a_corpus_file_of_text_load():
    model = polyaurn.load(THEN / "text-model")
    corpus = polyaurn.read_corpus(THEN / "corpus.urn")
    assert list(model.doc_names) == list(corpus.doc_names) == ["a", "b", "c", "d"]
    assert set(model.vocab) == set(corpus.vocab)
    assert np.array_equal(model.doc_topic_counts.sum(axis=1).A1, np.diff(corpus.doc_ptr))
    assert model.topics(2, order="frequency")[0] == ["star", "sun"]
