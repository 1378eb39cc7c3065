"""Documents: the corpus, and every way to read one."""
