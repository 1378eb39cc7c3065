"""The page of what changed: safe, self-contained, its labels apart."""

import itertools
import re

import pytest

from polyaurn import LDA, InputError, diff, write_diff
from polyaurn.pages.slopes import GAP, Slope, slope_chart

BAD = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def models():
    old = [f"{BAD} cat dog".split(), ["moon", "star"]] * 8
    new = [f"{BAD} cat cat".split(), ["goal", "team"]] * 8
    models = [LDA(2, max_iter=20, verbose=False, n_jobs=1).fit(texts) for texts in (old, new)]
    return models[0].model_, models[1].model_.label_topics({0: BAD})


@pytest.fixture(scope="module")
def change(models):
    return diff(*models)


@pytest.mark.parametrize("several", [False, True])
def test_text_is_escaped_and_nothing_is_loaded(models, several, tmp_path):
    change = diff(models[1], models[0], models[1]) if several else diff(*models)
    page = write_diff(change, tmp_path / "d.html", title=BAD).read_text(encoding="utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert not re.search(r"(src|href)=|@import|url\(", page)


def test_a_page_of_ours_is_replaced_and_a_changed_one_is_not(change, tmp_path):
    page = write_diff(change, tmp_path / "d.html")
    first = page.read_bytes()
    assert write_diff(change, page).read_bytes() == first
    page.write_bytes(first + b"mine")
    with pytest.raises(InputError, match="is there already"):
        write_diff(change, page)
    with pytest.raises(InputError, match="'difference' parameter"):
        write_diff("no", tmp_path / "e.html")


def test_labels_of_equal_sizes_do_not_overlap():
    slopes = [Slope(f"b{i}", f"a{i}", 0.1, 0.1 if i else None, "same") for i in range(20)]
    drawn = slope_chart(slopes, ("before", "after"))
    height = float(re.search(r'viewBox="0 0 \d+ ([\d.]+)"', drawn)[1])
    places = [float(y) for y in re.findall(r'y="([\d.]+)" text-anchor="end" stroke', drawn)]
    assert len(places) == 20
    assert all(0 < y < height for y in places)
    ordered = sorted(places)
    assert all(b - a > GAP - 0.2 for a, b in itertools.pairwise(ordered))
