"""Topics in classes of documents."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from polyaurn.base.arrays import I64
from polyaurn.model.checks import check_value_per_document
from polyaurn.model.data import ModelData
from polyaurn.model.dates import is_missing
from polyaurn.model.tables.groups import share_in_groups

MOST_CLASSES = 60
_LONGEST = 80  # characters of a name


def by_class(model: ModelData, classes: Iterable[Any], topics: I64) -> dict[str, Any] | None:
    """Return the mean shares of topics in the documents of each class, the largest classes only.

    Returns labels in their order; documents of each class; share, for each topic that of each
    class; overall, the mean share of each topic in all documents with a class; all, how many
    classes there are; without, documents that have none. None where there are fewer than two.
    """
    given = check_value_per_document(model, classes, "classes")
    names = [None if is_missing(value) else str(value).strip() or None for value in given]
    sizes = Counter(name for name in names if name is not None)
    if len(sizes) < 2:
        return None
    kept = sorted(sorted(sizes, key=lambda name: (-sizes[name], name))[:MOST_CLASSES])
    number = {name: g for g, name in enumerate(kept)}
    group = np.array([-1 if name is None else number.get(name, -1) for name in names])
    found = share_in_groups(model, group, len(kept), topics)
    whole = share_in_groups(model, np.where(group < 0, -1, 0), 1, topics)
    return {
        "labels": [name[:_LONGEST] for name in kept],
        "documents": found.documents.tolist(),
        "share": np.nan_to_num(found.share).T.round(5).tolist(),
        "overall": np.nan_to_num(whole.share)[0].round(5).tolist(),
        "all": len(sizes),
        "without": sum(name is None for name in names),
    }
