"""What comes with the package: few others, and no more than it needs."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path


def required(name, seen):
    """Add a package and all that it asks for, extras left out."""
    name = re.sub(r"[-_.]+", "-", name).lower()
    if name in seen:
        return
    try:
        asked = distribution(name).requires or []
    except PackageNotFoundError:
        return  # for another system or another Python
    seen.add(name)
    for line in asked:
        requirement, _, condition = line.partition(";")
        if "extra" not in condition and "python_version <" not in condition:
            required(re.match(r"[\w.-]+", requirement.strip()).group(), seen)


def test_installing_pulls_in_under_20_packages():
    seen = set()
    required("polyaurn", seen)
    assert {"numpy", "llvmlite", "joblib"} < seen
    assert len(seen - {"polyaurn"}) < 20, sorted(seen)


def test_files_beside_the_modules_are_in_the_wheel():
    root = Path(__file__).parents[1]
    listed = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["setuptools"]
    package = root / "src" / "polyaurn"
    found = {f for pattern in listed["package-data"]["polyaurn"] for f in package.glob(pattern)}
    others = {f for f in package.rglob("*") if f.is_file() and "__pycache__" not in f.parts}
    assert {f for f in others if f.suffix != ".py"} == found


def test_documented_modules_are_found_under_their_public_names():
    import polyaurn

    assert polyaurn.state.on_host is not None
    assert issubclass(polyaurn.errors.DeviceError, polyaurn.InputError)


STATEMENTS = """
import sys
import polyaurn
assert not {"numpy", "numba", "scipy"} & set(sys.modules), "importing the package is immediate"
import polyaurn.errors
from polyaurn.errors import InputError
assert "numpy" not in sys.modules
import polyaurn.diagnostics
import polyaurn.posterior.convergence
import polyaurn.posterior.result as result
import polyaurn.state
from polyaurn.matching import match_topics
from polyaurn.posterior import Posterior
from polyaurn.state import on_host
import polyaurn.chain.state
import polyaurn.evaluate.posterior.result as home
assert InputError is polyaurn.InputError is polyaurn.base.errors.InputError
assert polyaurn.state is polyaurn.chain.state
assert polyaurn.chain.state.__spec__.name == "polyaurn.chain.state"
assert Posterior is result.Posterior is home.Posterior, "a module is not loaded twice"
assert polyaurn.posterior.convergence is polyaurn.evaluate.convergence
try:
    import polyaurn.no_such_module
except ModuleNotFoundError as error:
    assert error.name == "polyaurn.no_such_module"
    print("done")
"""


def test_documented_modules_are_imported_by_statements_of_version_0_1():
    done = subprocess.run([sys.executable, "-c", STATEMENTS], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("done\n", "")
