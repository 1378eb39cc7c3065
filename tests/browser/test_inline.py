"""The report in a frame, as notebooks show it."""

from support.browser import DESKTOP, HOSTILE, get, open_at, texts, wait_for


def test_the_page_runs_inside_its_frame_and_cannot_reach_out(browser, lda, tmp_path):
    host = tmp_path / "notebook.html"
    frame = lda.report(title=HOSTILE)._repr_html_()
    host.write_text(f"<!DOCTYPE html><title>notebook</title><body>{frame}</body>")
    open_at(browser, host.as_uri(), DESKTOP)
    browser.switch_to.frame(get(browser, "iframe"))
    try:
        wait_for(lambda: texts(browser, "#map circle"))
        assert len(texts(browser, "[role=tab]")) >= 3
        before = get(browser, "#theme").text
        get(browser, "#theme").click()
        assert get(browser, "#theme").text != before
        get(browser, "#tab-training").click()
        assert get(browser, "#training").is_displayed()
        reached = browser.execute_script(
            "try { parent.document.title; return true } catch { return false }"
        )
        assert reached is False
    finally:
        browser.switch_to.default_content()
    assert browser.title == "notebook"
