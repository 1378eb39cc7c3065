"""The sampler "partially-collapsed" on the GPU."""

from polyaurn.backends.gpu.phi_steps import draw_phi_dirichlet
from polyaurn.backends.gpu.steps import GPUSteps


class Steps(GPUSteps):
    """Steps of the sampler."""

    full_columns = True
    phi_step = staticmethod(draw_phi_dirichlet)
