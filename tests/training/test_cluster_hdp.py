"""Workers of a hierarchical Dirichlet process: the bytes of one machine, resumed or not."""

import numpy as np
import pytest

import polyaurn
from polyaurn import HDP, datasets
from polyaurn.corpus.urn_file import write_urn
from polyaurn.model.folder import TIMED

pytestmark = [
    pytest.mark.filterwarnings(f"ignore::polyaurn.base.errors.{kind}")  # of tiny, stopped runs
    for kind in ("ClusterWarning", "UnfinishedStartWarning")
]


@pytest.fixture(scope="module")
def corpus():
    return datasets.generate(n_documents=1000, n_words=500, n_topics=9, mean_length=60.0)


def fit(corpus, **more):
    given = {"max_iter": 12, "learn_priors_every": 3, "evaluate_every": 2, "n_jobs": 1,
             "sampler": "sparse-dirichlet", "warm_start": "anneal", "start_topics": 15,
             "average_draws": 3, "verbose": False} | more  # fmt: skip
    return HDP(40, **given).fit(corpus)


def facts(hdp):
    """Return all that two trainings should have in common."""
    model, top = hdp.model_, hdp.model_.priors.top
    trace = [{n: v for n, v in record.items() if n not in TIMED} for record in hdp.trace_]
    counts = hdp.topic_word_counts_
    arrays = (hdp.assignments_, counts.data, counts.indices, *model.priors[:2], top.order,
              top.topics, top.whole, top.draws, hdp.weights_interval_)  # fmt: skip
    return [np.asarray(a).tobytes() for a in arrays], top[:2], trace, model.parameters


def stop_at(sweep):
    return lambda state, info: info.sweep >= sweep


@pytest.fixture(scope="module", params=["dirichlet", "sticks"])
def weights(request):
    return request.param


@pytest.fixture(scope="module")
def single(corpus, weights):
    return facts(fit(corpus, topic_weights=weights))


@pytest.mark.parametrize("size", [1, 3])
def test_workers_have_the_bytes_of_one_process(corpus, weights, single, size):
    together = fit(corpus, topic_weights=weights, cluster="local", n_workers=size)
    assert facts(together) == single
    assert len(together.model_.priors.top.draws) == 3


def test_a_run_moves_between_one_machine_and_workers(corpus, weights, single, tmp_path):
    given = {"topic_weights": weights, "checkpoint": tmp_path, "checkpoint_every": 1}
    fit(corpus, **given, cluster="local", n_workers=2, callbacks=stop_at(4))
    fit(corpus, **given, resume=True, callbacks=stop_at(10))  # the draws have begun
    fit(corpus, **given, resume=True, cluster="local", n_workers=3, callbacks=stop_at(11))
    assert facts(fit(corpus, **given, resume=True)) == single


def test_one_draw_and_fixed_concentrations(corpus):
    given = {"average_draws": 1, "alpha_prior": None, "gamma_prior": None, "learn_priors_every": 0}
    given |= {"doc_topic_prior": 2.0, "max_iter": 4, "warm_start": "random"}
    assert facts(fit(corpus, **given, cluster="local", n_workers=2)) == facts(fit(corpus, **given))


def test_the_command_line_writes_the_model_in_one_piece(corpus, run, tmp_path):
    write_urn(corpus, tmp_path / "corpus.urn")
    command = ["train", "corpus.urn", "--model", "hdp", "--topics", 40, "--start-topics", 15,
               "--sweeps", 8, "--sampler", "sparse-dirichlet", "--warm-start", "anneal",
               "-q"]  # fmt: skip
    assert run(*command, "--out", "one") == (0, "", "")
    assert run(*command, "--out", "m", "--cluster", "local", "--workers", 2) == (0, "", "")
    assert not list((tmp_path / "m").glob("part-*"))
    one, several = (polyaurn.load(tmp_path / name) for name in ("one", "m"))
    assert several.assignments.tobytes() == one.assignments.tobytes()
    assert several.parameters == one.parameters
