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

from conformance.case import Case, Input, data_of
from conformance.generate.sketch import Draft, Sketch
from conformance.generate.source import FastSource
from conformance.judge.formats import format_of
from conformance.ops import catalogue
from conformance.ops.kinds import OTHER_KIND, takes
from conformance.steps import Grad, Op
from reference_impl import OPS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.steps import Step

DTYPES = ("float32", "float64")
ORDERS = (1, 2)
ATTEMPTS = 20
"""How many draws of attributes are tried for an op; those that differ become cases."""
VARIANTS = 4
ROW = (0.0, 1.0, -2.0, math.inf, -math.inf, math.nan)
"""What the rows of three are made of, beside the largest number of the dtype."""
PLAIN = (0.0, 1.0, -0.5, 2.0, 0.0, 1.0, -3.0)
"""What fills the operands of ops that move or multiply matrices: one NaN there would be everywhere in the answer."""


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


class _Table(Sketch):
    """A sketch whose operands are always fresh and hold special values; domains are left on purpose."""

    def __init__(self, op: str, source: FastSource, dtype: str, columns: Callable[[int], Any] | None) -> None:
        super().__init__(source, exact=False, dtype=dtype)
        self._op = op
        self.columns = columns

    def shape(self) -> tuple[int, ...]:
        return (2, 3) if self.columns is None else self.columns(0).shape

    def number(self) -> float:
        return self.source.choice((0.0, 1.0, -1.0, 2.0, 0.5))

    def elements(self, shape: tuple[int, ...], domain: str | None, dtype: str) -> Any:  # noqa: ARG002 - left on purpose
        if self.columns is None:
            return np.resize(np.array(PLAIN[len(self.inputs) :] + PLAIN[: len(self.inputs)], dtype), shape)
        return self.columns(len(self.inputs)).astype(dtype)

    def take(
        self, test: Callable[[Draft], bool] | None = None, *, domain: str | None = None, shape: tuple[int, ...] | None = None
    ) -> Draft:
        made = self.shape()
        if self.columns is None and test is not None and not test(Draft("", made, self.dtype, None, False, frozenset())):
            made = shape or next(s for s in ((2,), (2, 4), (3, 2, 2)) if test(Draft("", s, self.dtype, None, False, frozenset())))
        return self.fresh(made, domain=domain, differentiable=True)

    def take_shaped(self, shape: tuple[int, ...]) -> Draft:
        return self.fresh(shape, differentiable=True)

    def partner(self, x: Draft, *, domain: str | None = None) -> Draft:  # noqa: ARG002 - left on purpose
        return self.fresh(x.shape, differentiable=True)

    def moderate(self, array: Any) -> bool:  # noqa: ARG002 - any size will do
        return True


ELEMENTWISE = frozenset({"arithmetic", "elementary", "piecewise", "selection"})
ALONG = frozenset({"reduction", "softmax"})


def _columns(name: str, dtype: str) -> Callable[[int], Any] | None:
    entry = catalogue()[name]
    if takes(name) == "complex":
        return lambda _: np.array(PLANE)
    values = special(dtype)
    if entry.family in ELEMENTWISE and name != "topk":
        if len(entry.operands) == 1 or name == "masked_fill_tensor":
            return lambda position: np.array(values if position == 0 else values[:1])
        pairs = np.array(list(itertools.product(values, values)))
        return lambda position: pairs[:, position]
    if (entry.family in ALONG and name != "mse_loss") or name == "topk":
        width = 4 if name == "glu" else 3
        parts = (*ROW, format_of(dtype).largest)
        # Which of several equal elements topk takes is documented as not guaranteed.
        rows = np.array(list(itertools.permutations(parts, width) if name == "topk" else itertools.product(parts, repeat=width)))
        return lambda _: rows
    return None


def _drawn(name: str, dtype: str) -> Iterator[tuple[list[Input], list[str], dict[str, Any]]]:
    """Draw an op's operands and attributes, in as many ways as `ATTEMPTS` finds."""
    columns = _columns(name, dtype)
    seen: list[dict[str, Any]] = []
    for attempt in range(ATTEMPTS):
        sketch = _Table(name, FastSource(attempt, 0), dtype, columns)
        drawn = catalogue()[name].draw(sketch)
        if drawn is None:
            continue
        operands, attrs = drawn
        whole = columns is not None and takes(name) != "complex" and catalogue()[name].family not in ELEMENTWISE
        if attrs in seen or (whole and (attrs.get("axis") not in (1, -1, [1]) or seen)):
            continue
        seen.append(attrs)
        if len(seen) > VARIANTS:
            return
        yield sketch.inputs, [d.name for d in operands], attrs


def cases_of(name: str) -> Iterator[tuple[str, Case]]:
    """Yield the cases of an op, each with its title."""
    for dtype in (OTHER_KIND[d] if takes(name) == "complex" else d for d in DTYPES):
        for inputs, operands, attrs in _drawn(name, dtype):
            for order in ORDERS:
                yield f"{name}, order {order}, {dtype}", _case(name, inputs, operands, attrs, order=order)


def _seed(name: str, array: Any, dtype: str) -> Input:
    numbers = np.resize(np.array([1.0, -0.5, 2.0, 0.75, -1.5], dtype), array.shape)
    return Input(name, array.shape, data_of(numbers), dtype, differentiable=False)


def _case(name: str, inputs: list[Input], operands: list[str], attrs: dict[str, Any], *, order: int) -> Case:
    arrays = {entry.name: entry.array() for entry in inputs}
    with np.errstate(all="ignore"):
        made = OPS[name](*(arrays[o] for o in operands), **attrs)
    outs = [np.asarray(o) for o in (made if isinstance(made, tuple) else (made,))]
    roots = tuple(f"y{i}" for i in range(len(outs)))
    seeds = [_seed(f"s{i}", out, str(out.dtype)) for i, out in enumerate(outs)]
    asked = tuple(dict.fromkeys(operands))
    first = tuple(f"g{i}" for i in range(len(asked)))
    steps: list[Step] = [
        Op(name, tuple(operands), roots, attrs),
        Grad(roots, asked, first, tuple(s.name for s in seeds), create_graph=order > 1, allow_unused=True),
    ]
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
    return Case(tuple(_part(entry, length, place) for entry in case.inputs), case.steps, case.lane)


def _part(entry: Input, length: int, place: int) -> Input:
    if not entry.shape or entry.shape[0] != length:
        return entry
    rest = math.prod(entry.shape[1:])
    data = entry.data[place * rest : (place + 1) * rest] * COPIES
    return Input(entry.name, (COPIES, *entry.shape[1:]), data, entry.dtype, entry.differentiable)


def is_packed(name: str) -> bool:
    """Whether the places of an op's case are independent of each other, so that it can be cut."""
    return _columns(name, DTYPES[0]) is not None and name != "masked_fill_tensor" and "mask" not in catalogue()[name].attrs
