"""The report in a real browser: clicks, keys, colours, a phone, hostile words, no requests."""

import json
import shutil
import threading
import time

import numpy as np
import pytest

from polyaurn import LDA, Corpus, write_report
from polyaurn.exchange.parts import topics_only
from polyaurn.pages.report.data import gather
from polyaurn.pages.report.page import render
from polyaurn.pages.report.serve import Server

pytest.importorskip("selenium")
from selenium import webdriver
from selenium.webdriver import ActionChains
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

HOSTILE = "</script><img src=x onerror=document.title='hacked'>"
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage"
)
SUBJECTS = (
    "cat dog bird fish horse mouse rabbit tiger",
    "moon star planet orbit comet rocket galaxy telescope",
    "goal team cup match player league coach stadium",
    "bread cheese apple soup pasta butter sugar salad",
)
WIDTH = "return Math.max(document.documentElement.scrollWidth, innerWidth)"
DESKTOP, PHONE = (1280, 900), (390, 844)


@pytest.fixture(scope="module")
def lda():
    """Train on four subjects; one word and one document's name are hostile."""
    rng = np.random.default_rng(0)
    subjects = [subject.split() for subject in SUBJECTS]
    subjects[2].append("longer" * 15)
    subjects[3].append(HOSTILE)
    vocabulary = sorted({word for subject in subjects for word in subject} | {"common"})
    place = {word: v for v, word in enumerate(vocabulary)}
    X = np.zeros((80, len(vocabulary)), int)
    for d in range(80):
        for word in rng.choice(subjects[d % 4], 30):
            X[d, place[word]] += 1
        X[d, place["common"]] += 6
    names = [f"paper {d}" for d in range(60)] + ["long" * 30] * 19 + [HOSTILE]
    corpus = Corpus.from_matrix(X, vocabulary, doc_names=names)
    return LDA(6, max_iter=60, evaluate_every=1, verbose=False).fit(corpus)


@pytest.fixture(scope="module")
def page(lda, tmp_path_factory):
    dates = [f"{2000 + d // 8}" for d in range(80)]
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(lda, path, corpus=lda.corpus_, dates=dates, title=HOSTILE)
    return path.as_uri()


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    binary = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("no browser here: chromium and chromedriver are not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in FLAGS.split():
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('profile')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    started = webdriver.Chrome(options=options, service=Service(driver))
    yield started
    started.quit()


@pytest.fixture
def opened(browser, page):
    """Open the page as it is at first, in a wide window."""
    open_at(browser, page, DESKTOP)
    return browser


def open_at(browser, address, size, **media):
    """Open an address afresh at a window size; `media` are what the system prefers."""
    browser.get("about:blank")
    for log in ("browser", "performance"):
        browser.get_log(log)
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {
            "width": size[0], "height": size[1], "deviceScaleFactor": 1,
            "mobile": size[0] < 500,
        },
    )  # fmt: skip
    features = [{"name": n.replace("_", "-"), "value": v} for n, v in media.items()]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.get(address)
    browser.execute_script("try { localStorage.clear() } catch {}")
    browser.refresh()


def get(browser, selector):
    return browser.find_element(By.CSS_SELECTOR, selector)


def texts(browser, selector):
    """Return the texts of elements, also of those that are out of view."""
    found = browser.find_elements(By.CSS_SELECTOR, selector)
    return [element.get_attribute("textContent") for element in found]


def wait_for(condition, seconds=10):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def press(browser, *keys):
    ActionChains(browser).send_keys(*keys).perform()


def focused(browser):
    return browser.execute_script("return document.activeElement.id")


def heading(browser, of="#topic"):
    return get(browser, f"{of} h2").text


