"""What numbers the operands of an op may be, real, complex or both, and why not.

Whether an op takes complex operands is not one fact but four that a generator needs together: if it does, whether a real operand may
stand beside a complex one, whether its arithmetic stays exact there, and, where it does not, who refuses. A row of the catalogue says
them in one word, for example ``numbers=MIXED`` or ``numbers=real_only(UNORDERED)``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Numbers:
    """What the operands of an op may be.

    Attributes:
        taken: what random scripts give it.
        mixed: whether two operands may be of two dtypes, real and complex or float32 and float64; the narrower is promoted.
        exact: whether an op that is exact on small real numbers is so on small complex ones.
        reason: why it takes real numbers only.
    """

    taken: Literal["real", "complex", "both"]
    mixed: bool = False
    exact: bool = True
    reason: str = ""

    @property
    def ordered(self) -> bool:
        """Whether the op compares its numbers with each other, which complex ones do not allow."""
        return self.reason == UNORDERED


BOTH = Numbers("both")
"""Both frameworks offer the op and differentiate it for complex operands."""

MIXED = Numbers("both", mixed=True)
"""As `BOTH`, and its two operands may have two dtypes."""

ROUNDED_IF_COMPLEX = Numbers("both", exact=False)
"""As `BOTH`, but exact on small real numbers alone."""

COMPLEX = Numbers("complex")
"""The op is about complex operands alone."""


def real_only(reason: str) -> Numbers:
    """Say why random scripts give an op real operands alone; observed on torch 2.13.0 and paddle 3.3.1."""
    return Numbers("real", reason=reason)


UNORDERED = "complex numbers have no order; both frameworks refuse"
UNIMPLEMENTED = "PyTorch: not implemented for complex numbers"
UNREGISTERED = "Paddle: its kernel is not registered for complex numbers"
UNEXAMINED = "what the frameworks make of complex ones has not been looked at yet"
PARTS = "it makes complex numbers of their real parts"

NOT_OFFERED: Mapping[str, str] = {
    "in-place updates of complex tensors": "what each framework keeps of complex operands is not tabulated yet",
    "complex programs": "complex variables of static programs are not drawn yet",
    "complex Python numbers (x * 1j)": "attributes of ops are real numbers in the case language",
    "a real beside a complex operand of cat, of stack, of matmul": "Paddle refuses cat and stack, PyTorch matmul",
    "a real operand beside a complex one of another precision": "whether one without axes counts differs per framework",
    "float32 beside float64 in ops that do not mix kinds": "Paddle's maximum, minimum and atan2 do not let axes decide",
    "float32 beside float64 in programs": "Paddle's where lets the first operand decide in some shapes; casts between them are drawn",
}
"""What random scripts do not do with complex tensors and with two dtypes, beside the ops that take one kind, with the reason."""
