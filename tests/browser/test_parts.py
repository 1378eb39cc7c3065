"""Parts of the report in a real browser: texts, addresses, classes, similar topics, downloads."""

import csv
import io
import threading
import time

import pytest

from polyaurn import load, write_report
from polyaurn.model.distance import topic_distances
from polyaurn.pages.report.data import gather
from polyaurn.pages.report.edits import Edits
from polyaurn.pages.report.page import render
from polyaurn.pages.report.serve import Server

pytest.importorskip("selenium")
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from support.browser import DESKTOP, HOSTILE, PHONE, get, heading, open_at, press, texts, wait_for


def address(browser):
    return browser.execute_script("return decodeURIComponent(location.hash)")


def at(browser, hash):
    wait_for(lambda: address(browser) == hash)


def shown(browser, selector):
    """Return texts in one step, so that the page may be replaced meanwhile."""
    script = "return [...document.querySelectorAll(arguments[0])].map((n) => n.textContent)"
    return browser.execute_script(script, selector)


def test_back_and_forward_lead_through_what_was_seen(opened):
    first = heading(opened)
    opened.find_elements(By.CSS_SELECTOR, "#topic-list [role=option]")[3].click()
    second = heading(opened)
    assert address(opened) == f"#topic-{second.split()[1]}"
    get(opened, "#tab-documents").click()
    opened.find_elements(By.CSS_SELECTOR, "#document-list [role=option]")[7].click()
    assert address(opened) == "#document-7"
    get(opened, "#tab-similar").click()
    assert address(opened) == "#tab-similar"
    get(opened, "#search").send_keys("common")
    wait_for(lambda: texts(opened, "#found .group"))
    words = [o for o in opened.find_elements(By.CSS_SELECTOR, "#found [role=option]")
             if o.text.startswith("common\n")]  # fmt: skip
    words[0].click()
    assert (heading(opened), address(opened)) == ("“common”", "#word-common")
    opened.back()
    at(opened, "#tab-similar")
    assert get(opened, "#similar").is_displayed()
    opened.back()
    at(opened, "#document-7")
    assert heading(opened, "#document") == "paper 7"
    opened.back()
    at(opened, "#document-0")
    opened.back()
    wait_for(lambda: heading(opened) == second)
    assert get(opened, "#topics").is_displayed()
    opened.back()
    wait_for(lambda: heading(opened) == first)
    for _ in range(5):
        opened.forward()
    at(opened, "#word-common")
    assert heading(opened) == "“common”"


