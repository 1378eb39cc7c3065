"""Whether what is said of a chain's log posterior agrees with the sweeps that follow.

A chain is trained well beyond each of some lengths; what `polyaurn.evaluate.trend` says at each
length is compared with the log posteriors that follow, both as a share of the log posterior.

    python benchmarks/trend.py --chains ap-20-0 kos-20-0
"""

import argparse
import json
from typing import Any

import numpy as np

from common import in_own_process, open_corpus, parse_options, write_result
from polyaurn import LDA
from polyaurn.chain import schedule
from polyaurn.evaluate.trend import trend_in_words, trend_of

AHEAD = 200  # sweeps
CHAINS = ["ap-20-0", "ap-20-1", "kos-20-0", "kos-20-1", "ap-50-0", "kos-50-0"]
VALUES = 5  # of which means are taken


def child(task: dict[str, Any]) -> None:
    schedule.MOST_ANNEALED = task["annealed"]  # as in a shorter run that is resumed
    corpus = open_corpus(task["corpus"])
    lda = LDA(
        task["topics"], max_iter=task["sweeps"], evaluate_every=10, random_state=task["seed"],
        verbose=False, n_jobs=1,
    )  # fmt: skip
    trace = [[r["sweep"], r["phase"], r["log_posterior"]] for r in lda.fit(corpus).trace_]
    print(json.dumps([record for record in trace if record[2] is not None]))


def judged(trace: list[list[Any]], lengths: list[int]) -> dict[str, Any]:
    """Return a stored trace, and what is said of it at some lengths."""
    rows = [compare(records(trace), length) for length in lengths]
    return {"trace": trace, "found": [row for row in rows if row]}


def compare(trace: list[dict[str, Any]], length: int) -> dict[str, Any] | None:
    """Compare what is said at a length with what followed; None where it says nothing."""
    past = [record for record in trace if record["sweep"] <= length]
    found = trend_of(past, AHEAD)
    if found is None or length + AHEAD > trace[-1]["sweep"]:
        return None
    after = [r["log_posterior"] for r in trace if r["sweep"] > length - 10 * VALUES]
    now, then = (mean_before(trace, sweep) for sweep in (length, length + AHEAD))
    return {
        "length": length,
        "gain": found.gain,
        "error": found.error,
        "actual": (then - now) / abs(now),
        "actual_error": error_of_difference(after) / abs(now),
        "words": trend_in_words(past),
    }


def mean_before(trace: list[dict[str, Any]], sweep: int) -> float:
    """Return the mean of the last log posteriors up to a sweep."""
    scored = [r["log_posterior"] for r in trace if r["sweep"] <= sweep]
    return float(np.mean(scored[-VALUES:]))


def error_of_difference(values: list[float]) -> float:
    """Return the standard error of a difference of two such means, around a line through all."""
    means = np.reshape(values[: len(values) // VALUES * VALUES], (-1, VALUES)).mean(axis=1)
    t = np.arange(len(means))
    rest = means - np.polyval(np.polyfit(t, means, 1), t)
    return float(np.sqrt(2 * (rest**2).sum() / (len(means) - 2)))


def records(trace: list[list[Any]]) -> list[dict[str, Any]]:
    """Return a stored trace as records of sweeps."""
    return [dict(zip(("sweep", "phase", "log_posterior"), r, strict=True)) for r in trace]


def skill(found: list[dict[str, Any]]) -> dict[str, float]:
    """Return how far gains are from actual ones, beside the best constant, and their errors."""
    gain, error, actual, noise = (
        np.array([row[name] for row in found])
        for name in ("gain", "error", "actual", "actual_error")
    )
    return {
        "comparisons": len(found),
        "mean_gap": float(abs(gain - actual).mean()),
        "mean_gap_of_a_constant": float(abs(actual - np.median(actual)).mean()),
        "correlation": float(np.corrcoef(gain, actual)[0, 1]),
        "within_two_errors": float((abs(gain - actual) < 2 * np.hypot(error, noise)).mean()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--chains", nargs="+", default=CHAINS, help="CORPUS-TOPICS-SEED")
    parser.add_argument("--annealed", type=int, default=150)
    parser.add_argument("--sweeps", type=int, default=750)
    parser.add_argument("--lengths", nargs="+", type=int, default=[350, 450, 550])
    options = parse_options(parser, child)
    chains = []
    for name in options.chains:
        corpus, topics, seed = name.rsplit("-", 2)
        task = {"corpus": corpus, "topics": int(topics), "seed": int(seed)}
        task |= {"annealed": options.annealed, "sweeps": options.sweeps}
        chains.append(task | judged(in_own_process(__file__, task), options.lengths))
        for row in chains[-1]["found"]:
            print(
                f"{name} after {row['length']} sweeps: {row['words']} {AHEAD} more: "
                f"{row['gain']:.3%} ± {row['error']:.3%}; it was {row['actual']:.3%} ± "
                f"{row['actual_error']:.3%}",
                flush=True,
            )
    total = skill([row for chain in chains for row in chain["found"]])
    print(json.dumps(total, indent=1))
    if not options.no_save:
        write_result("trend", {"ahead": AHEAD, "skill": total, "chains": chains})


if __name__ == "__main__":
    main()
