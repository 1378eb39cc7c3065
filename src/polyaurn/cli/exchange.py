"""Commands that carry models to neighbours and back: export, import-model. Heavy imports wait."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyaurn.base.checks import check_one_of
from polyaurn.base.errors import InputError
from polyaurn.cli.checks import check_only_for
from polyaurn.cli.options import (
    READING,
    EscapeFormulas,
    Force,
    Json,
    ModelPath,
    Quiet,
    reads_corpus,
)
from polyaurn.cli.steps import as_trained, note, noting_warnings, print_json, read, size_of

if TYPE_CHECKING:
    from polyaurn.model.model import TopicModel

OUT = "'--out' option"
TO = ("mallet", "ldac", "gensim", "pyldavis", "csv", "parquet")
NEED_CORPUS = ("mallet", "pyldavis")
TABULAR = ("csv", "parquet")
FROM = ("mallet", "ldac")
TABLES = ("topics", "documents")


@reads_corpus
def export(
    model: ModelPath,
    to: Annotated[
        str, typer.Option("--to", help=f"{', '.join(TO[:-1])} or {TO[-1]}.", show_default=False)
    ],
    out: Annotated[
        Path,
        typer.Option(
            help="The file: for mallet any (gzipped if it ends in .gz), for ldac NAME.beta (with "
            "NAME.other), for gensim any (with others beside it), for pyldavis NAME.html or "
            "NAME.json, NAME.csv or NAME.parquet.",
            show_default=False,
        ),
    ],
    corpus: Annotated[
        Path | None,
        typer.Option(
            help="For mallet and pyldavis: what the model was trained on, read with the same "
            "options."
        ),
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(help="For csv and parquet: 'topics' (default) or 'documents'."),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(help="For csv and parquet: of words, 'relevance' (default) or 'frequency'."),
    ] = None,
    blank: Annotated[
        str | None, typer.Option(help="For mallet: stands for blanks in words and names, say '_'.")
    ] = None,
    flatten_priors: Annotated[
        bool,
        typer.Option(
            "--flatten-priors",
            help="For mallet and ldac: write the mean where the format has one number.",
        ),
    ] = False,
    escape_formulas: EscapeFormulas = False,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Write a model for other programs.

    Example: polyaurn export model --to csv --out topics.csv

    Example: polyaurn export model --to pyldavis --corpus reviews.csv --out page.html
    """
    from polyaurn import exchange
    from polyaurn.model.leading_words import ORDERS, check_order
    from polyaurn.model.storage import load
    from polyaurn.training.progress import following

    check_one_of(to, "to", TO)
    if table is not None:
        check_one_of(table, "table", TABLES)
    if order is not None:
        check_order(order)
        check_only_for("--order", True, "the table of topics", here=table != "documents")
    given = {
        "--table": (table is not None, TABULAR),
        "--order": (order is not None, TABULAR),
        "--corpus": (corpus is not None, NEED_CORPUS),
        "--blank": (blank is not None, ("mallet",)),
        "--flatten-priors": (flatten_priors, ("mallet", "ldac")),
        "--escape-formulas": (escape_formulas, ("csv",)),
    } | {
        f"--{name.replace('_', '-')}": (reading[name] != default, NEED_CORPUS)
        for name, (_, default) in READING.items()
    }
    for option, (there, formats) in given.items():
        check_only_for(option, there, " and ".join(formats), here=to in formats)
    _check_out(to, out, force=force)
    if to in NEED_CORPUS and corpus is None:
        raise InputError(
            f"The '--corpus' option must be given for {to}, which needs the documents; name the "
            "corpus the model was trained on, with the same reading options."
        )
    loaded = load(model)
    documents: Any = None
    if corpus is not None:
        options = as_trained(loaded, corpus, reading, model, pruned=True)
        documents = read(corpus, options, quiet=quiet or json, bars=not quiet)
    with noting_warnings(quiet=quiet), following("writing", show=not quiet):
        if to in TABULAR:
            rows = (
                exchange.document_table(loaded)
                if table == "documents"
                else exchange.topic_table(loaded, order=order or ORDERS[0])
            )
            exchange.write_table(rows, out, escape_formulas=escape_formulas, force=force)
        elif to == "ldac":
            exchange.write_ldac_beta(loaded, out, flatten_priors=flatten_priors, force=force)
        elif to == "gensim":
            exchange.write_gensim(loaded, out, force=force)
        elif to == "pyldavis":
            exchange.write_pyldavis(loaded, documents, out, force=force)
        else:
            exchange.write_mallet_state(
                loaded, documents, out, blank=blank, flatten_priors=flatten_priors, force=force
            )
    if json:
        print_json({"file": str(out), "format": to} | _sizes(loaded))
    elif not quiet:
        note(f"{loaded!r} written to {out}")


