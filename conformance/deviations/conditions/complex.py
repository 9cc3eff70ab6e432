"""Conditions on dtypes: complex ones, and seeds that have another than their root."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np

from conformance.case.queries import call_at, keeps_graph, made_by, until, upstream, values_of
from conformance.case.steps import (
    AppendBackward,
    Backward,
    Custom,
    Edge,
    Grad,
    InPlace,
    Op,
    SetRequiresGrad,
    ops,
    results,
    uses,
)
from conformance.compare.promise import promised
from conformance.deviations.conditions.calls import names_in_paddle
from conformance.deviations.conditions.in_place import shapes_at
from conformance.deviations.conditions.registry import case_condition, condition
from conformance.ops import catalogue
from conformance.ops.dtypes import is_complex
from reference_impl import PADDLE, PADDLE_STATIC

if TYPE_CHECKING:
    from conformance.case.case import Case
    from conformance.case.place import StepNumber

DOUBLE = ("complex128", "float64")
MAKING = ("complex", "fourier", "signals")
"""The families of ops that take tensors of one kind, real or complex, and make the other."""


@case_condition
def complex_tensors(case: Case) -> bool:
    """Whether the case has complex tensors, or an op that may make them of real ones."""
    made = any(catalogue()[op.op].family in MAKING or is_complex(op.attrs.get("dtype", "")) for s in case.steps for op in ops(s))
    return made or any(is_complex(entry.dtype) for entry in case.inputs)


@case_condition
def double_numbers(case: Case) -> bool:
    """Whether the case has numbers in double precision, real or complex: with complex ones of single precision they make complex128."""
    cast = any(op.attrs.get("dtype") in DOUBLE for s in case.steps for op in ops(s))
    return cast or any(entry.dtype in DOUBLE for entry in case.inputs)


@case_condition
def mixed_dtypes(case: Case) -> bool:
    """Whether the case has floating tensors of more than one dtype, inputs or computed ones."""
    cast = any(isinstance(step, Op) and step.op == "cast" for step in case.steps)
    return cast or len(set(_dtypes(case).values())) > 1


@condition
def operands_of_two_dtypes(case: Case, number: int) -> bool:
    """Whether the operands of an op have different floating dtypes."""
    step, dtypes = case.steps[number], _dtypes(case)
    return isinstance(step, Op) and len({dtypes[name] for name in step.operands if name in dtypes}) > 1


@condition
def assigns_wide_elements(case: Case, number: int) -> bool:
    """Whether the step assigns elements of more than four bytes at lists of integers, or several of them where a mask is true."""
    step = case.steps[number]
    if not isinstance(step, Op) or step.op not in ("setitem_intarray", "setitem_mask"):
        return False
    value = step.operands[1]
    several = step.op == "setitem_intarray" or math.prod(shapes_at(case, number, PADDLE).get(value, ())) > 1
    return several and _dtypes(case).get(value) in (*DOUBLE, "complex64")


@functools.lru_cache(maxsize=64)
def _dtypes(case: Case) -> dict[str, str]:
    """Return the dtypes of the inputs of a case, and of what it computes, as far as they are floating ones."""
    dialect = PADDLE_STATIC if any(isinstance(step, AppendBackward) for step in case.steps) else PADDLE
    dtypes = {entry.name: entry.dtype for entry in case.inputs}
    made = values_of(case.steps, promised(case, dialect).observations)
    return dtypes | {name: value.array.dtype.name for name, value in made if value.array.dtype.kind in "fc"}


def _highest_derivative(case: Case, number: int) -> int:
    """Return the order of what the step differentiates, or looks at the gradients of."""
    order: dict[str, int] = {}
    for step in case.steps[:number]:
        highest = max((order.get(name, 0) for _, name in uses(step)), default=0)
        if isinstance(step, Grad):
            order.update(dict.fromkeys(step.results if step.create_graph else (), highest + 1))
        elif isinstance(step, Op | Custom | Edge):
            order.update(dict.fromkeys(results(step), highest))
    step = case.steps[number]
    return 0 if isinstance(step, Op | Custom) else max((order.get(name, 0) for _, name in uses(step)), default=0)


@condition
def derivative_of_derivative(case: Case, number: int) -> bool:
    """Whether the step differentiates, or looks at the gradients of, what was computed from a derivative with a graph."""
    return _highest_derivative(case, number) > 0


@condition
def frees_derivative(case: Case, number: int) -> bool:
    """Whether a call differentiates what was computed from a derivative with a graph, and frees its own."""
    call = case.steps[number]
    if not isinstance(call, Grad | Backward) or keeps_graph(call):
        return False
    return _highest_derivative(case, number) > 0


@condition
def third_derivative(case: Case, number: int) -> bool:
    """Whether the step differentiates what was computed from a derivative, with a graph, of such a derivative."""
    return _highest_derivative(case, number) > 1


@condition
def real_seed_of_complex(case: Case, number: int) -> bool:
    """Whether a call has a complex leaf among its roots, with a real seed."""
    call = call_at(case, number)
    given, dtypes = {entry.name for entry in case.inputs}, _dtypes(case)
    pairs = () if call is None else zip(call.roots, call.seeds or (), strict=False)
    return any(root in given and is_complex(dtypes[root]) and not is_complex(dtypes.get(seed or "", "complex")) for root, seed in pairs)


@condition
def leaf_seeded_in_another_dtype(case: Case, number: int) -> bool:
    """Whether a call has a leaf as a root, and for its seed an input of another dtype, or what was computed from one.

    A gradient that is its seed is that input, too, if the seed is one.
    """
    return bool(_seeded_in_other_dtypes(case, number))


@condition
def leaf_seeded_in_wider_dtype(case: Case, number: int) -> bool:
    """Whether a call has a leaf as a root whose seed, or what that was computed from, has numbers of more bytes."""
    return any(_bytes(seed) > _bytes(own) for _, own, seed in _seeded_in_other_dtypes(case, number))


def leaves_seeded_in_other_dtypes(case: Case, number: StepNumber) -> set[str]:
    """Return the leaves that are roots of calls, until a step, whose seeds have other dtypes."""
    return {root for i in range(len(until(case, number))) for root, _, _ in _seeded_in_other_dtypes(case, i)}


@functools.lru_cache(maxsize=1024)
def _seeded_in_other_dtypes(case: Case, number: int) -> list[tuple[str, str, str]]:
    """Return the roots of a call that are leaves, with their dtypes and those of their seeds, where these are others.

    What was flagged later is a leaf as well as an input of the case.
    """
    call = call_at(case, number)
    if call is None:
        return []
    dtypes, same = _dtypes(case), names_in_paddle(case, number)
    given = {entry.name for entry in case.inputs} | {s.tensor for s in case.steps[:number] if isinstance(s, SetRequiresGrad)}
    pairs = zip(call.roots, call.seeds or (), strict=False)
    named = ((same.get(root, root), name) for root, seed in pairs for name in upstream(case.steps[:number], seed or ""))
    seeded = ((root, dtypes[root], dtypes.get(name, dtypes[root])) for root, name in named if root in given and root in dtypes)
    return [(root, own, other) for root, own, other in seeded if other != own]


def _bytes(dtype: str) -> int:
    return np.dtype(dtype).itemsize


@condition
def sgn_result_asked(case: Case, number: int) -> bool:
    """Whether a `grad` call asks for the gradient of a result of sgn."""
    call = case.steps[number]
    return isinstance(call, Grad) and not made_by(("sgn",), case.steps[:number]).isdisjoint(call.inputs)


@condition
def joins_parts(case: Case, number: int) -> bool:
    """Whether the step makes a complex number of the parts that another one was taken apart into."""
    step = case.steps[number]
    return isinstance(step, Op) and step.op == "as_complex" and step.operands[0] in made_by(("as_real",), case.steps[:number])


@condition
def single_precision_function(case: Case, number: int) -> bool:
    """Whether the step runs exp or sigmoid, maybe in place."""
    step = case.steps[number]
    return any(op.op in ("exp", "sigmoid") for op in ([step] if isinstance(step, InPlace) else ops(step)))
