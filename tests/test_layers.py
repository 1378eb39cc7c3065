"""The order of the packages: data flows down it, and no import goes up, lazy or for types."""

import ast
import re
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import polyaurn
from polyaurn import _HOME, _MODULES
from polyaurn.backends.registry import BACKENDS

ROOT = Path(polyaurn.__file__).parent
ORDER = ("base", "files", "corpus", "datasets", "chain", "backends", "model", "training",
         "evaluate", "exchange", "pages", "plots", "estimator", "studies", "cli")  # fmt: skip
LOOSE = {"__init__", "__main__", "datasets"}
PUBLIC = {
    name: home.removeprefix("polyaurn.") for name, home in (_HOME | _MODULES).items()
}  # names that users import
NAME = re.compile(r"polyaurn\.[\w.]*(?![\w.(])")  # of a module, in text that begins with it
LONGEST = 500  # lines of a file


def modules(root=ROOT):
    """Return the source of every module by its name, without the package's own."""
    names = {file: file.relative_to(root).with_suffix("").parts for file in root.rglob("*.py")}
    return {".".join(parts): file.read_text("utf-8") for file, parts in names.items()}


@cache
def nodes(source):
    """Return all nodes of a syntax tree."""
    return tuple(ast.walk(ast.parse(source)))


def imports(name, sources):
    """Yield the modules that a module imports or names, wherever it does; `__init__` is all.

    Text that begins with a module's name counts: it is imported by name, runs in another process or
    is an annotation. Of text that is put together, the part that is written out counts.
    """
    for node in nodes(sources[name]):
        found = []
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name} has a relative import"
            found = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call) and "import" in ast.unparse(node.func):
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            found = [a.value for a in given if getattr(a, "value", None) == "polyaurn"]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found = [match[0].rstrip(".") for match in [NAME.match(node.value)] if match]
        for target in found:
            package, *parts = target.split(".")
            if package == "polyaurn" and (home := resolved(parts, sources)) != name:
                yield home


def resolved(parts, sources):
    """Return the module of a name inside the package, a public one perhaps."""
    for n in range(len(parts), 0, -1):
        tried = ".".join(parts[:n])
        tried = PUBLIC.get(tried, tried)
        if tried in sources:
            return tried
        if f"{tried}.__init__" in sources:
            return f"{tried}.__init__"
    return "__init__"


def violations(sources):
    """Return imports that go up, import cycles, and modules outside the packages."""
    graph = {
        name: set(imports(name, sources)) for name in sources if name not in LOOSE - {"datasets"}
    }
    tops = {name: name.split(".")[0] for name in graph if "." in name or name in LOOSE}
    rank = {name: ORDER.index(top) for name, top in tops.items() if top in ORDER}
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
        ("chain.loop", "def f():\n    import polyaurn"),
        ("chain.loop", "from polyaurn import LDA"),
        ("chain.loop", "from polyaurn.matching import match_topics"),
        ("base.checks", "from polyaurn.state import Counts"),
        ("cli", "x = 1"),
        ("chain.loop", "import_module('polyaurn.cli.app')"),
        ("chain.loop", "import_module('polyaurn')"),
        ("chain.loop", "import_module(name='polyaurn.cli.app')"),
        ("chain.loop", "import_module(f'polyaurn.cli.{x}')"),
        ("chain.loop", "import_module('polyaurn.' + 'cli.app')"),
        ("chain.loop", "__import__('polyaurn.cli.app')"),
        ("chain.loop", "PROGRAM = 'polyaurn.cli.app:main'"),
        ("chain.loop", "x: 'polyaurn.cli.app.X | None'"),
    ],
)
def test_a_planted_import_is_seen(name, source):
    sources = modules()
    clean = sources == sources | {name: sources.get(name, "") + "\n" + source}
    found = violations(sources | {name: sources.get(name, "") + "\n" + source})
    assert bool(found) == (source != "x = 1" or "." not in name), clean


@pytest.mark.parametrize("folder", ["src", "tests", "benchmarks", "fuzz", "docs"])
def test_no_file_is_too_long_to_read(folder):
    files = (Path(__file__).parents[1] / folder).rglob("*.py")
    lines = {file: len(file.read_text("utf-8").splitlines()) for file in files}
    assert {file: n for file, n in lines.items() if n > LONGEST} == {}


def compared(node):
    """Return what a comparison holds something against, without a key that is looked up."""
    if isinstance(node, ast.MatchValue):
        return [node.value]
    if not isinstance(node, ast.Compare):
        return []
    looked_up = isinstance(node.ops[0], ast.In | ast.NotIn)
    return node.comparators if looked_up else [node.left, *node.comparators]


def compared_backends(sources):
    """Return where a file outside `backends` compares something with a backend's name."""
    return [
        f"{name}:{node.lineno}"
        for name, source in sources.items() if not name.startswith("backends.")
        for node in nodes(source)
        for side in compared(node)
        for part in getattr(side, "elts", [side])
        if isinstance(part, ast.Constant) and part.value in BACKENDS
    ]  # fmt: skip


def test_no_file_outside_backends_compares_with_the_name_of_one():
    assert compared_backends(modules()) == []


@pytest.mark.parametrize(
    "source",
    ["a = device != 'cpu'", "a = 'gpu' == device", "a = device in ('cpu', 'auto')",
     "match device:\n    case 'gpu':\n        pass"],
)  # fmt: skip
def test_a_planted_comparison_is_seen(source):
    assert len(compared_backends({"training.run": source})) == 1
    assert compared_backends({"backends.registry": source}) == []
    assert compared_backends({"training.run": "a = 'gpu' in facts and facts['gpu'] == 1"}) == []
