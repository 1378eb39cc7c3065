"""The page with live inference and changes of the model, for this machine only."""

import json
import secrets
import sys
import threading
import warnings
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from polyaurn.base.errors import InputError
from polyaurn.base.threads import Workers
from polyaurn.corpus.known_words import in_words_of
from polyaurn.model.data import ModelData
from polyaurn.model.inference import mean_counts
from polyaurn.pages.report.edits import Edits

ADDRESS = "127.0.0.1"
MOST_BYTES = 1_000_000  # of a request
RENAME, MERGE = "/rename", "/merge"
TOKEN_HEADER = "X-Polyaurn-Token"
_MOST_TOPICS = 12
_PATIENCE = 30  # seconds that a connection may send nothing
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def mix_text(model: ModelData, text: str) -> dict[str, Any]:
    """Find the topics of one text, which is cut as the model's was.

    topics are pairs of a topic and its share, (mean m + alpha) / (tokens + sum of alpha), largest
    first; known and unknown are tokens of words that the model has and lacks.
    """
    known = in_words_of(model.vocab, [text], model.tokenization)
    if known.unknown.any() and not known.tokens.any():
        raise InputError(
            f"The text must share words with the model. Got {int(known.unknown[0]):,} words that "
            "it does not know."
        )
    with Workers(1) as workers:
        mean = mean_counts(model, known, workers=workers).toarray().ravel()
    alpha = model.priors.alpha
    share = (mean + alpha) / (known.tokens[0] + alpha.sum())
    order = sorted(mean.nonzero()[0].tolist(), key=lambda k: (-share[k], k))
    return {
        "topics": [[k, round(float(share[k]), 5)] for k in order[:_MOST_TOPICS]],
        "known": int(known.tokens[0]),
        "unknown": int(known.unknown[0]),
    }


class Server(ThreadingHTTPServer):
    """Serves one page and one model at 127.0.0.1; port 0 takes a free one.

    The page is that of `render` with ``served=True``. Other users of the machine can reach the
    port, too, so that every request needs the token in `url`, which is new each time. With `edits`
    the page may also change the model.
    """

    daemon_threads = True

    def __init__(
        self, model: ModelData, page: str, port: int = 0, *, edits: Edits | None = None
    ) -> None:
        try:
            super().__init__((ADDRESS, port), _Handler)
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or str(error).rstrip(".")
            raise InputError(
                "The 'port' parameter must be one that is free, from 1 to 65535, or 0 for any. Got "
                f"{port} ({why}); try 0."
            ) from None
        self.model = model
        self.page = page.encode()
        self.edits = edits
        self.turn = threading.Lock()  # one text or change at a time
        self.token = secrets.token_urlsafe(24)

    @property
    def port(self) -> int:
        """The port in use."""
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        """The address for a browser, with the token."""
        return f"http://{ADDRESS}:{self.port}/?token={self.token}"

    def hosts(self) -> set[str]:
        """Return the names under which browsers on this machine know the server."""
        names = {f"{name}:{self.port}" for name in (ADDRESS, "localhost")}
        return names | ({ADDRESS, "localhost"} if self.port == 80 else set())

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore readers who closed their connection."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Rejected(Exception):  # noqa: N818
    """A request that is rejected, with its status and why."""

    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.status = status


