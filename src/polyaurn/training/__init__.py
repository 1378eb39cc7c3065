"""A training as users start it: settings, checkpoints, seeds, signals, progress."""
