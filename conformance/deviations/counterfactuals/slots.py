"""Counterfactuals of slots: a gradient that is taken for that of another operand of its op, where it is the seed of a call."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from conformance.case.case import input_of
from conformance.case.outcome import Computed
from conformance.case.place import END, StepNumber
from conformance.case.queries import arrays_of, until
from conformance.case.rewrite import CONSTANT, expand_steps, with_inputs, with_steps
from conformance.case.steps import Detach, Grad, Op, SetRequiresGrad, results
from conformance.compare.promise import promised
from reference_impl import PADDLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.case.case import Case, Input
    from conformance.case.steps import Step
    from conformance.deviations.counterfactuals.calls import Variant

FIRST, AS_FIRST = f"{CONSTANT}first", f"{CONSTANT}as_first"
OF_NUMBERS = "nansum", "nan_to_num"
"""Ops that choose, behind a number that stands for NaN, what they were given."""
BEHIND_NUMBERS = ("rdiv_scalar", "soft_margin_loss", *OF_NUMBERS)
"""Ops of which Paddle has the operand behind a number, or behind what was made of one."""
OF_RESULTS = "tanh", "sigmoid"
OF_TWO = "sin", "cos", *OF_RESULTS
"""Ops whose derivative one node differentiates, first in the operand of the op, or in its result, and then in the seed."""
FORMED = "reshape", "reduce_as", "expand"
"""How a gradient in the first operand gets the shape of that in a later one.

It has as many numbers, or is summed as if broadcast; or the first operand is expanded, so that its gradient is not summed.
"""


def later_gradients(case: Case, number: StepNumber) -> Iterator[tuple[int, int, str]]:
    """Yield gradients in an operand that is not the first of its op, and that are seeds: the numbers of `grad` and op, and the name.

    A call that joins the gradients of parts is such an op, and their seeds are its operands; so is the seed where `OF_TWO` are
    differentiated.
    """
    steps = until(case, number)
    for call, made in enumerate(steps):
        if isinstance(made, Grad) and made.create_graph:
            for asked, gradient in zip(made.inputs, made.results, strict=False):
                if any(isinstance(s, Grad) and s.create_graph and gradient in (s.seeds or ()) for s in steps[call + 1 :]):
                    yield from ((call, i, gradient) for i in range(call) if _is_later(steps[:call], i, asked))


def _is_later(steps: Sequence[Step], number: int, name: str) -> bool:
    """Whether an operand stands behind another, which may be a number that it divides, one for what is NaN in it, or a target."""
    op = steps[number]
    if isinstance(op, Grad):
        return _first_part(steps, number, name) is not None
    if not isinstance(op, Op):
        return False
    alone = op.op in BEHIND_NUMBERS and name in op.operands
    return name in op.operands[1:] or alone or (op.op in OF_TWO and _is_seed(steps, op.results[0], name))


def _is_seed(steps: Sequence[Step], root: str, name: str) -> bool:
    """Whether a call with a graph starts from a root with a seed of that name."""
    calls = (call for call in steps if isinstance(call, Grad) and call.create_graph)
    return any((root, name) in zip(call.outputs, call.grad_outputs or (), strict=False) for call in calls)


def _first_part(steps: Sequence[Step], number: int, seed: str) -> int | None:
    """Return which root of a call with a graph is the first part of something that was split, where a seed is that of a later part."""
    call = steps[number]
    if not isinstance(call, Grad) or not call.create_graph or call.grad_outputs is None:
        return None
    seeds = dict(reversed([*zip(call.outputs, call.grad_outputs, strict=False)]))  # of a root that is named twice the first one
    split = (op.results for op in steps[:number] if isinstance(op, Op) and seed in map(seeds.get, op.results[1:]))
    return next((call.outputs.index(parts[0]) for parts in split if seeds.get(parts[0]) is not None), None)


def seeds_of_first_operand(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have a seed that is the gradient in a later operand keep its numbers, and have the derivatives of that in the first operand."""
    for call, op, gradient in later_gradients(case, number):
        for tracked, formed in itertools.product((False, True), FORMED):
            yield _with_first(case, number, (call, op, gradient), formed, tracked=tracked)


