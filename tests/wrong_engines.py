"""Engines that are wrong on purpose, to see that the suite notices; and one that is right.

Each is the reference engine with one fault, which is there only while the engine runs a case: the reference that it is compared
with in the same process is never touched. Use one on the command line as ``--backends tests.wrong_engines:flipped_sign``.
"""

from __future__ import annotations

import os
import threading
from contextlib import ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np

import conformance
import reference_impl
from conformance.backends import BackendInfo
from conformance.backends.reference import ReferenceEngine, reference
from conformance.outcome import Raised
from conformance.steps import Op
from reference_impl import OPS, PADDLE_STATIC, TORCH, Dialect, Tensor, custom, engine, in_place, transform, walk
from reference_impl.custom import Custom
from reference_impl.walk import Walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from conformance.case import Case, Input
    from conformance.outcome import Outcome
    from reference_impl.tensor import Node

    Fault = Callable[[], AbstractContextManager[Any]]


class WrongEngine:
    """The reference as a backend, with a fault while it runs a case; ``before`` may do worse to the process."""

    def __init__(
        self, name: str, fault: Fault = nullcontext, before: Callable[[Case], None] = lambda _: None, dialect: Dialect = TORCH
    ) -> None:
        self.info = BackendInfo(name, conformance.__version__, dialect, dialect.not_offered)
        self._fault = fault
        self._before = before
        self.engine = reference(dialect, dialect.not_offered)

    def run(self, case: Case) -> Outcome:
        """Run a case with the fault, and take the fault away again."""
        self._before(case)
        with self._fault():
            return self.engine.run(case)


class Breaks(WrongEngine):
    """Right until something is refused; from then on, as long as the process lives, it has the fault."""

    broken = False

    def run(self, case: Case) -> Outcome:
        """Run a case, with the fault if an earlier one broke the engine."""
        with self._fault() if self.broken else nullcontext():
            outcome = self.engine.run(case)
        self.broken |= any(isinstance(seen, Raised) for seen in outcome.observations)
        return outcome


@contextmanager
def rule(op: str, position: int, change: Callable[[Any], Any]) -> Iterator[None]:
    """Change what one vjp rule answers."""
    rules = OPS[op].rules
    right = rules[position]
    rules[position] = lambda *arguments, **attrs: change(right(*arguments, **attrs))
    try:
        yield
    finally:
        rules[position] = right


def _overwrite(tensor: Tensor, cotangent: Any, **options: Any) -> None:
    tensor.grad = None
    _accumulate(tensor, cotangent, **options)


_accumulate = engine._accumulate
_boxed = custom._boxed
_check_count = Custom._check_count
_cotangents = Custom.cotangents
_arrive = Walk._arrive
_grad = reference_impl.grad
_update_in_place = reference_impl.update_in_place
_backward = ReferenceEngine.backward
_leaf = ReferenceEngine.leaf
_hoard: list[Tensor] = []


def _arrive_once(walk: Walk, tensor: Tensor, cotangent: Any) -> None:
    if tensor.node is None:
        walk.leaves.pop(tensor, None)
    else:
        walk.slots.pop(tensor.node, None)
    _arrive(walk, tensor, cotangent)


def _none_for_zeros(*arguments: Any, **options: Any) -> list[Tensor | None]:
    return [g if g is not None and g.array.any() else None for g in _grad(*arguments, **options)]


def _zeros_for_none(outputs: Any, inputs: Any, *arguments: Any, **options: Any) -> list[Tensor]:
    found = _grad(outputs, inputs, *arguments, **options)
    return [Tensor(np.zeros_like(x.array)) if g is None else g for x, g in zip(inputs, found, strict=True)]


def _save_late(op: Any, tensor: Tensor, *operands: Tensor, **options: Any) -> None:
    _update_in_place(op, tensor, *operands, **options)
    if tensor.node is not None and tensor.node.primitive is op:
        tensor.node.arrays[0] = tensor.array


def _returning(adapter: ReferenceEngine, *arguments: Any) -> str:
    _backward(adapter, *arguments)
    return "done"


def _kept(adapter: ReferenceEngine, entry: Input) -> Tensor:
    _hoard.append(_leaf(adapter, entry))
    return _hoard[-1]


def _fan_in_once(backward: Any, variable: Any, contribution: Any) -> None:
    backward.arrived[variable] = [backward._named(variable, contribution)]


def patched(target: Any, name: str, replacement: Any) -> Fault:
    return lambda: mock.patch.object(target, name, replacement)


def _uses_sin(case: Case) -> bool:
    return any(isinstance(step, Op) and step.op == "sin" for step in case.steps)


def correct() -> WrongEngine:
    """Open the reference under another name."""
    return WrongEngine("correct")


def flipped_sign() -> WrongEngine:
    """Open an engine whose rule of ``sin`` has the wrong sign."""
    return WrongEngine("flipped_sign", lambda: rule("sin", 0, OPS["neg"]))


def dropped_accumulation() -> WrongEngine:
    """Open an engine whose `backward` overwrites ``.grad``."""
    return WrongEngine("dropped_accumulation", patched(engine, "_accumulate", _overwrite))


