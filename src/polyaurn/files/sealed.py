"""Files that belong together, under one header with their checksums.

Files are written first, each to a temporary name, flushed to the disk and renamed; the header comes
last, in the same way. A reader finds the old header with the old files, or the new header with the
new files, whenever the writer was killed. A header has a checksum of itself.
"""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from polyaurn.base.errors import InputError
from polyaurn.files.atomic import temporary_name

Write = Callable[[BinaryIO], object]
_MOST_HEADER = 1 << 26


class Damaged(Exception):  # noqa: N818
    """The files in a folder are not those that were written; the reason has no full stop."""

    def __init__(self, reason: str, most: int = 300) -> None:
        said = " ".join(reason.split())
        super().__init__(said if len(said) <= most else f"{said[:most]}...")


def seal(
    folder: Path, header_name: str, header: dict[str, Any], files: Mapping[str, Write]
) -> dict[str, Any]:
    """Write files and their header into a folder, replacing an earlier set; return the header.

    `files` maps each name to a function that writes it to an open binary file. "files" and
    "sha256" are added to the header, which must be ready for JSON.
    """
    made: list[Path] = []
    facts: dict[str, Any] = {}
    new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        before = _names_in(folder / header_name)
        for name, write in files.items():
            target = folder / (name if name not in before else _other(name))
            made.append(target)
            facts[name] = {"file": target.name, **_write(target, write)}
        whole = _write_header(folder / header_name, header, facts)
        made.clear()
        for name in before - {fact["file"] for fact in facts.values()}:
            (folder / name).unlink(missing_ok=True)
        if any(fact["file"] != name for name, fact in facts.items()):
            whole = _take_own_names(folder, header_name, header, facts)
        return whole
    except OSError as error:
        raise InputError(
            f"The folder '{folder}' cannot be written: {error.strerror or error}. Free some space "
            "or choose another folder."
        ) from None
    finally:
        for path in made:
            path.unlink(missing_ok=True)
        if new and made:
            _remove_if_empty(folder)


def unseal(
    folder: Path, header_name: str, format_name: str, newest: int, *, first_sealed: int = 1
) -> dict[str, Any]:
    """Read a header, and verify its checksum and those of its files.

    Its "format" must be `format_name`, and its "format_version" at most `newest`. Versions before
    `first_sealed` have no checksums, and are not verified.
    """
    header = read_header(folder / header_name)
    if header.get("format") != format_name:
        raise Damaged(f"{header_name} is of format {header.get('format')!r}")
    version = header.get("format_version")
    if type(version) is not int or version < 1:
        raise Damaged(f"{header_name} has format version {version!r}")
    if version > newest:
        raise InputError(
            f"The folder '{folder}' holds format version {version} of {format_name}, and this "
            f"polyaurn reads up to version {newest}; upgrade polyaurn to read it."
        )
    if version < first_sealed:
        return {name: value for name, value in header.items() if name != "files"}
    if header.get("sha256") != _digest({k: v for k, v in header.items() if k != "sha256"}):
        raise Damaged(f"{header_name} was changed after it was written")
    files = header.get("files")
    if not isinstance(files, dict):
        raise Damaged(f"{header_name} lists no files")
    for name, fact in files.items():
        _verify(folder, header_name, name, fact)
    return header


def read_header(path: Path) -> dict[str, Any]:
    """Return a header without verifying it; raise `Damaged` if it is not a JSON object."""
    try:
        if path.stat().st_size > _MOST_HEADER:
            raise Damaged(f"{path.name} is too large for a header")
        header = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        raise Damaged(f"{path.name} is not JSON") from None
    except OSError as error:
        raise Damaged(f"{path.name} cannot be read: {error.strerror or error}") from None
    if not isinstance(header, dict):
        raise Damaged(f"{path.name} is not a JSON object")
    return header


def file_of(folder: Path, header: dict[str, Any], name: str) -> Path:
    """Return the path of a file that is listed in a header returned by `unseal`."""
    if "files" not in header:  # of a version without checksums
        return folder / name
    if name not in header["files"]:
        raise Damaged(f"{name} is not listed")
    return folder / str(header["files"][name]["file"])


def both_names(names: Iterable[str]) -> set[str]:
    """Return the names that files may have: their own, and the one used while being replaced."""
    return {form for name in names for form in (name, _other(name))}


def replace_file(target: Path, text: bytes) -> None:
    """Write one file to a temporary name, flush it and rename it."""
    _write(target, lambda file: file.write(text))


def flush_folder(folder: Path) -> None:
    """Flush the entries of a folder to the disk, where the system can, so that renames last."""
    try:
        number = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows cannot open folders
        return
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _write(target: Path, write: Write) -> dict[str, Any]:
    """Write a file to a temporary name, flush it, rename it; return its size and checksum."""
    part = temporary_name(target)
    try:
        with part.open("x+b") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
            file.seek(0)
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            size = file.seek(0, os.SEEK_END)
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return {"bytes": size, "sha256": digest}


def _write_header(target: Path, header: dict[str, Any], facts: dict[str, Any]) -> dict[str, Any]:
    whole = header | {"files": facts}
    whole["sha256"] = _digest(whole)
    text = (json.dumps(whole, indent=2) + "\n").encode()
    _write(target, lambda file: file.write(text))
    flush_folder(target.parent)
    return whole


def _take_own_names(
    folder: Path, header_name: str, header: dict[str, Any], facts: dict[str, Any]
) -> dict[str, Any]:
    """Rename files that replaced others to their own names, so that folders have equal bytes."""
    others = {name: fact["file"] for name, fact in facts.items() if fact["file"] != name}
    for name, other in others.items():
        (folder / name).unlink(missing_ok=True)
        try:
            os.link(folder / other, folder / name)
        except OSError:  # this disk has no hard links
            shutil.copyfile(folder / other, folder / name)
    whole = _write_header(
        folder / header_name, header, {name: fact | {"file": name} for name, fact in facts.items()}
    )
    for other in others.values():
        (folder / other).unlink(missing_ok=True)
    return whole


def _verify(folder: Path, header_name: str, name: str, fact: Any) -> None:
    """Raise `Damaged` if a file is not as its header says."""
    file = fact.get("file") if isinstance(fact, dict) else None
    if file not in both_names([name]) or re.search(r"[/\\]|^\.", name):
        raise Damaged(f"{header_name} names a file {file!r}")
    path = folder / file
    try:
        if path.stat().st_size != fact.get("bytes"):
            raise Damaged(f"{file} has {path.stat().st_size:,} bytes, not {fact.get('bytes')!r}")
        with path.open("rb") as opened:
            found = hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        raise Damaged(f"{file} cannot be read: {error.strerror or error}") from None
    if found != fact.get("sha256"):
        raise Damaged(f"{file} was changed after it was written")


def _digest(header: dict[str, Any]) -> str:
    text = json.dumps(header, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _names_in(header: Path) -> set[str]:
    """Return the files that an earlier header lists, as far as it can be read."""
    try:
        files = read_header(header).get("files")
    except Damaged:
        return set()
    if not isinstance(files, dict):
        return set()
    listed = {fact.get("file") for fact in files.values() if isinstance(fact, dict)}
    return {name for name in listed if isinstance(name, str) and name in both_names(files)}


def _other(name: str) -> str:
    stem, dot, end = name.rpartition(".")
    return f"{stem}-2{dot}{end}"


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()
