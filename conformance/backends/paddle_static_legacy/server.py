"""The process in which Paddle's programs of old run: it answers the questions of `engine` until there are no more."""

from __future__ import annotations

import os
import queue
import sys
import threading
from typing import Any

from conformance.backends import BackendInfo
from conformance.backends.paddle_static_legacy.calls import SPELLING
from conformance.backends.paddle_static_legacy.engine import receive, send
from conformance.backends.program_interpreter import Programs
from conformance.case.files import decode
from reference_impl.dialects.dialect import PADDLE_STATIC_LEGACY


def open_programs() -> Programs:
    """Open Paddle on the CPU, with the programs of old; for a process that was started with ``FLAGS_enable_pir_api=0``."""
    from conformance.backends.paddle_static.engine import PaddlePrograms, version_on_cpu

    info = BackendInfo("paddle-static-legacy", version_on_cpu(), PADDLE_STATIC_LEGACY, PADDLE_STATIC_LEGACY.not_offered)
    return Programs(info, PaddlePrograms(SPELLING, known_by="name"))


def serve() -> None:
    """Answer cases until there are no more."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what Paddle prints must not get among the answers
    backend = open_programs()
    send(answers, backend.info.version)
    requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests,), daemon=True).start()
    while True:
        question, argument = requests.get()
        send(answers, getattr(backend, question)(decode(argument) if question == "run" else argument))


def _listen(requests: queue.SimpleQueue[Any]) -> None:
    """Take requests, and end the process when nobody is there any more, even if Paddle hangs."""
    while (asked := receive(sys.stdin.buffer)) is not None:
        requests.put(asked)
    os._exit(0)


if __name__ == "__main__":
    serve()
