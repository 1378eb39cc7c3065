"""The served page: only for this machine, two routes, and nothing else."""

import http.client
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading

import pytest

from polyaurn import LDA, Corpus, InputError
from polyaurn.pages.report.data import gather
from polyaurn.pages.report.page import render
from polyaurn.pages.report.serve import MOST_BYTES, Server, mix_text
from support.pages import ask

TEXTS = ["cat dog cat bird", "dog cat bird dog", "planet star moon", "star moon planet star"] * 8


@pytest.fixture(scope="module")
def server():
    lda = LDA(2, max_iter=40, verbose=False).fit(Corpus.from_texts(TEXTS))
    with Server(lda.model_, render(gather(lda), served=True)) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def infer(server, body, **headers):
    return ask(server, "POST", "/infer", body, **{"Content_Type": "application/json"} | headers)


def test_it_listens_on_loopback_only(server):
    assert server.server_address[0] == "127.0.0.1"
    assert server.url == f"http://127.0.0.1:{server.port}/?token={server.token}"
    outward = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        outward.connect(("192.0.2.1", 9))  # sends nothing; finds the machine's own address
        own = outward.getsockname()[0]
    except OSError:
        own = "127.0.0.2"
    finally:
        outward.close()
    if not own.startswith("127.0.0.1"):
        with pytest.raises(OSError, match=r"refused|timed out|unreachable"):
            socket.create_connection((own, server.port), timeout=2)


def test_the_page_has_its_safety_headers(server):
    status, headers, content = ask(server)
    assert status == 200
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-store"
    assert "Access-Control-Allow-Origin" not in headers
    assert "Python" not in headers["Server"]
    assert b'"served":true' in content


def test_a_text_has_its_topics(server):
    found = {}
    for text in ("A cat, a dog and a bird", "the moon, a planet, another star"):
        status, _, content = infer(server, json.dumps({"text": text}))
        answer = json.loads(content)
        assert (status, answer["known"]) == (200, 3)
        assert answer == json.loads(infer(server, json.dumps({"text": text}))[2])
        assert answer["topics"][0][1] > 0.8
        found[text] = answer["topics"][0][0]
    assert len(set(found.values())) == 2
    _, _, content = infer(server, json.dumps({"text": "cat zebra"}))
    assert (json.loads(content)["known"], json.loads(content)["unknown"]) == (1, 1)
    _, _, content = infer(server, json.dumps({"text": ""}))
    assert json.loads(content) == {"topics": [], "known": 0, "unknown": 0}


def test_shares_are_those_of_transform(server):
    text = "cat dog moon cat"
    expected = server.model.transform([text])[0]
    for k, share in mix_text(server.model, text)["topics"]:
        assert share == pytest.approx(expected[k], abs=1e-5)


def test_a_text_of_unknown_words_is_rejected(server):
    status, _, content = infer(server, json.dumps({"text": "quite another language altogether"}))
    assert status == 422
    assert "must share words with the model" in json.loads(content)["error"]


@pytest.mark.parametrize(
    "path", ["/index.html", "/../pyproject.toml", "/%2e%2e/etc/passwd", "/a", "/infer", "*"]
)
def test_there_are_no_other_routes(server, path):
    status, headers, content = ask(server, "GET", path)
    assert status == 404
    assert "only the page" in json.loads(content)["error"]
    assert headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("query", ["", "?", "?token=", "?token=a", "?a", "?token={token}a"])
def test_nothing_is_answered_without_the_token(server, query):
    """Another user of the machine can reach the port."""
    query = query.format(token=server.token)
    text = json.dumps({"text": "cat"})
    for found in (
        ask(server, query=query),
        ask(server, path="/elsewhere", query=query),
        ask(server, "POST", "/infer", text, query=query, Content_Type="application/json"),
    ):
        status, _, content = found
        assert status == 403
        assert "must have the token" in json.loads(content)["error"]
        assert server.token not in content.decode()


def test_a_token_is_new_each_time_and_given_to_no_stranger(server):
    with Server(server.model, "") as other:
        assert other.token != server.token
        assert len(other.token) >= 32
    assert server.token not in ask(server, query="", Host="evil.example")[2].decode()
    assert server.token not in ask(server)[2].decode()


