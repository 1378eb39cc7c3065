"""Growth and refreshes: plans, the bytes of the reference, the same target."""

import numpy as np
import pytest

from polyaurn import LDA, Corpus, InputError, TopicModel, datasets, load, sweeps
from polyaurn.backends.cpu import layout
from polyaurn.backends.reference import REFERENCES
from polyaurn.backends.registry import load_steps
from polyaurn.base.errors import UnfinishedStartWarning
from polyaurn.base.threads import Workers
from polyaurn.chain.loop import sweep
from polyaurn.chain.priors import make_priors
from polyaurn.chain.samplers import EXACT
from polyaurn.chain.schedule import AUTO_OF_0_1, Plan, make_schedule
from polyaurn.chain.state import NO_TOPIC, check_invariants
from polyaurn.evaluate.diagnostics import log_posterior
from support.chains import ONE, begin, enumerate_posterior, number
from support.p_values import UNLIKELY, chi_square_p

GROWING = (Plan(8), Plan(8), Plan(16), Plan(32), Plan(64, 3), Plan(64, 3), Plan(64, 3), Plan(64, 2))
LARGE = {"n_tokens": 10_000_000, "n_words": 50_000, "n_topics": 1000, "max_iter": 1000}


@pytest.fixture
def in_shares(monkeypatch):
    """Small corpora are cut into shares and blocks too."""
    monkeypatch.setattr(layout, "LEAST_SHARED", 0)
    monkeypatch.setattr(layout, "LEAST_BLOCK", 200)


def walk(made, corpus, K, plans, workers=ONE):
    """Yield the states of a chain that follows some plans."""
    priors = make_priors(0.1, 0.01, K, corpus.n_words)
    steps = made(corpus, K, workers)
    state = begin(steps, priors, 0, plans[0].share)
    for plan in plans:
        state, _ = sweep(state, steps, plan, 0)
        check_invariants(corpus.word, corpus.n_words, K, state)
        yield state


@pytest.mark.plain
@pytest.mark.parametrize("sampler", REFERENCES)
@pytest.mark.parametrize(
    "constants", [{}, {"MOST_TOPICS": 2}, {"LONGEST": 15}], ids=["words", "documents", "both"]
)
def test_growth_and_refreshes_give_the_bytes_of_the_reference(
    sampler, constants, in_shares, monkeypatch
):
    for name, value in constants.items():
        monkeypatch.setattr(layout, name, value)
    corpus = datasets.generate(60, 40, 4, 15.0)
    plain = REFERENCES[sampler]
    expected = [state.z.tobytes() for state in walk(plain, corpus, 7, GROWING)]
    for threads in (1, 3):
        with Workers(threads) as workers:
            found = walk(load_steps(sampler), corpus, 7, GROWING, workers)
            assert [state.z.tobytes() for state in found] == expected


def test_documents_join_by_and_by_and_all_in_the_end(in_shares):
    corpus = datasets.generate(600, 60, 4, 30.0)
    without = [
        (state.z == NO_TOPIC).mean() for state in walk(load_steps("polya-urn"), corpus, 7, GROWING)
    ]
    for share, found in zip((8, 8, 16, 32), without, strict=False):
        error = np.sqrt(share / 64 * (1 - share / 64) / 600)
        assert abs((1 - found) - share / 64) < 5 * error
    assert without[4:] == [0.0] * 4


def test_the_schedule():
    grown = make_schedule("auto", "auto", **LARGE)
    assert grown.shares == (1, 2, 4, 8, 16, 32)
    assert [grown.plan(t).phase for t in (0, 7, 8, 47, 48)] == [
        "grow 1/64", "grow 1/64", "grow 2/64", "grow 32/64", "full",
    ]  # fmt: skip
    assert grown.plan(47).refreshes == 1
    assert grown.plan(48).refreshes == 4
    assert make_schedule("random", 1, **LARGE)[:4] == ((), 1, 0, 0)
    learned = make_schedule("auto", "auto", **LARGE, learns=True)
    assert learned.shares == grown.shares
    assert learned.annealed > grown.annealed == 0
    assert learned.plan(0).phase == "grow 1/64 anneal"
    assert make_schedule("grow", "auto", **LARGE, learns=True).annealed == 0
    assert make_schedule("auto", 2, **LARGE | {"max_iter": 90}).shares == ()
    assert make_schedule("grow", 2, **LARGE | {"max_iter": 90}).shares
    assert make_schedule("auto", 1, **LARGE | {"n_topics": 10}).shares == ()
    assert make_schedule("grow", "auto", **LARGE | {"n_tokens": 1_500_000})[:4] == (
        (8, 16, 32), 1, 0, 0,
    )  # fmt: skip
    assert make_schedule("grow", "auto", **LARGE | {"n_tokens": 1000})[:4] == ((), 1, 0, 0)


