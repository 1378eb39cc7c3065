"""LDA-C's models: ``NAME.beta``, log probabilities of words, and ``NAME.other`` beside it."""

import re
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from polyaurn.base.arrays import F64
from polyaurn.base.errors import InputError
from polyaurn.chain.state import MAX_TOPICS
from polyaurn.corpus.count_files import find_vocabulary
from polyaurn.exchange.parts import NOTHING, one_number, read_line, shown, topics_only
from polyaurn.files.atomic import PATH, check_new_file, new_file
from polyaurn.files.reading import open_bytes
from polyaurn.model.data import word_probabilities
from polyaurn.model.model import TopicModel, fitted

_NUMBER = 64  # bytes that a number may take
_CLOSE_TO_ONE = 1e-3


def read_ldac_beta(path: str | Path, vocab: Any) -> TopicModel:
    """Read a model of LDA-C.

    Parameters
    ----------
    path : str or Path
        NAME.beta: a line for each topic, on it a log probability for each word. NAME.other, with
        the lines num_topics, num_terms and alpha, must be in the same folder.
    vocab : path or sequence of str
        The words, or a file with one on each line.

    Returns
    -------
    TopicModel
        A model without documents. LDA-C's topics have no prior: pseudo-counts are the
        probabilities, and beta is exp(-100), LDA-C's own value for a word that does not occur.
    """
    path = Path(path)
    K, V, alpha = _read_other(path.with_suffix(".other"))
    words = find_vocabulary(path, vocab, V, required=True)
    topics = []
    longest = _NUMBER * V + _NUMBER
    with open_bytes(path) as file:
        for number in range(1, K + 1):
            line = read_line(file, path, number, longest)
            topics.append(_topic(line, path, number, V))
        _nothing_more(file, path, K, longest)
    return topics_only(np.array(topics), alpha, NOTHING, words, "LDA-C", "'vocab' parameter")


def write_ldac_beta(
    model: Any, path: str | Path, *, flatten_priors: bool = False, force: bool = False
) -> Path:
    """Write a model as LDA-C does: NAME.beta, and NAME.other beside it.

    Parameters
    ----------
    model : TopicModel or LDA
        What to write. Its topics are (n + beta) / (sum of n + beta).
    path : str or Path
        NAME.beta.
    flatten_priors : bool
        LDA-C has one number for alpha; True writes the mean of a vector, False rejects it.
    force : bool
        Replace files that are there.

    Returns
    -------
    Path
        NAME.beta.
    """
    trained = fitted(model)
    target, other = check_ldac_files(path, force=force)
    alpha = one_number(trained.priors.alpha, "alpha", "LDA-C", flatten=flatten_priors)
    K, V = trained.topic_word_counts.shape
    with new_file(other) as fresh_other, new_file(target) as fresh:
        with fresh.open("w", encoding="ascii", newline="\n") as file:
            for topic in np.log(word_probabilities(trained)):
                file.write("".join(f" {value:.10f}" for value in topic.tolist()) + "\n")
        text = f"num_topics {K}\nnum_terms {V}\nalpha {alpha!r}\n"
        fresh_other.write_text(text, encoding="ascii", newline="\n")
    return target


def check_ldac_files(path: str | Path, *, force: bool, what: str = PATH) -> tuple[Path, Path]:
    """Return both names; raise, before long work, if one cannot be written."""
    target = check_new_file(path, force=force, what=what, suffixes=[".beta"])
    return target, check_new_file(target.with_suffix(".other"), force=force, what=what)


def _read_other(path: Path) -> tuple[int, int, float]:
    patterns = {
        "num_topics": rb"num_topics\s+(\d{1,9})",
        "num_terms": rb"num_terms\s+(\d{1,9})",
        "alpha": rb"alpha\s+(\S{1,60})",
    }
    found = []
    with open_bytes(path) as file:
        for number, (name, pattern) in enumerate(patterns.items(), start=1):
            line = read_line(file, path, number, 1000)
            match = re.fullmatch(pattern, line.strip())
            value = _float(match.group(1)) if match else np.nan
            if not 0.0 < value < np.inf or (name == "num_topics" and value > MAX_TOPICS):
                most = f" of at most {MAX_TOPICS:,}" if name == "num_topics" else ""
                raise InputError(
                    f"The file '{path}', line {number}: expected '{name}' and a positive "
                    f"number{most}. Got {shown(line)}; LDA-C writes num_topics, num_terms and "
                    "alpha."
                )
            found.append(value)
    return int(found[0]), int(found[1]), found[2]


def _topic(line: bytes, path: Path, number: int, V: int) -> F64:
    fields = line.split()
    if len(fields) != V:
        raise InputError(
            f"The file '{path}', line {number}: expected {V:,} log probabilities, as its .other "
            f"says. Got {len(fields):,} in {shown(line)}; is the file whole, and the right one?"
        )
    values = np.fromiter(map(_float, fields), np.float64, V)
    bad = ~(values <= 1e-6)
    if bad.any():
        v = int(np.argmax(bad))
        raise InputError(
            f"The file '{path}', line {number}: expected log probabilities, which are not above "
            f"zero. Got {shown(fields[v])} for word {v + 1}; correct the line or write it again."
        )
    topic = np.exp(values)
    topic[values <= -100.0] = 0.0
    total = float(topic.sum())
    if abs(total - 1.0) > _CLOSE_TO_ONE:
        raise InputError(
            f"The file '{path}', line {number}: expected log probabilities of a topic, which sum "
            f"to one. Got a sum of {total:.6g}; is the file of another format?"
        )
    return np.asarray(topic / total, np.float64)


def _nothing_more(file: BinaryIO, path: Path, K: int, longest: int) -> None:
    line = read_line(file, path, K + 1, longest)
    if line.strip():
        raise InputError(
            f"The file '{path}', line {K + 1}: expected the end after {K:,} topics, as its .other "
            f"says. Got {shown(line)}; do the two files belong together?"
        )


def _float(text: bytes) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")
