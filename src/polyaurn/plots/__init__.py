"""Pictures of models with matplotlib (``pip install 'polyaurn[plots]'``).

Each function draws on the Axes it is given, or on those of a new figure, and returns them. Nothing
is shown or saved: ``ax.figure.savefig("picture.png")`` does that.
"""

from polyaurn.plots import interactive
from polyaurn.plots.classes import plot_per_class
from polyaurn.plots.dendrogram import plot_dendrogram
from polyaurn.plots.document_map import plot_document_map
from polyaurn.plots.documents import plot_documents
from polyaurn.plots.map import plot_map
from polyaurn.plots.similarity import plot_similarity
from polyaurn.plots.time import plot_over_time
from polyaurn.plots.topics import plot_topics
from polyaurn.plots.trace import plot_trace

__all__ = [
    "interactive",
    "plot_dendrogram",
    "plot_document_map",
    "plot_documents",
    "plot_map",
    "plot_over_time",
    "plot_per_class",
    "plot_similarity",
    "plot_topics",
    "plot_trace",
]
