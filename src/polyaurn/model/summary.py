"""What a notebook shows of a model, and of a hierarchy of topics."""

from typing import Any

import numpy as np

from polyaurn.base.checks import is_whole
from polyaurn.base.html import bar, note, summary, table, text, words
from polyaurn.model.data import ModelData, largest_topics
from polyaurn.model.labels import given_labels
from polyaurn.model.leading_words import leading_words

TOPICS, WORDS, STEPS = 20, 8, 15


def model_html(model: ModelData, title: str = "TopicModel") -> str:
    """Return sizes, and a table of the largest topics."""
    facts = f"{model.n_topics:,} topics, {len(model.vocab):,} words"
    if len(model.doc_names):
        facts += f", {len(model.doc_names):,} documents, {len(model.assignments):,} tokens"
    said = model.parameters
    if "sampler" in said and is_whole(said.get("sweeps")):
        facts += f"; {said['sweeps']:,} sweeps of sampler {str(said['sampler'])[:40]}"
        facts += f", seed {said['seed']}" if is_whole(said.get("seed")) else ""
    labels = given_labels(model)
    named = any(labels)
    sizes = np.asarray(model.topic_sizes, np.float64)
    share, most = sizes / max(sizes.sum(), 1e-300), max(sizes.max(initial=0.0), 1e-300)
    rows: list[tuple[object, ...]] = []
    for k in largest_topics(model, TOPICS).tolist():
        found = words(model.vocab[v] for v in leading_words(model, k, WORDS)[0].tolist())
        label = (text(labels[k] or "", 40),) if named else ()
        rows.append((k, *label, bar(sizes[k] / most, f"{share[k]:.1%}"), found))
    columns = ("topic", *(("label",) if named else ()), "share of tokens", "words")
    shown = [table(columns, rows)]
    if model.n_topics > TOPICS:
        shown.append(note(f"The {TOPICS} largest of {model.n_topics:,} topics."))
    return summary(title, facts, *shown)


def hierarchy_html(linkage: Any, columns: Any) -> str:
    """Return the last steps of a hierarchy, the last first: those that join the most topics."""
    steps = len(linkage)
    rows = []
    for i in reversed(range(max(0, steps - STEPS), steps)):
        distance = float(columns["distance"][i])
        sides = [text(f"{_numbers(columns[side][i])}: {columns[f'{side}_name'][i]}", 40)
                 for side in ("left", "right")]  # fmt: skip
        rows.append((int(columns["step"][i]), bar(distance, f"{distance:.2f}"), *sides,
                     text(columns["words"][i], 80)))  # fmt: skip
    heads = ("step", "distance", "joins topics", "with topics", "words")
    shown = [table(heads, rows)] if rows else []
    if steps > STEPS:
        shown.append(note(f"The last {STEPS} of {steps:,} steps."))
    return summary("Hierarchy", f"of {steps + 1:,} topics, merged in {steps:,} steps", *shown)


def _numbers(topics: Any) -> str:
    listed = [str(k) for k in topics[:6]]
    return ", ".join(listed) + (f" and {len(topics) - 6} more" if len(topics) > 6 else "")
