"""Servers that speak OpenAI's chat-completions protocol: one question, one answer.

Local ones (ollama, LM Studio, llama.cpp, vLLM) and hosted ones do. Nothing but the standard library
is used. Redirects are not followed, so that text goes only where the user said; a key is sent to
the server and appears nowhere else.
"""

import http.client
import ipaddress
import json
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from polyaurn.base.checks import check_number
from polyaurn.base.errors import InputError
from polyaurn.base.printable import printable
from polyaurn.base.version import __version__

TIMEOUT = 120.0  # seconds for an answer; a local server may load its model first
MOST_BYTES = 1 << 20  # of an answer
WAITS = (2.0, 6.0, 18.0)  # seconds before a server that is busy is asked again
_SHOWN = 200  # characters of what a server says in an error
_PIECE = 1 << 14


class ChatError(InputError):
    """A server that gave no answer; `final` where no other question would get one either."""

    def __init__(self, message: str, *, final: bool = True) -> None:
        super().__init__(message)
        self.final = final


@dataclass(frozen=True)
class ChatServer:
    """A server that questions are sent to.

    Parameters
    ----------
    url : str
        The base of the protocol's addresses, such as "http://localhost:11434/v1".
    model : str
        The language model, as the server names it.
    key : str, optional
        The key of a server that asks for one.
    timeout : float
        Seconds to wait for an answer.
    """

    url: str
    model: str
    key: str | None = field(default=None, repr=False)
    timeout: float = TIMEOUT

    def __post_init__(self) -> None:
        """Check what is given, before anything is sent."""
        _check_url(self.url)
        if not isinstance(self.model, str) or not self.model.strip():
            raise InputError(
                "The 'llm' parameter must be the name of a language model on the server. Got "
                f"{self.model!r} instead; ask the server which it has."
            )
        key = self.key
        if key is not None and (not isinstance(key, str) or not key.isascii() or key != key.strip()
                                or not key.isprintable() or not key):  # fmt: skip
            raise InputError(
                "The 'key' parameter must be a string of visible ASCII characters. Got something "
                "else, which is not shown here; check how it was set."
            )
        check_number(self.timeout, "timeout")

    @property
    def address(self) -> str:
        """The address that questions are sent to."""
        return f"{self.url.rstrip('/')}/chat/completions"

    @property
    def host(self) -> str:
        """The host that questions are sent to, with its port."""
        return urlsplit(self.url).netloc

    @property
    def local(self) -> bool:
        """Whether the server is on this machine."""
        return _is_loopback(urlsplit(self.url).hostname or "")

    @property
    def unencrypted(self) -> bool:
        """Whether others can read what travels to the server."""
        return urlsplit(self.url).scheme == "http" and not self.local

    def ask(self, messages: list[dict[str, str]]) -> str:
        """Return the answer to messages; raise `ChatError` if there is none."""
        question: dict[str, Any] = {"model": self.model, "messages": messages, "stream": False}
        try:
            found = self._post_patiently(question | {"temperature": 0})
        except _RejectedError as error:
            if error.code != 400 or "temperature" not in str(error):  # some models take none
                raise
            found = self._post_patiently(question)
        return self._hide(_content(found))

    def _post_patiently(self, question: dict[str, Any]) -> Any:
        """Send a question, again after a while where the server is overloaded."""
        for wait in WAITS:
            try:
                return self._post(question)
            except _RejectedError as error:
                if error.code not in (429, 503):
                    raise
            time.sleep(wait)
        return self._post(question)

    def _post(self, question: dict[str, Any]) -> Any:
        """Send a question and return what came back, read as JSON."""
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "User-Agent": f"polyaurn/{__version__}",
        }
        if self.key is not None:
            headers["Authorization"] = f"Bearer {self.key}"
        body = json.dumps(question).encode()
        request = urllib.request.Request(self.address, body, headers, method="POST")
        end = time.monotonic() + self.timeout
        try:
            with self._opener().open(request, timeout=self.timeout) as reply:
                text = _read(reply, end)
        except urllib.error.HTTPError as error:
            with error:
                raise self._rejected(error, end) from None
        except TimeoutError:
            raise self._late() from None
        except urllib.error.URLError as error:
            if isinstance(error.reason, TimeoutError):
                raise self._late() from None
            why = error.reason.strerror if isinstance(error.reason, OSError) else error.reason
            raise self._unreachable(str(why or error.reason)) from None
        except (OSError, http.client.HTTPException) as error:
            raise self._unreachable(str(error) or type(error).__name__) from None
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise ChatError(
                f"The server {self.host} must answer with JSON, as OpenAI's protocol says. Got "
                f"'{self._shown(text)}'; is --url (url) the address that ends in /v1?",
                final=False,
            ) from None

    def _opener(self) -> urllib.request.OpenerDirector:
        opener = urllib.request.OpenerDirector()
        handlers = [
            urllib.request.ProxyHandler({} if self.local else None),
            urllib.request.HTTPHandler(),
            urllib.request.HTTPSHandler(),
            urllib.request.HTTPDefaultErrorHandler(),
            urllib.request.HTTPErrorProcessor(),  # without a handler of redirects
        ]
        for handler in handlers:
            opener.add_handler(handler)
        return opener

    def _rejected(self, error: urllib.error.HTTPError, end: float) -> ChatError:
        code = error.code
        if 300 <= code < 400:
            to = _host_of(error.headers.get("Location", "")) or "another address"
            return ChatError(
                f"The server {self.host} redirects to {printable(to):.100}, where nothing was "
                "sent. Give that address with --url (url) if you trust it."
            )
        try:
            said = self._shown(_read(error, end))
        except (OSError, http.client.HTTPException):
            said = ""
        remedies = {
            401: "give a valid key with --key-variable (key)",
            403: "give a valid key with --key-variable (key)",
            404: "check --url (url) and the model's name",
            429: "wait, or ask for fewer topics at once",
        }
        remedy = remedies.get(code, "look at the server's log")
        sentence = (
            f"The server {self.host} answered with HTTP status {code} ({said or error.reason}); "
            f"{remedy}."
        )
        return _RejectedError(sentence, code)

    def _late(self) -> ChatError:
        return ChatError(
            f"The server {self.host} did not answer within {self.timeout:g} seconds. Allow more "
            "with --timeout (timeout), or take a smaller model.",
            final=False,
        )

    def _unreachable(self, why: str) -> ChatError:
        return ChatError(
            f"The server {self.host} cannot be reached ({self._hide(printable(why))[:_SHOWN]}). "
            "Check --url (url), and that the server runs."
        )

    def _shown(self, text: bytes) -> str:
        """Return the beginning of what a server said, on one line and without the key."""
        said = self._hide(printable(" ".join(text.decode(errors="replace").split())))
        return said if len(said) <= _SHOWN else f"{said[:_SHOWN]}..."

    def _hide(self, text: str) -> str:
        return text.replace(self.key, "***") if self.key else text


