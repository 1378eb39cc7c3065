"""Labels by a language model: what is sent, what is made of answers, and what is kept."""

import json

import pytest

from polyaurn import LDA, Corpus, InputError, exchange, load
from polyaurn.exchange import llm_labels
from polyaurn.exchange.chat import ChatError, ChatServer
from polyaurn.exchange.llm_labels import (
    SYSTEM,
    Question,
    ask_for_labels,
    label_in,
    make_questions,
    what_is_sent,
)
from support.chat_server import chat_server, says

KEY = "sk-secret-0123456789"
TEXTS = [
    "the orbit of the moon and the planet",
    "a planet, a moon, and an orbit",
    "a goal in the cup, and a kick for the team",
    "the team won the cup with a goal",
] * 10


@pytest.fixture(scope="module")
def lda():
    return LDA(4, max_iter=20, verbose=False).fit(Corpus.from_texts(TEXTS))


def numbered(question):
    """Answer with a label of the question's first word."""
    return says(f"About {question['messages'][-1]['content'].split()[1].rstrip(',')}")


def labelled(lda, server, **options):
    return exchange.label_by_llm(lda, server.url, "tiny", verbose=False, **options)


def test_words_go_out_and_labels_come_back(lda, tmp_path):
    with chat_server("One", "Two", "Three", "Four") as server:
        model = labelled(lda, server, key=KEY, n_words=3)
    assert model.parameters["labels"] == ["One", "Two", "Three", "Four"]
    assert "labels" not in lda.model_.parameters
    assert server.questions == [f"Words: {', '.join(w)}\n\nLabel:" for w in lda.topics(3)]
    assert all(q["messages"][0] == {"role": "system", "content": SYSTEM} for q in server.asked)
    model.save(tmp_path / "m")
    kept = load(tmp_path / "m").parameters["label_requests"]
    assert [request["topic"] for request in kept] == [0, 1, 2, 3]
    assert kept[1] == {
        "topic": 1, "label": "Two", "url": server.url, "llm": "tiny", "system": SYSTEM,
        "asked": [{"prompt": server.questions[1], "answer": "Two"}],
    }  # fmt: skip
    assert KEY not in (tmp_path / "m" / "model.json").read_text()


def test_excerpts_go_out_only_where_texts_are_given(lda):
    with chat_server("One", "Two", "Three", "Four") as server:
        labelled(lda, server, texts=TEXTS, n_documents=2)
    for k, question in enumerate(server.questions):
        table = lda.representative_documents(k, 2, texts=TEXTS, as_frame=False)
        assert question.count("\n- ") == len(table["snippet"]) == 2
        assert all(f"\n- {snippet}\n" in question for snippet in table["snippet"])
    with pytest.raises(InputError, match="'texts' parameter must have one value for each"):
        exchange.label_by_llm(lda, "http://localhost:9/v1", "tiny", texts=TEXTS[1:])


def test_only_topics_without_a_label_are_asked_about(lda):
    given = lda.label_topics({1: "Mine"})
    with chat_server(numbered) as server:
        model = labelled(given, server)
        assert model.parameters["labels"][1] == "Mine"
        assert [r["topic"] for r in model.parameters["label_requests"]] == [0, 2, 3]
        again = labelled(model, server, topics=[1, 2])
    assert again.parameters["labels"][1] != "Mine"
    assert [r["topic"] for r in again.parameters["label_requests"]] == [0, 1, 2, 3]
    by_hand = again.label_topics({0: "By hand", 3: None})
    assert [r["topic"] for r in by_hand.parameters["label_requests"]] == [1, 2]
    assert "label_requests" not in by_hand.merge_topics([[0, 1]]).parameters


def test_a_label_that_is_taken_is_asked_for_again(lda):
    with chat_server("Space", "space", "Moon", "Cup", "Goal") as server:
        model = labelled(lda.label_topics({3: "Mine"}), server)
    assert model.parameters["labels"] == ["Space", "Moon", "Cup", "Mine"]
    assert "belong to other topics" in server.questions[2]
    assert "Space; Mine" in server.questions[2]
    assert len(model.parameters["label_requests"][1]["asked"]) == 2


def test_a_label_that_always_comes_again_gets_a_word(lda):
    with chat_server("Same") as server:
        labels = labelled(lda, server).parameters["labels"]
    assert labels[0] == "Same"
    assert len(set(labels)) == 4
    for k, words in enumerate(lda.topics(15)):
        assert labels[k] in ["Same", *(f"Same ({word})" for word in words)]
    assert len(server.asked) == 1 + 3 * llm_labels.QUESTIONS


@pytest.mark.parametrize(
    ("replies", "sentence"),
    [
        ([says("I'm sorry, I can't help with that.")], "declined to answer"),
        ([says("x " * 60)], "at most 60 characters. Got 119"),
        ([says("")], "gave an empty answer"),
        ([(200, "no JSON")], "must answer with JSON"),
        ([(500, "broken")], "HTTP status 500"),
        ([says("turned \u202e around")], "answered with control characters"),
    ],
)
def test_a_topic_without_a_usable_answer_has_no_label(lda, replies, sentence):
    """The first topic gets nothing but bad answers, the others good ones."""
    with (
        chat_server(*replies * llm_labels.QUESTIONS, numbered) as server,
        pytest.warns(UserWarning, match=f"No label for topic 0: .*{sentence}"),
    ):
        model = labelled(lda, server)
    labels = model.parameters["labels"]
    assert labels[0] is None
    assert all(labels[1:])


