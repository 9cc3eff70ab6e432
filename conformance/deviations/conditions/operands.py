"""Conditions on which operands of an op nothing flows to."""

from __future__ import annotations

import functools
import itertools
import math
from typing import TYPE_CHECKING

from conformance.case.outcome import Computed, Raised
from conformance.case.queries import call_at, leaves, upstream, upstream_of
from conformance.case.steps import (
    AppendBackward,
    Backward,
    Custom,
    Detach,
    Grad,
    Hook,
    InPlace,
    Op,
    SetRequiresGrad,
    ops,
    results,
)
from conformance.compare.promise import promised
from conformance.deviations.conditions.in_place import shapes_at
from conformance.deviations.conditions.registry import condition
from reference_impl import PADDLE, PADDLE_STATIC, Category

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from conformance.case.case import Case

GRIDS = ("meshgrid", "cartesian_prod", "broadcast_tensors")
PRODUCTS = (
    *("matmul", "matmul_transposed", "mm", "bmm", "mv", "dot", "inner", "outer", "linear", "multi_dot", "bilinear", "baddbmm", "addmm"),
    *("conv1d", "conv2d", "conv2d_biased", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"),
)
"""Ops that multiply matrices, whose gradients one kernel computes for both operands; a convolution does so inside."""
PAIRED = {"cross": 0, "solve": 0, "cholesky_solve": 0, "triangular_solve": 0, "prelu": 0}
"""Ops of two operands whose gradients one kernel computes, with the position of the first of the two."""
SHIFTED = {"batch_norm_train": 1, "batch_norm_eval": 1, "instance_norm": 1}
"""The same of a weight and a bias."""
RECURRENT = tuple(op + form for op in ("rnn_tanh", "gru", "lstm") for form in ("", "_stacked", "_both_ways"))
WEIGHTS = 4
"""How many operands are the weights and biases of one recurrent layer; the last operands are those of all layers."""


@condition
def differentiates_product_without_elements(case: Case, number: int) -> bool:
    """Whether the roots of a call come by a product of matrices, or a convolution, of which some operand has no elements."""
    call, before = call_at(case, number), case.steps[:number]
    if call is None:
        return False
    shapes, reached = shapes_at(case, number, PADDLE), upstream_of(before, call.roots)
    products = (s for s in before if isinstance(s, Op | Custom) and any(op.op in PRODUCTS for op in ops(s)))
    return any(0 in shapes.get(name, ()) for s in products if not reached.isdisjoint(s.results) for name in s.operands)


@condition
def takes_nothing(case: Case, number: int) -> bool:
    """Whether the step is an op of which some operand has no elements, or which expands one to that."""
    step = case.steps[number]
    if not isinstance(step, Op):
        return False
    shapes = shapes_at(case, number, PADDLE)
    return 0 in step.attrs.get("shape", ()) or any(0 in shapes.get(name, ()) for name in step.operands)


@functools.lru_cache(maxsize=8)
def flags_at(case: Case, number: int) -> dict[str, bool]:
    """Return whether each value requires a gradient when a step of a script, or a program, runs."""
    dialect = PADDLE_STATIC if any(isinstance(step, AppendBackward) for step in case.steps) else PADDLE
    flags = {entry.name: entry.differentiable for entry in case.inputs}
    for step, seen in zip(case.steps[:number], promised(case, dialect).observations, strict=False):
        if isinstance(step, SetRequiresGrad):
            flags[step.tensor] = step.requires_grad
        elif isinstance(seen, Computed):
            names = (step.tensor,) if isinstance(step, InPlace) else results(step)
            made = zip(names, seen.values, strict=False)
            flags.update({name: value.requires_grad for name, value in made if value is not None})
        elif isinstance(step, Grad) and not step.create_graph:  # which is refused, and Paddle may answer it all the same
            flags.update(dict.fromkeys(step.results, False))
    return flags


@condition
def constant_in_grid(case: Case, number: int) -> bool:
    """Whether an op makes a grid of a constant and another value, or broadcasts them to each other."""
    step = case.steps[number]
    if not isinstance(step, Op) or step.op not in GRIDS:
        return False
    flags = flags_at(case, number)
    scattered = _scattered(case, number, flags)
    return len({flags.get(name, True) and name not in scattered for name in step.operands}) > 1


def _scattered(case: Case, number: int, flags: Mapping[str, bool]) -> set[str]:
    """Return the constants into which something was scattered along a diagonal: Paddle does not differentiate what is scattered."""
    ops = (step for step in case.steps[:number] if isinstance(step, Op) and step.op == "diagonal_scatter")
    return {name for op in ops if not flags.get(op.operands[0], True) for name in op.results}


@condition
def lone_gradient(case: Case, number: int) -> bool:
    """Whether a call computes one of the two gradients of a cross product, a solution or a prelu alone, or cuts an operand off."""
    return _lone(case, number, PAIRED)


@condition
def lone_shift(case: Case, number: int) -> bool:
    """Whether a call computes the gradient of the weight or the bias of a batch or instance norm alone, or cuts one of them off."""
    return _lone(case, number, SHIFTED)


@condition
def lone_weight(case: Case, number: int) -> bool:
    """Whether a call computes a gradient of a recurrent layer, and not those of all its weights and biases."""
    return any(any(needed) and not all(needed[-(len(needed) // WEIGHTS * WEIGHTS) :]) for needed in _needed(case, number, RECURRENT))


@condition
def lone_part(case: Case, number: int) -> bool:
    """Whether a call computes the gradients of some operands of a stack, and not those of all."""
    return any(any(needed) and not all(needed) for needed in _needed(case, number, ("stack",)))


@condition
def instance_norm_first(case: Case, number: int) -> bool:
    """Whether a call comes after an instance norm, and no callback refuses it but one of what the instance norm was made of."""
    return _comes_first(case, number, ("instance_norm",))


@condition
def reflections_first(case: Case, number: int) -> bool:
    """Whether a call comes after a product of reflections, and no callback refuses it but one of what the product was made of."""
    return _comes_first(case, number, ("householder_product", "ormqr"))


def _comes_first(case: Case, number: int, ops: Collection[str]) -> bool:
    """Whether a pass comes to the node of such an op before a callback refuses it, as one does of what the op was made of."""
    call, before = call_at(case, number), case.steps[:number]
    made = [step for step in before if isinstance(step, Op) and step.op in ops]
    if call is None or not made:
        return False
    seen = promised(case, PADDLE).observations[number]
    if not isinstance(seen, Raised) or seen.category not in (Category.CALLBACK, Category.CALLBACK_RESULT) or not seen.events:
        return True
    hooked = {step.results[0]: step.tensor for step in before if isinstance(step, Hook)}
    last = seen.events[-1].name
    return any(hooked.get(last, last) in upstream(before, name) for step in made for name in step.operands)


def _lone(case: Case, number: int, ops: dict[str, int]) -> bool:
    if cut := set(getattr(call_at(case, number), "no_grad_vars", None) or ()):
        made = [step for step in case.steps[:number] if isinstance(step, Op) and step.op in ops]
        if any(not cut.isdisjoint(step.operands[ops[step.op] :][:2]) for step in made):
            return True
    return any(len(set(needed)) > 1 for needed in _needed(case, number, ops, lambda op: slice(ops[op], ops[op] + 2)))


def _needed(case: Case, number: int, ops: Collection[str], of: Callable[[str], slice] = lambda _: slice(None)) -> Iterator[list[bool]]:
    """Yield of which operands of each such op, or of some of them, a call computes the gradients: all that may be so.

    Whether a derivative depends on what it seems to depend on is an open choice, and a process that died does not tell what it took.
    """
    call, recorded = call_at(case, number), (step for step in case.steps[:number] if not isinstance(step, Detach))
    steps = [step for step in recorded if not getattr(step, "no_grad", False)]
    sure = [step for step in steps if not isinstance(step, Grad)]
    if not isinstance(call, Grad | Backward):
        return
    asked = leaves(case) if call.inputs is None else set(call.inputs)
    cut = frozenset(getattr(call, "no_grad_vars", None) or ())
    for i, step in enumerate(case.steps[:number]):
        if isinstance(step, Op) and step.op in ops:
            flags, names = flags_at(case, i), step.operands[of(step.op)]
            live = [flags.get(name, True) and name not in cut for name in names]
            ways = [[upstream(way, name, but=cut) for way in (steps, sure)] for name in names]
            open_to = [{lives and not asked.isdisjoint(way) for way in pair} for lives, pair in zip(live, ways, strict=True)]
            yield from (list(needed) for needed in itertools.product(*open_to))


ROOTS = ("sqrt", "rsqrt")
RESHAPES = (
    *("reshape", "view", "view_as", "flatten", "unflatten", "ravel", "squeeze", "unsqueeze", "atleast_1d", "atleast_2d", "atleast_3d"),
    "getitem_newaxis",
)
"""Ops that change the shape and move no element."""


@condition
def root_of_reshaped_root(case: Case, number: int) -> bool:
    """Whether the step takes a root of what ops that move no element made of another root."""
    step = case.steps[number]
    if not isinstance(step, Op) or step.op not in ROOTS:
        return False
    makers = {name: made for made in case.steps[:number] if isinstance(made, Op) for name in made.results}
    made = makers.get(step.operands[0])
    if made is None or made.op not in RESHAPES:
        return False
    while made is not None and made.op in RESHAPES:
        made = makers.get(made.operands[0])
    return made is not None and made.op in ROOTS


@condition
def soft_labels_unweighed(case: Case, number: int) -> bool:
    """Whether the step is a cross entropy of soft labels whose classes are not weighed."""
    step = case.steps[number]
    return isinstance(step, Op) and step.op == "cross_entropy_distilled" and step.attrs["weight"] is None


@condition
def fills_with_several(case: Case, number: int) -> bool:
    """Whether the step fills the places of a mask with a tensor that has axes."""
    step = case.steps[number]
    return isinstance(step, Op) and step.op == "masked_fill_tensor" and bool(shapes_at(case, number, PADDLE).get(step.operands[1]))


@condition
def vector_times_batch(case: Case, number: int) -> bool:
    """Whether the step multiplies a vector by a batch of several matrices."""
    step = case.steps[number]
    if not isinstance(step, Op) or step.op not in ("matmul", "matmul_transposed"):
        return False
    vector, batch = (shapes_at(case, number, PADDLE).get(name) or () for name in step.operands)
    return len(vector) == 1 and math.prod(batch[:-2]) > 1


@condition
def transposes_vector(case: Case, number: int) -> bool:
    """Whether the step multiplies a vector of several elements that it is told to transpose by what is none.

    A second one only beside a first that is to be transposed, too.
    """
    step = case.steps[number]
    if not isinstance(step, Op) or step.op != "matmul_transposed":
        return False
    first, second = (shapes_at(case, number, PADDLE).get(name) or () for name in step.operands)
    return takes_vector_for_matrix(first, second, **step.attrs)


@condition
def transposes_last_vector(case: Case, number: int) -> bool:
    """Whether the step multiplies by a vector that it is told to transpose, or a loss does so with the weights of its classes."""
    step = case.steps[number]
    if not isinstance(step, Op):
        return False
    if step.op == "matmul_transposed":
        shapes = shapes_at(case, number, PADDLE)
        return bool(step.attrs["transpose_y"]) and len(shapes.get(step.operands[1], (0, 0))) == 1
    return step.op == "cross_entropy_distilled" and step.attrs["weight"] is not None


def takes_vector_for_matrix(first: Sequence[int], second: Sequence[int], *, transpose_x: bool, transpose_y: bool) -> bool:
    """Whether Paddle takes a vector for a column where it is a row, or the other way round, when it differentiates a product.

    ``first``, ``second``: the shapes of the operands. Of one element a row is as good as a column.
    """
    vector, other, told = (first, second, transpose_x) if len(first) == 1 else (second, first, transpose_x and transpose_y)
    return told and len(other) > len(vector) == 1 < vector[0]


@condition
def extreme_of_a_number(case: Case, number: int) -> bool:
    """Whether the step is a running extreme of a number without axes."""
    step = case.steps[number]
    return isinstance(step, Op) and step.op in ("cummax", "cummin") and shapes_at(case, number, PADDLE).get(step.operands[0]) == ()


@condition
def diverges_from_itself(case: Case, number: int) -> bool:
    """Whether the step takes a divergence of a tensor from itself."""
    step = case.steps[number]
    return isinstance(step, Op) and step.op in ("kl_div_in_target", "kl_div_of_logs_in_target") and len(set(step.operands)) == 1
