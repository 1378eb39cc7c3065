"""Pictures of the results under `results/`, for `README.md`.

python benchmarks/plots.py
"""

import json
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from common import HERE, RESULTS


def load(name: str) -> dict[str, Any] | None:
    """Return a result, or None where there is none."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


def time_to_quality() -> None:
    """Log posterior against seconds, ours and the peer's, a panel for each comparison."""
    names = (
        ("time-to-quality-20newsgroups-100-tomotopy", "20 Newsgroups, K = 100, against tomotopy"),
        ("time-to-quality-imdb-1000-topica", "IMDB, K = 1000, against topica"),
    )
    found = [(load(name), title) for name, title in names]
    found = [(result, title) for result, title in found if result]
    figure, axes = plt.subplots(1, len(found), figsize=(5.2 * len(found), 3.6), squeeze=False)
    for axis, (result, title) in zip(axes[0], found, strict=True):
        peer = result["setting"]["peer"]
        for i, round_ in enumerate(result["rounds"]):
            for who, colour, label in (("ours", "C0", "polyaurn"), ("peer", "C1", peer)):
                points = round_[who]["points"]
                axis.plot(
                    [p["seconds"] for p in points], [p["log_posterior"] for p in points],
                    color=colour, marker="o" if len(points) == 1 else None, ms=5,
                    label=label if i == 0 else None,
                )  # fmt: skip
        axis.axhline(result["rounds"][0]["goal"]["log_posterior"], color="grey", lw=0.8, ls=":")
        axis.set(
            title=title, xlabel="seconds of sampling, 2 threads", ylabel="log posterior / token"
        )
        axis.set_xlim(left=0)
        axis.legend(frameon=False, loc="lower right")
        axis.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(HERE / "time-to-quality.png", dpi=130)


def scaling() -> None:
    """Seconds of a sweep against threads, tokens, words and topics."""
    names = (
        ("scaling-threads-imdb-1000-polya-urn", "threads"),
        ("scaling-tokens-generated-100-polya-urn", "tokens"),
        ("scaling-words-generated-100-polya-urn", "words"),
        ("scaling-topics-generated-100-polya-urn", "topics"),
    )
    found = [(load(name), vary) for name, vary in names]
    found = [(result, vary) for result, vary in found if result]
    figure, axes = plt.subplots(1, len(found), figsize=(3.4 * len(found), 3.2), squeeze=False)
    for axis, (result, vary) in zip(axes[0], found, strict=True):
        rows = result["rows"]
        x = [row[vary] for row in rows]
        for part, label in (("z_seconds", "z"), ("phi_seconds", "Phi")):
            axis.loglog(x, [row[part] for row in rows], marker="o", ms=4, label=label)
        axis.set_xticks(x, [f"{n:,}" for n in x], rotation=30)
        axis.minorticks_off()
        axis.set(title=f"exponent {result['exponents']['sweep_seconds']:.2f}", xlabel=vary)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0][0].set_ylabel("seconds of a sweep")
    axes[0][0].legend(frameon=False)
    figure.tight_layout()
    figure.savefig(HERE / "scaling.png", dpi=130)


if __name__ == "__main__":
    time_to_quality()
    scaling()
