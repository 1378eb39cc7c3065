"""A small server that speaks the chat-completions protocol, and misbehaves on request."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def says(text, **more):
    """Return the reply of a language model that says something."""
    message = {"role": "assistant", "content": text}
    return 200, json.dumps({"choices": [{"message": message, "finish_reason": "stop"} | more]})


class ChatStandIn(ThreadingHTTPServer):
    """Replies in turn, the last one for ever; keeps what was asked.

    A reply is a text, a pair of status and body, or a function of the question that returns one.
    """

    daemon_threads = True

    def __init__(self, replies):
        self.replies, self.asked, self.headers = list(replies), [], []
        self.ended = threading.Event()
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/v1"

    @property
    def questions(self):
        return [question["messages"][-1]["content"] for question in self.asked]

    def reply(self, question):
        found = self.replies[min(len(self.asked), len(self.replies)) - 1]
        found = found(question) if callable(found) else found
        return says(found) if isinstance(found, str) else found


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(question | {"path": self.path})
        self.server.headers.append(dict(self.headers))
        status, body, *more = self.server.reply(question)
        try:
            self.send_response(status)
            for name, value in (more[0] if more else {}).items():
                self.send_header(name, value)
            self.end_headers()
            for part in [body] if isinstance(body, str | bytes) else body:
                self.wfile.write(part if isinstance(part, bytes) else part.encode())
                self.wfile.flush()
        except OSError:  # the other side has hung up
            pass

    def log_message(self, *arguments):
        pass


def slowly(ended):
    """Yield bytes of an answer, one every tenth of a second, that never ends by itself."""
    while not ended.wait(0.1):
        yield b" "


@contextmanager
def chat_server(*replies):
    with ChatStandIn(replies) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.ended.set()
            server.shutdown()
            thread.join()
