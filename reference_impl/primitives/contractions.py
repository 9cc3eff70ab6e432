"""Contractions: products that say by letters or by axes what is summed over, products of several matrices, the cross product.

`einsum` works as PyTorch's does: axes that stand in one operand alone and not in the result are summed first, and what is left is one
product after the other, from the left. Source: the pages ``torch.einsum`` and ``paddle.einsum``.
"""

from __future__ import annotations

import itertools
import math
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

import numpy as np

from reference_impl.primitives.arithmetic import mul
from reference_impl.primitives.complex import conjugate
from reference_impl.primitives.fused import as_one, fused
from reference_impl.primitives.linalg import bmm, matmul
from reference_impl.primitives.products import diagonal
from reference_impl.primitives.reduction import sum as add_up
from reference_impl.primitives.shape import permute, reshape
from reference_impl.tape.primitive import alias, composite, primitive, shape_of

if TYPE_CHECKING:
    from collections.abc import Sequence

mm = alias("mm", matmul)


def _letters(equation: str, operands: tuple[Any, ...]) -> tuple[list[str], str]:
    """Return the letters of each operand's axes, and those of the result; the axes of an ellipsis have capitals, from the right."""
    left, arrow, right = equation.partition("->")
    parts = left.split(",")
    hidden = ["", *(ascii_uppercase[-n:] for n in range(1, 5))]
    counts = [len(shape_of(x)) - len(part.replace("...", "")) for x, part in zip(operands, parts, strict=True)]
    named = [part.replace("...", hidden[count]) for part, count in zip(parts, counts, strict=True)]
    if not arrow:
        once = "".join(sorted(c for c in left if c.isalpha() and left.count(c) == 1))
        return named, hidden[max(counts)] + once
    return named, right.replace("...", hidden[max(counts)])


def _without_repeats(x: Any, letters: str) -> tuple[Any, str]:
    """Take the diagonal of axes that have one letter."""
    for letter in dict.fromkeys(letters):
        while letters.count(letter) > 1:
            first, last = letters.index(letter), letters.rindex(letter)
            rest = [i for i in range(len(letters)) if i not in (first, last)]
            x = diagonal(permute(x, axes=[*rest, first, last]), offset=0)
            letters = "".join(letters[i] for i in rest) + letter
    return x, letters


def _summed(x: Any, letters: str, kept: str) -> tuple[Any, str]:
    """Sum over the axes whose letters nobody needs."""
    axes = [i for i, c in enumerate(letters) if c not in kept]
    return (add_up(x, axis=axes, keepdims=False) if axes else x), "".join(c for c in letters if c in kept)


def _ordered(x: Any, letters: str, order: str) -> Any:
    """Put axes into an order of their letters; a letter that is not there has an axis of length 1."""
    present = [letters.index(c) for c in order if c in letters]
    x = x if present == list(range(len(letters))) else permute(x, axes=present)
    lengths = iter(shape_of(x))
    shape = tuple(next(lengths) if c in letters else 1 for c in order)
    return x if shape == shape_of(x) else reshape(x, shape=shape)


def _product(x: Any, left: str, y: Any, right: str, kept: str) -> tuple[Any, str]:
    """Multiply two operands and sum over the letters that both have and nobody needs."""
    x, left = _summed(x, left, kept + right)
    y, right = _summed(y, right, kept + left)
    both = [c for c in left if c in right]
    batch, inner = "".join(c for c in both if c in kept), "".join(c for c in both if c not in kept)
    mine, other = "".join(c for c in left if c not in right), "".join(c for c in right if c not in left)
    found = batch + mine + other
    if not inner:
        return mul(_ordered(x, left, found), _ordered(y, right, found)), found
    x, y = _ordered(x, left, batch + mine + inner), _ordered(y, right, batch + inner + other)
    lead, (xs, ys) = len(batch), (shape_of(x), shape_of(y))
    whole = tuple(map(max, xs[:lead], ys[:lead]))  # axes of an ellipsis broadcast
    rows, columns = xs[lead : lead + len(mine)], ys[lead + len(inner) :]
    terms = math.prod(xs[lead + len(mine) :])
    alike = xs[:lead] == ys[:lead]
    product = bmm if alike else matmul
    whole_x, whole_y = (((math.prod(whole),),) * 2) if alike else (xs[:lead], ys[:lead])
    made = product(
        reshape(x, shape=(*whole_x, math.prod(rows), terms)),
        reshape(y, shape=(*whole_y, terms, math.prod(columns))),
    )
    return reshape(made, shape=(*whole, *rows, *columns)), found


