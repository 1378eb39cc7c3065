"""Twins of the kernels that draw Phi; see `polyaurn.gpu.phi`."""

import numpy as np

from polyaurn.gpu.sizes import LANES, LENGTH_SHIFT, RECORD
from polyaurn.gpu.twins.columns import guide_place, ones
from polyaurn.kernels.chance import (
    below,
    bits,
    exp_of,
    log_gamma_draw,
    poisson_count,
    poisson_positive,
    poisson_rate,
    unit,
)
from polyaurn.kernels.columns import LEAST_EXPONENT, WEIGHT_BITS, prior_weight
from polyaurn.kernels.phi_urn import REDRAW
from polyaurn.machine_code import njit

_ONE, _S32, _LENGTH_SHIFT = np.uint64(1), np.uint64(32), np.uint64(LENGTH_SHIFT)


@njit(nogil=True, cache=True)
def urn(
    writes, warps, n, K, beta, word_tokens, cut, other, scratch, length, S, col, topic, mass, rows,
    width, cell_a, cell_b, balls_a, balls_b, ball_a, ball_b, column_a, column_b,
):  # fmt: skip
    """Draw the urn, to count what columns will hold or to write them."""
    for warp in range(warps):
        drawn = scratch[warp * K : warp * K + K]
        for v in range(warp, len(beta), warps):
            n_v = total = np.int64(0)
            for lane in range(LANES):
                for k in range(lane, K, LANES):
                    number = np.int64(n[v * K + k])
                    drawn[k] = 0
                    if number > 0:
                        r = bits(cell_a, cell_b, v * 65536 + k)
                        drawn[k] = poisson_count(number, r, cut, other)
                    n_v += number
                    total += np.int64(drawn[k])
            balls = poisson_rate(beta[v] * K, bits(balls_a, balls_b, v))
            for lane in range(LANES):
                for j in range(lane, balls, LANES):
                    k = below(bits(ball_a, ball_b, v * 4294967296 + j), K)
                    drawn[k] += np.uint32(1)
            if total + balls == 0 and word_tokens[v] > 0:
                _redraw_column(v, K, n, beta, n_v, drawn, column_a, column_b)
            at, first = 0, col[v] if writes else 0
            for low in range(0, K, LANES):  # a topic for each lane
                here = np.uint64(0)
                for lane in range(min(LANES, K - low)):
                    k = low + lane
                    if drawn[k] > 0:
                        if writes:
                            topic[first + at + ones(here)] = k
                            mass[first + at + ones(here)] = drawn[k]
                        else:
                            S[k] += np.uint64(drawn[k])
                        here |= _ONE << np.uint64(lane)
                if writes and width > 0:
                    rows[v * width + low // LANES] = here | (np.uint64(first + at) << _S32)
                at += ones(here)
            if not writes:
                length[v] = at


@njit(cache=True)
def _redraw_column(v, K, n, beta, n_v, drawn, a, b):
    """Draw a column that came out empty again, conditioned on not being empty."""
    rate = n_v + beta[v] * K
    address = v * 4294967296
    balls = min(poisson_positive(rate, bits(a, b, address)), REDRAW)
    for ball in range(1, balls + 1):
        u = unit(bits(a, b, address + ball)) * rate
        if u < n_v:
            goal, until, low, k = np.int64(u), np.int64(0), 0, K
            while low < K and k == K:  # the topic where the running count passes u
                for lane in range(min(LANES, K - low)):
                    until += np.int64(n[v * K + low + lane])
                    if until > goal:
                        k = min(k, low + lane)
                low += LANES
        else:
            k = min(np.int64((u - n_v) / beta[v]), K - 1)
        drawn[k] += np.uint32(1)


@njit(nogil=True, cache=True)
def gammas(n, K, beta, mass, a, b):
    """Draw Gamma(n + beta) of every cell."""
    for cell in range(len(beta) * K):
        v = cell // K
        shape = np.int64(n[cell]) + beta[v]
        mass[cell] = exp_of(log_gamma_draw(shape, a, b, (v * 65536 + cell - v * K) * 256))


@njit(nogil=True, cache=True)
def sum_ranges(mass, bounds, K, parts):
    """Sum cells over ranges of words, in the order of words."""
    for place in range((len(bounds) - 1) * K):
        r = place // K
        parts[place] = 0.0
        for v in range(bounds[r], bounds[r + 1]):
            parts[place] += mass[v * K + place - r * K]


@njit(nogil=True, cache=True)
def finish(
    dense, n_words, K, col, topic, mass, S, ratio, unit_of_prior,
    weight, prior, guide, record, exponent,
):  # fmt: skip
    """Make of masses what the z step reads."""
    until = np.empty(LANES, np.uint64)
    for v in range(n_words):
        first, K_v = col[v], col[v + 1] - col[v]
        top = 0.0
        for j in range(first, first + K_v):
            top = max(top, mass[j] / S[topic[j]])
        e = np.int64(LEAST_EXPONENT)
        if top > 0.0:
            of_top = (np.float64(top).view(np.int64) >> 52) - 1022
            e = min(WEIGHT_BITS - of_top, e)
        scale = np.int64((e + 1023) << 52).view(np.float64)
        if dense:
            weight[v * K : v * K + K] = 0
        total = np.uint64(0)
        for low in range(0, K_v, LANES):  # running sums over the lanes, carried on
            for lane in range(min(LANES, K_v - low)):
                j = first + low + lane
                k = np.int64(topic[j])
                w = np.floor(mass[j] / S[k] * scale + 0.5) if top > 0.0 else 1.0
                weight[v * K + k if dense else j] = np.uint32(w)
                until[lane] = prior_weight(w, ratio[k])
                if lane > 0:
                    until[lane] += until[lane - 1]
                prior[j] = total + until[lane]
            total = prior[min(first + low + LANES, first + K_v) - 1]
        factor = np.float64(K_v) / np.float64(total) if K_v > 0 else 0.0
        for j in range(K_v):  # places of the guide that begin at this topic
            past = until_place = np.int64(-1)
            if j > 0 and prior[first + j - 1] > 0:
                past = guide_place(prior[first + j - 1] - _ONE, factor, K_v)
            if prior[first + j] > 0:
                until_place = guide_place(prior[first + j] - _ONE, factor, K_v)
            if j == K_v - 1:
                until_place = K_v - 1
            for p in range(past + 1, until_place + 1):
                guide[first + p] = j | (np.int64(topic[first + p]) << 16)
        exponent[v] = e
        record[v * RECORD] = np.uint64(first) | (np.uint64(K_v) << _LENGTH_SHIFT)
        record[v * RECORD + 1] = total
        record[v * RECORD + 2] = np.float64(np.float64(total) * unit_of_prior).view(np.uint64)
        record[v * RECORD + 3] = np.float64(factor).view(np.uint64)
