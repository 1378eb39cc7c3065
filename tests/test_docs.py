"""Examples in the documentation are run, in order, a file at a time."""

import doctest
import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import polyaurn

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    page
    for page in sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")])
    if "```python" in page.read_text(encoding="utf-8")
]
MODULES = [
    name
    for name in ["polyaurn"]
    + [m.name for m in pkgutil.walk_packages(polyaurn.__path__, "polyaurn.") if not m.ispkg]
    if name != "polyaurn.cli.app"
]


# The pages also run where there is no GPU, where device="auto" warns that it takes the CPU.
@pytest.mark.filterwarnings("ignore::polyaurn.base.errors.DeviceWarning")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_on_the_page_runs(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(page), "exec"), names)
    assert capsys.readouterr().out


def test_the_readme_finds_the_two_subjects(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"```python\n(.*?)```", text, re.DOTALL).group(1)
    assert len([line for line in block.splitlines() if line.strip()]) <= 15
    exec(compile(block, "README.md", "exec"), {})
    first, second = capsys.readouterr().out.splitlines()
    assert ("cup" in first) != ("cup" in second)
    assert ("orbit" in first) != ("orbit" in second)


@pytest.mark.parametrize("module", MODULES)
def test_docstring_examples_run(module):
    failed, _ = doctest.testmod(importlib.import_module(module), optionflags=doctest.ELLIPSIS)
    assert failed == 0


def test_there_are_docstring_examples():
    finder = doctest.DocTestFinder()
    found = sum(
        len(test.examples) for m in MODULES for test in finder.find(importlib.import_module(m))
    )
    assert found > 5


def test_links_and_pictures_of_the_pages_exist():
    for page in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def public_names():
    """Yield what the package offers: where it is defined, and under which public name."""
    for name in polyaurn.__all__:
        found = getattr(polyaurn, name)
        if inspect.ismodule(found):
            for inner in getattr(found, "__all__", defined_in(found)):
                yield f"polyaurn.{name}.{inner}", getattr(found, inner)
        elif name != "__version__":
            yield f"polyaurn.{name}", found


def defined_in(module):
    return [
        name
        for name, found in vars(module).items()
        if not name.startswith("_") and getattr(found, "__module__", "") == module.__name__
    ]


def test_every_public_name_is_in_the_reference(tmp_path):
    """The page is built, so that methods which a class inherits are seen too."""
    pytest.importorskip("mkdocstrings", reason="mkdocstrings is not installed")
    site = tmp_path / "site"
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(site)],
        cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    page = (site / "reference" / "python.html").read_text(encoding="utf-8")
    there = set(re.findall(r'id="(polyaurn\.[\w.]+)"', page))
    missing = []
    for name, found in public_names():
        home = f"{found.__module__}.{found.__qualname__}"
        members = [
            f"{home}.{member}"
            for member in (dir(found) if inspect.isclass(found) else [])
            if not member.startswith("_") and from_here(found, member)
        ]
        missing += [(name, path) for path in (home, *members) if path not in there]
    assert not missing


def from_here(kind, member):
    """Return whether a method or property was written in this package."""
    home = next(base for base in kind.__mro__ if member in vars(base))
    found = vars(home)[member]
    written = isinstance(found, property | classmethod | staticmethod) or inspect.isfunction(found)
    return written and home.__module__.startswith("polyaurn.")
