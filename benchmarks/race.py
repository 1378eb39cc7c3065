"""The race: how soon polyaurn has a peer's held-out score, and what it has at the peer's time.

    python benchmarks/race.py 20newsgroups --topics 100 --peer tomotopy --peer-sweeps 200
    python benchmarks/race.py --cells cells.json --parallel 8 --limit 580 --resume
    python benchmarks/race.py --table benchmarks/results/race-*.json
    python benchmarks/race.py --plot benchmarks/results/race-*.json

The peer trains for its sweeps; polyaurn then trains several times, for as many sweeps as take 1/4,
1/2, 1 and 2 times as long (or other --shares), by a probe of the time per sweep. All are scored
alike, on the same tenth of the documents (`race_score.py`). With --learn every package learns its
priors.

A file of cells is a list of objects with corpus, topics, peer, peer_sweeps, and where they differ
from the options learn, seeds, threads, samplers, shares. Each cell runs in a process of its own and
writes its own file after every run, so that what is finished is kept. --resume runs only what is
missing.
"""

import argparse
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

from common import RESULTS, SHARED, open_corpus, write_result
from polyaurn.base.errors import InputError
from race_cells import read_cells, run_cells
from race_report import draw, line_of, load_all, rows_of, table

PICTURE = RESULTS.parent / "race.png"
SHARES = "0.25,0.5,1,2"  # of the peer's time
LEAST_SWEEPS = 10
SETTING = ("corpus", "topics", "peer", "peer_sweeps", "learn", "threads")


def name_of(setting: dict[str, Any]) -> str:
    """Return what a result is called."""
    priors = "learned" if setting["learn"] else "fixed"
    corpus = Path(setting["corpus"]).name.removeprefix("docword.").split(".")[0].replace(":", "-")
    parts = (corpus, setting["topics"], setting["peer"], setting["peer_sweeps"], priors)
    return "-".join(["race", *map(str, parts)])


class Race:
    """A cell of the race: its result so far, kept after every run."""

    def __init__(self, setting: dict[str, Any], out: Path | None, *, resume: bool) -> None:
        self.setting, self._out = setting, out
        self.result: dict[str, Any] = {
            "setting": setting, "seconds_per_sweep": {}, "seeds": {},
        }  # fmt: skip
        if resume and out is not None and out.exists():
            found = json.loads(out.read_text())
            if found["setting"] != setting:
                raise InputError(
                    f"{out} must be of the same setting to be resumed. Got {found['setting']} "
                    f"instead of {setting}; choose another --out, or leave --resume out."
                )
            self.result |= {name: found[name] for name in ("seconds_per_sweep", "seeds")}

    def keep(self) -> None:
        """Write what there is."""
        if self._out is not None:
            self._out.parent.mkdir(parents=True, exist_ok=True)
            write_result(self._out.stem, self.result, self._out)

    def run(self, corpora: Path, seeds: int, samplers: list[str], shares: list[float]) -> None:
        """Run what is missing."""
        from race_engines import Ours
        from race_score import split

        setting = self.setting
        train, test = split(open_corpus(setting["corpus"], corpora).to_matrix())
        if not test.sum():
            raise InputError(
                f"The corpus {setting['corpus']!r} must have 10 documents or more, one of which is "
                "held out. Got none that has tokens; choose a larger corpus."
            )
        self.result |= {"tokens": int(train.sum()), "shares": shares}
        ours: dict[str, Ours] = {}
        for seed in range(1, seeds + 1):
            runs = self.result["seeds"].setdefault(str(seed), {"ours": {}})
            if "peer" not in runs:
                runs["peer"] = self._peer(train, test, seed)
                self.keep()
            for sampler in samplers:
                points = runs["ours"].setdefault(sampler, [])
                for share in shares[len(points) :]:
                    if sampler not in ours:
                        ours[sampler] = self._ours(train, sampler)
                    sweeps = self._sweeps(sampler, share * runs["peer"]["seconds"])
                    trained, chosen = ours[sampler].train(sweeps, seed)
                    point = {"share": share, "sweeps": sweeps, "sampler": chosen}
                    points.append(point | trained.record(test))
                    self._say(seed, sampler, points[-1])
                    self.keep()

    def _peer(self, train: Any, test: Any, seed: int) -> dict[str, Any]:
        from race_engines import PEERS

        of, sweeps = self.setting, self.setting["peer_sweeps"]
        trained = PEERS[of["peer"]](train, of["topics"], sweeps, of["threads"], seed, of["learn"])
        found = {"sweeps": sweeps} | trained.record(test)
        self._say(seed, of["peer"], found)
        return found

    def _ours(self, train: Any, sampler: str) -> Any:
        from race_engines import Ours

        of = self.setting
        ours = Ours(train, of["topics"], of["threads"], of["learn"], sampler)
        known = self.result["seconds_per_sweep"]
        known[sampler] = known.get(sampler) or ours.seconds_per_sweep()
        return ours

    def _sweeps(self, sampler: str, seconds: float) -> int:
        per_sweep = self.result["seconds_per_sweep"][sampler]
        return max(int(seconds / per_sweep), LEAST_SWEEPS)

    def _say(self, seed: int, who: str, found: dict[str, Any]) -> None:
        print(
            f"{name_of(self.setting)} seed {seed} {who:<12} {found['sweeps']:6} sweeps "
            f"{found['seconds']:8.2f} s  score {found['score']:.4f}  "
            f"log joint {found['log_joint']:.4f}  nonzeros {found['nonzeros']}  "
            f"alpha {found['alpha_sum']:.2f}  beta {found['beta']:.4f}",
            flush=True,
        )


