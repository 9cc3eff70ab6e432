"""The steps of the case language: what a script may do.

Fourteen kinds of step have fields of their own, and most of the suite does not want to know them: it asks which values a step uses,
what a call differentiates, or what an engine must offer to run it. So every kind is one struct that answers these questions itself.
`NAMES` lists the fields that hold names of values that the step needs, `PARAMETERS` the optional parameters that an engine may lack, by
the name under which a backend refuses them; `uses` and `parameters` read them. A `Call` says with `Call.roots`, `Call.seeds`,
`Call.asked` and `Call.constants` what every call has, whatever the frameworks name it.

A step that takes ``no_grad`` can run inside a region where nothing is recorded. Every default is a singleton; `conformance.case.case`
says why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

Form: TypeAlias = Literal["bare", "tuple", "set", "iterator"]
"""How lists of tensors are handed over: one alone without a container, in a tuple, as an iterator, or (no_grad_vars only) in a set."""

Flag: TypeAlias = bool | int
"""A flag as a user may pass it: ``True``, ``False``, or a number that means it."""


class _Step(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, tag_field="kind"):
    NAMES: ClassVar[tuple[str, ...]] = ()
    PARAMETERS: ClassVar[dict[str, str]] = {}


class _Call(_Step, frozen=True):
    """A call of autograd; the class variables name the fields in which it holds its roots, seeds, what it asks for, and constants.

    Of several fields for the seeds at most one is passed, or else the engine refuses the call.
    """

    ROOTS: ClassVar[str]
    SEEDS: ClassVar[tuple[str, ...]] = ()
    ASKED: ClassVar[str]
    CONSTANTS: ClassVar[str] = ""

    @property
    def roots(self) -> tuple[str, ...]:
        """The values that are differentiated."""
        roots: str | tuple[str, ...] = getattr(self, self.ROOTS)
        return (roots,) if isinstance(roots, str) else roots

    @property
    def seeds(self) -> tuple[str | None, ...] | None:
        """The cotangent of each root, ``None`` where it is left to the engine; ``None`` for all of them: not passed."""
        return next((seeds for field in self.SEEDS if (seeds := getattr(self, field)) is not None), None)

    @property
    def asked(self) -> tuple[str, ...] | None:
        """The values whose gradients are asked for; ``None``: not passed, so every leaf (or parameter) is."""
        asked: tuple[str, ...] | None = getattr(self, self.ASKED)
        return asked

    @property
    def constants(self) -> tuple[str, ...] | None:
        """The values through which no gradient may flow; ``None``: not passed."""
        return getattr(self, self.CONSTANTS) if self.CONSTANTS else None


class Op(_Step, frozen=True, tag="op"):
    """Apply an op of the catalogue."""

    NAMES = ("operands",)
    op: str
    operands: tuple[str, ...]
    results: tuple[str, ...]
    attrs: dict[str, Any] = {}
    no_grad: bool = False


class InPlace(_Step, frozen=True, tag="in_place"):
    """Change a tensor's elements by the in-place form of an op: ``tensor.op_(*operands, **attrs)``; it keeps its name."""

    NAMES = ("tensor", "operands")
    op: str
    tensor: str
    operands: tuple[str, ...] = ()
    attrs: dict[str, Any] = {}
    no_grad: bool = False


class Custom(_Step, frozen=True, tag="custom"):
    """Apply a custom function (``torch.autograd.Function``, ``paddle.autograd.PyLayer``) that is written in ops.

    The forward runs ``forward`` on ``operands`` and returns ``outputs`` (names that it made, or operands, each once). The backward sees
    ``saved`` (names of the forward, by ``save_for_backward``) and the ``cotangents`` (one name for each output), runs ``backward`` and
    returns ``gradients``: a name or ``None`` for each operand, or too few or too many of them. Names made inside are not known outside.

    Results are new tensors, an operand that is returned as well (in Paddle it is marked with ``mark_not_inplace``). Every call of the
    backward is observed with its cotangents, under the names of the results.
    """

    NAMES = ("operands",)
    operands: tuple[str, ...]
    results: tuple[str, ...]
    forward: tuple[Op, ...]
    outputs: tuple[str, ...]
    cotangents: tuple[str, ...]
    gradients: tuple[str | None, ...]
    backward: tuple[Op, ...] = ()
    saved: tuple[str, ...] = ()
    no_grad: bool = False


