"""A model as the page reads it: one dictionary of short lists, numbers rounded."""

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from polyaurn.base.arrays import F64, I64
from polyaurn.base.version import __version__
from polyaurn.chain.state import topic_word_matrix
from polyaurn.corpus.corpus import Corpus
from polyaurn.corpus.known_words import in_words_of
from polyaurn.corpus.names import has_names
from polyaurn.model.checks import check_belongs, check_documents, check_value_per_document
from polyaurn.model.data import ModelData, document_lengths, largest_topics
from polyaurn.model.dates import AT_POSITION
from polyaurn.model.dominance import note_of_dominant_topic
from polyaurn.model.labels import given_labels
from polyaurn.model.leading_words import RELEVANCE
from polyaurn.model.model import fitted
from polyaurn.model.topic_map import ASPECT, MOST_TOPICS, place_topics
from polyaurn.pages.report.classes import by_class
from polyaurn.pages.report.dates import over_time, parse_dates, words_over_time, write_day
from polyaurn.pages.report.documents import (
    bag_documents,
    choose_documents,
    mix_documents,
    name_documents,
)
from polyaurn.pages.report.similarity import heat_map
from polyaurn.pages.report.texts import IN_A_BLOCK, Texts, colour_texts, snippet_of, texts_of
from polyaurn.pages.report.training import summarise_trace, topics_by_sweep
from polyaurn.pages.report.words import (
    Leading,
    leading_at_any_lambda,
    listed_words,
    tokens_of_words,
    topics_of_words,
    words_shown,
)

DATES = "'dates' parameter"


def gather(
    model: Any,
    corpus: Corpus | None = None,
    dates: Iterable[Any] | None = None,
    *,
    title: str = "Topics",
    dates_source: str = DATES,
    dates_at: Callable[[int], str] = AT_POSITION,
    texts: Texts | None = None,
    classes: Iterable[Any] | None = None,
) -> dict[str, Any]:
    """Collect what a report shows, ready for JSON; the same for the same model.

    Parameters are those of `polyaurn.write_report`; `dates_source` and `dates_at` say where dates
    come from, for error messages; see `parse_dates`. `texts` may be a function that returns those
    of some documents. What is under "packs" is unpacked by the page when it is looked at.
    """
    trained = fitted(model)
    if texts is not None and not callable(texts):
        check_documents(trained)
        texts = check_value_per_document(trained, texts, "texts")
        corpus = _corpus_of(trained, texts) if corpus is None else corpus
    if corpus is not None:
        check_belongs(trained, corpus)
    days = None
    if dates is not None:
        check_documents(trained)
        days = parse_dates(dates, len(trained.doc_names), dates_source, dates_at)
    topics = np.sort(largest_topics(trained, MOST_TOPICS))
    in_classes = None
    if classes is not None:
        check_documents(trained)
        in_classes = by_class(trained, classes, topics)
    shown = choose_documents(trained, corpus, topics)
    written = None if texts is None or corpus is None else texts_of(trained, texts, shown)
    bags = None if corpus is None or written else bag_documents(trained, corpus, shown)
    leading = leading_at_any_lambda(trained, topics, words_shown(len(topics)))
    words = listed_words(
        trained,
        [*(part.words for part in leading), *_words_of(bags or [])],
    )
    number = np.full(len(trained.vocab), -1)
    number[words] = np.arange(len(words))
    labels = given_labels(trained)
    place = place_topics(trained.topic_word_mass[topics], trained.topic_sizes[topics])
    return {
        "title": title,
        "lambda": RELEVANCE,
        "facts": _facts(trained),
        "notes": _notes(trained, topics, shown, corpus, words, days, place.order)
        | _notes_of_classes(in_classes, len(trained.doc_names)),
        "tokens": _short(trained.topic_sizes.sum()),
        "shown": words_shown(len(topics)),
        "alpha": _short(trained.priors.alpha.sum()),
        "beta": _beta(trained, words),
        "seeds": _seeds(trained, topics, leading, words),
        "map": {
            "aspect": ASPECT,
            "x": _round(place.x, 4),
            "y": _round(place.y, 4),
            "r": _round(place.radius, 4),
        },
        "topics": {
            "number": topics.tolist(),
            "size": [_short(size) for size in trained.topic_sizes[topics]],
            "documents": _documents_of_topics(trained)[topics].tolist(),
            "label": [labels[k] for k in topics.tolist()],
            "near": topics[place.nearest].tolist(),
            "words": [number[part.words].tolist() for part in leading],
            "counts": [[_short(n) for n in part.counts.tolist()] for part in leading],
        },
        "words": {
            "text": "\n".join(trained.vocab[v] for v in words.tolist()),
            "count": [_short(n) for n in tokens_of_words(trained)[words].tolist()],
            "topics": [
                [_short(n) for n in row]
                for row in topics_of_words(trained.topic_word_counts, words)
            ],
        },
        "documents": {
            "all": len(trained.doc_names),
            "number": shown.tolist(),
            "name": name_documents(trained, shown),
            "tokens": document_lengths(trained)[shown].tolist(),
            "mixture": mix_documents(trained, shown),
            "bag": None if bags is None else [_renumber(bag, number) for bag in bags],
            "date": None if days is None else [write_day(days[d]) for d in shown.tolist()],
            "snippet": None if not written else [snippet_of(text) for text in written],
            "block": IN_A_BLOCK,
        },
        "time": None if days is None else over_time(trained, days, topics),
        "classes": in_classes,
        "similar": heat_map(trained),
        "training": summarise_trace(trained.trace, len(trained.assignments))
        | {"dominant": note_of_dominant_topic(trained), "topics": topics_by_sweep(trained)},
        "packs": {
            "texts": _blocks(colour_texts(trained, corpus, shown, written))
            if written and corpus is not None
            else [],
            "trends": [words_over_time(corpus, days, words)]
            if days is not None and corpus is not None
            else [],
        },
    }


