"""Conditions on static programs."""

from __future__ import annotations

import functools
from itertools import chain
from typing import TYPE_CHECKING

from conformance.case.outcome import Raised
from conformance.case.queries import arrays_of, call_at, comes_by, derivatives, upstream, upstream_of, values_of
from conformance.case.steps import AppendBackward, Grad, Op, SetRequiresGrad, ops, results, uses
from conformance.compare.promise import promised
from conformance.deviations.conditions.calls import EXPANDING
from conformance.deviations.conditions.complex import mixed_dtypes
from conformance.deviations.conditions.in_place import shapes_at
from conformance.deviations.conditions.registry import case_condition, condition
from conformance.deviations.conditions.several import made_together
from reference_impl import PADDLE_STATIC

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from conformance.case.case import Case
    from conformance.case.steps import Step

SELECTIONS = ("getitem_mask", "masked_select")
REFLECTIONS = ("householder_product", "ormqr")
"""Ops that set parts of a tensor, which has no second derivative. A program that is refused one dies of it, so it is not measured."""
JOINS = ("cat", "stack", "hstack", "vstack", "dstack", "row_stack", "column_stack")
PRODUCTS = ("mul", "outer")
FACTORS = ("ldexp", "trapezoid", "margin_ranking_loss")
"""Ops that multiply their operand with a constant of their own."""
WITH_HIDDEN_RESULTS = frozenset(
    {
        *("topk", "sort", "msort", "kthvalue", "mode_of_selected", "median", "median_min", "nanmedian", "cummax", "cummin"),
        *("adaptive_max_pool2d", "adaptive_max_pool3d", "fractional_max_pool2d", "fractional_max_pool3d"),
        *("layer_norm", "layer_norm_noaffine", "group_norm", "group_norm_noaffine", "instance_norm", "batch_norm_train"),
        *("batch_norm_eval", "rrelu", "dropout_eval", "dropout_downscaled", "dropout_all", "huber_loss", "nll_loss"),
        *("cross_entropy_smoothed", "segment_sum", "segment_mean", "segment_max", "segment_min", "einsum", "einsum_single"),
        *("einsum_triple", "eigvalsh", "lu", "matrix_exp", "gru", "gru_stacked", "gru_both_ways", "lstm_stacked"),
        *("lstm_both_ways", "rnn_tanh", "rnn_tanh_stacked", "rnn_tanh_both_ways"),
    }
)
"""Ops with one result of which Paddle's operator has several: places, masks, statistics, what its gradient is made of."""


@functools.lru_cache(maxsize=8)
def _made_constant(case: Case) -> frozenset[str]:
    """Return the names of the values of a program that nothing flows to when they are made."""
    made = values_of(case.steps, promised(case, PADDLE_STATIC).observations)
    constants = (entry.name for entry in case.inputs if not entry.differentiable)
    return frozenset((*constants, *(name for name, value in made if not value.requires_grad)))


def _constants(case: Case) -> frozenset[str]:
    """Return the names of the values of a program that nothing flows to, from the beginning or from some step on."""
    return _made_constant(case).union(s.tensor for s in case.steps if isinstance(s, SetRequiresGrad) and not s.requires_grad)


@case_condition
def double_precision(case: Case) -> bool:
    """Whether the case computes in float64, or may, because it has several dtypes or a cast."""
    return any(entry.dtype == "float64" for entry in case.inputs) or mixed_dtypes(case)


@condition
def constant_first_operand(case: Case, number: int) -> bool:
    """Whether the first operand of an op is a constant and another is not."""
    step = case.steps[number]
    return isinstance(step, Op) and (step.op == "rdiv_scalar" or (step.operands[0] in _constants(case) and _flows(case, step)))


@condition
def reflects(case: Case, number: int) -> bool:
    """Whether an op is a product of reflections, of which each is taken off an identity, that is off a constant."""
    step = case.steps[number]
    return isinstance(step, Op) and step.op in REFLECTIONS


