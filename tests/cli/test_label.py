"""The label command: by hand, from a file, by a language model; what is stored and what is not."""

import json
import sys

import pytest

from polyaurn import load
from polyaurn.exchange.chat import ChatServer
from support.chat_server import chat_server, says

TRAIN = "train texts.txt --topics 3 --sweeps 6 --threads 1 --device cpu -q --out m"


@pytest.fixture
def model(run, texts, tmp_path):
    assert run(*TRAIN.split())[0] == 0
    return tmp_path / "m"


def labels(folder):
    return load(folder).parameters.get("labels")


def others(folder):
    """Return the bytes of all files but the header, which has the labels."""
    files = [f for f in folder.iterdir() if f.name != "model.json" and f.is_file()]
    return {file.name: file.read_bytes() for file in files}


def by_llm(run, server, *options):
    return run("label", "m", "--by-llm", "--url", server.url, "--model", "tiny", *options)


def test_labels_by_hand(run, model):
    before = others(model)
    code, out, _ = run("label", "m", "1=Space", "2= House  prices ")
    assert code == 0
    assert labels(model) == [None, "Space", "House prices"]
    assert [line.split("\t")[1] for line in out.splitlines()] == ["Space", "House prices"]
    assert others(model) == before
    _, out, _ = run("topics", "m")
    assert [line.split("\t")[1] for line in out.splitlines()] == ["", "Space", "House prices"]
    assert run("label", "m", "1=Prices", "2=Space", "-q") == (0, "", "")
    assert labels(model) == [None, "Prices", "Space"]
    run("label", "m", "--remove", 1, "--remove", "2", "-q")
    assert labels(model) is None
    run("label", "m", "0=a=b", "-q")
    assert labels(model) == ["a=b", None, None]


def test_labels_are_listed(run, model):
    run("label", "m", "1=Space", "-q")
    words = [" ".join(listed) for listed in load(model).topics(8)]
    for options in ((), ("--list",)):
        _, out, _ = run("label", "m", *options)
        rows = [line.split("\t") for line in out.splitlines()]
        assert rows == [["0", "", words[0]], ["1", "Space", words[1]], ["2", "", words[2]]]
    _, out, _ = run("label", "m", "--json")
    assert [topic["label"] for topic in json.loads(out)] == [None, "Space", None]


def test_only_topics_that_changed_are_listed_unless_all_are_asked_for(run, model):
    _, out, _ = run("label", "m", "1=Space", "2=Music")
    assert [line.split("\t")[:2] for line in out.splitlines()] == [["1", "Space"], ["2", "Music"]]
    _, out, _ = run("label", "m", "--remove", 1)
    assert [line.split("\t")[:2] for line in out.splitlines()] == [["1", ""]]
    _, out, _ = run("label", "m", "0=Pets", "--all")
    assert [line.split("\t")[1] for line in out.splitlines()] == ["Pets", "", "Music"]


