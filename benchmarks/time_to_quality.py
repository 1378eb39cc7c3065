"""Seconds to a given log posterior and to a given held-out score, ours and peers'.

Each engine runs in a process of its own, in turn, with the same corpus, priors and threads;
reading, compiling and scoring do not count. The level to reach is what the peer has at the end
of its sweeps; ours is timed when it first has as much, by interpolation between scores.

    python benchmarks/time_to_quality.py --corpus 20newsgroups --topics 100 --peer tomotopy
"""

import argparse
import json
import statistics
from pathlib import Path
from typing import Any

from common import in_own_process, open_corpus, parse_options, write_result
from engines import held_out, make_engine

TEST_DOCUMENTS = 300


def child(arguments: dict[str, Any]) -> None:
    train, test = split(open_corpus(arguments["corpus"]))
    engine, total = arguments["engine"], arguments["sweeps"]
    step = total if engine == "topica" else arguments["every"]
    trainer = make_engine(engine, train, arguments["topics"], arguments["threads"], total)
    points, seconds = [], 0.0
    for sweep in range(step, total + 1, step):
        seconds += trainer.train(step)
        found = trainer.log_posterior()
        if found is None:
            continue
        point = {"sweep": sweep, "seconds": seconds, "log_posterior": found / train.n_tokens}
        if sweep % (step * arguments["held_out_every"]) == 0 or sweep == total:
            point["held_out"] = held_out(trainer.phi(), test)
        points.append(point)
        if arguments["goal"] is not None and reached(points, arguments["goal"]):
            break
    result = {"points": points, "tokens": train.n_tokens}
    clock = getattr(trainer, "clock", None)
    if clock and len(clock) > 1:
        (a, start), (b, end) = clock[0], clock[-1]
        result["tokens_per_second"] = train.n_tokens * (b - a) / (end - start)
    elif len(points) > 3:
        half = points[len(points) // 2]
        done = points[-1]["sweep"] - half["sweep"]
        spent = points[-1]["seconds"] - half["seconds"]
        result["tokens_per_second"] = train.n_tokens * done / spent
    print(json.dumps(result))


def split(corpus: Any) -> tuple[Any, Any]:
    share = min(0.2, TEST_DOCUMENTS / corpus.n_documents)
    return corpus.split(share, random_state=0)


def reached(points: list[dict], goal: dict[str, float]) -> bool:
    """Return whether both scores are there, so that the run may end."""
    scores = {name: [p[name] for p in points if name in p] for name in goal}
    return all(found and max(found) >= goal[name] for name, found in scores.items())


def time_to(points: list[dict], name: str, level: float) -> float | None:
    """Return when a score first reached a level, by interpolation."""
    before = None
    for point in (p for p in points if name in p):
        if point[name] >= level:
            if before is None:
                return float(point["seconds"])
            share = (level - before[name]) / (point[name] - before[name])
            return float(before["seconds"] + share * (point["seconds"] - before["seconds"]))
        before = point
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", default="20newsgroups")
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--peer", default="tomotopy", choices=("tomotopy", "topica", "polyaurn-plain")
    )
    parser.add_argument("--peer-sweeps", type=int, default=200)
    parser.add_argument("--sweeps", type=int, default=400, help="most of ours")
    parser.add_argument("--every", type=int, default=10, help="sweeps between scores")
    parser.add_argument("--held-out-every", type=int, default=2, help="in scores")
    parser.add_argument("--rounds", type=int, default=3)
    options = parse_options(parser, child)
    names = ("corpus", "topics", "threads", "peer", "peer_sweeps", "every", "held_out_every")
    setting = {name: getattr(options, name) for name in names}
    rounds = []
    for _ in range(options.rounds):
        theirs = in_own_process(
            __file__,
            setting | {"engine": options.peer, "sweeps": options.peer_sweeps, "goal": None},
        )
        last = theirs["points"][-1]
        goal = {"log_posterior": last["log_posterior"], "held_out": last["held_out"]}
        ours = in_own_process(
            __file__, setting | {"engine": "polyaurn", "sweeps": options.sweeps, "goal": goal}
        )
        times = {name: time_to(ours["points"], name, level) for name, level in goal.items()}
        rounds.append({"peer": theirs, "ours": ours, "goal": goal, "times": times})
        print(
            f"{options.peer}: {last['seconds']:.1f} s for {options.peer_sweeps} sweeps; ours to "
            f"the same log posterior {show(times['log_posterior'])}, held-out score "
            f"{show(times['held_out'])}",
            flush=True,
        )
    ratios = {
        name: statistics.median(
            round_["peer"]["points"][-1]["seconds"] / (round_["times"][name] or float("inf"))
            for round_ in rounds
        )
        for name in ("log_posterior", "held_out")
    }
    for name, ratio in ratios.items():
        print(f"{name}: {ratio:.2f} x faster than {options.peer}, median of {options.rounds}")
    if not options.no_save:
        name = f"time-to-quality-{Path(options.corpus).name}-{options.topics}-{options.peer}"
        write_result(name, {"setting": setting, "ratios": ratios, "rounds": rounds})


def show(seconds: float | None) -> str:
    """Return a time in words."""
    return "not reached" if seconds is None else f"{seconds:.1f} s"


if __name__ == "__main__":
    main()
