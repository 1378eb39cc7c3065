"""Table 2: the corpora, after the rare-word limit of 10."""

from polyaurn.studies.paper.corpora import PAPER
from polyaurn.studies.paper.results import Figure, Results, Table


def make(results: Results) -> Figure:
    """List the corpora that were used."""
    rows = []
    for cell, found in results.of("corpora").items():
        assert cell.corpus is not None
        source = results.plan.sources[cell.corpus.source]
        rows.append(
            {
                "name": source.name, "words": found["words_used"],
                "documents": found["documents"], "tokens": found["tokens"],
                "from": source.about(), "paper": source.name in PAPER and source.path is not None,
                "mean_length": found["mean_length"], "median_length": found["median_length"],
            }
        )  # fmt: skip
    listed = [
        [r["name"], f"{r['words']:,}", f"{r['documents']:,}", f"{r['tokens']:,}",
         f"{r['mean_length']:,.0f} ({r['median_length']:,.0f})", r["from"]]
        for r in rows
    ]  # fmt: skip
    theirs = [
        [name, f"{shape.words:,}", f"{shape.documents:,}", f"{shape.tokens:,}",
         f"{shape.tokens / shape.documents:,.0f}", "the paper's table"]
        for name, shape in PAPER.items()
    ]  # fmt: skip
    same = [r["name"] for r in rows if r["paper"]]
    other = [r["name"] for r in rows if not r["paper"]]
    found_text = (
        ""
        if not rows
        else f"These are corpora of the paper: {', '.join(same)}."
        if not other
        else f"Not the paper's corpora: {', '.join(other)}"
        + (f"; the paper's: {', '.join(same)}." if same else ".")
    )
    return Figure(
        "Corpora (Table 2)",
        "Enron, the New York Times and PubMed, with words seen at least ten times.",
        found_text,
        {},
        [Table(("corpus", "V", "D", "N", "mean (median) length", "from"), listed + theirs)],
        {"rows": rows},
        "V counts the words that occur. Generated corpora are draws from the model, with words by "
        "Zipf's law and lengths Poisson around lognormal means; those called NAME-like have the "
        "paper's D, V and N before the limit takes the rarest words, and a spread of lengths that "
        "we assume, since the paper gives none.",
    )
