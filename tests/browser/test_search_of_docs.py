"""The search of the documentation works where its pages are opened from a folder."""

from pathlib import Path

import pytest

from support.browser import DESKTOP, get, open_at, requests, texts, wait_for

SITE = Path(__file__).parents[2] / "build" / "site"


@pytest.mark.skipif(not SITE.exists(), reason="'make docs' builds the pages; 'make test' runs it")
def test_a_word_is_found_in_pages_opened_from_a_folder(browser):
    open_at(browser, (SITE / "index.html").as_uri(), DESKTOP)
    get(browser, "input.md-search__input").send_keys("relevance")
    wait_for(lambda: texts(browser, ".md-search-result__article h1, .md-search-result__article h2"))
    found = texts(browser, ".md-search-result__article")
    assert any("relevance" in text.lower() for text in found)
    assert not [
        address for address in requests(browser) if not address.startswith(("file:", "data:"))
    ]
