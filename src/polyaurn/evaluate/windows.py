"""Compiled counting of words and pairs of words that occur together."""

import numpy as np

from polyaurn.base.compilation import njit


@njit(nogil=True, cache=True)
def count_windows(doc_ptr, word, size, exact, single, first, partner, together):
    """Count the windows that hold each word, and each pair of words; return the number of windows.

    A window is `size` neighbouring tokens of a document, or all of a shorter document or when
    `size` is 0; it moves by one token. Tokens of no interest are -1. The stretches of windows that
    hold a word are noted as the window moves, and for pairs the stretches of both are intersected.
    With `exact` a word stays while the window holds it. Otherwise it is forgotten when one of its
    occurrences leaves, even if another is inside, until it enters again, as in gensim. Windows with
    each of W words are added to `single`. Pairs of interest are those of word v with each of
    ``partner[first[v]:first[v + 1]]``; windows with both are added to the same place of `together`.
    """
    W = len(single)
    n_windows = 0
    inside = np.zeros(W, np.int64)  # occurrences in the window
    last = np.full(W, -1, np.int64)  # a word's last stretch in this document
    open_ = np.zeros(W, np.bool_)  # which continues
    present = np.empty(W, np.int64)
    longest = 0
    for d in range(len(doc_ptr) - 1):
        longest = max(longest, doc_ptr[d + 1] - doc_ptr[d])
    begin, end = np.empty(longest, np.int64), np.empty(longest, np.int64)  # stretches
    before = np.empty(longest, np.int64)  # the same word's stretch before
    for d in range(len(doc_ptr) - 1):
        lo, N = doc_ptr[d], doc_ptr[d + 1] - doc_ptr[d]
        width = N if size == 0 else min(size, N)
        windows = N - width + 1
        n_windows += windows
        n_present, n_stretches = 0, 0
        for i in range(N):
            t = max(0, i - width + 1)  # the first window with token i
            if i >= width:
                v = word[lo + i - width]
                if v >= 0:
                    inside[v] -= 1
                    if open_[v] and (inside[v] == 0 or not exact):
                        open_[v] = False
                        end[last[v]] = t
            v = word[lo + i]
            if v < 0:
                continue
            inside[v] += 1
            if not open_[v]:
                if last[v] < 0:
                    present[n_present] = v
                    n_present += 1
                begin[n_stretches], before[n_stretches] = t, last[v]
                last[v], open_[v] = n_stretches, True
                n_stretches += 1
        for x in range(n_present):
            v = present[x]
            if open_[v]:
                end[last[v]] = windows
            s = last[v]
            while s >= 0:
                single[v] += end[s] - begin[s]
                s = before[s]
        for x in range(n_present):
            v = present[x]
            for p in range(first[v], first[v + 1]):
                common = 0
                s, t = last[v], last[partner[p]]  # -1 for a word that is not in the document
                while s >= 0 and t >= 0:  # both from the last stretch to the first
                    common += max(0, min(end[s], end[t]) - max(begin[s], begin[t]))
                    if begin[s] >= begin[t]:
                        s = before[s]
                    else:
                        t = before[t]
                together[p] += common
        for x in range(n_present):
            last[present[x]], open_[present[x]], inside[present[x]] = -1, False, 0
    return n_windows
