"""The list of engines that start workers, and how users choose one."""

from importlib import import_module
from typing import Any

from polyaurn.backends.sharded.group import Engine
from polyaurn.base.checks import check_one_of, check_whole, wrong
from polyaurn.base.errors import InputError

ENGINES = {"local": "Local", "ray": "Ray", "mpi": "MPI"}  # classes, in files of their names
LOCAL = "local"  # whose workers share this machine's files and cores
MPI = "mpi"  # whose workers are the ranks that mpiexec has started


def check_cluster(cluster: Any, n_workers: Any, cluster_address: Any) -> str | None:
    """Return the name of an engine, None for no cluster; reject what does not go together."""
    if cluster is not None:
        remedy = "leave it out to work in this process"
        check_one_of(cluster, "cluster", tuple(ENGINES), remedy=remedy)
        return str(cluster)
    for name, value in (("n_workers", n_workers), ("cluster_address", cluster_address)):
        if value is not None:
            raise InputError(
                f"The '{name}' parameter must be left out without a cluster. Got {value!r}; give "
                "cluster='local', 'ray' or 'mpi' too."
            )
    return None


def check_workers(n_workers: Any) -> int | None:
    """Return a number of workers, or None."""
    return n_workers if n_workers is None else check_whole(n_workers, "n_workers", of="workers")


def check_address(address: Any) -> str | None:
    """Return the address of a cluster, or None."""
    if address is None or isinstance(address, str):
        return address
    raise wrong("cluster_address", "the address of a cluster, such as 'auto'", address)


def load_engine(name: str, address: str | None = None) -> Engine:
    """Return an engine that can be used here, or reject it."""
    module = import_module(f"polyaurn.backends.sharded.{name}")
    engine: Engine = getattr(module, ENGINES[name])(address)
    lacking = engine.missing()
    if lacking is not None:
        raise InputError(f"The 'cluster' parameter is {name!r}, but {lacking}.")
    return engine
