"""Files that belong together, under one header with their checksums.

Files are written first, each to a temporary name, flushed to the disk and renamed, and their folder
is flushed; the header comes last, in the same way. A reader finds the old header with the old
files, or the new header with the new files, whenever the writer was killed or the power was cut.
A header has a checksum of itself.
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
from polyaurn.files.atomic import flush_file, flush_folder, make_folder, temporary_name

Write = Callable[[BinaryIO], object]
_MOST_HEADER = 1 << 26


class Damaged(Exception):  # noqa: N818
    """The files in a folder are not those that were written; the reason has no full stop."""

    def __init__(self, reason: str, most: int = 300) -> None:
        said = " ".join(reason.split())
        super().__init__(said if len(said) <= most else f"{said[:most]}...")


def seal(
    folder: Path,
    header_name: str,
    header: dict[str, Any],
    files: Mapping[str, Write],
    known: Iterable[str] = (),
    written: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Write files and their header into a folder, replacing an earlier set; return the header.

    `written` are files of the set that are there already, with what `write_file` returned of each.

    `files` maps each name to a function that writes it to an open binary file. "files" and
    "sha256" are added to the header, which must be ready for JSON. `known` are further names that
    an earlier set may have had. The caller has checked that files of these names are ours.
    """
    made: list[Path] = []
    facts: dict[str, Any] = {}
    new = not folder.exists()
    try:
        make_folder(folder)
        ours = both_names([*files, *known])
        before = names_in(folder / header_name, header["format"]) & ours
        for name, write in files.items():
            target = folder / (name if name not in before else _other(name))
            facts[name] = {"file": target.name, **_write(target, write)}
            made.append(target)
        facts |= written or {}
        flush_folder(folder)  # a header never lasts longer than its files
        whole = _write_header(folder / header_name, header, facts)
        made.clear()
        for name in before - {fact["file"] for fact in facts.values()}:
            (folder / name).unlink(missing_ok=True)
        if any(fact["file"] != name for name, fact in facts.items()):
            whole = _take_own_names(folder, header_name, header, facts)
        return whole
    except OSError as error:
        raise _not_written(folder, error) from None
    finally:
        for path in made:
            path.unlink(missing_ok=True)
        if new:
            _remove_if_empty(folder)


def write_file(folder: Path, name: str, write: Write) -> dict[str, Any]:
    """Write a file that a header will list; return what that says about it."""
    try:
        make_folder(folder)
        return {"file": name, **_write(folder / name, write)}
    except OSError as error:
        raise _not_written(folder, error) from None


def unseal(
    folder: Path,
    header_name: str,
    format_name: str,
    newest: int,
    *,
    first_sealed: int = 1,
    wanted: Callable[[dict[str, Any], str], bool] = lambda header, name: True,
) -> dict[str, Any]:
    """Read a header, and verify its checksum and those of its files.

    Its "format" must be `format_name`, and its "format_version" at most `newest`. Versions before
    `first_sealed` have no checksums, and are not verified. Only files that are `wanted`, given the
    header and a name, are verified.
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
        if wanted(header, name):
            _verify(folder, header_name, name, fact)
    return header


def reseal(folder: Path, header_name: str, header: dict[str, Any]) -> None:
    """Replace a header by one that lists the same files, completely or not at all.

    The files themselves are not touched. A header of a version without checksums gets none.
    """
    whole = {name: value for name, value in header.items() if name != "sha256"}
    if "sha256" in header:
        whole["sha256"] = _digest(whole)
    replace_file(folder / header_name, (json.dumps(whole, indent=2) + "\n").encode())


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


def names_in(header: Path, format_name: str) -> set[str]:
    """Return the files that an earlier header of a format lists, as far as it can be read."""
    try:
        found = read_header(header)
    except Damaged:
        return set()
    files = found.get("files")
    if found.get("format") != format_name or not isinstance(files, dict):
        return set()
    listed = {fact.get("file") for fact in files.values() if isinstance(fact, dict)}
    return {name for name in listed if isinstance(name, str)}


def replace_file(target: Path, text: bytes) -> None:
    """Write one file to a temporary name, flush it and rename it."""
    try:
        _write(target, lambda file: file.write(text))
        flush_folder(target.parent)
    except OSError as error:
        raise _not_written(target.parent, error) from None


def write_flushed(path: Path, text: bytes) -> None:
    """Write one file, whole or not, and flush it."""
    try:
        with path.open("wb") as file:
            file.write(text)
            file.flush()
            flush_file(file.fileno())
        flush_folder(path.parent)
    except OSError as error:
        raise _not_written(path.parent, error) from None


def _not_written(folder: Path, error: OSError) -> InputError:
    return InputError(
        f"The folder '{folder}' cannot be written: {error.strerror or error}. Free some space or "
        "choose another folder."
    )


def _write(target: Path, write: Write) -> dict[str, Any]:
    """Write a file to a temporary name, flush it, rename it; return its size and checksum."""
    part = temporary_name(target)
    try:
        with part.open("x+b") as file:
            write(file)
            file.flush()
            flush_file(file.fileno())
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
            with (folder / name).open("rb+") as file:
                flush_file(file.fileno())
    flush_folder(folder)
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


def _other(name: str) -> str:
    stem, dot, end = name.rpartition(".")
    return f"{stem}-2{dot}{end}"


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()
