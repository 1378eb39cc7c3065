"""What tests of studies share."""

import pytest

from polyaurn import topic_grid
from support.topic_grid import OPTIONS


@pytest.fixture(scope="package")
def whole(small, tmp_path_factory):
    """Run a grid of four cells without interruption."""
    folder = tmp_path_factory.mktemp("grid") / "whole"
    return topic_grid(small, [4, 2], 2, out=folder, **OPTIONS), folder