def seeds_read_in_a_row(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have the derivatives of a seed that is the gradient in a later operand be the first numbers of those in the first operand.

    Of a larger one nobody can say what stands behind them: NaN; of a smaller one there is no more, and the others are 0. The first
    operand of what adds a bias is the product.
    """
    case, number = expand_steps(case, number, lambda _, step: product_and_sum(step))
    arrays = dict(arrays_of(case, promised(case, PADDLE).observations))
    for call, at, gradient in later_gradients(case, number):
        op, made = case.steps[at], arrays.get(gradient)
        first = arrays.get(op.operands[0]) if isinstance(op, Op) else None
        if made is None or first is None or made.dtype != first.dtype or made.size in (0, first.size):
            continue
        behind = np.where(np.arange(first.size) < made.size, 1, np.nan).reshape(first.shape)
        weights = input_of(f"{FIRST}_weights", behind.astype(first.dtype))
        weighed = with_inputs(case, (*case.inputs, weights))
        for tracked in (False, True):
            yield _with_first(weighed, number, (call, at, gradient), weights, tracked=tracked)


def products_with_seeds_read(case: Case, number: StepNumber, _: Sequence[str]) -> Iterator[Variant]:
    """Have what flows back to a seed, the gradient in the second factor of `bmm`, be multiplied as if it were that in the first.

    With matrices ``(n, n)`` and ``(n, m)`` it fits: what is made has the shape ``(m, m)``, and its first numbers are read, as many as
    the second factor has. What is written here is the transposed map.
    """
    arrays = dict(arrays_of(case, promised(case, PADDLE).observations))
    for call, at, gradient in later_gradients(case, number):
        op, grad = case.steps[at], case.steps[call]
        if not isinstance(op, Op) or op.op != "bmm" or not isinstance(grad, Grad) or op.operands[1] not in grad.inputs:
            continue
        x, y = ([*arrays[name].shape] if name in arrays else list[int]() for name in op.operands)
        if len(x) < 2 or x[:-1] != y[:-1] or x[-1] != x[-2] or y[-1] <= y[-2]:
            continue
        whole, constant, row, padded, square, turned, made, fixed, no, kept = (f"{FIRST}_product_{i}" for i in range(10))
        there, wanted = math.prod(y), math.prod((*y[:-2], y[-1], y[-1]))
        of_whole = msgspec.structs.replace(grad, inputs=op.results, results=(whole,), retain_graph=True, allow_unused=None, form=None)
        behind: list[Step] = [
            Detach(whole, (constant,)),
            Op("reshape", (op.operands[1],), (row,), {"shape": [there]}),
            Op("pad_constant", (row,), (padded,), {"before": [0], "after": [wanted - there], "value": 0.0}),
            Op("reshape", (padded,), (square,), {"shape": [*y[:-2], y[-1], y[-1]]}),
            Op("matrix_transpose", (square,), (turned,)),
            Op("matmul", (constant, turned), (made,)),
            Detach(made, (fixed,)),
            Op("sub", (made, fixed), (no,)),
            Detach(gradient, (kept,)),
            Op("add", (kept, no), (AS_FIRST,)),
        ]
        seeded = (_seeded_as_first(step, gradient) for step in case.steps[call + 1 :])
        steps = *case.steps[:call], of_whole, grad, *behind, *seeded
        yield with_steps(case, steps), number if number is END else number + 1 + len(behind)


def _seeded_as_first(step: Step, gradient: str) -> Step:
    """Have the seed of a call with a graph be the gradient in the first operand, where it was that in a later one."""
    if not isinstance(step, Grad) or not step.create_graph or step.grad_outputs is None:
        return step
    return msgspec.structs.replace(step, grad_outputs=tuple(AS_FIRST if name == gradient else name for name in step.grad_outputs))


def product_and_sum(step: Step) -> list[Step]:
    """Return a linear map as a product and a sum; any other step as it is."""
    if not isinstance(step, Op) or step.op != "linear":
        return [step]
    x, weight, bias = step.operands
    turned, product = (f"{FIRST}_{made}_{step.results[0]}" for made in ("turned", "product"))
    return [
        Op("matrix_transpose", (weight,), (turned,), {}, step.no_grad),
        msgspec.structs.replace(step, op="matmul", operands=(x, turned), results=(product,)),
        msgspec.structs.replace(step, op="add", operands=(product, bias)),
    ]


def _with_first(case: Case, number: StepNumber, place: tuple[int, int, str], to_shape: str | Input, *, tracked: bool) -> Variant:
    """Return a script with a seed as in the first operand, and how that gets its shape: by an op, or read in a row, by weights."""
    call, at, gradient = place
    op, grad = case.steps[at], case.steps[call]
    assert isinstance(op, Op | Grad)  # noqa: S101 - as `later_gradients` found them
    assert isinstance(grad, Grad)  # noqa: S101
    constant, rest, whole, first, fixed, no, formed, kept = (f"{FIRST}_{i}" for i in range(8))
    before: list[Step]
    within: list[Step] = []
    in_first = FIRST
    if isinstance(op, Grad):
        asked = grad.inputs[grad.results.index(gradient)]
        part, seeds = _first_part(case.steps, at, asked) or 0, [*(op.grad_outputs or ())]
        before = [Op("clone", (str(seeds[part]),), (FIRST,))]
        seeds[part] = FIRST
        op = msgspec.structs.replace(op, grad_outputs=tuple(seeds))
    elif op.op == "rdiv_scalar":
        none = Op("mul_scalar", (constant,), (rest,), {"other": 0.0})
        before = [Detach(op.operands[0], (constant,)), none, Op("add_scalar", (rest,), (FIRST,), {"other": op.attrs["other"]})]
        op = msgspec.structs.replace(op, op="div", operands=(FIRST, *op.operands), attrs={})
    elif op.op in OF_NUMBERS:  # where nothing is NaN, the gradient in what stands for it is 0, whatever arrives
        before = [Op("clone", op.operands, (FIRST,)), Op("mul_scalar", (FIRST,), (rest,), {"other": 0.0})]
        before.append(Op("add", (rest, *op.operands), (whole,)))
        op = msgspec.structs.replace(op, operands=(whole,))
    elif op.op == "soft_margin_loss":
        none = Op("mul_scalar", (constant,), (rest,), {"other": 0.0})
        before = [Detach(op.operands[0], (constant,)), none, *_negated(op.attrs["target"], rest, whole)]
        within, op = _soft_margin_of(op)
    elif op.op in OF_RESULTS:
        before, in_first = [], op.results[0]
    elif to_shape == "expand":
        before, to_shape = [Op("expand", (op.operands[0],), (FIRST,), {"shape": shape_of(case, call, gradient)})], "reshape"
        op = msgspec.structs.replace(op, operands=(FIRST, *op.operands[1:]))
    else:
        before = [Op("clone", (op.operands[0],), (FIRST,))]
        op = msgspec.structs.replace(op, operands=(FIRST, *op.operands[1:]))
    before += [SetRequiresGrad(FIRST, requires_grad=True)] if tracked and before else []
    of_first = msgspec.structs.replace(grad, inputs=(in_first,), results=(first,), retain_graph=True, allow_unused=None, form=None)
    behind: list[Step] = [
        Detach(first, (fixed,)),
        Op("sub", (first, fixed), (no,)),
        *_formed(to_shape, (no, formed), shape_of(case, call, gradient)),
        Detach(gradient, (kept,)),
        Op("add", (kept, formed), (AS_FIRST,)),
    ]

    steps: Sequence[Step] = (
        *case.steps[:at],
        *before,
        *within,
        op,
        *case.steps[at + 1 : call],
        of_first,
        grad,
        *behind,
        *(_seeded_as_first(step, gradient) for step in case.steps[call + 1 :]),
    )
    return with_steps(case, steps), number if number is END else number + len(before) + len(within) + 1 + len(behind)


def _formed(by: str | Input, names: tuple[str, str], shape: list[int]) -> list[Op]:
    """Give what has one of two names a shape, under the other name: by an op, or as what stands first in a row, with weights."""
    given, formed = names
    if isinstance(by, str):
        return [Op(by, (given,), (formed,), {"shape": shape})]
    weighed, row, padded, part = (f"{FIRST}_row_{i}" for i in range(4))
    there, wanted = math.prod(by.shape), math.prod(shape)
    return [
        Op("mul", (given, by.name), (weighed,)),
        Op("reshape", (weighed,), (row,), {"shape": [there]}),
        Op("pad_constant", (row,), (padded,), {"before": [0], "after": [max(0, wanted - there)], "value": 0.0}),
        Op("getitem_slice", (padded,), (part,), {"key": [[0, wanted, 1]]}),
        Op("reshape", (part,), (formed,), {"shape": shape}),
    ]


def _negated(target: Any, zeros: str, half: str) -> Iterator[Op]:
    """Yield ops that make `FIRST`, the negated target, of zeros."""
    signs = np.asarray(target)
    yield Op("masked_fill", (zeros,), (half,), {"mask": (signs < 0).tolist(), "value": 1.0})
    yield Op("masked_fill", (half,), (FIRST,), {"mask": (signs > 0).tolist(), "value": -1.0})


def _soft_margin_of(loss: Op) -> tuple[list[Step], Op]:
    """Return the loss as Paddle has it, with the negated target as the first operand of a product: the ops, and the last one."""
    power, exponential, total, logarithm = (f"{FIRST}_of_{i}" for i in range(4))
    terms: list[Step] = [
        Op("mul", (FIRST, *loss.operands), (power,)),
        Op("exp", (power,), (exponential,)),
        Op("add_scalar", (exponential,), (total,), {"other": 1.0}),
        Op("log", (total,), (logarithm,)),
    ]
    if (reduction := loss.attrs["reduction"]) == "none":
        return terms, Op("clone", (logarithm,), loss.results)
    return terms, Op(reduction, (logarithm,), loss.results, {"axis": None, "keepdims": False})


def shape_of(case: Case, number: int, name: str) -> list[int]:
    """Return the shape of what a step made."""
    seen, call = promised(case, PADDLE).observations[number], case.steps[number]
    values = dict(zip(results(call), seen.values, strict=False)) if isinstance(seen, Computed) else {}
    value = values.get(name)
    return [] if value is None else list(value.array.shape)
