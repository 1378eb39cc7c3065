"""Phi on the GPU: a warp draws a word's column, the same draws as the CPU's at the same addresses.

The urn is drawn twice: once to count what each column will hold and to sum over words, once to
write it where the running sum of those numbers says. Draws have addresses, so that both times are
the same. A row of K counts in global memory is the warp's scratch.

Counts are whole, or floats where pseudo-counts are fractions: kernels are compiled for both.
"""

from functools import cache
from typing import Any

from numba import float64, int32, int64, uint16, uint32, uint64

from polyaurn.backends.cpu.columns import LEAST_EXPONENT, WEIGHT_BITS
from polyaurn.backends.cpu.phi_urn import REDRAW
from polyaurn.backends.gpu.columns import guide_place
from polyaurn.backends.gpu.sizes import FULL, LENGTH_SHIFT, RECORD
from polyaurn.backends.gpu.toolkit import cuda, device_function, kernel
from polyaurn.backends.gpu.variates import (
    below,
    bits,
    exp_of,
    log_gamma_draw,
    over,
    plus,
    poisson_count,
    poisson_positive,
    poisson_rate,
    times,
    unit,
)
from polyaurn.backends.gpu.warp import (
    before,
    largest_of_warp,
    running_sum,
    sum_of_warp,
    votes,
)
from polyaurn.chain.state import PARTS


@device_function
def _in_parts(number):
    """Return a count in the parts of a token that fractions are rounded to."""
    return int64(times(float64(number), float64(PARTS)))


@device_function
def write_cells(v, k, lane, drawn, here, at, topic, mass, rows, width):
    """Write up to 32 cells of a column, from a place on, and which topics they are."""
    if uint32(here >> uint32(lane)) & uint32(1):
        rank = int64(cuda.popc(uint32(here & before(lane))))
        topic[at + rank] = uint16(k)
        mass[at + rank] = drawn
    if width > 0 and lane == int32(0):
        entry = uint64(here) | (uint64(at) << uint64(32))
        rows[v * int64(width) + (k >> int64(5))] = entry


@device_function
def _redraw_column(v, lane, K, n, beta, row, scratch, a, b):
    """Draw a column that came out empty again, conditioned on not being empty."""
    parts = int64(0)
    k = int64(lane)
    while k < int64(K):
        parts += _in_parts(n[v * int64(K) + k])
        k += int64(32)
    n_v = times(float64(sum_of_warp(parts)), 1.0 / PARTS)
    rate = plus(n_v, times(beta[v], float64(K)))
    address = v * int64(4294967296)
    balls = min(poisson_positive(rate, bits(a, b, address)), int64(REDRAW))
    ball = int64(1)
    while ball <= balls:
        u = times(unit(bits(a, b, address + ball)), rate)
        k = int64(0)
        if u < n_v:
            goal, passed, low = _in_parts(u), int64(0), int64(0)
            k = int64(K)
            while low < int64(K) and k == int64(K):  # the topic where the running count passes u
                j = low + int64(lane)
                mine = _in_parts(n[v * int64(K) + j]) if j < int64(K) else int64(0)
                until = passed + int64(running_sum(mine, lane, int32(32)))
                beyond = votes(until > goal)
                if beyond != uint32(0):
                    k = low + int64(cuda.ffs(int32(beyond))) - int64(1)
                passed = int64(cuda.shfl_sync(FULL, until, 31))
                low += int64(32)
        else:
            k = min(int64(over(plus(u, -n_v), beta[v])), int64(K) - int64(1))
        if lane == int32(0):
            scratch[row + k] = uint32(scratch[row + k] + uint32(1))
        cuda.syncwarp(FULL)
        ball += int64(1)


@cache
def urn(writes: bool) -> Any:
    """Return the kernel that draws the urn: the one that counts, or the one that writes."""

    @kernel
    def draw(
        n, n_words, K, beta, word_tokens, cut, other, scratch, length, S, col, topic, mass, rows,
        width, cell_a, cell_b, part_a, part_b, balls_a, balls_b, ball_a, ball_b, column_a, column_b,
    ):  # fmt: skip
        lane = int32(cuda.threadIdx.x & 31)
        warp, warps = int64(cuda.grid(1)) >> int64(5), int64(cuda.gridsize(1)) >> int64(5)
        row = warp * int64(K)  # in scratch
        v = warp
        while v < int64(n_words):
            total = int64(0)
            k = int64(lane)
            while k < int64(K):
                number = n[v * int64(K) + k]
                whole = int64(number)
                part = number - whole  # of whole numbers 0, which the compiler knows
                drawn = int64(0)
                if whole > int64(0):
                    drawn = poisson_count(
                        whole, bits(cell_a, cell_b, v * int64(65536) + k), cut, other
                    )
                if part > 0:
                    r = bits(part_a, part_b, v * int64(65536) + k)
                    drawn += poisson_rate(float64(part), r)
                scratch[row + k] = uint32(drawn)
                total += drawn
                k += int64(32)
            balls = poisson_rate(times(beta[v], float64(K)), bits(balls_a, balls_b, v))
            cuda.syncwarp(FULL)
            j = int64(lane)
            while j < balls:
                k = below(bits(ball_a, ball_b, v * int64(4294967296) + j), K)
                cuda.atomic.add(scratch, row + k, uint32(1))
                j += int64(32)
            total = sum_of_warp(total) + balls
            cuda.syncwarp(FULL)
            if total == int64(0) and word_tokens[v] > int64(0):
                _redraw_column(v, lane, K, n, beta, row, scratch, column_a, column_b)
            at = int64(0)
            first = int64(0)
            if writes:
                first = col[v]
            low = int64(0)
            while low < int64(K):
                k = low + int64(lane)
                drawn = uint32(0)
                if k < int64(K):
                    drawn = scratch[row + k]
                here = votes(drawn != uint32(0))
                if writes:
                    write_cells(v, k, lane, drawn, here, first + at, topic, mass, rows, width)
                elif drawn != uint32(0):
                    cuda.atomic.add(S, k, uint64(drawn))
                at += int64(cuda.popc(here))
                low += int64(32)
            if not writes and lane == int32(0):
                length[v] = at
            cuda.syncwarp(FULL)
            v += warps

    return draw


