"""The page of topics over time: streams, words that enter and leave, documents."""

import re

import numpy as np
import pytest

from polyaurn import InputError, TopicsOverTime
from polyaurn.pages.over_time import render, streams
from support.drifting import drifting


@pytest.fixture(scope="module")
def topics():
    corpus, years, _ = drifting(0, per_slice=60)
    topics = TopicsOverTime(3, carry=0.3, max_iter=50, slice_iter=12, n_jobs=1, verbose=False)
    return topics.fit(corpus, years)


def test_the_page_has_each_slice_topic_and_change(topics):
    page = topics.report(title="A <b> title").page
    assert "<h1>A &lt;b&gt; title</h1>" in page
    assert page.count('class="band"') == page.count("<details id=") == 3
    for label in topics.models_:
        assert page.count(f"<tr><td>{label}</td>") == 1 + 3
    changes = topics.word_changes(10)
    assert page.count("<ins>+w") == (changes["change"] == "enters").sum() > 0
    assert page.count("<del>w") == (changes["change"] == "leaves").sum() > 0
    score = topics.held_out_scores()["score"][2]
    assert f"<td>{score:.4f}</td>" in page
    assert not re.search(r'(src|href)="(?!#)', page)  # nothing is fetched


def test_bands_are_as_high_as_shares_and_fill_the_picture(topics):
    share = topics.topic_sizes()["share"].to_numpy().reshape(-1, 3).T
    names, labels = ["a", "b", "c"], topics.slices_.labels
    picture = streams.streams(share, labels, names, streams.colours_of(share))
    found = re.findall(r'class="band"[^>]* d="M([^"]*)Z"', picture)
    height = streams.HEIGHT - streams.TOP - streams.BOTTOM
    for k, path in enumerate(found):
        ys = [float(point.split()[1]) for point in path.split("L")]
        upper, lower = ys[: len(labels)], ys[len(labels) :][::-1]
        assert np.subtract(lower, upper) / height == pytest.approx(share[k], abs=1e-3)
    assert min(upper) == max(upper) == streams.TOP


def test_topics_without_a_colour_are_one_band():
    share = np.full((20, 2), 0.05)
    colours = streams.colours_of(share)
    assert colours.count(streams.REST) == 20 - len(streams.PALETTE)
    picture = streams.streams(share, ["x", "y"], ["n"] * 20, colours)
    assert picture.count('class="band"') == len(streams.PALETTE) + 1
    assert "8 other topics" in picture


def test_texts_are_shown_where_they_are_given(topics):
    n = len(topics.slices_.cut.number)
    texts = [f"text of {d} <script>" for d in range(n)]
    page = topics.report(texts=texts).page
    shown = {int(d) for d in re.findall(r"text of (\d+) &lt;script&gt;", page)}
    leading = {int(topics.representative_documents(y, k, 1)["number"][0])
               for y in topics.models_ for k in range(3)}  # fmt: skip
    assert shown == leading
    assert "<script" not in page
    with pytest.raises(InputError, match="'texts' parameter must have one value for each"):
        topics.report(texts=texts[1:])


def test_one_slice_is_a_page_too(topics):
    corpus, _, _ = drifting(0, per_slice=10)
    one = TopicsOverTime(2, max_iter=5, held_out=0.0, verbose=False)
    page = render(one.fit(corpus, slices=["now"] * 60).slices_)
    assert "1 slices" not in page
    assert "<th>score</th>" not in page
    assert page.count('class="band"') == 2
