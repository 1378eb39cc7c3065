"""Draws from the posterior: several chains, their topics aligned, and whether they agree."""

from polyaurn.evaluate.convergence import ess_bulk, ess_tail, r_hat
from polyaurn.evaluate.posterior.result import Chain, Posterior

__all__ = ["Chain", "Posterior", "ess_bulk", "ess_tail", "r_hat"]