class _RejectedError(ChatError):
    """A question that the server did not accept, with the status of HTTP."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message, final=code in (401, 403, 404, 405, 429, 503))
        self.code = code


def _read(reply: Any, end: float) -> bytes:
    """Return the body of a reply, which must be short and come in time."""
    parts, size = [], 0
    while part := reply.read1(_PIECE) if hasattr(reply, "read1") else reply.read(_PIECE):
        parts.append(part)
        size += len(part)
        if size > MOST_BYTES:
            raise ChatError(
                f"The server must answer with at most {MOST_BYTES:,} bytes. Got more; is --url "
                "(url) the address of a language model?"
            )
        if time.monotonic() > end:
            raise TimeoutError
    return b"".join(parts)


def _content(found: Any) -> str:
    """Return the text of an answer; raise `ChatError` where there is none."""
    try:
        choice = found["choices"][0]
        message = choice["message"]
        text, refusal = message.get("content"), message.get("refusal")
    except (LookupError, TypeError, AttributeError):
        raise ChatError(
            "The server must answer with a message, as OpenAI's protocol says. Got JSON without "
            "one; is --url (url) the address that ends in /v1?",
            final=False,
        ) from None
    if refusal or choice.get("finish_reason") == "content_filter":
        raise ChatError("The language model declined to answer.", final=False)
    if not isinstance(text, str) or not text.strip():
        raise ChatError("The language model gave an empty answer.", final=False)
    return text


def _check_url(url: Any) -> None:
    """Reject what is not the plain address of a server."""
    try:
        parts = urlsplit(url) if isinstance(url, str) else urlsplit("")
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    plain = isinstance(url, str) and url.isascii() and url.isprintable() and " " not in url
    if not plain or not host or parts.scheme not in ("http", "https"):
        raise InputError(
            "The 'url' parameter must be the address of a server, such as "
            f"'http://localhost:11434/v1'. Got {url!r} instead."
        )
    if parts.username is not None or parts.query or parts.fragment:
        raise InputError(
            "The 'url' parameter must be an address without a user's name, '?' and '#'. Got one "
            "with them, which is not shown here; give a key with --key-variable (key)."
        )


def _host_of(address: str) -> str:
    try:
        return urlsplit(address).netloc
    except ValueError:
        return ""


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
