"""A line in a page by which its writer recognises it, unless somebody changed it since."""

import hashlib
import re
from pathlib import Path

_AFTER = '<meta charset="utf-8">\n'
_STAMP = re.compile(rb'<meta name="generator" content="polyaurn, sha256 ([0-9a-f]{64})">\n')


def stamped(page: str) -> str:
    """Return a page of HTML with the checksum of all else in a line of its head."""
    digest = hashlib.sha256(page.encode()).hexdigest()
    line = f'<meta name="generator" content="polyaurn, sha256 {digest}">\n'
    return page.replace(_AFTER, _AFTER + line, 1)


def is_stamped(path: Path) -> bool:
    """Return whether a file is a stamped page, unchanged; False where it cannot be read."""
    try:
        content = path.read_bytes()
    except OSError:
        return False
    found = _STAMP.search(content)
    if found is None:
        return False
    rest = content[: found.start()] + content[found.end() :]
    return hashlib.sha256(rest).hexdigest().encode() == found[1]
