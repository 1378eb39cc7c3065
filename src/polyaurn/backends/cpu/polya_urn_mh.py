"""The sampler "polya-urn-mh": the urn's Phi, and topics by Metropolis-Hastings given it."""

from polyaurn.backends.cpu import phi_urn, z_mh
from polyaurn.backends.cpu.steps import CPUSteps


class Steps(CPUSteps):
    """Steps of the sampler."""

    by_word = False
    proposes = True
    phi_step = staticmethod(phi_urn.draw_phi)
    z_step = staticmethod(z_mh.draw_z)
