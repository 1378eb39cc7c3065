"""The sampler "polya-urn" on the GPU."""

from polyaurn.backends.gpu.phi_steps import draw_phi_urn
from polyaurn.backends.gpu.steps import GPUSteps


class Steps(GPUSteps):
    """Steps of the sampler."""

    mass_bytes = 4
    phi_step = staticmethod(draw_phi_urn)
