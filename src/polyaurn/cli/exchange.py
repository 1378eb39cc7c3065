"""Commands that exchange models with other programs: export, import-model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer

from polyaurn.base.checks import check_one_of
from polyaurn.base.errors import InputError
from polyaurn.cli.checks import check_only_for, in_words
from polyaurn.cli.options import (
    READING,
    EscapeFormulas,
    Force,
    Json,
    ModelPath,
    Quiet,
    reads_corpus,
)
from polyaurn.cli.sources import find_matrix, find_source, read_source, words_of_corpus
from polyaurn.cli.steps import as_trained, note, noting_warnings, print_json, size_of

if TYPE_CHECKING:
    from polyaurn.cli.sources import Source
    from polyaurn.model.model import TopicModel

OUT = "'--out' option"
TO = ("mallet", "ldac", "gensim", "pyldavis", "pycistopic", "anndata", "csv", "parquet")
OF_DOCUMENTS = ("mallet", "pyldavis")
TAKE_READING = (*OF_DOCUMENTS, "pycistopic")
TAKE_CORPUS = (*TAKE_READING, "anndata")
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
            "NAME.json, for pycistopic a prefix of three names, for anndata NAME.h5ad, NAME.csv "
            "or NAME.parquet.",
            show_default=False,
        ),
    ],
    corpus: Annotated[
        Path | None,
        typer.Option(
            help="For mallet and pyldavis: what the model was trained on. For pycistopic: all "
            "cells and regions in their order. For anndata: the file to copy, NAME.h5ad. Found "
            "automatically, unless moved."
        ),
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(help="For csv and parquet: 'topics' (default) or 'documents'."),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(
            help="For csv and parquet: order of words, 'relevance' (default) or 'frequency'."
        ),
    ] = None,
    blank: Annotated[
        str | None,
        typer.Option(help="For mallet: replaces blanks in words and names, such as '_'."),
    ] = None,
    flatten_priors: Annotated[
        bool,
        typer.Option(
            "--flatten-priors",
            help="For mallet, ldac and pycistopic: write the mean where the format has one number; "
            "pycistopic gets it in any case, with a note.",
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

    Example: polyaurn export model --to pyldavis --out page.html

    For pycistopic the model may be a folder of choose-topics, whose models are all written.

    Example: polyaurn export polyaurn-choose-topics --to pycistopic --out pycistopic/cells
    """
    from polyaurn import exchange
    from polyaurn.model.leading_words import ORDERS, check_order
    from polyaurn.model.storage import load
    from polyaurn.studies.topic_grid.folder import grid_around
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
        "--corpus": (corpus is not None, TAKE_CORPUS),
        "--blank": (blank is not None, ("mallet",)),
        "--flatten-priors": (flatten_priors, ("mallet", "ldac", "pycistopic")),
        "--escape-formulas": (escape_formulas, ("csv",)),
    } | {
        f"--{name.replace('_', '-')}": (
            reading[name] != default,
            TAKE_CORPUS if name == "transpose" else TAKE_READING,
        )
        for name, (_, default) in READING.items()
    }
    for option, (there, formats) in given.items():
        check_only_for(option, there, in_words(formats), here=to in formats)
    if to == "pycistopic":
        _to_pycistopic(
            model, out, corpus, reading,
            flatten_priors=flatten_priors, force=force, json=json, quiet=quiet,
        )  # fmt: skip
        return
    _check_out(to, out, force=force)
    loaded = load(model)
    documents: Any = None
    if to in OF_DOCUMENTS:
        found = _found(loaded, model, corpus, reading)
        options = as_trained(loaded, found.path, found.reading, model, pruned=True)
        found = found._replace(reading=options)
        documents = read_source(found, quiet=quiet or json, bars=not quiet)
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
        elif to == "anndata":
            source = _found(loaded, grid_around(model) or model, corpus, reading)
            turned = source.reading["transpose"]
            exchange.write_anndata(loaded, source.path, out, transpose=turned, force=force)
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
        if to != "mallet" and table != "documents" and len(loaded.doc_names):
            draws = loaded.averaged_draws
            kind = f"the mean of {draws} draws of the chain" if draws > 1 else "those of one draw"
            note(f"Its counts of words in topics are {kind}.")