def parse() -> tuple[argparse.ArgumentParser, Any]:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", nargs="?", help="a name in --corpora, or a path")
    parser.add_argument("--corpora", type=Path, default=SHARED, help="folder of docword files")
    parser.add_argument("--topics", type=positive, default=100)
    parser.add_argument("--peer", choices=("tomotopy", "topica"), default="tomotopy")
    parser.add_argument("--peer-sweeps", type=positive, default=200)
    parser.add_argument("--learn", action="store_true", help="learn priors, ours and the peer's")
    parser.add_argument("--threads", type=positive, default=2)
    parser.add_argument("--seeds", type=positive, default=3, help="runs of each, seeds 1, 2, ...")
    parser.add_argument("--samplers", default="auto", help="of polyaurn, separated by commas")
    parser.add_argument("--shares", default=SHARES, help="our times, as parts of the peer's")
    parser.add_argument("--out", type=Path, help="file of the result; with --cells, folder")
    parser.add_argument("--resume", action="store_true", help="keep the runs in --out")
    parser.add_argument("--no-save", action="store_true")
    parser.add_argument("--cells", type=Path, help="a JSON file of cells to run")
    parser.add_argument("--parallel", type=positive, default=1, help="cells at a time")
    parser.add_argument("--limit", type=float, help="seconds after which cells are abandoned")
    parser.add_argument("--pin", action="store_true", help="give each cell cores of its own")
    parser.add_argument("--table", type=Path, nargs="+", help="print a table of results")
    parser.add_argument("--plot", type=Path, nargs="+", help="draw results")
    parser.add_argument("--picture", type=Path, default=PICTURE, help="where --plot draws")
    return parser, parser.parse_args()


def positive(text: str) -> int:
    """Return a positive whole number."""
    value = int(text)
    if value < 1:
        raise ValueError
    return value


def check_peer(peer: str) -> None:
    """Reject a peer that is not installed."""
    if importlib.util.find_spec(peer) is None:
        raise InputError(
            f"The '--peer' option must name a package that is installed. Got {peer!r}, which is "
            f"not; run pip install {peer}, or choose another peer."
        )


def run_one(options: Any) -> None:
    check_peer(options.peer)
    setting = {name: getattr(options, name) for name in SETTING}
    out = None if options.no_save else options.out or RESULTS / f"{name_of(setting)}.json"
    race = Race(setting, out, resume=options.resume)
    shares = sorted(float(share) for share in options.shares.split(","))
    race.run(options.corpora, options.seeds, options.samplers.split(","), shares)
    print(*map(line_of, rows_of([race.result])), sep="\n", flush=True)


def run_all(options: Any) -> int:
    names = (*SETTING, "seeds", "samplers", "shares")
    defaults = {name: getattr(options, name) for name in names}
    cells = read_cells(options.cells, defaults, name_of)
    for peer in {cell["peer"] for cell in cells.values()}:
        check_peer(peer)
    return run_cells(
        Path(__file__), cells, options.out or RESULTS, options.corpora,
        parallel=options.parallel, limit=options.limit, pin=options.pin, resume=options.resume,
    )  # fmt: skip


def main() -> int:
    parser, options = parse()
    try:
        if options.table:
            print(table(load_all(options.table)))
        if options.plot:
            draw(load_all(options.plot), options.picture)
        if options.cells:
            return run_all(options)
        if options.corpus:
            run_one(options)
        elif not (options.table or options.plot):
            parser.error("name a corpus, or --cells, --table or --plot")
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
