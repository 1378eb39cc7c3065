"""Who does the arithmetic: compiled code on the CPU, a GPU, and a plain reference."""
