"""Topic models by the Pólya urn sampler: parallel, doubly sparse, reproducible.

The public names below are loaded when first used, so that ``import polyaurn`` is immediate.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from polyaurn._version import __version__

if TYPE_CHECKING:
    from polyaurn import datasets as datasets
    from polyaurn import diagnostics as diagnostics
    from polyaurn import evaluate as evaluate
    from polyaurn import exchange as exchange
    from polyaurn import plots as plots
    from polyaurn import posterior as posterior
    from polyaurn.comparing import compare
    from polyaurn.corpus import Corpus
    from polyaurn.errors import InputError
    from polyaurn.estimator import LDA
    from polyaurn.grid import topic_grid
    from polyaurn.importing import import_corpus
    from polyaurn.model import TopicModel
    from polyaurn.readers import read_corpus
    from polyaurn.report import write_report
    from polyaurn.sampler import sweeps
    from polyaurn.store import load

_HOME = {
    "Corpus": "polyaurn.corpus",
    "InputError": "polyaurn.errors",
    "LDA": "polyaurn.estimator",
    "TopicModel": "polyaurn.model",
    "compare": "polyaurn.comparing",
    "import_corpus": "polyaurn.importing",
    "load": "polyaurn.store",
    "read_corpus": "polyaurn.readers",
    "sweeps": "polyaurn.sampler",
    "topic_grid": "polyaurn.grid",
    "write_report": "polyaurn.report",
}
_MODULES = ("datasets", "diagnostics", "evaluate", "exchange", "plots", "posterior")

__all__ = [
    "LDA",
    "Corpus",
    "InputError",
    "TopicModel",
    "__version__",
    "compare",
    "datasets",
    "diagnostics",
    "evaluate",
    "exchange",
    "import_corpus",
    "load",
    "plots",
    "posterior",
    "read_corpus",
    "sweeps",
    "topic_grid",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name in _MODULES:
        return import_module(f"polyaurn.{name}")
    raise AttributeError(f"module 'polyaurn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
