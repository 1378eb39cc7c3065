"""Folders that survive: models and checkpoints, sealed by checksums, never unpickled."""

from polyaurn.store.models import HEADER, check_target, load, save

__all__ = ["HEADER", "check_target", "load", "save"]
