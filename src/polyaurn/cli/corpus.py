"""Commands about corpora: info, import. Heavy imports are deferred."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyaurn.cli.options import CorpusPath, Force, Json, Quiet, reads_corpus
from polyaurn.cli.steps import (
    note,
    note_language,
    noting_warnings,
    print_json,
    read,
    reading_options,
    size_of,
)
from polyaurn.cli.tables import show_table

if TYPE_CHECKING:
    from polyaurn.evaluate.diagnostics import CorpusSummary


@reads_corpus
def info(
    corpus: CorpusPath,
    json: Json = False,
    quiet: Quiet = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Describe a corpus: sizes, sparsity, Heaps' law.

    Example: polyaurn info docword.kos.txt.gz --min-count 10
    """
    from polyaurn.evaluate.diagnostics import summarise

    documents = read(corpus, reading, quiet=quiet or json, bars=not quiet)
    summary = summarise(documents)
    if json:
        print_json(summary._asdict())
    else:
        show_table(("", ""), _in_words(summary), left=("",), header=False)


def _in_words(found: "CorpusSummary") -> list[tuple[str, str]]:
    return [
        ("documents", f"{found.documents:,} ({found.empty_documents:,} empty)"),
        ("vocabulary", f"{found.vocabulary:,} ({found.words_used:,} occur)"),
        ("tokens", f"{found.tokens:,}"),
        ("document-word pairs", f"{found.distinct_pairs:,}"),
        ("sparsity", f"{1 - found.density:.4%} of document-word cells are zero"),
        (
            "document length",
            f"{found.shortest:,} to {found.longest:,}, median {found.median_length:,.0f}, "
            f"mean {found.mean_length:,.1f}",
        ),
        ("Heaps' law", f"V = {found.heaps_xi:.3g} N^{found.heaps_psi:.3f}"),
    ]


@reads_corpus
def import_(
    corpus: CorpusPath,
    out: Annotated[Path, typer.Option(help="The file, NAME.urn.", show_default=False)],
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Convert a corpus into a file that train maps into memory, however large.

    Text, UCI, MatrixMarket and HDF5 are read piece by piece, so that they may be larger than
    memory.

    Example: polyaurn import docword.pubmed.txt.gz --min-count 10 --out pubmed.urn

    Example: polyaurn import matrix.mtx.gz --transpose --binarise --min-df 10 --out cells.urn
    """
    from polyaurn.corpus.conversion import check_out, import_corpus
    from polyaurn.training.progress import following

    check_out(out, force=force)
    reads = following(f"reading {corpus.name or corpus}", size_of(corpus), show=not quiet)
    with noting_warnings(quiet=quiet or json), reads:
        documents = import_corpus(corpus, out, **reading_options(reading))
    if json:
        print_json(
            {
                "file": str(out),
                "documents": documents.n_documents,
                "words": documents.n_words,
                "tokens": documents.n_tokens,
            }
        )
    elif not quiet:
        note_language(documents, corpus, reading)
        if documents.word_report is not None:
            note(f"{documents.word_report}")
        if documents.n_empty:
            note(f"Note: {documents.note_of_empty_documents()}")
        note(f"{documents!r} written to {out}; train on it with: polyaurn train {out} --out MODEL")
