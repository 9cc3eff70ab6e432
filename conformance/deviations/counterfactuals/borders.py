"""Counterfactual borders: what padding puts around a tensor, and what its derivatives put there; see `counterfactuals.rules`."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from reference_impl.primitives.shape import crop, pad_constant
from reference_impl.tape.rules import replaced_rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from reference_impl.tape.rules import Rule


class _Border(tuple[int, ...]):  # noqa: SLOT001 - a tuple of any length has no slots
    """How many entries were put in front, and of which value: what must be known where the derivative is differentiated."""

    value: float


def borders_filled_again(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the derivative of the gradient of padding fill its border with the number that the padding did."""
    yield _filled_again()


@contextmanager
def _filled_again() -> Iterator[None]:
    def remembering(right: Rule) -> Rule:
        def rule(g: Any, out: Any, x: Any, *, before: Any, after: Any, value: float) -> Any:
            border = _Border(before)
            border.value = value
            return right(g, out, x, before=border, after=after, value=value)

        return rule

    def filling(right: Rule) -> Rule:
        def rule(g: Any, out: Any, x: Any, *, before: Any, after: Any) -> Any:
            if not isinstance(before, _Border):
                return right(g, out, x, before=before, after=after)
            return pad_constant(g, before=before, after=after, value=before.value)

        return rule

    with replaced_rule(pad_constant, 0, remembering), replaced_rule(crop, 0, filling):
        yield