def requests(browser):
    """Return the addresses that the page asked for since it was opened."""
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [m["params"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    return [p["request"]["url"] for p in sent]


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
    assert HOSTILE in [t.split("×")[0] for t in texts(opened, "#document .bag span")]
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
    for steps in (0, 4, 6):
        get(opened, "#lambda").send_keys(Keys.ARROW_LEFT * steps)
        at = float(get(opened, "#lambda").get_attribute("value"))
        score = np.where(n[k] > 0, at * np.log(p) + (1 - at) * lift, -np.inf)
        order = np.argsort(-score.round(9), kind="stable")[: int((n[k] > 0).sum())]
        assert texts(opened, "#topic .word") == [model.vocab[v] for v in order[:30]]
        assert get(opened, "#topic output").text == f"{at:.1f}"
        seen.append((at, texts(opened, "#topic .word")))
    assert [at for at, _ in seen] == [1.0, 0.6, 0.0]
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
    told = [int(t.split()[0]) for t in texts(opened, "#topic .word")]
    assert told == sorted(np.flatnonzero(column), key=lambda k: (-column[k], k))[:5]
    on = [i for i, c in enumerate(opened.find_elements(By.CSS_SELECTOR, "#map circle"))
          if c.get_attribute("class") == "on"]  # fmt: skip
    assert on == sorted(told)
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


def test_the_page_is_used_by_keyboard(opened):
    order = []
    for _ in range(9):
        press(opened, Keys.TAB)
        order.append(focused(opened))
        ring = opened.execute_script("return getComputedStyle(document.activeElement).outlineStyle")
        assert ring == "solid"
    assert order == [
        "", "search", "theme", "tab-topics", "topic-order", "topic-list", "map",
        order[7], order[8],
    ]  # fmt: skip
    opened.execute_script("document.getElementById('topic-list').focus()")
    listed = texts(opened, "#topic-list b")
    press(opened, Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    assert heading(opened) == f"Topic {listed[2]}"
    press(opened, Keys.END)
    assert heading(opened) == f"Topic {listed[-1]}"
    active = get(opened, "#topic-list").get_attribute("aria-activedescendant")
    assert get(opened, f"#{active} b").text == listed[-1]
    opened.execute_script("document.getElementById('map').focus()")
    visited = set()
    for key in (Keys.ARROW_LEFT, Keys.ARROW_UP, Keys.ARROW_RIGHT, Keys.ARROW_DOWN) * 2:
        press(opened, key)
        visited.add(heading(opened))
    assert len(visited) > 1
    opened.execute_script("document.getElementById('tab-topics').focus()")
    press(opened, Keys.ARROW_RIGHT)
    assert focused(opened) == "tab-documents"
    assert get(opened, "#documents").is_displayed()
    press(opened, Keys.END)
    assert get(opened, "#training").is_displayed()
    opened.execute_script("document.activeElement.blur()")
    press(opened, "/")
    assert focused(opened) == "search"


def test_every_control_has_a_name(opened):
    for tab in ("topics", "documents", "time", "training"):
        get(opened, f"#tab-{tab}").click()
        nameless = opened.execute_script("""
            const all = "button, input, select, textarea, [role=listbox], svg[role=img]";
            const named = (n) => n.ariaLabel || n.textContent.trim() || n.labels?.length
              || n.getAttribute("aria-labelledby");
            return [...document.querySelectorAll(all)]
              .filter((n) => n.checkVisibility() && !named(n)).map((n) => n.outerHTML)""")
        assert nameless == []


def background(browser):
    return browser.execute_script("return getComputedStyle(document.body).backgroundColor")


def test_light_and_dark(browser, page):
    open_at(browser, page, DESKTOP, prefers_color_scheme="light")
    light = background(browser)
    get(browser, "#theme").click()
    dark = background(browser)
    assert sum(map(int, dark[4:-1].split(","))) < 150 < 600 < sum(map(int, light[4:-1].split(",")))
    browser.refresh()
    assert background(browser) == dark
    assert get(browser, "#theme").text == "Light"
    get(browser, "#theme").click()
    assert background(browser) == light
    open_at(browser, page, DESKTOP, prefers_color_scheme="dark")
    assert background(browser) == dark


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_has_contrast(browser, page, theme):
    open_at(browser, page, DESKTOP, prefers_color_scheme=theme)
    ratios = browser.execute_script("""
        const light = (name) => {
          const node = document.createElement("i");
          node.style.color = `var(${name})`;
          document.body.append(node);
          const parts = getComputedStyle(node).color.match(/[\\d.]+/g).map((v) => v / 255);
          const [r, g, b] = parts.map((c) => c <= 0.04 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
          return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
        };
        return arguments[0].map((pair) => {
          const [a, b] = pair.map(light);
          return Math.max(a, b) / Math.min(a, b);
        });""", [
            ("--text", "--card"), ("--quiet", "--card"), ("--quiet", "--page"),
            ("--accent", "--card"), ("--on-accent", "--accent"), ("--text", "--accent-soft"),
        ])  # fmt: skip
    assert min(ratios) >= 4.5


def test_motion_is_left_out_where_it_is_not_wanted(browser, page):
    script = "return getComputedStyle(document.querySelector('.fill')).transitionDuration"
    open_at(browser, page, DESKTOP, prefers_reduced_motion="no-preference")
    assert browser.execute_script(script) == "0.2s"
    open_at(browser, page, DESKTOP, prefers_reduced_motion="reduce")
    assert browser.execute_script(script) == "0s"


def test_a_phone_scrolls_one_way(browser, page):
    open_at(browser, page, PHONE)
    for tab in ("topics", "documents", "time", "training"):
        get(browser, f"#tab-{tab}").click()
        assert browser.execute_script(WIDTH) == PHONE[0], tab
        small = browser.execute_script("""
            const all = "[role=tab], #theme, #search, .list [role=option]";
            const low = (n) => n.checkVisibility() && n.getBoundingClientRect().height < 44;
            return [...document.querySelectorAll(all)].filter(low).length""")
        assert small == 0
    get(browser, "#tab-topics").click()
    for k in range(6):
        browser.execute_script("location.hash = arguments[0]", f"topic-{k}")
        wait_for(lambda: heading(browser) == f"Topic {k}")  # noqa: B023
        assert browser.execute_script(WIDTH) == PHONE[0]
    last = browser.find_elements(By.CSS_SELECTOR, "#topic-list [role=option]")[-1]
    browser.execute_script("arguments[0].scrollIntoView()", last)
    last.click()
    wait_for(
        lambda: browser.execute_script(
            "const top = document.getElementById('topic').getBoundingClientRect().top;"
            "return top >= 0 && top < 60"
        )
    )


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_labels_of_the_map_do_not_overlap(browser, page, size):
    open_at(browser, page, size)
    boxes = browser.execute_script(
        """return [...document.querySelectorAll("#map circle, #map text.beside")].map((n) => {
          const { left, right, top, bottom } = n.getBoundingClientRect();
          return [n.tagName, left, right, top + 1, bottom - 1]; })"""
    )
    labels = [box for box in boxes if box[0] == "text"]
    assert len(labels) >= 3
    for label in labels:
        for other in boxes:
            if other is not label:
                _, a, b, c, d = label
                _, e, f, g, h = other
                assert b <= e or f <= a or d <= g or h <= c, (label, other)
    frame = browser.execute_script(
        "const b = document.getElementById('map').getBoundingClientRect();"
        "return [b.left, b.right, b.top, b.bottom]"
    )
    for _, a, b, c, d in boxes:
        assert frame[0] <= a <= b <= frame[1]
        assert frame[2] - 1 <= c <= d <= frame[3] + 1


def test_documents_show_their_words_by_topic(opened, lda):
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
    assert drawn >= 60
    assert "log posteriors" in get(opened, "#verdict").text
    assert "Effective sample size of the second half" in get(opened, "#note-trace").text
    assert "polya-urn" in get(opened, "#facts").text


def test_an_address_leads_to_its_topic_or_document(browser, page):
    open_at(browser, page + "#topic-4", DESKTOP)
    assert heading(browser) == "Topic 4"
    open_at(browser, page + "#document-8", DESKTOP)
    assert heading(browser, "#document") == "paper 7"
    open_at(browser, page + "#topic-99", DESKTOP)
    assert heading(browser).startswith("Topic")
    assert browser.get_log("browser") == []


@pytest.mark.parametrize("K", [1, 2])
def test_a_model_without_documents(browser, tmp_path, K):
    counts = np.eye(K, 3) + 0.25
    model = topics_only(counts, 0.1, 0.01, ["a", "b", "c"], "elsewhere", "'vocab' parameter")
    open_at(browser, write_report(model, tmp_path / "a.html").as_uri(), DESKTOP)
    assert texts(browser, "[role=tab]") == ["Topics", "Training"]
    assert texts(browser, "#topic .word") == ["a", "b", "c"]
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
    with pytest.warns(UserWarning, match="does not know"):
        expected = int(lda.model_.transform([text])[0].argmax())
    assert texts(browser, "#try-found .word")[0].split()[0] == str(expected)
    assert "moon" in lda.model_.topics(10)[expected]
    assert "6 of 18 tokens are of words that the model knows" in get(browser, "#try-found").text
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