def test_only_get_and_post_are_answered(server):
    assert ask(server, "POST", "/", "{}", Content_Type="application/json")[0] == 404
    for method in ("PUT", "DELETE", "OPTIONS", "TRACE"):
        assert ask(server, method)[0] == 501


@pytest.mark.parametrize(
    "body", ["", "{", "[]", "7", '{"text": 3}', '{"words": "a"}', b"\xff\xfe", "[" * 100_000]
)
def test_what_is_no_text_is_rejected(server, body):
    status, _, content = infer(server, body)
    assert status == 400
    assert "must be JSON" in json.loads(content)["error"]


def test_large_requests_are_rejected_unread(server):
    status, _, content = infer(server, b"", Content_Length=str(MOST_BYTES + 1))
    assert status == 413
    assert "at most 1,000,000 bytes" in json.loads(content)["error"]
    assert infer(server, b"", Content_Length="9" * 400)[0] == 413


@pytest.mark.parametrize("length", ["-1", "many", "1e3", "²"])
def test_lengths_must_be_numbers(server, length):
    assert infer(server, b"", Content_Length=length.encode("latin-1"))[0] == 411


def test_a_stream_without_length_is_rejected(server):
    body = iter([b'{"text": "cat"}'])
    assert infer(server, body, Transfer_Encoding="chunked")[0] == 411


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "evil.example:{port}", ""])
def test_other_hosts_are_rejected(server, host):
    host = host.format(port=server.port)
    assert ask(server, Host=host)[0] == 403
    assert infer(server, '{"text": "cat"}', Host=host)[0] == 403


def test_localhost_is_a_name_of_this_machine(server):
    assert ask(server, Host=f"localhost:{server.port}")[0] == 200


def test_pages_of_other_sites_are_rejected(server):
    assert infer(server, '{"text": "cat"}', Origin="http://evil.example")[0] == 403
    assert infer(server, '{"text": "cat"}', Origin="null")[0] == 403
    assert infer(server, '{"text": "cat"}', Origin=server.url.partition("/?")[0])[0] == 200
    form = ask(server, "POST", "/infer", '{"text": "cat"}', Content_Type="text/plain")
    assert form[0] == 415


def test_a_port_in_use_is_rejected(server):
    with pytest.raises(InputError, match=r"'port' parameter must be one that is free.*try 0"):
        Server(server.model, "", server.port)
    with pytest.raises(InputError, match="Got 70000"):
        Server(server.model, "", 70000)


def test_serve_prints_its_address(run, tmp_path, monkeypatch):
    LDA(2, max_iter=5, verbose=False).fit(Corpus.from_texts(TEXTS)).save(tmp_path / "m")
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS) + "\n")
    pages = []

    def interrupted(server):
        pages.append(server.page)
        raise KeyboardInterrupt

    monkeypatch.setattr(Server, "serve_forever", interrupted)
    code, out, err = run("serve", "m", "--port", 0, "--corpus", "texts.txt")
    assert (code, out[:17]) == (0, "http://127.0.0.1:")
    assert "/?token=" in out
    assert "Ctrl-C ends" in err
    assert b'"snippet":["cat dog' in pages[0]


def test_readers_who_go_away_are_passed_over(server, capsys):
    sender = socket.create_connection(("127.0.0.1", server.port))
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sender.sendall(f"GET / HTTP/1.0\r\nHost: 127.0.0.1:{server.port}\r\n".encode())
    sender.close()  # resets the connection
    assert ask(server)[0] == 200
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_serve_on_the_command_line_ends_on_a_signal(tmp_path, number):
    LDA(2, max_iter=5, verbose=False).fit(Corpus.from_texts(TEXTS)).save(tmp_path / "m")
    process = subprocess.Popen(
        [sys.executable, "-m", "polyaurn.cli.app", "serve", "m", "--port", "0"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    try:
        url = process.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:")
        connection = http.client.HTTPConnection(url.split("/")[2], timeout=30)
        connection.request("GET", url[url.index("/?") :])
        assert connection.getresponse().read().startswith(b"<!DOCTYPE html>")
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0
    assert "Ended." in err
    assert "Traceback" not in err
