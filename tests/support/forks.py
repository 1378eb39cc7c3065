"""A process that has all kernels in memory, and forks a child for every command line it is given.

Children start in milliseconds, so that many of them can be killed in a short test.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

SOURCE = Path(__file__).resolve()


class ForkServer:
    """Start command lines of polyaurn in children of one warm process."""

    def __init__(self, folder):
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, str(SOURCE)], cwd=folder, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        self.count = 0

    def start(self, *arguments):
        """Start a child; return it."""
        self.count += 1
        said = self.folder / f"said-{self.count}"
        command = {"arguments": [str(a) for a in arguments], "said": str(said)}
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        return Child(int(self.process.stdout.readline()), self, said)

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()


class Child:
    """A child that runs; or that has ended, with an exit code, below zero if a signal ended it."""

    def __init__(self, pid, server, said):
        self.pid, self._server, self._said = pid, server, said

    def send(self, number):
        os.kill(self.pid, number)  # its parent has not waited for it, so the number is still its

    def wait(self):
        self._server.process.stdin.write(json.dumps({"wait": self.pid}) + "\n")
        self._server.process.stdin.flush()
        return int(self._server.process.stdout.readline())

    @property
    def text(self):
        return self._said.read_text()

    def wait_until(self, done, seconds=60):
        deadline = time.monotonic() + seconds
        while not done():
            assert time.monotonic() < deadline, self.text
            time.sleep(0.002)


def serve():
    from polyaurn.backends.registry import load_steps
    from polyaurn.cli import app as cli
    from polyaurn.training.sweeps import warm_up

    for sampler in ("polya-urn", "partitioned"):
        warm_up(load_steps(sampler), learns=True)
    for line in sys.stdin:
        command = json.loads(line)
        if "wait" in command:
            print(os.waitstatus_to_exitcode(os.waitpid(command["wait"], 0)[1]), flush=True)
            continue
        pid = os.fork()
        if pid:
            print(pid, flush=True)
            continue
        out = os.open(command["said"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(out, 1)
        os.dup2(out, 2)
        sys.argv = ["polyaurn", *command["arguments"]]
        try:
            cli.main()
        except SystemExit as ended:
            sys.stdout.flush()
            os._exit(ended.code or 0)
        except BaseException as error:
            print(f"Traceback: {error!r}", file=sys.stderr, flush=True)
            os._exit(70)


if __name__ == "__main__":
    serve()
