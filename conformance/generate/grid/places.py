"""Places: the shapes that an op is put on, and what it makes of its arguments there.

The rows of the catalogue draw their arguments from a sketch; here the sketch has its shapes prescribed, so that a row is asked what it
would draw on a matrix of more than 256 elements beside one that broadcasts against it on both sides. What a row refuses there is no
place of its op.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

import numpy as np

from conformance.generate.grid.elements import elements
from conformance.generate.sketch import PLAIN_SHAPES, Sketch
from conformance.generate.sources import FastSource
from conformance.ops import catalogue
from conformance.ops.sampler import Draft
from reference_impl import OPS
from reference_impl.primitives.promotion import name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from conformance.ops.sampler import Origin
    from reference_impl.tape.primitive import Domain

DRAWN = "drawn"
"""The arguments that random graphs draw, beside which a row may have corners."""
RANKS = ("0", "1", "2", "3", "4", "5")
BLOCKS = {"8+": 8, "16+": 16, "32+": 32, "256+": 256}
"""More elements than the blocks of vectorised code have, and in the last block fewer.

The rows that come first are a power of two and one long: a loop over blocks of whatever width leaves one element behind."""
SIZES = ("empty", "one", "few", *BLOCKS)
SQUARE = "16+"
"""The size whose axes are as long as each other, so that a sum over the wrong one of them has a shape that fits."""
CUBES = {2: ((5, 5),), 3: ((3, 3, 3),), 4: ((1, 3, 3, 3),), 5: ((1, 1, 3, 3, 3),)}
FEW = {
    1: ((3,), (4,), (2,)),
    2: ((2, 3), (3, 2), (2, 4), (2, 1), (3, 4), (3, 3)),
    3: ((2, 1, 3), (3, 1, 2), (1, 2, 4), (1, 2, 3), (2, 2, 2)),
    4: ((2, 1, 3, 1), (1, 2, 1, 2), (2, 1, 1, 4), (1, 4, 2, 2), (2, 1, 3, 3)),
    5: ((1, 2, 1, 3, 1), (2, 1, 1, 1, 2), (2, 1, 1, 1, 4)),
}
LEAD = (3, 1, 2, 1)
"""The axes before the last one of larger shapes."""
ITSELF = "itself"
BESIDE = ("same", "shorter", "ones", "longer", "both", "0-d", ITSELF)
"""The second operand: of the same shape, broadcast to the first in three ways, the first to it, both to each other; the first
itself."""
ATTEMPTS = 6
"""How often a row is asked: some of what it draws does not fit any shape."""
MOST_RESULTS, LARGEST_RESULT = 24, 4096
LENGTHS = (2, 3, 4, 1)


class Place(NamedTuple):
    """Where an op is put; ``kind``: of its numbers, real or complex."""

    argument: str
    rank: str
    size: str
    beside: str
    lane: str
    kind: str


class UnfitError(Exception):
    """No shape of a place fits an op."""


@dataclass(frozen=True)
class Drawn:
    """What a row drew at a place: inputs, the names of the operands, attributes; shapes and dtypes of the results.

    ``partnered``: the op has a second operand that broadcasts.
    """

    inputs: tuple[Draft, ...]
    operands: tuple[str, ...]
    attrs: dict[str, Any]
    results: tuple[tuple[tuple[int, ...], str], ...]
    partnered: bool


def shapes(rank: int, size: str) -> tuple[tuple[int, ...], ...]:
    """Return shapes of so many axes and elements; an op takes the first that fits."""
    if size == "empty":
        return tuple(tuple(0 if i == empty else (2, 3, 2, 1, 2)[i] for i in range(rank)) for empty in reversed(range(rank)))
    if size == "one":
        return ((1,) * rank,)
    if rank == 0:
        return ()
    if size == "few":
        return FEW[rank]
    block = BLOCKS[size]
    if rank == 1:
        return ((block + 1,), (block + 4,))
    lead = LEAD[: rank - 1]
    between = (1,) * (rank - 2)
    row = 1 << (block // math.prod(lead)).bit_length() | 1
    return (
        *(CUBES[rank] if size == SQUARE else ()),
        (*lead, row),
        (block // 2 + 1 | 1, *between, 2),
        (block // 4 + 1 | 1, *between, 4),
        (*between, *(math.isqrt(block) + 1,) * 2),
    )


class _Table(Sketch):
    """A sketch with prescribed shapes. ``dtypes``: those of its inputs, in their order, the last one for all that follow.

    ``dry``: nothing but shapes is known. ``partnered``: the op has a second operand that broadcasts.
    """

    def __init__(self, source: FastSource, place: Place, dtypes: Sequence[str], *, itself: Domain | None, dry: bool) -> None:
        super().__init__(source, exact=place.lane == "exact", dtype=dtypes[0])
        self.complex = place.kind == "complex"
        self.place, self.dtypes, self.itself, self.dry = place, dtypes, itself, dry
        self.partnered = False

    def length(self) -> int:
        return self.source.choice(LENGTHS)

    def shape(self) -> tuple[int, ...]:
        found = shapes(int(self.place.rank), self.place.size)
        if not found:
            raise UnfitError
        return found[0]

    def fresh(
        self,
        shape: tuple[int, ...],
        *,
        domain: Domain | None = None,
        origin: Origin = "input",
        dtype: str | None = None,
        differentiable: bool | None = None,  # noqa: ARG002 - who is a constant is a dimension of its own
    ) -> Draft:
        kind = dtype or self.dtypes[min(len(self.values), len(self.dtypes) - 1)]
        wanted = self.itself if self.place.beside == ITSELF and not self.values else None
        name = f"x{len(self.values)}"
        named = " ".join((name, *self.place))
        array = None if self.dry else elements(tuple(shape), wanted or domain, kind, exact=self.exact, name=named)
        draft = Draft(name, tuple(shape), kind, array, True, frozenset(), origin)
        self.values.append(draft)
        return draft

    def take(
        self,
        test: Callable[[Draft], bool] | None = None,
        *,
        domain: Domain | None = None,
        shape: tuple[int, ...] | None = None,
    ) -> Draft:
        first = not self.values
        if not first and self.place.beside == ITSELF and (test is None or test(self.values[0])):
            return self.values[0]
        offered = shapes(int(self.place.rank), self.place.size) if first else (*([shape] if shape else []), *PLAIN_SHAPES)
        fitting = next((s for s in offered if test is None or test(Draft("", s, self.dtype, None, False, frozenset()))), None)
        if fitting is None:
            raise UnfitError
        return self.fresh(fitting, domain=domain)

    def take_shaped(self, shape: tuple[int, ...]) -> Draft:
        if self.place.beside == ITSELF and self.values[0].shape == tuple(shape):
            return self.values[0]
        return self.fresh(shape)

    def partner(self, x: Draft, *, domain: Domain | None = None) -> Draft:
        self.partnered = True
        if self.place.beside == ITSELF:
            return x
        shape = beside(x.shape, self.place.beside)
        if shape is None:
            raise UnfitError
        return self.fresh(shape, domain=domain)


def beside(shape: tuple[int, ...], form: str) -> tuple[int, ...] | None:
    """Return a shape that broadcasts with another one in some way; ``None`` if there is none."""
    ones = tuple(1 if i % 2 == 0 else n for i, n in enumerate(shape))
    match form:
        case "same":
            return shape
        case "0-d" if shape:
            return ()
        case "longer":
            return (2, *shape)
        case "shorter" if len(shape) > 1:
            return shape[1:]
        case "ones" if ones != shape:
            return ones
        case "both" if max(shape, default=0) > 1:
            return (2, *(3 if n == 1 else 1 if i % 2 == 0 else n for i, n in enumerate(shape)))
        case _:
            return None


def drawn(op: str, place: Place, dtypes: Sequence[str], *, dry: bool = False) -> Drawn | None:
    """Ask a row for operands and attributes at a place; ``None`` if there are none. ``dry``: without elements."""
    row = catalogue()[op]
    draw = row.draw if place.argument == DRAWN else row.corners[place.argument]
    domains = [row.domain[name] for name in row.operands if name in row.domain]
    for attempt in range(ATTEMPTS):
        source = FastSource(crc32("|".join((op, *place)).encode()), attempt)
        table = _Table(source, place, dtypes, itself=domains[0] if domains else None, dry=dry)
        try:
            arguments = draw(table)
        except UnfitError:
            return None
        if arguments is None:
            continue
        names = tuple(draft.name for draft in arguments[0])
        repeated = len(set(names)) < len(names)
        if (place.beside == ITSELF) is not repeated or (place.beside not in ("same", ITSELF) and not table.partnered):
            continue
        made = _results(op, *arguments)
        if len(made) <= MOST_RESULTS and all(math.prod(shape) <= LARGEST_RESULT for shape, _ in made):
            return Drawn(tuple(table.values), names, arguments[1], made, table.partnered)
    return None


def _results(op: str, operands: Sequence[Draft], attrs: dict[str, Any]) -> tuple[tuple[tuple[int, ...], str], ...]:
    arrays = [np.ones(x.shape, x.dtype) if x.array is None else x.array for x in operands]
    with np.errstate(all="ignore"):
        made = OPS[op](*arrays, **attrs)
    outs = [np.asarray(out) for out in (made if isinstance(made, tuple) else (made,))]
    return tuple([(out.shape, name_of(out.dtype)) for out in outs])
