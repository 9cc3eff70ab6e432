"""Special points: every op of the catalogue at zeros, ones, infinities, NaN, the ends of the range of the dtype, and ties.

The cases are made from data, one op each: the op's own draw chooses the attributes, and its operands are filled with every special
value (elementwise ops), every pair (two operands), or every row of three (ops along an axis), so that one case asks many questions and
no element disturbs another. Each is asked for its first derivative, and in another case for its second, with seeds that are not ones.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace

from conformance.case.case import Case, Input, data_of
from conformance.case.steps import Backward, Grad, Op
from conformance.generate.matrices import MATRICES, matrices
from conformance.generate.odds import SketchOdds
from conformance.generate.sources import FastSource
from conformance.ops import catalogue
from conformance.ops.dtypes import OTHER_KIND, REAL, format_of, is_complex
from conformance.ops.sampler import Draft
from reference_impl import OPS
from reference_impl.tape.primitive import Domain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from conformance.case.steps import Step
    from conformance.ops.sampler import Origin, Source
    from conformance.ops.spec import Points

ORDERS = (1, 2)
ATTEMPTS = 20
"""How many draws of attributes are tried for an op; those that differ become cases."""
VARIANTS = 4
"""The largest number of draws of attributes that become cases: axes and flags are few, and each costs a case per order and dtype."""
ROW = (0.0, 1.0, -2.0, math.inf, -math.inf, math.nan)
"""What the rows of three are made of, beside the largest number of the dtype."""
PLAIN = (0.0, 1.0, -0.5, 2.0, 0.0, 1.0, -3.0)
"""What fills the operands of ops that move or multiply matrices: one NaN there would be everywhere in the answer."""
PLAIN_SHAPES = ((2,), (2, 4), (3, 2, 2))
"""Their shapes, where the usual one does not fit."""
NUMBERS = (0.0, 1.0, -1.0, 2.0, 0.5)
"""Python numbers as operands: where a rule may have a case of its own."""

SEEDS = (1.0, -0.5, 2.0, 0.75, -1.5)
"""What seeds are made of: exact, none 0, of both signs, and repeating with a period that no row has."""
AXES = (0.0, -0.0, 1.0, -2.0, 0.25)
PLANE = tuple(complex(re, im) for re, im in itertools.product(AXES, repeat=2) if re or im)
"""What ops of complex operands alone are asked at: both half axes from either side, and points between. At 0 nothing is promised."""
COPIES = 16
"""How often a single place is repeated: the vectorised code of a framework must see it, not the one for what is left over."""


def special(dtype: str) -> tuple[float, ...]:
    """Return the special values of a dtype.

    Zeros of both signs, ones, kinks of the usual functions, numbers at which ``e^x`` saturates and overflows, subnormals, the ends of
    the range, infinities and NaN.
    """
    known = format_of(dtype)
    largest, tiny, least = known.largest, known.tiny, known.least
    edge = math.log(largest)
    one_sided = (least, 8 * least, tiny, 2.0 ** (1 - known.bits), 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 6.0, 10.0, 20.0, 21.0)
    far = (0.5 * edge, edge - 1.0, edge + 1.0, 2.5 * edge, math.sqrt(largest) * 2.0, largest / 8.0, largest)
    numbers = (*one_sided, *(float(np.dtype(dtype).type(x)) for x in far))
    return (0.0, -0.0, *numbers, *(-x for x in numbers), math.inf, -math.inf, math.nan)


class _Table:
    """Where an op's draw takes its operands from (a `Sampler`): always fresh inputs full of special values, in any domain.

    ``columns``: what an operand is filled with, by its position; ``None``: with `PLAIN`.
    """

    exact = False

    def __init__(self, source: FastSource, dtype: str, columns: Callable[[int], Any] | None) -> None:
        self.source: Source = source
        self.odds = SketchOdds()
        self.dtype = dtype
        self.complex = is_complex(dtype)
        self.columns = columns
        self.inputs: list[Input] = []

    def length(self) -> int:
        return self.source.choice(self.odds.lengths)

    def shape(self) -> tuple[int, ...]:
        return (2, 3) if self.columns is None else self.columns(0).shape

    def number(self) -> float:
        return self.source.choice(NUMBERS)

    def fresh(
        self,
        shape: tuple[int, ...],
        *,
        domain: Domain | None = None,
        origin: Origin = "input",
        dtype: str | None = None,
        differentiable: bool | None = None,
    ) -> Draft:
        position = len(self.inputs)
        kind = dtype or self.dtype
        filling = None if self.columns is None else self.columns(position)
        if filling is None or filling.size != math.prod(shape):  # what all places share, a weight, say, is as plain as in other ops
            filling = np.resize(PLAIN[position:] + PLAIN[:position], shape)
        array = filling.reshape(shape).astype(kind)
        if domain in MATRICES:  # special values lie in no other domain; of singular matrices nothing is known yet
            array = matrices(array, domain)
        if domain == Domain.SHARE and self.columns is None:  # a loss refuses what is no probability
            array = (0.5 + array / 8.0).astype(kind)
        if domain == Domain.POSITIVE and self.columns is None:  # covariances refuse negative weights
            array = np.abs(array)
        if differentiable is None:
            differentiable = not self.inputs or not self.source.chance(self.odds.constant)
        name = f"x{position}"
        self.inputs.append(Input(name, shape, data_of(array), kind, differentiable))
        return Draft(name, shape, kind, array, differentiable, frozenset([name] if differentiable else ()), origin)

    def take(
        self,
        test: Callable[[Draft], bool] | None = None,
        *,
        domain: Domain | None = None,
        shape: tuple[int, ...] | None = None,
    ) -> Draft:
        fitting = self.shape()
        if test is not None and not test(self._sample(fitting)):
            if self.columns is None:
                fitting = shape or next(s for s in PLAIN_SHAPES if test(self._sample(s)))
            elif test(self._sample(apart := (*fitting[:1], 1, *fitting[1:]))):  # the one channel of each
                fitting = apart
        return self.fresh(fitting, domain=domain, differentiable=True)

    def _sample(self, shape: tuple[int, ...]) -> Draft:
        return Draft("", shape, self.dtype, None, False, frozenset())

    def take_shaped(self, shape: tuple[int, ...]) -> Draft:
        return self.fresh(shape, differentiable=True)

    def partner(self, x: Draft, *, domain: Domain | None = None) -> Draft:
        return self.fresh(x.shape, domain=domain, differentiable=True)


def _columns(name: str, dtype: str) -> Callable[[int], Any] | None:
    row = catalogue()[name]
    points = row.points
    if points is None:
        return None
    if row.numbers.taken == "complex":
        return lambda _: np.array(PLANE)
    values = special(dtype)
    if points.width:
        parts = (*ROW, format_of(dtype).largest)
        rows = np.array([row for row in itertools.product(parts, repeat=points.width) if _fits(row, points)])
        return lambda _: rows
    if len(row.operands) == 1 or points.first_alone:
        return lambda position: _filled(np.array(values)) if position == 0 else np.array(values[:1])
    pairs = np.array(list(itertools.product(values, values)))
    return lambda position: _filled(pairs[:, position] if position < pairs.shape[1] else _third(values))


def _filled(column: Any) -> Any:
    """Repeat a column from its beginning until no part of a vector is left over, so that no place is asked of other code alone."""
    return np.resize(column, math.ceil(column.size / COPIES) * COPIES)


def _fits(row: tuple[float, ...], points: Points) -> bool:
    """Whether an op is asked at a row."""
    told = [x for x in row if not (points.several_nan and math.isnan(x))]
    return not points.distinct or len({*map(repr, told)}) == len(told)


def _third(values: tuple[float, ...]) -> Any:
    """Return what a third operand is beside every pair of two others: every value beside each of the values of either."""
    count = len(values)
    return np.array([values[(i + j) % count] for i, j in itertools.product(range(count), repeat=2)])


def _drawn(name: str, dtype: str) -> Iterator[tuple[list[Input], list[str], dict[str, Any]]]:
    """Draw an op's operands and attributes, in as many ways as `ATTEMPTS` finds."""
    row = catalogue()[name]
    columns = _columns(name, dtype)
    points = row.points
    rows = points if points is not None and points.width > 0 else None
    seen: list[dict[str, Any]] = []
    for attempt in range(ATTEMPTS):
        sketch = _Table(FastSource(attempt, 0), dtype, columns)
        drawn = row.draw(sketch)
        if drawn is None:
            continue
        operands, attrs = drawn
        if attrs in seen or (rows and attrs.get("axis", 1) not in (1, -1, [1])):  # along another axis no row is a place of its own
            continue
        if points is not None and attrs.get("reduction", "none") != "none":  # one NaN would be all of the answer
            continue
        if rows and seen and not rows.distinct:
            continue
        seen.append(attrs)
        if len(seen) > VARIANTS:
            return
        yield sketch.inputs, [d.name for d in operands], attrs


