"""Document clusters at the command line: 'train --model clusters'. Heavy imports are deferred."""

from typing import Any

import typer

from polyaurn.base.checks import check_one_of, wrong
from polyaurn.base.errors import InputError
from polyaurn.cli.options import python_settings
from polyaurn.training.settings import OPTIONS, SETTINGS

LDA, HDP, CLUSTERS = KINDS = SETTINGS["model"].choices


def check_model(model: str, by: str | None) -> str:
    """Return the kind of model that is asked for."""
    check_one_of(model, "--model", KINDS)
    if model != LDA and by is not None:
        raise wrong("--by", f"left out with --model {model}", by, "take --model lda")
    return model


def cluster_parameters(context: typer.Context, options: dict[str, Any]) -> dict[str, Any]:
    """Return options of a training as parameters of `DocumentClusters`, checked.

    Options that are left out have its defaults, which also go into the file that repeats the run.
    """
    from polyaurn.backends.registry import ALWAYS
    from polyaurn.estimator.clusters import DocumentClusters
    from polyaurn.training.clusters import NAMES, check_cluster_settings

    given = {
        known.option
        for name, known in SETTINGS.items()
        if name != "model" and known.option and is_given(context, known.option)
    }
    defaults = DocumentClusters().get_params()
    taken = [name for name in OPTIONS if NAMES.get(name, name) in defaults]
    here = (*taken, *["device"] * (options["device"] in (ALWAYS, "auto")))
    others = [name for name in OPTIONS if SETTINGS[name].option in given and name not in here]
    if others:
        raise InputError(
            f"The '{OPTIONS[others[0]]}' option is for topics in mixtures. Got it with '--model "
            "clusters'; leave it out."
        )
    values = python_settings({name: options[name] for name in given})
    plain = {name: values.get(name, defaults[NAMES.get(name, name)]) for name in taken}
    check_cluster_settings(plain)
    for name in OPTIONS:
        if name != "model":
            context.params[SETTINGS[name].option] = plain.get(name)
    return {NAMES.get(name, name): value for name, value in plain.items()}


def is_given(context: typer.Context, option: str) -> bool:
    """Return whether the command line or a file of options sets an option."""
    source = context.get_parameter_source(option)
    return source is None or source.name != "DEFAULT"
