"""What comes with the package: few others, and no more than it needs."""

import re
from importlib.metadata import PackageNotFoundError, distribution


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


def test_documented_modules_are_found_under_their_public_names():
    import polyaurn

    assert polyaurn.state.on_host is not None
    assert issubclass(polyaurn.errors.DeviceError, polyaurn.InputError)
