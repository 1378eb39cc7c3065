"""The faults of fuzz/planted_faults.py can still be planted: each text is in its file once."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def planted():
    spec = importlib.util.spec_from_file_location(
        "planted_faults", ROOT / "fuzz" / "planted_faults.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [*module.FAULTS, *module.KINDS]


@pytest.mark.parametrize("fault", planted(), ids=lambda fault: fault.what)
def test_a_fault_has_its_place_and_its_tests(fault):
    source = (ROOT / "src" / "polyaurn" / fault.file).read_text("utf-8")
    assert source.count(fault.right) == 1
    assert fault.right != fault.wrong
    assert all((ROOT / test.split("::")[0]).exists() for test in fault.tests)
