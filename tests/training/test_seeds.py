"""Topics with seed words: their distribution, what seeds do, and what is kept of them."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import gammaln

from polyaurn import LDA, Corpus, InputError, datasets, exchange, load, sweeps
from polyaurn.backends.reference import REFERENCES
from polyaurn.backends.registry import load_steps
from polyaurn.base.errors import SeedWarning
from polyaurn.base.threads import Workers
from polyaurn.chain.loop import PLAIN, sweep
from polyaurn.chain.priors import learn_beta, make_priors
from polyaurn.chain.samplers import SAMPLERS, THREAD_FREE
from polyaurn.chain.state import check_invariants, topic_word_matrix
from polyaurn.cli import app as cli
from polyaurn.evaluate import left_to_right
from polyaurn.evaluate.diagnostics import log_posterior
from polyaurn.training.seeds import fixed_counts, read_seed_words, seed_counts
from support.chains import (
    MH_EXACT,
    begin,
    chain,
    digits,
    enumerate_posterior,
    log_joint,
    number,
    one_step,
    steps_of,
)
from support.faults import own_token_kept
from support.p_values import UNLIKELY, chi_square_p

SPACE = ["orbit nasa moon", "moon orbit rocket nasa", "rocket moon nasa orbit"]
SPORT = ["goal team cup", "team goal fans cup", "cup fans team goal"]
FOOD = ["bread butter salt", "salt bread oven butter", "oven bread butter salt"]
TEXTS = (SPACE + SPORT + FOOD) * 30
PSEUDO = np.array([[2, 0, 1], [0, 3, 0]])
FRACTIONS = np.array([[1.7, 0, 0.4], [0.3, 2.6, 0]])


def tiny(pseudo=PSEUDO):
    """Five tokens, two topics, and tokens beforehand."""
    corpus = Corpus.from_matrix([[2, 1, 0], [0, 1, 1]])
    return corpus, make_priors([0.3, 0.7], [0.1, 0.2, 0.4], 2, 3, pseudo=pseudo)


def after_one_sweep(made, swept, pseudo=PSEUDO):
    """Start from draws of the seeded posterior, sweep once with other priors, compare."""
    corpus, priors = tiny(pseudo)
    p = enumerate_posterior(corpus, priors)
    steps = made(corpus, 2)
    starts = np.random.default_rng(7).choice(len(p), size=6000, p=p)
    starts = digits(starts, 2, corpus.n_tokens)
    ends = np.array([one_step(steps, swept, z, 1, t).z for t, z in enumerate(starts)])
    return chi_square_p(np.bincount(number(ends, 2), minlength=len(p)), p)


@pytest.mark.parametrize("sampler", ["partially-collapsed", "sparse-dirichlet", MH_EXACT])
def test_a_sweep_keeps_the_seeded_posterior(sampler):
    assert after_one_sweep(steps_of(sampler), tiny()[1]) > UNLIKELY


@pytest.mark.parametrize("sampler", ["collapsed", "partitioned"])
def test_a_sweep_keeps_the_posterior_seeded_by_fractions(sampler):
    assert after_one_sweep(steps_of(sampler), tiny(FRACTIONS)[1], FRACTIONS) > UNLIKELY
    assert after_one_sweep(steps_of(sampler), tiny()[1], FRACTIONS) < UNLIKELY**2


@pytest.mark.parametrize("pseudo", [None, PSEUDO[::-1], PSEUDO * 2], ids=["lost", "swapped", "2x"])
def test_a_sweep_with_other_seeds_does_not(pseudo):
    assert after_one_sweep(steps_of("partially-collapsed"), tiny(pseudo)[1]) < UNLIKELY**2


def test_a_broken_sweep_does_not():
    assert after_one_sweep(own_token_kept("partially-collapsed"), tiny()[1]) < UNLIKELY**2


def test_a_chain_reaches_the_seeded_posterior():
    corpus, priors = tiny()
    p = enumerate_posterior(corpus, priors)
    states = chain(steps_of("partially-collapsed"), corpus, priors, 3000, thin=5)
    z = np.array([state.z for state in states])
    observed = np.bincount(number(z, 2), minlength=len(p))
    assert chi_square_p(observed, p) > UNLIKELY
    unseeded = enumerate_posterior(corpus, priors._replace(pseudo=None))
    assert chi_square_p(observed, unseeded) < UNLIKELY**2


@pytest.mark.parametrize("kind", ["whole", "fractions", "only fractions"])
@pytest.mark.parametrize("sampler", ["polya-urn", "partially-collapsed", "sparse-dirichlet"])
def test_seeded_sweeps_are_those_of_the_reference(sampler, kind, small):
    rng = np.random.default_rng(0)
    pseudo = rng.poisson(0.3, (4, small.n_words))
    if kind != "whole":
        pseudo = pseudo * (kind == "fractions") + rng.random(pseudo.shape) * (pseudo > 0)
    priors = make_priors(0.1, 0.05, 4, small.n_words, pseudo=pseudo)
    ends = []
    for made in (load_steps(sampler), REFERENCES[sampler]):
        steps = made(small, 4)
        state = begin(steps, priors, 3)
        for _ in range(2):
            state, _ = sweep(state, steps, PLAIN, 3)
        ends.append(state.z.tobytes())
    assert ends[0] == ends[1]


@pytest.mark.parametrize("scale", [40, 30.7])
def test_the_log_posterior_has_the_seeds_in_the_prior(small, scale):
    pseudo = np.random.default_rng(1).poisson(0.5, (3, small.n_words)) * scale
    priors = make_priors(0.2, 0.03, 3, small.n_words, pseudo=pseudo)
    state = begin(load_steps("polya-urn")(small, 3), priors)
    expected = log_joint(small, state.z, priors)
    assert log_posterior(small, state, priors) == pytest.approx(expected, rel=1e-11)
    plain = priors._replace(pseudo=None)
    assert abs(log_posterior(small, state, plain) - expected) > 100


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_fractions_change_no_rule_of_a_sampler(sampler, small):
    """Counts are those of topics, on any number of threads; one that is exact says so."""
    rng = np.random.default_rng(3)
    pseudo = sp.random(3, small.n_words, 0.4, random_state=rng, data_rvs=rng.random).toarray() * 9
    pseudo[0] = 0
    priors = make_priors(0.2, 0.03, 3, small.n_words, pseudo=pseudo)
    assert priors.pseudo.number.dtype == np.float64
    ends = []
    for threads in (1, 3):
        with Workers(threads) as workers:
            steps = load_steps(sampler)(small, 3, workers)
            state = begin(steps, priors, 3)
            for _ in range(3):
                state, _ = sweep(state, steps, PLAIN, 3)
                check_invariants(small.word, small.n_words, 3, state)
        assert state.counts.number.dtype == np.int32
        ends.append(state.z.tobytes())
    assert (ends[0] == ends[1]) == (sampler in THREAD_FREE)


def test_whole_numbers_are_whole_whatever_their_type(small):
    pseudo = np.random.default_rng(1).poisson(0.5, (3, small.n_words))
    made = [make_priors(0.2, 0.03, 3, small.n_words, pseudo=p).pseudo
            for p in (pseudo, pseudo.astype(float), sp.csr_matrix(pseudo + 1e-9))]  # fmt: skip
    for other in made:
        assert [a.tobytes() for a in other] == [a.tobytes() for a in made[0]]


def test_beta_is_learned_beside_the_seeds():
    rng = np.random.default_rng(2)
    pseudo = np.zeros((4, 50), int)
    pseudo[0, :10] = 60
    phi = np.array([rng.dirichlet(0.4 + row) for row in pseudo])
    corpus = Corpus.from_matrix(np.array([rng.multinomial(60, phi[d % 4]) for d in range(400)]))
    z = np.repeat(np.arange(400) % 4, np.diff(corpus.doc_ptr)).astype(np.uint16)
    counts = load_steps("polya-urn")(corpus, 4).count(z)
    priors = make_priors(0.1, 0.05, 4, 50, pseudo=pseudo)
    learned = learn_beta(counts, priors)
    n = topic_word_matrix(counts, 4).toarray()

    def level(beta):
        prior = pseudo + beta
        return (gammaln(n + prior) - gammaln(prior)).sum() - (
            gammaln((n + prior).sum(axis=1)) - gammaln(prior.sum(axis=1))
        ).sum()

    assert level(learned) > max(level(learned * 0.98), level(learned * 1.02))
    assert abs(learned - learn_beta(counts, priors._replace(pseudo=None))) > 0.05


def seeded(**parameters):
    given = {"max_iter": 40, "verbose": False, "seed_strength": 100}
    given |= {"seed_words": {2: ["orbit"], 0: ["team", "fans"]}}
    return LDA(3, **given | parameters)


@pytest.mark.parametrize("sampler", ["polya-urn", "partially-collapsed", "polya-urn-mh"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_seeds_draw_their_subjects_into_the_topic(sampler, seed):
    lda = seeded(sampler=sampler, random_state=seed).fit(TEXTS)
    topics = [set(topic) for topic in lda.topics(4)]
    assert topics[2] == {"orbit", "nasa", "moon", "rocket"}
    assert topics[0] == {"goal", "team", "cup", "fans"}
    assert lda.topic_word_counts_.sum() == lda.corpus_.n_tokens  # seeds are no tokens
    assert lda.transform(["orbit and nasa"]).argmax() == 2
    assert lda.transform(["fans and goal"]).argmax() == 0


def test_without_seeds_subjects_have_any_number():
    found = {
        next(k for k, topic in enumerate(lda.topics(4)) if "orbit" in topic)
        for lda in (seeded(seed_words=None, random_state=seed).fit(TEXTS) for seed in range(6))
    }
    assert len(found) > 1


def test_threads_change_no_byte(medium):
    given = {"seed_words": {1: medium.vocab[:5]}, "phi_refreshes": 3, "max_iter": 12}
    one, two = (seeded(n_jobs=n, **given).fit(medium).assignments_.tobytes() for n in (1, 3))
    assert one == two
    assert (
        one != seeded(n_jobs=1, **given | {"seed_words": None}).fit(medium).assignments_.tobytes()
    )


def test_seeds_are_in_every_probability(tmp_path):
    lda = seeded(max_iter=5).fit(TEXTS)
    n0 = np.zeros((3, 12))
    n0[2, lda.corpus_.vocab.index("orbit")] = 100
    n0[0, [lda.corpus_.vocab.index(word) for word in ("team", "fans")]] = 50
    mass = lda.topic_word_counts_.toarray() + n0 + 0.01
    phi = mass / mass.sum(axis=1, keepdims=True)
    assert np.allclose(lda.components_, mass)
    for k, topic in enumerate(lda.topics(5, weights=True)):
        for word, p in topic:
            assert p == pytest.approx(phi[k, lda.corpus_.vocab.index(word)])
    table = exchange.topic_table(lda)
    columns = (table[name] for name in ("topic", "word", "count", "probability"))
    for k, word, count, p in zip(*columns, strict=True):
        v = lda.corpus_.vocab.index(word)
        assert (count, p) == (lda.topic_word_counts_[k, v], pytest.approx(phi[k, v]))
    assert np.allclose(exchange.to_sklearn(lda).components_, mass)
    one_word = left_to_right(lda, ["orbit"], 4000).total
    assert one_word == pytest.approx(np.log(phi[:, lda.corpus_.vocab.index("orbit")].mean()))
    with pytest.raises(InputError, match="MALLET has no pseudo-counts"):
        exchange.write_mallet_state(lda, lda.corpus_, tmp_path / "state.gz")


def test_posterior_draws_have_the_seeds_in_their_prior():
    corpus = Corpus.from_texts(TEXTS)
    lda = seeded(sampler="partially-collapsed", seed_strength=5000)
    posterior = lda.sample_posterior(corpus, chains=2, draws=10, thin=1, words=["orbit"])
    mean = posterior.phi_mean()
    assert mean.sum(axis=1) == pytest.approx(np.ones(3))
    k = int(mean[:, corpus.vocab.index("orbit")].argmax())
    assert mean[k, corpus.vocab.index("orbit")] > 0.9  # 5,000 of some 5,300
    assert posterior.phi[:, :, k, 0].mean() == pytest.approx(mean[k, corpus.vocab.index("orbit")],
                                                             abs=0.01)  # fmt: skip
    assert posterior.topic_sizes.sum() == 20 * corpus.n_tokens


def test_a_model_keeps_its_seeds(tmp_path):
    lda = seeded().fit(TEXTS)
    lda.save(tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.topics(weights=True) == lda.topics(weights=True)
    for ours, theirs in zip(again.priors.pseudo, lda.model_.priors.pseudo, strict=True):
        assert ours.tobytes() == theirs.tobytes()
    assert np.array_equal(again.transform(TEXTS), lda.transform(TEXTS))
    assert again.parameters["seed_words"] == {"2": ["orbit"], "0": ["team", "fans"]}
    again.save(tmp_path / "n")
    for name in ("model.json", "arrays.npz"):
        assert (tmp_path / "m" / name).read_bytes() == (tmp_path / "n" / name).read_bytes()


@pytest.mark.parametrize("learn", [0, 3])
def test_a_seeded_run_resumes_to_the_same_bytes(tmp_path, learn):
    given = {"checkpoint": tmp_path / "run", "checkpoint_every": 4, "learn_priors_every": learn}
    whole = seeded(max_iter=12, learn_priors_every=learn, warm_start="random").fit(TEXTS)

    def stop(state, info):
        return info.sweep == 7

    seeded(max_iter=12, warm_start="random", callbacks=stop, **given).fit(TEXTS)
    for other in (
        {"seed_words": None},
        {"seed_words": {2: ["orbit"]}},
        {"seed_strength": 99},
        {"fixed_topics": whole.model_},
    ):
        with pytest.raises(InputError, match="must be as in the run that is resumed"):
            seeded(max_iter=12, warm_start="random", resume=True, **given | other).fit(TEXTS)
    again = seeded(max_iter=12, warm_start="random", resume=True, **given).fit(TEXTS)
    assert again.assignments_.tobytes() == whole.assignments_.tobytes()
    assert again.topics(weights=True) == whole.topics(weights=True)
    ended = seeded(max_iter=12, warm_start="random", resume=True, **given).fit(TEXTS)
    assert ended.topics(weights=True) == whole.topics(weights=True)


def test_topics_of_an_earlier_model_stay_and_new_ones_form():
    earlier = LDA(2, max_iter=60, verbose=False).fit((SPACE + SPORT) * 6).model_
    lda = LDA(3, max_iter=60, verbose=False, fixed_topics=earlier).fit(TEXTS)
    now = lda.components_ / lda.components_.sum(axis=1, keepdims=True)
    vocab = [lda.corpus_.vocab.index(word) for word in earlier.vocab]
    mass = earlier.topic_word_counts.toarray() + earlier.priors.beta
    before = mass / mass.sum(axis=1, keepdims=True)
    assert np.abs(now[:2, vocab] - before).max() < 1e-3  # 10 ** 6 tokens against a few hundred
    assert set(lda.topics(4)[2]) == {"bread", "butter", "salt", "oven"}
    swapped = LDA(3, max_iter=60, verbose=False, fixed_topics=(earlier, {2: 0})).fit(TEXTS)
    assert set(swapped.topics(4)[2]) == set(earlier.topics(4)[0])


def test_seed_words_and_topics_of_an_earlier_model_add_up():
    earlier = LDA(2, max_iter=60, verbose=False).fit((SPACE + SPORT) * 6).model_
    given = {"seed_words": {2: ["bread"], 0: ["goal"]}, "seed_strength": 70}
    given |= {"fixed_topics": earlier, "fixed_strength": 5000}
    lda = seeded(max_iter=2, **given).fit(TEXTS)
    where = (lda.corpus_, 3)
    seeds = seed_counts(*where, given["seed_words"], 70)
    ties = fixed_counts(*where, earlier, 5000)
    found = topic_word_matrix(lda.model_.priors.pseudo, 3)
    assert (found != seeds + ties).nnz == 0
    assert seeds.sum() == 140
    assert ties.sum() > 9000


def test_the_strength_of_fixed_topics_is_shared_by_the_words_that_are_here():
    """Half of the earlier words are absent; those that are here take all of the strength."""
    earlier = LDA(2, max_iter=60, verbose=False).fit((SPACE + SPORT) * 6).model_
    corpus = Corpus.from_texts([*SPACE, "team goal bread"])
    with pytest.warns(SeedWarning, match="hold up to"):
        counts = fixed_counts(corpus, 2, earlier, 100_000).toarray()
    here = [earlier.vocab.index(word) for word in corpus.vocab if word in earlier.vocab]
    mass = earlier.topic_word_counts.toarray() + earlier.priors.beta
    p = mass[:, here] / mass[:, here].sum(axis=1, keepdims=True)
    columns = [v for v, word in enumerate(corpus.vocab) if word in earlier.vocab]
    assert np.abs(counts[:, columns] - 100_000 * p).max() <= 0.5
    assert np.abs(counts.sum(axis=1) - 100_000).max() <= len(here) / 2
    assert counts[:, corpus.vocab.index("bread")].tolist() == [0, 0]


def test_absent_seed_words_take_no_part_of_the_strength():
    corpus = Corpus.from_texts(TEXTS)
    with pytest.warns(SeedWarning, match="2 of the 'seed_words'"):
        counts = seed_counts(corpus, 3, {1: ["team", "goal", "no1", "no2"]}, 90)
    assert counts.sum() == 90
    assert counts[1, corpus.vocab.index("team")] == 45


def test_words_of_an_earlier_model_that_are_not_here_are_said():
    fixed = {"max_iter": 60, "learn_priors_every": 0}
    earlier = LDA(2, **fixed, verbose=False).fit((SPACE + SPORT) * 6).model_
    with pytest.warns(SeedWarning, match="hold up to 100% of a topic of 'fixed_topics'"):
        LDA(3, max_iter=2, verbose=False, fixed_topics=earlier).fit(SPACE * 3)
    with pytest.raises(InputError, match="none of whose words occurs"):
        LDA(3, max_iter=2, verbose=False, fixed_topics=earlier).fit(FOOD)


def test_the_strength_is_shared_out():
    corpus = Corpus.from_texts(TEXTS)  # 990 tokens

    def given(strength, words=("team", "fans", "goal", "goal")):
        counts = seed_counts(corpus, 3, {1: words}, strength)
        return counts[1, [corpus.vocab.index(word) for word in words]].toarray().ravel().tolist()

    assert given(90) == [30, 30, 30, 30]  # a word named twice is one word
    assert given(1) == [1, 1, 1, 1]
    assert given("auto") == [11, 11, 11, 11]
    assert given("auto", ["team"]) == [33]


def test_a_word_that_does_not_occur_is_said():
    with pytest.warns(SeedWarning, match="1 of the 'seed_words' are not in the corpus.*'orbti'"):
        lda = seeded(seed_words={2: ["orbti", "nasa"]}).fit(TEXTS)
    assert "nasa" in lda.topics(4)[2]


BAD = [
    ({"seed_words": ["orbit"]}, "must be a mapping of topics to lists of words"),
    ({"seed_words": {}}, "must be a mapping of topics to lists of words"),
    ({"seed_words": {3: ["orbit"]}}, "must name topics from 0 to 2. Got 3"),
    ({"seed_words": {"1": ["orbit"]}}, "must name topics from 0 to 2. Got '1'"),
    ({"seed_words": {1: "orbit"}}, "give a list of strings"),
    ({"seed_words": {1: [7]}}, "give a list of strings"),
    ({"seed_words": {1: ["orbti"]}}, "none of which occurs"),
    ({"seed_strength": 0}, "'seed_strength' parameter must be a whole number of tokens"),
    ({"seed_strength": 2.5}, "or 'auto'. Got 2.5"),
    ({"fixed_strength": "auto", "fixed_topics": 1}, "to 100,000,000. Got 'auto'"),
    ({"fixed_topics": 3}, "must be a TopicModel, or a pair"),
    ({"fixed_topics": LDA(2)}, "give an estimator's model_"),
]


@pytest.mark.parametrize(("parameters", "says"), BAD)
def test_bad_seeds_are_one_sentence(parameters, says):
    with pytest.raises(InputError) as caught:
        seeded(**parameters).fit(TEXTS)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bad_topics_of_an_earlier_model_are_one_sentence(trained):
    for pairs, says in (
        (None, "must name topics from 0 to 2. Got 3"),
        ({0: 9}, "must name the earlier model's topics from 0 to 3. Got 9"),
        ({}, "such as {0: 7}. Got {}"),
    ):
        fixed = trained.model_ if pairs is None else (trained.model_, pairs)
        with pytest.raises(InputError) as caught:
            fixed_counts(trained.corpus_, 3, fixed, 100)
        assert says in str(caught.value)


def test_bad_pseudo_counts_are_one_sentence(small):
    nan = np.full((2, small.n_words), np.nan)
    for bad in (np.ones((2, 3)), nan, -np.ones((2, small.n_words))):
        with pytest.raises(InputError, match="'pseudo_counts' parameter must be 2 topics by 80"):
            sweeps(small, 2, pseudo_counts=bad)


def test_a_file_of_seed_words(tmp_path):
    path = tmp_path / "seeds.txt"
    path.write_text("\ufeff# space\n3: orbit nasa\n\n 0 :new york, los angeles\n3: moon\n", "utf-8")
    assert read_seed_words(path) == {3: ["orbit", "nasa", "moon"], 0: ["new york", "los angeles"]}
    for text, says in (
        ("3 orbit", "line 1: expected a topic, a colon and words"),
        ("1: a\nx: b", "line 2: expected"),
        ("2:", "line 1: expected"),
        ("# nothing\n", "must hold seed words"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=says):
            read_seed_words(path)
    with pytest.raises(InputError, match="No such file"):
        read_seed_words(tmp_path / "none.txt")


def test_the_command_line_takes_seed_words(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS))
    (tmp_path / "seeds.txt").write_text("2: orbit orbti\n0: team fans\n")

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["polyaurn", "train", "texts.txt", *arguments])
        with pytest.raises(SystemExit) as end:
            cli.main()
        return end.value.code, capsys.readouterr().err

    given = ["--topics", "3", "--sweeps", "40", "--seed-words", "seeds.txt", "--out", "m"]
    code, said = run(*given, "--seed-strength", "100")
    assert code == 0
    assert "Note: 1 of the 'seed_words' are not in the corpus, and were left out: 'orbti'" in said
    model = load(tmp_path / "m")
    expected = seeded().fit(TEXTS)
    assert model.topics(weights=True) == expected.topics(weights=True)
    for more, says in (
        (["--seed-strength", "much"], "'--seed-strength' option must be a whole number of tokens"),
        (["--seed-words", "none.txt"], "'--seed-words' option must name a file"),
    ):
        code, said = run(*given, "--force", *more)
        assert (code, said.count("\n")) == (2, 1)
        assert says in said


def test_generated_topics_keep_the_places_their_words_name():
    corpus = datasets.generate(n_documents=300, n_words=120, n_topics=4, mean_length=50.0)
    free = LDA(4, max_iter=80, verbose=False).fit(corpus)
    names = {k: free.topics(6)[(k + 1) % 4][:3] for k in range(4)}
    lda = LDA(4, max_iter=80, verbose=False, random_state=5, seed_words=names).fit(corpus)
    for k, words in names.items():
        assert set(words) <= set(lda.topics(12)[k])


def test_tables_and_mergers_know_of_seeds():
    lda = LDA(3, max_iter=20, seed_words={2: ["orbit", "salt"]}, seed_strength=500, verbose=False)
    lda.fit(TEXTS)
    words = lda.topic_words(n_words=2, topics=[2], as_frame=False)
    assert sorted(words["word"]) == ["orbit", "salt"]
    listed = lda.topics(2, weights=True)[2]
    assert words["probability"].tolist() == pytest.approx([p for _, p in listed])
    counts = lda.topic_word_counts_[2].toarray().ravel()
    at = [lda.model_.vocab.index(word) for word in words["word"]]
    assert words["count"].tolist() == counts[at].tolist()
    merged = lda.merge_topics([[0, 2]])
    for model in (merged, lda.model_):
        assert model.topic_word_mass.sum() == pytest.approx(990 + 500, rel=1e-12)
    assert set(merged.topics(2)[0]) == {"orbit", "salt"}
