"""Reverse mode on programs: `append_backward` and `gradients` write the backward part of a program, and compute nothing.

The operators between the targets and what is asked for are gone through backwards; the vjp rules of each, applied to variables, append
the operators of its gradient, and contributions to the same variable are added by further operators (fan-in). What was there before
stays as it is, and what is appended can be differentiated like anything else: that is all there is to higher orders.

Sources: ``paddle.fluid.backward.append_backward``, ``paddle.fluid.backward.gradients``; today ``paddle.static``.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from reference_impl.dialects.dialect import PADDLE_STATIC
from reference_impl.errors import AutogradError, Category
from reference_impl.primitives.arithmetic import add, clone, mul_scalar, sub
from reference_impl.primitives.shape import link
from reference_impl.static.program import Operator, Program, Variable
from reference_impl.tape.choices import connections
from reference_impl.tape.tensor import Mode

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from reference_impl.dialects.dialect import Dialect
    from reference_impl.static.program import Block
    from reference_impl.tape.choices import Connections

    Callback: TypeAlias = Callable[[Block, dict[str, Any]], object]

CURRENT_OPERATOR = "__current_op_desc__"


@dataclass(frozen=True, slots=True)
class GradientOperator:
    """What was appended to differentiate one operator: the ``operators`` that its vjp rules are made of."""

    primal: Operator
    operators: tuple[Operator, ...]


def gradients(
    targets: Variable | Sequence[Variable],
    inputs: Variable | Sequence[Variable],
    target_gradients: Variable | Sequence[Variable | None] | None = None,
    no_grad_set: Collection[Variable | str] | None = None,
    *,
    dialect: Dialect = PADDLE_STATIC,
) -> list[Variable | None]:
    """Append the gradients of the sum of the targets, each weighed by its target gradient (its shape; default: ones).

    One variable for each input, of the input's shape and dtype; ``None`` (or zeros, as the dialect says) if the input does not affect
    the targets, or belongs to the ``no_grad_set`` (variables or names), which variables with ``stop_gradient=True`` join by themselves.

    Raises:
        AutogradError: a wrong number of target gradients, or one of another shape or dtype; a derivative that is not offered.
    """
    targets, inputs = _listed(targets), _listed(inputs)
    seeds = [None] * len(targets) if target_gradients is None else _listed(target_gradients)
    if len(seeds) != len(targets):
        raise AutogradError(Category.SEED_LENGTH, f"{len(targets)} targets have {len(seeds)} target gradients")
    for target, seed in zip(targets, seeds, strict=True):
        if seed is not None and seed.shape != target.shape:
            raise AutogradError(Category.SEED_SHAPE, f"a target of shape {target.shape} has a gradient of shape {seed.shape}")
        if seed is not None and seed.dtype != target.dtype:
            raise AutogradError(Category.DTYPE, f"a target of {target.dtype} has a gradient of {seed.dtype}")
    appended = _Backward(targets[0].program, inputs, no_grad_set or (), dialect)
    appended.write(list(zip(targets, seeds, strict=True)))
    found = [appended.gradient(v) for v in inputs]
    if dialect.unreached == "zeros":
        return [appended.zeros(v) if gradient is None else gradient for v, gradient in zip(inputs, found, strict=True)]
    return found


def append_backward(
    loss: Variable,
    parameter_list: Iterable[Variable | str] | None = None,
    no_grad_set: Collection[Variable | str] | None = None,
    callbacks: Iterable[Callback] | None = None,
    *,
    dialect: Dialect = PADDLE_STATIC,
) -> list[tuple[Variable, Variable | None]]:
    """Append the gradients of ``loss`` with respect to the parameters to the program that holds it.

    Returns pairs of a parameter and its gradient (``None`` if the loss does not depend on it); for all parameters of the program, or
    for those of ``parameter_list``. Each callback is called with the block and the context after every gradient operator; the context
    maps the names of gradients to their variables, and ``__current_op_desc__`` to the `GradientOperator`.

    Raises:
        AssertionError: if ``loss`` is no variable.
        AutogradError: if a name is unknown.
    """
    assert isinstance(loss, Variable), f"the loss is no variable but {type(loss).__name__}"  # noqa: S101 - promised so
    program = loss.program
    wanted = program.parameters() if parameter_list is None else [_variable(program, p) for p in parameter_list]
    appended = _Backward(program, wanted, no_grad_set or (), dialect, tuple(callbacks or ()))
    appended.write([(loss, None)])
    return [(parameter, appended.gradient(parameter)) for parameter in wanted]


@contextmanager
def replaced_part(name: Literal["search", "write"], make: Callable[[Any], Any]) -> Iterator[None]:
    """Have backward parts search, or write, by what ``make`` makes of the right way to do it, for the length of a ``with`` block."""
    right = getattr(_Backward, name)
    setattr(_Backward, name, make(right))
    try:
        yield
    finally:
        setattr(_Backward, name, right)


class SGD:
    """Gradient descent: ``p <- p - learning_rate * gradient``."""

    def __init__(self, learning_rate: float) -> None:
        self.learning_rate = learning_rate

    def minimize(
        self,
        loss: Variable,
        parameter_list: Iterable[Variable | str] | None = None,
        no_grad_set: Collection[Variable | str] | None = None,
    ) -> list[tuple[Variable, Variable | None]]:
        """Append the backward part and the update of every parameter, which each run does; arguments as of `append_backward`."""
        pairs = append_backward(loss, parameter_list, no_grad_set)
        for parameter, gradient in pairs:
            if gradient is not None:
                loss.program.assign(parameter, sub(parameter, mul_scalar(gradient, other=self.learning_rate)))
        return pairs


class _Backward:
    """One backward part in the making: what has arrived at each variable so far."""

    def __init__(
        self,
        program: Program,
        wanted: Sequence[Variable],
        no_grad_set: Collection[Variable | str],
        dialect: Dialect,
        callbacks: tuple[Callback, ...] = (),
    ) -> None:
        self.program = program
        self.dialect = dialect
        self.callbacks = callbacks
        self.before = set(program.operators)
        self.ignored = {_variable(program, v) for v in no_grad_set}
        self.context: dict[str, Any] = {}
        self.arrived: dict[Variable, list[Variable]] = {}
        self.units: dict[object, object] = {}
        self.asked = self.search(wanted)

    def flows(self, operand: Any) -> bool:
        """Whether a gradient may flow to an operand."""
        return isinstance(operand, Variable) and not operand.stop_gradient and operand not in self.ignored

    def search(self, wanted: Sequence[Variable]) -> dict[Operator, list[int]]:
        """Find the operators that something wanted flows through, and the operands whose gradients are asked for."""
        self.above = {v for v in wanted if self.flows(v)}
        asked = {}
        for op in self.program.operators:
            positions = self.positions(op)
            outputs = [v for v in op.outputs if self.flows(v)]
            if positions and outputs:
                asked[op] = positions
                self.above.update(outputs)
        return asked

    def positions(self, op: Operator) -> list[int]:
        """Return at which operands of an operator there is something that is wanted, or that this flows to."""
        return [p for p, v in enumerate(op.operands) if self.flows(v) and v in self.above and op.primitive.rule(p) is not None]

    def write(self, seeds: list[tuple[Variable, Variable | None]]) -> None:
        """Append everything, from the targets' seeds down."""
        for target, seed in seeds:
            if target in self.above:
                self._arrive(target, np.ones(target.shape, target.dtype) if seed is None else seed)
        kinks = Mode.ties, Mode.leaky_at_zero
        Mode.ties, Mode.leaky_at_zero = self.dialect.ties, self.dialect.leaky_at_zero
        try:
            for op in reversed(self.asked):
                self._differentiate(op)
        finally:
            (Mode.ties, Mode.leaky_at_zero), Mode.derivative_of = kinks, None

    def gradient(self, variable: Variable) -> Variable | None:
        """Return the sum of what arrived at a variable; ``None`` if nothing did."""
        parts = self.arrived.get(variable)
        if parts is None:
            return None
        if len(parts) > 1:
            total, first, unit = parts[0], len(self.program.operators), object()
            for part in parts[1:]:
                total = add(total, part)
            made = self._named(variable, total)
            for operator in self.program.operators[first:]:
                operator.unit = unit
            if len({part.unit for part in parts}) == 1:
                made.unit = parts[0].unit
            self.arrived[variable] = parts = [made]
        return parts[0]

    def zeros(self, variable: Variable) -> Variable:
        """Return the gradient of a variable at which nothing arrived, as zeros."""
        return self._named(variable, np.zeros(variable.shape, variable.dtype))

    def _differentiate(self, op: Operator) -> None:
        cotangents = [self.gradient(v) for v in op.outputs]
        if all(c is None for c in cotangents):
            return
        name, depth = op.derivative_of
        if not self.dialect.conventions.offers(name, depth + 1):
            raise AutogradError(Category.NOT_IMPLEMENTED, f"{name}: no derivative of order {depth + 1} is offered")
        first = len(self.program.operators)
        filled = [np.zeros(v.shape, v.dtype) if c is None else c for v, c in zip(op.outputs, cotangents, strict=True)]
        g, out = (tuple(filled), op.outputs) if op.primitive.multi_output else (filled[0], op.outputs[0])
        operands: Sequence[Any] = op.operands
        connected = self._connections(op)
        if connected.cut:
            operands = [_constant(v) if p in connected.cut else v for p, v in enumerate(op.operands)]
            out = out if any(self.flows(v) for v in operands) else _constant(out)
        others = connected.others(op.operands, g, op.outputs)
        Mode.derivative_of = (name, depth + 1)
        unit = self.units.setdefault(op.unit, object())
        for position, cotangent in op.primitive.cotangents(op, self.asked[op], g, out, operands):
            operand = op.operands[position]
            made = self._arrive(operand, link(cotangent, *others) if others else cotangent)
            if operand.operator is None or operand.operator.unit is not op.unit:
                made.unit = unit
        for operator in self.program.operators[first:]:
            operator.unit = unit
        Mode.derivative_of = None
        self.context[CURRENT_OPERATOR] = GradientOperator(op, tuple(self.program.operators[first:]))
        for callback in self.callbacks:
            callback(op.block, self.context)

    def _connections(self, op: Operator) -> Connections:
        tracked = [p for p, v in enumerate(op.operands) if self.flows(v)]
        return connections(op.primitive, op.derivative_of, tracked, self.asked[op], self.dialect.conventions)

    def _arrive(self, variable: Variable, contribution: Any) -> Variable:
        made = self._named(variable, contribution)
        self.arrived.setdefault(variable, []).append(made)
        return made

    def _named(self, variable: Variable, gradient: Any) -> Variable:
        """Make a gradient a variable of its own, named after its primal and entered in the context."""
        made = gradient if isinstance(gradient, Variable) else self.program.constant(gradient)
        if made.operator is None or made.operator in self.before or made.name in self.context:
            made = clone(made)
        made.stop_gradient = False
        self.program.rename(made, self.program.free_name(f"{variable.name}@GRAD"))
        self.context[made.name] = variable
        return made


def _constant(operand: Any) -> Any:
    """Return an operand as a constant: its value, without its history."""
    if not isinstance(operand, Variable) or operand.stop_gradient:
        return operand
    copy: Variable = clone(operand)
    copy.stop_gradient = True
    return copy


def _variable(program: Program, given: Variable | str) -> Variable:
    return program.find(given) if isinstance(given, str) else given


def _listed(given: Any) -> list[Any]:
    return [given] if isinstance(given, Variable) else list(given)
