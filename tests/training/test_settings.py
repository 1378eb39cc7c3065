"""Every parameter of a training is spelled once: all who take it are held against `Settings`."""

import inspect
import json
import re
import tomllib
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import polyaurn
from polyaurn import (
    LDA,
    DocumentClusters,
    InputError,
    TopicModel,
    TopicsOverTime,
    compare,
    datasets,
    diff,
    drift,
    sweeps,
    topic_grid,
)
from polyaurn.backends.registry import DEVICES
from polyaurn.backends.sharded.registry import ENGINES
from polyaurn.chain.hdp import WEIGHTS
from polyaurn.chain.samplers import SAMPLERS, choose_sampler
from polyaurn.chain.schedule import WARM_STARTS
from polyaurn.cli.app import NAMES, app
from polyaurn.cli.options import python_settings
from polyaurn.evaluate import document_completion, left_to_right
from polyaurn.model.inference import infer
from polyaurn.training import cluster_program
from polyaurn.training.cluster import _task
from polyaurn.training.cluster_program import read_priors
from polyaurn.training.clusters import NAMES as CLUSTER_NAMES
from polyaurn.training.run import make_run
from polyaurn.training.settings import SETTINGS, Settings

ONLY_OF_SWEEPS = {"corpus", "pseudo_counts", "start", "on_compile"}
OF_LDA = {name for name, known in SETTINGS.items() if not known.of_hdp}
DEFAULTS = {field.name: field.default for field in fields(Settings)}
# Who takes some of the settings only, which, and the defaults that are its own.
OF_GRID = {"max_iter", "doc_topic_prior", "topic_word_prior", "sampler", "learn_priors_every",
           "average_draws", "random_state", "n_jobs", "device"}  # fmt: skip
OF_COMPARE = {"n_components", "doc_topic_prior", "topic_word_prior", "random_state", "n_jobs",
              "warm_start", "phi_refreshes", "mh_steps"}  # fmt: skip
OF_CLUSTERS = {"max_iter", "random_state", "n_jobs", "evaluate_every", "average_draws",
               "learn_priors_every", "checkpoint", "checkpoint_every", "resume", "callbacks",
               "verbose"}  # fmt: skip
OF_SLICES = {"n_components", "checkpoint", "resume", "callbacks", "verbose"}
OF_SAMPLING = {"random_state", "n_jobs", "device"}  # of new documents
OF_DOCUMENTS = OF_SAMPLING | {"cluster", "n_workers", "cluster_address"}
SOME = {
    topic_grid: (OF_GRID, {"max_iter": 200}),
    compare: (OF_COMPARE, {"warm_start": "random", "phi_refreshes": 1}),
    DocumentClusters: (OF_CLUSTERS, {"max_iter": 200, "learn_priors_every": 0}),
    TopicsOverTime: (OF_SLICES, {}),
    TopicModel.transform: (OF_DOCUMENTS, {}),
    infer: (OF_DOCUMENTS, {}),
    left_to_right: (OF_DOCUMENTS, {}),
    document_completion: (OF_DOCUMENTS, {}),
    drift: (OF_SAMPLING, {}),
    diff: (OF_SAMPLING, {}),
}
CALLS = {  # how each is called, where that is not with documents
    DocumentClusters: lambda corpus, lda, **given: DocumentClusters(**given).fit(corpus),
    TopicsOverTime: lambda corpus, lda, **given: TopicsOverTime(**given).fit(
        corpus, slices=["a"] * corpus.n_documents
    ),
    diff: lambda corpus, lda, **given: diff(lda, lda, documents=corpus, **given),
} | {
    function: lambda corpus, lda, function=function, **given: function(lda.model_, corpus, **given)
    for function in (TopicModel.transform, infer, left_to_right, document_completion, drift)
}
OF_CHAIN = {name for name, known in SETTINGS.items() if known.of_chain}
OTHER = {  # values that are no defaults
    "n_components": 7, "doc_topic_prior": 0.3, "topic_word_prior": 0.2, "max_iter": 90,
    "sampler": "partially-collapsed", "random_state": 9, "n_jobs": 1, "device": "gpu",
    "evaluate_every": 3, "warm_start": "random", "phi_refreshes": 3, "mh_steps": 4,
    "learn_priors_every": 6, "model": "hdp", "gamma": 2.0, "alpha_prior": None,
    "gamma_prior": (2.0, 1.0), "topic_weights": "sticks", "start_topics": 3,
}  # fmt: skip
WRONG = -1.5  # which no setting can be


