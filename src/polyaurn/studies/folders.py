"""Folders of finished pieces of work: what they share is kept, and another setting refused."""

import json
from pathlib import Path
from typing import Any

from polyaurn.base.errors import InputError
from polyaurn.files.atomic import write_text
from polyaurn.files.locks import LOCK

SETTING = "setting.json"


def check_folder(path: Path, what: str) -> None:
    """Refuse a folder that is not for such work.

    Parameters
    ----------
    path : Path
        A new or empty folder, or that of earlier work.
    what : str
        The work, such as "sweep".
    """
    if path.exists() and not path.is_dir():
        raise InputError(
            f"The 'out' parameter must be a folder. '{path}' is a file; choose another name."
        )
    if (path / SETTING).exists() or not path.is_dir():
        return
    if any(entry.name != LOCK for entry in path.iterdir()):
        raise InputError(
            f"The 'out' parameter must be a new or empty folder, or one of an earlier {what}. "
            f"'{path}' holds other files, which are left alone; choose another folder."
        )


def agree(
    path: Path, format_name: str, setting: dict[str, Any], what: str, *, write: bool = True
) -> None:
    """Keep the setting in a new folder; refuse a folder whose setting is another.

    Parameters
    ----------
    path : Path
        The folder.
    format_name : str
        What its setting says it is.
    setting : dict
        What all pieces share, ready for JSON.
    what : str
        The work, such as "sweep".
    write : bool
        Whether to keep it.
    """
    file = path / SETTING
    header = {"format": format_name, "format_version": 1, "setting": setting}
    if not file.exists():
        if write:
            path.mkdir(parents=True, exist_ok=True)
            write_text(file, json.dumps(header, indent=1) + "\n")
        return
    found = read_json(file)
    there = found.get("setting")
    known = [found.get(name) for name in ("format", "format_version")] == [format_name, 1]
    if not known or not isinstance(there, dict):
        raise InputError(
            f"The file '{file}' must be the setting of a {what}. It is damaged, or of another "
            "program; choose another folder."
        )
    differing = [
        f"{name.replace('_', ' ')} {_brief(there.get(name))} there, {_brief(value)} now"
        for name, value in setting.items()
        if there.get(name) != value
    ]
    if differing:
        raise InputError(
            f"The folder '{path}' must hold a {what} of the same setting. It differs: "
            f"{'; '.join(differing)}. Choose another folder, or repeat the setting."
        )


def read_json(file: Path) -> dict[str, Any]:
    """Return what a JSON file holds; nothing where it cannot be read."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _brief(value: Any) -> str:
    text = value if isinstance(value, str) else "none" if value is None else json.dumps(value)
    return f"{text[:8]}..." if isinstance(value, str) and len(value) > 40 else text
