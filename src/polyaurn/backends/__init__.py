"""Where the arithmetic is done: compiled code on the CPU, a GPU, and a plain reference."""
