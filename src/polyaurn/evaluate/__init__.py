"""How good a model is: held-out likelihood, coherence, and what each topic is like."""

from polyaurn.evaluate.coherence import coherence, diversity, mimno_coherence
from polyaurn.evaluate.held_out import HeldOut, document_completion, left_to_right
from polyaurn.evaluate.topics import topic_diagnostics

__all__ = [
    "HeldOut",
    "coherence",
    "diversity",
    "document_completion",
    "left_to_right",
    "mimno_coherence",
    "topic_diagnostics",
]