def test_labels_from_a_file(run, model, tmp_path):
    file = tmp_path / "labels.csv"
    file.write_text('\ufefflabel,note,Topic\r\n"Space, mostly",x,1\r\n\r\nPets,,0\r\n', "utf-8")
    assert run("label", "m", "--from", file, "2=Third", "-q")[0] == 0
    assert labels(model) == ["Pets", "Space, mostly", "Third"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "must have the columns topic and label in its first line. Got ''"),
        ("0,Pets\n", "must have the columns topic and label in its first line. Got '0,pets'"),
        (
            "topic,label\nx,Pets\n",
            "'labels.csv', line 2: expected a topic's number from 0 to 2 in the column topic. Got "
            "'x'",
        ),
        (
            "topic,label\n0\n",
            "The column label of 'labels.csv', line 2, must give each topic a string that is not "
            "empty. Got '' for topic 0",
        ),
        ("topic,label\n0,a\n0,b\n", "line 3: expected each topic once. Got topic 0, which line 2"),
        ("topic,label\n0,a\n\n1,A\n", "line 4: expected a label of its own for each topic. Got"),
        ('topic,label\n0,"a\nb"\n9,a\n', "'labels.csv', line 4: expected"),
        ("topic,label\n9,a\n", "line 2: expected a topic's number from 0 to 2 in the column topic"),
        ('topic,label\n0,"a\n', "The file 'labels.csv', line 2: expected CSV."),
    ],
)
def test_files_that_are_rejected(run, model, tmp_path, text, sentence):
    (tmp_path / "labels.csv").write_text(text)
    code, _, error = run("label", "m", "--from", "labels.csv")
    assert code == 2
    assert sentence in error
    assert "option" not in error
    assert labels(model) is None


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["9=x"], "The 'LABELS' argument must be a topic's number, from 0 to 2. Got 9 instead"),
        (["x=1"], "must be written as TOPIC=LABEL, such as"),
        (["1"], "must be written as TOPIC=LABEL"),
        (["1="], "a string that is not empty"),
        (["1=a\x1b[2J"], r"without control characters. Got 'a\x1b[2J' for topic 1"),
        (["1=" + "x" * 101], "at most 100 characters. Got 101 for topic 1"),
        (["1=a", "--remove", "1"], "Got topic 1 twice"),
        (["--remove", "9"], "from 0 to 2. Got 9"),
        (["--from", "none.csv"], "The file 'none.csv' cannot be read: No such file"),
        (["1=a", "--list"], "must stand alone"),
        (["1=a", "--by-llm"], "must stand alone"),
        (["--url", "http://localhost/v1"], "The '--url' option is for --by-llm"),
        (["1=a", "--documents", "3"], "The '--documents' option is for --by-llm"),
        (["--text-column", "x"], "The '--text-column' option is for --by-llm"),
        (["--by-llm", "--model", "x"], "The '--url' option must be given for --by-llm"),
        (["--by-llm", "--url", "http://localhost/v1"], "The '--model' option must be given"),
        (["--by-llm", "--url", "x", "--model", "y"], "The '--url' option must be the address of a"),
        (["--by-llm", "--url", "http://a/v1", "--model", " "], "The '--model' option must be the"),
        (["--by-llm", "--url", "http://a/v1", "--model", "y", "--key-variable", "NO_SUCH_KEY"],
         "'NO_SUCH_KEY' is not set or empty"),
        (["--by-llm", "--url", "http://a/v1", "--model", "y", "--words", "0"], "'--words' option"),
        (["--by-llm", "--url", "http://a/v1", "--model", "y", "--documents", "-1"],
         "'--documents' option must be a whole number, at least 0"),
        (["--by-llm", "--url", "http://a/v1", "--model", "y", "--timeout", "0"], "'--timeout'"),
    ],
)  # fmt: skip
def test_what_is_rejected_changes_nothing(run, model, options, sentence):
    before = (model / "model.json").read_bytes()
    code, out, error = run("label", "m", *options)
    assert (code, out) == (2, "")
    assert sentence in error
    assert error.count("\n") == 1
    assert (model / "model.json").read_bytes() == before


def test_labels_survive_a_resumed_training(run, model):
    run("label", "m", "1=Space", "-q")
    assert run(*TRAIN.replace("--sweeps 6", "--sweeps 9").split(), "--resume")[0] == 0
    assert load(model).parameters["sweeps"] == 9
    assert labels(model) == [None, "Space", None]
    assert run(*TRAIN.split(), "--force", "--seed", 3)[0] == 0
    assert labels(model) is None


def test_a_language_model_gives_labels(run, model, monkeypatch):
    monkeypatch.setenv("TEST_KEY", "sk-secret")
    run("label", "m", "1=Mine", "-q")
    before = others(model)
    with chat_server("Space", "Pets") as server:
        code, out, error = by_llm(run, server, "--key-variable", "TEST_KEY")
    assert code == 0
    assert labels(model) == ["Space", "Mine", "Pets"]
    assert f"2 requests with {sum(map(len, sent(server))):,} characters" in error
    assert "(leading words and 6 excerpts of documents)" in error
    assert f"are sent to {server.url}/chat/completions, model 'tiny'" in error
    assert "2 labels written." in error
    assert "Pets" in out
    assert server.headers[0]["Authorization"] == "Bearer sk-secret"
    kept = load(model).parameters["label_requests"]
    assert [request["asked"][0]["prompt"] for request in kept] == server.questions
    assert "sk-secret" not in (model / "model.json").read_text() + out + error
    assert others(model) == before
    code, _, error = by_llm(run, server)
    assert code == 2
    assert "All have one; add --replace" in error
    with chat_server("A", "B", "C") as server:
        assert by_llm(run, server, "--replace", "-q") == (0, "", "")
    assert labels(model) == ["A", "B", "C"]


def sent(server):
    return [m["content"] for question in server.asked for m in question["messages"]]


