"""A dying process says where it died on a stack that has room for it, and so writes over nothing."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
from typing import TYPE_CHECKING

import pytest

from conformance.campaign.workers.last_words import frame_of, heard, words_in
from conformance.campaign.workers.nursery import DeathError, forked
from conformance.campaign.workers.signal_stack import ROOM, room

if TYPE_CHECKING:
    from pathlib import Path

NEEDED = 25 << 10
"""What Paddle 3.3.1 was seen to use to print a native stack."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the stack of other systems is what faulthandler makes it")


def room_when_heard(words: Path) -> int:
    with heard(words):
        return room()


def test_a_process_whose_last_words_are_heard_has_room_to_say_them(tmp_path: Path) -> None:
    assert forked(room_when_heard, [tmp_path / "words"]) == ROOM > NEEDED


def die_heard(words: Path) -> None:
    faulthandler.disable()  # pytest's would stand behind a framework that other tests imported
    with heard(words):
        os.kill(os.getpid(), signal.SIGSEGV)


def test_what_dies_on_that_stack_is_heard(tmp_path: Path) -> None:
    with pytest.raises(DeathError) as death:
        forked(die_heard, [tmp_path / "words"])
    frame = frame_of(words_in(tmp_path / "words"), death.value.exit_code)
    assert frame.startswith("SIGSEGV in conformance/test_signal_stack.py die_heard")
