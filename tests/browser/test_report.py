"""The report in a real browser: clicks, searches, hostile words, no requests."""

import threading
import time

import numpy as np
import pytest

from polyaurn import LDA, write_report
from polyaurn.exchange.parts import topics_only
from polyaurn.model.leading_words import RELEVANCE
from polyaurn.pages.report.data import gather
from polyaurn.pages.report.page import render
from polyaurn.pages.report.serve import Server

pytest.importorskip("selenium")
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from support.browser import (
    DESKTOP,
    HOSTILE,
    get,
    heading,
    open_at,
    press,
    requests,
    texts,
    wait_for,
)


def test_no_request_and_no_complaint(opened, page):
    for tab in ("documents", "time", "training", "topics"):
        get(opened, f"#tab-{tab}").click()
        assert get(opened, f"#{tab}").is_displayed()
    assert opened.get_log("browser") == []
    asked = [url for url in requests(opened) if url != "about:blank"]
    assert set(asked) <= {page, "data:,"}
    assert page in asked


def test_hostile_names_are_text(opened):
    assert opened.title == HOSTILE
    assert get(opened, "h1").text == HOSTILE
    assert opened.find_elements(By.TAG_NAME, "img") == []
    get(opened, "#search").send_keys("onerror")
    assert [t.split("'>")[0] for t in texts(opened, "#found .cut")] == [HOSTILE[:-2]] * 2
    press(opened, Keys.ENTER)
    assert HOSTILE in heading(opened)
    get(opened, "#search").send_keys("onerror", Keys.ARROW_DOWN, Keys.ENTER)
    assert heading(opened, "#document") == HOSTILE
    wait_for(lambda: get(opened, "#document .text").text)
    assert HOSTILE in get(opened, "#document .text").text
    assert opened.find_elements(By.TAG_NAME, "img") == []
    assert opened.title == HOSTILE
    assert opened.get_log("browser") == []


def test_the_policy_stops_what_would_get_in(opened):
    opened.execute_script("""
        const script = document.createElement("script");
        script.textContent = "document.title = 1";
        const picture = document.createElement("div");
        picture.innerHTML = '<img src=x onerror="document.title = 2">';
        document.body.append(script, picture);""")
    time.sleep(0.2)
    assert opened.title == HOSTILE
    assert "Content Security Policy" in str(opened.get_log("browser"))


def test_topics_begin_with_the_largest_and_are_chosen_by_click(opened, lda):
    sizes = lda.model_.topic_sizes
    order = sorted(range(6), key=lambda k: (-sizes[k], k))
    assert [int(t) for t in texts(opened, "#topic-list b")] == order
    assert heading(opened) == f"Topic {order[0]}"
    assert f"{sizes[order[0]]:,} tokens" in get(opened, "#topic .note").text
    opened.find_elements(By.CSS_SELECTOR, "#topic-list [role=option]")[2].click()
    assert heading(opened) == f"Topic {order[2]}"
    assert texts(opened, "#topic .word") == lda.model_.topics(30)[order[2]]
    get(opened, "#topic-order").send_keys("number")
    assert [int(t) for t in texts(opened, "#topic-list b")] == list(range(6))
    chosen = get(opened, "#topic-list [aria-selected=true] b").text
    assert chosen == str(order[2])


def test_circles_are_chosen_by_click(opened):
    for k in (3, 0, 5):
        circle = opened.find_elements(By.CSS_SELECTOR, "#map circle")[k]
        ActionChains(opened).move_to_element(circle).pause(0.1).perform()
        assert get(opened, "#map-tip").text.startswith(f"{k} ·")
        circle.click()
        assert heading(opened) == f"Topic {k}"
        assert circle.get_attribute("class") == "on"
        assert opened.current_url.endswith(f"#topic-{k}")


def test_the_slider_orders_words_by_relevance(opened, lda):
    model = lda.model_
    k = int(heading(opened).split()[1])
    n = model.topic_word_counts.toarray()
    p = (n[k] + model.priors.beta) / (n[k] + model.priors.beta).sum()
    lift = np.log(p / (n.sum(axis=0) / n.sum()))
    seen = []
    assert float(get(opened, "#lambda").get_attribute("value")) == RELEVANCE
    for keys in (Keys.END, Keys.ARROW_LEFT * 4, Keys.HOME):
        get(opened, "#lambda").send_keys(keys)
        at = float(get(opened, "#lambda").get_attribute("value"))
        score = np.where(n[k] > 0, at * np.log(p) + (1 - at) * lift, -np.inf)
        order = np.argsort(-score.round(9), kind="stable")[: int((n[k] > 0).sum())]
        assert texts(opened, "#topic .word") == [model.vocab[v] for v in order[:30]]
        assert get(opened, "#topic output").text == f"{at:.1f}"
        seen.append((at, texts(opened, "#topic .word")))
    assert [at for at, _ in seen] == [1.0, 0.6, 0.0]
    assert seen[0][1] == model.topics(30, order="frequency")[k]
    assert seen[1][1] == model.topics(30)[k]
    assert seen[0][1] != seen[2][1]


