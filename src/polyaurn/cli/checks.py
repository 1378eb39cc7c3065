"""Options checked before long work, and turned into parameters of Python; imports are deferred."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from polyaurn.base.errors import InputError
from polyaurn.chain.samplers import DEFAULT_SAMPLER
from polyaurn.cli.options import python_settings
from polyaurn.cli.steps import note


def check_settings(options: dict[str, Any], *, quiet: bool) -> dict[str, Any]:
    """Return options of a training as parameters of Python, checked before the corpus is read.

    The device is the one that is there; a note says so where it is not as was asked for.
    """
    from polyaurn.training.settings import LDA_MODEL, SETTINGS, Settings

    parameters = python_settings(options)
    checked = Settings(**parameters)
    if checked.model == LDA_MODEL:
        parameters = {n: v for n, v in parameters.items() if not SETTINGS[n].of_hdp}
    if "device" in parameters:
        parameters["device"] = choose_device(checked.device, checked.sampler, quiet=quiet)
    return parameters


def was_worker(options: dict[str, Any]) -> bool:
    """If this process is a worker, serve until another is done; return whether it was one.

    Of MPI's ranks only the first carries out the command, so that its messages come once.
    """
    from polyaurn.backends.sharded.registry import ENGINES, load_engine

    cluster = options["cluster"]
    return cluster in ENGINES and load_engine(cluster, options["address"]).serve()


def estimator_of(parameters: dict[str, Any]) -> "tuple[type[Any], dict[str, Any]]":
    """Return the estimator of the model that parameters of a training name, and its own."""
    from polyaurn.estimator.clusters import DocumentClusters
    from polyaurn.estimator.hdp import HDP
    from polyaurn.estimator.lda import LDA
    from polyaurn.estimator.model_parts import LDAInParts

    if "n_clusters" in parameters:
        return DocumentClusters, parameters
    if "model" not in parameters:
        return LDAInParts if parameters.get("cluster") else LDA, parameters
    own = {name: value for name, value in parameters.items() if name in HDP._get_param_names()}
    return HDP, own | {"max_components": parameters["n_components"]}


def choose_device(device: str, sampler: str = DEFAULT_SAMPLER, *, quiet: bool) -> str:
    """Return the backend that runs; say so if it is not the one asked for."""
    import warnings

    from polyaurn.backends.registry import check_device
    from polyaurn.base.errors import DeviceWarning

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", DeviceWarning)
        chosen = check_device(device, sampler)
    if said and not quiet:
        note(f"Note: {said[0].message}")
    return chosen


def check_words(words: int) -> None:
    """Reject a number of words below one, before long work."""
    if words < 1:
        raise InputError(f"The '--words' option must be at least 1. Got {words} instead.")


def check_not_both(resume: bool, force: bool) -> None:
    """Reject resuming a run and replacing it at once."""
    if resume and force:
        raise InputError(
            "The '--resume' option must stand without '--force'. Got both; the first resumes "
            "a run, the second starts again."
        )


def check_trace(path: Path | None, corpus: Path, force: bool) -> None:
    """Reject a trace file that would overwrite something, before long work."""
    if path is not None and path.exists() and (not force or path.resolve() == corpus.resolve()):
        raise InputError(
            f"The '--trace' option must name a new file. '{path}' is there already; choose another "
            "name, or replace an old trace with --force."
        )
    if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
        raise InputError(
            f"The '--trace' option must name a file in a folder that exists. Got '{path}'; create "
            "the folder or choose another name."
        )


def in_words(names: Sequence[str]) -> str:
    """Return names as a sentence lists them."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def check_only_for(option: str, given: bool, formats: str, *, here: bool) -> None:
    """Reject an option where it has no effect."""
    if given and not here:
        raise InputError(f"The '{option}' option is for {formats}. Leave it out here.")
