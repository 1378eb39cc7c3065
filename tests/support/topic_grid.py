"""A small topic grid that several tests look at, and what of it does not depend on a clock."""

import json
import re

from polyaurn.files.names import TIMINGS

OPTIONS = {
    "max_iter": 12, "particles": 3, "test_share": 0.2, "n_jobs": 1, "random_state": 5,
    "score": "left-to-right",
}  # fmt: skip


def without_times(found):
    """Return a result as text, without what a clock says."""
    return re.sub(r'"(train_)?seconds": (\{[^}]*\}|[^,}]*)', "", json.dumps(found))


def bytes_of(folder):
    """Return the bytes of all models, but for their times."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.glob("models/*/*"))
        if path.name != TIMINGS
    }
