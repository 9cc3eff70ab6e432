"""Where in a script something is: at a step, by its number, or at its end.

What is observed after the last step, and what is true of a case as a whole, belong to no step. A number such as -1 would say so
and index the last step where somebody forgets to ask; `END` can neither index nor be compared with a number.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, Literal, TypeAlias


class _End(Enum):
    END = "end"

    def __repr__(self) -> str:
        return "END"


END: Final = _End.END
"""After the last step; of a question about a script: the case as a whole."""

StepNumber: TypeAlias = int | Literal[_End.END]
"""The number of a step, counted from 0, or `END`."""

_RECORDED_END = -1


def recorded(number: StepNumber) -> int:
    """Return a step number as records have it: -1 for the end."""
    return _RECORDED_END if number is END else number


def read_recorded(number: int) -> StepNumber:
    """Return a step number of a record."""
    return END if number == _RECORDED_END else number
