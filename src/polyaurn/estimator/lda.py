"""`LDA`: the estimator that most users start with."""

import warnings
from collections.abc import Iterable, Mapping
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from polyaurn.base.arrays import F64
from polyaurn.base.checks import check_whole
from polyaurn.base.errors import DeviceError
from polyaurn.base.threads import count_threads
from polyaurn.chain.samplers import DEFAULT_SAMPLER, SAMPLERS
from polyaurn.chain.state import Info, State
from polyaurn.estimator.inputs import documents_to_train
from polyaurn.estimator.parameters import facts_of_training
from polyaurn.estimator.updates import Updates
from polyaurn.model.model import TopicModel
from polyaurn.model.top_level import with_topics_in_use
from polyaurn.training.averages import Average
from polyaurn.training.cluster import Ended, train_on_cluster
from polyaurn.training.memory import check_memory
from polyaurn.training.progress import training_line
from polyaurn.training.run import Run, gathered, make_run
from polyaurn.training.settings import FIXED_STRENGTH, LEARN_EVERY
from polyaurn.training.signals import InterruptsWait
from polyaurn.training.sweeps import give_all_topics

if TYPE_CHECKING:
    from polyaurn.evaluate.posterior import Posterior


class LDA(Updates):
    """Latent Dirichlet allocation, trained by Gibbs sampling.

    The same seed gives the same topics in every byte, for any number of threads.

    Parameters
    ----------
    n_components : int
        Number of topics, K.
    doc_topic_prior : float, array_like of length K, str, or None
        alpha, the concentration of topics in a document; "50/K" divides 50 by the number of topics,
        and None is 1 / K, as in scikit-learn.
    topic_word_prior : float, array_like of length V, or None
        beta, the concentration of words in a topic; None is 1 / K, as in scikit-learn.
    max_iter : int
        Number of sweeps over the corpus.
    sampler : str
        "auto" takes "partitioned" up to 5e9 tokens times topics; beyond, "sparse-dirichlet" where
        priors are learned and "polya-urn" elsewhere, as on any cluster; and "polya-urn" on a GPU.
        "partitioned" integrates Phi and Theta out, and is the first to reach a held-out score.
        "polya-urn" draws Phi as sparse Poisson counts: fast, small, and exact in the limit of large
        counts. "sparse-dirichlet" draws Phi from its Dirichlet posterior. All samplers are listed
        in `polyaurn.chain.samplers.SAMPLERS` and described on the page on samplers.
    random_state : int, None or NumPy generator
        The seed; None takes a new one each time, kept in ``random_state_``.
    n_jobs : int or None
        Threads; -1 takes all cores. The result does not depend on it, except with samplers
        that are exact on one thread and approximate on several.
    device : {"cpu", "gpu", "auto"}
        Where sweeps run: the CPU, an NVIDIA GPU (``pip install 'polyaurn[gpu]'``), or a GPU where
        there is one. The topics are the same in every byte, and a run begun on one may be resumed
        on the other. A GPU runs some of the samplers; see the page on GPUs.
    cluster : {"local", "ray", "mpi"}, optional
        Train with several workers, each with a part of the documents: processes on this machine,
        actors of Ray, or ranks of MPI; see the page on clusters. Of samplers that draw Phi, the
        topics are the same in every byte, and a run may be resumed with another number of workers
        or with none. `callbacks` get None in place of the state; `n_jobs` are threads per worker.
    n_workers : int, optional
        How many workers; by default as many as there is room for.
    cluster_address : str, optional
        Where the cluster is, such as "auto" for the Ray cluster of this node.
    evaluate_every : int
        Compute the log posterior every so many sweeps (and after the last); 0 for never.
    warm_start : {"auto", "anneal", "collapsed", "grow", "smooth", "random"} or False
        "anneal" begins with a larger beta and lowers it to the one asked for, over 75% of the
        sweeps and at most 300; "collapsed" does so by collapsed sampling, whose topics a sampler
        that draws Phi continues from; "grow" begins on a share of the documents, 1/64 of a large
        corpus, and doubles it every 8 sweeps until all are in; "smooth" is version 0.1's annealing;
        "random" does nothing of this, as in the paper. "auto" is "collapsed" for "sparse-dirichlet"
        up to 5e9 tokens times topics, on a cluster "anneal"; otherwise it grows where the sampler
        draws Phi, tokens times topics are 4e8 or more and `max_iter` is large enough, and anneals
        elsewhere. False, which tools of scikit-learn set, is "auto".
    phi_refreshes : int or "auto"
        How often Phi is drawn in a sweep, 1 (as in the paper) to 8; "auto" takes one for each
        40 tokens per word, from 1 to 4.
    mh_steps : int, optional
        Pairs of Metropolis-Hastings proposals per token, 2 when not given; only for samplers that
        propose.
    average_draws : int or "auto"
        Topics are estimated from the mean counts of so many draws of the chain, spread over the
        last quarter of the sweeps: ``topic_word_counts_``, ``components_``, words, `transform` and
        held-out scores. "auto" is 20, or as many as there are sweeps; 1 takes the last draw.
    learn_priors_every : int
        Learn an asymmetric alpha and a symmetric beta every so many sweeps; 0 keeps the priors as
        they are. What was learned is in ``model_.priors``.
    seed_words : mapping of int to list of str, optional
        Words that topics should hold, such as ``{3: ["orbit", "nasa"]}``, as a prior: a topic is
        taken to have had `seed_strength` tokens of its words before the first document.
    seed_strength : int or "auto"
        Tokens of a topic's seed words together; "auto" is a tenth of the tokens that a topic has
        on average.
    fixed_topics : TopicModel, or pair of a TopicModel and a mapping of int to int, optional
        An earlier model whose topics are kept, under their numbers or as a pair says:
        ``(model, {0: 7})`` ties topic 0 to the model's topic 7. Tied, not frozen: a topic is
        taken to have had `fixed_strength` tokens in the model's proportions.
    fixed_strength : int
        Tokens of each topic of the earlier model.
    checkpoint : str or Path, optional
        A folder in which the run is kept while it runs, so that it can be resumed after
        anything short of losing the disk; `save` may use the same one.
    checkpoint_every : int or str
        Sweeps between checkpoints, or a time such as "5min", "30s" or "1h"; "auto" is a minute,
        or longer where a checkpoint takes more than a second, and "never" keeps none.
    resume : bool
        Continue from the newest checkpoint in the folder, or start where there is none. The result
        is the same in every byte as that of a run which was never interrupted, for any number
        of threads. Corpus and parameters must be the same; `max_iter` may be larger.
    callbacks : callable or sequence of callables, optional
        Each is called after every sweep with the state and its `Info`; one that returns True
        ends the training there. A chain that ends before `info.phase` is "full" warns
        (`polyaurn.base.errors.UnfinishedStartWarning`), and its model has the phase in
        ``parameters["stopped_in"]``. On a GPU the next sweep changes the state in place;
        `polyaurn.chain.state.on_host` copies it.
    verbose : bool
        Show progress at a terminal and in notebooks, of `fit` at once, of others if they take long.

    Attributes
    ----------
    topic_word_counts_ : CSR matrix, K by V
        Tokens of each word in each topic.
    doc_topic_counts_ : CSR matrix of int32, D by K
        Tokens of each topic in each document.
    assignments_ : ndarray of uint16
        Topic of each token, in the corpus' token order.
    components_ : ndarray of float64, K by V
        Topic-word counts plus the prior; rows divided by their sums are word probabilities.
    trace_ : list of dict
        One record per sweep: sweep, phase ("grow 1/64" and so on, "anneal", then "full"), seconds,
        phi_seconds, z_seconds, log_posterior (None where it was not computed), phi_nonzeros,
        tokens_per_second, work_per_token (the mean of min(topics in the document, topics of
        the word)). On a cluster also bytes_sent by all workers, the slowest_worker, its
        busy_seconds and exchange_seconds.
    model_ : TopicModel
        All of the above as one immutable object that can be saved.
    posterior_ : Posterior
        Draws, after `sample_posterior`.
    corpus_ : Corpus
        What was trained on.
    n_features_in_ : int
        Words seen in `fit`.
    feature_names_in_ : ndarray of str
        Columns of the data frame that `fit` was given; not there otherwise.
    weight_scale_ : float
        What fractional weights were multiplied by before they were rounded to tokens; 1 for counts.
    n_iter_ : int
        Sweeps done.
    random_state_ : int
        The seed used.

    Examples
    --------
    >>> import polyaurn
    >>> corpus = polyaurn.datasets.generate(n_documents=200, n_words=300, n_topics=5)
    >>> lda = polyaurn.LDA(n_components=5, max_iter=50).fit(corpus)
    >>> len(lda.topics(n_words=3))
    5
    >>> round(lda.topic_word_counts_.sum()) == corpus.n_tokens
    True
    """

    def __init__(
        self,
        n_components: int = 100,
        *,
        doc_topic_prior: Any = 0.1,
        topic_word_prior: Any = 0.01,
        max_iter: int = 1000,
        sampler: str = DEFAULT_SAMPLER,
        random_state: Any = 0,
        n_jobs: int | None = -1,
        device: str = "cpu",
        cluster: str | None = None,
        n_workers: int | None = None,
        cluster_address: str | None = None,
        evaluate_every: int = 10,
        warm_start: str | bool = "auto",
        phi_refreshes: int | str = "auto",
        mh_steps: int | None = None,
        average_draws: int | str = "auto",
        learn_priors_every: int = LEARN_EVERY,
        seed_words: Mapping[int, Iterable[str]] | None = None,
        seed_strength: int | str = "auto",
        fixed_topics: Any = None,
        fixed_strength: int = FIXED_STRENGTH,
        checkpoint: str | Path | None = None,
        checkpoint_every: int | str = "auto",
        resume: bool = False,
        callbacks: Any = None,
        verbose: bool = True,
    ) -> None:
        self.n_components = n_components
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.max_iter = max_iter
        self.sampler = sampler
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device
        self.cluster = cluster
        self.n_workers = n_workers
        self.cluster_address = cluster_address
        self.evaluate_every = evaluate_every
        self.warm_start = warm_start
        self.phi_refreshes = phi_refreshes
        self.mh_steps = mh_steps
        self.average_draws = average_draws
        self.learn_priors_every = learn_priors_every
        self.seed_words = seed_words
        self.seed_strength = seed_strength
        self.fixed_topics = fixed_topics
        self.fixed_strength = fixed_strength
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.resume = resume
        self.callbacks = callbacks
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> "LDA":
        """Train on documents.

        When interrupted (Ctrl-C), the estimator keeps the state after the last whole sweep, and
        the interruption is passed on to the caller; on a GPU it waits for the end of the sweep. A
        GPU that fails raises `polyaurn.errors.DeviceError`, which says what is kept.

        Parameters
        ----------
        X : Corpus, matrix of counts, data frame, AnnData, strings, or lists of tokens
            The documents. Strings, in a list or a column of pandas or polars, are counted as
            `Corpus.from_texts` does by default, and lists of tokens as they are. Fractional
            weights are multiplied by one number and rounded, which is said in a warning.
        y : ignored
            Ignored; present for compatibility with scikit-learn.

        Returns
        -------
        LDA
            The estimator itself.
        """
        with self._as_before_on_failure():
            corpus = documents_to_train(self, X)
            if corpus.n_empty:
                warnings.warn(corpus.note_of_empty_documents(), stacklevel=2)
            self._train_in_folder(make_run(self, corpus))
        return self

    def _train_in_folder(self, run: Run) -> None:
        """Train, in the run's folder if there is one, or with workers."""
        if run.settings.cluster is None:
            super()._train_in_folder(run)
            return
        n_sweeps, n_tokens = run.settings.max_iter, run.corpus.n_tokens
        with (
            training_line(n_sweeps, n_tokens, show=run.settings.verbose) as line,
            InterruptsWait(wanted=True) as interrupts,
        ):
            any_seed = self.random_state is None
            train_on_cluster(run, line, lambda: interrupts.asked, self._receive, any_seed=any_seed)
        self._warn_of_unfinished_start()

    def _receive(self, ended: Ended) -> None:
        """Keep what workers have, all in this process' memory."""
        mean = ended.counts if ended.draws > 1 else None
        self._keep_mean(
            ended.run, ended.state(), ended.trace, mean, ended.draws, ended.weights
        )  # fmt: skip

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Train, and return the mixture of topics of each document.

        Parameters
        ----------
        X : whatever `fit` takes
            The documents.
        y : ignored
            Ignored; present for compatibility with scikit-learn.

        Returns
        -------
        ndarray of float64, D by K
            The same as `transform` gives after `fit`; rows sum to one.
        """
        return np.asarray(self.fit(X)._mixtures(self.corpus_))

    def sample_posterior(
        self,
        X: Any,
        *,
        chains: int = 4,
        draws: int = 100,
        thin: int = 10,
        words: Any = None,
        topics: Any = None,
        documents: Any = None,
        theta_mean: bool = True,
    ) -> "Posterior":
        """Run several chains, and keep draws of each after `max_iter` sweeps of burn-in.

        Chains differ by their seeds, `random_state` for the first and numbers derived from it for
        the others, and run one after another. Topics of later chains are given the numbers of the
        first chain's that they match best. A trained estimator keeps its model, and all else but
        ``posterior_``; one that was not is trained afterwards: its model is the first chain's last
        state. When interrupted (Ctrl-C), draws so far are in ``posterior_``. Callbacks are not
        called.

        With `checkpoint`, each chain and its draws are kept in a folder of their own inside, and
        `resume` continues there, to the same bytes in every result; finished chains are not run
        again. All parameters but `chains` must be the same.

        Parameters
        ----------
        X : Corpus, sparse or dense matrix of counts, or sequence of str
            The documents.
        chains : int
            Number of chains.
        draws : int
            Draws of each chain.
        thin : int
            Sweeps between two draws.
        words : sequence of str or int, optional
            Keep draws of Phi for these words.
        topics : sequence of int, optional
            Keep draws of Phi, and of Theta, for these topics only; with neither words nor
            documents named, Phi of all words.
        documents : sequence of str or int, optional
            Keep draws of Theta for these documents.
        theta_mean : bool
            Keep the mean of Theta, which may need more memory than anything else.

        Returns
        -------
        Posterior
            Log posterior, sizes of topics and priors of every draw; means; what was named.

        Examples
        --------
        >>> import polyaurn
        >>> corpus = polyaurn.datasets.generate(n_documents=60, n_words=80, n_topics=3)
        >>> lda = polyaurn.LDA(3, max_iter=40, verbose=False)
        >>> posterior = lda.sample_posterior(corpus, chains=2, draws=20, thin=2, documents=[0])
        >>> posterior.theta.shape
        (2, 20, 1, 3)
        >>> posterior.summary()[0]["quantity"]
        'log_posterior'
        """
        from polyaurn.evaluate.posterior.chains import Asked, Ended, gather, sample
        from polyaurn.evaluate.posterior.choice import make_choice
        from polyaurn.evaluate.posterior.result import Chain

        for name, value in {"chains": chains, "draws": draws, "thin": thin}.items():
            check_whole(value, name)
        trained = self.__sklearn_is_fitted__()
        with self._as_before_on_failure():
            corpus = documents_to_train(copy(self) if trained else self, X)
            run = make_run(self, corpus)
            settings = run.settings
            check_memory(run)
            choice = make_choice(corpus, settings.n_components, words, topics, documents)
            asked = Asked(int(chains), int(draws), int(thin), choice, theta_mean)
            law = SAMPLERS[settings.sampler].law_of(count_threads(settings.n_jobs))
            last: list[Ended] = []
            kept: list[Chain] = []
            with (
                training_line(
                    chains * asked.sweeps(run), corpus.n_tokens, show=settings.verbose
                ) as line,
                InterruptsWait(wanted=run.backend.in_place) as interrupts,
            ):

                def report(done: int, info: Info) -> None:
                    line.sweep(info._replace(sweep=done + info.sweep))
                    interrupts.look()

                try:
                    sample(
                        run, asked, any_seed=self.random_state is None, report=report,
                        on_compile=line.compiling, into=kept, last=last,
                    )  # fmt: skip
                except DeviceError as error:
                    so_far = "; draws so far are in posterior_" if kept else ""
                    again = "Sample again" if settings.checkpoint is None else "Resume"
                    remedy = f"{again} with device='cpu'{so_far}."
                    raise DeviceError(error.what, remedy) from error
                finally:
                    if last and not trained:
                        self._keep(last[0].run, last[0].state, last[0].trace)
                    if kept:
                        self.posterior_ = gather(corpus, kept, choice, law)
        return self.posterior_

    def _keep(
        self,
        run: Run,
        state: State,
        trace: list[dict[str, Any]],
        average: Average | None = None,
    ) -> None:
        if average is None:
            self._keep_mean(run, state, trace, None, 1)
        else:
            self._keep_mean(run, state, trace, average.mean(), average.draws, average.weights)

    def _keep_mean(
        self,
        run: Run,
        state: State,
        trace: list[dict[str, Any]],
        mean: sp.csr_matrix | None,
        draws: int,
        weights: F64 | None = None,
    ) -> None:
        corpus, sampler = run.corpus, run.settings.sampler
        here = gathered(run, state, n_jobs=self.n_jobs)
        facts = facts_of_training(run.facts, trace, self.weight_scale_)
        here = give_all_topics(corpus, here, sampler, run.seed, self.n_jobs)
        self.__dict__.pop("posterior_", None)  # of an earlier training
        self.corpus_ = corpus
        self.n_iter_ = here.sweep
        self.random_state_ = run.seed
        here, mean = with_topics_in_use(here, mean, weights)
        self.model_ = TopicModel.from_state(
            corpus, here, here.priors, trace=trace, parameters=facts, mean_counts=mean,
            draws=draws,
        )  # fmt: skip
