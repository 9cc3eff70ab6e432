"""Drawing arguments: the shapes that many ops share.

A draw takes operands from the sketch (values that exist, or fresh inputs of the right shape) and chooses attributes. It returns
``None`` where nothing fits; it never draws something that the op would refuse.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.ops.sampler import Arguments, Draft, Draw, Sampler
    from reference_impl.tape.primitive import Domain


def has_elements(x: Draft) -> bool:
    """Whether no axis has the length 0."""
    return 0 not in x.shape


def has_rows(x: Draft) -> bool:
    """Whether it has elements, and an axis that they lie along."""
    return len(x.shape) >= 1 and has_elements(x)


def has_matrices(x: Draft) -> bool:
    """Whether it is a matrix or a batch of some, with elements."""
    return len(x.shape) >= 2 and has_elements(x)


def is_matrix(x: Draft) -> bool:
    """Whether it is one matrix, with elements."""
    return len(x.shape) == 2 and has_elements(x)


def unary(domain: Domain | None = None, *, axes: int = 0) -> Draw:
    """One operand with at least ``axes`` axes, no attributes."""

    def draw(s: Sampler) -> Arguments | None:
        return [s.take(lambda d: len(d.shape) >= axes, domain=domain)], {}

    return draw


def binary(domain: Domain | None = None, of: str = "y") -> Draw:
    """Two operands that broadcast; the same value twice now and then. ``domain`` holds for the operand named ``of``."""

    def draw(s: Sampler) -> Arguments | None:
        x = s.take(domain=domain if of == "x" else None)
        y = x if domain is None and s.source.chance(0.15) else s.partner(x, domain=domain if of == "y" else None)
        return [x, y], {}

    return draw


def with_number(domain: Domain | None = None) -> Draw:
    """One operand and the other one, a Python number."""

    def draw(s: Sampler) -> Arguments | None:
        return [s.take(domain=domain)], {"other": s.number()}

    return draw


def with_choices(**options: Sequence[float]) -> Draw:
    """One operand, and for each of these attributes one of its values."""

    def draw(s: Sampler) -> Arguments | None:
        return [s.take()], {name: s.source.choice(values) for name, values in options.items()}

    return draw


def axis_of(s: Sampler, x: Draft) -> int:
    """Choose an axis, counted from the front or from the back."""
    return from_either_end(s, x, s.source.integer(0, len(x.shape) - 1))


def from_either_end(s: Sampler, x: Draft, axis: int) -> int:
    """Count an axis from the front or from the back."""
    return axis - len(x.shape) if s.source.chance(0.3) else axis


def reduction(*, one_axis: bool, nonempty: bool = False, domain: Domain | None = None) -> Draw:
    """One operand, ``axis`` and ``keepdims``; ``nonempty``: what is reduced has an element."""

    def draw(s: Sampler) -> Arguments | None:
        x = s.take(lambda d: (len(d.shape) >= 1 or not one_axis) and not (nonempty and 0 in d.shape), domain=domain)
        if one_axis:
            axis: Any = axis_of(s, x)
        elif not x.shape or s.source.chance(0.4):
            axis = None
        else:
            axis = [from_either_end(s, x, a) for a in sorted(s.source.subset(range(len(x.shape)), at_least=1))]
        return [x], {"axis": axis, "keepdims": s.source.chance(0.3)}

    return draw


def count_reduced(x: Draft, axis: Sequence[int] | None) -> int:
    """Return how many elements become one when these axes (``None``: all) are reduced."""
    return math.prod(x.shape if axis is None else [x.shape[a] for a in axis])


def exact_mean(s: Sampler) -> Arguments | None:
    """Return a reduction whose count divides without rounding in the exact lane."""
    drawn = reduction(one_axis=False, nonempty=True)(s)
    if drawn is not None and s.exact:
        (x,), attrs = drawn
        count = count_reduced(x, attrs["axis"])
        if count & (count - 1):
            return None
    return drawn


def along_axis(domain: Domain | None = None, *, nonempty: bool = True) -> Draw:
    """One operand and an axis."""

    def draw(s: Sampler) -> Arguments | None:
        x = s.take(lambda d: len(d.shape) >= 1 and not (nonempty and 0 in d.shape), domain=domain)
        return [x], {"axis": axis_of(s, x)}

    return draw


def reshaped(s: Sampler) -> Arguments | None:
    """One operand and another shape with as many elements."""
    x = s.take()
    return [x], {"shape": _factor(s, math.prod(x.shape))}


def _factor(s: Sampler, count: int) -> list[int]:
    shape: list[int] = []
    while count > 1 and len(shape) < 3:
        divisors = [n for n in range(1, count + 1) if count % n == 0]
        n = s.source.choice(divisors)
        shape.append(n)
        count //= n
    return [*shape, count] if count != 1 or s.source.chance(0.3) else shape


def nested(shape: tuple[int, ...], draw: Callable[[], Any]) -> Any:
    """Draw nested lists of a shape, element by element; a bare element for no axes."""
    return [nested(shape[1:], draw) for _ in range(shape[0])] if shape else draw()


def mask_for(s: Sampler, shape: tuple[int, ...]) -> Any:
    """Draw a mask of a shape, as nested lists."""
    return nested(shape, lambda: s.source.chance(0.5))


def indices(s: Sampler, shape: tuple[int, ...], limit: int) -> Any:
    """Draw indices below ``limit`` in nested lists of a shape; they repeat."""
    return nested(shape, lambda: s.source.integer(0, limit - 1))


def matrices(kind: str) -> Draw:
    """Two operands for a matrix product; ``kind``: ``matmul`` (vectors, batches that broadcast), ``bmm``, ``outer``."""

    def draw(s: Sampler) -> Arguments | None:
        if kind == "outer":
            return [s.take(lambda d: len(d.shape) == 1), s.take(lambda d: len(d.shape) == 1)], {}
        if kind == "bmm":
            x = s.take(lambda d: len(d.shape) == 3, shape=(2, 3, 2))
            return [x, s.take_shaped((x.shape[0], x.shape[2], s.length()))], {}
        x = s.take(lambda d: len(d.shape) >= 1)
        k = x.shape[-1]
        forms = [(k,), (k, s.length())]
        if len(x.shape) == 3:
            forms.append((x.shape[0], k, s.length()))
        if len(x.shape) == 2:
            forms.append((2, k, s.length()))
            forms.append((x.shape[1], x.shape[0]))
        return [x, s.take_shaped(s.source.choice(forms))], {}

    return draw


def padded(s: Sampler) -> Arguments | None:
    """Draw one operand, and a margin on both sides of each axis."""
    x = s.take(lambda d: 1 <= len(d.shape) <= 3)
    before = [s.source.integer(0, 2) for _ in x.shape]
    after = [s.source.integer(0, 1) for _ in x.shape]
    return [x], {"before": before, "after": after, "value": s.number()}


def tiled(s: Sampler) -> Arguments | None:
    """Draw one operand, and how often it comes along each axis, new ones included."""
    x = s.take(lambda d: 1 <= len(d.shape) <= 3)
    lead = [s.source.integer(1, 2)] if s.source.chance(0.3) else []
    return [x], {"repeats": lead + [s.source.integer(1, 2) for _ in x.shape]}


def interleaved(s: Sampler) -> Arguments | None:
    """Draw one operand, and how often each entry along an axis comes."""
    x = s.take(lambda d: len(d.shape) >= 1)
    return [x], {"repeats": s.source.integer(1, 3), "axis": axis_of(s, x)}


def rolled(s: Sampler) -> Arguments | None:
    """Draw one operand, and how far it is shifted along an axis."""
    x = s.take(lambda d: len(d.shape) >= 1)
    return [x], {"shift": s.source.integer(-2, 2), "axis": axis_of(s, x)}


def triangle(s: Sampler) -> Arguments | None:
    """Draw one operand, and a diagonal of its last two axes."""
    return [s.take(lambda d: len(d.shape) >= 2)], {"diagonal": s.source.integer(-1, 1)}


def diagonal_of(s: Sampler, target: Draft) -> Arguments | None:
    """Draw a diagonal for a target; a vector has none."""
    return ([], {"diagonal": s.source.integer(-1, 1)}) if len(target.shape) >= 2 else None
