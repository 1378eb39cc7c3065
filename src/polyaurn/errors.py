"""What users meet when something is wrong: bad input, said in one sentence, and a warning."""


class InputError(ValueError):
    """Input that cannot be used.

    The message is one sentence naming the parameter, or the file and line, with what was
    expected, what came instead, and the remedy. The command line prints it and exits with 2.
    """


class CheckpointWarning(UserWarning):
    """A checkpoint that could not be written or read; the run goes on."""


class SeedWarning(UserWarning):
    """Seed words, or words of an earlier model, that the corpus does not have."""
