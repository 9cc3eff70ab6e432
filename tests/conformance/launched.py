"""Processes of tests that need not start from nothing.

A test that kills a run, fills its disk or closes its terminal needs the whole tree of processes that a person starts, with a session,
streams and an environment of its own. What it does not need is to import two frameworks once more, for seconds. So such a process is
forked from the server that forks the workers of these tests, and so is its own server of workers. From there on nothing is different.
"""

from __future__ import annotations

import os
import runpy
import signal
import subprocess
import sys
from contextlib import suppress
from multiprocessing import forkserver, get_context, util
from multiprocessing.reduction import DupFd
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn
from unittest.mock import patch

from conformance.campaign.workers.pool import PRELOADED
from conformance.campaign.workers.warm_up import VARIABLE
from tests.conformance.engines import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


class Beginning(NamedTuple):
    """What a process begins with: a module and its arguments as on the command line, and what `subprocess.Popen` would take."""

    command: Sequence[str]
    environment: Mapping[str, str]
    preexec: Callable[[], object] | None


class Launched:
    """A process that leads a session of its own, and is used as `subprocess.Popen` is.

    ``command``: a module and its arguments. What is said is kept, where no stream is given for it.
    """

    def __init__(
        self,
        *command: object,
        stdin: int | None = None,
        stdout: int | None = None,
        stderr: int | None = None,
        env: Mapping[str, str] | None = None,
        preexec_fn: Callable[[], object] | None = None,
    ) -> None:
        self._said = [os.memfd_create("said") for _ in range(2)]
        with Path(os.devnull).open("r+") as nothing:
            streams = (stdin or nothing.fileno(), stdout or self._said[0], stderr or self._said[1])
            beginning = Beginning([*map(str, command)], dict(env or os.environ), preexec_fn)
            context = get_context("forkserver")
            context.set_forkserver_preload(PRELOADED)
            self._process: Any = context.Process(target=_begin, args=(beginning, [*map(Stream, streams)]))
            self._process.start()
        self.pid: int = self._process.pid

    @property
    def returncode(self) -> int | None:
        """The exit code, negative for a signal; ``None`` while it runs."""
        return self._process.exitcode  # type: ignore[no-any-return]

    def wait(self, timeout: float | None = None) -> int | None:
        """Wait for its end; return the exit code.

        Raises:
            subprocess.TimeoutExpired: if it does not end in time.
        """
        self._process.join(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired(self._process.name, timeout or 0.0)
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Wait for its end; return what it said on the standard output and on the standard error."""
        self.wait(timeout)
        out, err = (os.pread(said, os.fstat(said).st_size, 0).decode() for said in self._said)
        return out, err

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it lives."""
        if self.returncode is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)


class Stream:
    """An open file that goes along to a process."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __reduce__(self) -> Any:
        return _arrived, (DupFd(self.number),)


def _arrived(stream: Any) -> Stream:
    return Stream(stream.detach())


def _begin(beginning: Beginning, streams: Sequence[Stream]) -> None:
    """Be the process: take what it was given, and run the module."""
    os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream.number, number)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - it stays
    os.environ.clear()
    os.environ.update({name: value for name, value in beginning.environment.items() if name != VARIABLE})
    sys.path[:0] = beginning.environment.get("PYTHONPATH", "").split(os.pathsep)
    os.chdir(ROOT)
    if beginning.preexec is not None:
        beginning.preexec()
    _own_server()
    module, *_ = sys.argv = list(beginning.command)
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _own_server() -> None:
    """Fork a server of workers where one would be started, before there is a second thread."""
    inherited = forkserver._forkserver  # type: ignore[attr-defined]
    inherited._forkserver_address = inherited._forkserver_alive_fd = inherited._inherited_fds = None
    with patch.object(util, "spawnv_passfds", _served):
        forkserver.ensure_running()


def _served(_: bytes, arguments: Sequence[Any], streams: Sequence[int]) -> int:
    """Fork a process that does what a new one would be told to do, with the open files that it would have."""
    child = os.fork()
    if child == 0:
        _be_the_server(str(arguments[-1]), {0, 1, 2, *streams})
    return child


def _be_the_server(told: str, streams: set[int]) -> NoReturn:
    for number in map(int, os.listdir("/proc/self/fd")):  # noqa: PTH208 - names, no paths
        if number not in streams:
            with suppress(OSError):
                os.close(number)
    try:
        exec(told, {})  # noqa: S102 - as `python -c` does
    finally:
        os._exit(1)
