"""The order of the packages: data flows down it, and no import goes up, lazy or for types."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import polyaurn

ROOT = Path(polyaurn.__file__).parent
ORDER = ("base", "files", "corpus", "datasets", "chain", "backends", "model", "training",
         "evaluate", "exchange", "pages", "plots", "estimator", "studies", "cli")  # fmt: skip
LOOSE = {"__init__", "__main__", "datasets"}


def modules(root=ROOT):
    """Return the source of every module by its name, without the package's own."""
    names = {file: file.relative_to(root).with_suffix("").parts for file in root.rglob("*.py")}
    return {".".join(parts): file.read_text("utf-8") for file, parts in names.items()}


def imports(name, sources):
    """Yield the modules that a module imports, wherever the import stands."""
    for node in ast.walk(ast.parse(sources[name])):
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name} has a relative import"
            found = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for target in found:
            parts = target.split(".")[1:] if target.startswith("polyaurn.") else []
            tried = [".".join(parts[:n]) for n in range(len(parts), 0, -1)]
            known = [t for t in tried if t in sources or f"{t}.__init__" in sources]
            if known:
                yield known[0] if known[0] in sources else f"{known[0]}.__init__"


def violations(sources):
    """Return imports that go up, import cycles, and modules outside the packages."""
    graph = {
        name: set(imports(name, sources)) for name in sources if name not in LOOSE - {"datasets"}
    }
    rank = {name: ORDER.index(name.split(".")[0]) for name in graph if name.split(".")[0] in ORDER}
    found = [f"{name} is outside the packages" for name in graph if name not in rank]
    for name in rank:
        found += [f"{name} imports {t}" for t in graph[name] if rank.get(t, 99) > rank[name]]
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        found.append(f"cycle: {' -> '.join(error.args[1])}")
    return found


def test_no_import_goes_up_or_round_and_every_module_is_in_a_package():
    assert violations(modules()) == []


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("base.errors", "def f():\n    from polyaurn.model.model import TopicModel"),
        ("base.errors", "if TYPE_CHECKING:\n    import polyaurn.chain.state"),
        ("base.checks", "x = 1"),
        ("corpus.text", "def f():\n    from polyaurn.corpus.readers import read_corpus"),
        ("loose", "x = 1"),
    ],
)
def test_a_planted_import_is_seen(name, source):
    sources = modules()
    clean = sources == sources | {name: sources.get(name, "") + "\n" + source}
    found = violations(sources | {name: sources.get(name, "") + "\n" + source})
    assert bool(found) == (source != "x = 1" or name == "loose"), clean