def _contracted(operands: tuple[Any, ...], equation: str) -> Any:
    named, result = _letters(equation, operands)
    laid_out = [permute(x, axes=list(range(len(shape_of(x))))) for x in operands]  # PyTorch has a node there, for each operand
    parts = [_without_repeats(x, letters) for x, letters in zip(laid_out, named, strict=True)]
    while len(parts) > 1:
        first, second = _next_pair(parts, result)
        others = [part for part in parts if part is not first and part is not second]
        parts = [*others, _product(*first, *second, result + "".join(letters for _, letters in others))]
    x, letters = _summed(*parts[0], result)
    return _ordered(x, letters, result)


def _next_pair(parts: list[tuple[Any, str]], result: str) -> tuple[tuple[Any, str], tuple[Any, str]]:
    """Return the first of the pairs that begin the cheapest order of two or three operands, as opt_einsum (so PyTorch) does.

    A product costs as many steps as its letters have places together, twice as many where it sums.
    """
    lengths = {letter: length for x, letters in parts for letter, length in sorted(zip(letters, shape_of(x), strict=True))}
    for x, letters in parts:  # axes of an ellipsis broadcast
        lengths |= {letter: max(length, lengths[letter]) for letter, length in zip(letters, shape_of(x), strict=True)}

    def cost(one: str, other: str, others: Sequence[str]) -> int:
        kept = {*result, *"".join(others)}
        found = {*one, *other}
        steps = math.prod(lengths[letter] for letter in found) * (2 if {*one} & {*other} - kept else 1)
        return steps + (cost("".join(found & kept), others[0], others[1:]) if others else 0)

    pairs = itertools.combinations(parts, 2)
    return min(
        pairs, key=lambda pair: cost(pair[0][1], pair[1][1], [letters for x, letters in parts if all(x is not y for y, _ in pair)])
    )


@composite
def einsum(x: Any, y: Any, *, equation: str) -> Any:
    """Return the products of two operands, summed over the letters that the result has not."""
    return _contracted((x, y), equation)


@composite
def einsum_single(x: Any, *, equation: str) -> Any:
    """Return one operand, summed over the letters that the result has not."""
    return _contracted((x,), equation)


@composite
def einsum_triple(x: Any, y: Any, z: Any, *, equation: str) -> Any:
    """Return the products of three operands, summed over the letters that the result has not."""
    return _contracted((x, y, z), equation)


einsum_as_one = as_one(einsum)
einsum_single_as_one = as_one(einsum_single)


@composite
def einsum_triple_by_pairs(x: Any, y: Any, z: Any, *, equation: str) -> Any:
    """Return the same as `einsum_triple`, which Paddle makes of two nodes, each of the later operand and the earlier one."""
    named, result = _letters(equation, (x, y, z))
    parts = list(zip((x, y, z), named, strict=True))
    earlier, later = _next_pair(parts, result)
    (other,) = (part for part in parts if part is not earlier and part is not later)
    between = "".join(c for c in dict.fromkeys(earlier[1] + later[1]) if c in other[1] + result)
    made = einsum_as_one(later[0], earlier[0], equation=f"{later[1]},{earlier[1]}->{between}")
    return einsum_as_one(made, other[0], equation=f"{between},{other[1]}->{result}")


