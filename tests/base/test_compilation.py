"""Kernels on the disk: used again while all their sources are the same, and never after."""

import ast
import os
import shutil
import subprocess
import sys
import warnings
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import walk_packages

import pytest

import polyaurn
from polyaurn.base import compilation as machine_code
from polyaurn.base.errors import CompilationWarning
from polyaurn.cli import app

PACKAGE = Path(polyaurn.__file__).parent
COMPILED = {"njit", "kernel", "device_function"}
NUMBER = """
from polyaurn.base.compilation import njit


@njit(cache=True)
def number():
    return {}
"""
USER = """
from {njit} import njit
from polyaurn.backends.other import number


@njit(cache=True)
def use():
    return number()


if __name__ == "__main__":
    from polyaurn.backends.user import use

    print(use(), sum(use.stats.cache_hits.values()))
"""


@pytest.fixture
def package(tmp_path):
    """Make a package of our name in which one kernel calls a function of another file."""
    for name in ("__init__.py", "base/__init__.py", "backends/__init__.py", *machine_code.FILES):
        (tmp_path / "polyaurn" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "polyaurn" / name).touch()
    for name in ("base/compilation.py", "base/version.py"):
        shutil.copy(PACKAGE / name, tmp_path / "polyaurn" / name)
    (tmp_path / "polyaurn" / "backends" / "other.py").write_text(NUMBER.format(1))
    return tmp_path / "polyaurn" / "backends"


def use(package):
    """Return what the kernel returns in a new process, and how much of it was on the disk."""
    command = [sys.executable, "-m", "polyaurn.backends.user"]
    done = subprocess.run(
        command, cwd=package.parent.parent, capture_output=True, text=True, check=True
    )
    return tuple(map(int, done.stdout.split()))


def change(package):
    (package / "other.py").write_text(NUMBER.format(2))


def test_a_kernel_follows_what_it_calls(package):
    (package / "user.py").write_text(USER.format(njit="polyaurn.base.compilation"))
    assert use(package) == (1, 0)
    assert use(package) == (1, 1)
    change(package)
    assert use(package) == (2, 0)
    assert use(package) == (2, 1)


def test_by_itself_numba_would_not(package):
    (package / "user.py").write_text(USER.format(njit="numba"))
    assert use(package) == (1, 0)
    change(package)
    assert use(package) == (1, 1)  # the old number


def test_without_sources_the_version_counts(monkeypatch, tmp_path):
    monkeypatch.setattr(machine_code, "_PACKAGE", tmp_path)
    assert machine_code.stamp.__wrapped__() == polyaurn.__version__


def modules(folder):
    package = import_module(f"polyaurn.{folder}")
    found = walk_packages(package.__path__, f"{package.__name__}.")
    return [package, *(import_module(module.name) for module in found)]


@pytest.mark.parametrize("folder", machine_code.FOLDERS)
def test_every_kernel_is_kept_by_all_sources(folder):
    if find_spec("numba_cuda") is None:
        pytest.skip("numba-cuda is not installed")
    stamps = {
        f"{module.__name__}.{name}": value._cache._cache_file._source_stamp
        for module in modules(folder)
        for name, value in vars(module).items()
        if hasattr(getattr(value, "_cache", None), "_cache_file")
    }
    assert len(stamps) > 10
    assert {stamp[1] for stamp in stamps.values()} == {machine_code.stamp()}


def outside(tree):
    """Return names that a module has from files of ours by which kernels are not kept."""
    inside = {file.relative_to(PACKAGE).with_suffix("").parts for file in machine_code.sources()}
    known = {(*parts[:-1],) if parts[-1] == "__init__" else parts for parts in inside}
    names = set()
    for node in ast.walk(tree):
        ours = isinstance(node, ast.ImportFrom) and (node.module or "").startswith("polyaurn.")
        if ours and tuple(node.module.split(".")[1:]) not in known:
            names |= {alias.asname or alias.name for alias in node.names}
    return names


def held(function):
    """Return names that a function has from its module."""
    names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
    own = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    own |= {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    return {node.id for node in names} - own


def compiled_functions(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            called = [d.func if isinstance(d, ast.Call) else d for d in node.decorator_list]
            if {d.id for d in called if isinstance(d, ast.Name)} & COMPILED:
                yield node


def test_kernels_hold_nothing_from_other_files():
    seen = 0
    for file in machine_code.sources():
        tree = ast.parse(file.read_text(encoding="utf-8"))
        names = outside(tree)
        for function in compiled_functions(tree):
            wrong = held(function) & names
            assert not wrong, f"{file.name}: {function.name} holds {wrong}"
            seen += 1
    assert seen > 100
    planted = (
        "from polyaurn.base.errors import A, B\n@njit(cache=True)\ndef f(B):\n    return A + B\n"
    )
    tree = ast.parse(planted)
    [function] = compiled_functions(tree)
    assert held(function) & outside(tree) == {"A"}


NOWHERE = """
import sys, warnings
from numba.core import caching
caching.CacheImpl._locator_classes = [caching.UserProvidedCacheLocator]
if sys.argv[1] == "full":
    def full(*arguments):
        raise OSError(28, "No space left on device")
    caching.IndexDataCacheFile.save = full
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    from polyaurn.evaluate import coherence
    from polyaurn.exchange import mallet_state
    texts = [["moon", "orbit", "moon"], ["goal", "team"], ["orbit", "moon"]]
    print(coherence([["moon", "orbit"]], texts).round(6).tolist())
print(*[f"{w.category.__name__}: {w.message}" for w in said], sep="\\n")
"""


@pytest.mark.parametrize("case", ["no folder", "full"])
def test_without_a_folder_for_compiled_code_it_is_compiled_in_memory(tmp_path, case):
    """Read-only containers have none; a disk may also be full by the time it is written."""
    (tmp_path / "file").write_text("")
    folder = tmp_path / ("file" if case == "no folder" else "cache")
    done = subprocess.run(
        [sys.executable, "-c", NOWHERE, case], capture_output=True, text=True, check=True,
        env=os.environ | {"NUMBA_CACHE_DIR": str(folder / "inside")},
    )  # fmt: skip
    value, *said = done.stdout.splitlines()
    assert value == "[1.0]"
    assert len(said) == 1
    assert said[0].startswith("CompilationWarning: Compiled code cannot be kept on the disk (")
    assert "NUMBA_CACHE_DIR" in said[0]
    assert done.stderr == ""


def test_the_command_line_says_so_as_a_note(capsys):
    with app._compilation_noted():
        warnings.warn("it is not kept", CompilationWarning, stacklevel=1)
    assert capsys.readouterr().err == "Note: it is not kept\n"
