"""The report for everyone: by keyboard, in light and dark, without motion, on a phone."""

from itertools import pairwise

import pytest

pytest.importorskip("selenium")
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from support.browser import DESKTOP, PHONE, focused, get, heading, open_at, press, texts, wait_for

TABS = ("topics", "documents", "time", "classes", "similar", "training")
CONTROLS = ("button", "combobox", "listbox", "option", "slider", "searchbox", "textbox", "tab",
            "image", "link", "group", "tabpanel", "article", "list", "dialog")  # fmt: skip
WIDTH = "return Math.max(document.documentElement.scrollWidth, innerWidth)"


def test_the_page_is_used_by_keyboard(opened):
    order = []
    for _ in range(9):
        press(opened, Keys.TAB)
        order.append(focused(opened))
        ring = opened.execute_script("return getComputedStyle(document.activeElement).outlineStyle")
        assert ring == "solid"
    assert order == [
        "", "search", "theme", "tab-topics", "topic-order", "", "topic-list", "", "",
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
    for tab in TABS:
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


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("tab", TABS)
def test_text_has_contrast_where_it_stands(browser, page, tab, theme):
    """Each text on the page against the background it has, as painted, by WCAG's formula."""
    open_at(browser, page, DESKTOP, prefers_color_scheme=theme)
    get(browser, f"#tab-{tab}").click()
    if tab == "time":
        get(browser, "#trend-word").send_keys("moon")
    if tab == "documents":
        wait_for(lambda: get(browser, "#document .text").text)
    low = browser.execute_script("""
        const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
        const over = (colours) => {
          context.clearRect(0, 0, 1, 1);
          for (const colour of colours) { context.fillStyle = colour; context.fillRect(0, 0, 1, 1); }
          const [r, g, b] = [...context.getImageData(0, 0, 1, 1).data].map((c) => c / 255)
            .map((c) => c <= 0.04 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
          return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
        };
        const found = [];
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
          const node = walker.currentNode.parentElement;
          const plain = !node.closest("svg, option, noscript, script, .skip");
          if (!walker.currentNode.textContent.trim() || !plain || !node.checkVisibility()) continue;
          const behind = [];
          for (let up = node; up; up = up.parentElement) behind.unshift(getComputedStyle(up).backgroundColor);
          const [a, b] = [over(behind), over([...behind, getComputedStyle(node).color])];
          const ratio = Math.max(a, b) / Math.min(a, b);
          if (ratio < 4.5) found.push([ratio, node.className, walker.currentNode.textContent]);
        }
        return found;""")  # noqa: E501
    assert low == []


@pytest.mark.parametrize("tab", TABS)
@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_the_tree_of_a_screen_reader(browser, page, tab, size):
    """What Chromium gives assistive technology: roles, names, states, and one tab panel."""
    open_at(browser, page, size)
    get(browser, f"#tab-{tab}").click()
    if tab == "documents":
        wait_for(lambda: get(browser, "#document .text").text)
    nodes = browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    seen = [
        (n["role"]["value"], n.get("name", {}).get("value", "").strip(),
         {p["name"]: p["value"].get("value") for p in n.get("properties", [])})
        for n in nodes if not n["ignored"]
    ]  # fmt: skip
    roles = [role for role, _, _ in seen]
    named = set(CONTROLS) - {"list"}
    assert [entry for entry in seen if entry[0] in named and not entry[1]] == []
    focusable = [entry for entry in seen if entry[2].get("focusable") and entry[0] != "main"]
    assert [entry for entry in focusable if not entry[1] and entry[0] != "RootWebArea"] == []
    assert {role for role, _, _ in focusable} <= {*CONTROLS, "RootWebArea", "tab"}
    assert (roles.count("tablist"), roles.count("tab"), roles.count("tabpanel")) == (1, 6, 1)
    selected = [name for role, name, state in seen if role == "tab" and state.get("selected")]
    assert selected == [name for role, name, _ in seen if role == "tabpanel"]
    levels = [state["level"] for role, _, state in seen if role == "heading"]
    assert levels[0] == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))
    assert roles.count("main") == roles.count("banner") == 1


def test_ids_are_unique_and_references_lead_somewhere(opened):
    for tab in TABS:
        get(opened, f"#tab-{tab}").click()
        wrong = opened.execute_script("""
            const ids = [...document.querySelectorAll("[id]")].map((n) => n.id);
            const twice = ids.filter((id, i) => ids.indexOf(id) !== i);
            const lost = [];
            for (const name of ["for", "aria-controls", "aria-labelledby", "aria-describedby",
                "aria-activedescendant", "list"])
              for (const node of document.querySelectorAll(`[${name}]`))
                if (!document.getElementById(node.getAttribute(name))) lost.push(node.outerHTML);
            return [...twice, ...lost];""")
        assert wrong == []


def test_new_parts_are_reached_by_keyboard(opened):
    for tab, wanted in (
        ("time", {"trend-word", "time-order"}),
        ("classes", {"classes-topic", "classes-order", "class"}),
        ("documents", {"document-topic", "document-list"}),
    ):
        get(opened, f"#tab-{tab}").click()
        reached = set()
        for _ in range(16):
            press(opened, Keys.TAB)
            reached.add(focused(opened))
        assert wanted <= reached
    get(opened, "#tab-similar").click()
    opened.execute_script("document.querySelector('#pairs button').focus()")
    press(opened, Keys.ENTER)
    assert get(opened, "#topics").is_displayed()


def test_motion_is_left_out_where_it_is_not_wanted(browser, page):
    script = "return getComputedStyle(document.querySelector('.fill')).transitionDuration"
    open_at(browser, page, DESKTOP, prefers_reduced_motion="no-preference")
    assert browser.execute_script(script) == "0.2s"
    open_at(browser, page, DESKTOP, prefers_reduced_motion="reduce")
    assert browser.execute_script(script) == "0s"


def test_a_phone_scrolls_one_way(browser, page):
    open_at(browser, page, PHONE)
    for tab in TABS:
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
    browser.execute_script(  # the label of the topic that is chosen is wider
        'document.querySelectorAll("#map text.beside").forEach((n) => n.classList.add("on"))'
    )
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