def test_one_bad_answer_is_asked_for_again(lda):
    with chat_server(says(""), "One", "Two", "Three", "Four") as server:
        model = labelled(lda, server)
    assert model.parameters["labels"] == ["One", "Two", "Three", "Four"]
    assert "two to five words only" in server.questions[1]


def test_a_server_that_fails_at_once_is_an_error(lda):
    with chat_server((401, "no")) as server, pytest.raises(ChatError, match="HTTP status 401"):
        labelled(lda, server)
    assert len(server.asked) == 1


def test_a_server_that_fails_later_leaves_the_labels_before(lda):
    with (
        chat_server("One", (404, "gone")) as server,
        pytest.warns(UserWarning, match="HTTP status 404 .* Meanwhile 1 label was kept"),
    ):
        model = labelled(lda, server)
    assert model.parameters["labels"] == ["One", None, None, None]


def test_three_topics_without_an_answer_end_it(lda):
    with chat_server((500, "broken")) as server, pytest.raises(ChatError, match="status 500"):
        labelled(lda, server)
    assert len(server.asked) == llm_labels.FAILURES * llm_labels.QUESTIONS


def test_an_interruption_leaves_the_labels_before(lda, monkeypatch):
    answers = iter(["One", "Two"])

    def answer(self, messages):
        try:
            return next(answers)
        except StopIteration:
            raise KeyboardInterrupt from None

    monkeypatch.setattr(ChatServer, "ask", answer)
    with pytest.warns(UserWarning, match="Stopped; 2 labels were kept"):
        model = exchange.label_by_llm(lda, "http://localhost/v1", "tiny", verbose=False)
    assert model.parameters["labels"] == ["One", "Two", None, None]


@pytest.mark.parametrize(
    "answer",
    ["Space travel", " Space travel.\n", '"Space travel"', "**Space travel**",
     "Label: Space travel", "Topic 3: Space travel", "The label is: Space travel",
     "- Space travel", "# Space travel",
     '{"label": "Space travel"}', '```json\n{"label": "Space travel"}\n```', "“Space travel”",
     "<think>Hm, moons.\nLabel: Moons?</think>\n\nSpace travel", "Here is a label:\nSpace travel",
     "Space travel\n\nThis label fits since ...", "Space \t travel"],
)  # fmt: skip
def test_what_is_made_of_answers(answer):
    assert label_in(answer, 0) == "Space travel"


@pytest.mark.parametrize(
    ("answer", "label"),
    [("Label - a history: topic - b", "a history: topic - b"), ("C++", "C++"), ("{", "{"),
     ("[1]", "[1]"), ("太空旅行", "太空旅行"), ('{"name": "x"}', '{"name": "x"}')],
)  # fmt: skip
def test_odd_labels(answer, label):
    assert label_in(answer, 0) == label


@pytest.mark.parametrize("answer", ["<think>for ever", "...", "**", '{"label": ""}', "Labels:"])
def test_answers_without_a_label(answer):
    with pytest.raises(ChatError, match="gave an empty answer"):
        label_in(answer, 0)


def test_what_is_sent_is_said(lda, capsys):
    questions = make_questions(lda.model_, [0, 1], 5)
    size = sum(len(SYSTEM) + len(question.text()) for question in questions)
    said = what_is_sent(questions, ChatServer("http://localhost:11434/v1", "tiny"))
    assert said == (
        f"2 requests with {size:,} characters (leading words) are sent to "
        "http://localhost:11434/v1/chat/completions, model 'tiny', and some again where a label is "
        "taken."
    )
    with_texts = [Question(0, ["moon"], ["the moon", "a moon"])]
    assert "(leading words and 2 excerpts of documents)" in what_is_sent(
        with_texts, ChatServer("https://example.com/v1", "tiny")
    )
    for url, warned in (("http://example.com/v1", True), ("https://example.com/v1", False)):
        assert ("unencrypted" in what_is_sent(questions, ChatServer(url, "tiny"))) is warned
    with chat_server("One", "Two", "Three", "Four") as server:
        exchange.label_by_llm(lda, server.url, "tiny")
    assert f"are sent to {server.url}/chat/completions" in capsys.readouterr().err


def test_nothing_is_sent_about_topics_without_words():
    lda = LDA(5, max_iter=3, verbose=False).fit(Corpus.from_matrix([[1, 0], [1, 0]]))
    asked = make_questions(lda.model_, range(5))
    assert [question.topic for question in asked] == [
        k for k, size in enumerate(lda.model_.topic_sizes) if size
    ]


def test_long_answers_are_kept_only_in_part(lda):
    with chat_server("<think>" + "x" * 5000 + "</think>One") as server:
        found = ask_for_labels(make_questions(lda.model_, [0]), ChatServer(server.url, "t"), [])
    assert found.labels == {0: "One"}
    assert len(found.requests[0]["asked"][0]["answer"]) == 2_000
    assert json.dumps(found.requests)
