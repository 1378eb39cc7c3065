"""Text of HTML: tags, scripts and styles are removed, entities decoded."""

from html.parser import HTMLParser

_SILENT = frozenset(("script", "style", "template", "noscript", "head"))
_INSIDE = "a abbr b bdi bdo cite code em font i kbd mark q s small span strong sub sup u wbr"
_INSIDE_WORDS = frozenset(_INSIDE.split(" "))


class _Text(HTMLParser):
    """Collect what a reader of the page would see, and its title."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._open: list[str] = []  # elements without text that are open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SILENT:
            self._open.append(tag)
        elif tag == "body":
            self._open.clear()  # a head without its end
        elif tag not in _INSIDE_WORDS:
            self.parts.append("\n" if tag in ("p", "br", "div", "li") else " ")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            while self._open.pop() != tag:
                pass
        elif tag not in _INSIDE_WORDS:
            self.parts.append(" ")

    def handle_data(self, data: str) -> None:
        if not self._open or (self._open == ["head"] and self.lasttag == "title"):
            self.parts.append(data)


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
    parser = _Text()
    parser.feed(html)
    parser.close()
    return "".join(parser.parts)
