"""Changes of a served model: saved whole, and made by the page's own script only."""

import errno
import json
import threading

import numpy as np
import pytest

from polyaurn import LDA, Corpus, load
from polyaurn.pages.report.data import gather
from polyaurn.pages.report.edits import Edits
from polyaurn.pages.report.page import render
from polyaurn.pages.report.serve import MERGE, RENAME, TOKEN_HEADER, Server
from support.pages import ask, data_of

TEXTS = ["cat dog cat bird", "dog cat bird dog", "planet star moon", "soup bread salad soup"] * 8


@pytest.fixture
def folder(tmp_path):
    lda = LDA(4, max_iter=40, verbose=False).fit(Corpus.from_texts(TEXTS))
    return lda.save(tmp_path / "m")


@pytest.fixture
def server(folder):
    model, edits = load(folder), Edits(folder, gather)
    page = render(gather(model), served=True, editable=True)
    with Server(model, page, edits=edits) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def send(server, path, wanted, **other):
    """Send a change as the page does, with other headers where given; None leaves one out."""
    headers = {
        "Content_Type": "application/json",
        "Origin": f"http://127.0.0.1:{server.port}",
        TOKEN_HEADER: server.token,
    } | other
    given = {name: value for name, value in headers.items() if value is not None}
    status, _, content = ask(server, "POST", path, json.dumps(wanted), **given)
    return status, json.loads(content)


def bytes_in(folder):
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir()) if file.is_file()}


def test_a_name_is_saved_and_shown(server, folder):
    assert send(server, RENAME, {"topic": 2, "label": " Small  animals "}) == (200, {"topics": 4})
    assert load(folder).parameters["labels"] == [None, None, "Small animals", None]
    data = data_of(ask(server)[2].decode())
    assert (data["topics"]["label"][2], data["editable"]) == ("Small animals", True)
    assert send(server, RENAME, {"topic": 2, "label": ""})[0] == 200
    assert "labels" not in load(folder).parameters


def test_merged_topics_are_one_and_the_model_is_consistent(server, folder):
    before = load(folder)
    assert send(server, MERGE, {"topics": [3, 1]}) == (200, {"topics": 3})
    after = load(folder)  # which verifies checksums, sizes and sums
    assert after.n_topics == server.model.n_topics == 3
    assert after.topic_sizes[1] == before.topic_sizes[[1, 3]].sum()
    assert np.array_equal(after.assignments == 1, np.isin(before.assignments, (1, 3)))
    assert len(data_of(ask(server)[2].decode())["topics"]["number"]) == 3
    assert send(server, RENAME, {"topic": 3, "label": "gone"})[0] == 422


@pytest.mark.parametrize(
    "wanted",
    [
        (MERGE, {"topics": [1]}), (MERGE, {"topics": [1, 1]}), (MERGE, {"topics": [0, 1, 2, 3]}),
        (MERGE, {"topics": [0, 9]}), (MERGE, {"topics": "01"}), (MERGE, {}),
        (RENAME, {"topic": "1", "label": "a"}), (RENAME, {"topic": 1}),
        (RENAME, {"topic": True, "label": "a"}), (RENAME, {"topic": 1, "label": "a" * 201}),
        (RENAME, {"topic": 1, "label": "a\u0000b"}),
    ],
)  # fmt: skip
def test_bad_changes_are_rejected_and_leave_the_model(server, folder, wanted):
    before = bytes_in(folder)
    status, answer = send(server, *wanted)
    assert status == 422
    assert "parameter must" in answer["error"]
    assert bytes_in(folder) == before


@pytest.mark.parametrize(
    "other",
    [
        {TOKEN_HEADER: None}, {TOKEN_HEADER: "a"}, {"Origin": None}, {"Origin": "null"},
        {"Origin": "http://evil.example"}, {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"}, {"Host": "evil.example"}, {"Content_Type": "text/plain"},
    ],
)  # fmt: skip
def test_only_the_pages_own_script_may_change_the_model(server, folder, other):
    before = bytes_in(folder)
    status, _ = send(server, MERGE, {"topics": [0, 1]}, **other)
    assert status == (415 if "Content_Type" in other else 403)
    assert bytes_in(folder) == before


def test_the_address_needs_its_token_too(server, folder):
    headers = {"Origin": f"http://127.0.0.1:{server.port}", TOKEN_HEADER: server.token}
    found = ask(server, "POST", MERGE, '{"topics": [0, 1]}', query="",
                Content_Type="application/json", **headers)  # fmt: skip
    assert found[0] == 403
    assert load(folder).n_topics == 4


@pytest.mark.parametrize("body", ["", "[]", "7", "{", "[" * 100_000])
def test_what_is_no_change_is_rejected(server, body):
    headers = {"Origin": f"http://127.0.0.1:{server.port}", TOKEN_HEADER: server.token}
    assert ask(server, "POST", RENAME, body, Content_Type="application/json", **headers)[0] == 400


def test_a_page_without_edits_has_no_such_routes(folder):
    with Server(load(folder), "page") as plain:
        thread = threading.Thread(target=plain.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        assert send(plain, RENAME, {"topic": 1, "label": "a"})[0] == 404
        plain.shutdown()
        thread.join()


def test_a_model_that_changed_meanwhile_is_not_touched(server, folder):
    other = LDA(4, max_iter=40, random_state=1, verbose=False).fit(Corpus.from_texts(TEXTS))
    other.save(folder, force=True)
    before = bytes_in(folder)
    status, answer = send(server, RENAME, {"topic": 1, "label": "a"})
    assert (status, bytes_in(folder) == before) == (422, True)
    assert "is not the one on the page any more" in answer["error"]


def test_labels_given_elsewhere_meanwhile_stay(server, folder):
    load(folder).label_topics({0: "From elsewhere"}).save(folder, force=True)
    assert send(server, RENAME, {"topic": 1, "label": "Here"})[0] == 200
    assert load(folder).parameters["labels"][:2] == ["From elsewhere", "Here"]


def test_a_change_that_cannot_be_written_leaves_the_old_model(server, folder, monkeypatch):
    before = bytes_in(folder)

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("polyaurn.model.folder._seal", full)
    status, answer = send(server, MERGE, {"topics": [0, 1]})
    assert (status, "No space left on device" in answer["error"]) == (507, True)
    assert (bytes_in(folder), server.model.n_topics) == (before, 4)
