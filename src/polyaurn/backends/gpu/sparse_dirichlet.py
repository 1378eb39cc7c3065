"""The sampler "sparse-dirichlet" on the GPU."""

from polyaurn.backends.gpu.phi_steps import draw_phi_sparse
from polyaurn.backends.gpu.steps import GPUSteps


class Steps(GPUSteps):
    """Steps of the sampler."""

    phi_step = staticmethod(draw_phi_sparse)
