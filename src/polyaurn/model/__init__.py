"""The result of a training, and what is computed from it."""