@condition
def cuts_first_operand(case: Case, number: int) -> bool:
    """Whether a call names the first operand of an op in ``no_grad_vars`` or ``no_grad_set``, and not another of its operands.

    An operand that stops gradients by then, and did not when it was made, is as one that the call names.
    """
    call = call_at(case, number)
    cut = set() if call is None else {*(call.constants or ()), *(stopping(case, number) - _made_constant(case))}
    made = (step for step in case.steps[:number] if isinstance(step, Op) and step.operands)
    return bool(cut) and any(step.operands[0] in cut and not cut.issuperset(step.operands) for step in made)


@condition
def second_of_vectors_with_constant(case: Case, number: int) -> bool:
    """Whether a derivative is differentiated behind a product of two vectors, one of which is a constant, or is cut by a call."""
    call, before = case.steps[number], case.steps[:number]
    if not isinstance(call, Grad) or not _of_derivative(call, before):
        return False
    cut = {name for step in (*before, call) for name in getattr(step, "no_grad_vars", None) or ()}
    constants, shapes = cut | _constants(case), shapes_at(case, number, PADDLE_STATIC)
    products = (step.operands for step in before if isinstance(step, Op) and step.op == "matmul")
    return any(not constants.isdisjoint(names) and all(len(shapes.get(n, ())) == 1 for n in names) for names in products)


def _of_derivative(call: Grad, before: Sequence[Step]) -> bool:
    above = upstream_of(before, call.outputs)
    return not derivatives(before).isdisjoint(above)


@condition
def constant_among_several(case: Case, number: int) -> bool:
    """Whether an op joins a constant and another value, or a matrix and zeros, or a call holds constant in part what one joined."""
    call, steps, step = call_at(case, number), case.steps[:number], case.steps[number]
    if call is None:
        return (isinstance(step, Op) and step.op == "block_diag") or _mixes(case, step, JOINS)
    cut = frozenset(call.constants or ())
    joined = (step.operands for step in steps if isinstance(step, Op) and step.op in JOINS)
    return any(not cut.isdisjoint(operands) and not cut.issuperset(operands) for operands in joined)


@condition
def constant_added(case: Case, number: int) -> bool:
    """Whether an op adds a constant to another value."""
    return _mixes(case, case.steps[number], ("add",))


@condition
def constant_factor(case: Case, number: int) -> bool:
    """Whether an op multiplies a constant and another value."""
    step = case.steps[number]
    return (isinstance(step, Op) and step.op in FACTORS) or _mixes(case, step, PRODUCTS)


def _mixes(case: Case, step: Step, ops: Collection[str]) -> bool:
    """Whether one of some ops has an operand that is a constant, from the beginning or later on, and one that is none at first."""
    return isinstance(step, Op) and step.op in ops and not _constants(case).isdisjoint(step.operands) and _flows(case, step)


def _flows(case: Case, step: Op) -> bool:
    """Whether gradients flow to an operand of an op when it is made."""
    return not _made_constant(case).issuperset(step.operands)


@condition
def constant_seed(case: Case, number: int) -> bool:
    """Whether a seed of a call is a constant."""
    call = call_at(case, number)
    return call is not None and not stopping(case, number).isdisjoint(call.seeds or ())


@condition
def gradients_refused(case: Case, number: int) -> bool:
    """Whether a program may be refused gradients: that is promised, or they are of a higher order than those that an op has."""
    if not isinstance(case.steps[number], Grad):
        return False
    if isinstance(promised(case, PADDLE_STATIC).observations[number], Raised):
        return True
    order, applied = _order(case, number), {op.op for step in case.steps[:number] for op in ops(step)}
    return any(order > (1 if op in REFLECTIONS else PADDLE_STATIC.conventions.highest_order(op)) for op in applied)