def _to_pycistopic(
    folder: Path,
    prefix: Path,
    corpus: Path | None,
    reading: dict[str, Any],
    *,
    flatten_priors: bool,
    force: bool,
    json: bool,
    quiet: bool,
) -> None:
    """Write a model, or all numbers of topics of a grid, for pycisTopic."""
    from polyaurn.exchange.pycistopic import check_pycistopic_files, write_pycistopic
    from polyaurn.model.storage import load
    from polyaurn.studies.topic_grid.folder import grid_around, models_in
    from polyaurn.training.progress import following

    grid, around = models_in(folder), grid_around(folder)
    for n_topics in grid or ():
        check_pycistopic_files(prefix, n_topics, force=force, what=OUT)
    source, documents, shape = None, None, (0, 0)
    written: list[Path] = []
    with noting_warnings(quiet=quiet):
        for place in grid.values() if grid else [folder]:
            model = load(place)
            if not written:  # the first one
                check_pycistopic_files(prefix, model.n_topics, force=force, what=OUT)
                source = find_matrix(
                    model, around or folder, corpus, reading, dropped=bool(grid or around)
                )
                shape = len(model.doc_names), len(model.vocab)
                if source is not None:
                    documents = read_source(source, quiet=quiet or json, bars=not quiet)
                    shape = documents.n_documents, documents.n_words
            with following("writing", show=not quiet):
                written += write_pycistopic(
                    model, prefix, documents, read_as=words_of_corpus(model, around or folder),
                    flatten_priors=flatten_priors, force=force,
                )  # fmt: skip
            del model  # before the next one is loaded
    if json:
        sizes = {"cells": shape[0], "regions": shape[1]}
        print_json({"files": [str(file) for file in written], "format": "pycistopic"} | sizes)
    elif not quiet:
        for file in written:
            note(f"Written: {file}")
        whole = source is not None and source.kind != "urn"
        more = "" if whole else "; name the matrix with --corpus if it has more"
        note(f"The files have {shape[0]:,} cells by {shape[1]:,} regions{more}.")


def _found(
    model: "TopicModel", folder: Path, corpus: Path | None, reading: dict[str, Any]
) -> "Source":
    """Return where the documents of a model are."""
    source, moved = find_source(model, folder, corpus, reading)
    if source is None:
        raise InputError(
            moved or "The '--corpus' option must be given for this model, whose folder does not "
            "say which file it was trained on; name it."
        )  # fmt: skip
    return source


class _CheckOut(Protocol):
    def __call__(self, path: Path, *, force: bool, what: str) -> object: ...


def _check_out(to: str, out: Path, *, force: bool) -> None:
    """Raise, before long work, if the file cannot be written."""
    from polyaurn.exchange.anndata import check_anndata_file
    from polyaurn.exchange.gensim import check_gensim_file
    from polyaurn.exchange.ldac import check_ldac_files
    from polyaurn.exchange.pyldavis import check_pyldavis_file
    from polyaurn.exchange.tables import check_table_file
    from polyaurn.files.atomic import check_new_file

    if to in TABULAR and out.suffix != f".{to}":
        raise InputError(f"The {OUT} must end in .{to}. Got '{out}' instead.")
    checks: dict[str, _CheckOut] = dict.fromkeys(TABULAR, check_table_file) | {
        "ldac": check_ldac_files, "gensim": check_gensim_file, "pyldavis": check_pyldavis_file,
        "mallet": check_new_file, "anndata": check_anndata_file,
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
        Path | None, typer.Option(help="For ldac: file with one word per line.")
    ] = None,
    encoding: Annotated[
        str | None,
        typer.Option(help="For mallet: encoding of words and names; utf-8 if not given."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a model in the folder.")] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Import a model of another program, to infer, evaluate and show topics with it.

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
            "name the file with one word per line."
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
