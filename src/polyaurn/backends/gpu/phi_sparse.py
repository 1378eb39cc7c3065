"""Phi of "sparse-dirichlet" on the GPU: a warp draws a word's column, as `backends/cpu/phi_sparse`.

A row of K numbers in global memory is the warp's scratch. It first gets Gamma(n) of each cell that
has a count. Then come the balls of the prior, 32 at once: each lane draws a gap and a size, the
gaps are added up one after another, and since balls come in the order of topics, the first lane of
those with the same topic adds up their sizes, in their order. As with the urn, columns are drawn
twice: to find out how long they are, and to write them.

A topic's total is a sum of floats, whose order matters: over the words of each of the ranges that
the CPU has, one after another, then over the ranges.
"""

from functools import cache
from typing import Any

from numba import float64, int32, int64, uint32, uint64

from polyaurn.backends.cpu.phi_sparse import FULL as FULL_BETA
from polyaurn.backends.gpu.phi import write_cells
from polyaurn.backends.gpu.sizes import FULL
from polyaurn.backends.gpu.toolkit import cuda, device_function, kernel
from polyaurn.backends.gpu.variates import (
    ball_size,
    bits,
    exponential,
    exponential_below,
    gamma_draw,
    gamma_mass,
    over,
    plus,
    times,
)
from polyaurn.backends.gpu.warp import before, votes


@device_function
def _draw_cells(v, lane, K, n, beta_v, row, scratch, logs, a, b):
    """Draw the gammas of counts, or of all cells; return which lanes have one that cannot be 0."""
    certain = False
    k = int64(lane)
    while k < int64(K):
        number = n[v * int64(K) + k]
        cell = (v * int64(65536) + k) * int64(256)
        g = 0.0
        if beta_v >= FULL_BETA:
            g = gamma_draw(plus(float64(number), beta_v), a, b, cell)
        elif number > 0:
            g = gamma_mass(number, a, b, cell, logs)
            certain = certain or number >= 1
        scratch[row + k] = g
        k += int64(32)
    return votes(certain)


@device_function
def _add_balls(v, lane, K, gap, position, row, scratch, logs, scale, quantile, a, b):
    """Add the balls of a word's prior, from a position on, to its cells."""
    ball = v * int64(4294967296)  # of each ball two addresses: its gap and its size
    n_balls = int32(32)
    while n_balls == int32(32):
        address = ball + int64(2) * int64(lane)
        step = times(gap, exponential(bits(a, b, address), logs))
        size = ball_size(bits(a, b, address + int64(1)), scale, quantile)
        at = 0.0
        for j in range(32):
            position = plus(position, cuda.shfl_sync(FULL, step, j))
            if lane == int32(j):
                at = position
        k = int64(min(at, float64(K)))
        beyond = votes(k >= int64(K))
        if beyond != uint32(0):
            n_balls = int32(int32(cuda.ffs(int32(beyond))) - int32(1))
        previous = cuda.shfl_up_sync(FULL, k, 1)
        here = lane < n_balls
        leads = here and (lane == int32(0) or previous != k)
        g = 0.0
        if leads:
            g = plus(scratch[row + k], size)
        distance = int32(1)
        joining = votes(here and not leads)
        while joining != uint32(0):
            source = int32(lane + distance)
            k_there = cuda.shfl_sync(FULL, k, source)
            size_there = cuda.shfl_sync(FULL, size, source)
            joins = leads and source < n_balls and k_there == k
            if joins:
                g = plus(g, size_there)
            joining = votes(joins)
            distance = int32(distance + int32(1))
        if leads:
            scratch[row + k] = g
        cuda.syncwarp(FULL)  # the next ball may fall on the same topic
        ball += int64(64)


@cache
def columns(writes: bool) -> Any:
    """Return the kernel that draws columns: the one that counts, or the one that writes."""

    @kernel
    def draw(
        n, n_words, K, beta, word_tokens, rate, scale, quantile, logs, scratch, length, col, topic,
        mass, rows, width, cell_a, cell_b, ball_a, ball_b,
    ):  # fmt: skip
        lane = int32(cuda.threadIdx.x & 31)
        warp, warps = int64(cuda.grid(1)) >> int64(5), int64(cuda.gridsize(1)) >> int64(5)
        row = warp * int64(K)  # in scratch
        v = warp
        while v < int64(n_words):
            beta_v = beta[v]
            certain = _draw_cells(v, lane, K, n, beta_v, row, scratch, logs, cell_a, cell_b)
            cuda.syncwarp(FULL)
            if beta_v < FULL_BETA:
                gap, position = over(1.0, times(rate, beta_v)), 0.0
                if certain == uint32(0) and word_tokens[v] > int64(0):  # one falls into the column
                    r = bits(ball_a, ball_b, v * int64(4294967296))
                    first_ball = exponential_below(over(float64(K), gap), r)
                    position = times(gap, plus(first_ball, -exponential(r, logs)))
                _add_balls(
                    v, lane, K, gap, position, row, scratch, logs, scale, quantile, ball_a, ball_b
                )
            at = int64(0)
            first = int64(0)
            if writes:
                first = col[v]
            low = int64(0)
            while low < int64(K):
                k = low + int64(lane)
                g = 0.0
                if k < int64(K):
                    g = scratch[row + k]
                here = votes(g != 0.0)
                if writes:
                    write_cells(v, k, lane, g, here, first + at, topic, mass, rows, width)
                at += int64(cuda.popc(here))
                low += int64(32)
            if not writes and lane == int32(0):
                length[v] = at
            cuda.syncwarp(FULL)
            v += warps

    return draw


@kernel
def sum_columns(rows, mass, bounds, n_ranges, K, width, parts):
    """Sum columns over ranges of words, in the order of words; a warp for each 32 topics."""
    lane = int32(cuda.threadIdx.x & 31)
    place = int64(cuda.grid(1)) >> int64(5)
    if place >= int64(n_ranges) * int64(width):
        return
    r = place // int64(width)
    group = place - r * int64(width)
    s = 0.0
    low, high = int64(bounds[r]), int64(bounds[r + 1])
    while low < high:
        v = low + int64(lane)
        mine = int64(0)
        if v < high:
            mine = int64(rows[v * int64(width) + group])
        for j in range(32):
            entry = uint64(cuda.shfl_sync(FULL, mine, j))
            here = uint32(entry & uint64(FULL))
            if uint32(here >> uint32(lane)) & uint32(1):
                rank = int64(cuda.popc(uint32(here & before(lane))))
                s = plus(s, mass[int64(entry >> uint64(32)) + rank])
        low += int64(32)
    k = group * int64(32) + int64(lane)
    if k < int64(K):
        parts[r * int64(K) + k] = s
