"""Runs as TOML files: ``--config`` reads one, and a run writes one into its model's folder."""

import json
import shlex
import tomllib
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

import typer

from polyaurn.base.errors import InputError
from polyaurn.base.version import __version__

if TYPE_CHECKING:
    from polyaurn.corpus.tokenization import Tokenization

NOT_KEPT = ("config", "out", "trace", "resume", "force", "json", "quiet")
REPEAT = "repeat"  # the command, in the file of an updated model
WHERE: dict[str, type] = {"text_column": str, "separator": str}  # text in a table
NAMES: dict[str, type] = {"name_column": str}
PRUNING: dict[str, type] = {
    "min_count": int, "max_doc_fraction": float, "max_words": int, "max_features": int,
    "min_df": str, "max_df": str, "flat_words": str,
}  # fmt: skip
_MOST_BYTES = 1 << 20
_EXPECTED = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}


def take_config(context: typer.Context, path: Path | None) -> Path | None:
    """Use a file's values where the command line gives none."""
    if path is not None and not context.resilient_parsing:
        repeated = _read(path).get(REPEAT)
        if repeated is not None:
            raise InputError(
                f"The file '{path}' must be of a run of 'polyaurn train'. It is of an updated "
                f"model, which this command repeats: {repeated!s}"
            )
        kinds = _kinds(context)
        values = read_config(path, kinds)
        for name, value in values.items():
            if not _is_one(value, kinds[name]):
                raise InputError(
                    f"The file '{path}', key '{_key(name)}': expected {_EXPECTED[kinds[name]]}. "
                    f"Got {value!r:.60} instead; write it as the option --{_key(name)} takes it."
                )
        context.default_map = values
    return path


Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        help="TOML file with options of this command; the command line takes precedence.",
        is_eager=True,
        callback=take_config,
        show_default=False,
    ),
]


def read_config(path: Path, known: Iterable[str]) -> dict[str, Any]:
    """Return what a file sets, by names with underscores.

    Parameters
    ----------
    path : Path
        A TOML file.
    known : iterable of str
        Names there are.

    Returns
    -------
    dict
        Values as TOML gives them.
    """
    found: dict[str, Any] = {}
    names = {_key(name) for name in known}
    for key, value in _read(path).items():
        name = key.replace("-", "_")
        if _key(name) not in names:
            nearest = get_close_matches(_key(name), sorted(names), n=1, cutoff=0.0)[0]
            raise InputError(
                f"The file '{path}' must have keys that are options of the command. Got '{key}' "
                f"instead; the nearest option is '{nearest}'."
            )
        if name in found:
            raise InputError(
                f"The file '{path}' must have each key once. Got '{_key(name)}' both with '-' and "
                "with '_'; remove one."
            )
        found[name] = value
    return found


def run_as_config(context: typer.Context, tokenization: "Tokenization | None" = None) -> str:
    """Return a command's options as TOML that repeats its run.

    Parameters
    ----------
    context : typer.Context
        The context of the command, with all options resolved.
    tokenization : Tokenization, optional
        How the text of its corpus was cut.

    Returns
    -------
    str
        Paths are absolute; how text was cut is written out, and the number of threads where
        the model depends on it.
    """
    from polyaurn.base.threads import count_threads
    from polyaurn.chain.samplers import THREAD_FREE
    from polyaurn.corpus.english import EXTENDED
    from polyaurn.corpus.patterns import TERMS
    from polyaurn.corpus.pruning import AUTO
    from polyaurn.corpus.readers import TEXT_FORMATS, recognise
    from polyaurn.corpus.stop_words import stop_words_of
    from polyaurn.corpus.tokenization import TOKEN_LISTS

    values = {name: v for name, v in context.params.items() if name not in NOT_KEPT}
    for name in _paths(context) & {name for name, v in values.items() if v is not None}:
        values[name] = Path(values[name])
    listed = tokenization is not None and tokenization.tokenizer_name == TOKEN_LISTS
    if not listed and (values["format"] or recognise(values["corpus"])) in TEXT_FORMATS:
        language = (tokenization and tokenization.language) or "none"
        stop = EXTENDED if language in ("none", "en") else AUTO
        also = tokenization and tokenization.stop_words != stop_words_of(tokenization.language)
        if values["language"] in (None, AUTO) and values["stop_words"] is None and also:
            language = stop = AUTO  # stop words of other languages, too: recognised again
        values["language"] = language
        plain = {"stop_words": stop, "ngrams": 1, "token_pattern": TERMS}
        plain |= {"min_df": AUTO, "max_df": AUTO, "flat_words": "keep"}
        values |= {name: v for name, v in plain.items() if values[name] is None}
    for name in ("alpha", "beta", "stop_words"):
        values[name] = _number_or_file(values[name])
    if values["sampler"] not in THREAD_FREE:
        values["threads"] = count_threads(values["threads"])
    lines = [
        f"{_key(name)} = {_toml(values[name])}\n"
        for name in _kinds(context)
        if values.get(name) is not None
    ]
    head = (
        f"# A run of polyaurn {__version__}. Repeat it: polyaurn train --config FILE --out MODEL\n"
    )
    return head + "".join(lines)


