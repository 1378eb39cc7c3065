"""Topics in slices of time: a model for each slice, and what changed from one to the next."""
