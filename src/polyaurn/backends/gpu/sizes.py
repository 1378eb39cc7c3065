"""Sizes that kernels and the steps share; importing them needs no GPU compiler."""

LANES = 32  # of a warp
FULL = 0xFFFFFFFF  # all of them, as a mask
RECORD = 4  # numbers of a word's record
LENGTH_SHIFT = 44  # of a column's length, above its beginning
LONGEST = 2_048  # tokens of a document whose list is kept in shared memory
ONE = 1 << 16  # a count, above the 16 bits of its topic
TOPIC = ONE - 1
# Entries of a stretch whose weights are requested at once; the first so many are kept for the walk.
DENSE_AT_ONCE = 4  # with dense rows of Phi
PACKED_AT_ONCE = 5  # with bitmaps
TOKEN_WORDS = 6  # of shared memory: draws, row and topics of a token
WARP = 5  # the logarithm of its lanes
SCRATCH_BYTES = 1 << 28  # for rows of Phi while they are drawn
