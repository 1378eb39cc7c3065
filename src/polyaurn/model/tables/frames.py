"""The door: columns leave as a data frame, or as they are."""

from typing import Any

from polyaurn.base.errors import InputError

Columns = dict[str, Any]  # names to arrays or lists, all of one length


def frame(columns: Columns, *, as_frame: bool) -> Any:
    """Return columns as a pandas DataFrame, or as they are.

    Parameters
    ----------
    columns : dict of str to ndarray or list
        All of one length.
    as_frame : bool
        False asks for no pandas.

    Returns
    -------
    DataFrame or dict
        With the columns in their order.
    """
    if not as_frame:
        return columns
    try:
        import pandas
    except ImportError:
        raise InputError(
            "Tables need the package pandas, which is not installed. Install it with: pip install "
            "'polyaurn[tables]'; or have a dict of columns with as_frame=False."
        ) from None
    return pandas.DataFrame(columns)
