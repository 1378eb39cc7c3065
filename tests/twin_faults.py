"""Faults planted into the twins of GPU kernels, and what they do to a kernel set."""

from functools import cache, partial
from typing import Any

from faults import plant
from polyaurn.gpu.twins.steps import TWINS, Shape, twin_kernels
from polyaurn.kernels import KernelSet

PAIR = Shape(lanes=2, spare=0)  # so few that two topics fill two stretches
LONG = Shape(longest=0)  # every document is long

_plant = partial(plant, package="polyaurn.gpu.twins")
# The topic that was to be left out while drawing leaves afterwards.
_TAKE_OUT = """@njit()
def take_out(mine, c, k):
    for lane in range(len(c)):
        for p in range(lane, lane + c[lane] * len(c), len(c)):
            if np.int64(mine[p]) & TOPIC == k and mine[p] >= ONE:
                mine[p] -= np.uint32(ONE)
                return


@njit(nogil=True, cache=True)
def z_short("""
_LEAVES = "; take_out(mine, c, old[turn])\n"

FAULTS: dict[str, tuple[Shape, dict[str, Any]]] = {
    "own_token_kept": (
        PAIR,
        {"z_short": (
            ("m -= 1\n", "pass\n"),
            ("mine[own] -= np.uint32(ONE)\n", "pass\n"),
            ("@njit(nogil=True, cache=True)\ndef z_short(", _TAKE_OUT),
            ("new[turn] = e & TOPIC\n", "new[turn] = e & TOPIC" + _LEAVES),
            ("c[owner], new[turn])\n", "c[owner], new[turn])" + _LEAVES),
        )},
    ),
    "last_stretch_forgotten": (
        PAIR,
        {"z_short": (("sigma_b = np.float64(all_)", "all_ -= s[-1]; sigma_b = np.float64(all_)"),)},
    ),
    "entered_into_the_wrong_stretch": (
        PAIR,
        {"z_short": (
            ("owner = lane\n", "owner = 0\n"),
            ("cache=True", "cache=True, boundscheck=True"),  # walks run out of their stretch
        )},
    ),
    "goes_on_a_token_late": (
        PAIR, {"z_short": (("b = np.int64(progress", "b = 1 + np.int64(progress"),)},
    ),
    "weights_of_another_token_kept": (
        PAIR,
        {"z_short": (
            ("if r < at_once:", "if r < at_once and turn == 0:"),
            ("cache=True", "cache=True, boundscheck=True"),
        )},
    ),
    "own_token_kept_in_a_long_document": (LONG, {"z_long": ((" - np.uint64(k == old)", ""),)}),
    "later_stretches_of_a_column_forgotten": (
        LONG, {"z_long": (("all_ += s[lane]", "all_ += s[lane] * np.uint64(lane == 0)"),)},
    ),
    "guide_off_by_one": (
        PAIR, {"finish": (("guide[first + p] = j |", "guide[first + p] = min(j + 1, K_v - 1) |"),)},
    ),
}  # fmt: skip
_FILES = {"urn": "phi", "finish": "phi", "gammas": "phi", "sum_ranges": "phi"}


@cache
def broken_twin(name: str, *changes: tuple[str, str]) -> Any:
    """Return a twin in which pieces of code are replaced."""
    file = _FILES.get(name, name)
    return getattr(_plant(file, *changes), name)


def twins_with(fault: str, sampler: str = "partially-collapsed") -> KernelSet:
    """Return a kernel set of twins with one of the faults."""
    shape, changes = FAULTS[fault]
    assert set(changes) <= set(TWINS)
    broken = {name: broken_twin(name, *pieces) for name, pieces in changes.items()}
    return twin_kernels(sampler, shape, **broken)
