"""Checks of parameters: each returns the value in its plain type, or raises one clear sentence."""

import math
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from polyaurn.base.arrays import F64
from polyaurn.base.errors import InputError


def is_whole(value: Any) -> bool:
    """Return whether a value is a whole number, Python's or NumPy's; True and False are not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool | np.bool_)


def is_number(value: Any) -> bool:
    """Return whether a value is a finite number, Python's or NumPy's; True and False are not."""
    plain = isinstance(value, int | float | np.integer | np.floating)
    return plain and not isinstance(value, bool) and math.isfinite(value)


def check_whole(
    value: Any,
    name: str,
    least: int = 1,
    most: int | None = None,
    *,
    of: str = "",
    remedy: str = "",
) -> int:
    """Return a whole number from `least` to `most`; `of` says what it counts."""
    if not is_whole(value) or value < least or (most is not None and value > most):
        bounds = f", at least {least:,}" if most is None else f" from {least:,} to {most:,}"
        raise wrong(name, f"a whole number{of and f' of {of}'}{bounds}", value, remedy)
    return int(value)


def check_number(value: Any, name: str, above: float = 0.0, *, remedy: str = "") -> float:
    """Return a finite number above a bound."""
    if not is_number(value) or not value > above:
        expected = "a positive number" if above == 0.0 else f"a number above {above:g}"
        raise wrong(name, expected, value, remedy)
    return float(value)


def check_positive_vector(value: Any, length: int, name: str, what: str) -> F64:
    """Return a positive number, or one for each of `length` things, as a read-only vector."""
    expected = f"a positive number, or {length:,} of them (one for each of the {what})"
    try:
        if value is None:
            raise TypeError
        vector = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise wrong(name, expected, value, "give a number such as 0.1") from None
    if vector.ndim > 1 or (vector.ndim == 1 and len(vector) != length):
        raise InputError(
            f"The '{name}' parameter must be {expected}. Got an array of shape {vector.shape} "
            "instead; give one number, or a vector of the right length."
        )
    bad = ~(np.isfinite(vector) & (vector > 0))
    if bad.any():
        where = "" if vector.ndim == 0 else f" at position {int(np.argmax(bad))}"
        worst = float(np.atleast_1d(vector)[np.argmax(bad)])
        raise InputError(
            f"The '{name}' parameter must be {expected}. Got {worst!r}{where} instead; "
            "priors are concentrations: finite, and above zero."
        )
    full = np.ascontiguousarray(np.broadcast_to(vector, (length,)))
    full.flags.writeable = False
    return full


def check_fraction(value: Any, name: str, *, ends: bool = True, remedy: str = "") -> float:
    """Return a number from 0 to 1; without its ends, between them."""
    inside = is_number(value) and (0.0 <= value <= 1.0 if ends else 0.0 < value < 1.0)
    if not inside:
        raise wrong(name, "a number from 0 to 1" if ends else "between 0 and 1", value, remedy)
    return float(value)


def check_one_of(value: Any, name: str, choices: Collection[str], *, remedy: str = "") -> str:
    """Return one of several words."""
    if not isinstance(value, str) or value not in choices:
        raise wrong(name, f"one of {', '.join(map(repr, choices))}", value, remedy)
    return str(value)


def check_path(value: Any, name: str, *, remedy: str = "") -> Path:
    """Return a path."""
    if not isinstance(value, str | Path):
        raise wrong(name, "a path", value, remedy)
    return Path(value)


def wrong(name: str, expected: str, value: Any, remedy: str = "") -> InputError:
    """Return the error for a parameter: what it must be, what came instead, the remedy."""
    end = f"; {remedy}." if remedy else "."
    return InputError(f"The '{name}' parameter must be {expected}. Got {value!r} instead{end}")
