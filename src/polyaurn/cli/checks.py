"""Options checked before long work, and turned into parameters of Python. Heavy imports wait."""

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
    from polyaurn.training.settings import Settings

    parameters = python_settings(options)
    checked = Settings(**parameters)
    if "device" in parameters:
        parameters["device"] = choose_device(checked.device, checked.sampler, quiet=quiet)
    return parameters


def choose_device(device: str, sampler: str = DEFAULT_SAMPLER, *, quiet: bool) -> str:
    """Return the backend that runs; say so where it is not as was asked for."""
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


def check_only_for(option: str, given: bool, formats: str, *, here: bool) -> None:
    """Reject an option where it means nothing."""
    if given and not here:
        raise InputError(f"The '{option}' option is for {formats}. Leave it out here.")
