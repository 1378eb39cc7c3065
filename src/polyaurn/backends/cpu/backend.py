"""The CPU as a backend."""

from contextlib import AbstractContextManager, nullcontext

from polyaurn.backends.backend import NewDocuments


class CPU:
    """Compiled code on threads; always available, and never changes a state in place."""

    name = "cpu"
    in_place = False
    on_threads = True
    holds_phi = True
    in_shards = True

    def missing(self) -> str | None:
        """Return None: a CPU is always available."""
        return None

    def describe(self) -> dict[str, str]:
        """Return nothing: reports name the CPU anyway."""
        return {}

    def failures(self, remedy: str = "") -> AbstractContextManager[None]:
        """Return a context that leaves errors as they are."""
        return nullcontext()

    def new_documents(self) -> NewDocuments:
        """Return the module for documents that are not part of a chain."""
        from polyaurn.backends.cpu import new_documents

        return new_documents
