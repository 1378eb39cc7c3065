"""Which GPU kernels there are, found in the source: importing them would need numba-cuda."""

import ast
from pathlib import Path

import polyaurn

FOLDER = Path(polyaurn.__file__).parent / "backends" / "gpu"


def kernels_in_source() -> list[tuple[str, str]]:
    """Return the module and the name of every kernel, or of the function that makes it."""
    return [
        (path.stem, function.name)
        for path in sorted(FOLDER.glob("*.py"))
        for function in ast.parse(path.read_text("utf-8")).body
        if isinstance(function, ast.FunctionDef) and _holds_kernel(function)
    ]


def _holds_kernel(function: ast.FunctionDef) -> bool:
    return any(
        ast.unparse(decorator) == "kernel"
        for inner in ast.walk(function)
        if isinstance(inner, ast.FunctionDef)
        for decorator in inner.decorator_list
    )
