"""Whether all workers run the same version of polyaurn, as the same bytes need."""

import json
import socket

import numpy as np

from polyaurn.backends.sharded.group import Group
from polyaurn.base.errors import InputError
from polyaurn.base.version import __version__


def check_versions(group: Group, version: str = __version__) -> None:
    """Raise the same `InputError` on all workers unless they run the same version."""
    own = json.dumps([version, socket.gethostname()]).encode()
    found = [json.loads(said.tobytes()) for said in group.gather(np.frombuffer(own, np.uint8))]
    nodes: dict[str, list[str]] = {}
    for their, node in found:
        nodes.setdefault(their, []).append(node)
    if len(nodes) > 1:
        got = " and ".join(
            f"{their} on {', '.join(sorted(set(names)))}" for their, names in sorted(nodes.items())
        )
        raise InputError(
            f"All workers must run the same version of polyaurn. Got {got} instead; install one "
            "version on all nodes."
        )