@condition
def operand_is_seed(case: Case, number: int) -> bool:
    """Whether a target of a call has for its seed an operand of what made it: of an op, or of the gradient operator of one."""
    return bool(seeds_that_are_operands(case, number))


def seeds_that_are_operands(case: Case, number: int) -> list[int]:
    """Return the positions of the seeds of a call that are as `operand_is_seed` means it."""
    call, before = call_at(case, number), case.steps[:number]
    made: dict[str, Collection[str | None]] = {name: s.operands for s in before if isinstance(s, Op) for name in s.results}
    for step in before:
        if isinstance(step, Grad):
            for name, result in zip(step.inputs, step.results, strict=True):
                beside = (s.operands for s in before if isinstance(s, Op) and name in s.operands)
                made[result] = {name, *(step.seeds or ()), *chain.from_iterable(beside)}
    pairs = enumerate(zip(call.roots, call.seeds or (), strict=False)) if call is not None else ()
    return [i for i, (root, seed) in pairs if seed in made.get(root, ())]


@condition
def returns_operand(case: Case, number: int) -> bool:
    """Whether an op returns its operand in a program: `positive`, a slice of everything, or an expansion to a shape without axes."""
    step = case.steps[number]
    if not isinstance(step, Op):
        return False
    if step.op == "getitem_slice":
        shapes = shapes_at(case, number + 1, PADDLE_STATIC)
        return step.results[0] in shapes and shapes[step.results[0]] == shapes.get(step.operands[0])
    return step.op == "positive" or (step.op in EXPANDING and not step.attrs["shape"])


@condition
def length_known_to_no_program(case: Case, number: int) -> bool:
    """Whether an operand of an op was made of what a mask selected, whose length a program knows when it runs alone."""
    step, before = case.steps[number], case.steps[:number]
    selected = {name for s in before if isinstance(s, Op) and s.op in SELECTIONS for name in s.results}
    return isinstance(step, Op) and any(not selected.isdisjoint(upstream(before, name)) for name in step.operands)


@condition
def targets_coincide(case: Case, number: int) -> bool:
    """Whether two targets of a call are one variable.

    That is the same name, an op that returns its operand, two derivatives in one variable, or a seed and the
    derivative of a target in itself.
    """
    call, same = call_at(case, number), one_variable(case, number)
    return call is not None and len({same.get(n, n) for n in call.roots}) < len(call.roots)


def one_variable(case: Case, number: int) -> dict[str, str]:
    """Say of the names before a step that are another variable, as `targets_coincide` means it, of which they are a name."""
    same: dict[str, str] = {}
    for i, step in enumerate(case.steps[: number + 1]):
        if isinstance(step, Op) and returns_operand(case, i):
            same[step.results[0]] = same.get(step.operands[0], step.operands[0])
        if isinstance(step, Grad):
            seeds = {same.get(root, root): seed for root, seed in zip(step.roots, step.seeds or (), strict=False)}
            asked = [same.get(name, name) for name in step.inputs]
            for name, made in zip(asked, step.results, strict=True):
                seed = seeds.get(name)
                twin = step.results[asked.index(name)] if seed is None else seed
                same[made] = same.get(twin, twin)
    return same


@condition
def target_without_gradient(case: Case, number: int) -> bool:
    """Whether a target of a call stops gradients, or the call names it in ``no_grad_vars`` or ``no_grad_set``.

    The call may have another name of that variable.
    """
    if (call := call_at(case, number)) is None:
        return False
    cut, same = {*(call.constants or ()), *stopping(case, number)}, one_variable(case, number)
    return not {same.get(n, n) for n in call.roots}.isdisjoint(same.get(n, n) for n in cut)


def stopping(case: Case, number: int) -> frozenset[str]:
    """Return the names of the values of a program that stop gradients before a step: they were made so, or set so since."""
    found = set(_made_constant(case))
    for step in case.steps[:number]:
        if isinstance(step, SetRequiresGrad):
            (found.discard if step.requires_grad else found.add)(step.tensor)
    return frozenset(found)


