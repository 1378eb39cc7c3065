"""One cell: computed here, or in a process of its own with its own time and memory."""

import hashlib
import os
import platform
import statistics
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from polyaurn.base.version import __version__
from polyaurn.studies.child import answer, peak_bytes, records_of
from polyaurn.studies.paper.corpora import Shape, Source, Variant, open_variant
from polyaurn.studies.paper.plan import Cell

ALPHA, BETA = 0.1, 0.01  # the paper's
TEST_SHARE, PARTICLES = 0.2, 20
TOP_WORDS = 10


def run_cell(cell: Cell, source: Source | None, folder: Path, options: dict[str, Any]) -> Any:
    """Compute a cell; return "measured", "wall_seconds", "version" and "machine" for JSON.

    Its corpus comes from `source` and is prepared in `folder`; `options` are those of a study.
    """
    begin = perf_counter()
    if cell.kind == "study":
        measured = _study(cell, options)
    else:
        assert source is not None
        assert cell.corpus is not None
        corpus = open_variant(source, cell.corpus, folder)
        measured = {"corpus": _corpus, "chain": _chain, "quality": _quality}[cell.kind](
            cell, corpus
        )
    return {
        "measured": measured,
        "wall_seconds": perf_counter() - begin,
        "version": __version__,
        "machine": machine(cell.device),
    }


def run_in_child(cell: Cell, source: Source | None, folder: Path, options: dict[str, Any]) -> Any:
    """Compute a cell in a process of its own; `ChildError` says why one ended early."""
    task = {"cell": cell, "source": source, "folder": str(folder), "options": options}
    [record] = records_of("polyaurn.studies.paper.cells", task)
    return record


def _corpus(cell: Cell, corpus: Any) -> dict[str, Any]:
    from polyaurn.evaluate.diagnostics import summarise

    found: dict[str, Any] = summarise(corpus)._asdict()
    return found


def _chain(cell: Cell, corpus: Any) -> dict[str, Any]:
    from polyaurn.chain.state import on_host, to_host

    points: list[list[float | int]] = []
    phi, z = [], []
    for last, info in sweeps_of(cell, corpus):  # noqa: B007
        phi.append(info.phi_seconds)
        z.append(info.z_seconds)
        if info.log_posterior is not None:
            points.append([info.sweep, round(info.seconds, 4), info.log_posterior])
    half = len(phi) // 2
    measured = {
        "documents": corpus.n_documents, "words": corpus.n_words, "tokens": corpus.n_tokens,
        "law": info.law, "points": points, "seconds": info.seconds,
        "phi_seconds": statistics.median(phi[half:]), "z_seconds": statistics.median(z[half:]),
        "sweep_seconds": statistics.median(map(sum, zip(phi[half:], z[half:], strict=True))),
        "work_per_token": info.work_per_token, "phi_nonzeros": info.phi_nonzeros,
        "peak_bytes": peak_bytes(), "sha256_of_z": _digest(last),
    }  # fmt: skip
    if cell.sampler == "polya-urn" and cell.every and info.phi is not None:
        measured |= _lists(corpus, on_host(last).z, to_host(info.phi), cell.topics)
    return measured


def _lists(corpus: Any, z: Any, phi: Any, K: int) -> dict[str, float]:
    """Count, independently of the kernel, the topics of each token's document and of its word."""
    from polyaurn.studies.paper.theory.complexity import topics_of_tokens

    K_d, K_v = topics_of_tokens(corpus, z, phi, K)
    return {
        "mean_K_d": float(K_d.mean()),
        "mean_K_v": float(K_v.mean()),
        "mean_min": float(np.minimum(K_d, K_v).mean()),
        "share_word_shorter": float((K_v < K_d).mean()),
    }


def sweeps_of(cell: Cell, corpus: Any) -> Any:
    """Return the chain of a cell: that of the paper, unless burn-in aids are on."""
    from polyaurn.chain.samplers import SAMPLERS
    from polyaurn.chain.schedule import AUTO_OF_0_1
    from polyaurn.training.sweeps import sweeps

    plain = 1 if SAMPLERS[cell.sampler].draws_phi else "auto"
    return sweeps(
        corpus, cell.topics, doc_topic_prior=ALPHA, topic_word_prior=BETA, sampler=cell.sampler,
        random_state=cell.seed, n_jobs=cell.threads, evaluate_every=cell.every,
        max_iter=cell.sweeps, warm_start=AUTO_OF_0_1 if cell.aids else "random",
        phi_refreshes="auto" if cell.aids else plain, learn_priors_every=0, device=cell.device,
    )  # fmt: skip


def _quality(cell: Cell, corpus: Any) -> dict[str, Any]:
    from polyaurn.chain.priors import make_priors
    from polyaurn.evaluate import diversity, left_to_right, mimno_coherence
    from polyaurn.model.model import TopicModel
    from polyaurn.studies.topic_grid.loop import split_documents

    train, test, scored = split_documents(corpus, TEST_SHARE, cell.scored, 0)
    assert test is not None
    assert scored is not None
    for state, _ in sweeps_of(cell, train):  # noqa: B007
        pass
    priors = make_priors(ALPHA, BETA, cell.topics, corpus.n_words)
    model = TopicModel.from_state(train, state, priors)
    score = left_to_right(model, scored, PARTICLES, n_jobs=cell.threads, device=cell.device)
    top = model.topics(TOP_WORDS, order="frequency")
    there = {test.vocab[v] for v in np.unique(test.word).tolist()}
    whole = [topic for topic in top if len(topic) == TOP_WORDS and there.issuperset(topic)]
    coherence = mimno_coherence(whole, test) if whole else np.zeros(0)
    return {
        "held_out": score.per_token, "held_out_error": score.per_token_error,
        "scored_documents": scored.n_documents, "scored_tokens": int(score.tokens.sum()),
        "coherence": float(coherence.mean()) if whole else None,
        "coherence_topics": len(whole), "diversity": diversity(top),
        "sha256_of_z": _digest(state),
    }  # fmt: skip


def _digest(state: Any) -> str:
    from polyaurn.chain.state import halt_of

    return hashlib.sha256(halt_of(state).z.tobytes()).hexdigest()


def _study(cell: Cell, options: dict[str, Any]) -> dict[str, Any]:
    from polyaurn.studies.paper.theory import module_of

    found: dict[str, Any] = module_of(cell.study).study(**options)
    return found


def machine(device: str = "cpu") -> dict[str, Any]:
    """Describe the processor and the cores this process may use, and the GPU if it is used."""
    from polyaurn.backends.registry import BACKENDS
    from polyaurn.base.threads import count_threads

    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = info.read_text(encoding="utf-8", errors="replace").splitlines()
        models = [line for line in lines if line.startswith("model name")]
        cpu = models[0].split(":", 1)[1].strip() if models else cpu
    load = round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None
    found = {"cpu": cpu, "cores": count_threads(-1), "load": load}
    return found | BACKENDS[device].describe()


def _from_json(task: dict[str, Any]) -> tuple[Cell, Source | None, Path, dict[str, Any]]:
    cell, source = Cell(*task["cell"]), task["source"]
    if cell.corpus is not None:
        cell = cell._replace(corpus=Variant(*cell.corpus))
    if source is not None:
        source = Source(*source)
        source = source._replace(shape=Shape(*source.shape) if source.shape else None)
    return cell, source, Path(task["folder"]), task["options"]


if __name__ == "__main__":
    answer(lambda task: [run_cell(*_from_json(task))])
