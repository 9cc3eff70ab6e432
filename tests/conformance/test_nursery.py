"""The nursery: what a child does to itself, its parent does not feel."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from conformance.backends.registry import registration, registrations
from conformance.campaign.workers import nursery
from conformance.campaign.workers.backend_cache import describe_backend
from conformance.campaign.workers.nursery import GLANCE, LOOK, DeathError, forked
from conformance.campaign.workers.pool import Workers
from conformance.campaign.workers.trial import run_case
from conformance.campaign.workers.warm_up import CASES, _can_be_forked, _found_forkable
from conformance.campaign.workers.watchdog import HELD_UP, WAITING, set_alarm
from conformance.laws.judging import Judging, Sampling
from tests.wrong_engines import correct

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn, Self


def killed_by(number: int) -> None:
    os.kill(os.getpid(), number)


def refuses() -> None:
    raise ValueError("no such thing")


def computes() -> str:
    """Compute for longer than it takes to be looked at three times."""
    until = time.monotonic() + 4 * LOOK
    while time.monotonic() < until:
        pass
    return "words"


def for_a_process() -> str:
    """Wait for a process of one's own for as long as it takes to be looked at several times."""
    forked(computes)
    return forked(computes)


def for_a_thread() -> str:
    """Wait for a thread of one's own that computes for as long."""
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(computes).result()


def forever() -> None:
    while True:
        signal.pause()


def test_a_child_returns_what_the_function_returns() -> None:
    assert forked(sorted, ["cab"]) == ["a", "b", "c"]


def test_an_answer_may_be_larger_than_a_pipe_holds() -> None:
    assert len(forked(bytes, [1 << 20])) == 1 << 20


def test_what_the_function_raises_is_raised_in_the_parent() -> None:
    with pytest.raises(ValueError, match="no such thing"):
        forked(refuses)


def test_an_answer_that_cannot_be_sent_is_an_error_of_the_call() -> None:
    with pytest.raises(TypeError, match="cannot be sent"):
        forked(lambda: lambda: None)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGABRT], ids=lambda n: n.name)
def test_a_child_that_a_signal_ends_says_which(number: int) -> None:
    with pytest.raises(DeathError) as death:
        forked(killed_by, [number])
    assert death.value.exit_code == -number


def test_a_child_that_leaves_without_an_answer_says_its_exit_code() -> None:
    with pytest.raises(DeathError) as death:
        forked(os._exit, [3])
    assert death.value.exit_code == 3


def test_a_child_that_outlives_its_time_is_ended() -> None:
    with pytest.raises(DeathError) as death:
        forked(forever, timeout=0.01)
    assert death.value.exit_code is None


class Starved:
    """What the system tells of every process: that it was ready to run for a minute and had no turn."""

    def __truediv__(self, _: str) -> Self:
        return self

    def read_text(self) -> str:
        return "0 60000000000 1"

    def iterdir(self) -> NoReturn:
        raise FileNotFoundError


@pytest.mark.parametrize("glances", [0.0, 0.5, 1.5], ids=lambda glances: f"{glances} glances")
def test_time_in_which_a_busy_machine_gave_a_child_no_turn_is_not_its_own(glances: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nursery, "PROCESSES", Starved())
    assert forked(computes, timeout=glances * GLANCE) == "words"


def test_a_child_that_does_not_finish_dying_is_ended() -> None:
    with pytest.raises(DeathError) as death:
        forked(forever, dying=lambda: True)
    assert death.value.exit_code is None


