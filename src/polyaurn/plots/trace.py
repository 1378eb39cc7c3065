"""The trace of a chain: its log posterior, sweep by sweep."""

from collections.abc import Mapping, Sequence
from typing import Any

from polyaurn.base.errors import InputError
from polyaurn.model.model import TopicModel, fitted
from polyaurn.pages.charts import COLOURS
from polyaurn.plots.axes import GREY, PALE, STYLES, new_axes, short


def plot_trace(models: Any, *, ax: Any = None) -> Any:
    """Draw the log posterior per token against sweeps, one line per model.

    Parameters
    ----------
    models : TopicModel, LDA, sequence or dict of them
        Names in a dict are shown in the legend.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when not given.

    Returns
    -------
    matplotlib Axes
        The Axes with the picture; those below it, of a hierarchical Dirichlet process, have the
        number of topics. A dotted line shows where the aids of burn-in ended, for a single
        model.

    Examples
    --------
    >>> import polyaurn
    >>> corpus = polyaurn.datasets.generate(n_documents=60, n_words=80, n_topics=3)
    >>> lda = polyaurn.LDA(3, max_iter=20, evaluate_every=2, verbose=False).fit(corpus)
    >>> ax = polyaurn.plots.plot_trace(lda)
    >>> ax.get_xlabel()
    'sweep'
    """
    named = _named(models)
    lines = {name: _line(model, name, len(named)) for name, model in named.items()}
    ax = new_axes(ax, 7.0, 4.2)
    for i, (name, (x, y)) in enumerate(lines.items()):
        style = STYLES[i // len(COLOURS) % len(STYLES)]
        mark = "o" if len(x) < 30 else None
        ax.plot(
            x, y, style, color=COLOURS[i % len(COLOURS)], label=short(name, 40), marker=mark,
            markersize=3.5, linewidth=1.6,
        )  # fmt: skip
    if len(lines) > 1:
        ax.legend(frameon=False, fontsize="small")
    else:
        _mark_burn_in(ax, next(iter(named.values())))
    ax.set(xlabel="sweep", ylabel="log posterior per token", title="Trace of the chain")
    ax.grid(color=PALE, linewidth=0.7)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    counted = {name: [r for r in m.trace if r.get("topics")] for name, m in named.items()}
    if any(counted.values()):
        _draw_topics(ax, counted)
    return ax


def _draw_topics(ax: Any, counted: Mapping[str, list[dict[str, Any]]]) -> None:
    """Draw the number of topics of hierarchical Dirichlet processes below the log posterior."""
    from mpl_toolkits.axes_grid1 import make_axes_locatable  # type: ignore[import-untyped]

    below = make_axes_locatable(ax).append_axes("bottom", size="60%", pad=0.3, sharex=ax)
    for i, records in enumerate(counted.values()):
        sweeps = [r["sweep"] for r in records]
        for name, style in (("topics", "-"), ("large_topics", ":")):
            below.plot(
                sweeps, [r[name] for r in records], style, color=COLOURS[i % len(COLOURS)],
                label={"topics": "topics", "large_topics": "above 0.1% of the tokens"}[name]
                if i == 0 else None, linewidth=1.2,
            )  # fmt: skip
    ax.set_xlabel("")
    ax.tick_params(labelbottom=False)
    below.set(xlabel="sweep", ylabel="topics")
    below.set_ylim(bottom=0)
    below.legend(frameon=False, fontsize="small")
    below.grid(color=PALE, linewidth=0.7)
    below.spines[["top", "right"]].set_visible(False)


def _named(models: Any) -> dict[str, TopicModel]:
    if isinstance(models, Mapping):
        found = {str(name): fitted(model) for name, model in models.items()}
    elif isinstance(models, Sequence) and not isinstance(models, str):
        found = {f"model {i}": fitted(model) for i, model in enumerate(models)}
    else:
        found = {"model": fitted(models)}
    if not found:
        raise InputError("The 'models' parameter must hold at least one model. Got none.")
    return found


def _line(model: TopicModel, name: str, n_models: int) -> tuple[list[int], list[float]]:
    N = len(model.assignments)
    seen = [r for r in model.trace if r.get("log_posterior") is not None]
    if not seen or not N:
        which = f" ({name!r})" if n_models > 1 else ""
        raise InputError(
            f"The 'models' parameter must have traces with log posteriors. Got a model{which} "
            f"whose trace has {len(model.trace):,} sweeps and none; train with --eval-every "
            "(evaluate_every) above 0."
        )
    return [r["sweep"] for r in seen], [r["log_posterior"] / N for r in seen]


def _mark_burn_in(ax: Any, model: TopicModel) -> None:
    """Draw where the first sweep over all documents with the model's own priors is."""
    aided = [r["sweep"] for r in model.trace if r.get("phase", "full") != "full"]
    if aided and aided[-1] < model.trace[-1]["sweep"]:
        ax.axvline(aided[-1], color=GREY, linestyle=":", linewidth=1.2)
        ax.annotate(
            "aids of burn-in end", (aided[-1], 0.04), xycoords=("data", "axes fraction"),
            xytext=(4, 0), textcoords="offset points", color=GREY, fontsize="small",
        )  # fmt: skip
