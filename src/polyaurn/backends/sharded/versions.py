"""Whether all workers run the same version of polyaurn, as the same bytes need."""

import hashlib
import json
import socket
from functools import cache
from pathlib import Path

import numpy as np

from polyaurn.backends.sharded.group import Group
from polyaurn.base.errors import InputError
from polyaurn.base.version import __version__

_PACKAGE = Path(__file__).parents[2]
SHOWN = 8  # digits of a digest, where versions of different sources have one name


@cache
def digest_of_sources(package: Path = _PACKAGE) -> str:
    """Return a digest of the package's sources; of nothing where there are none."""
    digest = hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        source = file.read_bytes()
        digest.update(f"{file.relative_to(package).as_posix()} {len(source)}\n".encode() + source)
    return digest.hexdigest()


def check_versions(group: Group, version: str = __version__, sources: str | None = None) -> None:
    """Raise the same `InputError` on all workers unless they run the same version and sources."""
    sources = digest_of_sources() if sources is None else sources
    own = json.dumps([version, sources, socket.gethostname()]).encode()
    found = [json.loads(said.tobytes()) for said in group.gather(np.frombuffer(own, np.uint8))]
    nodes: dict[tuple[str, str], set[str]] = {}
    for their, digest, node in found:
        nodes.setdefault((their, digest), set()).add(node)
    if len(nodes) > 1:
        alike = len({their for their, _ in nodes}) < len(nodes)
        got = " and ".join(
            f"{their}{f' (sources {digest[:SHOWN]})' * alike} on {', '.join(sorted(names))}"
            for (their, digest), names in sorted(nodes.items())
        )
        raise InputError(
            f"All workers must run the same version of polyaurn. Got {got} instead; install one "
            "version on all nodes."
        )
