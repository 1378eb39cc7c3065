"""A model cannot be changed, by accident or through what it was made of."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
import scipy.sparse as sp

from polyaurn import LDA, TopicModel, load


@pytest.fixture(scope="module", params=["trained", "loaded", "renamed"])
def model(request, small, tmp_path_factory):
    lda = LDA(3, max_iter=4, verbose=False, seed_words={1: [small.vocab[0]]}).fit(small)
    if request.param == "loaded":
        return load(lda.save(tmp_path_factory.mktemp("models") / "m"))
    if request.param == "renamed":
        return lda.model_.with_words([f"word {v}" for v in range(small.n_words)])
    return lda.model_


def arrays(value):
    if isinstance(value, np.ndarray):
        yield value
    elif sp.issparse(value):
        yield from (value.data, value.indices, value.indptr)
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        for part in value:
            yield from arrays(part)


NAMES = ["topic_word_counts", "doc_topic_counts", "assignments", "priors", "topic_sizes",
         "topic_word_mass"]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_no_array_of_a_model_can_be_written_to(model, name):
    found = list(arrays(getattr(model, name)))
    assert found
    for array in found:
        assert not array.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            array[:1] = 0


def test_no_attribute_can_be_set(model):
    for name in ("vocab", "priors", "trace", "parameters", "assignments"):
        with pytest.raises(FrozenInstanceError):
            setattr(model, name, None)


def test_a_model_does_not_change_with_what_it_was_made_of():
    counts = sp.csr_matrix(np.array([[2, 0], [1, 3]], np.int32))
    parameters, trace = {"sweeps": 1}, [{"sweep": 1}]
    from polyaurn.chain.priors import make_priors

    model = TopicModel(
        counts, counts.T.tocsr(), np.zeros(6, np.uint16), ("a", "b"), ("1", "2"),
        make_priors(0.1, 0.1, 2, 2), trace, parameters,
    )  # fmt: skip
    parameters["sweeps"] = trace[0]["sweep"] = 9
    trace.append({})
    assert (model.parameters, model.trace) == ({"sweeps": 1}, [{"sweep": 1}])
    assert counts.data.flags.writeable  # the caller's matrix is still the caller's