class Backward(_Call, frozen=True, tag="backward"):
    """``backward(tensors, grad_tensors, ...)`` with the union of the frameworks' parameters; ``None``: not passed.

    ``dump_backward_graph``: pass a fresh folder as ``dump_backward_graph_path``. ``inputs`` and ``tensors`` may name edges.
    """

    NAMES = ("tensors", "grad_tensors", "grad_variables", "inputs")
    ROOTS = "tensors"
    SEEDS = ("grad_tensors", "grad_variables")
    ASKED = "inputs"
    PARAMETERS = {
        "retain_graph": "backward.retain_graph",
        "create_graph": "backward.create_graph",
        "inputs": "backward.inputs",
        "grad_variables": "grad_variables",
        "dump_backward_graph": "dump_backward_graph_path",
    }
    tensors: tuple[str, ...]
    grad_tensors: tuple[str | None, ...] | None = None
    retain_graph: Flag | None = None
    create_graph: bool = False
    inputs: tuple[str, ...] | None = None
    no_grad: bool = False
    grad_variables: tuple[str | None, ...] | None = None
    dump_backward_graph: bool = False
    form: Form | None = None


class Grad(_Call, frozen=True, tag="grad"):
    """``grad(outputs, inputs, ...)`` with the union of the frameworks' parameters; ``None``: not passed.

    ``inputs`` and ``outputs`` may name edges.
    """

    NAMES = ("outputs", "inputs", "grad_outputs", "no_grad_vars")
    ROOTS = "outputs"
    SEEDS = ("grad_outputs",)
    ASKED = "inputs"
    CONSTANTS = "no_grad_vars"
    PARAMETERS = {
        "create_graph": "grad.create_graph",
        **{name: name for name in ("no_grad_vars", "materialize_grads", "is_grads_batched")},
    }
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    results: tuple[str, ...]
    grad_outputs: tuple[str | None, ...] | None = None
    retain_graph: Flag | None = None
    create_graph: bool = False
    only_inputs: bool = True
    allow_unused: bool | None = None
    no_grad_vars: tuple[str, ...] | None = None
    materialize_grads: bool = False
    no_grad: bool = False
    is_grads_batched: bool = False
    form: Form | None = None


class AppendBackward(_Call, frozen=True, tag="append_backward"):
    """``append_backward(loss, ...)`` of a static program; ``None``: not passed.

    Where a case has such a step, its differentiable inputs are the parameters of the program. ``results`` names the gradients, in the
    order of ``parameter_list``, or of the parameters where that is not passed. ``by_name``: names are handed over, not variables.
    ``callbacks``: one is passed; a call of it is observed where the new gradient operator is that of a step, under the name of its
    result.
    """

    NAMES = ("loss", "parameter_list", "no_grad_set")
    ROOTS = "loss"
    ASKED = "parameter_list"
    CONSTANTS = "no_grad_set"
    PARAMETERS = {"callbacks": "callbacks", "by_name": "by_name"}
    loss: str
    results: tuple[str, ...]
    parameter_list: tuple[str, ...] | None = None
    no_grad_set: tuple[str, ...] | None = None
    callbacks: bool = False
    by_name: bool = False


class ClearGrad(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="clear_grad", tag_field="kind"):
    """Clear ``.grad``: make it absent, or zero."""

    NAMES: ClassVar[tuple[str, ...]] = ("tensor",)
    PARAMETERS: ClassVar[dict[str, str]] = {}
    tensor: str
    to: Literal["none", "zero"] = "none"


class Detach(_Step, frozen=True, tag="detach"):
    """Name a value's elements without its history."""

    NAMES = ("tensor",)
    tensor: str
    results: tuple[str, ...]


class RetainGrad(_Step, frozen=True, tag="retain_grad"):
    """Ask that a computed value keeps its ``.grad`` (``retain_grad``, ``retain_grads``)."""

    NAMES = ("tensor",)
    tensor: str


class SetRequiresGrad(_Step, frozen=True, tag="toggle"):
    """Set ``requires_grad`` (``stop_gradient`` is its opposite).

    The kind is called ``toggle`` in JSON and in ``step:toggle``: the ids of cases depend on it.
    """

    NAMES = ("tensor",)
    tensor: str
    requires_grad: bool


