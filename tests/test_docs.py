"""Examples in the documentation are run, in order, a file at a time."""

import doctest
import importlib
import pkgutil
import re
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
