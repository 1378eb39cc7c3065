"""Corpora that need no download: docstrings of Python itself, and draws from the model."""

import ast
import sysconfig
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple, overload

import numpy as np

from polyaurn.base.arrays import F64, I64, U16, positive_vector
from polyaurn.base.checks import (
    check_number,
    check_whole,
    is_number,
    wrong,
)
from polyaurn.base.rng import check_seed
from polyaurn.corpus.corpus import Corpus
from polyaurn.corpus.english import extended_stop_words

_PACKAGES = ("numpy", "scipy", "sklearn")
_NOT_DOCUMENTATION = {"test", "tests", "site-packages", "dist-packages", "lib2to3", "idlelib"}
_MOST_TOPICS = 65_535  # topics are stored in 16 bits
_CODE_WORDS = """
array arrays class def default false float int none numpy np object optional parameter
parameters print return returned returns self shape str string true type value values example
examples array_like ndarray bool import float64 int64 dtype versionadded notes references
sklearn scipy data given used using attributes methods method function size warning raises
deprecated plt fit matplotlib pyplot rng random_state param params
"""


def python_docs(
    min_words: int = 20, *, on_file: Callable[[int, int], None] | None = None
) -> Corpus:
    """Docstrings of Python's standard library and of the installed numpy, scipy and scikit-learn.

    Some thousands of documents of real text, read from the source files without running them, so
    that no download is needed. The corpus depends on the installed versions.

    Parameters
    ----------
    min_words : int
        Leave out docstrings of fewer words.
    on_file : callable, optional
        Called with the number of files read and the number there are.

    Returns
    -------
    Corpus
        Documents named like ``numpy.linalg.svd``; words seen at least ten times, without English
        stop words, the commonest words of docstrings, and words in over a fifth of documents.
    """
    files = list(_source_files())
    names, texts, seen = [], [], set()
    for number, (module, file) in enumerate(files):
        if on_file is not None:
            on_file(number + 1, len(files))
        for name, text in _docstrings(module, file):
            if len(text.split()) >= min_words and text not in seen:
                seen.add(text)
                names.append(name)
                texts.append(text)
    corpus = Corpus.from_texts(
        texts,
        doc_names=names,
        min_count=10,
        max_doc_fraction=0.2,
        stop_words=sorted(extended_stop_words().union(_CODE_WORDS.split())),
        token_pattern=r"(?u)\b[a-z][a-z_]+[a-z]\b",
    )
    return corpus.select(np.diff(corpus.doc_ptr) > 0)


def _source_files() -> Iterator[tuple[str, Path]]:
    from importlib.util import find_spec

    roots = [("", Path(sysconfig.get_paths()["stdlib"]))]
    for package in _PACKAGES:
        spec = find_spec(package)
        if spec is not None and spec.origin is not None:
            roots.append((package + ".", Path(spec.origin).parent))
    for prefix, root in roots:
        for file in sorted(root.rglob("*.py")):
            parts = file.relative_to(root).with_suffix("").parts
            if not _NOT_DOCUMENTATION.intersection(parts):
                yield prefix + ".".join(p for p in parts if p != "__init__"), file


def _docstrings(module: str, file: Path) -> Iterator[tuple[str, str]]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in the strings of other packages
            tree = ast.parse(file.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError, OSError):
        return
    waiting: list[tuple[str, Any]] = [(module.rstrip("."), tree)]
    while waiting:
        name, node = waiting.pop()
        text = ast.get_docstring(node)
        if text:
            yield name, text
        for child in node.body:
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                waiting.append((f"{name}.{child.name}", child))


class Truth(NamedTuple):
    """What a generated corpus was made from.

    Attributes
    ----------
    phi : ndarray, K by V
        Word probabilities of each topic.
    z : ndarray of uint16, length N
        Topic of each token.
    """

    phi: F64
    z: U16


@overload
def generate(
    n_documents: int = ...,
    n_words: int = ...,
    n_topics: int = ...,
    mean_length: float = ...,
    *,
    doc_topic_prior: Any = ...,
    topic_concentration: float = ...,
    zipf_exponent: float = ...,
    length_spread: float = ...,
    random_state: Any = ...,
    return_truth: Literal[False] = ...,
) -> Corpus: ...


@overload
def generate(
    n_documents: int = ...,
    n_words: int = ...,
    n_topics: int = ...,
    mean_length: float = ...,
    *,
    doc_topic_prior: Any = ...,
    topic_concentration: float = ...,
    zipf_exponent: float = ...,
    length_spread: float = ...,
    random_state: Any = ...,
    return_truth: Literal[True],
) -> tuple[Corpus, Truth]: ...


