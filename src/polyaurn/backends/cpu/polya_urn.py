"""The sampler "polya-urn": the Pólya urn's sparse Phi, and topics given it."""

from polyaurn.backends.cpu import phi_urn, z
from polyaurn.backends.cpu.steps import CPUSteps


class Steps(CPUSteps):
    """Steps of the sampler."""

    phi_step = staticmethod(phi_urn.draw_phi)
    z_step = staticmethod(z.draw_z)
