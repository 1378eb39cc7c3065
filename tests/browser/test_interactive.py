"""Interactive pictures in a browser: drawn, offline, and with nothing that sends data away."""

import pytest

from support.browser import DESKTOP, HOSTILE, get, open_at, requests, texts, wait_for

pytest.importorskip("plotly")

from polyaurn.plots import interactive


def test_a_map_is_drawn_offline(browser, lda, tmp_path):
    page = tmp_path / "map.html"
    named = lda.model_.label_topics({0: HOSTILE})
    page.write_text(interactive.page_of(interactive.plot_map(named)), encoding="utf-8")
    open_at(browser, page.as_uri(), DESKTOP)
    wait_for(lambda: texts(browser, ".scatterlayer path.point"))
    assert len(texts(browser, ".scatterlayer path.point")) == 6
    buttons = browser.find_elements("css selector", ".modebar-btn")
    titles = [button.get_attribute("data-title") or "" for button in buttons]
    assert any("Download" in title for title in titles)
    assert not any("loud" in title or "hare" in title for title in titles)
    assert set(requests(browser)) <= {page.as_uri()}
    assert browser.title != "hacked"
    assert get(browser, ".gtitle").text == "Map of 6 topics by the words they use"