@composite
def tensordot(x: Any, y: Any, *, axes: Any) -> Any:
    """Sum the products over pairs of axes; ``axes``: two lists, or of how many axes, the last of ``x`` and the first of ``y``."""
    xs, ys = shape_of(x), shape_of(y)
    mine, other = _paired_axes(xs, ys, axes)
    rows = [i for i in range(len(xs)) if i not in mine]
    columns = [i for i in range(len(ys)) if i not in other]
    terms = math.prod(xs[i] for i in mine)
    product = matmul(
        reshape(permute(x, axes=[*rows, *mine]), shape=(math.prod(xs[i] for i in rows), terms)),
        reshape(permute(y, axes=[*other, *columns]), shape=(terms, math.prod(ys[i] for i in columns))),
    )
    return reshape(product, shape=(*(xs[i] for i in rows), *(ys[i] for i in columns)))


@composite
def tensordot_of_needed(x: Any, y: Any, *, axes: Any) -> Any:
    """Return the same as `tensordot`, with no node where a shape stays; what is summed over one element is summed before, in ``y``."""
    xs, ys = shape_of(x), shape_of(y)
    mine, other = _paired_axes(xs, ys, axes)
    rows, columns = ([i for i in range(len(shape)) if i not in paired] for shape, paired in ((xs, mine), (ys, other)))
    for i, j in zip(mine, other, strict=True):
        if xs[i] == 1:
            y = reshape(add_up(y, axis=[j], keepdims=False), shape=ys)
    terms = math.prod(xs[i] for i in mine)
    product = matmul(
        _reshaped(permute(x, axes=[*rows, *mine]), (math.prod(xs[i] for i in rows), terms)),
        _reshaped(permute(y, axes=[*other, *columns]), (terms, math.prod(ys[i] for i in columns))),
    )
    return _reshaped(product, (*(xs[i] for i in rows), *(ys[i] for i in columns)))


def _reshaped(x: Any, shape: tuple[int, ...]) -> Any:
    return x if shape == shape_of(x) else reshape(x, shape=shape)


def _paired_axes(xs: tuple[int, ...], ys: tuple[int, ...], axes: Any) -> tuple[list[int], list[int]]:
    """Return the axes of both operands over whose pairs is summed."""
    if isinstance(axes, int):
        return list(range(len(xs) - axes, len(xs))), list(range(axes))
    return [a % len(xs) for a in axes[0]], [a % len(ys) for a in axes[1]]


@composite
def multi_dot(x: Any, y: Any, z: Any) -> Any:
    """Return the product of three matrices, in whichever order costs less."""
    (a, b), (_, c), d = shape_of(x), shape_of(y), shape_of(z)[1]
    if a * b * c + a * c * d <= b * c * d + a * b * d:
        return mm(mm(x, y), z)
    return mm(x, mm(y, z))


@fused()
def multi_dot_as_one(x: Any, y: Any, z: Any) -> Any:
    """Return the same as `multi_dot`, which is one node in Paddle."""
    return matmul(matmul(x, y), z)


def _terms_of_cross(x: Any, y: Any, axis: int) -> tuple[Any, Any]:
    return np.roll(x, -1, axis) * np.roll(y, -2, axis), np.roll(x, -2, axis) * np.roll(y, -1, axis)


@primitive(
    error_scale=lambda out, x, y, *, axis: np.add(*_terms_of_cross(np.abs(x), np.abs(y), axis)), summands=lambda x, y, *, axis: 3
)
def cross(x: Any, y: Any, *, axis: int) -> Any:
    """Return the cross product along an axis of length 3, of two tensors of one shape."""
    return np.subtract(*_terms_of_cross(x, y, axis))


@cross.vjp("x")
def cross_vjp_x(g: Any, out: Any, x: Any, y: Any, *, axis: int) -> Any:
    return cross(conjugate(y), g, axis=axis)


@cross.vjp("y")
def cross_vjp_y(g: Any, out: Any, x: Any, y: Any, *, axis: int) -> Any:
    return cross(g, conjugate(x), axis=axis)
