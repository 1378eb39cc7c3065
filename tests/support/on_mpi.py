"""Runs a program of `group_programs` on the ranks of mpiexec; rank 0 prints what came as JSON."""

import json
import sys
from itertools import count

from polyaurn.backends.sharded import mpi
from polyaurn.base.errors import InputError
from support import group_programs

if __name__ == "__main__":
    mpi.GRACE = 0.5
    engine = mpi.MPI()
    if engine.serve():
        sys.exit(0)
    records, looks = [], count()
    found = {"records": records}
    try:
        found["result"] = engine.run(
            engine.check(None), getattr(group_programs, sys.argv[1]), json.loads(sys.argv[2]),
            on_record=records.append, stopping=lambda: next(looks) > 3,
        )  # fmt: skip
    except InputError as error:
        found["error"] = str(error)
    print(json.dumps(found))
    sys.exit(2 if "error" in found else 0)
