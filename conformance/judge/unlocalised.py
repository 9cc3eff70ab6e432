"""Why no step is named as the one at which a difference begins."""

from __future__ import annotations


class UnlocalisedError(Exception):
    """No step of a pass is the one: the words say where the difference begins otherwise, or why that cannot be told.

    ``clears``: whether it turned out that the difference does not begin in the pass at all.
    """

    clears = False


class NotAskedError(UnlocalisedError):
    """The cotangents of the pass cannot be asked for."""

    def __init__(self) -> None:
        super().__init__("not named: the engine does not offer the call for each value in between")


class NothingDiffersError(UnlocalisedError):
    """With hooks on the values of the pass, nothing differs."""

    clears = True

    def __init__(self) -> None:
        super().__init__("not named: with hooks on the values in between, nothing differs")


class NobodyBeginsError(UnlocalisedError):
    """Cotangents differ, and yet no step is given right ones and passes on a wrong one."""

    clears = True

    def __init__(self) -> None:
        super().__init__("not named: no step is given right cotangents and passes on a wrong one")