def _corpus_of(model: ModelData, texts: list[Any]) -> Corpus:
    """Return texts in the words of a model, cut by its rules."""
    known = in_words_of(model.vocab, texts, model.tokenization)
    return Corpus(known.doc_ptr, known.word, model.vocab, model.doc_names)


def _blocks(coloured: list[Any]) -> list[list[Any]]:
    return [coloured[lo : lo + IN_A_BLOCK] for lo in range(0, len(coloured), IN_A_BLOCK)]


def _documents_of_topics(model: ModelData) -> I64:
    return np.bincount(model.doc_topic_counts.indices, minlength=model.n_topics)


def _words_of(bags: list[list[list[int]]]) -> list[I64]:
    parts = [np.array(group[1:], np.int64) for bag in bags for group in bag]
    return [part[part >= 0] for part in parts]


def _renumber(bag: list[list[int]], number: I64) -> list[list[int]]:
    return [[group[0], *(int(number[v]) if v >= 0 else v for v in group[1:])] for group in bag]


def _seeds(
    model: ModelData, topics: I64, leading: list[Leading], words: I64
) -> dict[str, Any] | None:
    """Return the pseudo-counts of the prior, by which words are ranked but not counted.

    For each topic those of its leading words and their sum over all words; for each word listed
    their sum over topics; and the sum of all. None without seeds.
    """
    if model.priors.pseudo is None:
        return None
    before = topic_word_matrix(model.priors.pseudo, model.n_topics)
    over_words = np.asarray(before.sum(axis=1)).ravel()
    counts = [
        before[k].toarray().ravel()[part.words].tolist()
        for k, part in zip(topics.tolist(), leading, strict=True)
    ]
    return {
        "topics": counts,
        "sizes": over_words[topics].tolist(),
        "words": np.asarray(before.sum(axis=0)).ravel()[words].tolist(),
        "total": over_words.sum().item(),
    }


def _beta(model: ModelData, words: I64) -> dict[str, Any]:
    """Return the prior of words: its sum, and one number, or one for each word listed."""
    beta = model.priors.beta
    same = beta.min() == beta.max()
    return {
        "sum": _short(beta.sum()),
        "each": _short(beta[0]) if same else [_short(b) for b in beta[words].tolist()],
    }