def parameters(function):
    found = inspect.signature(function).parameters
    return {name: parameter.default for name, parameter in found.items() if name != "self"}


def missing(function, names, own=()):
    """Return settings that a function lacks or has with another default, and what it has more."""
    has = parameters(function)
    wrong = {name for name in names if name not in has or has[name] != DEFAULTS[name]}
    return wrong | (set(has) - set(names) - set(own))


def of_command(name):
    """Return the options of a command, by name with underscores."""
    info = next(c for c in app.registered_commands if c.callback.__name__ == name)
    return parameters(info.callback)


def test_the_estimator_has_every_setting_with_its_default():
    assert missing(LDA.__init__, OF_LDA) == set()
    assert set(LDA().get_params()) == OF_LDA


def test_sweeps_has_the_settings_of_a_chain():
    own = ONLY_OF_SWEEPS | {"max_iter"}  # without it the generator never ends
    assert missing(sweeps, OF_CHAIN - {"max_iter"}, own) == set()
    assert "max_iter" in parameters(sweeps)


def test_a_setting_that_is_forgotten_is_seen():
    def forgetful(n_components=100, max_iter=1000):
        """Lack the rest."""

    assert missing(forgetful, SETTINGS) == set(SETTINGS) - {"n_components", "max_iter"}

    def other(n_components=99):
        """Have another default."""

    assert missing(other, {"n_components"}) == {"n_components"}


def test_sweeps_hands_on_every_setting(monkeypatch):
    class Given(Exception):  # noqa: N818
        pass

    def settings(**given):
        raise Given(given)

    monkeypatch.setattr("polyaurn.training.sweeps.Settings", settings)
    assert set(OTHER) == OF_CHAIN
    with pytest.raises(Given) as found:
        sweeps([[2, 1]], **OTHER)
    assert found.value.args[0] == OTHER


def task_of(folder, **changed):
    """Return what workers are given of a training, but for the header and names of files."""
    given = {"n_components": 5, "max_iter": 100, "sampler": "polya-urn-mh", "verbose": False}
    run = make_run(LDA(**given | changed), datasets.generate(30, 40, 3, 10.0))
    task = _task(run, SimpleNamespace(name="ray"), 2, folder, folder)
    alpha, beta = read_priors(Path(task["priors"]))[:2]
    task |= {"priors": (alpha.tolist(), beta.tolist()), "run": None, "run_id": None}
    return task


def test_workers_are_given_every_setting(tmp_path):
    usual, other = task_of(tmp_path), OTHER | {"average_draws": 8}
    inside = {"doc_topic_prior", "topic_word_prior", "warm_start", "phi_refreshes"}
    for name in {name for name in other if not SETTINGS[name].of_hdp} - {"device"}:
        found = task_of(tmp_path, **{name: other[name]})
        assert found != usual if name in inside else other[name] in found.values(), name
    source = Path(cluster_program.__file__).read_text("utf-8")
    assert set(re.findall(r"task\[[\"'](\w+)", source)) == set(usual)


@pytest.mark.parametrize("function", SOME, ids=lambda function: function.__name__)
def test_who_takes_some_settings_has_their_defaults_and_checks(function, tmp_path, trained):
    names, own = SOME[function]
    has = parameters(function)
    optional = {name for name, value in has.items() if value is not inspect.Parameter.empty}
    assert optional & SETTINGS.keys() == names
    assert {name: has[name] for name in names if has[name] != DEFAULTS[name]} == own
    given = {"out": tmp_path} if "out" in has else {}
    call = CALLS.get(function, lambda corpus, lda, **given: function(corpus, **given))
    for name in names:
        with pytest.raises(InputError, match=f"'{name}' parameter must"):
            call(trained.corpus_, trained, **given, **{name: WRONG})


def test_no_setting_takes_whatever_it_is_given():
    for name in SETTINGS.keys() - {"seed_words", "fixed_topics"}:  # checked against a corpus
        with pytest.raises(InputError, match=f"'{name}' parameter must"):
            Settings(**{name: WRONG})


def test_the_command_line_has_an_option_for_every_setting_that_names_one():
    options = of_command("train")
    named = {known.option: name for name, known in SETTINGS.items() if known.option}
    assert set(named) <= set(options)
    for option, name in named.items():
        value = python_settings({option: options[option]})[name]
        assert value == DEFAULTS[name], option
        assert NAMES[name] == f"--{option.replace('_', '-')}"
    own = {"fixed_topics", "fixed_strength", "checkpoint", "resume", "callbacks", "verbose"}
    assert set(SETTINGS) - set(named.values()) == own  # of Python only, or options of the command


