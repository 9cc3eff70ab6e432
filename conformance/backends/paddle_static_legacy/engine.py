"""Paddle's static programs of old (``FLAGS_enable_pir_api=0``), which still honour callbacks and names, as a `Backend`.

The flag is read when Paddle is imported, and this process may have imported it without. So the engine lives in a process of its own
(`server`), started here: cases go to it and outcomes come back through its standard streams, each with its length in front. A child
that is forked from this process talks to the same server. If that dies, the child goes down too, the campaign counts the crash as any
other, and the process that forks starts another server.
"""

from __future__ import annotations

import os
import pickle
import struct
import subprocess
import sys
import weakref
from typing import TYPE_CHECKING, Any, BinaryIO

from conformance.backends import BackendInfo
from conformance.case.files import encode
from reference_impl.dialects.dialect import PADDLE_STATIC_LEGACY

if TYPE_CHECKING:
    from conformance.backends.program_interpreter import Regression
    from conformance.case.case import Case
    from conformance.case.outcome import Outcome

FLAG = "FLAGS_enable_pir_api"
LENGTH = struct.Struct("!Q")


def open_backend() -> LegacyPrograms:
    """Start Paddle with its old programs, on the CPU."""
    return LegacyPrograms()


class LegacyPrograms:
    """A `Backend` in another process."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "conformance.backends.paddle_static_legacy.server"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        process = subprocess.Popen(command, env={**os.environ, FLAG: "0"}, **pipes)  # type: ignore[call-overload]  # noqa: S603
        self._requests, self._answers = process.stdin, process.stdout
        self.close = weakref.finalize(self, _end, process)
        version = receive(self._answers)
        if version is None:
            msg = "Paddle's process ended when it was started"
            raise ImportError(msg)
        self.info = BackendInfo("paddle-static-legacy", version, PADDLE_STATIC_LEGACY, PADDLE_STATIC_LEGACY.not_offered)

    def run(self, case: Case) -> Outcome:
        """Have the case run over there."""
        return self._ask("run", encode(case))  # type: ignore[no-any-return]

    def train(self, task: Regression) -> list[float]:
        """Have the regression trained over there."""
        return self._ask("train", task)  # type: ignore[no-any-return]

    def refusal_of_loss(self, loss: object) -> str:
        """Ask over there what becomes of a loss that is no variable."""
        return self._ask("refusal_of_loss", loss)  # type: ignore[no-any-return]

    def _ask(self, question: str, argument: Any) -> Any:
        send(self._requests, (question, argument))
        answer = receive(self._answers)
        if answer is None:
            os.abort()
        return answer


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


def send(stream: BinaryIO, message: Any) -> None:
    """Write one message."""
    data = pickle.dumps(message)
    stream.write(LENGTH.pack(len(data)) + data)
    stream.flush()


def receive(stream: BinaryIO) -> Any:
    """Read one message; ``None`` where the other side has gone."""
    head = stream.read(LENGTH.size)
    return pickle.loads(stream.read(LENGTH.unpack(head)[0])) if len(head) == LENGTH.size else None  # noqa: S301 - our own process
