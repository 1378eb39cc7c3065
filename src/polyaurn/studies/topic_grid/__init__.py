"""How many topics? Models over a grid of numbers of topics and seeds, each scored; resumable."""

from polyaurn.studies.topic_grid.loop import topic_grid

__all__ = ["topic_grid"]
