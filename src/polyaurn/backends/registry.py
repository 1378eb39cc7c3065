"""The list of backends, how users choose one, and the steps of a sampler on it."""

import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, overload

from polyaurn.backends.backend import Backend, MakeSteps
from polyaurn.backends.cpu.backend import CPU
from polyaurn.backends.gpu.backend import GPU
from polyaurn.base.checks import check_one_of
from polyaurn.base.errors import DeviceWarning, InputError
from polyaurn.chain.samplers import AUTO, DEFAULT_SAMPLER, SAMPLERS, check_sampler, samplers_on

if TYPE_CHECKING:
    from polyaurn.backends.cpu.steps import CPUSteps

BACKENDS: dict[str, Backend] = {backend.name: backend for backend in (CPU(), GPU())}
ALWAYS = "cpu"
DEVICES = (*BACKENDS, "auto")


def check_device(
    device: Any, sampler: str = DEFAULT_SAMPLER, name: str = "device", *, stacklevel: int = 3
) -> str:
    """Return the name of the backend that a user asks for, which must run the sampler.

    "auto" takes the last backend of the list that can, and warns where that is the CPU;
    `stacklevel` says how far up the user's line is.
    """
    check_one_of(device, name, DEVICES)
    if device != "auto":
        lacking = _lacking(device, sampler)
        if lacking is None:
            return str(device)
        raise InputError(
            f"The '{name}' parameter is {device!r}, but {lacking}. Use {ALWAYS!r}, or 'auto' to "
            f"take a {device.upper()} only where there is one."
        )
    lacks = {backend: _lacking(backend, sampler) for backend in reversed(BACKENDS)}
    chosen = next(backend for backend, lacking in lacks.items() if lacking is None)
    if chosen == ALWAYS:
        why = next(lacking for lacking in lacks.values() if lacking)
        warnings.warn(f"Running on the CPU: {why}.", DeviceWarning, stacklevel=stacklevel)
    return chosen


def _lacking(backend: str, sampler: str) -> str | None:
    lacking = BACKENDS[backend].missing()
    if lacking is None and sampler != AUTO and backend not in SAMPLERS[sampler].backends:
        having = ", ".join(samplers_on(backend))
        return f"sampler {sampler!r} has no kernels for it ({having} have)"
    return lacking


@overload
def load_steps(sampler: str, backend: Literal["cpu"] = ...) -> "type[CPUSteps]": ...


@overload
def load_steps(sampler: str, backend: str) -> MakeSteps[Any, Any, Any]: ...


def load_steps(sampler: str, backend: str = ALWAYS) -> MakeSteps[Any, Any, Any]:
    """Return the class of a sampler's steps; its file is named as the sampler is."""
    module = check_sampler(sampler).replace("-", "_")
    made: MakeSteps[Any, Any, Any] = import_module(f"polyaurn.backends.{backend}.{module}").Steps
    return made
