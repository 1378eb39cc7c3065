"""A topic with most of the tokens is named, and no other."""

import numpy as np
import pytest
import scipy.sparse as sp

from polyaurn import TopicModel
from polyaurn.chain.priors import make_priors
from polyaurn.model.dominance import note_of_dominant_topic
from polyaurn.pages.report.data import gather


def model_of(sizes):
    K, V = len(sizes), 4
    counts = sp.csr_matrix(np.outer(sizes, [1, 0, 0, 0]))
    of_documents = sp.csr_matrix(np.array([sizes], np.int32))
    z = np.repeat(np.arange(K, dtype=np.uint16), sizes)
    priors = make_priors(0.1, 0.1, K, V)
    return TopicModel(counts, of_documents, z, ("a", "b", "c", "d"), ("d",), priors)


@pytest.mark.parametrize(
    ("sizes", "named"),
    [([1, 6, 1, 1, 1], True), ([1, 5, 2, 1, 1], False), ([1, 9, 1, 1], False), ([0] * 5, False)],
)
def test_a_topic_with_most_of_the_tokens_is_named(sizes, named):
    said = note_of_dominant_topic(model_of(sizes))
    assert bool(said) is named
    if named:
        assert said.startswith("Topic 1 (a) holds 60% of the tokens, more than all others together")


def test_a_label_names_it_and_the_report_says_it():
    model = model_of([1, 6, 1, 1, 1]).label_topics({1: "Everything"})
    said = note_of_dominant_topic(model)
    assert said.startswith("Topic 1 (Everything) holds 60%")
    assert gather(model)["training"]["dominant"] == said
