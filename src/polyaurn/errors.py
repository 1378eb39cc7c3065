"""The one error that users meet: bad input, said in one sentence."""


class InputError(ValueError):
    """Input that cannot be used.

    The message is one sentence naming the parameter, or the file and line, with what was
    expected, what came instead, and the remedy. The command line prints it and exits with 2.
    """