class Hook(_Step, frozen=True, tag="hook"):
    """Register a hook on a tensor; ``results`` names its handle.

    Every call of a hook is observed with the cotangent that it was given. ``returns``: nothing; the cotangent times ``factor``; the
    tensor named ``tensor_returned``; the cotangent in another dtype; or it raises.
    """

    NAMES = ("tensor", "tensor_returned")
    tensor: str
    results: tuple[str, ...]
    returns: Literal["nothing", "scaled", "tensor", "another_dtype", "error"]
    factor: float | None = None
    tensor_returned: str | None = None


class RemoveHook(_Step, frozen=True, tag="remove_hook"):
    """Remove a hook by its handle."""

    NAMES = ("hook",)
    hook: str


class Edge(_Step, frozen=True, tag="edge"):
    """Name the ``GradientEdge`` of a tensor; calls take it in the place of the tensor."""

    NAMES = ("tensor",)
    PARAMETERS = {"tensor": "gradient_edge"}
    tensor: str
    results: tuple[str, ...]


class Drop(_Step, frozen=True, tag="drop"):
    """Delete the script's reference to a value, as ``del`` does. If the object survives, that is recorded as an event."""

    NAMES = ("tensor",)
    tensor: str


Step: TypeAlias = (
    Op
    | InPlace
    | Custom
    | Backward
    | Grad
    | AppendBackward
    | ClearGrad
    | Detach
    | RetainGrad
    | SetRequiresGrad
    | Hook
    | RemoveHook
    | Edge
    | Drop
)
Call: TypeAlias = Grad | Backward | AppendBackward
"""The steps that ask for derivatives."""

_CALLS = (Grad, Backward, AppendBackward)
SEED_FIELDS = frozenset(field for call in _CALLS for field in call.SEEDS)
ASKED_FIELDS = frozenset(call.ASKED for call in _CALLS)
CONSTANT_FIELDS = frozenset(call.CONSTANTS for call in _CALLS if call.CONSTANTS)
"""The fields in which calls hold seeds, what they ask for, and constants, to look up what `uses` yields."""

NO_VALUE = (Hook, Edge)
"""Kinds whose results are handles, not tensors."""


def uses(step: Step) -> Iterator[tuple[str, str]]:
    """Yield every name that a step needs, with the field in which it stands."""
    for field in step.NAMES:
        held = getattr(step, field)
        if held is None:
            continue
        if isinstance(held, str):
            yield field, held
            continue
        for name in held:
            if name is not None:
                yield field, name


def results(step: Step) -> tuple[str, ...]:
    """Return the names that a step makes."""
    return getattr(step, "results", ())


def observed(step: Step) -> tuple[str, ...]:
    """Return whose values an observation of a step holds: those of its results, or that of the tensor that it changed."""
    return (step.tensor,) if isinstance(step, InPlace | SetRequiresGrad) else results(step)


def parameters(step: Step) -> Iterator[str]:
    """Yield what may not be offered: ``step:KIND``, ``no_grad``, parameters, ``op:NAME``, ``in_place:NAME``, ``dtype:NAME``."""
    yield f"step:{kind(step)}"
    if getattr(step, "no_grad", False):
        yield "no_grad"
    for field, name in step.PARAMETERS.items():
        if getattr(step, field) not in (None, False):
            yield name
    match step:
        case Op():
            yield f"op:{step.op}"
            if "dtype" in step.attrs:
                yield f"dtype:{step.attrs['dtype']}"
        case InPlace():
            yield f"in_place:{step.op}"
        case Hook(returns="another_dtype"):
            yield "dtype:float64"
        case Custom():
            for inner in ops(step):
                yield from (word for word in parameters(inner) if word != "step:op")
        case _:
            return


def ops(step: Step) -> tuple[Op, ...]:
    """Return the ops that a step runs, or has run: the step itself, or those inside a custom function."""
    return (step,) if isinstance(step, Op) else (*step.forward, *step.backward) if isinstance(step, Custom) else ()


def kind(step: Step) -> str:
    """Return the word for a step's kind, as it stands in JSON."""
    return type(step).__struct_config__.tag  # type: ignore[return-value]