@condition
def target_of_several(case: Case, number: int) -> bool:
    """Whether a target of a call is one of several results of an operator in Paddle: of an op, or of the gradient of one.

    A script may see one of them alone. The gradient of an op has one for each operand, and that of a gradient for the seed, too.
    """
    call, before = call_at(case, number), case.steps[:number]
    if call is None:
        return False
    parts = {name for names in made_together(before) for name in names}
    parts.update(step.results[0] for step in before if isinstance(step, Op) and step.op in WITH_HIDDEN_RESULTS)
    beside = {name for step in before if isinstance(step, Op) and len({*step.operands}) > 1 for name in step.operands}
    for i, step in enumerate(before):
        if isinstance(step, Grad):
            second = _of_derivative(step, before[:i])
            parts.update(made for name, made in zip(step.inputs, step.results, strict=True) if second or name in beside)
    return not parts.isdisjoint(call.roots)


@condition
def target_above_target(case: Case, number: int) -> bool:
    """Whether a target of a call was computed from another."""
    above: dict[str, set[str]] = {}
    for step in case.steps[: number + 1]:
        used = {name for _, name in uses(step)}
        above.update((name, used.union(*(above.get(n, set()) for n in used))) for name in results(step))
    call = call_at(case, number)
    return call is not None and any(not above.get(n, set()).isdisjoint(call.roots) for n in call.roots)


@condition
def seed_below_targets(case: Case, number: int) -> bool:
    """Whether a seed of a call is a variable that targets of it were computed from, of which one was computed from another."""
    call = call_at(case, number)
    seeds = () if call is None else [seed for seed in call.seeds or () if seed is not None]
    return target_above_target(case, number) and comes_by(case, number, seeds)


@condition
def constant_seed_of_several(case: Case, number: int) -> bool:
    """Whether a call has several targets, and a constant for the seed of one of them."""
    call = call_at(case, number)
    return call is not None and len({*call.roots}) > 1 and constant_seed(case, number)


@condition
def loss_of_several(case: Case, number: int) -> bool:
    """Whether the loss of a backward part does not have one element."""
    part = case.steps[number]
    sizes = {name: array.size for name, array in arrays_of(case, promised(case, PADDLE_STATIC).observations)}
    return isinstance(part, AppendBackward) and sizes.get(part.loss) != 1


@condition
def callbacks(case: Case, number: int) -> bool:
    """Whether a backward part has callbacks."""
    part = case.steps[number]
    return isinstance(part, AppendBackward) and part.callbacks


@condition
def by_name(case: Case, number: int) -> bool:
    """Whether a backward part gets the names of its parameters."""
    part = case.steps[number]
    return isinstance(part, AppendBackward) and part.by_name


@condition
def broadcast_product(case: Case, number: int) -> bool:
    """Whether values of different shapes are multiplied in a program."""
    step = case.steps[number]
    if not isinstance(step, Op) or step.op not in PRODUCTS:
        return False
    shapes = shapes_at(case, number, PADDLE_STATIC)
    return step.op == "outer" or len({shapes.get(name) for name in step.operands}) > 1


@condition
def third_of_program(case: Case, number: int) -> bool:
    """Whether a step asks for a gradient of what came of a gradient of a gradient, of which each has a graph in a program."""
    return isinstance(case.steps[number], Grad) and _order(case, number) > 2


def _order(case: Case, number: int) -> int:
    """Return the order of the derivatives that a step makes, or is made of, where each has a graph."""
    orders: dict[str, int] = {}
    for step in case.steps[: number + 1]:
        higher = {name: orders.get(name, 0) for _, name in uses(step)}
        if isinstance(step, Grad):
            higher.update((name, higher[name] + 1) for name in step.roots)
        orders.update(dict.fromkeys(results(step), max(higher.values(), default=0)))
    return max((orders[name] for name in results(case.steps[number])), default=0)
