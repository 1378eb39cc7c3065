"""The laws of the GPU's kernels, carried by their twins: enumeration, Geweke's test, the urn."""

from types import SimpleNamespace

import numpy as np
import pytest

from laws import UNLIKELY, chi_square_p
from polyaurn.gpu.twins.phi_steps import draw_urn
from polyaurn.gpu.twins.steps import TWINS, Shape, twin_kernels
from test_enumeration import SHAPES, after_one_sweep
from test_geweke import LIMIT, largest_score
from test_kernels import redrawn_columns
from test_urn_law import COUNTS, SIZE, cells, law, row_sum_p
from twin_faults import LONG, PAIR, broken_twin, twins_with

EXACT = "partially-collapsed"
# The others break lists and walks, which bytes show.
LAWLESS = ("own_token_kept", "last_stretch_forgotten", "own_token_kept_in_a_long_document",
           "later_stretches_of_a_column_forgotten", "guide_off_by_one")  # fmt: skip


@pytest.mark.parametrize("shape", [PAIR, Shape(lanes=4), LONG])
def test_a_sweep_of_twins_keeps_the_posterior(shape):
    assert after_one_sweep(twin_kernels(EXACT, shape), "an empty document", 8_000) > UNLIKELY


@pytest.mark.parametrize("fault", LAWLESS)
def test_a_sweep_of_broken_twins_does_not(fault):
    assert after_one_sweep(twins_with(fault), "an empty document", 8_000) < UNLIKELY**2


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_a_sweep_of_twins_keeps_every_posterior(shape):
    assert after_one_sweep(twin_kernels(EXACT, PAIR), shape, 8_000) > UNLIKELY


@pytest.mark.slow
def test_the_joint_distribution_of_twins():
    assert largest_score(twin_kernels(EXACT, PAIR)) < LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["own_token_kept", "guide_off_by_one"])
def test_the_joint_distribution_sees_broken_twins(fault):
    assert largest_score(twins_with(fault)) > 2 * LIMIT


# The urn


def as_urn(kernel, shape=PAIR):
    """Return the twin as what tests of the CPU's urn ask for."""

    def draw_columns(layout, counts, priors, balls, seed, sweep, workers):
        twins = SimpleNamespace(urn=kernel)
        col, topic, mass, S, _ = draw_urn(twins, shape, layout, counts, priors, seed, sweep)
        return col[:-1], col[1:], topic, mass, S

    return SimpleNamespace(draw_ball_counts=lambda *_: None, draw_columns=draw_columns)


def cell_p_values(urn):
    """P-values of cells with few tokens, at the seam, and above it."""
    drawn = cells(urn)
    return {
        n: chi_square_p(np.bincount(drawn[:, COUNTS.index(n)], minlength=SIZE), law(n))
        for n in COUNTS
    }


def test_the_twin_urn_draws_poisson_cells():
    assert min(cell_p_values(as_urn(TWINS["urn"])).values()) > UNLIKELY


def test_counts_off_by_one_are_seen():
    broken = broken_twin("urn", ("poisson_count(number,", "poisson_count(number + 1,"))
    p = cell_p_values(as_urn(broken))
    assert max(p[n] for n in (1, 5, 20)) < UNLIKELY**3


def test_row_sums_of_the_twin_urn_are_poisson():
    assert row_sum_p(as_urn(TWINS["urn"])) > UNLIKELY
    broken = broken_twin("urn", ("range(lane, balls, LANES)", "range(0)"))
    assert row_sum_p(as_urn(broken)) < UNLIKELY**2


def test_an_empty_column_is_drawn_given_that_it_is_not_empty():
    assert min(redrawn_columns(as_urn(TWINS["urn"]))) > UNLIKELY


@pytest.mark.parametrize(
    "change",
    [
        ("total + balls == 0 and", "False and"),  # not drawn again
        ("min(poisson_positive(rate, bits(a, b, address)), REDRAW)", "1"),  # one ball only
        ("unit(bits(a, b, address + ball)) * rate", "0.0"),  # all to the first topic
    ],
)
def test_an_empty_column_that_is_drawn_otherwise_is_seen(change):
    assert min(redrawn_columns(as_urn(broken_twin("urn", change)))) < UNLIKELY**2