def test_keys_leave_one_entry_in_the_history(opened):
    before = opened.execute_script("return history.length")
    opened.execute_script("document.getElementById('topic-list').focus()")
    press(opened, Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    assert address(opened) == f"#topic-{heading(opened).split()[1]}"
    assert opened.execute_script("return history.length") == before


@pytest.mark.parametrize(
    ("hash", "shown"),
    [
        ("#topic-4", "topics"), ("#document-8", "documents"), ("#tab-documents", "documents"),
        ("#time-2", "time"), ("#classes-3", "classes"), ("#tab-similar", "similar"),
        ("#tab-training", "training"), ("#word-moon", "topics"), ("#word-nowhere", "topics"),
        ("#document-999", "documents"), ("#tab-try", "topics"), ("#%", "topics"),
        ("#word-%E0%A4", "topics"),
    ],
)  # fmt: skip
def test_a_link_leads_to_its_part(browser, page, hash, shown):
    open_at(browser, page + hash, DESKTOP)
    assert get(browser, f"#{shown}").is_displayed()
    assert browser.find_elements(By.CSS_SELECTOR, "[role=tab][aria-selected=true]")
    assert texts(browser, "#topic h2") != [""]
    assert browser.execute_script("return scrollY") == 0
    assert browser.get_log("browser") == []


def test_the_skip_link_stays_where_the_reader_is(opened):
    get(opened, "#tab-training").click()
    opened.execute_script("location.hash = 'main'")
    time.sleep(0.1)
    assert get(opened, "#training").is_displayed()


def test_a_text_is_read_in_the_colours_of_its_topics(opened, lda, written):
    get(opened, "#tab-documents").click()
    assert texts(opened, "#document-list .snippet")[5] == " ".join(written[5].split())[:160] or (
        texts(opened, "#document-list .snippet")[5].endswith("…")
    )
    opened.find_elements(By.CSS_SELECTOR, "#document-list [role=option]")[5].click()
    wait_for(lambda: get(opened, "#document .text").text)
    assert get(opened, "#document .text").get_attribute("textContent") == written[5]
    corpus, z = lda.corpus_, lda.assignments_
    tokens = slice(corpus.doc_ptr[5], corpus.doc_ptr[6])
    coloured = opened.find_elements(By.CSS_SELECTOR, "#document .text [data-topic]")
    of_word = {}
    for v, k in zip(corpus.word[tokens].tolist(), z[tokens].tolist(), strict=True):
        of_word.setdefault(corpus.vocab[v], []).append(k)
    assert len(coloured) == corpus.doc_ptr[6] - corpus.doc_ptr[5]
    for word in coloured[:12]:
        topics = of_word[word.text]
        assert topics.count(int(word.get_attribute("data-topic"))) == max(map(topics.count, topics))
    row = get(opened, "#document .bars .word")
    number = row.text.split()[0]
    opened.execute_script("arguments[0].focus()", row)
    faded = opened.find_elements(By.CSS_SELECTOR, "#document .text .faded")
    assert all(word.get_attribute("data-topic") != number for word in faded)
    row.click()
    assert heading(opened) == f"Topic {number}"
    assert opened.get_log("browser") == []


def test_the_documents_that_a_topic_explains_best_are_listed(opened, lda):
    k = int(heading(opened).split()[1])
    best = lda.model_.representative_documents(k, 8, as_frame=False)
    names = texts(opened, "#topic-about .links.column .cut")
    assert names == best["document"]
    assert len(texts(opened, "#topic-about .snippet")) == 8


def test_hostile_texts_and_classes_are_text(opened):
    get(opened, "#search").send_keys("onerror", Keys.ARROW_DOWN, Keys.ENTER)
    wait_for(lambda: get(opened, "#document .text").text)
    assert HOSTILE in get(opened, "#document .text").text
    get(opened, "#tab-classes").click()
    assert HOSTILE in texts(opened, "#class option")
    assert opened.find_elements(By.TAG_NAME, "img") == []
    assert opened.title == HOSTILE


def test_topics_by_class(opened, lda):
    get(opened, "#tab-classes").click()
    Select(get(opened, "#classes-topic")).select_by_index(2)
    k = int(get(opened, "#classes-name").text.split()[1].rstrip(":"))
    assert address(opened) == f"#classes-{k}"
    share = lda.model_.doc_topics()[0::3][:, k].mean()
    label = get(opened, "#classes-chart").get_attribute("aria-label")
    assert f"a {100 * share:.0f} %" in label or f"a {100 * share:.1f} %" in label
    assert len(opened.find_elements(By.CSS_SELECTOR, "#classes-chart .bar")) == 3
    Select(get(opened, "#class")).select_by_visible_text("b")
    top = int(texts(opened, "#class-topics .word")[0].split()[0])
    assert top == lda.model_.doc_topics()[1::3].mean(axis=0).argmax()


def test_similar_topics_and_their_tree(opened, lda):
    get(opened, "#tab-similar").click()
    assert len(opened.find_elements(By.CSS_SELECTOR, "#heat .branch")) == 5
    assert get(opened, "#heat image").get_attribute("href").startswith("data:image/png")
    pair = texts(opened, "#pairs li:first-child button")
    nearest = [int(name.split()[0]) for name in pair]
    distance = topic_distances(lda.model_.topic_word_mass[nearest])[0, 1]
    table = lda.hierarchy(as_frame=False).table
    assert distance == pytest.approx(table["distance"][0])  # several pairs may be as near
    before = get(opened, "#heat image").get_attribute("href")
    get(opened, "#theme").click()
    assert get(opened, "#heat image").get_attribute("href") != before
    get(opened, "#pairs button").click()
    assert heading(opened) == f"Topic {pair[0].split()[0]}"


def test_a_word_over_time(opened):
    get(opened, "#tab-time").click()
    assert not get(opened, "#trend-chart").is_displayed()
    get(opened, "#trend-word").send_keys("moo")
    assert "No word “moo”" in get(opened, "#trend-says").text
    assert "moon" in [o.get_attribute("value") for o in
                      opened.find_elements(By.CSS_SELECTOR, "#trend-words option")]  # fmt: skip
    get(opened, "#trend-word").send_keys("n")
    wait_for(lambda: opened.find_elements(By.CSS_SELECTOR, "#trend-chart polyline"))
    points = get(opened, "#trend-chart polyline").get_attribute("points").split()
    assert len(points) == 10
    wait_for(lambda: "dated tokens" in get(opened, "#trend-says").text)


@pytest.fixture
def downloads(browser, tmp_path):
    """Let the browser write into a folder; return a function that clicks and reads the file."""
    folder = {"behavior": "allow", "downloadPath": str(tmp_path)}
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", folder)

    def click(selector, ending):
        for file in tmp_path.iterdir():
            file.unlink()
        browser.execute_script(
            "[...document.querySelectorAll(arguments[0] + ' .downloads button')]"
            ".find((b) => b.textContent === arguments[1]).click()", selector, ending.upper(),
        )  # fmt: skip
        wait_for(lambda: [f for f in tmp_path.iterdir() if f.suffix == f".{ending}"])
        (file,) = tmp_path.iterdir()
        return file.read_bytes()

    return click


PICTURES = [("topics", "#map-tools"), ("time", "#time-tools"), ("classes", "#classes-tools"),
            ("similar", "#heat-tools"), ("training", "#trace-tools")]  # fmt: skip
TABLES = [("topics", "#topics-tools"), ("topics", "#topic"), ("topics", "#topic-about"),
          ("documents", "#documents-tools"), ("documents", "#document"), ("time", "#time-tools"),
          ("classes", "#classes-tools"), ("similar", "#heat-tools"), ("training", "#trace-tools"),
          ("training", "#facts-tools")]  # fmt: skip


@pytest.mark.parametrize(("tab", "selector"), PICTURES)
def test_pictures_are_downloaded(opened, downloads, tab, selector):
    import xml.etree.ElementTree as ElementTree

    get(opened, f"#tab-{tab}").click()
    picture = ElementTree.fromstring(downloads(selector, "svg"))
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"
    assert float(picture.get("width")) > 200
    styled = [node for node in picture.iter() if node.get("fill", "").startswith("rgb")]
    assert len(styled) > 3
    assert not [node for node in picture.iter() if "var(" in str(node.attrib)]
    png = downloads(selector, "png")
    assert png.startswith(b"\x89PNG")
    assert len(png) > 2_000
    assert opened.get_log("browser") == []


@pytest.mark.parametrize(("tab", "selector"), TABLES)
def test_tables_are_downloaded(opened, downloads, tab, selector):
    get(opened, f"#tab-{tab}").click()
    rows = list(csv.reader(io.StringIO(downloads(selector, "csv").decode("utf-8-sig"))))
    assert len(rows) > 1
    assert len({len(row) for row in rows}) == 1
    if selector == "#topics-tools":
        assert [row[0] for row in rows[1:]] == texts(opened, "#topic-list b")
    if selector == "#topic-about":
        assert [row[1] for row in rows[1:]] == texts(opened, "#topic-about .line .cut")


def test_the_topics_of_a_word_are_downloaded(browser, page, downloads):
    open_at(browser, page + "#word-common", DESKTOP)
    rows = list(csv.reader(io.StringIO(downloads("#topic", "csv").decode("utf-8-sig"))))
    assert rows[0] == ["topic", "label", "tokens of the word", "share"]
    shown = [text.split()[0] for text in texts(browser, "#topic .bars .word")]
    assert [row[0] for row in rows[1:]] == shown
    assert len(shown) > 1


def test_steps_without_documents_are_gaps(browser, lda, downloads, tmp_path):
    """Four of ten years have no documents, and one year is between gaps."""
    dates = ["" if (year := 2000 + d // 8) in (2003, 2004, 2005, 2007) else year for d in range(80)]
    page = write_report(lda, tmp_path / "a.html", corpus=lda.corpus_, dates=dates)
    open_at(browser, page.as_uri(), DESKTOP)
    sizes = [3, 2, 2]  # points of each piece; one year is a dot, the same point twice

    def pieces(selector):
        lines = browser.find_elements(By.CSS_SELECTOR, f"{selector} polyline")
        return [len(line.get_attribute("points").split()) for line in lines]

    assert pieces("#topic-about .spark") == sizes
    get(browser, "#tab-time").click()
    assert pieces("#time-chart") == sizes
    get(browser, "#trend-word").send_keys("common")
    wait_for(lambda: pieces("#trend-chart"))
    assert pieces("#trend-chart") == sizes
    for selector in ("#time-tools", "#trend-tools"):
        rows = list(csv.reader(io.StringIO(downloads(selector, "csv").decode("utf-8-sig"))))
        year = 2 if selector == "#time-tools" else 0
        empty = {row[year] for row in rows[1:] if row[-1] == ""}
        assert empty == {"2003", "2004", "2005", "2007"}
    assert browser.get_log("browser") == []


@pytest.fixture
def edited(lda, tmp_path):
    folder = lda.save(tmp_path / "m")
    model, edits = load(folder), Edits(folder, gather)
    with Server(model, render(gather(model), served=True, editable=True), edits=edits) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield running, folder
        running.shutdown()
        thread.join()


def test_topics_are_named_and_merged_in_the_page(browser, edited):
    server, folder = edited
    open_at(browser, f"{server.url}#topic-2", DESKTOP)
    get(browser, "#edit-label").send_keys("Animals & more", Keys.ENTER)
    wait_for(lambda: shown(browser, "#topic h2") == ["Topic 2: Animals & more"])
    assert load(folder).parameters["labels"][2] == "Animals & more"
    assert "2: Animals & more" in texts(browser, "#topic-list b")
    Select(get(browser, "#edit-merge")).select_by_value("4")
    get(browser, ".edits form:last-child button").click()
    assert "Merge topic 2" in get(browser, "#ask-what").text
    get(browser, "#ask button[value=no]").click()
    assert load(folder).n_topics == 6
    get(browser, ".edits form:last-child button").click()
    get(browser, "#ask button[value=yes]").click()
    wait_for(lambda: len(shown(browser, "#topic-list b")) == 5)
    assert heading(browser) == "Topic 2: Animals & more"
    assert load(folder).n_topics == 5
    assert browser.get_log("browser") == []


def test_a_file_has_nothing_to_edit(opened):
    assert opened.find_elements(By.CSS_SELECTOR, ".edits") == []


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_the_heat_map_fits(browser, page, size):
    open_at(browser, f"{page}#tab-similar", size)
    box = browser.execute_script(
        "return [...document.querySelectorAll('#heat text, #heat image')].map((n) => {"
        "const r = n.getBoundingClientRect(); return [r.left, r.right] })"
    )
    frame = browser.execute_script(
        "const r = document.getElementById('heat').getBoundingClientRect();return [r.left, r.right]"
    )
    assert all(frame[0] - 1 <= left <= right <= frame[1] + 1 for left, right in box)
