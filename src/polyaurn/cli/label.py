"""The command that gives topics labels. Heavy imports are deferred."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyaurn.base.errors import InputError
from polyaurn.cli.checks import check_only_for
from polyaurn.cli.label_files import changes_to
from polyaurn.cli.options import INTERRUPTED, READING, Json, ModelPath, Quiet, reads_texts
from polyaurn.cli.steps import note, print_json
from polyaurn.cli.tables import show_table

if TYPE_CHECKING:
    from polyaurn.exchange.chat import ChatServer
    from polyaurn.exchange.llm_labels import Answers, Question
    from polyaurn.model.model import TopicModel

_LLM = "Labels by a language model"


@reads_texts
def label(
    model: ModelPath,
    labels: Annotated[
        list[str] | None,
        typer.Argument(help='Such as 19=Brexit 3="House prices".', show_default=False),
    ] = None,
    from_: Annotated[
        Path | None,
        typer.Option("--from", help="CSV file with the columns topic and label."),
    ] = None,
    remove: Annotated[
        list[int] | None, typer.Option(help="Topic whose label to remove; may be repeated.")
    ] = None,
    list_: Annotated[
        bool, typer.Option("--list", help="Show labels, which is the default.")
    ] = False,
    all_: Annotated[
        bool,
        typer.Option("--all", help="Show all topics, not only those whose label has changed."),
    ] = False,
    by_llm: Annotated[
        bool,
        typer.Option(
            "--by-llm",
            help="Ask a language model for labels of the topics without one.",
            rich_help_panel=_LLM,
        ),
    ] = False,
    url: Annotated[
        str | None,
        typer.Option(
            help="Server that speaks OpenAI's chat protocol, such as http://localhost:11434/v1.",
            rich_help_panel=_LLM,
        ),
    ] = None,
    llm: Annotated[
        str | None,
        typer.Option("--model", help="The model's name on that server.", rich_help_panel=_LLM),
    ] = None,
    key_variable: Annotated[
        str | None,
        typer.Option(
            help="Environment variable with the server's key, such as OPENAI_API_KEY.",
            rich_help_panel=_LLM,
        ),
    ] = None,
    documents: Annotated[
        int | None,
        typer.Option(
            help="Excerpts of documents to send for each topic: 3 by default where the texts are "
            "found, else 0.",
            rich_help_panel=_LLM,
        ),
    ] = None,
    words: Annotated[
        int, typer.Option(help="Words to send for each topic.", rich_help_panel=_LLM)
    ] = 15,
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Ask about labelled topics, too.", rich_help_panel=_LLM),
    ] = False,
    timeout: Annotated[
        float, typer.Option(help="Seconds to wait for an answer.", rich_help_panel=_LLM)
    ] = 120.0,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Send without asking.", rich_help_panel=_LLM)
    ] = False,
    corpus: Annotated[
        Path | None,
        typer.Option(
            help="For --documents: what the model was trained on, if it has moved.",
            rich_help_panel=_LLM,
        ),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
    *,
    where: dict[str, Any],
) -> None:
    """Give topics labels, which are shown wherever a topic is named and stored with the model.

    Example: polyaurn label model 1=Space 2="Football matches"

    Example: polyaurn label model --by-llm --url http://localhost:11434/v1 --model llama3.2
    """
    from polyaurn.model.folder import write_labels
    from polyaurn.model.storage import load

    changes = bool(labels or from_ or remove)
    _check_options(by_llm, changes, list_, _given(locals(), where))
    loaded = load(model)
    code, changed = 0, dict[int, str | None]()
    if by_llm:
        server = _server(url, llm, key_variable, timeout)
        questions = _questions(
            loaded, model, words, documents, corpus, where, replace=replace, quiet=quiet or json
        )
        loaded, found = _ask(loaded, questions, server, ask=not yes, quiet=quiet or json)
        changed = dict(found.labels)
        write_labels(loaded, model)
        code = _report(found, quiet=quiet or json)
    elif changes:
        changed = changes_to(loaded, labels or [], from_, remove or [])
        loaded = loaded.label_topics(changed)
        write_labels(loaded, model)
    if json:
        print_json(_for_machines(loaded))
    elif not code and not (quiet and (by_llm or changes)):
        _show(loaded, sorted(changed) if changed and not all_ else range(loaded.n_topics))
    if code:
        raise typer.Exit(code)


def _given(options: dict[str, Any], where: dict[str, Any]) -> list[str]:
    """Return the options of a language model that were given."""
    plain = {"url": None, "llm": None, "key_variable": None, "documents": None, "words": 15,
             "replace": False, "timeout": 120.0, "yes": False, "corpus": None}  # fmt: skip
    given = [name for name, default in plain.items() if options[name] != default]
    given += _differ(where)
    return ["--model" if name == "llm" else f"--{name.replace('_', '-')}" for name in given]


def _check_options(by_llm: bool, changes: bool, list_: bool, given: list[str]) -> None:
    """Reject options that contradict each other or have no effect."""
    if by_llm + changes + list_ > 1:
        raise InputError(
            "The '--by-llm' and '--list' options must stand alone, without labels, '--from' and "
            "'--remove'. Got several; run the command for each."
        )
    for option in given:
        check_only_for(option, True, "--by-llm", here=by_llm)


def _server(
    url: str | None, llm: str | None, key_variable: str | None, timeout: float
) -> "ChatServer":
    from polyaurn.exchange.chat import ChatServer

    for option, value in (("--url", url), ("--model", llm)):
        if value is None:
            raise InputError(
                f"The '{option}' option must be given for --by-llm, such as: --url "
                "http://localhost:11434/v1 --model llama3.2"
            )
    key = None
    if key_variable is not None:
        key = os.environ.get(key_variable, "").strip()
        if not key:
            raise InputError(
                "The '--key-variable' option must name an environment variable that holds a key. "
                f"'{key_variable}' is not set or empty; set it first."
            )
    return ChatServer(str(url), str(llm), key, timeout)


def _questions(
    model: "TopicModel",
    folder: Path,
    words: int,
    documents: int | None,
    corpus: Path | None,
    where: dict[str, Any],
    *,
    replace: bool,
    quiet: bool,
) -> list["Question"]:
    """Return what is to be asked, one question for each topic that has words."""
    from polyaurn.base.checks import check_whole
    from polyaurn.exchange.llm_labels import N_DOCUMENTS, make_questions, topics_to_ask

    check_whole(words, "n_words")
    wanted = N_DOCUMENTS if documents is None else check_whole(documents, "n_documents", 0)
    topics = topics_to_ask(model, range(model.n_topics) if replace else None)
    if not topics:
        raise InputError(
            "The model must have topics without a label for --by-llm. All have one; add --replace "
            "to ask about all of them."
        )
    asked_for = documents is not None or corpus is not None or _differ(where)
    leading, texts = dict[int, list[int]](), dict[int, str]()
    try:
        leading, texts = _documents(model, folder, topics, wanted, corpus, where, quiet=quiet)
    except InputError as error:
        if asked_for:
            raise
        if not quiet:
            note(f"Note: Only words are sent, without excerpts of documents. {error}")
    return make_questions(model, topics, words, leading, texts)


def _differ(where: dict[str, Any]) -> list[str]:
    """Return the options that say where text is and were given."""
    return [name for name in where if where[name] != READING[name][1]]


def _documents(
    model: "TopicModel",
    folder: Path,
    topics: list[int],
    wanted: int,
    corpus: Path | None,
    where: dict[str, Any],
    *,
    quiet: bool,
) -> tuple[dict[int, list[int]], dict[int, str]]:
    """Return the leading documents of each topic, and their texts."""
    from polyaurn.cli.texts import texts_of
    from polyaurn.exchange.llm_labels import leading_documents

    leading = leading_documents(model, topics, wanted)
    numbers = {d for listed in leading.values() for d in listed}
    if not numbers:
        return leading, {}
    return leading, texts_of(model, folder, numbers, corpus, where, quiet=quiet)


def _ask(
    model: "TopicModel",
    questions: list["Question"],
    server: "ChatServer",
    *,
    ask: bool,
    quiet: bool,
) -> tuple["TopicModel", "Answers"]:
    """Say what is sent, send it, and return the model with the labels that came back."""
    from polyaurn.exchange.llm_labels import ask_for_labels, labels_of_others, what_is_sent
    from polyaurn.model.labels import with_labels
    from polyaurn.training.progress import following
    from polyaurn.training.signals import interrupted_by_signals

    said = what_is_sent(questions, server)
    terminal = sys.stdin.isatty() and sys.stderr.isatty()
    if ask and terminal:
        note(said)
        typer.confirm("Send?", abort=True, err=True)
    elif not quiet:
        note(said)
    others = labels_of_others(model, [question.topic for question in questions])
    with following("asking for labels", show=not quiet), interrupted_by_signals():
        found = ask_for_labels(questions, server, others)
    return with_labels(model, found.labels, found.requests), found


def _report(found: "Answers", *, quiet: bool) -> int:
    """Say what is missing, and return the exit code."""
    from polyaurn.exchange.llm_labels import what_is_missing

    for sentence in what_is_missing(found):
        note(f"polyaurn: {sentence}" if found.failure else sentence)
    if not (quiet or found.failure or found.interrupted):
        note(f"{len(found.labels):,} label{'s' * (len(found.labels) != 1)} written.")
    return INTERRUPTED if found.interrupted else 2 if found.failure or not found.labels else 0


def _show(model: "TopicModel", topics: Iterable[int]) -> None:
    from polyaurn.model.labels import given_labels

    labels, listed = given_labels(model), model.topics(8)
    show_table(
        ("topic", "label", "leading words"),
        [(str(k), labels[k] or "", " ".join(listed[k])) for k in topics],
        title=f"{sum(map(bool, labels)):,} of {model.n_topics:,} topics have labels",
        left=("label", "leading words"),
    )


def _for_machines(model: "TopicModel") -> list[dict[str, Any]]:
    from polyaurn.model.labels import given_labels

    labels = given_labels(model)
    return [
        {"topic": k, "label": labels[k], "words": words} for k, words in enumerate(model.topics(8))
    ]