@pytest.mark.parametrize("dying", [computes, for_a_thread])
def test_a_dying_child_that_still_computes_says_its_last_words(dying: Callable[[], str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nursery, "GRACE", 60.0)  # the machine may have other things to do in a second
    assert forked(dying, dying=lambda: True) == "words"


def test_a_child_that_waits_for_itself_is_sent_its_alarm() -> None:
    with pytest.raises(DeathError) as death:
        forked(forever, stuck=LOOK)
    assert death.value.exit_code == -signal.SIGALRM


@pytest.mark.parametrize("waiting", [for_a_process, for_a_thread])
def test_a_child_that_waits_for_somebody_else_is_not_stuck(waiting: Callable[[], str]) -> None:
    assert forked(waiting, stuck=LOOK) == "words"


def timers(seconds: float) -> list[float]:
    """Return the seconds after which the alarm rings, computing and by the clock."""
    set_alarm(seconds)
    return [signal.getitimer(timer)[0] for timer in (signal.ITIMER_PROF, signal.ITIMER_REAL)]


@pytest.mark.parametrize(("timeout", "by_the_clock"), [(0.1, HELD_UP), (HELD_UP, WAITING * HELD_UP), (0.0, 0.0)])
def test_a_machine_that_gives_a_child_no_turn_for_seconds_makes_it_no_hang(timeout: float, by_the_clock: float) -> None:
    assert pytest.approx([timeout, by_the_clock], abs=0.1) == forked(timers, [timeout])


def test_a_child_of_which_nothing_more_is_expected_is_ended() -> None:
    with pytest.raises(DeathError) as death:
        forked(forever, ended=lambda: True)
    assert death.value.exit_code is None


def test_no_child_is_left_as_a_zombie() -> None:
    child = forked(os.getpid)
    with pytest.raises(ChildProcessError):
        os.waitpid(child, os.WNOHANG)


def test_every_call_of_a_pool_has_a_process_of_its_own() -> None:
    with Workers(("reference",), 1) as workers:
        assert len(set(workers.calls(os.getpid, [()] * 4))) == 4


def test_a_pool_survives_what_its_children_do_not() -> None:
    with Workers(("reference",), 1) as workers:
        assert [None, 2] == [workers.call(killed_by, signal.SIGKILL), workers.call(len, "ab")]


def test_the_cases_of_the_warm_up_harm_no_right_engine() -> None:
    records = [run_case(case, [correct()], Judging(Sampling.EVERY)) for case in CASES]
    assert [("agreed", False)] * len(CASES) == [(v.bucket, r.poisoned) for r in records for v in r.verdicts.values()]


@pytest.mark.parametrize(("engine", "forkable"), [("correct", True), ("starts_a_thread", False), ("aborts_as_paddle", False)])
def test_what_starts_threads_or_dies_of_the_warm_up_is_not_run_before_a_fork(engine: str, forkable: bool) -> None:
    assert _can_be_forked(f"tests.wrong_engines:{engine}") is forkable


@pytest.mark.parametrize("name", [name for name, facts in registrations().items() if facts.forks is not None and facts.installed])
def test_whether_a_backend_can_be_forked_is_what_its_registration_says(name: str) -> None:
    with Workers((), 1) as workers:
        assert workers.call(_found_forkable, name) is registration(name).forks


def test_an_engine_that_the_warm_up_would_kill_can_still_be_asked() -> None:
    name = "tests.wrong_engines:aborts_as_paddle"
    with Workers((name,), 1) as workers:
        assert workers.call(describe_backend, name).version == "3.3.0"  # type: ignore[union-attr]


def remembered(word: str, memory: list[str] = []) -> list[str]:  # noqa: B006 - it is what a process remembers
    """Return what this process was told so far, and remember one word more; it does not survive an ``x``."""
    if word == "x":
        killed_by(signal.SIGKILL)
    memory.append(word)
    return list(memory)


def test_calls_that_share_a_process_are_answered_in_order() -> None:
    with Workers(("reference",), 1) as workers:
        assert [["a"], ["a", "b"], ["c"]] == list(workers.calls(remembered, [["a"], ["b"], ["c"]], at_once=2))


def test_a_call_that_dies_in_company_costs_no_other_one() -> None:
    with Workers(("reference",), 1) as workers:
        assert [["a"], None, ["b"]] == list(workers.calls(remembered, [["a"], ["x"], ["b"]], at_once=3))


def test_an_answer_in_company_that_is_not_good_is_asked_for_once_more_alone() -> None:
    with Workers(("reference",), 1) as workers:
        answers = workers.calls(remembered, [["a"], ["b"]], at_once=2, good=lambda words: words == ["a"])
        assert [["a"], ["b"]] == list(answers)
