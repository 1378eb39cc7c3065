"""Draws in ArviZ's own form; 0.x and 1.x take them in different ways."""

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from polyaurn.base.arrays import I64
from polyaurn.base.errors import InputError

if TYPE_CHECKING:
    from polyaurn.evaluate.posterior.result import Posterior


def to_arviz(posterior: "Posterior", topics: I64) -> Any:
    """Return the draws as ArviZ has them, for some topics.

    Parameters
    ----------
    posterior : Posterior
        The draws.
    topics : ndarray of int64
        Which topics; those that mean the same in all chains.

    Returns
    -------
    arviz.InferenceData or xarray.DataTree
        Of ArviZ 0.x and of 1.x.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # 0.x announces 1.x
            import arviz
    except ImportError:
        raise InputError(
            "The to_arviz method needs ArviZ, which is not installed. Install it with "
            "pip install 'polyaurn[arviz]'."
        ) from None
    groups, coords, dims = describe(posterior, topics)
    if int(arviz.__version__.split(".")[0]) >= 1:
        return arviz.from_dict(groups, coords=coords, dims=dims)
    return arviz.from_dict(**groups, coords=coords, dims=dims)


def describe(
    posterior: "Posterior", topics: I64
) -> tuple[dict[str, dict[str, Any]], dict[str, Any], dict[str, list[str]]]:
    """Return groups of variables, coordinates and dimensions.

    Parameters
    ----------
    posterior : Posterior
        The draws.
    topics : ndarray of int64
        Which topics.

    Returns
    -------
    groups, coords, dims : dict
        As both versions name them.
    """
    chosen = np.flatnonzero(np.isin(posterior.topics, topics))
    coords: dict[str, Any] = {"topic": topics}
    dims = {"topic_size": ["topic"], "alpha": ["topic"]}
    drawn: dict[str, Any] = {
        "log_posterior": posterior.log_posterior,
        "beta": posterior.beta,
        "topic_size": posterior.topic_sizes[:, :, topics],
        "alpha": posterior.alpha[:, :, topics],
    }
    kept_topic = "topic" if len(chosen) == len(topics) else "chosen_topic"
    if len(chosen):
        coords[kept_topic] = posterior.topics[chosen]
    if posterior.phi is not None and len(chosen):
        drawn["phi"] = posterior.phi[:, :, chosen]
        coords["word"] = [posterior.vocab[v] for v in posterior.words]
        dims["phi"] = [kept_topic, "word"]
    if posterior.theta is not None and len(chosen):
        drawn["theta"] = posterior.theta[:, :, :, chosen]
        coords["document"] = [posterior.doc_names[d] for d in posterior.documents]
        dims["theta"] = ["document", kept_topic]
    statistics = {"lp": posterior.log_posterior}
    return {"posterior": drawn, "sample_stats": statistics}, coords, dims
