"""Columns and tables of Arrow and of data frames, where documents are expected."""

from typing import Any

from polyaurn.base.errors import InputError

STREAM = "__arrow_c_stream__"


def listed(X: Any, name: str, *, counts: bool = False) -> Any:
    """Return a column of Arrow as a list; reject tables, and leave everything else as it is.

    With `counts`, data frames may be tables of counts.
    """
    if hasattr(X, "to_pylist") and hasattr(X, "type"):
        return X.to_pylist()
    frame = hasattr(X, "__dataframe__")
    if (frame and not counts) or (hasattr(X, STREAM) and not frame and not hasattr(X, "__array__")):
        raise InputError(
            f"The '{name}' parameter must hold documents. Got a table ({type(X).__name__}) "
            "instead; give its column of texts, or read it with polyaurn.read_corpus(table, "
            "text_column='text')."
        )
    return X
