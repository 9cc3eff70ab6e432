"""The script of a point of the grid: one op, its operands in their layouts, and its derivatives up to an order.

Every seed of a derivative that is differentiated again is a leaf of its own and is asked for as well, so that the derivative in the
seed is met, too. At order 2 all gradients are differentiated together, each with a seed of its own; at order 3 every second derivative
by itself, since some of them are absent, and what is differentiated with an absent one is blocked. At order 4 it is the first operand's
derivative of its derivative.

An operand that is a derivative has the numbers that were drawn, and so lies in the domain: it is the gradient of a product with 2,
whose seed is half of them.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from conformance.case.case import Case, input_of
from conformance.case.steps import Backward, Edge, Grad, Hook, InPlace, Op, RemoveHook, results
from conformance.generate.grid.alone import CHAIN, LATER, OF_DERIVATIVES, SIBLING, WRITTEN, keeps_what_is_known
from conformance.generate.grid.elements import elements
from conformance.generate.layouts import fitting, laid, repeated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.case.case import Input
    from conformance.case.steps import Step
    from conformance.generate.grid.covering import Row
    from conformance.generate.grid.places import Drawn

LETTERS = "stuv"
"""Of what the names of seeds begin with, by order."""
BATCH = 2
CALLS = ("grad", "unused refused", "again", "unseeded", "backward", "edges", "hooks", "batched")
"""How the last derivatives are asked for: by `grad`, with ``allow_unused`` unset and the graph freed in so many words, twice from a
graph that is kept, with no seeds, by `backward`, twice, so that it accumulates, by `backward` of edges into ``inputs`` that are edges,
by `backward` with hooks on an operand that scale, of which one is removed, and with a batch of seeds. (Hooks on what a derivative
returned show into how many nodes an engine splits it, which nobody promises; random scripts have them.)"""
FACTORS = (-2.0, 4.0, -1.0)
"""By what the hooks scale. The second is removed; whichever others are called, the product is another."""
ASKED = ("all", "first", "last", "first alone", "last alone")
"""Of which operands the gradient is asked for; ``alone``: the others are constants."""


class Value(NamedTuple):
    """A value of the script: its name, shape and dtype."""

    name: str
    shape: tuple[int, ...]
    dtype: str


class Script:
    """The inputs and steps of one case in the making."""

    def __init__(self, op: str, row: Row, drawn: Drawn) -> None:
        self.op, self.row, self.drawn = op, row, drawn
        self.inputs: list[Input] = []
        self.steps: list[Step] = []
        self.counted = 0
        self.seeded = Counter[str]()

    def case(self) -> Case:
        """Write the whole script."""
        asked = self._derivatives() if self.row["call"] == OF_DERIVATIVES else self._operands()
        if self.row["call"] == LATER:
            self._applied("n", self._copied("still", no_grad=True), no_grad=True)
        results = self._applied("y", self.drawn.operands)
        if self.row["call"] == WRITTEN:
            self._write(results, asked)
        elif self.row["call"] == SIBLING:
            self.steps.append(_written(results[0], no_grad=False))
            self._last(results[-1:], asked, LETTERS[0], keeps=False)
        elif self.row["call"] == CHAIN:
            self._chain(results, asked)
        elif self.row["call"] == LATER:
            self._later(results, asked)
        else:
            self._derive(results, asked, int(self.row["order"]), LETTERS)
        return Case(tuple(self.inputs), tuple(self.steps), "exact" if self.row["lane"] == "exact" else "numeric")

    def _applied(self, letter: str, operands: Sequence[str], *, no_grad: bool = False) -> list[Value]:
        """Apply the op, and return its results."""
        made = [Value(f"{letter}{i}", *result) for i, result in enumerate(self.drawn.results)]
        self.steps.append(Op(self.op, tuple(operands), _names(made), self.drawn.attrs, no_grad))
        return made

    def _copied(self, word: str, *, no_grad: bool) -> list[str]:
        """Copy the operands, each once; what a view shows inside ``no_grad`` is then nothing of theirs."""
        self.steps += [Op("clone", (name,), (f"{name}_{word}",), no_grad=no_grad) for name in dict.fromkeys(self.drawn.operands)]
        return [f"{name}_{word}" for name in self.drawn.operands]

    def _derivatives(self) -> list[Value]:
        """Make operands that are derivatives, and return the leaves whose gradients are asked for."""
        halves = []
        for draft in self.drawn.inputs:
            half, base, twice = (f"{draft.name}_{word}" for word in ("half", "base", "twice"))
            dtype = np.dtype(draft.dtype)
            self.inputs.append(input_of(half, (draft.array / 2).astype(dtype), differentiable=True))
            self.inputs.append(input_of(base, np.ones(draft.shape, dtype), differentiable=True))
            self.steps.append(Op("mul_scalar", (base,), (twice,), {"other": 2.0}))
            self.steps.append(Grad((twice,), (base,), (draft.name,), (half,), create_graph=True))
            halves.append(Value(half, draft.shape, draft.dtype))
        return halves

    def _operands(self) -> list[Value]:
        """Lay the operands out, and return those whose gradients are asked for."""
        used = list(dict.fromkeys(self.drawn.operands))
        asked = self.row["asked"]
        ends = {"first": used[:1], "last": used[-1:], "middle": used[len(used) // 2 :][:1]}
        wanted = ends.get(asked.split(" ")[0], used)
        values = []
        for draft in self.drawn.inputs:
            array, layout = draft.array, self.row["layout"]
            if layout == "expanded" and layout in fitting(draft.shape):
                array = repeated(array)
            self._lay(array, layout, draft.name, differentiable=draft.name in wanted or "alone" not in asked)
            values.append(Value(draft.name, draft.shape, draft.dtype))
        return [value for value in values if value.name in wanted]

    def _lay(self, array: Any, layout: str, name: str, *, differentiable: bool) -> None:
        entry, steps = laid(array, layout, name, differentiable=differentiable)
        self.inputs.append(entry)
        self.steps += steps

    def _derive(self, roots: Sequence[Value], points: Sequence[Value], order: int, letters: str) -> None:
        """Differentiate roots, and what comes of it again, up to an order."""
        if order == 1:
            self._last(roots, points, letters[0], keeps=False)
            return
        seeds = self._seeds(roots, letters[0], differentiable=True)
        found = self._grad(roots, points, seeds, create_graph=True)
        further = [*points, *seeds]
        if order == 2:
            self._last(found, further, letters[1], keeps=False)
            return
        again = self._seeds(found, letters[1], differentiable=True)
        second = self._grad(found, further, again, create_graph=True)
        for number, root in enumerate(second):
            self._last([root], [*further, *again], letters[2], keeps=number + 1 < len(second))

    def _write(self, roots: Sequence[Value], points: Sequence[Value]) -> None:
        """Write to the first and the last result inside ``no_grad``; gradients are asked for behind it if what they need is known."""
        known = self.row["layout"] == "contiguous" and keeps_what_is_known(self.op)
        if not known:  # a case in which no gradient is compared counts as one in which nothing is
            self._last(roots, points, LETTERS[0], keeps=False)
        ends = dict.fromkeys((roots[0], roots[-1]))
        self.steps += [_written(end, no_grad=True) for end in ends]
        if known:
            self._last(roots, points, LETTERS[0], keeps=False)

    def _later(self, roots: Sequence[Value], points: Sequence[Value]) -> None:
        """Differentiate what the op makes after a pass, a refusal and a hook: of copies, and of the same operands again.

        At order 1 the pass makes no graph, since an engine may refuse one for an op that has no second derivative there.
        """
        order = int(self.row["order"])
        self._grad(roots, points, self._seeds(roots, LETTERS[0], differentiable=False), create_graph=order > 1)
        apart, unused = (input_of(name, np.ones((), np.float32), differentiable=True) for name in ("apart", "unused"))
        self.inputs += [apart, unused]
        self.steps += [
            Op("clone", (apart.name,), ("beside",)),
            Hook(apart.name, ("h0",), "nothing"),
            Grad(("beside",), (unused.name,), ("refused",)),
        ]
        of_copies = self._applied("z", self._copied("copy", no_grad=False))
        self._derive([*of_copies, *self._applied("w", self.drawn.operands)], points, order, LETTERS)

    def _chain(self, roots: Sequence[Value], points: Sequence[Value]) -> None:
        """Differentiate by the first operand, again and again."""
        for letter in LETTERS[:-1]:
            roots = self._grad(roots, points[:1], self._seeds(roots, letter, differentiable=False), create_graph=True)
        self._last(roots, points[:1], LETTERS[-1], keeps=False)

    def _seeds(self, roots: Sequence[Value], letter: str, *, differentiable: bool, batch: tuple[int, ...] = ()) -> list[Value]:
        seeds = []
        for root in roots:
            name, layout = f"{letter}{self.seeded[letter]}", self.row["seed"]
            self.seeded[letter] += 1
            named = " ".join((name, *self.row.values()))
            array = elements((*batch, *root.shape), None, root.dtype, exact=self.row["lane"] == "exact", name=named)
            if layout == "expanded" and layout in fitting(array.shape):
                array = repeated(array)
            self._lay(array, layout, name, differentiable=differentiable)
            seeds.append(Value(name, root.shape, root.dtype))
        return seeds

    def _grad(self, roots: Sequence[Value], points: Sequence[Value], seeds: Sequence[Value] | None, **options: Any) -> list[Value]:
        found = []
        for point in points:
            found.append(Value(f"g{self.counted}", point.shape, point.dtype))
            self.counted += 1
        self.steps.append(
            Grad(
                _names(roots),
                _names(points),
                _names(found),
                None if seeds is None else _names(seeds),
                **{"allow_unused": True, **options},
            )
        )
        return found

    def _last(self, roots: Sequence[Value], points: Sequence[Value], letter: str, *, keeps: bool) -> None:
        """Ask for the last derivatives, in the way that the row says; ``keeps``: the graph is needed once more."""
        call = self.row["call"]
        batch = (BATCH,) if call == "batched" else ()
        seeds = None if call == "unseeded" else self._seeds(roots, letter, differentiable=False, batch=batch)
        retain = True if keeps else None
        if call == "backward" and seeds is not None:
            self.steps += [Backward(_names(roots), _names(seeds), kept) for kept in (True, retain)]
        elif call == "edges" and seeds is not None:
            self.steps.append(Backward(self._edges(roots), _names(seeds), retain, inputs=self._edges(points)))
        elif call == "hooks" and seeds is not None:
            first = sum(isinstance(step, Hook) for step in self.steps)
            handles = [f"h{first + number}" for number in range(len(FACTORS))]
            hooks = zip(handles, FACTORS, strict=True)
            self.steps += [Hook(points[0].name, (handle,), "scaled", factor=factor) for handle, factor in hooks]
            self.steps += [RemoveHook(handles[1]), Backward(_names(roots), _names(seeds), retain)]
        elif call == "again":
            self._grad(roots, points, seeds, retain_graph=True)
            self._grad(roots, points, seeds, retain_graph=retain)
        elif call == "unused refused":
            self._grad(roots, points, seeds, allow_unused=None, retain_graph=keeps)
        else:
            self._grad(roots, points, seeds, retain_graph=retain, is_grads_batched=bool(batch))

    def _edges(self, values: Sequence[Value]) -> tuple[str, ...]:
        """Ask for the gradient edges of values, each once, and return their names."""
        made = {name for step in self.steps for name in results(step)}
        self.steps += [Edge(value.name, (f"e{value.name}",)) for value in values if f"e{value.name}" not in made]
        return tuple(f"e{value.name}" for value in values)


def _written(value: Value, *, no_grad: bool) -> InPlace:
    return InPlace("mul_scalar", value.name, (), {"other": -2.0}, no_grad)


def _names(values: Sequence[Value]) -> tuple[str, ...]:
    return tuple(value.name for value in values)
