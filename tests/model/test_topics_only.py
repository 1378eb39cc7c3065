"""Models opened without their documents, for what is asked about new ones."""

import numpy as np
import pytest

import polyaurn
from polyaurn import HDP, LDA, datasets
from polyaurn.cli.steps import score
from polyaurn.corpus.urn_file import write_urn
from polyaurn.model import storage
from polyaurn.model.storage import load_topics


@pytest.fixture(scope="module")
def corpus():
    return datasets.generate(n_documents=300, n_words=60, n_topics=4, mean_length=60.0)


@pytest.fixture
def asked(monkeypatch):
    """Return a list of the arrays that are read."""
    names, read = [], storage.read_npz

    def noted(path, types, *rest):
        names.extend(types)
        return read(path, types, *rest)

    monkeypatch.setattr(storage, "read_npz", noted)
    return names


PLAIN = {"max_iter": 6, "verbose": False, "n_jobs": 1, "sampler": "polya-urn"}


@pytest.mark.filterwarnings("ignore::polyaurn.base.errors.BiasWarning")  # of an HDP by the urn,
@pytest.mark.filterwarnings("ignore::polyaurn.base.errors.TopicCountWarning")  # which is short
@pytest.mark.parametrize("kind", ["plain", "averaged", "seeded", "hdp"])
def test_new_documents_need_no_topics_of_tokens(corpus, tmp_path, asked, kind):
    more = {"average_draws": 3 if kind == "averaged" else 1}
    if kind == "seeded":
        more |= {"seed_words": {0: list(corpus.vocab[:3])}, "seed_strength": 10}
    estimator = HDP(**PLAIN, max_components=9) if kind == "hdp" else LDA(4, **PLAIN, **more)
    estimator.fit(corpus).save(tmp_path / "model")
    found = load_topics(tmp_path / "model")
    assert {"alpha", "topic_word_counts.data"} <= set(asked)
    assert not {"assignments", "doc_ptr"} & set(asked)
    assert not len(found.assignments) | len(found.doc_names) | found.doc_topic_counts.shape[0]
    whole, new = polyaurn.load(tmp_path / "model"), corpus.select(range(40))
    mixtures = [model.transform(new, n_jobs=1) for model in (whole, found)]
    assert np.array_equal(*mixtures)
    options = {"random_state": 0, "n_jobs": 1}
    assert score(found, new, 2, options) == score(whole, new, 2, options)


def test_a_model_in_parts_is_scored_without_topics_of_tokens(corpus, run, tmp_path, monkeypatch):
    write_urn(corpus, tmp_path / "corpus.urn")
    command = ("--topics", 4, "--sweeps", 2, "--out", "m", "--cluster", "local", "--workers", 1)
    assert run("train", "corpus.urn", *command, "--threads", 1, "--quiet")[0] == 0
    scores = ("evaluate", "m", "corpus.urn", "--particles", 2, "--threads", 1, "--json")
    monkeypatch.setattr(storage, "read_topics", lambda parts: pytest.fail("read topics of tokens"))
    code, _, error = run(*scores)
    assert code == 0, error
    assert run("infer", "m", "corpus.urn", "--out", "theta.csv", "--threads", 1, "-q")[0] == 0
