"""Examples in the documentation are run, in order, a file at a time."""

import doctest
import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import polyaurn
from polyaurn.chain.steps import LDASteps
from polyaurn.training.settings import Settings
from support.cells import write_h5ad
from support.chat_server import chat_server

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
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")  # of others
@pytest.mark.filterwarnings("ignore:.* documents with fewer than 10 tokens were dropped")  # cells
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_on_the_page_runs(page, tmp_path, monkeypatch, capsys):
    """A small server stands in for a language model, and a small file for cells."""
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    if "cells.h5ad" in text:
        write_h5ad(tmp_path / "cells.h5ad")
    names: dict[str, object] = {}
    with chat_server("Space", "Football") as server:
        text = text.replace("http://localhost:11434/v1", server.url)
        blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
        assert blocks
        for block in blocks:
            run_block(block, page, names)
    said = capsys.readouterr().out
    assert said
    if page.name == "tutorial.md":
        for shown in re.findall(r"```text\n(.*?)```", text, re.DOTALL):
            assert plain(shown) in plain(said)
        (quoted,) = re.findall(r"^(?:> .*\n)+", text, re.MULTILINE)
        assert plain(quoted.replace("> ", "")) in plain(said)


def plain(text):
    return " ".join(text.split())


def run_block(block, page, names):
    """Run Python of a page; skip the page where a package of others is missing."""
    try:
        exec(compile(block, str(page), "exec"), names)
    except ModuleNotFoundError as error:
        if str(error.name).startswith("polyaurn"):
            raise
        pytest.skip(f"{error.name} is not installed")


NOT_RUN = {
    "coming_from.md": "which downloads a language model",
    "preparing_text.md": "not run in the tests, since pipelines are large downloads",
}
CODE = re.compile(
    r"^(import \w|from \w+ import |polyaurn [a-z]|(\w+(, \w+)* = )?(exchange|polyaurn|topica)\.)",
    re.MULTILINE,
)


def test_code_is_in_blocks_that_run_or_the_page_says_why_not():
    for page in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]:
        text = page.read_text(encoding="utf-8")
        blocks = re.findall(r"^ *```(\w*).*?\n(.*?)```", text, re.MULTILINE | re.DOTALL)
        assert {kind for kind, _ in blocks} <= {"python", "sh", "text", "toml", "py"}, page.name
        assert not [b for kind, b in blocks if kind == "text" and CODE.search(b)], page.name
        not_run = [body for kind, body in blocks if kind == "py"]
        assert len(not_run) == (page.name in NOT_RUN), page.name
        assert NOT_RUN.get(page.name, "") in " ".join(text.split()), page.name


def test_the_readme_finds_the_two_subjects(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"```python\n(.*?)```", text, re.DOTALL).group(1)
    assert len([line for line in block.splitlines() if line.strip()]) <= 15
    exec(compile(block, "README.md", "exec"), {})
    first, second = capsys.readouterr().out.splitlines()
    assert ("cup" in first) != ("cup" in second)
    assert ("orbit" in first) != ("orbit" in second)


def test_the_topics_of_the_hdp_page_are_those_it_shows(capsys):
    text = (ROOT / "docs" / "hdp.md").read_text(encoding="utf-8")
    block, shown = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", text, re.DOTALL).groups()
    exec(compile(block, "hdp.md", "exec"), {})
    assert capsys.readouterr().out == shown


def test_the_page_on_priors_compares_given_with_learned_ones(capsys):
    text = (ROOT / "docs" / "priors.md").read_text(encoding="utf-8")
    exec(
        compile(re.search(r"```python\n(.*?)```", text, re.DOTALL).group(1), "priors.md", "exec"),
        {},
    )
    given, learned = capsys.readouterr().out.splitlines()
    assert given == "[0.1 0.1 0.1 0.1 0.1 0.1 0.1 0.1] 0.01"
    assert learned != given


def test_the_page_on_models_shows_the_code():
    text = (ROOT / "docs" / "new_model.md").read_text(encoding="utf-8")
    learning, parameter = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    source = textwrap.dedent(inspect.getsource(LDASteps.draw_priors))
    assert learning == re.sub(r'\n    """.*?"""', "", source)
    settings = textwrap.dedent(inspect.getsource(inspect.getmodule(Settings)))
    assert textwrap.indent(parameter.rstrip(), "    ") in settings


def test_the_topics_of_the_tutorial_are_those_it_shows(capsys):
    text = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL)[:2]:
        exec(compile(block, "tutorial.md", "exec"), names)
    said = capsys.readouterr().out
    shown = re.findall(r"```text\n(.*?)```", text, re.DOTALL)[:2]
    assert all(part in said for part in shown)
    for page in ("README.md", "docs/index.md"):  # some of these topics
        first = re.search(r"```text\n(.*?)```", (ROOT / page).read_text("utf-8"), re.DOTALL)[1]
        assert set(first.splitlines()) <= {*shown[1].splitlines(), "..."}, page


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


def prose(page):
    """Return the lines of a page that can be wrapped, numbered: no code, table or picture."""
    code = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
    text = code.sub(lambda block: "\n" * block[0].count("\n"), page)
    lines = enumerate(map(str.strip, text.splitlines()), 1)
    return [(n, line) for n, line in lines if line and not line.startswith(("|", "![", "#"))]


def test_prose_is_wrapped():
    """Generated pages and words longer than a line, such as addresses, are left out."""
    assert prose("a\n```\nb\n```\n| c |\nd") == [(1, "a"), (6, "d")]
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("*/README.md")]
    long = [
        f"{page.relative_to(ROOT)}:{n}"
        for page in pages
        if page.name != "summary.md"
        for n, line in prose(page.read_text(encoding="utf-8"))
        if len(line) > 120 and len(max(line.split(), key=len)) < 100
    ]
    assert not long


def public_names(module=polyaurn):
    """Yield what the package offers: its public name, and what has it; modules are opened."""
    for name in getattr(module, "__all__", None) or defined_in(module):
        found = getattr(module, name)
        if inspect.ismodule(found):
            yield from public_names(found)
        elif name != "__version__":
            yield f"{module.__name__}.{name}", found


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


def test_programs_that_the_pages_name_exist():
    folders = ("src", "tests", "benchmarks", "fuzz", "docs")
    files = [f"/{p.relative_to(ROOT)}" for name in folders for p in (ROOT / name).rglob("*.py")]
    first = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    for page in [*first, *(p for name in folders for p in (ROOT / name).rglob("*.md"))]:
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for name in set(re.findall(r"`([\w/.-]+\.py)\b", text)):
            assert any(file.endswith(f"/{name}") for file in files), f"{page.name}: {name}"
