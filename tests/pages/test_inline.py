"""The report inside a notebook."""

import re
from html import unescape

import pytest
from sklearn.exceptions import NotFittedError

from polyaurn import LDA, InputError, report, write_report


def page_in(frame):
    return unescape(re.fullmatch(r'<iframe .*? srcdoc="([^"]*)" style="[^"]*"></iframe>', frame)[1])


def test_the_frame_holds_the_page_that_is_written(trained, tmp_path):
    shown = trained.report(title='<b>"Topics"</b> &amp;', height=500)
    options = {"corpus": trained.corpus_, "title": '<b>"Topics"</b> &amp;'}
    written = write_report(trained, tmp_path / "r.html", **options)
    assert page_in(shown._repr_html_()) == shown.page == written.read_text()
    assert "height:500px" in shown._repr_html_()
    assert "allow-same-origin" not in shown._repr_html_()
    assert len(repr(shown)) < 80


def test_a_model_has_one_too_and_takes_a_corpus(trained):
    model, corpus = trained.model_, trained.corpus_
    assert report(model, corpus=corpus).page == trained.report().page
    assert len(report(model).page) < len(trained.report().page)
    years = [str(2000 + d % 3) for d in range(60)]
    assert report(model, dates=years).page != report(model).page


def test_a_page_of_an_estimator_has_the_labels_given(trained):
    page = trained.report(labels={1: "Rivers and lakes"}).page
    assert "Rivers and lakes" in page
    labelled = trained.label_topics({1: "Rivers and lakes"})
    assert page == report(labelled, corpus=trained.corpus_).page
    assert "labels" not in trained.model_.parameters
    assert "Rivers and lakes" not in trained.report().page
    with pytest.raises(InputError, match="'labels' parameter"):
        trained.report(labels={99: "None"})


def test_saving_replaces_its_own_pages_only(trained, tmp_path):
    shown = trained.report()
    path = shown.save(tmp_path / "r.html")
    assert shown.save(str(path)) == path
    write_report(trained, path)
    shown.save(path)
    path.write_text(path.read_text() + "mine")
    with pytest.raises(InputError, match="is there already"):
        shown.save(path)
    shown.save(path, force=True)
    assert path.read_text() == shown.page
    with pytest.raises(InputError, match=r"must end in \.html"):
        shown.save(tmp_path / "r.txt")


def test_bad_input(trained):
    with pytest.raises(InputError, match="'height' parameter"):
        trained.report(height=3)
    with pytest.raises(NotFittedError):
        LDA(2).report()
    with pytest.raises(InputError, match="call fit first"):
        report(LDA(2))
