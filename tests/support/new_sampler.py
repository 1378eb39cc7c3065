"""Put the code blocks of docs/new_sampler.md into a copy of the package, and run its sampler.

``python -m support.new_sampler`` runs in the root of such a copy, with the copy's ``src`` and
``tests`` on the path, and prints what happened as JSON for ``tests/test_new_sampler_page.py``.
"""

import json
import re
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "new_sampler.md"
NAME = "plain-gibbs"
CONTRACT = "(odd and number_of_threads) or continuing_from or left_as_it_is or vector_priors"
DRAWS = 5_000  # enough to see the page's fault by far


def blocks():
    """Return the page's code blocks by their titles."""
    text = PAGE.read_text("utf-8")
    return dict(re.findall(r'```python title="(.*?)"\n(.*?)```', text, re.DOTALL))


def files_named():
    """Return the files of tests that the page says to run on every sampler."""
    return re.findall(r"^\| `(tests/.*?\.py)`", PAGE.read_text("utf-8"), re.MULTILINE)


def carry_out(copy):
    """Copy the package and its tests, with the page's blocks in their places."""
    for folder in ("src", "tests"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "docs").mkdir()
    for file in ("pyproject.toml", "docs/new_sampler.md"):
        shutil.copy(ROOT / file, copy / file)
    for title, block in blocks().items():
        name, _, dictionary = title.partition(", in ")
        text, end = "", 0
        if dictionary:  # the block is its last entry
            text = (copy / name).read_text("utf-8")
            end = text.index("\n}\n", text.index(f"\n{dictionary}: ")) + 1
        (copy / name).write_text(text[:end] + block + text[end:], "utf-8")


def chain(corpus, **options):
    """Return the topics after a few sweeps, counts and scores checked after each."""
    import numpy as np

    from polyaurn import sweeps
    from polyaurn.chain.state import check_invariants

    found = sweeps(corpus, 4, sampler=NAME, max_iter=6, evaluate_every=1, **options)
    for state, info in found:
        check_invariants(corpus.word, corpus.n_words, 4, state)
        assert np.isfinite(info.log_posterior)
        assert info.law == "exact"
    return state.z.tobytes()


def train():
    """Train at the command line; return the sampler of the model."""
    from polyaurn import load
    from polyaurn.cli import app

    Path("texts.txt").write_text("cat dog cat\nstar moon star\n" * 9)
    command = "polyaurn train texts.txt --topics 2 --sweeps 3 --out model --quiet --sampler"
    sys.argv = [*command.split(), NAME]
    with pytest.raises(SystemExit) as end:
        app.main()
    assert not end.value.code
    return load("model").parameters["sampler"]


class Outcomes:
    """Which tests pytest found, and how those that it ran ended."""

    def __init__(self):
        self.found, self.ended = [], {}

    def pytest_itemcollected(self, item):
        """Note a test, selected or not."""
        self.found += [item.nodeid] if NAME in item.nodeid else []

    def pytest_runtest_logreport(self, report):
        """Note how a test ended."""
        if report.when == "call":
            self.ended[report.nodeid.partition("::")[2]] = report.outcome


def p_values():
    """Return the p-values of one sweep from the posterior, of the sampler and of its faults."""
    from polyaurn.backends.registry import load_steps
    from support.enumeration import after_one_sweep
    from support.faults import FAULTS

    samplers = {"right": load_steps(NAME)} | {name: f() for name, f in FAULTS[NAME].items()}
    return {name: after_one_sweep(made, "asymmetric", DRAWS) for name, made in samplers.items()}


def main():
    import polyaurn

    corpus = polyaurn.datasets.generate(n_documents=40, n_words=60, n_topics=4)
    outcomes = Outcomes()
    said = {
        "package": polyaurn.__file__,
        "same": chain(corpus) == chain(corpus) == chain(corpus, n_jobs=3),
        "other": chain(corpus) != chain(corpus, random_state=1),
        "trained": train(),
        "p_values": p_values(),
    }
    chosen = f"{NAME} and ({CONTRACT})"
    pytest.main(["-q", "-p", "no:cacheprovider", "-k", chosen, *files_named()], [outcomes])
    print("\n" + json.dumps(said | {"found": outcomes.found, "ended": outcomes.ended}))


if __name__ == "__main__":
    main()