def source_as_config(
    corpus: Path | None,
    reading: dict[str, Any],
    of: str,
    *,
    earlier: Sequence[Path] = (),
    command: str | None = None,
    pruning: bool = False,
) -> str:
    """Return where the documents `of` something are, and how they are read, as TOML.

    `earlier` documents come before those of `corpus`, which is None where files do not say which
    documents they are. `command` is the one that repeats the run, if it is not `train`. With
    `pruning` the file also says which words were kept.
    """
    from polyaurn.cli.options import READING
    from polyaurn.corpus.readers import MATRIX_OPTIONS

    kept = ("format", "name_column", "encoding", "min_tokens", *MATRIX_OPTIONS, *WHERE)
    values: dict[str, Any] = {} if command is None else {REPEAT: command}
    if corpus is not None:
        values |= {"earlier": list(earlier)} if earlier else {}
        values["corpus"] = corpus
    values |= {name: reading[name] for name in kept if reading.get(name)}
    for name in PRUNING if pruning else ():
        if reading[name] != READING[name][1]:
            values[name] = reading[name]
    lines = [f"{_key(name)} = {_toml(value)}\n" for name, value in values.items()]
    return f"# Documents of {of}, of polyaurn {__version__}.\n" + "".join(lines)


def as_command(context: typer.Context) -> str:
    """Return a command with the options that are not its defaults, as a line for a shell."""
    paths, words = _paths(context), ["polyaurn", str(context.command.name)]
    options: list[str] = []
    for parameter in context.command.params:
        name = str(parameter.name)
        given: Any = context.params.get(name)
        plain = given is None or given is False or given == parameter.get_default(context)
        if plain or name in (*NOT_KEPT, "words"):
            continue
        values = [
            str(Path(value).absolute())
            if name in paths or (name == "stop_words" and Path(value).is_file())
            else str(value)
            for value in (given if isinstance(given, list | tuple) else [given])
        ]
        if parameter.param_type_name == "argument":
            words += values
        elif given is True:
            options.append(parameter.opts[0])
        else:
            options += [word for value in values for word in (parameter.opts[0], value)]
    return f"{shlex.join([*words, *options])} --out MODEL"


def options_in(path: Path, kinds: dict[str, type]) -> dict[str, Any]:
    """Return options of a run from its file, those that it has.

    Parameters
    ----------
    path : Path
        As `run_as_config` made it; it need not be there.
    kinds : dict
        Options that are asked for, such as `WHERE` or `PRUNING`.

    Returns
    -------
    dict
        Those that it has.
    """
    if not path.is_file():
        return {}
    found = {k.replace("-", "_"): v for k, v in _read(path).items()}
    options = {name: found[name] for name in kinds if name in found}
    for name, value in options.items():
        if not _is_one(value, kinds[name]):
            raise InputError(
                f"The file '{path}', key '{_key(name)}': expected {_EXPECTED[kinds[name]]}. Got "
                f"{value!r:.60} instead; correct it, or remove the file."
            )
    return options


def _read(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise InputError(
                f"The file '{path}' must be a short TOML file. Got {path.stat().st_size:,} bytes; "
                "is it another file?"
            )
        return tomllib.loads(path.read_bytes().decode())
    except OSError as error:
        raise InputError(
            f"The file '{path}' cannot be read: {error.strerror or error}. Check the path."
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        why = str(error).rstrip(".") if isinstance(error, tomllib.TOMLDecodeError) else "not text"
        raise InputError(
            f"The file '{path}' must be TOML, lines such as: topics = 50. It is not ({why}); "
            "correct it."
        ) from None


def _kinds(context: typer.Context) -> dict[str, type]:
    """Return the options of a command in their order, and what each takes."""
    found: dict[str, type] = {}
    for name, parameter in signature(context.command.callback or typer.echo).parameters.items():
        kind = parameter.annotation
        if name != "config" and get_origin(kind) is Annotated:
            kind = get_args(kind)[0]
            listed = [k for k in (get_args(kind) or (kind,)) if k is not type(None)]
            found[name] = listed[0] if listed[0] in _EXPECTED else str
    return found


def _paths(context: typer.Context) -> set[str]:
    """Return the options of a command that are paths; some versions of typer keep them as text."""
    parameters = signature(context.command.callback or typer.echo).parameters
    return {name for name, p in parameters.items() if "Path" in str(get_args(p.annotation)[:1])}


def _is_one(value: Any, kind: type) -> bool:
    """Return whether a value is of a kind; numbers may stand for text, as on the command line."""
    also: dict[type, Any] = {float: (int, float), str: (str, int, float)}
    return isinstance(value, also.get(kind, kind)) and isinstance(value, bool) == (kind is bool)


def _key(name: str) -> str:
    return name.replace("_", "-")


def _number_or_file(value: str | None) -> Any:
    """Return a number, the name of a list of words, or the absolute path of a file."""
    from polyaurn.chain.priors import by_topics
    from polyaurn.corpus.english import EXTENDED
    from polyaurn.corpus.languages import AUTO, is_language

    if value in (None, AUTO, EXTENDED, "none") or is_language(str(value)):
        return value
    if not isinstance(by_topics(value, 1), str):
        return value
    try:
        return float(value)
    except ValueError:
        return Path(value)


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, Path):
        value = str(value.absolute())
    if isinstance(value, str):
        text = value.encode(errors="replace").decode()  # names of files need not be Unicode
        return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value)