def _facts(model: ModelData) -> list[list[str]]:
    """Return what was run, as pairs of a name and a value."""
    known = model.parameters
    alpha, beta = model.priors.alpha, model.priors.beta
    rows = [
        ("Topics", f"{model.n_topics:,}"),
        ("Documents", f"{len(model.doc_names):,}"),
        ("Words", f"{len(model.vocab):,}"),
        ("Tokens", f"{len(model.assignments):,}"),
        ("Sampler", known.get("sampler")),
        ("Sweeps", f"{known['sweeps']:,}" if isinstance(known.get("sweeps"), int) else None),
        ("Draws averaged", f"{draws:,}" if (draws := model.averaged_draws) > 1 else None),
        ("Seed", known.get("seed")),
        ("Alpha, prior of topics in a document", _prior(alpha)),
        ("Beta, prior of words in a topic", _prior(beta)),
        ("Warm start", known.get("warm_start")),
        ("Came from", known.get("source")),
        ("Corpus, SHA-256", str(known.get("corpus_sha256") or "")[:16] or None),
        ("Report by", f"polyaurn {__version__}"),
    ]
    return [[name, str(value)] for name, value in rows if value is not None]


def _prior(values: F64) -> str:
    low, high = float(values.min()), float(values.max())
    return f"{low:.4g}" if low == high else f"{low:.3g} to {high:.3g}, sum {values.sum():.4g}"


def _notes(
    model: ModelData,
    topics: I64,
    shown: I64,
    corpus: Corpus | None,
    words: I64,
    days: Any,
    order: float,
) -> dict[str, str]:
    """Return sentences about what is shown and what is not."""
    D, V = len(model.doc_names), len(model.vocab)
    undated = sum(day is None for day in days or [])
    documents = (
        "The model has no documents; it came from elsewhere without them."
        if not D
        else f"{len(shown):,} of {D:,} documents are shown: those that a topic explains best, and "
        "a random sample of the others."
        if len(shown) < D
        else f"All {D:,} documents are shown."
        if D > 1
        else "The one document is shown."
    )
    bags = (
        "Only mixtures are shown: the report was made without the corpus (--corpus)."
        if corpus is None
        else "The model sees bags of words: the order of a document's words is not kept. Words are "
        "grouped by topic, larger where they occur more often."
    )
    return {
        "topics": " ".join(_notes_of_topics(model, len(topics))),
        "map": _note_of_map(order),
        "words": f"{len(words):,} of {V:,} words can be searched: the commonest, leading words of "
        "topics, and those of the documents shown."
        if len(words) < V
        else "",
        "documents": documents,
        "bags": bags if D else "",
        "texts": "Words have the colour of the topic that most of their tokens in the document "
        "have; words that the model does not know have none.",
        "dates": f"{undated:,} of {D:,} documents have no date." if undated else "",
    }


def _notes_of_classes(classes: dict[str, Any] | None, n_documents: int) -> dict[str, str]:
    if classes is None:
        return {"classes": ""}
    parts = ["Mean share of the documents of each class."]
    if len(classes["labels"]) < classes["all"]:
        parts.append(f"The {len(classes['labels'])} largest of {classes['all']:,} classes.")
    if classes["without"]:
        parts.append(f"{classes['without']:,} of {n_documents:,} documents have no class.")
    return {"classes": " ".join(parts)}


def _notes_of_topics(model: ModelData, shown: int) -> Iterator[str]:
    """Yield a sentence where not all topics are shown, and one where words have no names."""
    if shown < model.n_topics:
        yield f"The {shown:,} largest of {model.n_topics:,} topics are shown."
    if not has_names(model.vocab):
        yield (
            "The words are not known: the model was trained on a matrix without column names; "
            "model.with_words(...) names them."
        )


def _note_of_map(order: float) -> str:
    text = "Near circles share words; areas show tokens."
    if math.isnan(order):
        return text
    return (
        f"{text} A plane cannot hold all distances: their order on the map and between topics "
        f"has a rank correlation of {order:.2f}."
    )


def _round(values: F64, digits: int) -> list[float]:
    return [round(value, digits) for value in values.tolist()]


def _short(value: Any) -> int | float:
    """Return a number in few characters: whole where it is, else with five digits."""
    number = float(value)
    return int(number) if number.is_integer() else float(f"{number:.5g}")
