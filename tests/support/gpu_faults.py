"""Faults planted into the GPU's kernels, each with a small chain that must show it."""

from contextlib import contextmanager
from typing import NamedTuple
from unittest import mock

from polyaurn.backends.gpu import phi_steps, steps
from polyaurn.chain.schedule import Plan
from support.faults import plant
from support.gpu_cases import BALLS, ENTERING, SPARSE, WIDE, Case

SHORT = Case(lengths=(12, 9, 1), K=30, alpha=0.5, beta=0.1, topics="one", spare=0, resumed=True)
LONG = Case(lengths=(40,), K=40, beta=0.5, longest=0)
FULL = Case(lengths=(40,), K=2, beta=1.0)  # no topic comes out empty, even without the prior
EMPTY = Case(matrix=((1, 0, 2, 0), (0, 1, 0, 9)), K=2, beta=0.001, plans=(Plan(),) * 8)


class Fault(NamedTuple):
    """A module's code that is replaced, and the chain that must be another then."""

    module: str
    changes: tuple[tuple[str, str], ...]
    case: Case


FAULTS = {
    "own token kept": Fault(
        "z_short", (("e = uint32(e - uint32(ONE))\n", "pass\n"),), SHORT
    ),
    "last stretch forgotten": Fault(
        "z_short", (("cuda.shfl_sync(FULL, int64(until), last)", "cuda.shfl_sync(FULL, "
        "int64(until), leader)"),), SHORT
    ),
    "entered into the wrong stretch": Fault(
        "z_short", (("lane == owner", "lane == leader"),), SHORT
    ),
    "resumed a token late": Fault(
        "z_short", (("b = int32(progress[d] & uint32(4095))",
        "b = int32((progress[d] & uint32(4095)) + 1)"),), SHORT
    ),
    "lanes not synchronised": Fault(
        "z_short", (("cuda.syncwarp(FULL)\n            turns", "turns"),), SHORT
    ),
    "weights of another token kept": Fault(
        "z_short", (("if p < stretch.kept_end:", "if p < stretch.kept_end and s != uint64(0):"),),
        SHORT,
    ),
    "own token kept in a long document": Fault(
        "z_long", ((" - uint64(k == old)", ""),), LONG
    ),
    "later stretches of a column forgotten": Fault(
        "z_long", (("running_sum(s, lane, int32(32))", "running_sum(s, lane, int32(16))"),), LONG
    ),
    "guide off by one": Fault(
        "phi", (("uint32(uint32(j) |", "uint32(uint32(min(j + int64(1), K_v - int64(1))) |"),),
        SHORT,
    ),
    "empty column not drawn again": Fault(
        "phi", (("if total == int64(0) and", "if False and"),), EMPTY
    ),
    "empty column drawn again with one ball": Fault(
        "phi", (("min(poisson_positive(rate, bits(a, b, address)), int64(REDRAW))", "int64(1)"),),
        EMPTY,
    ),
    "no balls of the prior": Fault("phi", (("while j < balls:", "while j < int64(0):"),), FULL),
    "counts off by one": Fault(
        "phi", (("poisson_count(\n                        whole,", "poisson_count("
        "\n                        whole + int64(1),"),), EMPTY
    ),
    "draws of 16 bits": Fault(
        "phi", (("scratch[row + k] = uint32(drawn)", "scratch[row + k] = uint32(uint16(drawn))"),),
        Case(K=3, pseudo=150_003),
    ),
    "fractions of counts forgotten": Fault(
        "phi", (("if part > 0:", "if part > 9:"),), EMPTY._replace(fractions=True)
    ),
    "fractions of counts rounded up": Fault(
        "phi_sparse", (("gamma_mass(number,", "gamma_mass(int64(number) + int64(1),"),),
        SHORT._replace(sampler=SPARSE, fractions=True, plans=(Plan(),)),
    ),
    "prior of full cells forgotten": Fault(
        "phi_sparse", (("plus(float64(number), beta_v)", "plus(float64(number), 1.0)"),),
        BALLS._replace(beta=2.0),
    ),
    "only the first ball of a topic": Fault(
        "phi_sparse", (("joins = leads and", "joins = False and"),), BALLS
    ),
    "balls drawn twice": Fault(
        "phi_sparse", (("ball += int64(64)", "ball += int64(0)"),), BALLS
    ),
    "last ball of a word lost": Fault(
        "phi_sparse", (("cuda.ffs(int32(beyond))) - int32(1)", "cuda.ffs(int32(beyond))) - "
        "int32(2)"),), BALLS
    ),
    "no ball for a word that enters": Fault(
        "phi_sparse", (("certain == uint32(0) and", "False and"),),
        ENTERING,
    ),
    "a word left out of the totals": Fault(
        "phi_sparse", (("for j in range(32):\n            entry", "for j in range(31):\n"
        "            entry"),), WIDE
    ),
    "first topics of another address": Fault(
        "tokens", (("bits(a, b, base + i), K", "bits(b, a, base + i), K"),), LONG
    ),
    "a topic listed twice": Fault(
        "tokens", (("(i == int32(0) or ", "(lane == int32(0) or "),),
        Case(lengths=(40,), K=2),
    ),
}  # fmt: skip


@contextmanager
def planted(name):
    """Put a broken kernel into the steps; yield the chain that must show it."""
    fault = FAULTS[name]
    broken = plant(fault.module, *fault.changes, package="polyaurn.backends.gpu")
    holder, attribute, value = {
        "z_short": (steps, "z_short", getattr(broken, "z_short", None)),
        "z_long": (steps, "z_long", getattr(broken, "z_long", None)),
        "phi": (phi_steps, "phi_kernels", broken),
        "phi_sparse": (phi_steps, "sparse_kernels", broken),
        "tokens": (steps, "tokens", broken),
    }[fault.module]
    with mock.patch.object(holder, attribute, value):
        yield fault.case