def test_excerpts_of_leading_documents_are_sent(run, model, texts, tmp_path):
    lines = texts.read_text().splitlines()
    with chat_server("A", "B", "C") as server:
        code, _, error = by_llm(run, server)
        assert code == 0
        assert all(text.count("\n- ") == 3 for text in server.questions)
        size = sum(map(len, sent(server)))
        said = f"{size:,} characters (leading words and 9 excerpts of documents)"
        assert said in error
    with chat_server("A", "B", "C") as server:
        assert by_llm(run, server, "--replace", "--documents", 0)[0] == 0
        assert not any(line in text for text in server.questions for line in lines)
    with chat_server("A", "B", "C") as server:
        _, _, error = by_llm(run, server, "--replace", "--documents", 2)
        assert all(text.count("\n- ") == 2 for text in server.questions)
        assert all(any(f"- {line}\n" in text for line in lines) for text in server.questions)
    assert "6 excerpts of documents" in error
    texts.rename(tmp_path / "moved.txt")
    with chat_server("A", "B", "C") as server:
        code, _, error = by_llm(run, server, "--replace", "--documents", 2)
        assert code == 2
        assert "is no longer there. Name its new place with --corpus." in error
        assert server.asked == []
        code, _, _ = by_llm(run, server, "--replace", "--documents", 2, "--corpus", "moved.txt")
        assert code == 0


def test_only_words_are_sent_with_a_note_where_texts_are_not_found(run, model, texts):
    texts.write_text("another text\n")
    with chat_server("A", "B", "C") as server:
        code, _, error = by_llm(run, server)
    assert code == 0
    assert "Note: Only words are sent, without excerpts of documents. The corpus" in error
    assert "(leading words)" in error
    assert not any("Excerpts" in text for text in server.questions)
    texts.unlink()
    with chat_server("A", "B", "C") as server:
        code, _, error = by_llm(run, server, "--replace")
    assert code == 0
    assert "is no longer there. Name its new place with --corpus." in error
    with chat_server("A", "B", "C") as server:
        assert by_llm(run, server, "--replace", "-q") == (0, "", "")


def test_a_failure_keeps_the_labels_before(run, model):
    with chat_server("Space", (404, "gone")) as server:
        code, out, error = by_llm(run, server)
    assert (code, out) == (2, "")
    assert error.splitlines()[-1] == (
        f"polyaurn: The server 127.0.0.1:{server.server_port} answered with HTTP status 404 (gone);"
        " check --url (url) and the model's name. Meanwhile 1 label was kept."
    )
    assert labels(model) == ["Space", None, None]


def test_topics_without_an_answer_are_named(run, model):
    with chat_server("Space", says(""), says(""), says(""), "Pets") as server:
        code, _, error = by_llm(run, server)
    assert code == 0
    assert "No label for topic 1: The language model gave an empty answer." in error
    assert labels(model) == ["Space", None, "Pets"]


def test_ctrl_c_keeps_the_labels_before(run, model, monkeypatch):
    answers = iter(["Space"])

    def answer(self, messages):
        try:
            return next(answers)
        except StopIteration:
            raise KeyboardInterrupt from None

    monkeypatch.setattr(ChatServer, "ask", answer)
    code, _, error = run("label", "m", "--by-llm", "--url", "http://localhost/v1", "--model", "t")
    assert code == 130
    assert "Stopped; 1 label was kept." in error
    assert labels(model) == ["Space", None, None]


@pytest.mark.parametrize(
    ("reply", "options", "count"), [(False, (), 0), (True, (), 3), (False, ("--yes",), 3)]
)
def test_a_terminal_is_asked_before_anything_is_sent(
    run, model, monkeypatch, reply, options, count
):
    import typer

    asked = []

    def confirm(text, abort, err):
        asked.append(text)
        if not reply:
            raise typer.Abort

    monkeypatch.setattr(typer, "confirm", confirm)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with chat_server("A", "B", "C") as server:
        code, _, error = by_llm(run, server, *options)
    assert len(server.asked) == count
    assert code == (0 if count else 130)
    assert asked == ([] if options else ["Send?"])
    assert "are sent to" in error
    assert labels(model) == (["A", "B", "C"] if count else None)


def test_a_model_that_was_replaced_meanwhile_is_not_touched(run, model):
    def replace(question):
        assert run(*TRAIN.split(), "--force", "--seed", 5)[0] == 0
        return says("Space")

    with chat_server(replace, "Pets", "Third") as server:
        code, _, error = by_llm(run, server)
    assert code == 2
    assert "It holds another one; has it been replaced meanwhile?" in error
    assert labels(model) is None
