"""What users meet when something is wrong: errors that are one sentence, and warnings."""


class InputError(ValueError):
    """Input that cannot be used.

    The message is one sentence naming the parameter, or the file and line, with what was
    expected, what came instead, and the remedy. The command line prints it and exits with 2.
    """


class DeviceError(InputError):
    """A GPU that failed, or ran out of memory, while a chain ran on it.

    Parameters
    ----------
    what : str
        What happened, a sentence.
    remedy : str
        What is kept of the run, and how it goes on; a sentence.
    """

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(f"{what} {remedy}".strip())
        self.what = what


class DeviceWarning(UserWarning):
    """A chain that was to run on a GPU if there is one, and runs on the CPU."""


class CheckpointWarning(UserWarning):
    """A checkpoint that could not be written or read; the run goes on."""


class SeedWarning(UserWarning):
    """Seed words, or words of an earlier model, that the corpus does not have."""


def first_line(error: Exception) -> str:
    """Return the first line of what an error says, or its kind where it says nothing."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
