"""Every parameter of a training is spelled once: all who take it are held against `Settings`."""

import inspect
import json
import re
import tomllib
from dataclasses import fields

import numpy as np
import pytest

import polyaurn
from polyaurn import LDA, InputError, datasets, sweeps, topic_grid
from polyaurn.chain.samplers import SAMPLERS
from polyaurn.cli.app import NAMES, app
from polyaurn.cli.options import python_settings
from polyaurn.training.settings import SETTINGS, Settings

ONLY_OF_SWEEPS = {"corpus", "pseudo_counts", "start", "on_compile"}
OF_GRID = {"max_iter", "doc_topic_prior", "topic_word_prior", "sampler", "random_state", "n_jobs",
           "device"}  # fmt: skip
DEFAULTS = {field.name: field.default for field in fields(Settings)}


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
    assert missing(LDA.__init__, SETTINGS) == set()
    assert set(LDA().get_params()) == set(SETTINGS)


def test_sweeps_has_the_settings_of_a_chain():
    of_chain = {name for name, known in SETTINGS.items() if known.of_chain}
    own = ONLY_OF_SWEEPS | {"max_iter"}  # without it the generator never ends
    assert missing(sweeps, of_chain - {"max_iter"}, own) == set()
    assert "max_iter" in parameters(sweeps)


def test_a_setting_that_is_forgotten_is_seen():
    def forgetful(n_components=100, max_iter=1000):
        """Lack the rest."""

    assert missing(forgetful, SETTINGS) == set(SETTINGS) - {"n_components", "max_iter"}

    def other(n_components=99):
        """Have another default."""

    assert missing(other, {"n_components"}) == {"n_components"}


def test_the_topic_grid_has_the_settings_it_shares():
    has = parameters(topic_grid)
    assert set(has) >= OF_GRID
    for name in OF_GRID - {"max_iter"}:  # fewer sweeps are enough to compare
        assert has[name] == DEFAULTS[name]


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
    assert named - set(config) <= {"mh-steps", "seed-words"}  # None is not written
    header = json.loads((tmp_path / "m" / "model.json").read_text())["parameters"]["run"]
    assert set(header) - {"corpus", "corpus_sha256"} == {
        name for name, known in SETTINGS.items() if known.fixes_chain
    }


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


@pytest.mark.parametrize("text", [LDA.__doc__, polyaurn.sweeps.__doc__], ids=["LDA", "sweeps"])
def test_docstrings_name_only_samplers_that_there_are(text):
    part = text[text.index("    sampler : str") : text.index("    random_state :")]
    named = set(re.findall(r'"([a-z-]+)"', part))
    assert {"auto", "partitioned", "polya-urn"} <= named <= {"auto", *SAMPLERS}


def test_help_names_every_sampler():
    assert all(f"'{name}'" in SETTINGS["sampler"].about for name in SAMPLERS)
