"""The grid: one op a case, enumerated beside the random graphs.

Random graphs find bugs that need a composition. Bugs that need a combination of shape, layout and argument at one op they meet by luck:
who draws a 5-D tensor with a negative step, asked for its third derivative in a transposed seed? So the combinations are enumerated.
The dimensions are in `DIMENSIONS`; their full product would be millions of cases for each op, and faults hang on few of them at
once, so every pair of values that is possible stands in some case, and every triple of those in `TRIPLES`. What one case shows stands
alone (`alone`).

A point is made into an ordinary case, so everything that is true of a random case holds of it: how it is run, judged, reduced and
told. Nothing is drawn from the seed of a run: the grid of an op is the same everywhere.
"""

from __future__ import annotations

import functools
from itertools import combinations, product
from typing import TYPE_CHECKING, NamedTuple

from conformance.case.needs import AGAIN
from conformance.generate.grid.alone import CHAIN, FOURTH, LATER, OF_DERIVATIVES, SIBLING, WRITTEN, alone
from conformance.generate.grid.covering import cover, possible
from conformance.generate.grid.places import BESIDE, DRAWN, ITSELF, RANKS, SIZES, Drawn, Place, drawn
from conformance.generate.grid.script import ASKED, CALLS, Script
from conformance.generate.layouts import LAYOUTS, fitting
from conformance.generate.matrices import UNREPEATED
from conformance.ops import catalogue
from conformance.ops.dtypes import COMPLEX, OTHER_KIND, OTHER_PRECISION, REAL

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from conformance.case.case import Case
    from conformance.generate.grid.covering import Combination, Row
    from conformance.ops.spec import OpSpec

DIMENSIONS = {
    "argument": "what the row draws, or one of its corners",
    "rank": "axes of the first operand",
    "size": "its elements",
    "beside": "the second operand",
    "lane": "exact arithmetic, or rounded",
    "kind": "real or complex",
    "layout": "of the operands",
    "seed": "layout of the seeds",
    "dtype": "one for all operands, or two",
    "order": "of the derivative",
    "call": "that asks for it",
    "asked": "operands whose gradients are asked for, and which are constants",
}
FRAME = Place._fields
Dimensioned = tuple[tuple[str, ...], ...]
TRIPLES = (("layout", "order", "kind"), ("seed", "order", "kind"), ("beside", "order", "lane"))
"""What is known to go wrong together: a kernel for each layout and kind of number, chosen anew at each order; sums over broadcast
axes."""
WANTED = (*combinations(DIMENSIONS, 2), *TRIPLES)
VALUES = tuple((dimension,) for dimension in DIMENSIONS)
"""What is wanted of a slow engine, in a fifth of the cases: every value in one of them, and so more than half of the pairs."""
ORDERS = ("1", "2", "3")
OPERANDS_ALONE = ("view of a view", "offset")
LAID = tuple(layout for layout in LAYOUTS if layout != "contiguous")
BY_BACKWARD = ("backward", "edges", "hooks")
CALLED_BY: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    AGAIN: {"order": (*ORDERS[1:], FOURTH), "call": (LATER, OF_DERIVATIVES)},
    "step:grad": {"call": (*(call for call in CALLS if call not in BY_BACKWARD), WRITTEN, SIBLING, CHAIN, LATER, OF_DERIVATIVES)},
    "step:backward": {"call": BY_BACKWARD},
    "step:edge": {"call": ("edges",)},
    "step:hook": {"call": ("hooks", LATER)},
    "step:remove_hook": {"call": ("hooks",)},
    "step:in_place": {"call": (WRITTEN, SIBLING)},
    "in_place:mul_scalar": {"call": (WRITTEN, SIBLING)},
    "no_grad": {"call": (WRITTEN, LATER)},
    "step:toggle": {"layout": LAID, "seed": LAID},
    "is_grads_batched": {"call": ("batched",)},
}
"""Which values of which dimensions need what an engine may not offer, in the words of `BackendInfo.not_offered`.

A leaf that is laid out is made of a constant, and told that it is a leaf."""


class Point(NamedTuple):
    """A point of the grid: an op, and the value of every dimension."""

    op: str
    row: Row

    def case(self) -> Case:
        """Write the script of the point.

        Raises:
            LookupError: if there is no such point.
        """
        made = drawn(self.op, Place(*(self.row[d] for d in FRAME)), self.row["dtype"].split("+"))
        if made is None:
            raise LookupError(f"the grid of {self.op} has no point {self.row}")
        return Script(self.op, self.row, made).case()


