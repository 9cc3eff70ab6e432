"""What holds for all tests."""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from conformance.campaign.workers import pool
from conformance.campaign.workers.pool import Workers
from conformance.campaign.workers.warm_up import VARIABLE
from tests import one_server
from tests.conformance.runs import end_started

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

WARM = (
    *("reference", "torch", "paddle", "paddle-static"),
    *("tests.wrong_engines:correct", "tests.wrong_engines:five_wrong_rules", "tests.wrong_engines:dies_on_sin"),
    "conformance.mutants.engines:sin-x-sign",
)
"""What one server, which forks the workers of all pools of all tests here, has warmed up; many of them run these."""
os.environ[VARIABLE] = ",".join(WARM)
pool.PRELOADED.append("tests.warm_server")

os.environ["COLUMNS"] = "80"
for name in ("FORCE_COLOR", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "CONFORMANCE_DEVIATIONS"):
    os.environ.pop(name, None)  # what the command prints is the tests' affair, and not that of whose terminal they run in

for name, usual in {"SIGINT": signal.default_int_handler, "SIGHUP": signal.SIG_DFL}.items():
    # A shell starts a job in the background so, and `nohup` any: every run that the tests start and interrupt would inherit it.
    if signal.getsignal(getattr(signal, name, signal.SIGINT)) is signal.SIG_IGN:
        signal.signal(getattr(signal, name), usual)

settings.register_profile("untimed", deadline=None)  # how long an example takes is the machine's affair
settings.load_profile("untimed")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a process that pytest-xdist is about to start which server forks its workers, where there are such servers."""
    if sys.platform == "linux":
        node.workerinput["server"] = one_server.started()


def pytest_configure(config: pytest.Config) -> None:
    """Take the server that was told, if this process was started by another one."""
    if said := getattr(config, "workerinput", {}).get("server"):
        one_server.used(said)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Deal out the files of the tests, where pytest-xdist is asked to deal out files."""
    if config.getoption("dist") != "loadfile":
        return None
    from tests.units_of_work import Units

    return Units(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Keep the collector of garbage out of 20,000 tests that stay, through which it would walk again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _server_stays() -> Iterator[None]:
    """Keep the server that forks the workers of these tests, which has imported the frameworks, when a pool is stopped."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "end_server", lambda: None)
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Iterator[None]:
    """End the runs that a test has left behind, which would make all others slow. As a fixture of each test this would cost more."""
    try:
        return (yield)
    finally:
        end_started()


@pytest.fixture(scope="session")
def workers() -> Iterator[Workers]:
    """Open a worker that has imported the frameworks; every call has a process of its own, so all tests may share it."""
    with Workers(("torch", "paddle"), 1) as opened:
        yield opened
