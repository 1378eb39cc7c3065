"""Every GPU kernel with the types it is called with, so that all can be compiled anywhere."""

from unittest import mock

from numba import types as t

from polyaurn.backends.gpu import buckets, fold_in, phi, phi_sparse, tokens
from polyaurn.backends.gpu import log_posterior as score
from polyaurn.backends.gpu.sizes import DENSE_AT_ONCE, PACKED_AT_ONCE
from polyaurn.backends.gpu.z_long import z_long
from polyaurn.backends.gpu.z_short import z_short

U8, U16, U32, U64 = (t.Array(x, 1, "C") for x in (t.uint8, t.uint16, t.uint32, t.uint64))
I32, I64, F64 = (t.Array(x, 1, "C") for x in (t.int32, t.int64, t.float64))
KEY = (t.uint64, t.uint64)
AT_ONCE = {True: DENSE_AT_ONCE, False: PACKED_AT_ONCE}
COLUMNS = (U32, U64, U32, t.int32)  # guide, prior, n, K
URN = (t.int32, t.int32, F64, I64, U32, U8, U32, I64, U64, I64, U16, U32, U64, t.int32,
       *KEY * 5)  # fmt: skip
SPARSE = (t.int32, t.int32, F64, I64, t.float64, t.float64, F64, F64, F64, I64, I64, U16, F64, U64,
          t.int32, *KEY * 2)  # fmt: skip
GAMMAS = (t.int32, t.int32, F64, F64, *KEY)
SHORT = (U32, t.int64, I64, I32, U16, U32, U16, t.int64, U64, U64, U32, *COLUMNS, t.int32, t.int32,
         *KEY * 2, U32, U32, U64, t.int32)  # fmt: skip
LONG = (U32, t.int64, I64, I32, U16, U32, t.int64, U64, U32, U32, U64, U16, U32, t.int32,
        *KEY * 2, U64)  # fmt: skip

DOCUMENTS = (U32, t.int64, I64, I32, U16)  # order, how many, doc_ptr, word, z
FIXED_TOPICS = (I64, U16, F64, F64, F64, F64, F64)
ROWS = (U32, U16, U16, F64)  # m, topics, where, running


def finishing(mass):
    made = (U32, U64, U32, U64, I32)
    return (t.int32, t.int32, I64, U16, mass, F64, F64, t.float64, *made)


KERNELS = {
    "draw_uniform": (tokens.draw_uniform, (U16, t.int64, t.int32, *KEY)),
    "count_tokens": (tokens.count_tokens, (I32, U16, U32, t.int32)),
    "enter_documents": (
        tokens.enter_documents,
        (U32, t.int64, I64, I32, U16, t.int64, U64, *COLUMNS, *KEY),
    ),
    "list_topics": (tokens.list_topics, (U32, t.int64, I64, U16, U32, U16, t.int32)),
    **{
        f"{name}_{kind}": (kernel, (n, *types))
        for kind, n in (("whole", U32), ("fractions", F64))  # counts, with pseudo-counts
        for name, kernel, types in (
            ("urn_counts", phi.urn(False), URN),
            ("urn_writes", phi.urn(True), URN),
            ("gammas", phi.gammas, GAMMAS),
            ("sparse_counts", phi_sparse.columns(False), SPARSE),
            ("sparse_writes", phi_sparse.columns(True), SPARSE),
        )
    },
    "sum_columns": (
        phi_sparse.sum_columns,
        (U64, F64, I64, t.int32, t.int32, t.int32, F64),
    ),
    "sum_ranges": (phi.sum_ranges, (F64, I64, t.int32, t.int32, F64)),
    "finish_dense": (phi.finish(True), finishing(U32)),
    "finish_packed": (phi.finish(False), finishing(U32)),
    "finish_full": (phi.finish(True), finishing(F64)),
    "finish_sparse": (phi.finish(False), finishing(F64)),
    "score_lists": (
        score.score_lists,
        (U32, t.int64, I64, U32, U16, F64, t.float64, F64),
    ),
    "score_long": (
        score.score_long,
        (U32, t.int64, I64, U16, U32, F64, t.float64, t.int32, F64),
    ),
    "score_words": (score.score_words, (U32, t.int32, t.int32, F64, F64)),
    "z_long_dense": (z_long(True), LONG),
    "z_long_packed": (z_long(False), LONG),
    "fold_documents": (
        fold_in.fold_documents,
        (
            *(*DOCUMENTS, t.int64, t.int64, F64, t.int64, *FIXED_TOPICS, *KEY, *ROWS),
            *(I64, U64, I64, I64, U16, I64),
        ),
    ),
    "score_left_to_right": (
        fold_in.score_left_to_right,
        (*DOCUMENTS, *[t.int64] * 2, *FIXED_TOPICS, t.float64, *KEY, *ROWS, U64, F64),
    ),
    **{
        f"z_short_{1 << log_lanes}_{'dense' if dense else 'packed'}": (
            z_short(log_lanes, dense, buckets.BLOCK, AT_ONCE[dense]),
            SHORT,
        )
        for log_lanes in (2, 3, 4, 5)
        for dense in (True, False)
    },
    "z_resumed_dense": (z_short(5, True, buckets.BLOCK, AT_ONCE[True], True), SHORT),
    "z_resumed_packed": (z_short(5, False, buckets.BLOCK, AT_ONCE[False], True), SHORT),
}


def compile_kernel(kernel, types) -> str:
    """Return a kernel's code for the Hopper generation."""
    from polyaurn.backends.gpu.toolkit import cuda

    # Functions that kernels call ask which GPU they are for, even where there is none.
    hopper = mock.Mock(compute_capability=(9, 0))
    with mock.patch("numba.cuda.dispatcher.get_current_device", return_value=hopper):
        code, _ = cuda.compile(
            kernel.py_func, t.void(*types), device=False, cc=(9, 0), output="ptx", abi="numba"
        )
    return code.decode() if isinstance(code, bytes) else code