def cases_of(name: str, *, by_backward: bool = False) -> Iterator[tuple[str, Case]]:
    """Yield the cases of an op, each with its title.

    ``by_backward``: the first derivative is asked for by `backward`, for an engine that has no `grad`. The second one has no other way.
    """
    for dtype in (OTHER_KIND[d] if catalogue()[name].numbers.taken == "complex" else d for d in REAL):
        for inputs, operands, attrs in _drawn(name, dtype):
            for order in ORDERS:
                yield f"{name}, order {order}, {dtype}", _case(name, inputs, operands, attrs, order=order, by_backward=by_backward)


def _seed(name: str, array: Any, dtype: str) -> Input:
    numbers = np.resize(np.array(SEEDS, dtype), array.shape)
    return Input(name, array.shape, data_of(numbers), dtype, differentiable=False)


def _case(name: str, inputs: list[Input], operands: list[str], attrs: dict[str, Any], *, order: int, by_backward: bool) -> Case:
    arrays = {entry.name: entry.array() for entry in inputs}
    with np.errstate(all="ignore"):
        made = OPS[name](*(arrays[o] for o in operands), **attrs)
    outs = [np.asarray(o) for o in (made if isinstance(made, tuple) else (made,))]
    roots = tuple(f"y{i}" for i in range(len(outs)))
    seeds = [_seed(f"s{i}", out, str(out.dtype)) for i, out in enumerate(outs)]
    asked = tuple(dict.fromkeys(operands))
    first = tuple(f"g{i}" for i in range(len(asked)))
    seeded = tuple(s.name for s in seeds)
    asking = Grad(roots, asked, first, seeded, create_graph=order > 1, allow_unused=True)
    steps: list[Step] = [Op(name, tuple(operands), roots, attrs), Backward(roots, seeded) if by_backward and order == 1 else asking]
    if order > 1:
        again = [_seed(f"t{i}", arrays[a], str(arrays[a].dtype)) for i, a in enumerate(asked)]
        for i, root in enumerate(first):
            results = tuple(f"h{i}{j}" for j in range(len(asked)))
            steps.append(Grad((root,), asked, results, (again[i].name,), retain_graph=True, allow_unused=True))
        seeds += again
    return Case((*inputs, *seeds), tuple(steps), "numeric")


def single(case: Case, place: int) -> Case:
    """Cut one place out of a packed case: an element of an elementwise op, a row of one along an axis; `COPIES` of it."""
    length = case.inputs[0].shape[0]
    steps = tuple(replace(step, attrs=_attrs_of(step.attrs, length, place)) if isinstance(step, Op) else step for step in case.steps)
    return Case(tuple(_part(entry, length, place) for entry in case.inputs), steps, case.lane)


def _attrs_of(attrs: Mapping[str, Any], length: int, place: int) -> dict[str, Any]:
    """Return the attributes of one place: of a list that has an entry for each, that entry."""
    return {name: [a[place]] * COPIES if isinstance(a, list) and len(a) == length else a for name, a in attrs.items()}


def _part(entry: Input, length: int, place: int) -> Input:
    if not entry.shape or entry.shape[0] != length:
        return entry
    rest = math.prod(entry.shape[1:])
    data = entry.data[place * rest : (place + 1) * rest] * COPIES
    return Input(entry.name, (COPIES, *entry.shape[1:]), data, entry.dtype, entry.differentiable)


def is_packed(name: str) -> bool:
    """Whether the places of an op's case are independent of each other, so that it can be cut."""
    return catalogue()[name].points is not None
