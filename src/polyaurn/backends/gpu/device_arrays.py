"""Arrays on the device until the next step changes them: topics, counts and Phi; and copies."""

from typing import Any

import numpy as np

from polyaurn.backends.gpu import toolkit
from polyaurn.backends.gpu.failures import failures_named
from polyaurn.backends.gpu.layout import Layout
from polyaurn.backends.gpu.sizes import RECORD
from polyaurn.base.errors import InputError
from polyaurn.chain.state import Counts, Phi


def check_current(version: int, current: int) -> None:
    """Reject what a later step has changed."""
    if version != current:
        raise InputError(
            "This state is no longer on the GPU: a later sweep has changed it. Copy what is to "
            "be kept before the next sweep, with polyaurn.state.on_host(state)."
        )


class DeviceArrays:
    """Arrays on the device, valid until the next step changes them."""

    def __init__(self, layout: Layout) -> None:
        self.layout, self.version = layout, layout.version

    def _check(self) -> None:
        check_current(self.version, self.layout.version)


class DeviceTopics(DeviceArrays):
    """Topics of the tokens, on the device."""

    dtype = np.dtype(np.uint16)

    def __len__(self) -> int:
        return len(self.layout.word)

    def on_host(self) -> Any:
        """Return them as a NumPy array."""
        self._check()
        with failures_named():
            return self.layout.give_topics()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(self.on_host(), dtype)


class DeviceCounts(DeviceArrays):
    """Counts n, on the device, a row of K for each word."""

    def __init__(self, layout: Layout, n: Any = None) -> None:
        super().__init__(layout)
        self.n = layout.n if n is None else n

    def on_host(self) -> Counts:
        """Return them as the CPU's kernels have them."""
        self._check()
        with failures_named():
            return sparse_counts(self.n, self.layout)


def sparse_counts(n: Any, layout: Layout) -> Counts:
    """Return counts of the device as the CPU's kernels have them."""
    xp = toolkit.array_module()
    V, K = layout.n_words, layout.n_topics
    n = xp.asarray(n)[: V * K]
    cells = xp.flatnonzero(n)
    length = toolkit.to_host(xp.bincount(cells // K, minlength=V))
    last = np.cumsum(length)
    topic = toolkit.to_host((cells % K).astype(np.uint16))
    number = toolkit.to_host(n[cells])
    if number.dtype.kind != "f":  # with pseudo-counts that are fractions they are floats
        number = number.astype(np.int32)
    return Counts(last - length, last, topic, number)


class DevicePhi:
    """Phi on the device, in the arrays that the z step reads; the next draw takes their place."""

    def __init__(self, layout: Layout, nonzeros: int, arrays: dict[str, Any]) -> None:
        self.layout, self.nonzeros, self.version = layout, nonzeros, layout.phi_version
        for name, array in arrays.items():
            setattr(self, name, array)

    def on_host(self) -> Phi:
        """Return it as the CPU's kernels have it, but for dense rows."""
        check_current(self.version, self.layout.phi_version)
        layout, V, K = self.layout, self.layout.n_words, self.layout.n_topics
        get = {name: self._get(name) for name in ("col", "topic", "prior", "record", "exponent")}
        col, topic = get["col"][: V + 1], get["topic"][: self.nonzeros]
        weight = self._get("weight")
        if layout.dense:
            word = np.repeat(np.arange(V, dtype=np.int64), np.diff(col))
            weight = weight[word * K + topic]
        sigma_a = get["record"][: V * RECORD].reshape(V, RECORD)[:, 2].view(np.float64)
        return Phi(
            col[:-1], col[1:], topic, weight[: self.nonzeros], get["exponent"][:V],
            get["prior"][: self.nonzeros], np.array(sigma_a), np.full(V, -1, np.int32),
            np.empty((0, K), np.uint32), np.empty((0, K), np.uint16),
        )  # fmt: skip

    def _get(self, name: str) -> Any:
        return toolkit.to_host(toolkit.array_module().asarray(getattr(self, name)))
