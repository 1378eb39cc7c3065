"""Topic models by the Pólya urn sampler: parallel, doubly sparse, reproducible.

The public names below are loaded when first used, so that ``import polyaurn`` is immediate.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

from polyaurn.base.version import __version__

if TYPE_CHECKING:
    from polyaurn import datasets as datasets
    from polyaurn import evaluate as evaluate
    from polyaurn import exchange as exchange
    from polyaurn import plots as plots
    from polyaurn.base.errors import InputError
    from polyaurn.corpus.conversion import import_corpus
    from polyaurn.corpus.corpus import Corpus
    from polyaurn.corpus.readers import read_corpus
    from polyaurn.estimator.clusters import DocumentClusters
    from polyaurn.estimator.hdp import HDP
    from polyaurn.estimator.lda import LDA
    from polyaurn.estimator.over_time import TopicsOverTime
    from polyaurn.evaluate import diagnostics as diagnostics
    from polyaurn.evaluate import posterior as posterior
    from polyaurn.evaluate.difference import diff
    from polyaurn.evaluate.drift import drift
    from polyaurn.model.document_map import document_map
    from polyaurn.model.model import TopicModel
    from polyaurn.model.storage import load
    from polyaurn.model.topic_map import topic_map
    from polyaurn.pages.difference import write_diff
    from polyaurn.pages.inline import report
    from polyaurn.pages.report import write_report
    from polyaurn.studies.compare import compare
    from polyaurn.studies.topic_grid import topic_grid
    from polyaurn.training.sweeps import sweeps

_HOME = {
    "Corpus": "polyaurn.corpus.corpus",
    "DocumentClusters": "polyaurn.estimator.clusters",
    "HDP": "polyaurn.estimator.hdp",
    "InputError": "polyaurn.base.errors",
    "LDA": "polyaurn.estimator.lda",
    "TopicModel": "polyaurn.model.model",
    "TopicsOverTime": "polyaurn.estimator.over_time",
    "compare": "polyaurn.studies.compare",
    "diff": "polyaurn.evaluate.difference",
    "document_map": "polyaurn.model.document_map",
    "drift": "polyaurn.evaluate.drift",
    "import_corpus": "polyaurn.corpus.conversion",
    "load": "polyaurn.model.storage",
    "read_corpus": "polyaurn.corpus.readers",
    "report": "polyaurn.pages.inline",
    "sweeps": "polyaurn.training.sweeps",
    "topic_grid": "polyaurn.studies.topic_grid",
    "topic_map": "polyaurn.model.topic_map",
    "write_diff": "polyaurn.pages.difference",
    "write_report": "polyaurn.pages.report",
}
_MODULES = {
    "datasets": "polyaurn.datasets",
    "diagnostics": "polyaurn.evaluate.diagnostics",
    "errors": "polyaurn.base.errors",
    "evaluate": "polyaurn.evaluate",
    "exchange": "polyaurn.exchange",
    "matching": "polyaurn.model.distance",
    "plots": "polyaurn.plots",
    "posterior": "polyaurn.evaluate.posterior",
    "posterior.convergence": "polyaurn.evaluate.convergence",
    "state": "polyaurn.chain.state",
}

__all__ = [
    "HDP",
    "LDA",
    "Corpus",
    "DocumentClusters",
    "InputError",
    "TopicModel",
    "TopicsOverTime",
    "__version__",
    "compare",
    "datasets",
    "diagnostics",
    "diff",
    "document_map",
    "drift",
    "evaluate",
    "exchange",
    "import_corpus",
    "load",
    "plots",
    "posterior",
    "read_corpus",
    "report",
    "sweeps",
    "topic_grid",
    "topic_map",
    "write_diff",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name in _MODULES:
        return import_module(_MODULES[name])
    raise AttributeError(f"module 'polyaurn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


class _PublicModules(MetaPathFinder, Loader):
    """Make ``import polyaurn.errors`` work for modules that are stored under another name."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(name, self) if self._home(name) else None

    def exec_module(self, module: ModuleType) -> None:
        home = self._home(module.__name__)
        assert home
        sys.modules[module.__name__] = import_module(home)  # not a copy: classes stay the same

    def _home(self, name: str) -> str | None:
        package, _, public = name.partition(".")
        if package != __name__:
            return None
        head, _, rest = public.partition(".")
        home = _MODULES.get(public) or (_MODULES.get(head) and f"{_MODULES[head]}.{rest}")
        return home if home != name else None


sys.meta_path.insert(0, _PublicModules())  # before the folders are searched
