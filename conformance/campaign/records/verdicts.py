"""What a record says of one case on one backend."""

from __future__ import annotations

import msgspec

from conformance.case.place import StepNumber, read_recorded
from conformance.judge.verdict import Bucket


class MismatchRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """A difference (`conformance.compare.mismatch.Mismatch`).

    Attributes:
        step: its number as `conformance.case.place` records it.
        at: what is called there.
        name: which value differs.
        ratio: error over bound of a wrong value; ``None`` where no error is allowed.
    """

    step: int
    at: str
    kind: str
    where: str
    expected: str
    actual: str
    detail: str
    name: str = ""
    ratio: float | None = None

    @property
    def place(self) -> StepNumber:
        """The number of the step, or `END`."""
        return read_recorded(self.step)


class VerdictRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """A verdict (`conformance.judge.verdict.Verdict`), with counts of what was compared up to the first difference.

    Attributes:
        bounded: whether a bound was derived for some number.
        ratios: the largest error over bound, by what a step is called; ``None`` where an error was found and none is allowed.
        mismatch: the difference.
        deviation: the known deviation that it is.
        deviations: all that the case showed.
        followed: the open choices that were decided otherwise than expected, in words, each with its option.
        observed: the open choices that the case shows to be decided as expected, each with that option and with those that the case
            does not tell apart from it. It is empty unless that was asked.
        asked: all open choices that the case asks, if that was asked.
        lacking: the words of what the backend does not offer, for which nothing was compared.
    """

    bucket: Bucket
    counts: dict[str, int]
    bounded: bool = False
    ratios: dict[str, float | None] = {}
    mismatch: MismatchRecord | None = None
    deviation: str | None = None
    deviations: tuple[str, ...] = ()
    followed: dict[str, str] = {}
    observed: dict[str, tuple[str, ...]] = {}
    asked: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()
