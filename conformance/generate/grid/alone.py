"""Points that stand alone: what one case of an op shows, so that no pairs with anything else are wanted.

A number never tells whether a result lies in the memory of its operand. So the result is written to inside ``no_grad``, and all that
changes is looked at: an op that copies what it should share shows, and so does one that shares what it should copy. Where it is known
what an op keeps for its gradients, these are asked for after the write, and else before it. The fourth derivative of a few smooth ops
is there for the sake of what begins to be wrong at some order. Of three operands or more that are not alike, one between the first and
the last is asked for by itself. And of several results the first is written to, and the gradient of the last asked for: by an update
that is recorded, which PyTorch refuses of a view that is one of several. (Inside ``no_grad`` it lets it pass, and refuses later what is
done with the other views. When it does so is not modelled, and so it is not asked.)

A fault may wait for what came before. So there is a case in which an op is applied once more after a pass, a refusal, a hook and a
region of ``no_grad``, to computed operands and to those that were used before. And there is one in which its operands are derivatives.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from conformance.case.aliases import COMPLEX_VIEWS, TABULATED
from conformance.generate.grid.places import BESIDE, DRAWN, Place, drawn
from conformance.ops import catalogue
from conformance.ops.spec import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.generate.grid.covering import Row
    from conformance.ops.spec import OpSpec

WRITTEN, SIBLING, CHAIN = "written", "sibling written", "chain"
"""Calls of these points: results are written to, and then the gradients asked for; the first of several results is written to, and that
of the last asked for; the first operand's derivative of its derivative."""
LATER, OF_DERIVATIVES = "later", "of derivatives"
"""Further calls: the op is applied again after all that may come before it; its operands are derivatives."""
INSIDE = ("middle", "middle alone")
"""Which operand is asked for: one between the first and the last; ``alone``: the others are constants."""
FOURTH = "4"
SMOOTH = ("exp", "log", "sin", "cos", "tanh", "sigmoid", "sqrt", "rsqrt", "rdiv_scalar", "div", "silu", "softplus", "pow_scalar")
"""Ops with a fourth derivative that is not zero, in both frameworks or in one."""
ONE = {"real": "float32", "complex": "complex64"}
UNWRITTEN = {
    **dict.fromkeys(
        COMPLEX_VIEWS, "complex tensors are not written in place yet, and so it is not said which of their parts are views"
    ),
    "as_strided": "several of its elements may be one in memory, and whether a write to them is refused is not modelled",
}
"""Ops whose results are not written to, with the reason."""


def alone(op: str) -> Iterator[Row]:
    """Yield the rows of an op that no pair asks for; every argument has one, and where memory may be shared a larger one, too."""
    row = catalogue()[op]
    if op not in UNWRITTEN:
        for argument in (DRAWN, *row.corners):
            for place in _first(place for size in ("few", "16+") for place in _places(row, argument, "321450", size)):
                yield _row(place, "contiguous", WRITTEN, "1")
            if row.memory is not Memory.OWN and not row.memory.may_be_operand:
                for place in _first(_places(row, argument, "432150", "8+")):
                    yield _row(place, "transposed", WRITTEN, "1")
            if row.multi_output and op in TABULATED:
                for place in _first(place for place in _places(row, argument, "321", "few") if _counts(row, place)[1] > 1):
                    yield _row(place, "contiguous", SIBLING, "1")
    for place in _first(place for place in _places(row, DRAWN, "321450", "few") if _counts(row, place)[0] > 2 and not row.variadic):
        yield from (_row(place, "contiguous", "grad", order, asked) for asked, order in itertools.product(INSIDE, "12"))
    for place in _first(place for size in ("few", "16+") for place in _places(row, DRAWN, "231450", size)):
        yield from (_row(place, "contiguous", call, order) for call, order in ((LATER, "2"), (LATER, "1"), (OF_DERIVATIVES, "1")))
    if op in SMOOTH:
        for place in _first(_places(row, DRAWN, "2", "8+")):
            yield _row(place, "contiguous", CHAIN, FOURTH)


def keeps_what_is_known(op: str) -> bool:
    """Whether it is known, in both frameworks, what a write to a result of the op does to its gradients."""
    memory = catalogue()[op].memory
    return op in TABULATED and memory is not Memory.DOUBTFUL and not memory.may_be_operand


def _first(places: Iterator[Place]) -> Iterator[Place]:
    return itertools.islice(places, 1)


def _places(row: OpSpec, argument: str, ranks: str, size: str) -> Iterator[Place]:
    kind = "complex" if row.numbers.taken == "complex" else "real"
    lane = "exact" if row.is_exact(on_complex=kind == "complex") else "numeric"
    for rank in ranks:
        place = Place(argument, rank, size, BESIDE[0], lane, kind)
        if drawn(row.name, place, [ONE[kind]], dry=True) is not None:
            yield place


def _counts(row: OpSpec, place: Place) -> tuple[int, int]:
    """Return how many operands, each counted once, and how many results an op has at a place."""
    made = drawn(row.name, place, [ONE[place.kind]], dry=True)
    return (0, 0) if made is None else (len(set(made.operands)), len(made.results))


def _row(place: Place, layout: str, call: str, order: str, asked: str = "all") -> Row:
    rest = {"layout": layout, "seed": "contiguous", "dtype": ONE[place.kind], "order": order, "call": call, "asked": asked}
    return place._asdict() | rest
