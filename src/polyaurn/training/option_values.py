"""Options of the command line turned into values of parameters; checks reject what is neither."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from polyaurn.base.errors import InputError


def number_or_word(value: str) -> int | str:
    """Turn an option that may be a whole number or a word into what it is."""
    return int(value) if value.isdecimal() else value


def number_or_file(option: str) -> Callable[[Any], Any]:
    """Return what turns an option into a number, or the numbers of a file."""

    def parse(value: Any) -> Any:
        from polyaurn.chain.priors import by_topics

        try:
            return float(value)
        except ValueError:
            if not isinstance(by_topics(value, 1), str):
                return value
        try:
            return [float(number) for number in Path(value).read_text(encoding="utf-8").split()]
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else "it holds something else"
            raise InputError(
                f"The '{option}' option must be a positive number, or a file of numbers. Got "
                f"{value!r}, which cannot be read as one ({why}); give a number such as 0.1."
            ) from None

    return parse


def seed_file(path: Path | None) -> dict[int, list[str]] | None:
    """Read a file of words that topics should hold."""
    from polyaurn.training.seeds import read_seed_words

    return None if path is None else read_seed_words(path)


def pair(value: Any) -> Any:
    """Turn an option such as "1,0.1" into numbers, "none" into None, and leave what is neither."""
    if not isinstance(value, str):
        return value
    if value.lower() == "none":
        return None
    try:
        return tuple(float(part) for part in value.split(","))
    except ValueError:
        return value
