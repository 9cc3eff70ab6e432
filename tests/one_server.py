"""One server that forks workers, for all processes of a run of the tests.

Each process of pytest-xdist would start a server of its own, and each of these would import two frameworks and warm them up, for ten
seconds of a processor. So the process that starts the others has the only one, and tells them where it listens. It ends with that
process, since nobody else has the pipe whose end it waits for.
"""

from __future__ import annotations

import os
from multiprocessing import forkserver, get_context, resource_tracker
from typing import TYPE_CHECKING, Any

from conformance.campaign.workers.pool import PRELOADED

if TYPE_CHECKING:
    from collections.abc import Mapping

SAID = ("_forkserver_address", "_forkserver_authkey")
"""What one has to know of a server; the key is one of newer Pythons."""


def started() -> dict[str, Any]:
    """Start the server of this process, and return what others have to know of it."""
    get_context("forkserver").set_forkserver_preload(PRELOADED)
    forkserver.ensure_running()
    server: Any = forkserver._forkserver  # type: ignore[attr-defined]
    return {name: getattr(server, name) for name in SAID if hasattr(server, name)}


def used(said: Mapping[str, Any]) -> None:
    """Let that server fork the workers of this process, which starts none."""
    pipe = os.open(os.devnull, os.O_RDONLY)  # every worker is given an end of the pipe that keeps its server alive, and none needs it
    server: Any = forkserver._forkserver  # type: ignore[attr-defined]
    vars(server).update(said, _forkserver_alive_fd=pipe, ensure_running=resource_tracker.ensure_running)
