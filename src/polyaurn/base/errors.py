"""Errors, whose message is one sentence, and warnings."""


class InputError(ValueError):
    """Input that cannot be used.

    The message is one sentence naming the parameter, or the file and line, with what was
    expected, what came instead, and the remedy. The command line prints it and exits with 2.
    """


class DeviceError(InputError):
    """A GPU that failed, or ran out of memory, while a chain ran on it.

    The message is a sentence that says what happened, and one that says what is kept of the run
    and how to resume it.
    """

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(f"{what} {remedy}".strip())
        self.what = what


class WorkerLostError(DeviceError):
    """A worker of a cluster that ended, or that cannot be reached, while a chain ran on it."""


class DeviceWarning(UserWarning):
    """A chain with ``device="auto"`` runs on the CPU, because no GPU can be used."""


class ClusterWarning(UserWarning):
    """Workers of a cluster that spend much of their time sending to each other, or were lost."""


class CheckpointWarning(UserWarning):
    """A checkpoint that could not be written or read; the run continues."""


class CompilationWarning(UserWarning):
    """Compiled code that cannot be kept on the disk; every process compiles it again."""


class UnfinishedStartWarning(UserWarning):
    """A chain that ended inside its warm start: its topics are no draw under the model's priors."""


class TopicCountWarning(UserWarning):
    """A hierarchical Dirichlet process that uses every topic it may, or whose number changes."""


class BiasWarning(UserWarning):
    """Weights of topics, or priors, that a sampler draws with a bias."""


class SeedWarning(UserWarning):
    """Seed words, or words of an earlier model, that are not in the corpus."""


class LanguageWarning(UserWarning):
    """Texts in a language that is not recognised, or in several; all are cut in the same way."""


def first_line(error: Exception) -> str:
    """Return the first line of an error's message, or its type if it has none."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
