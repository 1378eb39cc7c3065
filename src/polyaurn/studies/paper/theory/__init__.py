"""The paper's theory made visible: studies that return numbers, and pictures of them.

Each module has ``study() -> dict`` and ``draw(result, path)``; `run` writes both files.
"""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

from polyaurn.base.errors import InputError

STUDIES = {"appendix-a": "appendix_a", "urn": "urn", "complexity": "complexity"}


def run(name: str, folder: str | Path, **options: Any) -> tuple[Path, Path, dict[str, Any]]:
    """Do a study and write ``NAME.json`` and ``NAME.png``.

    Parameters
    ----------
    name : str
        A name from `STUDIES`.
    folder : str or Path
        Where the files go; made if it is not there.
    **options
        For the study.

    Returns
    -------
    json_file, png_file : Path
        What was written.
    result : dict
        What is in the JSON file.
    """
    if name not in STUDIES:
        raise InputError(
            f"The 'study' parameter must be one of {', '.join(map(repr, STUDIES))}. Got {name!r} "
            "instead."
        )
    check_matplotlib()
    module = import_module(f"polyaurn.studies.paper.theory.{STUDIES[name]}")
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
        result = module.study(**options)
        files = target / f"{name}.json", target / f"{name}.png"
        parts = [file.with_name(f".{file.name}") for file in files]
        parts[0].write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        module.draw(result, parts[1])
        for part, file in zip(parts, files, strict=True):
            part.replace(file)
    except OSError as error:
        raise InputError(
            f"The folder '{folder}' cannot be written: {error.strerror}. Choose another folder."
        ) from None
    return *files, result


def check_matplotlib() -> None:
    """Say what to install when there is nothing to draw with."""
    try:
        import matplotlib
    except ImportError:
        raise InputError(
            "Pictures need the package matplotlib. Install it with: pip install 'polyaurn[plots]'."
        ) from None
    matplotlib.use("agg", force=False)
