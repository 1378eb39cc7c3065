"""How far the forecast of what more sweeps gain is from what they gain.

A chain is trained well beyond each of some lengths; what `polyaurn.evaluate.forecast` says at each
length is compared with the log posteriors that follow, both as a share of the log posterior.

    python benchmarks/forecast.py --corpora kos ap 20newsgroups --topics 20 50
"""

import argparse
import json
from typing import Any

import numpy as np

from common import in_own_process, open_corpus, parse_options, write_result
from polyaurn import LDA
from polyaurn.chain import schedule
from polyaurn.evaluate.forecast import forecast_gain, forecast_in_words

TOLERANCE = 0.0025  # of the log posterior


def child(task: dict[str, Any]) -> None:
    schedule.MOST_ANNEALED = task["annealed"]  # as in a shorter run that is resumed
    corpus = open_corpus(task["corpus"])
    lda = LDA(task["topics"], max_iter=task["sweeps"], evaluate_every=10, verbose=False)
    trace = lda.fit(corpus).trace_
    print(json.dumps([found for n in task["lengths"] if (found := compare(trace, n)) is not None]))


def compare(trace: list[dict[str, Any]], length: int) -> dict[str, Any] | None:
    """Compare the forecast at a length with what followed; None where it says nothing."""
    past = [record for record in trace if record["sweep"] <= length]
    found = forecast_gain(past)
    if found is None or length + found.sweeps > trace[-1]["sweep"]:
        return None
    now, then = (mean_before(trace, sweep) for sweep in (length, length + found.sweeps))
    return {
        "length": length,
        "more": found.sweeps,
        "forecast": found.gain,
        "error": found.error,
        "actual": (then - now) / abs(now),
        "words": forecast_in_words(past),
    }


def mean_before(trace: list[dict[str, Any]], sweep: int, values: int = 5) -> float:
    """Return the mean of the last log posteriors up to a sweep."""
    scored = [r for r in trace if r["sweep"] <= sweep and r["log_posterior"] is not None]
    return float(np.mean([r["log_posterior"] for r in scored[-values:]]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", nargs="+", default=["kos", "ap", "20newsgroups"])
    parser.add_argument("--topics", nargs="+", type=int, default=[20, 50])
    parser.add_argument("--annealed", type=int, default=150)
    parser.add_argument("--sweeps", type=int, default=1000)
    parser.add_argument("--lengths", nargs="+", type=int, default=[350, 450, 550])
    options = parse_options(parser, child)
    chains = []
    for corpus in options.corpora:
        for topics in options.topics:
            names = ("annealed", "sweeps", "lengths")
            task = {name: getattr(options, name) for name in names}
            task |= {"corpus": corpus, "topics": topics}
            rows = in_own_process(__file__, task)
            chains.append(task | {"found": rows})
            for row in rows:
                print(
                    f"{corpus}, {topics} topics, after {row['length']} sweeps, {row['more']} more: "
                    f"forecast {row['forecast']:.3%}, gained {row['actual']:.3%}"
                )
    gaps = [abs(r["forecast"] - r["actual"]) for chain in chains for r in chain["found"]]
    within = sum(gap < TOLERANCE for gap in gaps)
    print(f"{within} of {len(gaps)} forecasts within {TOLERANCE:.2%} of the log posterior")
    if not options.no_save:
        write_result("forecast", {"tolerance": TOLERANCE, "chains": chains})


if __name__ == "__main__":
    main()
