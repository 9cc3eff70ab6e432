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
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reference_impl.custom import Custom
    from reference_impl.primitive import Primitive

Link: TypeAlias = "tuple[Tensor, Primitive | None, Any, int]"
"""How a tensor came to share memory: ``op(base, **attrs)``, and which of several results; no op for a detached tensor."""

_numbers = itertools.count()


class _Mode:
    """The engine's only mutable state: whether ops are recorded, and on whose behalf.

    `lineage` is ``(op, depth)`` while the vjp rules of a node of that op run under ``create_graph``: nodes made meanwhile belong
    to the depth-th derivative of the op, and to `family`. See `Dialect.highest_order`.
    `ties` and `leaky_at_zero` are the kinks' conventions of the call that is running, see `Dialect`.
    `witness`, where there is one, says where a node is made; see `dump`.
    `written` is the number of the latest in-place update, in the count of the nodes: what younger nodes saw was not written since.
    """

    __slots__ = ("family", "leaky_at_zero", "lineage", "recording", "ties", "witness", "written")

    def __init__(self) -> None:
        self.recording = True
        self.lineage: tuple[str, int] | None = None
        self.family: Family | None = None
        self.ties = "first"
        self.leaky_at_zero = "slope"
        self.written = 0
        self.witness: Callable[[], Any] | None = None


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


class Family:
    """The nodes made by the rules of one node under ``create_graph``.

    A framework whose backward functions are nodes themselves runs and frees them as one. `freed_by` is the walk that did.
    """

    __slots__ = ("freed_by",)

    def __init__(self) -> None:
        self.freed_by: Any = None


class Node:
    """One recorded op: ``primitive(*operands, **attrs)``.

    `arrays` are the operands' elements, `out` the output's, `tracked` the positions of the operands that need a gradient, `hooks`
    what `reference_impl.hooks` attached, `made_at` what the witness said, see `Mode`, `overwritten` by output slot the
    number of the latest write to its memory; `shown`: the view that holds the output, if the op updated one in place.
    """

    __slots__ = (
        "arrays",
        "attrs",
        "family",
        "hooks",
        "lineage",
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
        primitive: Primitive | Custom,
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
        self.released = False
        self.hooks: list[Any] | None = None
        self.overwritten: dict[int, int] | None = None
        self.shown: weakref.ref[Tensor] | None = None
        self.lineage = Mode.lineage or primitive.lineage
        self.family = Mode.family
        self.made_at = None if Mode.witness is None else Mode.witness()

    def saves(self) -> bool:
        """Whether this node kept anything for its rules, given which of its operands need a gradient."""
        return self.primitive.saves(self.tracked)

    def on_complex(self) -> bool:
        """Whether some operand is complex."""
        return any(a.dtype.kind == "c" for a in self.arrays if isinstance(a, np.ndarray | np.generic))


class Memory:
    """What is known of the memory of a tensor that has views or was written, see `reference_impl.storage`.

    `views` are those made of the tensor, held weakly. `written` is the number of the latest write, in the count of the nodes; `past`
    what the tensor was before each write that changed its history; `residents` the places of nodes whose saved output lives in the
    memory without being a tensor's.
    """

    __slots__ = ("limit", "past", "residents", "views", "written")

    def __init__(self) -> None:
        self.views: list[weakref.ref[Tensor]] = []
        self.limit = 8
        self.written = 0
        self.past: tuple[tuple[int, Tensor], ...] = ()
        self.residents: tuple[tuple[Node, int], ...] = ()


def share(view: Tensor, base: Tensor, op: Primitive | None, attrs: Any = None, slot: int = 0) -> None:
    """Note that ``view`` is ``op(base, **attrs)`` and has its elements in the memory of ``base``; without an op: it is detached."""
    view.link = (base, op, attrs, slot)
    memory = base.memory
    if memory is None:
        memory = base.memory = Memory()
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

    def __init__(self, array: Any, *, requires_grad: bool = False, node: Node | None = None, slot: int = 0) -> None:
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
