"""The estimator of the command line with a cluster: parts of the model stay in its folder."""

import numpy as np
import scipy.sparse as sp

from polyaurn.estimator.lda import LDA
from polyaurn.estimator.parameters import facts_of_training
from polyaurn.files.atomic import flush_folder
from polyaurn.model.data import AVERAGED
from polyaurn.model.model import TopicModel, sizes_and_sweeps
from polyaurn.model.parts import Parts
from polyaurn.training.cluster import Ended


class LDAInParts(LDA):
    """The estimator of a training on a cluster whose topics of tokens never come to this process.

    ``model_`` has the topics and no documents; ``parts_`` are the parts of the model in the folder
    of the run, for `polyaurn.model.folder.write_model`.
    """

    parts_: Parts

    def _receive(self, ended: Ended) -> None:
        """Move the parts into the folder of the run, and keep what they say of topics."""
        run, corpus = ended.run, ended.run.corpus
        folder = run.settings.checkpoint
        assert folder is not None
        for name in ended.files:
            (ended.inside / name).replace(folder.absolute() / name)
        flush_folder(folder.absolute())
        K = len(ended.priors.alpha)
        facts = sizes_and_sweeps(corpus, K, ended.sweep, smooth=ended.smooth)
        if ended.draws > 1:
            facts[AVERAGED] = ended.draws
        self.parts_ = Parts(ended.files, corpus.doc_names)
        self.corpus_, self.n_iter_, self.random_state_ = corpus, ended.sweep, run.seed
        self.model_ = TopicModel(
            topic_word_counts=ended.counts,
            doc_topic_counts=sp.csr_matrix((0, K), dtype=np.int32),
            assignments=np.empty(0, np.uint16),
            vocab=corpus.vocab,
            doc_names=(),
            priors=ended.priors,
            trace=ended.trace,
            parameters=facts | facts_of_training(run.facts, ended.trace, self.weight_scale_),
            tokenization=corpus.tokenization,
        )