class _Handler(BaseHTTPRequestHandler):
    server: Server
    server_version, sys_version = "polyaurn", ""
    timeout = _PATIENCE

    def do_GET(self) -> None:
        """Send the page."""
        try:
            self._check_sender()
            self._check_path("/")
            self._answer(HTTPStatus.OK, self.server.page, "text/html; charset=utf-8")
        except _Rejected as rejected:
            self._reject(rejected)

    def do_POST(self) -> None:
        """Send the topics of a text, or change the model."""
        try:
            self._check_sender()
            asked = self.path.partition("?")[0]
            if self.server.edits is not None and asked in (RENAME, MERGE):
                self._check_path(asked)
                self._check_editor()
                self._answer_json(HTTPStatus.OK, self._edit(asked, _object_of(self._body())))
                return
            self._check_path("/infer")
            self._answer_json(HTTPStatus.OK, self._mix(_text_of(self._body())))
        except _Rejected as rejected:
            self._reject(rejected)

    def _check_editor(self) -> None:
        """Reject a change that a script of this page did not ask for.

        The token must be in a header, which no form and no other site's script can set, and the
        browser must name this page's origin.
        """
        given = self.headers.get(TOKEN_HEADER, "")
        fetched = self.headers.get("Sec-Fetch-Site", "same-origin")
        if (
            not secrets.compare_digest(given.encode(), self.server.token.encode())
            or self.headers.get("Origin") is None
            or fetched != "same-origin"
        ):
            raise _Rejected(HTTPStatus.FORBIDDEN, "Only the page itself may change the model.")

    def _edit(self, asked: str, wanted: dict[str, Any]) -> dict[str, Any]:
        server, edits = self.server, self.server.edits
        assert edits is not None
        try:
            with server.turn, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if asked == RENAME:
                    changed = edits.rename(server.model, wanted.get("topic"), wanted.get("label"))
                else:
                    changed = edits.merge(server.model, wanted.get("topics"))
                server.model, server.page = changed, edits.page(changed).encode()
        except InputError as error:
            raise _Rejected(HTTPStatus.UNPROCESSABLE_ENTITY, str(error)) from None
        except OSError as error:
            why = f"The model cannot be written: {error.strerror or error}. It is as it was."
            raise _Rejected(HTTPStatus.INSUFFICIENT_STORAGE, why) from None
        return {"topics": server.model.n_topics}

    def _check_sender(self) -> None:
        """Reject names that were made to point here, and pages of other sites."""
        host, origin = self.headers.get("Host", ""), self.headers.get("Origin")
        if host.lower() not in self.server.hosts():
            raise _Rejected(HTTPStatus.FORBIDDEN, f"Only {ADDRESS}:{self.server.port} is answered.")
        if origin is not None and origin.removeprefix("http://").lower() not in self.server.hosts():
            raise _Rejected(HTTPStatus.FORBIDDEN, "Pages of other sites are not answered.")

    def _check_path(self, path: str) -> None:
        """Reject a request without the token, then other paths."""
        asked, _, query = self.path.partition("?")
        if not secrets.compare_digest(query.encode(), f"token={self.server.token}".encode()):
            raise _Rejected(
                HTTPStatus.FORBIDDEN,
                "The address must have the token that 'polyaurn serve' prints; open that address.",
            )
        if asked != path:
            raise _Rejected(HTTPStatus.NOT_FOUND, "There is only the page, at /, and /infer.")

    def _body(self) -> bytes:
        if self.headers.get_content_type() != "application/json":
            raise _Rejected(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "The request must be JSON.")
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdecimal()) or "Transfer-Encoding" in self.headers:
            raise _Rejected(HTTPStatus.LENGTH_REQUIRED, "The request must say its length.")
        if len(length) > 12 or int(length) > MOST_BYTES:
            raise _Rejected(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"The text must have at most {MOST_BYTES:,} bytes; give a part of it.",
            )
        return self.rfile.read(int(length))

    def _mix(self, text: str) -> dict[str, Any]:
        try:
            with self.server.turn, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return mix_text(self.server.model, text)
        except InputError as error:
            raise _Rejected(HTTPStatus.UNPROCESSABLE_ENTITY, str(error)) from None

    def _reject(self, rejected: _Rejected) -> None:
        self.close_connection = True  # the rest of the request is not read
        self._answer_json(rejected.status, {"error": str(rejected)})

    def _answer_json(self, status: HTTPStatus, value: dict[str, Any]) -> None:
        self._answer(status, json.dumps(value).encode(), "application/json")

    def _answer(self, status: HTTPStatus, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Log nothing; texts are private."""


def _object_of(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise _Rejected(HTTPStatus.BAD_REQUEST, "The request must be a JSON object.")
    return value


def _text_of(body: bytes) -> str:
    try:
        text = json.loads(body)["text"]
    except (ValueError, KeyError, TypeError, RecursionError):
        text = None
    if not isinstance(text, str):
        raise _Rejected(HTTPStatus.BAD_REQUEST, 'The request must be JSON such as {"text": "..."}.')
    return text