def test_smoothing_has_few_topics_a_third_of_the_sweeps_and_larger_priors():
    few = LARGE | {"n_topics": 100}
    both = make_schedule(AUTO_OF_0_1, 1, **few)
    assert [both.plan(t).phase for t in (0, 48, 119, 120)] == [
        "grow 1/64 smooth", "smooth", "smooth", "full",
    ]  # fmt: skip
    assert make_schedule(AUTO_OF_0_1, 1, **few | {"max_iter": 60})[:4] == ((), 1, 20, 0)
    assert make_schedule(AUTO_OF_0_1, 1, **few | {"max_iter": None}).smooth == 120
    assert make_schedule("smooth", 1, **LARGE)[:4] == ((), 1, 120, 0)
    assert make_schedule(AUTO_OF_0_1, 1, **LARGE | {"n_topics": 201, "max_iter": 60}).smooth == 0
    priors = make_priors([0.05, 0.2, 0.7], 0.03, 3, 2)
    raised = Plan(smooth=True).raised(priors)
    assert np.allclose(raised.alpha, [0.15, 0.3, 0.7])
    assert np.allclose(raised.beta, 0.05)
    assert Plan().raised(priors) is priors


def test_a_smooth_start_keeps_the_target_and_reports_the_log_posterior_of_the_model(small):
    infos = [i for _, i in sweeps(small, 3, max_iter=9, warm_start="smooth", evaluate_every=1)]
    assert [i.phase for i in infos] == ["smooth"] * 3 + ["full"] * 6
    states = [s for s, _ in sweeps(small, 3, max_iter=9, warm_start="smooth")]
    plain = [s for s, _ in sweeps(small, 3, max_iter=9, warm_start="random", start=states[2])]
    assert plain[-1].z.tobytes() == states[-1].z.tobytes()
    priors = make_priors(0.1, 0.01, 3, small.n_words)
    assert infos[0].log_posterior == log_posterior(small, states[0], priors, ONE)


def test_a_state_knows_whether_it_is_smooth_and_is_never_smoothed_again(small):
    options = {"warm_start": "smooth"}
    states = [state for state, _ in sweeps(small, 3, max_iter=30, **options)]
    assert [state.smooth for state in states] == [True] * 10 + [False] * 20
    longer = list(sweeps(small, 3, max_iter=300, start=states[-1], **options))
    assert {info.phase for _, info in longer} == {"full"}
    early = [info.phase for _, info in sweeps(small, 3, max_iter=60, start=states[4], **options)]
    assert early == ["smooth"] * 15 + ["full"] * 40


@pytest.mark.parametrize(
    ("warm_start", "phase"), [("auto", "anneal"), ("anneal", "anneal"), ("smooth", "smooth")]
)
def test_a_chain_that_stops_under_raised_priors_says_so(small, tmp_path, warm_start, phase):
    options = {"max_iter": 60, "warm_start": warm_start, "verbose": False}
    lda = LDA(3, callbacks=lambda state, info: info.sweep == 20, **options)
    with pytest.warns(UnfinishedStartWarning, match=rf"after sweep 20 \({phase}\): topics"):
        lda.fit(small)
    lda.save(tmp_path / "m")
    assert load(tmp_path / "m").parameters["stopped_in"] == phase
    lda.callbacks = lambda state, info: info.sweep == (46 if phase == "anneal" else 21)
    assert "stopped_in" not in lda.fit(small).model_.parameters


@pytest.mark.filterwarnings("error::polyaurn.base.errors.UnfinishedStartWarning")
def test_an_interrupted_chain_is_marked_as_of_raised_priors_without_a_warning(small):
    def interrupt(state, info):
        raise KeyboardInterrupt

    lda = LDA(3, max_iter=60, callbacks=interrupt, verbose=False)
    with pytest.raises(KeyboardInterrupt):
        lda.fit(small)
    assert lda.model_.parameters["stopped_in"] == "anneal"


def test_a_model_of_a_smooth_state_is_marked(small):
    for state, info in sweeps(small, 3, max_iter=60, warm_start="smooth"):
        facts = TopicModel.from_state(small, state, state.priors).parameters
        assert facts.get("stopped_in") == ("smooth" if info.phase == "smooth" else None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"warm_start": True},
            "'warm_start' parameter must be one of 'auto', 'anneal', 'collapsed', 'grow', 'smooth'",
        ),
        ({"phi_refreshes": 0}, "'phi_refreshes' parameter must be 'auto' or a whole number"),
        ({"phi_refreshes": True}, "Got True"),
        ({"phi_refreshes": "many"}, "Got 'many'"),
    ],
)
def test_bad_schedules_are_rejected(small, options, message):
    with pytest.raises(InputError, match=message):
        sweeps(small, 3, **options)


