"""Tensors and the tape.

A `Tensor` is a NumPy array that may remember how it was computed: the `Node` that made it and the output slot it fills. A `Node`
holds what its vjp rules need. Nodes are numbered in the order in which they are made, so a node's number is larger than that of
every node that it depends on: sorting by number *is* a topological order.

A tensor without a node is a leaf. Outputs point to nodes and never the other way round (a rule that needs its own output gets
a fresh `Tensor` around the saved array), so a tape has no reference cycle and is freed by reference counting alone.
"""

from __future__ import annotations

import itertools
import weakref
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

Link: TypeAlias = "tuple[Tensor, View | None, Any, int]"
"""How a tensor came to share memory: ``op(base, **attrs)``, and which of several results; no op for a detached tensor."""

_numbers = itertools.count()


@dataclass(slots=True)
class _Mode:
    """The engine's only mutable state: whether ops are recorded, and on whose behalf.

    `derivative_of` is ``(op, depth)`` while the vjp rules of a node of that op run under ``create_graph``: nodes made meanwhile belong
    to the depth-th derivative of the op, and to `family`; see `Kind.OFFERED` of the open choices.
    `ties` and `leaky_at_zero` are the kinks' conventions of the call that is running, see `Dialect`.
    `stack_probe`, where there is one, says where a node is made; see `dump`.
    `written` is the sequence number of the latest in-place update. Updates and nodes share one counter, so a node with a larger number
    cannot hold anything that was overwritten.
    """

    recording: bool = True
    derivative_of: tuple[str, int] | None = None
    family: Family | None = None
    ties: str = "first"
    leaky_at_zero: str = "slope"
    written: int = 0
    stack_probe: Callable[[], Any] | None = None

    @contextmanager
    def restored(self) -> Iterator[None]:
        """Put every field back to what it was, whatever happens inside: an engine that fails may leave anything behind."""
        before = {name: getattr(self, name) for name in self.__slots__}
        try:
            yield
        finally:
            for name, value in before.items():
                setattr(self, name, value)


Mode = _Mode()


def recording() -> bool:
    """Whether ops on tensors that require a gradient are recorded."""
    return Mode.recording


@contextmanager
def no_grad() -> Iterator[None]:
    """Ops inside are not recorded; their results require no gradient."""
    before, Mode.recording = Mode.recording, False
    try:
        yield
    finally:
        Mode.recording = before


def recorded(op: Callable[..., Any], *operands: Any) -> Any:
    """Apply an op so that it is recorded, also inside a no_grad region: ``create_graph`` says so."""
    before, Mode.recording = Mode.recording, True
    try:
        return op(*operands)
    finally:
        Mode.recording = before


class Function(Protocol):
    """What made a node: a primitive, or one application of a custom function. Its nodes know nothing else of either."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def derivative_of(self) -> tuple[str, int]:
        """The op and the order of derivative that its nodes belong to."""

    @property
    def multi_output(self) -> bool:
        """Whether it returns a tuple of outputs."""

    @property
    def operands(self) -> tuple[str, ...]:
        """Names of its operands, where it has names for them."""

    @property
    def runs_on_nothing(self) -> bool:
        """Whether its rules run where nothing arrived."""

    @property
    def takes_nothing(self) -> bool:
        """Whether its rules are told at which of several outputs nothing arrived, and not given zeros there."""

    @property
    def handing(self) -> tuple[int, ...]:
        """The operands by position, in the order in which a queue is handed their cotangents; empty: as they come."""

    def saves(self, tracked: Sequence[int]) -> bool:
        """Whether the rules of these operands need saved data."""

    def cotangents(self, node: Node, asked: Sequence[int], g: Any, out: Any, operands: Sequence[Any]) -> Iterable[tuple[int, Any]]:
        """Return the cotangents of the operands that are asked for, each with its position."""


class View(Protocol):
    """An op whose output shares memory with its operand."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def multi_output(self) -> bool:
        """Whether it returns a tuple of outputs."""

    def __call__(self, *operands: Any, **attrs: Any) -> Any:
        """Return the view of a tensor or an array."""


@dataclass(slots=True, eq=False)
class Family:
    """The nodes made by the rules of one node under ``create_graph``.

    A framework whose backward functions are nodes themselves runs and frees them as one. `freed_by` is the walk that did.
    """

    freed_by: Any = None


