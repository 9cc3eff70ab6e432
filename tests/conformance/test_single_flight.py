"""Once for all: what one worker found out is read by the others, who take first what nobody is at."""

from __future__ import annotations

import fcntl
from typing import TYPE_CHECKING

import pytest

from conformance.campaign.workers.single_flight import once_for_all

if TYPE_CHECKING:
    from pathlib import Path

NAMES = "one", "module:other"


def test_what_was_found_is_not_looked_for_again(tmp_path: Path) -> None:
    first = once_for_all(NAMES, tmp_path, len)
    assert first == once_for_all(NAMES, tmp_path, lambda _: pytest.fail("it was found already"))


def test_what_nobody_is_at_comes_first(tmp_path: Path) -> None:
    looked_for = []
    with (tmp_path / "one.lock").open("wb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)

        def find(name: str) -> int:
            looked_for.append(name)
            fcntl.flock(other, fcntl.LOCK_UN)
            return len(name)

        assert {name: len(name) for name in NAMES} == once_for_all(NAMES, tmp_path, find)
    assert ["module:other", "one"] == looked_for


def test_what_another_one_found_meanwhile_is_taken(tmp_path: Path) -> None:
    with (tmp_path / "one.lock").open("wb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)

        def find(name: str) -> str:
            fcntl.flock(other, fcntl.LOCK_UN)
            once_for_all(["one"], tmp_path, lambda _: "by another one")
            return name

        assert once_for_all(NAMES, tmp_path, find)["one"] == "by another one"


def test_what_nobody_came_to_an_end_with_is_looked_for_by_the_next(tmp_path: Path) -> None:
    def die(_: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        once_for_all(["one"], tmp_path, die)
    assert {"one": 3} == once_for_all(["one"], tmp_path, len)


def test_where_nothing_can_be_written_each_finds_out_by_itself(tmp_path: Path) -> None:
    (tmp_path / "one.part").mkdir()
    assert [{"one": 3}, {"one": 4}] == [once_for_all(["one"], tmp_path, find) for find in (len, lambda name: len(name) + 1)]
