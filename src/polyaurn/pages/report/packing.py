"""Parts of the page that are unpacked when they are looked at: deflated JSON, as base64."""

import base64
import json
import zlib
from typing import Any


def pack(value: Any) -> str:
    """Return a value as text that may stand inside a script element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(zlib.compress(text.encode("utf-8", "replace"), 9)).decode()


def unpack(text: str) -> Any:
    """Return what was packed."""
    return json.loads(zlib.decompress(base64.b64decode(text)))