class Node:
    """One recorded op: ``primitive(*operands, **attrs)``.

    `arrays` are the operands' elements, `out` the output's, `tracked` the positions of the operands that need a gradient, `hooks`
    what `reference_impl.tape.hooks` attached, `made_at` what the stack probe said, see `Mode`, `overwritten` by output slot the
    number of the latest write to its memory; `shown`: the view that holds the output, if the op updated one in place; `released`:
    whether its graph was freed, ``in part`` by a pass that ran this node for its result alone.
    """

    __slots__ = (
        "arrays",
        "attrs",
        "derivative_of",
        "family",
        "hooks",
        "made_at",
        "number",
        "operands",
        "out",
        "overwritten",
        "primitive",
        "released",
        "shown",
        "tracked",
    )

    def __init__(
        self,
        primitive: Function,
        operands: tuple[Any, ...],
        attrs: dict[str, Any],
        arrays: list[Any],
        tracked: list[int],
        out: Any,
    ) -> None:
        self.primitive = primitive
        self.operands = operands
        self.attrs = attrs
        self.arrays = arrays
        self.tracked = tracked
        self.out = out
        self.number = next(_numbers)
        self.released: bool | Literal["in part"] = False
        self.hooks: list[Any] | None = None
        self.overwritten: dict[int, int] | None = None
        self.shown: weakref.ref[Tensor] | None = None
        self.derivative_of = Mode.derivative_of or primitive.derivative_of
        self.family = Mode.family
        self.made_at = None if Mode.stack_probe is None else Mode.stack_probe()

    def saves(self) -> bool:
        """Whether this node kept anything for its rules, given which of its operands need a gradient."""
        return self.primitive.saves(self.tracked)

    def on_complex(self) -> bool:
        """Whether some operand is complex."""
        return any(a.dtype.kind == "c" for a in self.arrays if isinstance(a, np.ndarray | np.generic))


@dataclass(slots=True, eq=False)
class Memory:
    """What is known of the memory of a tensor that has views or was written, see `reference_impl.tape.storage`.

    `views` are those made of the tensor, held weakly. `written` is the sequence number of the latest write, counted together with
    the nodes. `past` is what the tensor was before each write that changed its history. `strided` says whether it had gaps between its
    elements when it was written. `residents` are the places of nodes whose saved output lies in this memory although no tensor
    holds it.
    """

    views: list[weakref.ref[Tensor]] = field(default_factory=list)
    limit: int = 8
    written: int = 0
    past: tuple[tuple[int, Tensor], ...] = ()
    strided: bool = False
    residents: tuple[tuple[Node, int], ...] = ()


def memory_of(tensor: Tensor) -> Memory:
    """Return what is known of a tensor's memory; the first call makes the record."""
    if tensor.memory is None:
        tensor.memory = Memory()
    return tensor.memory


def share(view: Tensor, base: Tensor, op: View | None, attrs: Any = None, slot: int = 0) -> None:
    """Note that ``view`` is ``op(base, **attrs)`` and has its elements in the memory of ``base``; without an op: it is detached."""
    view.link = (base, op, attrs, slot)
    memory = memory_of(base)
    memory.views.append(weakref.ref(view))
    if len(memory.views) > memory.limit:
        memory.views = [reference for reference in memory.views if reference() is not None]
        memory.limit = 2 * len(memory.views) + 8


def next_number() -> int:
    """Return the number of an event (a write) in the order of the nodes."""
    return next(_numbers)


class Tensor:
    """An array with a gradient history.

    `grad` is what `backward` accumulated (``None``: nothing yet), a tensor of the same shape and dtype.
    """

    __slots__ = ("__weakref__", "array", "grad", "hooks", "link", "memory", "node", "requires_grad", "slot")

    def __init__(self, array: Any, requires_grad: bool = False, node: Node | None = None, slot: int = 0) -> None:
        self.array = array
        self.requires_grad = requires_grad
        self.node = node
        self.slot = slot
        self.grad: Tensor | None = None
        self.hooks: list[Any] | None = None
        self.link: Link | None = None
        self.memory: Memory | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        return self.array.shape  # type: ignore[no-any-return]

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy dtype of the elements."""
        return self.array.dtype  # type: ignore[no-any-return]

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded op made this tensor."""
        return self.node is None

    def detach(self) -> Tensor:
        """Return a leaf that requires no gradient and shares memory with this tensor."""
        detached = Tensor(self.array)
        share(detached, self, None)
        return detached

    def __repr__(self) -> str:
        return f"Tensor({self.array!r}, requires_grad={self.requires_grad})"


def tensor(data: Any, *, dtype: str | None = None, requires_grad: bool = False) -> Tensor:
    """Make a leaf from array-like ``data``; the array is copied."""
    return Tensor(np.array(data, dtype=dtype), requires_grad=requires_grad)
