"""How text is cut, as a model's folder states it: in its header, or in options of version 0.1."""

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

from polyaurn.base.errors import InputError
from polyaurn.corpus.patterns import LETTERS, is_bounded
from polyaurn.corpus.tokenization import Tokenization, Tokenizer, tokenization_for, tokenization_of
from polyaurn.files.names import CONFIG
from polyaurn.files.sealed import Damaged

_MOST_BYTES = 1 << 20  # of a configuration, and of a file of stop words that it names


def stored_rules(folder: Path, header: dict[str, Any]) -> Tokenization | None:
    """Return how text was cut for a model; None where nothing says so."""
    if "tokenization" in header:
        try:
            return tokenization_of(header["tokenization"])
        except InputError as error:
            raise Damaged(str(error).rstrip(".")) from None
    return _rules_of_version_0_1(folder / CONFIG)


def given_rules(
    stored: Tokenization | None,
    vocab: tuple[str, ...],
    tokenizer: Tokenizer | None,
    token_pattern: str | None,
) -> Tokenization | None:
    """Return stored rules with a tokenizer or a pattern that the caller of `load` trusts."""
    if tokenizer is None and token_pattern is None:
        return stored
    if tokenizer is not None and token_pattern is not None:
        raise InputError(
            "The 'tokenizer' parameter must stand without 'token_pattern'. Got both; give one."
        )
    rules = stored or tokenization_for(vocab)
    if tokenizer is None:
        return rules.with_pattern(str(token_pattern))
    if stored is not None and not stored.tokenizer_name:
        raise InputError(
            "The 'tokenizer' parameter is for models whose text was cut by one. Got it for a model "
            f"whose words were found by the pattern {stored.token_pattern!r:.100}; leave it out."
        )
    return rules.with_tokenizer(tokenizer)


def _rules_of_version_0_1(config: Path) -> Tokenization | None:
    """Return what the options of a run say, where it was a run on text."""
    if not config.is_file():
        return None
    try:
        if config.stat().st_size > _MOST_BYTES:
            raise InputError(f"it has {config.stat().st_size:,} bytes")
        found = tomllib.loads(config.read_bytes().decode())
        if "token-pattern" not in found:
            return None
        pattern, ngrams, stop = (
            found.get("token-pattern"), found.get("ngrams", 1), found.get("stop-words", "english"),
        )  # fmt: skip
        if not (isinstance(pattern, str) and type(ngrams) is int and isinstance(stop, str)):
            raise InputError("token-pattern, ngrams or stop-words are of a wrong kind")
        rules = Tokenization(
            stop_words=_stop_words(stop), ngram_range=(1, ngrams), normalization=None
        )
        return replace(
            rules, token_pattern=pattern, trusted=pattern == LETTERS or is_bounded(pattern)
        )
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(
            f"The file '{config}' must be the options of a run, which say how text was cut. It is "
            f"not ({str(error).rstrip('.')}); correct it, or remove the file."
        ) from None


def _stop_words(stated: str) -> Any:
    """Return a list of stop words; none where it is gone, since the model knows none of them."""
    if stated in ("english", "none"):
        return stated
    file = Path(stated)
    try:
        return file if file.is_file() and file.stat().st_size <= _MOST_BYTES else None
    except OSError:
        return None