@kernel
def gammas(n, n_words, K, beta, mass, a, b):
    """Draw Gamma(n + beta) of every cell."""
    cell = int64(cuda.grid(1))
    if cell < int64(n_words) * int64(K):
        v = cell // int64(K)
        k = cell - v * int64(K)
        shape = float64(n[cell]) + beta[v]
        mass[cell] = exp_of(log_gamma_draw(shape, a, b, (v * int64(65536) + k) * int64(256)))


@kernel
def sum_ranges(mass, bounds, n_ranges, K, parts):
    """Sum cells over ranges of words, in the order of words."""
    place = int64(cuda.grid(1))
    if place < int64(n_ranges) * int64(K):
        r = place // int64(K)
        k = place - r * int64(K)
        s = 0.0
        for v in range(bounds[r], bounds[r + 1]):
            s += mass[v * int64(K) + k]
        parts[place] = s


@cache
def finish(dense: bool) -> Any:
    """Return the kernel that makes of masses what the z step reads; a warp for each word."""

    @kernel
    def make(
        n_words,
        K,
        col,
        topic,
        mass,
        S,
        ratio,
        unit_of_prior,
        weight,
        prior,
        guide,
        record,
        exponent,
    ):
        lane = int32(cuda.threadIdx.x & 31)
        v = int64(cuda.grid(1)) >> int64(5)
        if v >= int64(n_words):
            return
        first = int64(col[v])
        K_v = int64(col[v + 1]) - first
        top = 0.0
        j = int64(lane)
        while j < K_v:
            share = cuda.libdevice.ddiv_rn(float64(mass[first + j]), S[topic[first + j]])
            top = max(top, share)
            j += int64(32)
        top = largest_of_warp(top)
        e = int64(LEAST_EXPONENT)
        if top > 0.0:
            of_top = (cuda.libdevice.double_as_longlong(top) >> int64(52)) - int64(1022)
            e = min(int64(WEIGHT_BITS) - int64(of_top), int64(LEAST_EXPONENT))
        scale = cuda.libdevice.longlong_as_double((e + int64(1023)) << int64(52))
        if dense:
            k = int64(lane)
            while k < int64(K):
                weight[v * int64(K) + k] = uint32(0)
                k += int64(32)
            cuda.syncwarp(FULL)
        total = uint64(0)
        low = int64(0)
        while low < K_v:
            j = low + int64(lane)
            part = uint64(0)
            if j < K_v:
                k = int64(topic[first + j])
                w = 1.0
                if top > 0.0:
                    share = cuda.libdevice.ddiv_rn(float64(mass[first + j]), S[k])
                    w = cuda.libdevice.floor(plus(times(share, scale), 0.5))
                if dense:
                    weight[v * int64(K) + k] = uint32(w)
                else:
                    weight[first + j] = uint32(w)
                if w > 0.0:
                    part = uint64(max(cuda.libdevice.rint(times(w, ratio[k])), 1.0))
            until = uint64(total + running_sum(part, lane, int32(32)))
            if j < K_v:
                prior[first + j] = until
            total = uint64(int64(cuda.shfl_sync(FULL, int64(until), 31)))
            low += int64(32)
        cuda.syncwarp(FULL)
        factor = 0.0
        if K_v > int64(0):
            factor = cuda.libdevice.ddiv_rn(float64(K_v), float64(total))
        j = int64(lane)
        while j < K_v:  # places of the guide that begin at this topic
            past = int64(-1)
            if j > int64(0) and prior[first + j - int64(1)] > uint64(0):
                goal = uint64(prior[first + j - int64(1)] - uint64(1))
                past = int64(guide_place(goal, factor, int32(K_v)))
            until_place = int64(-1)
            if prior[first + j] > uint64(0):
                goal = uint64(prior[first + j] - uint64(1))
                until_place = int64(guide_place(goal, factor, int32(K_v)))
            if j == K_v - int64(1):
                until_place = K_v - int64(1)
            for p in range(past + int64(1), until_place + int64(1)):
                guide[first + p] = uint32(uint32(j) | (uint32(topic[first + p]) << uint32(16)))
            j += int64(32)
        if lane == int32(0):
            exponent[v] = int32(e)
            at = v * int64(RECORD)
            record[at] = uint64(first) | (uint64(K_v) << uint64(LENGTH_SHIFT))
            record[at + 1] = total
            sigma_a = times(float64(total), unit_of_prior)
            record[at + 2] = uint64(cuda.libdevice.double_as_longlong(sigma_a))
            record[at + 3] = uint64(cuda.libdevice.double_as_longlong(factor))

    return make