def grid(ops: Iterable[str] | None = None, without: Collection[str] = (), wanted: Dimensioned = WANTED) -> Iterator[Point]:
    """Yield the grid of these ops, or of all.

    ``without``: dtypes, ops (``op:erf``) and words of `CALLED_BY` that are left out. ``wanted``: the dimensions of which every
    combination stands in some case. Points that stand alone are always there.
    """
    needless = [CALLED_BY[word] for word in sorted(CALLED_BY.keys() & set(without))]
    for op in ops or catalogue():
        if f"op:{op}" in without:
            continue
        frames, free = _space(op)
        covering = _covered(frames, tuple(_less(dimensions, needless) for dimensions in free), wanted)
        for row in (*covering, *(row for row in alone(op) if not _needs(row, needless))):
            if set(without).isdisjoint(row["dtype"].split("+")):
                yield Point(op, row)


def _less(dimensions: Dimensions, needless: Sequence[Mapping[str, tuple[str, ...]]]) -> Dimensions:
    """Leave out values of dimensions; the others are then covered in all pairs without them."""
    if not needless:
        return dimensions
    left = ((name, [v for v in values if not any(v in needs.get(name, ()) for needs in needless)]) for name, values in dimensions)
    return tuple((name, tuple(values)) for name, values in left)


def _needs(row: Row, needless: Sequence[Mapping[str, tuple[str, ...]]]) -> bool:
    return any(row[name] in values for needs in needless for name, values in needs.items())


def combinations_of(op: str) -> list[Combination]:
    """Return all combinations that are possible for an op, and that its grid must have."""
    frames, free = _space(op)
    return possible([dict(frame) for frame in frames], [dict(values) for values in free], WANTED)


Frames = tuple[tuple[tuple[str, str], ...], ...]
Dimensions = tuple[tuple[str, tuple[str, ...]], ...]
Free = tuple[Dimensions, ...]


@functools.cache
def _covered(frames: Frames, free: Free, wanted: Dimensioned) -> tuple[Row, ...]:
    """Cover a space; many ops have the same."""
    return tuple(cover([dict(frame) for frame in frames], [dict(values) for values in free], wanted))


@functools.cache
def _space(op: str) -> tuple[Frames, Free]:
    """Return the places of an op, and what is free at each of them."""
    row = catalogue()[op]
    frames, free = [], []
    for place in _places(row):
        several = len(row.operands) > 1 or row.variadic
        partnered = several
        for form in BESIDE if several else BESIDE[:1]:
            if not partnered and form not in (BESIDE[0], ITSELF):
                continue
            here = place._replace(beside=form)
            made = drawn(op, here, _dtypes(row, here)[0].split("+"), dry=True)
            if made is not None:
                frames.append(tuple(zip(FRAME, here, strict=True)))
                free.append(tuple(_free(row, here, made).items()))
            if form == BESIDE[0]:
                partnered = made is not None and made.partnered
    return tuple(frames), tuple(free)


def _places(row: OpSpec) -> Iterator[Place]:
    """Yield the places that an op may have, with a second operand of the same shape."""
    lanes = ("exact", "numeric")
    for argument, rank, size, lane, kind in product((DRAWN, *row.corners), RANKS, SIZES, lanes, ("real", "complex")):
        exact = row.is_exact(on_complex=kind == "complex")
        if row.numbers.taken in ("both", kind) and (lane == "numeric" or exact):
            yield Place(argument, rank, size, BESIDE[0], lane, kind)


def _dtypes(row: OpSpec, place: Place) -> tuple[str, ...]:
    dtypes = REAL if place.kind == "real" else COMPLEX
    if not row.numbers.mixed or place.beside == ITSELF:
        return dtypes
    pairs = [(d, OTHER_PRECISION[d]) for d in dtypes]
    if place.kind == "complex":
        pairs += [pair for d in dtypes for pair in ((d, OTHER_KIND[d]), (OTHER_KIND[d], d))]
    return (*dtypes, *("+".join(pair) for pair in pairs))


def _free(row: OpSpec, place: Place, made: Drawn) -> dict[str, tuple[str, ...]]:
    shapes = [draft.shape for draft in made.inputs]
    layouts = {name for shape in shapes for name in fitting(shape)}
    if UNREPEATED & set(row.domain.values()):
        layouts.discard("expanded")
    seeds = {name for shape, _ in made.results for name in fitting(shape)}
    single = all(shape in ((), (1,) * len(shape)) for shape, _ in made.results)
    return {
        "layout": tuple(name for name in fitting((2, 2)) if name in layouts),
        "seed": tuple(name for name in fitting((2, 2)) if name in seeds and name not in OPERANDS_ALONE),
        "dtype": _dtypes(row, place),
        "order": ORDERS,
        "call": tuple(call for call in CALLS if call != "unseeded" or single),
        "asked": ASKED if len(set(made.operands)) > 1 else ASKED[:1],
    }