def dropped_fan_out() -> WrongEngine:
    """Open an engine in which the last contribution to a value replaces the earlier ones."""
    return WrongEngine("dropped_fan_out", patched(Walk, "_arrive", _arrive_once))


def freed_graph_unnoticed() -> WrongEngine:
    """Open an engine whose freed graphs never refuse."""
    return WrongEngine("freed_graph_unnoticed", patched(Walk, "_freed", lambda *_: False))


def talkative() -> WrongEngine:
    """Open an engine whose `backward` returns something."""
    return WrongEngine("talkative", patched(ReferenceEngine, "backward", _returning))


def hoarding() -> WrongEngine:
    """Open an engine that never lets go of a leaf."""
    return WrongEngine("hoarding", patched(ReferenceEngine, "leaf", _kept))


def none_for_zeros() -> WrongEngine:
    """Open an engine whose `grad` answers ``None`` where the gradient is zero."""
    return WrongEngine("none_for_zeros", patched(reference_impl, "grad", _none_for_zeros))


def zeros_for_none() -> WrongEngine:
    """Open an engine whose `grad` answers zeros where the gradient is absent."""
    return WrongEngine("zeros_for_none", patched(reference_impl, "grad", _zeros_for_none))


def writes_unnoticed() -> WrongEngine:
    """Open an engine whose passes use what was overwritten, and do not refuse."""
    return WrongEngine("writes_unnoticed", patched(walk, "overwritten", lambda *_: False))


def view_writes_stay() -> WrongEngine:
    """Open an engine in which a write to a view does not reach the tensor that it is a view of."""
    return WrongEngine("view_writes_stay", patched(in_place, "link_of", lambda *_: None))


def saves_after_the_write() -> WrongEngine:
    """Open an engine whose in-place ops keep their operand as it is after the update."""
    return WrongEngine("saves_after_the_write", patched(reference_impl, "update_in_place", _save_late))


def surplus_gradients_ignored() -> WrongEngine:
    """Open an engine that drops what a custom backward returns too much."""

    def check(function: Custom, gradients: list[Any], node: Node) -> None:
        _check_count(function, gradients[: len(node.operands)], node)

    return WrongEngine("surplus_gradients_ignored", patched(Custom, "_check_count", check))


def cotangents_not_materialised() -> WrongEngine:
    """Open an engine whose custom backwards are given ``None`` where nothing, or zero, arrived."""

    def cotangents(function: Custom, node: Node, asked: Any, g: Any, *rest: Any) -> Iterator[tuple[int, Any]]:
        given = [c if np.any(c.array if isinstance(c, Tensor) else c) else None for c in g]
        return _cotangents(function, node, asked, given, *rest)

    boxed = patched(custom, "_boxed", lambda x: x if x is None else _boxed(x))
    return WrongEngine("cotangents_not_materialised", lambda: _both(patched(Custom, "cotangents", cotangents)(), boxed()))


def custom_backward_not_recorded() -> WrongEngine:
    """Open an engine that runs custom backwards without recording them, also under ``create_graph``."""

    def cotangents(*arguments: Any) -> Iterator[tuple[int, Any]]:
        with reference_impl.no_grad():
            yield from list(_cotangents(*arguments))

    return WrongEngine("custom_backward_not_recorded", patched(Custom, "cotangents", cotangents))


def saved_operands_detached() -> WrongEngine:
    """Open an engine whose custom functions save all tensors without their history."""
    return WrongEngine("saved_operands_detached", patched(custom, "_kept", lambda tensor, *_: lambda *_: tensor.detach()))


def correct_programs() -> WrongEngine:
    """Open the reference's static half under another name."""
    return WrongEngine("correct_programs", dialect=PADDLE_STATIC)


def dropped_fan_in() -> WrongEngine:
    """Open an engine of programs that appends no sums: the last contribution to a variable is its gradient."""
    return WrongEngine("dropped_fan_in", patched(transform._Backward, "_arrive", _fan_in_once), dialect=PADDLE_STATIC)


def dies_on_sin() -> WrongEngine:
    """Open an engine that takes its process down wherever a case uses ``sin``."""
    return WrongEngine("dies_on_sin", before=lambda case: os.abort() if _uses_sin(case) else None)


def hangs_on_sin() -> WrongEngine:
    """Open an engine that never comes back from a case that uses ``sin``."""
    return WrongEngine("hangs_on_sin", before=lambda case: threading.Event().wait() if _uses_sin(case) else None)


def breaks_after_a_refusal() -> WrongEngine:
    """Open an engine that differentiates ``mul`` wrongly once it has refused something."""
    return Breaks("breaks_after_a_refusal", lambda: _both(rule("mul", 0, OPS["neg"]), rule("mul", 1, OPS["neg"])))


@contextmanager
def _both(*faults: AbstractContextManager[Any]) -> Iterator[None]:
    with ExitStack() as stack:
        for fault in faults:
            stack.enter_context(fault)
        yield
