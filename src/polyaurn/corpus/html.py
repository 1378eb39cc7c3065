"""Text of HTML: tags, scripts and styles are removed, entities decoded.

One pass over the text, in time proportional to its length however badly it is formed; the parser of
the standard library raises errors on some texts, and takes the square of their length on others.
"""

import re
from html import unescape

_SILENT = frozenset(("script", "style", "template", "noscript"))
_INSIDE = "a abbr b bdi bdo cite code em font i kbd mark q s small span strong sub sup u wbr"
_INSIDE_WORDS = frozenset(_INSIDE.split(" "))
_LINES = frozenset(("p", "br", "div", "li"))
_NAME = re.compile(r"</?([A-Za-z][^\s/>]{0,40})")
_EDGE = re.compile("[>\"']")
_LONGEST_TAG = 1_000  # characters in which quotation marks are heeded
_LOWER = str.maketrans({chr(c): chr(c + 32) for c in range(65, 91)})  # keeps the length


def text_of(html: str) -> str:
    """Return the text of HTML; text without tags only has its entities decoded.

    Parameters
    ----------
    html : str
        A page or a piece of one, not necessarily well-formed.

    Returns
    -------
    str
        Without tags, comments, scripts and styles. Tags such as ``<b>`` do not split words.

    Examples
    --------
    >>> text_of("<p>Caf&eacute; <b>cr</b>&egrave;me</p><script>let x = 1</script>").strip()
    'Café crème'
    """
    parts: list[str] = []
    last, at, in_head, in_title = html.rfind(">"), 0, False, False
    lower = html.translate(_LOWER)
    while 0 <= (start := html.find("<", at)) < last:
        if not in_head or in_title:
            parts.append(html[at:start])
        if html.startswith("<!--", start):
            end = html.find("-->", start + 4)
            if end < 0:
                return unescape("".join(parts))
            at = end + 3
            continue
        named = _NAME.match(html, start)
        if named is None and html[start + 1 : start + 2] not in ("!", "?"):
            parts.append("<")  # a smaller-than sign
            at = start + 1
            continue
        at = _end_of_tag(html, start)
        name, closing = named[1].translate(_LOWER) if named else "", html[start + 1] == "/"
        if name in _SILENT and not closing:
            at = lower.find(f"</{name}", at)
            if at < 0:
                return unescape("".join(parts))
        elif name == "title":
            in_title = not closing
        elif name in ("head", "body"):
            in_head = name == "head" and not closing
        if name not in _INSIDE_WORDS:
            parts.append("\n" if name in _LINES and not closing else " ")
    if not in_head:
        parts.append(html[at:])
    return unescape("".join(parts))


def _end_of_tag(html: str, start: int) -> int:
    """Return where a tag ends; a sign inside quotation marks does not end it."""
    at = start
    while (edge := _EDGE.search(html, at, start + _LONGEST_TAG)) is not None:
        if edge[0] == ">":
            return edge.end()
        at = html.find(edge[0], edge.end(), start + _LONGEST_TAG) + 1
        if at == 0:
            break
    return html.find(">", start) + 1
