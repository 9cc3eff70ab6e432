"""Programs: ops that are written down now and run later.

A `Program` holds variables and operators in blocks. An op that meets a `Variable` is not computed, it is appended as an operator to
the current block; its vjp rule, which is written with primitives, can therefore be appended just the same (see `transform`). `run` is
the only place where elements are computed. Shapes and dtypes are known while a program is written: the forward is tried on a specimen.

Sources: ``paddle.static.Program``, ``paddle.static.data``, ``paddle.static.Executor.run``.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from reference_impl.errors import AutogradError, Category
from reference_impl.tape.primitive import Symbol, unobserved
from reference_impl.tape.tensor import Mode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reference_impl.tape.primitive import Primitive


@dataclass(slots=True, eq=False, repr=False)
class Variable(Symbol):
    """A value of a program, known by name, shape and dtype.

    ``stop_gradient``: nothing flows to or through it; it is read when gradients are appended, not before. ``trainable``: it is a
    parameter, with a value that lives in the program. ``unit``: the same for all results of one operator, and for all gradients that
    one call appends for the operands of one unit.
    """

    block: Block
    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    stop_gradient: bool = field(kw_only=True)
    trainable: bool = field(kw_only=True, default=False)
    operator: Operator | None = field(kw_only=True, default=None)
    unit: object = field(kw_only=True, default=None)

    @property
    def program(self) -> Program:
        """The program that this is a value of."""
        return self.block.program

    def record(self, primitive: Primitive, operands: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        """Append an operator to the program of this variable."""
        return self.program.append(primitive, operands, attrs)

    def __repr__(self) -> str:
        return f"Variable({self.name}, {self.dtype}{list(self.shape)}, stop_gradient={self.stop_gradient})"


class Operator:
    """``outputs = primitive(*operands, **attrs)``; an operand is a `Variable` or a constant array.

    An attribute may be a variable of positions. ``derivative_of``: ``(op, depth)`` for an operator of the depth-th derivative of an op.
    ``unit``: the same for all that a framework has one operator for: everything that one call appends to differentiate one unit.
    """

    __slots__ = ("attrs", "block", "derivative_of", "operands", "outputs", "primitive", "unit")

    def __init__(self, block: Block, primitive: Primitive, operands: tuple[Any, ...], attrs: dict[str, Any]) -> None:
        self.block = block
        self.primitive = primitive
        self.operands = operands
        self.attrs = attrs
        self.derivative_of = Mode.derivative_of or (primitive.name, 0)
        self.outputs: tuple[Variable, ...] = ()
        self.unit: object = self

    def __repr__(self) -> str:
        made = ", ".join(v.name for v in self.outputs)
        given = ", ".join(v.name if isinstance(v, Variable) else "constant" for v in self.operands)
        return f"{made} = {self.primitive.name}({given})"


class Block:
    """Part of a program: block 0 is the outermost; an inner block sees the variables of its parents."""

    def __init__(self, program: Program, index: int, parent: Block | None) -> None:
        self.program = program
        self.index = index
        self.parent = parent
        self.variables: dict[str, Variable] = {}

    @property
    def operators(self) -> list[Operator]:
        """The operators of this block, in the order in which they run."""
        return [op for op in self.program.operators if op.block is self]


class Program:
    """Variables and operators in blocks; `operators` are in the order in which they run."""

    def __init__(self) -> None:
        self.blocks = [Block(self, 0, None)]
        self.operators: list[Operator] = []
        self.values: dict[Variable, np.ndarray[Any, Any]] = {}
        self.assignments: dict[Variable, Variable] = {}
        self.recording = True
        self._current = self.blocks[0]
        self._named: dict[str, Variable] = {}
        self._numbers: dict[str, int] = {}

    @contextmanager
    def block(self) -> Iterator[Block]:
        """Open a block inside the current one; what is recorded meanwhile belongs to it."""
        outer = self._current
        self._current = Block(self, len(self.blocks), outer)
        self.blocks.append(self._current)
        try:
            yield self._current
        finally:
            self._current = outer

    @contextmanager
    def no_grad(self) -> Iterator[None]:
        """Ops inside make variables with ``stop_gradient=True``."""
        before, self.recording = self.recording, False
        try:
            yield
        finally:
            self.recording = before

    def data(self, name: str, shape: Sequence[int], dtype: str = "float32", *, stop_gradient: bool = True) -> Variable:
        """Make a variable whose elements are fed to every run."""
        return self._variable(name, tuple(shape), np.dtype(dtype), stop_gradient=stop_gradient)

    def parameter(self, name: str, value: Any) -> Variable:
        """Make a trainable variable with the given first value."""
        array = np.array(value)
        made = self._variable(name, array.shape, array.dtype, stop_gradient=False, trainable=True)
        self.values[made] = array
        return made

    def constant(self, value: Any) -> Variable:
        """Make a variable with the same elements in every run; nothing flows to it."""
        array = np.array(value)
        made = self._variable(self.free_name("constant"), array.shape, array.dtype, stop_gradient=True)
        self.values[made] = array
        return made

    def assign(self, parameter: Variable, value: Variable) -> None:
        """Have every run end by giving a parameter the value of another variable."""
        self.assignments[parameter] = value

    def find(self, name: str) -> Variable:
        """Return the variable of a name.

        Raises:
            AutogradError: ``bad_argument``, if there is none.
        """
        if name not in self._named:
            raise AutogradError(Category.BAD_ARGUMENT, f"no variable of the program is called {name}")
        return self._named[name]

    def parameters(self) -> list[Variable]:
        """Return the trainable variables of all blocks, in the order in which they were made."""
        return [v for block in self.blocks for v in block.variables.values() if v.trainable]

    def append(self, primitive: Primitive, operands: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        """Append an operator to the current block; the variables of its outputs are returned as the primitive returns arrays."""
        block = self._current
        specimens = [_specimen(o) for o in operands]
        with np.errstate(all="ignore"), unobserved():
            tried = primitive.forward(*specimens, **{name: _specimen(a) for name, a in attrs.items()})
        op = Operator(block, primitive, operands, attrs)
        differentiable = self.recording and any(
            isinstance(o, Variable) and not o.stop_gradient and primitive.rule(p) is not None for p, o in enumerate(operands)
        )
        facts: dict[str, Any] = {"stop_gradient": not differentiable, "operator": op, "unit": op}
        op.outputs = tuple(
            self._variable(self.free_name(primitive.name), array.shape, array.dtype, **facts)
            for array in map(np.asarray, tried if primitive.multi_output else (tried,))
        )
        self.operators.append(op)
        return op.outputs if primitive.multi_output else op.outputs[0]

    def rename(self, variable: Variable, name: str) -> None:
        """Give a variable another name, which no other has."""
        for variables in (variable.block.variables, self._named):
            del variables[variable.name]
            variables[name] = variable
        variable.name = name

    def free_name(self, stem: str) -> str:
        """Return ``stem``, or ``stem`` with a number, as a name which no variable has; numbers count on and are not used twice."""
        name = stem
        while name in self._named:
            self._numbers[stem] = self._numbers.get(stem, 0) + 1
            name = f"{stem}_{self._numbers[stem]}"
        return name

    def _variable(self, name: str, shape: tuple[int, ...], dtype: np.dtype[Any], **facts: Any) -> Variable:
        if name in self._named:
            raise AutogradError(Category.BAD_ARGUMENT, f"the program has a variable {name} already")
        made = Variable(self._current, name, shape, dtype, **facts)
        self._named[name] = self._current.variables[name] = made
        return made


def _specimen(given: Any) -> Any:
    """Return an array of the shape and dtype of a variable: ones, or position 0 everywhere."""
    if not isinstance(given, Variable):
        return given
    return np.broadcast_to(np.array(given.dtype.kind == "f", given.dtype), given.shape)


def run(program: Program, feed: Mapping[str, Any], fetch: Sequence[Variable | None] = ()) -> list[np.ndarray[Any, Any] | None]:
    """Run all operators on what is fed and return the elements of the variables that are asked for (``None`` stays ``None``).

    Parameters that something was assigned to have their new value afterwards.

    Raises:
        AutogradError: ``bad_argument``, if a variable is not fed, or fed with another shape.
    """
    known: dict[Any, Any] = dict(program.values)
    for name, array in feed.items():
        variable = program.find(name)
        if np.shape(array) != variable.shape:
            raise AutogradError(Category.BAD_ARGUMENT, f"{name} has the shape {variable.shape}, fed is {np.shape(array)}")
        known[variable] = np.asarray(array, variable.dtype)
    for op in program.operators:
        attrs = {name: _look_up(a, known) for name, a in op.attrs.items()}
        made = op.primitive(*(_look_up(o, known) for o in op.operands), **attrs)
        known.update(zip(op.outputs, made if op.primitive.multi_output else (made,), strict=True))
    program.values.update({parameter: np.array(known[value]) for parameter, value in program.assignments.items()})
    return [None if v is None else np.asarray(_look_up(v, known)) for v in fetch]


def _look_up(given: Any, known: dict[Any, Any]) -> Any:
    if not isinstance(given, Variable):
        return given
    if given not in known:
        raise AutogradError(Category.BAD_ARGUMENT, f"{given.name} is not fed")
    return known[given]
