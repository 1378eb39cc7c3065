"""The client of chat servers, against one in a thread that misbehaves in every way."""

import json
import socket

import pytest

from polyaurn import InputError
from polyaurn.exchange import chat
from polyaurn.exchange.chat import ChatError, ChatServer
from support.chat_server import chat_server, says, slowly

HELLO = [{"role": "user", "content": "hello"}]
KEY = "sk-secret-0123456789"


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    monkeypatch.setattr(chat, "WAITS", (0.0, 0.0))


def ask(server, **options):
    return ChatServer(server.url, "tiny", **options).ask(HELLO)


def test_a_question_is_sent_as_the_protocol_says():
    with chat_server("Hello.") as server:
        assert ask(server, key=KEY) == "Hello."
    assert server.asked == [
        {"model": "tiny", "messages": HELLO, "stream": False, "temperature": 0,
         "path": "/v1/chat/completions"}
    ]  # fmt: skip
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    with chat_server("Hello.") as server:
        ask(server)
    assert "Authorization" not in server.headers[0]


@pytest.mark.parametrize(
    ("reply", "sentence", "final"),
    [
        ((401, "bad key"), r"HTTP status 401 \(bad key\); give a valid key", True),
        ((404, ""), r"HTTP status 404 \(Not Found\); check --url", True),
        ((429, "busy"), r"HTTP status 429 \(busy\); wait", True),
        ((500, "x" * 999), r"HTTP status 500 \(x{200}\.\.\.\); look at the server's log", False),
        ((302, "", {"Location": "http://evil.test/v1"}), r"redirects to evil\.test, where", True),
        ((307, "", {"Location": "/other"}), "redirects to another address, where nothing", True),
        ((200, "<html>"), "must answer with JSON.* Got '<html>'; is --url", False),
        ((200, "[" * 100_000), "must answer with JSON", False),
        ((200, "{}"), "must answer with a message", False),
        ((200, "[]"), "must answer with a message", False),
        ((200, '{"choices": []}'), "must answer with a message", False),
        ((200, '{"choices": [{"message": "text"}]}'), "must answer with a message", False),
        (says(None), "gave an empty answer", False),
        (says(" \n"), "gave an empty answer", False),
        (says([1]), "gave an empty answer", False),
        (says("text", finish_reason="content_filter"), "declined to answer", False),
        (says("text", message={"content": None, "refusal": "No."}), "declined to answer", False),
        ((200, " " * (chat.MOST_BYTES + 1)), "at most 1,048,576 bytes", True),
        ((400, "no \x1b[2J here\n"), r"HTTP status 400 \(no \\x1b\[2J here\)", False),
    ],
)  # fmt: skip
def test_what_is_no_answer_is_one_sentence(reply, sentence, final):
    with chat_server(reply) as server, pytest.raises(ChatError, match=sentence) as raised:
        ask(server)
    assert raised.value.final is final
    assert "\n" not in str(raised.value)
    assert str(raised.value).endswith(".") or "?" in str(raised.value)


def test_redirects_are_not_followed():
    with chat_server("stolen") as other:
        there = {"Location": f"{other.url}/chat/completions"}
        for status in (301, 302, 303, 307, 308):
            with chat_server((status, "", there)) as server, pytest.raises(ChatError):
                ask(server, key=KEY)
        assert other.asked == []


def test_a_silent_and_a_dripping_server_time_out():
    with chat_server(lambda question: server.ended.wait(30) and says("late")) as server:
        with pytest.raises(ChatError, match=r"not answer within 0\.2 seconds\. Allow") as raised:
            ask(server, timeout=0.2)
        server.ended.set()
    assert not raised.value.final
    with (
        chat_server(lambda question: (200, slowly(server.ended))) as server,
        pytest.raises(ChatError, match=r"not answer within 0\.3 seconds"),
    ):
        ask(server, timeout=0.3)


def test_nobody_listens_or_hangs_up():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(ChatError, match=r"cannot be reached .*Check --url") as raised:
        ChatServer(f"http://127.0.0.1:{port}/v1", "tiny").ask(HELLO)
    assert raised.value.final


def test_a_busy_server_is_asked_again():
    with chat_server((429, ""), (503, ""), "at last") as server:
        assert ask(server) == "at last"
    assert len(server.asked) == 3


def test_a_model_without_temperature_is_asked_without():
    with chat_server((400, "Unsupported value: 'temperature'"), "fine") as server:
        assert ask(server) == "fine"
    assert ["temperature" in question for question in server.asked] == [True, False]


def test_the_key_is_shown_nowhere():
    assert KEY not in repr(ChatServer("http://localhost/v1", "tiny", KEY))
    with (
        chat_server((401, f"Incorrect key: {KEY}")) as server,
        pytest.raises(ChatError, match=r"Incorrect key: \*\*\*") as raised,
    ):
        ask(server, key=KEY)
    assert KEY not in str(raised.value)
    with chat_server(f"Your key is {KEY}") as server:
        assert ask(server, key=KEY) == "Your key is ***"
    for bad in ("", "a b\r\nX-Header: 1", "ключ", " x", 3):
        with pytest.raises(InputError, match="'key' parameter must be a string of vis") as raised:
            ChatServer("http://localhost/v1", "tiny", bad)
        assert "Header" not in str(raised.value)


@pytest.mark.parametrize(
    "url", ["localhost:11434", "ftp://a/v1", "file:///etc/passwd", "http://", "http://a b/v1", "",
            "http://[::1/v1", "http://a:x/v1", "http://bücher/v1", 3, None],
)  # fmt: skip
def test_invalid_addresses_are_reported(url):
    with pytest.raises(InputError, match="'url' parameter must be the address of a server"):
        ChatServer(url, "tiny")


def test_addresses_with_a_password_are_rejected_and_not_shown():
    for url in ("http://me:pass@a/v1", "http://a/v1?key=pass", "http://a/v1#pass"):
        with pytest.raises(InputError, match="without a user's name") as raised:
            ChatServer(url, "tiny")
        assert "pass" not in str(raised.value)


def test_other_parameters():
    with pytest.raises(InputError, match="'llm' parameter must be the name of a language model"):
        ChatServer("http://a/v1", " ")
    with pytest.raises(InputError, match="'timeout' parameter must be a positive number"):
        ChatServer("http://a/v1", "tiny", timeout=0)


@pytest.mark.parametrize(
    ("url", "local", "unencrypted"),
    [
        ("http://localhost:11434/v1", True, False),
        ("http://127.0.0.2/v1", True, False),
        ("http://[::1]:8000/v1", True, False),
        ("http://192.168.1.4/v1", False, True),
        ("http://example.com/v1", False, True),
        ("https://example.com/v1", False, False),
    ],
)
def test_what_travels_unencrypted(url, local, unencrypted):
    server = ChatServer(url, "tiny")
    assert (server.local, server.unencrypted) == (local, unencrypted)


def test_a_local_server_is_reached_without_a_proxy(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    with chat_server("direct") as server:
        assert ask(server) == "direct"


def test_json_of_a_question_is_ascii():
    with chat_server("ja") as server:
        ChatServer(server.url, "tiny").ask([{"role": "user", "content": "größe \ud800"}])
    assert json.dumps(server.asked[0]["messages"][0]["content"])


def test_a_redirect_to_no_address_is_one_sentence():
    from polyaurn.exchange.chat import _host_of

    assert _host_of("http://[::1") == ""
    assert _host_of("http://elsewhere:81/v1") == "elsewhere:81"
