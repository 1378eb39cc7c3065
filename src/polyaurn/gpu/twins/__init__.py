"""Twins of the GPU's kernels for the CPU: one for each, of its name in a file of its name.

A twin does what its kernel does, on the same arrays and with the same draws, but the lanes of a
warp take turns in an inner loop. It needs numba alone, so that what a kernel does, though not how
fast, can be tested where there is no GPU. `steps` makes kernel sets of them.
"""
