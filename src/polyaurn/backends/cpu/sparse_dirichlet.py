"""The sampler "sparse-dirichlet": a sparse Phi from its Dirichlet posterior, topics given it."""

from polyaurn.backends.cpu import phi_sparse, z
from polyaurn.backends.cpu.steps import CPUSteps


class Steps(CPUSteps):
    """Steps of the sampler."""

    phi_step = staticmethod(phi_sparse.draw_phi)
    z_step = staticmethod(z.draw_z)
