"""What every package uses: errors, arrays, random numbers, threads, compiled code, events."""
