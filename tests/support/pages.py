"""What tests of the report share: what a page holds, a large model, requests to a server."""

import http.client
import json
import re

import numpy as np
import scipy.sparse as sp

from polyaurn import Corpus, TopicModel
from polyaurn.chain.state import Priors, doc_topic_matrix
from polyaurn.corpus.names import Numbered


def data_of(page):
    """Return what a page holds, as its script reads it."""
    text = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    return json.loads(text.group(1))


def synthetic(K, D, V, length, seed=0):
    """Return a model with random topics, made without training, and its corpus."""
    rng = np.random.default_rng(seed)
    ptr = np.arange(D + 1, dtype=np.int64) * length
    home = np.repeat(rng.integers(K, size=(D, 3)), length // 3, axis=1).ravel()
    word = ((rng.zipf(1.3, D * length) + home * 7) % V).astype(np.int32)
    corpus = Corpus(ptr, word, tuple(f"word{v}" for v in range(V)))
    z = home.astype(np.uint16)
    ones = np.ones(len(z), np.int32)
    counts = sp.coo_matrix((ones, (home, corpus.word)), shape=(K, V)).tocsr()
    model = TopicModel(
        counts, doc_topic_matrix(ptr, z, K), z, corpus.vocab, Numbered(D),
        Priors(np.full(K, 0.1), np.full(V, 0.01)),
    )  # fmt: skip
    return model, corpus


def ask(server, method="GET", path="/", body=None, *, query=None, **headers):
    """Send a request, with the token unless another query is given; return what came."""
    path += f"?token={server.token}" if query is None else query
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body, given)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, answer.headers, content