def test_a_word_shows_its_topics(opened, lda):
    get(opened, "#search").send_keys("common")
    press(opened, Keys.ENTER)
    if heading(opened).startswith("Topic"):  # topics that the word leads come first
        opened.find_elements(By.CSS_SELECTOR, "#topic .word")[
            texts(opened, "#topic .word").index("common")
        ].click()
    assert heading(opened) == "“common”"
    column = lda.model_.topic_word_counts.toarray()[:, lda.model_.vocab.index("common")]
    listed = [int(t.split()[0]) for t in texts(opened, "#topic .word")]
    assert listed == sorted(np.flatnonzero(column), key=lambda k: (-column[k], k))[:5]
    on = [i for i, c in enumerate(opened.find_elements(By.CSS_SELECTOR, "#map circle"))
          if c.get_attribute("class") == "on"]  # fmt: skip
    assert on == sorted(listed)
    get(opened, "#back-to-topic").click()
    assert heading(opened).startswith("Topic")


def test_search_finds_topics_words_and_documents(opened):
    search = get(opened, "#search")
    search.send_keys("moon")
    assert texts(opened, "#found .group") == ["Topics", "Words"]
    assert search.get_attribute("aria-expanded") == "true"
    search.send_keys(Keys.ESCAPE)
    assert search.get_attribute("aria-expanded") == "false"
    search.clear()
    search.send_keys("topic 4", Keys.ENTER)
    assert heading(opened) == "Topic 4"
    search.send_keys("paper 17")
    assert texts(opened, "#found .group") == ["Documents"]
    get(opened, "#found [role=option]").click()
    assert heading(opened, "#document") == "paper 17"
    assert get(opened, "#documents").is_displayed()
    search.send_keys("nowhere")
    assert "Nothing is called “nowhere” here." in get(opened, "#found").text


def test_documents_show_their_words_by_topic(browser, page_of_counts, lda):
    open_at(browser, page_of_counts, DESKTOP)
    opened = browser
    get(opened, "#tab-documents").click()
    assert "All 80 documents are shown." in get(opened, "#documents").text
    opened.find_elements(By.CSS_SELECTOR, "#document-list [role=option]")[5].click()
    assert heading(opened, "#document") == "paper 5"
    assert "order of a document's words is not kept" in get(opened, "#document").text
    corpus, z = lda.corpus_, lda.assignments_
    tokens = slice(corpus.doc_ptr[5], corpus.doc_ptr[6])
    shown = 0
    for chip in texts(opened, "#document .bag span"):
        shown += int(chip.split("×")[1]) if "×" in chip else 1
    assert shown == corpus.doc_ptr[6] - corpus.doc_ptr[5]
    numbers = [int(t.split()[0]) for t in texts(opened, "#document .group-of-words > button")]
    assert sorted(numbers) == sorted(set(z[tokens].tolist()))
    get(opened, "#document .group-of-words > button").click()
    assert heading(opened) == f"Topic {numbers[0]}"
    get(opened, "#tab-documents").click()
    get(opened, "#document-topic").send_keys("0 ")
    listed = texts(opened, "#document-list .cut")
    with_topic = np.flatnonzero(lda.doc_topic_counts_.toarray()[:, 0])
    assert sorted(listed) == sorted(corpus.doc_names[d] for d in with_topic)


def test_topics_over_time(opened):
    get(opened, "#tab-time").click()
    assert len(texts(opened, "#time-list button")) == 6
    assert {"2000", "2009"} <= set(texts(opened, "#time-chart text"))
    second = opened.find_elements(By.CSS_SELECTOR, "#time-list button")[1]
    number = second.text.split()[0]
    second.click()
    assert get(opened, "#time-name").text.startswith(f"Topic {number}:")
    points = get(opened, "#time-chart polyline").get_attribute("points").split()
    assert len(points) == 10


