"""Documents in shards, which worker processes on one or several machines draw together."""
