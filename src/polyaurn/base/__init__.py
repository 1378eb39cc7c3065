"""What every package uses: errors, checks, arrays, random numbers, threads, compilation, events."""
