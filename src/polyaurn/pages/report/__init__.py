"""A model on one page: topics, documents, training; as a file, or served with live inference."""

from polyaurn.pages.report.page import write_report

__all__ = ["write_report"]