def test_the_trace_is_drawn_and_judged(opened):
    get(opened, "#tab-training").click()
    drawn = sum(
        len(line.get_attribute("points").split())
        for line in opened.find_elements(By.CSS_SELECTOR, "#trace polyline")
    )
    assert drawn >= 150
    verdict = get(opened, "#verdict").text
    assert "per 100 sweeps" in verdict
    assert "log posteriors, worth about" in verdict
    assert "Effective sample size of the second half" in get(opened, "#note-trace").text
    assert "polya-urn" in get(opened, "#facts").text


def test_an_address_leads_to_its_topic_or_document(browser, page):
    open_at(browser, page + "#topic-4", DESKTOP)
    assert heading(browser) == "Topic 4"
    open_at(browser, page + "#document-8", DESKTOP)
    assert heading(browser, "#document") == "paper 8"
    open_at(browser, page + "#topic-99", DESKTOP)
    assert heading(browser).startswith("Topic")
    assert browser.get_log("browser") == []


@pytest.mark.parametrize("K", [1, 2])
def test_a_model_without_documents(browser, tmp_path, K):
    counts = np.eye(K, 3) + 0.25
    model = topics_only(counts, 0.1, 0.01, ["a", "b", "c"], "elsewhere", "'vocab' parameter")
    open_at(browser, write_report(model, tmp_path / "a.html").as_uri(), DESKTOP)
    similar = ["Similar topics"] * (K > 1)
    assert texts(browser, "[role=tab]") == ["Topics", *similar, "Training"]
    assert texts(browser, "#topic .word") == model.topics(3)[0]
    get(browser, "#tab-training").click()
    assert "nothing can be said about convergence" in get(browser, "#verdict").text
    assert browser.get_log("browser") == []


@pytest.fixture(scope="module")
def server(lda):
    with Server(lda.model_, render(gather(lda), served=True)) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def test_a_pasted_text_has_its_topics(browser, server, lda):
    open_at(browser, server.url, DESKTOP)
    get(browser, "#tab-try").click()
    text = "a rocket in orbit near the moon; a comet, a star and a galaxy"
    get(browser, "#try-text").send_keys(text)
    get(browser, "#try-form button").click()
    wait_for(lambda: texts(browser, "#try-found .word"))
    expected = int(lda.model_.transform([text])[0].argmax())
    assert texts(browser, "#try-found .word")[0].split()[0] == str(expected)
    assert "moon" in lda.model_.topics(10)[expected]
    assert "6 of 7 tokens are of words that the model knows" in get(browser, "#try-found").text
    assert browser.get_log("browser") == []
    assert all(
        url.startswith((server.url.partition("?")[0], "data:", "about:"))
        for url in requests(browser)
    )
    browser.execute_script("document.getElementById('try-text').value = 'a'.repeat(1e6)")
    get(browser, "#try-form button").click()
    wait_for(lambda: texts(browser, "#try-found [role=alert]"))
    assert "too long" in get(browser, "#try-found").text
    get(browser, "#try-text").clear()
    get(browser, "#try-text").send_keys("quite unknown language altogether")
    get(browser, "#try-form button").click()
    wait_for(lambda: "must share words with the model" in get(browser, "#try-found").text)


def test_seeds_rank_words_and_labels_name_topics(browser, lda, tmp_path):
    seeds = {1: ["salad", "coach"], 3: ["comet"]}
    again = LDA(6, max_iter=20, seed_words=seeds, seed_strength=5000, verbose=False)
    model = again.fit(lda.corpus_).model_.label_topics({1: "Lunch & matches"})
    page = write_report(model, tmp_path / "seeded.html", corpus=lda.corpus_)
    open_at(browser, f"{page.as_uri()}#topic-1", DESKTOP)
    assert heading(browser) == "Topic 1: Lunch & matches"
    assert "1: Lunch & matches" in texts(browser, "#topic-list b")
    assert "Lunch & matches" in texts(browser, "#map text.beside")
    for weight in (1.0, 0.0):
        browser.execute_script(
            "const slider = document.getElementById('lambda'); slider.value = arguments[0];"
            "slider.dispatchEvent(new Event('input'))",
            weight,
        )
        table = model.topic_words(
            "relevance", 30, topics=[1], relevance_lambda=weight, as_frame=False
        )
        assert texts(browser, "#topic-words .word") == table["word"]
    assert "NaN" not in get(browser, "#topic-words").text
    search = get(browser, "#search")
    search.send_keys("lunch")
    assert "1  Lunch & matches" in texts(browser, "#found .cut")