def generate(
    n_documents: int = 1000,
    n_words: int = 1000,
    n_topics: int = 10,
    mean_length: float = 100.0,
    *,
    doc_topic_prior: Any = 0.1,
    topic_concentration: float = 100.0,
    zipf_exponent: float = 1.0,
    length_spread: float = 0.0,
    random_state: Any = 0,
    return_truth: bool = False,
) -> Corpus | tuple[Corpus, Truth]:
    """Draw a corpus from LDA's generative model, with words that follow Zipf's law.

    Topics are Dirichlet around one Zipfian distribution; document lengths are Poisson, around
    lognormal means if `length_spread` asks for it; a document's topics follow the Pólya urn scheme,
    which is Dirichlet-multinomial exactly. Memory grows with the number of tokens, not with K times
    V, unless the truth is returned.

    Parameters
    ----------
    n_documents, n_words, n_topics : int
        D, V and K.
    mean_length : float
        Mean number of tokens of a document.
    doc_topic_prior : float or array_like of length K
        alpha.
    topic_concentration : float
        Sum of the Dirichlet parameters of a topic: small gives topics that differ much.
    zipf_exponent : float
        The word of rank r has base probability proportional to r to the power of minus this.
    length_spread : float
        Standard deviation of the logarithm of a document's mean length; 0 gives all the same mean.
    random_state : int, None or NumPy generator
        The seed.
    return_truth : bool
        Return phi and z too.

    Returns
    -------
    corpus : Corpus
        Words are called 'w0', 'w1', ... from the commonest on.
    truth : Truth
        Only if `return_truth`.
    """
    D = check_whole(n_documents, "n_documents", of="documents")
    V = check_whole(n_words, "n_words", of="words")
    K = check_whole(n_topics, "n_topics", most=_MOST_TOPICS, of="topics")
    check_number(mean_length, "mean_length")
    check_number(topic_concentration, "topic_concentration")
    if not is_number(length_spread) or length_spread < 0.0:
        raise wrong("length_spread", "0 or more", length_spread)
    if not is_number(zipf_exponent):
        raise wrong("zipf_exponent", "a number", zipf_exponent)
    alpha = positive_vector(doc_topic_prior, K, "doc_topic_prior", "topics")
    rng = np.random.Generator(np.random.PCG64(check_seed(random_state)))
    doc_ptr = np.zeros(D + 1, np.int64)
    means = mean_length * np.ones(D)
    if length_spread:
        means *= rng.lognormal(-(length_spread**2) / 2.0, length_spread, D)
    np.cumsum(rng.poisson(means), out=doc_ptr[1:])
    z = _urn_topics(doc_ptr, alpha, rng)
    base = np.arange(1, V + 1) ** -float(zipf_exponent)
    word = np.empty(doc_ptr[-1], np.int32)
    phi = np.empty((K, V)) if return_truth else None
    by_topic = np.argsort(z, kind="stable")
    ends = np.cumsum(np.bincount(z, minlength=K))
    for k in range(K):
        topic = rng.standard_gamma(topic_concentration * base / base.sum())
        if topic.sum() == 0.0:
            topic[rng.integers(V)] = 1.0
        topic /= topic.sum()
        if phi is not None:
            phi[k] = topic
        mine = by_topic[(ends[k - 1] if k else 0) : ends[k]]
        u = rng.random(len(mine))
        word[mine] = np.minimum(np.searchsorted(np.cumsum(topic), u, side="right"), V - 1)
    order = np.lexsort((word, np.repeat(np.arange(D), np.diff(doc_ptr))))
    corpus = Corpus(doc_ptr, word[order], tuple(f"w{v}" for v in range(V)))
    return corpus if phi is None else (corpus, Truth(phi, z[order]))


def _urn_topics(doc_ptr: I64, alpha: F64, rng: np.random.Generator) -> U16:
    """Draw topics document by document: a new one with weight alpha, else a copy of an old one."""
    lengths = np.diff(doc_ptr)
    N = int(doc_ptr[-1])
    position = np.arange(N) - np.repeat(doc_ptr[:-1], lengths)
    fresh = rng.random(N) * (alpha.sum() + position) < alpha.sum()
    source = np.arange(N)
    old = ~fresh
    source[old] -= position[old] - (rng.random(int(old.sum())) * position[old]).astype(np.int64)
    topic = np.searchsorted(np.cumsum(alpha), rng.random(N) * alpha.sum(), side="right")
    topic = np.minimum(topic, len(alpha) - 1)
    while True:  # follow copies of copies back to the token that was fresh
        further = source[source]
        if np.array_equal(further, source):
            return np.asarray(topic[source], dtype=np.uint16)
        source = further
