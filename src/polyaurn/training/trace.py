"""The trace on disk: a JSON record a sweep, under a temporary name until training ends."""

import json
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from polyaurn.base.errors import InputError
from polyaurn.chain.state import Info


class TraceFile:
    """Write the trace as it grows to ``FILE.part``, renamed to ``FILE`` at the end.

    Parameters
    ----------
    path : Path or None
        None writes nothing.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._file: TextIO | None = None

    def write(self, state: Any, info: Info) -> None:
        """Add one record; usable as a callback of `LDA`."""
        self._add([info.record()])

    def rewrite(self, records: list[dict[str, Any]]) -> None:
        """Put all records in place of those so far, the ones before a resumption included."""
        if self._file is not None:
            self._file.close()
            self._file = None
        self._add(records)

    def _add(self, records: list[dict[str, Any]]) -> None:
        if self._path is None:
            return
        try:
            if self._file is None:
                self._file = self._part.open("w", encoding="utf-8", buffering=1)
            self._file.writelines(json.dumps(record) + "\n" for record in records)
        except OSError as error:
            raise InputError(
                f"The trace '{self._path}' cannot be written: {error.strerror}. Choose another "
                "file."
            ) from None

    @property
    def _part(self) -> Path:
        assert self._path is not None
        return self._path.with_name(self._path.name + ".part")

    def __enter__(self) -> "TraceFile":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is None:
            return
        self._file.close()
        if kind is None and self._path is not None:
            self._part.replace(self._path)
        else:
            self._part.unlink(missing_ok=True)
