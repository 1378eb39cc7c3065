"""How good a model is: held-out likelihood, coherence, and what each topic is like."""

from polyaurn.evaluate.coherence import coherence, diversity, mimno_coherence
from polyaurn.evaluate.held_out import HeldOut, document_completion, left_to_right
from polyaurn.evaluate.number_of_topics import (
    arun_2010,
    cao_juan_2009,
    griffiths_2004,
    harmonic_mean,
)
from polyaurn.evaluate.topics import topic_diagnostics

__all__ = [
    "HeldOut",
    "arun_2010",
    "cao_juan_2009",
    "coherence",
    "diversity",
    "document_completion",
    "griffiths_2004",
    "harmonic_mean",
    "left_to_right",
    "mimno_coherence",
    "topic_diagnostics",
]
