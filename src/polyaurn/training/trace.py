"""The trace on disk: a JSON record per sweep, under a temporary name until training ends."""

import json
import warnings
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from polyaurn.base.errors import CheckpointWarning
from polyaurn.chain.state import Info
from polyaurn.files.atomic import flush_file, flush_folder, temporary_name


class TraceFile:
    """Write the trace as it grows to ``.FILE.XXXXXXXX.new``, renamed to ``FILE`` at the end.

    A disk that is full does not end the run: a warning says once that there is no trace, and the
    whole trace is written at the end if there is space by then.

    Parameters
    ----------
    path : Path or None
        None writes nothing.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._part = None if path is None else temporary_name(path)
        self._file: TextIO | None = None
        self._failed = False

    def write(self, state: Any, info: Info) -> None:
        """Add one record; usable as a callback of `LDA`."""
        if not self._failed:
            self._add([info.record()])

    def rewrite(self, records: list[dict[str, Any]]) -> None:
        """Put all records in place of those so far, the ones before a resumption included."""
        self._discard()
        self._add(records)

    def _add(self, records: list[dict[str, Any]]) -> None:
        if self._part is None:
            return
        try:
            if self._file is None:
                self._file = self._part.open("w", encoding="utf-8", buffering=1)
            self._file.writelines(json.dumps(record) + "\n" for record in records)
            self._file.flush()
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        """Say once that there is no trace, and free what it took of the disk."""
        self._discard()
        if not self._failed:
            self._failed = True
            warnings.warn(
                f"The trace '{self._path}' cannot be written: {error.strerror or error}; the run "
                "continues without it. The model's folder has the same records.",
                CheckpointWarning,
                stacklevel=2,
            )

    def _discard(self) -> None:
        if self._file is not None:
            with suppress(OSError):  # what was left to write had no space
                self._file.close()
            self._file = None
        if self._part is not None:
            self._part.unlink(missing_ok=True)

    def _finish(self) -> None:
        assert self._file is not None
        assert self._part is not None
        assert self._path is not None
        try:
            flush_file(self._file.fileno())
            self._file.close()
            self._part.replace(self._path)
            flush_folder(self._path.absolute().parent)
        except OSError as error:
            self._fail(error)

    def __enter__(self) -> "TraceFile":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None and self._file is not None:
            self._finish()
        else:
            self._discard()
