"""Checks of parameters: each returns the value in its plain type, or raises one clear sentence."""

import math
from collections.abc import Collection
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from polyaurn.base.errors import InputError


def is_whole(value: Any) -> bool:
    """Return whether a value is a whole number, Python's or NumPy's; True and False are not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Return whether a value is a finite number, Python's or NumPy's; True and False are not."""
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


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


def check_flag(value: Any, name: str) -> bool:
    """Return True or False, Python's or NumPy's; 1 and 0 stand for them, as in scikit-learn."""
    from numpy import bool_

    if not isinstance(value, bool | bool_) and not (is_whole(value) and value in (0, 1)):
        raise wrong(name, "True or False", value)
    return bool(value)


def check_path(value: Any, name: str, *, remedy: str = "") -> Path:
    """Return a path."""
    if not isinstance(value, str | Path):
        raise wrong(name, "a path", value, remedy)
    return Path(value)


def wrong(name: str, expected: str, value: Any, remedy: str = "") -> InputError:
    """Return the error for a parameter: what it must be, what came instead, the remedy."""
    end = f"; {remedy}." if remedy else "."
    return InputError(f"The '{name}' parameter must be {expected}. Got {value!r} instead{end}")


def is_digits(text: str) -> bool:
    """Return whether a text is a whole number in plain digits, and not too long for one."""
    return text.isascii() and text.isdecimal() and len(text) <= 18