def test_a_trace_says_the_phase_and_stopping_early_leaves_no_token_without_topic(
    in_shares, monkeypatch
):
    monkeypatch.setattr("polyaurn.chain.schedule.LEAST_BEGINNING", 100)
    corpus = datasets.generate(300, 60, 4, 30.0)
    seen = []

    def stop(state, info):
        seen.append(info)
        return info.sweep == 10

    lda = LDA(4, warm_start="grow", callbacks=stop, verbose=False)
    with pytest.warns(UnfinishedStartWarning, match="got theirs in one more sweep"):
        lda.fit(corpus)
    assert lda.model_.parameters["stopped_in"] == "grow 2/64"
    assert [r["phase"] for r in lda.trace_] == ["grow 1/64"] * 8 + ["grow 2/64"] * 2
    assert all(info.log_posterior is None for info in seen)
    assert lda.assignments_.max() < 4
    assert lda.topic_word_counts_.sum() == corpus.n_tokens
    assert lda.n_iter_ == 11


def test_a_share_without_documents_is_no_trouble(in_shares, monkeypatch):
    monkeypatch.setattr("polyaurn.chain.schedule.LEAST_BEGINNING", 1)
    corpus = datasets.generate(3, 20, 2, 30.0)  # three documents: none in the first 64th
    infos = [info for _, info in sweeps(corpus, 3, warm_start="grow", max_iter=49)]
    assert infos[0].work_per_token == 0.0
    assert infos[-1].log_posterior is not None


@pytest.mark.plain
def test_steps_between_words_may_be_longer_than_16_bits():
    vocab = tuple(f"w{v}" for v in range(140_000))
    word = np.array([0, 0, 70_000, 139_999, 3, 139_000], np.int32)
    corpus = Corpus(np.array([0, 4, 6]), word, vocab)
    made = layout.make_layout(corpus, 5)
    runs = np.cumsum(made.step[: made.last_run[0]].astype(int))
    assert sorted(set(np.repeat(runs, made.length[: made.last_run[0]]))) == sorted(set(word))
    assert made.length[: made.last_run[0]].sum() == 6


def test_continuing_from_a_growing_state_gives_the_same_bytes(in_shares, monkeypatch):
    monkeypatch.setattr("polyaurn.chain.schedule.LEAST_BEGINNING", 100)
    corpus = datasets.generate(300, 60, 4, 30.0)
    options = {"warm_start": "grow", "phi_refreshes": 3, "max_iter": 52}
    whole = [state for state, _ in sweeps(corpus, 5, **options)]
    for t in (3, 20, 49):
        again = [s for s, _ in sweeps(corpus, 5, start=whole[t]._replace(parts=()), **options)]
        assert again[-1].z.tobytes() == whole[-1].z.tobytes()
    with pytest.raises(InputError, match="whose share of 16/64"):
        next(sweeps(corpus, 5, start=whole[3]._replace(share=16), **options))


def stationary(refreshes, n):
    """Return a p-value: does a chain with refreshes have the enumerated posterior?"""
    corpus = Corpus.from_matrix([[2, 0], [1, 1], [0, 2]])
    priors, K = make_priors(0.5, 0.4, 2, 2), 2
    posterior = enumerate_posterior(corpus, priors)
    steps = load_steps(EXACT[0])(corpus, K)
    state = begin(steps, priors)
    kept = []
    for t in range(n):
        state, _ = sweep(state, steps, Plan(64, refreshes), 0)
        if t % 8 == 7:
            kept.append(state.z)
    found = np.bincount(number(np.array(kept), K), minlength=len(posterior))
    return len(steps.layout.blocks) - 1, chi_square_p(found, posterior)


@pytest.mark.slow
def test_refreshes_keep_the_target(monkeypatch):
    monkeypatch.setattr(layout, "BLOCK_BYTES", 1)  # a block for each document
    blocks, p = stationary(3, 20_000)
    assert blocks == 3
    assert p > UNLIKELY


@pytest.mark.slow
def test_stale_counts_between_refreshes_are_seen(monkeypatch):
    """The counterpart with a fault: counts of only the first part, never those of the others."""
    monkeypatch.setattr(layout, "BLOCK_BYTES", 1)
    monkeypatch.setattr(
        "polyaurn.backends.cpu.counts.replace_counts", lambda layout, counts, old, new, workers: new
    )
    assert stationary(3, 5000)[1] < UNLIKELY**2
