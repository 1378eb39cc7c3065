"""Text from anywhere, such as words of an untrusted model, made safe to show at a terminal."""

_CONTROL = (*range(0x20), *range(0x7F, 0xA0))
_DIRECTION = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))  # make text read as another
_LINES = (0x2028, 0x2029)
_SURROGATES = range(0xD800, 0xE000)  # alone, no terminal can be sent them
_OTHERS = dict.fromkeys((*_DIRECTION, *_LINES, *_SURROGATES))
_ESCAPED = {c: f"\\x{c:02x}" for c in _CONTROL} | {c: f"\\u{c:04x}" for c in _OTHERS}
_IN_LINES = {c: to for c, to in _ESCAPED.items() if chr(c) not in "\n\t"}
_IN_JSON = {c: f"\\u{c:04x}" for c in _ESCAPED if chr(c) not in "\n"}


def printable(text: str, *, lines: bool = False) -> str:
    r"""Return text with control characters written out, as \x1b; `lines` keeps newlines."""
    return text.translate(_IN_LINES if lines else _ESCAPED)


def printable_json(text: str) -> str:
    """Return JSON with control characters as JSON escapes them: the same value."""
    return text.translate(_IN_JSON)
