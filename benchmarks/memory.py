"""Peak memory while training, corpus included, and what a token and a nonzero take.

The corpus is generated into a mapped file by another process, then trained on in a process of
its own, whose peak resident memory the operating system reports.

    python benchmarks/memory.py --documents 1000000 --words 100000 --length 100 --topics 1000
    python benchmarks/memory.py --documents 8200000 --words 90000 --length 93.6 --topics 1000 \
        --sweeps 1 --warm-start random --name pubmed
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from common import HERE, in_own_process, parse_options, write_result

MB = 1e6


def child(arguments: dict[str, Any]) -> None:
    from polyaurn import read_corpus, sweeps

    rows = [{"moment": "start", "peak_mb": peak()}]
    corpus = read_corpus(arguments["path"])
    rows.append({"moment": "opened", "peak_mb": peak()})
    begun = time.perf_counter()
    options = {"warm_start": arguments["warm_start"]}
    if arguments["refreshes"]:
        options["phi_refreshes"] = arguments["refreshes"]
    chain = sweeps(corpus, arguments["topics"], n_jobs=arguments["threads"], evaluate_every=0,
                   max_iter=arguments["sweeps"], **options)  # fmt: skip
    for state, info in chain:
        rows.append(
            {
                "moment": f"sweep {info.sweep}, {info.phase}",
                "peak_mb": peak(),
                "phi_nonzeros": info.phi_nonzeros,
                "count_nonzeros": int((state.counts.last - state.counts.first).sum()),
                "tokens_per_second": info.tokens_per_second,
                "phi_seconds": info.phi_seconds,
                "z_seconds": info.z_seconds,
            }
        )
        del state
    print(
        json.dumps(
            {
                "tokens": corpus.n_tokens,
                "documents": corpus.n_documents,
                "words": corpus.n_words,
                "seconds": time.perf_counter() - begun,
                "peak_mb": peak(),
                "rows": rows,
            }
        )
    )


def peak() -> float:
    """Return the most memory this process ever had, in megabytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most * (1 if sys.platform == "darwin" else 1024) / MB


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--words", type=int, default=100_000)
    parser.add_argument("--length", type=float, default=100.0)
    parser.add_argument("--topics", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--sweeps", type=int, default=110)
    parser.add_argument("--warm-start", default="auto")
    parser.add_argument("--refreshes", type=int, default=0, help="0 lets polyaurn choose")
    parser.add_argument("--folder", help="for the corpus; a temporary one by default")
    parser.add_argument("--name", help="of the result")
    options = parse_options(parser, child)
    shape = (str(n) for n in (options.documents, options.words, options.length))
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path = Path(folder) / "generated.urn"
        flags = ("--documents", "--words", "--length")
        named = [part for pair in zip(flags, shape, strict=True) for part in pair]
        subprocess.run([sys.executable, HERE / "generated.py", path, *named], check=True)
        names = ("topics", "threads", "sweeps", "warm_start", "refreshes")
        setting = {name: getattr(options, name) for name in names}
        result = in_own_process(__file__, setting | {"path": str(path)})
    for row in result["rows"]:
        if "tokens_per_second" in row:
            speed = f"  {row['tokens_per_second'] / 1e6:7.2f} M tokens/s"
            speed += f"  nonzeros of Phi {row['phi_nonzeros']:>12,}"
        else:
            speed = ""
        print(f"{row['moment']:<24} peak {row['peak_mb']:9.1f} MB{speed}")
    print(
        f"N = {result['tokens']:,}: peak {result['peak_mb']:,.0f} MB, "
        f"{result['peak_mb'] * MB / result['tokens']:.2f} bytes per token"
    )
    if not options.no_save:
        name = options.name or f"{options.documents}-{options.words}-{options.topics}"
        write_result(f"memory-{name}", {"setting": setting} | result)


if __name__ == "__main__":
    main()