def test_a_run_writes_its_settings_into_config_and_header(run, texts, tmp_path):
    code, _, err = run("train", texts, "--topics", 2, "--sweeps", 3, "--out", "m", "-q")
    assert (code, err) == (0, "")
    config = tomllib.loads((tmp_path / "m" / "config.toml").read_text())
    named = {k.option.replace("_", "-") for k in SETTINGS.values() if k.option}
    unset = {"mh-steps", "seed-words", "start-topics", "cluster", "workers", "address"}
    assert named - set(config) <= unset  # None is not written
    header = json.loads((tmp_path / "m" / "model.json").read_text())["parameters"]["run"]
    assert set(header) - {"corpus", "corpus_sha256"} == {
        name for name, known in SETTINGS.items() if known.fixes_chain and name in OF_LDA
    }


def test_a_run_of_clusters_keeps_every_setting_that_fixes_it():
    clusters = DocumentClusters(3, max_iter=2, verbose=False).fit(datasets.generate(30, 40, 3))
    taken = {name: CLUSTER_NAMES.get(name, name) for name, s in SETTINGS.items() if s.fixes_chain}
    own = {theirs for theirs in taken.values() if theirs in clusters.get_params()}
    header = clusters.model_.parameters["run"]
    assert own | {"sampler", "warm_start"} == set(header) - {
        "model_kind",
        "corpus",
        "corpus_sha256",
    }
    assert {"n_clusters", "word_prior"} <= own


@pytest.mark.parametrize("name", [n for n, s in SETTINGS.items() if s.kind is int])
def test_numpy_numbers_are_taken_where_pythons_are(name):
    value = np.int64(DEFAULTS[name] or 1)
    checked = getattr(Settings(**{name: value}), name)
    assert checked == int(value)
    with pytest.raises(InputError, match=f"'{name}' parameter must"):
        Settings(**{name: 1.5})
    with pytest.raises(InputError, match=f"'{name}' parameter must"):
        Settings(**{name: True})


def test_a_grid_search_over_numpy_numbers_trains():
    corpus = datasets.generate(n_documents=30, n_words=40, n_topics=3)
    for max_iter, refreshes in zip(np.arange(2, 4), np.arange(1, 3), strict=True):
        lda = LDA(np.int32(3), max_iter=max_iter, phi_refreshes=refreshes,
                  evaluate_every=np.int64(1), doc_topic_prior=np.float32(0.5),
                  learn_priors_every=np.int16(2), verbose=False).fit(corpus)  # fmt: skip
        assert lda.n_iter_ == max_iter
        json.dumps(lda.model_.parameters)
    light = LDA(3, sampler="light", mh_steps=np.int64(2), max_iter=2, verbose=False).fit(corpus)
    assert light.n_iter_ == 2


@pytest.mark.parametrize("entry", [LDA, polyaurn.sweeps])
def test_docstrings_name_the_samplers_of_auto_and_point_to_the_list_of_all(entry):
    text = entry.__doc__
    part = text[text.index("    sampler : str") : text.index("    random_state :")]
    taken = {
        choose_sampler("auto", n_tokens=n, n_documents=1, n_topics=9, backend=where, learns=learns)
        for n in (9, 10**12) for where in ("cpu", "gpu") for learns in (False, True)
    }  # fmt: skip
    assert set(re.findall(r'"([a-z-]+)"', part)) == {"auto"} | taken
    assert "`polyaurn.chain.samplers.SAMPLERS`" in part
    start = {"collapsed"}  # which also is a start
    assert set(re.findall(r'"([a-z-]+)"', text)) & SAMPLERS.keys() <= taken | start


def test_words_to_complete_are_those_that_checks_take():
    taken = {"device": DEVICES, "cluster": tuple(ENGINES), "warm_start": WARM_STARTS,
             "topic_weights": WEIGHTS}  # fmt: skip
    assert {name: SETTINGS[name].choices for name in taken} == taken
    for name in ("device", "cluster"):
        assert all(f"'{word}'" in SETTINGS[name].about for word in taken[name])


def test_help_names_every_sampler():
    assert all(f"'{name}'" in SETTINGS["sampler"].about for name in SAMPLERS)
