"""What checkpoints cost: seconds to write one, its share of training at one a minute, to resume.

python benchmarks/checkpoints.py --corpus imdb --topics 1000 --threads 2
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from common import open_corpus, write_result
from polyaurn import LDA
from polyaurn.files.names import CHECKPOINTS
from polyaurn.training.checkpoints import Checkpoints


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", default="imdb")
    parser.add_argument("--topics", type=int, default=1000)
    parser.add_argument("--sweeps", type=int, default=60)
    parser.add_argument("--every", type=int, default=5, help="sweeps between checkpoints")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--no-save", action="store_true")
    options = parser.parse_args()
    corpus = open_corpus(options.corpus)
    written, write = [], Checkpoints.write

    def timed(self: Checkpoints, *arguments: object) -> None:
        start = time.perf_counter()
        write(self, *arguments)
        written.append(time.perf_counter() - start)

    Checkpoints.write = timed
    with tempfile.TemporaryDirectory() as folder:
        common = {"n_jobs": options.threads, "checkpoint": Path(folder) / "run", "verbose": False}
        start = time.perf_counter()
        LDA(options.topics, max_iter=options.sweeps, checkpoint_every=options.every, **common).fit(
            corpus
        )
        whole = time.perf_counter() - start
        size = max(p.stat().st_size for p in (Path(folder) / "run" / CHECKPOINTS).iterdir())
        start = time.perf_counter()
        LDA(options.topics, max_iter=options.sweeps, resume=True, **common).fit(corpus)
        resumed = time.perf_counter() - start
    usual = statistics.median(written[:-1])
    result = {
        "tokens": corpus.n_tokens, "write_seconds": written, "median_write_seconds": usual,
        "share_at_one_a_minute": usual / 60, "bytes": size, "training_seconds": whole,
        "resume_seconds": resumed,
    }  # fmt: skip
    print(
        f"{corpus.n_tokens:,} tokens: {usual:.3f} s a checkpoint of {size / 1e6:.1f} MB, "
        f"{usual / 60:.2%} of training at one a minute; {resumed:.1f} s to open, count and finish"
    )
    if not options.no_save:
        names = ("corpus", "topics", "sweeps", "every", "threads")
        setting = {name: getattr(options, name) for name in names}
        write_result(
            f"checkpoints-{options.corpus}-{options.topics}", {"setting": setting} | result
        )


if __name__ == "__main__":
    main()
