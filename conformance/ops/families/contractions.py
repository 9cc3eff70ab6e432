"""Contractions: products that say by letters or by axes what is summed over, and the cross product; one row per op.

No equation only reorders axes or reads a diagonal: what comes then is a view in one framework and a copy in the other.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from conformance.ops.calls import both
from conformance.ops.draws import from_either_end, has_matrices, is_matrix
from conformance.ops.numbers import BOTH, UNEXAMINED, real_only
from conformance.ops.spec import PLAIN, Drawn, Growth, OpSpec, op, rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from conformance.ops.sampler import Arguments, Draw, Sampler

OF_ONE = {
    "trace": "ii->",
    "all": "ij->",
    "rows": "ij->i",
    "columns": "ij->j",
    "diagonals": "bii->b",
    "reordered": "ijk->kj",
    "ellipsis": "i...->...",
}
OF_TWO = {
    "matrices": "ij,jk->ik",
    "batches": "bij,bjk->bik",
    "implicit": "ij,jk",
    "transposed": "ij,kj->ki",
    "vectors": "i,i->",
    "outer": "i,j->ij",
    "elements": "ij,ij->ij",
    "scaled": "ij,i->ij",
    "summed alone": "ij,jk->k",
    "diagonal": "ii,i->i",
    "all": "ij,ij->",
    "two letters": "ijk,ijl->kl",
    "ellipsis": "...ij,jk->...ik",
}
OF_THREE = {"chain": "ij,jk,kl->il", "form": "i,ij,j->", "forms": "bi,ij,bj->b"}


def _lengths(letters: str, shape: tuple[int, ...]) -> dict[str, int] | None:
    """Return the length of each letter's axis; ``None`` where the shape does not fit."""
    named = letters.replace("...", "")
    if len(shape) != len(named) and not (len(named) < len(letters) and len(named) < len(shape) <= 4):
        return None
    if 0 in shape:
        return None
    start = 0 if not letters.startswith("...") else len(shape) - len(named)
    own = shape[start : start + len(named)]
    found = dict(zip(named, own, strict=True))
    return found if all(found[c] == n for c, n in zip(named, own, strict=True)) else None


def _contraction(equations: Sequence[str]) -> Draw:
    """Draw an equation, a first operand that fits it, and others of the shapes that it asks for."""

    def draw(s: Sampler) -> Arguments | None:
        equation = s.source.choice(equations)
        first, *others = equation.partition("->")[0].split(",")
        named = first.replace("...", "")
        plain = (3,) * len(named) if len(set(named)) < len(named) else (2, 3, 2, 2)[: len(named)]
        shape = (2, *plain) if "..." in first else plain
        x = s.take(lambda d: _lengths(first, d.shape) is not None, shape=shape)
        lengths = _lengths(first, x.shape) or {}
        operands = [x]
        for letters in others:
            for letter in letters:
                lengths.setdefault(letter, s.source.integer(1, 3))
            operands.append(s.take_shaped(tuple(lengths[letter] for letter in letters)))
        return operands, {"equation": equation}

    return draw


def _matrices(count: int) -> Draw:
    """Draw matrices of which each can be multiplied by the next."""

    def draw(s: Sampler) -> Arguments | None:
        operands = [s.take(is_matrix)]
        for _ in range(count - 1):
            operands.append(s.take_shaped((operands[-1].shape[-1], s.source.integer(1, 3))))
        return operands, {}

    return draw


def _paired(count: int) -> Draw:
    """Draw two tensors that have so many axes in common: the last of one, the first of the other."""

    def draw(s: Sampler) -> Arguments | None:
        x = s.take(lambda d: len(d.shape) >= max(1, count) and 0 not in d.shape, shape=(2, 3))
        shared = x.shape[len(x.shape) - count :]
        return [x, s.take_shaped((*shared, s.source.integer(1, 3)))], {"axes": count}

    return draw


def _paired_by_name(s: Sampler) -> Arguments | None:
    x = s.take(has_matrices)
    return [x, s.take_shaped((x.shape[-1], s.source.integer(1, 3), x.shape[0]))], {"axes": [[0, -1], [2, 0]]}


def _any_pairing(s: Sampler) -> Arguments | None:
    return s.source.choice([_paired(1), _paired(2), _paired_by_name])(s)


def _of_three(s: Sampler) -> Arguments | None:
    x = s.take(lambda d: 3 in d.shape and 0 not in d.shape, shape=(2, 3))
    axis = s.source.choice([i for i, n in enumerate(x.shape) if n == 3])
    y = s.take_shaped(x.shape)
    return None if y.name == x.name else ([x, y], {"axis": from_either_end(s, x, axis)})


_row = partial(op, exact=True, numbers=real_only(UNEXAMINED), points=PLAIN, growth=Growth.COMPOUNDS, drawn=Drawn.NAMED)


def _einsum(name: str, equations: Mapping[str, str], operands: str) -> OpSpec:
    return _row(
        name,
        base="einsum",
        rank=63,
        draw=_contraction(list(equations.values())),
        calls=both(f"torch.einsum(equation, {operands})"),
        numbers=BOTH,
        corners={what: _contraction([equation]) for what, equation in equations.items()},
    )


ENTRIES = rows(
    "contractions",
    _einsum("einsum", OF_TWO, "x, y"),
    _einsum("einsum_single", OF_ONE, "x"),
    _einsum("einsum_triple", OF_THREE, "x, y, z"),
    _row("mm", rank=163, draw=_matrices(2), calls=both("torch.mm(x, y)"), numbers=BOTH),
    _row(
        "cross",
        rank=178,
        draw=_of_three,
        calls={"torch": "torch.linalg.cross(x, y, dim=axis)", "paddle": "paddle.cross(x, y, axis=axis)"},
    ),
    _row(
        "tensordot",
        rank=309,
        draw=_any_pairing,
        calls=both("torch.tensordot(x, y, axes)"),
        corners={"one axis": _paired(1), "two axes": _paired(2), "none": _paired(0), "by name": _paired_by_name},
    ),
    _row("multi_dot", rank=310, draw=_matrices(3), calls=both("torch.linalg.multi_dot([x, y, z])")),
)
