"""A note about a topic that holds most of the corpus."""

from polyaurn.model.data import ModelData
from polyaurn.model.labels import labels_of

MOST = 0.5  # of all tokens: more than the other topics have together
LEAST_TOPICS = 5  # of fewer, one may well have half of the tokens


def note_of_dominant_topic(model: ModelData) -> str:
    """Return a sentence about a topic with more than half of the tokens; nothing if none has."""
    sizes = model.topic_sizes
    k, total = int(sizes.argmax()), float(sizes.sum())
    if model.n_topics < LEAST_TOPICS or sizes[k] <= MOST * total:
        return ""
    return (
        f"Topic {k} ({labels_of(model)[k]}) holds {sizes[k] / total:.0%} of the tokens, more than "
        "all others together. Such a topic gathers words that most documents share: leave them out "
        "with a lower --max-df (max_df) or more --stop-words (stop_words), or keep the priors with "
        "--learn-priors-every 0 (learn_priors_every)."
    )
