"""Probes: the shortest scripts that show what an op does where nobody promises anything.

One op and a sum of its result, or of the real parts. It is differentiated three times, for every way through its operands, and twice by
all of them at once. A second derivative may depend on an operand by the result alone, so each is asked once more with the result cut.
The graph of the op and that of each first derivative are run twice, the former for the op's result alone, too; and each thing that the
op may have kept is written to before a pass, for which its operands are copies, since leaves may not be written to, and copies with
gaps between their elements. All of it with every operand that needs a gradient alone, and with all together: which of them need one
decides what is kept. The first derivatives are run twice with the arguments of each corner, too: a Fourier transform has more nodes
where it keeps a half.
"""

from __future__ import annotations

from itertools import chain, product
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from conformance.case.aliases import TABULATED
from conformance.case.case import Case, input_of
from conformance.case.steps import Backward, Grad, InPlace, Op
from conformance.generate.grid.places import DRAWN, Drawn, Place, drawn
from conformance.ops import catalogue
from conformance.ops.dtypes import is_complex, is_floating

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from conformance.case.case import Input
    from conformance.case.steps import Step

TOTAL = {"axis": None, "keepdims": False}
ONE = {"real": ("float32",), "complex": ("complex64",)}
MANY = 5
"""How many operands are too many for every way through them: recurrent ops have six to eleven. Of these each operand is met with itself
and with the next one."""
SEED = "s"
"""The name of a leaf that is a seed."""


def probes(op: str) -> Iterator[Case]:
    """Yield the probes of an op; none if it takes nothing that has a gradient."""
    for argument in (DRAWN, *catalogue()[op].corners):
        made = next(filter(None, (drawn(op, place, ONE[place.kind]) for place in _places(op, argument))), None)
        if made is None or not is_floating(made.results[0][1]):
            continue
        leaves = [input_of(draft.name, draft.array, differentiable=True) for draft in made.inputs]
        shape, dtype = made.results[0]
        seed = input_of(SEED, np.ones(shape, dtype), differentiable=True)
        for tracked in _subsets(leaves) if argument == DRAWN else (leaves,):
            inputs = tuple(msgspec.structs.replace(leaf, differentiable=leaf in tracked) for leaf in leaves)
            names = [leaf.name for leaf in tracked]
            if argument == DRAWN:
                yield from (Case(inputs, tuple(steps)) for steps in _scripts(op, made, names))
            yield from (Case((*inputs, seed), tuple(steps)) for steps in _derivatives_run_twice(op, made, names))


def _places(op: str, argument: str) -> Iterator[Place]:
    row = catalogue()[op]
    for kind, rank in product(("real", "complex"), "21340"):
        if row.numbers.taken in ("both", kind):
            yield Place(argument, rank, "few", "same", "numeric", kind)


def _subsets(leaves: Sequence[Input]) -> list[Sequence[Input]]:
    return [leaves, *([leaf] for leaf in leaves)] if len(leaves) > 1 else [leaves]


def _scripts(op: str, made: Drawn, tracked: Sequence[str]) -> Iterator[list[Step]]:
    copies = {name: f"h{number}" for number, name in enumerate(dict.fromkeys(made.operands))}
    results = tuple(f"y{number}" for number in range(len(made.results)))
    applied, total = Op(op, made.operands, results, made.attrs), _total(made, results[0])
    for first, second in _ways(tracked):
        yield [applied, *total, *_derivatives(([first], [second], tracked))]
    if len(tracked) > 1:  # some kernels have no gradient of an operand without those of all others
        yield [applied, *total, *_derivatives((tracked, tracked))]
    alone = [(name,) for name in tracked if len(tracked) < MANY]
    for asked in dict.fromkeys((*alone, tuple(tracked))):
        *made_first, last = _derivatives((asked, tracked))
        kept = msgspec.structs.replace(last, retain_graph=True)
        cut = msgspec.structs.replace(last, results=tuple(f"cut{name}" for name in tracked), no_grad_vars=results)
        yield [applied, *total, *made_first, kept, cut]
    yield [applied, *total, Backward(("z",)), Backward(("z",))]
    again = _total(made, results[0], "again")
    yield [applied, *total, *again, Backward(("z",)), Backward(("again",), inputs=results[:1])]
    if op not in TABULATED:  # what else scripts write to may be a view of something, or a copy
        return
    copying = [Op("clone", (name,), (copy,)) for name, copy in copies.items()]
    to_copies = Op(op, tuple(copies[name] for name in made.operands), results, made.attrs)
    for written in (*copies.values(), results[0]):
        yield [*copying, to_copies, InPlace("mul_scalar", written, (), {"other": 2.0}), *total, Backward(("z",))]
    spread = [step for name, copy in copies.items() for step in _spread(made, name, copy)]
    for copy in copies.values() if len(spread) > len(copies) else ():
        yield [*spread, to_copies, InPlace("mul_scalar", copy, (), {"other": 2.0}), *total, Backward(("z",))]


def _spread(made: Drawn, name: str, copy: str) -> list[Step]:
    """Return the steps that make a copy with gaps between its elements: every other one of twice as many; of one number it has none."""
    shape = next(np.shape(draft.array) for draft in made.inputs if draft.name == name)
    if not shape:
        return [Op("clone", (name,), (copy,))]
    twice, key = f"{copy}_twice", [*([0, n, 1] for n in shape[:-1]), [0, 2 * shape[-1], 2]]
    return [Op("cat", (name, name), (twice,), {"axis": -1}), Op("getitem_strided", (twice,), (copy,), {"key": key})]


def _total(made: Drawn, result: str, total: str = "z") -> list[Step]:
    """Return the steps that add a result up to a real number."""
    if not is_complex(made.results[0][1]):
        return [Op("sum", (result,), (total,), TOTAL)]
    return [Op("real", (result,), (f"r{total}",)), Op("sum", (f"r{total}",), (total,), TOTAL)]


def _derivatives_run_twice(op: str, made: Drawn, tracked: Sequence[str]) -> Iterator[list[Step]]:
    """Yield, for each operand, its derivative with a seed that needs a gradient, too, run twice without being kept."""
    results = tuple(f"y{number}" for number in range(len(made.results)))
    for name in tracked:
        is_turned = _is_complex_input(made, name)
        yield [
            Op(op, made.operands, results, made.attrs),
            Grad(results[:1], (name,), ("g",), (SEED,), create_graph=True, allow_unused=True),
            *([Op("real", ("g",), ("r",))] if is_turned else []),
            Op("sum", ("r" if is_turned else "g",), ("z",), TOTAL),
            Backward(("z",)),
            Backward(("z",)),
        ]


def _is_complex_input(made: Drawn, name: str) -> bool:
    return any(draft.name == name and is_complex(str(draft.array.dtype)) for draft in made.inputs)


def _ways(tracked: Sequence[str]) -> Iterable[tuple[str, str]]:
    """Return by what an op is differentiated, and by what its derivative is."""
    if len(tracked) < MANY:
        return product(tracked, tracked)
    return chain(zip(tracked, tracked, strict=True), zip(tracked, (*tracked[1:], tracked[0]), strict=True))


def _derivatives(by: Sequence[Sequence[str]]) -> Iterator[Step]:
    """Yield the derivatives of the total by one list of operands after the other, each of the first result of the one before."""
    root = "z"
    for order, names in enumerate(by, 1):
        found = tuple(f"g{order}{name}" for name in names)
        yield Grad((root,), tuple(names), found, create_graph=order < len(by), allow_unused=True)
        root = f"z{order}"
        if order < len(by):
            yield Op("sum", found[:1], (root,), TOTAL)