def _check_out(to: str, out: Path, *, force: bool) -> None:
    """Raise, before long work, if the file cannot be written."""
    from polyaurn.exchange.gensim import check_gensim_file
    from polyaurn.exchange.ldac import check_ldac_files
    from polyaurn.exchange.pyldavis import check_pyldavis_file
    from polyaurn.exchange.tables import check_table_file
    from polyaurn.files.atomic import check_new_file

    if to in TABULAR and out.suffix != f".{to}":
        raise InputError(f"The {OUT} must end in .{to}. Got '{out}' instead.")
    checks: dict[str, Callable[..., Any]] = dict.fromkeys(TABULAR, check_table_file) | {
        "ldac": check_ldac_files, "gensim": check_gensim_file, "pyldavis": check_pyldavis_file,
        "mallet": check_new_file,
    }  # fmt: skip
    checks[to](out, force=force, what=OUT)


def import_model(
    file: Annotated[
        Path,
        typer.Argument(
            help="A state of MALLET, or NAME.beta of LDA-C with NAME.other beside it.",
            show_default=False,
        ),
    ],
    from_: Annotated[str, typer.Option("--from", help="mallet or ldac.", show_default=False)],
    out: Annotated[Path, typer.Option(help="Folder for the model.", show_default=False)],
    vocabulary: Annotated[
        Path | None, typer.Option(help="For ldac: file with one word a line.")
    ] = None,
    encoding: Annotated[
        str | None, typer.Option(help="For mallet: of words and names; utf-8 if not given.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a model in the folder.")] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Take over a model of another program, to infer, evaluate and show topics with it.

    Example: polyaurn import-model topic-state.gz --from mallet --out model
    """
    from polyaurn import exchange
    from polyaurn.model.folder import check_target, save
    from polyaurn.training.progress import following

    check_one_of(from_, "from", FROM)
    check_only_for("--vocabulary", vocabulary is not None, "ldac", here=from_ == "ldac")
    check_only_for("--encoding", encoding is not None, "mallet", here=from_ == "mallet")
    if from_ == "ldac" and vocabulary is None:
        raise InputError(
            "The '--vocabulary' option must be given for ldac, whose models hold numbers only; "
            "name the file with one word a line."
        )
    check_target(out, force=force, name="--out")
    with following(f"reading {file.name or file}", size_of(file), show=not quiet):
        if from_ == "ldac":
            model = exchange.read_ldac_beta(file, vocabulary)
        else:
            model = exchange.read_mallet_state(file, encoding=encoding or "utf-8")
    save(model, out, force=force)
    if json:
        print_json({"model": str(out), "format": from_} | _sizes(model))
    elif not quiet:
        note(f"{model!r} written to {out}; see its topics with: polyaurn topics {out}")


def _sizes(model: "TopicModel") -> dict[str, int]:
    return {
        "topics": model.n_topics,
        "documents": len(model.doc_names),
        "words": len(model.vocab),
        "tokens": len(model.assignments),
    }
