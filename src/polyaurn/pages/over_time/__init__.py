"""The page of topics over time: streams of topics, the words that enter and leave, documents."""

from polyaurn.pages.over_time.page import render

__all__ = ["render"]
