"""The paper's theory made visible: studies that return numbers, and pictures of them.

Each module has ``study() -> dict`` and ``draw(result, path)``; `run` writes both files.
"""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

from polyaurn.base.checks import check_one_of
from polyaurn.base.errors import InputError
from polyaurn.files.atomic import new_file, write_text
from polyaurn.plots.axes import check_matplotlib

STUDIES = {"appendix-a": "appendix_a", "urn": "urn", "complexity": "complexity"}


def module_of(study: str) -> Any:
    """Return the module of a study."""
    return import_module(f"polyaurn.studies.paper.theory.{STUDIES[study]}")


def run(name: str, folder: str | Path, **options: Any) -> tuple[Path, Path, dict[str, Any]]:
    """Do a study and write ``NAME.json`` and ``NAME.png``; return both files and the result."""
    check_one_of(name, "study", STUDIES)
    check_matplotlib()
    import matplotlib

    matplotlib.use("agg", force=False)
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"The folder '{folder}' cannot be written: {error.strerror}. Choose another folder."
        ) from None
    module = module_of(name)
    result = module.study(**options)
    numbers, picture = target / f"{name}.json", target / f"{name}.png"
    with new_file(picture) as fresh:
        module.draw(result, fresh)
    write_text(numbers, json.dumps(result, indent=1) + "\n")
    return numbers, picture, result
