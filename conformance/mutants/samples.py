"""Arguments at which it is found out what a wrong rule changes, for any op.

What the catalogue draws is what a script applies. Ops that stand in no row are parts of others: of their forwards, of how one framework
spells them, or of their rules. They are met by differentiating samples of the rows twice, and what is still not met by then (what an
in-place update writes into a base, what a framework counts as linked) in a few cases of a campaign. So a new op has samples as soon as
it has a row, and a new part of a rule as soon as a rule applies it.
"""

from __future__ import annotations

import functools
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.backends.reference import reference
from conformance.case.steps import Op
from conformance.generate.scripts import DrawOptions, case_of
from conformance.generate.sketch import Sketch
from conformance.generate.sources import FastSource
from conformance.mutants.mutant import replaced
from conformance.ops import catalogue
from conformance.ops.spec import Drawn
from reference_impl import DIALECTS, OPS, PADDLE, PADDLE_STATIC, TORCH, Tensor, grad
from reference_impl.dialects.dialect import FORMULAS
from reference_impl.primitives.norms import OF_OTHER_ENGINES
from reference_impl.tape.primitive import Observation, Primitive, array_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from reference_impl import Dialect

SEED = 7
DRAWS = 24
"""How often a row is drawn: broadcasting, repeated indices and complex operands must be among what comes of it."""
DIFFERENTIATED = 4
"""How many samples of a row are differentiated, to meet the parts of its rules."""
KEPT = 6
"""How many samples are kept of an op that stands in no row."""
ENOUGH = 3
"""With how many of them the search ends."""
CASES = 100
"""In how many cases an op is looked for that no row leads to."""


@dataclass(frozen=True)
class Sample:
    """What an op is applied to: ``op(*operands, **attrs)``, as arrays."""

    operands: tuple[Any, ...]
    attrs: dict[str, Any]


@dataclass
class Origin:
    """Where an op that stands in no row was met: in which dialect and row first, and whether a script applies it, or rules alone do."""

    dialect: str
    row: str | None
    applied: bool = False


@dataclass
class Met(Origin):
    """Where an op was met, and what it was applied to."""

    samples: list[Sample] = field(default_factory=list)


def samples(op: Primitive) -> tuple[Sample, ...]:
    """Return samples of an op."""
    return _samples(op, op.name in catalogue())


@functools.cache
def _samples(op: Primitive, in_a_row: bool) -> tuple[Sample, ...]:
    if in_a_row:
        return tuple(_drawn(op.name, DRAWS))
    return tuple(_met()[op.name].samples if op.name in _met() else _plain(op))


def origins(ops: Iterable[str]) -> dict[str, Origin | None]:
    """Return where ops were met that stand in no row; ``None`` for one that was met nowhere. To find that out takes seconds."""
    return {op: _origin(op) for op in ops if op not in catalogue()}


def trust(origins: Mapping[str, Origin | None]) -> None:
    """Take the word of another process for where ops were met."""
    _told.update(origins)


_told: dict[str, Origin | None] = {}


def _origin(op: str) -> Origin | None:
    if op in _told:
        return _told[op]
    met = _met().get(op)
    return None if met is None else Origin(met.dialect, met.row, met.applied)


def is_applied(op: str) -> bool:
    """Whether scripts apply an op, for all that is known; rules alone apply those that were met in derivatives only."""
    return op in catalogue() or (origin := _origin(op)) is None or origin.applied


def dialect_of(op: str, order: int = 1) -> Dialect | None:
    """Return the dialect in which the engine asks an op for a derivative: PyTorch's, if it does there.

    ``None``: no framework does. It has the op as several others, not at all, or not to that order.
    """
    if op in catalogue():
        asked = [PADDLE_STATIC] if catalogue()[op].drawn is Drawn.IN_PROGRAMS else [TORCH, PADDLE]
    else:
        origin = _origin(op)
        asked = [TORCH if origin is None else DIALECTS[origin.dialect]]
    return next((d for d in asked if f"op:{op}" not in d.not_offered and is_itself_in(d, op) and d.conventions.offers(op, order)), None)


def is_itself_in(dialect: Dialect, op: str) -> bool:
    """Whether a dialect has an op as itself, or as itself below a stack of its own, as Paddle has grids."""
    return dialect.spelled.get(op, op) in (op, f"{op}_stacked")


def row_of(op: str) -> str | None:
    """Return the row in which an op is met; ``None`` if there is none."""
    if op in catalogue():
        return op
    origin = _origin(op)
    return None if origin is None else origin.row


def about(op: str) -> str | None:
    """Return the op that a script must be about so that it meets an op; ``None`` where random graphs draw it or its row unasked."""
    row = row_of(op)
    return row if row is not None and catalogue()[row].drawn is Drawn.NAMED else None


def uneven(like: Any, random: np.random.Generator) -> Any:
    """Return elements of a shape and dtype, none of them near 0, and no two the same."""
    like = np.asarray(like)
    drawn = random.uniform(-1.0, 1.0, like.shape)
    drawn += np.copysign(0.5, drawn)
    return (drawn + 1j * random.uniform(0.5, 1.5, like.shape) if like.dtype.kind == "c" else drawn).astype(like.dtype)


def _drawn(op: str, count: int) -> Iterator[Sample]:
    """Draw a row, over real and over complex tensors by turns (ops that take no complex numbers draw real ones there, too)."""
    for attempt in range(count):
        of_complex = attempt % 2 or catalogue()[op].family == "complex"
        sketch = Sketch(FastSource(SEED, attempt), exact=False, dtype="complex128" if of_complex else "float64")
        if sketch.add_op(op):
            step = sketch.steps[-1]
            assert isinstance(step, Op)  # noqa: S101 - that is what was added
            arrays = {made.name: made.array() for made in sketch.inputs}
            yield Sample(tuple(arrays[name] for name in step.operands), step.attrs)


def _plain(op: Primitive) -> Iterator[Sample]:
    """Make up operands for an op that was met nowhere: possible if it has no attributes."""
    random = np.random.default_rng(SEED)
    count = len(op.operands)
    for shapes in ([(2, 3)] * count, [(3, 3)] * count, [(2, 3), (3,), ()][:count]):
        sample = Sample(tuple(np.abs(uneven(np.zeros(shape), random)) for shape in shapes), {})
        try:
            op.forward(*sample.operands)
        except (TypeError, ValueError):
            continue
        yield sample


@functools.cache
def _met() -> dict[str, Met]:
    """Return where the ops were met that stand in no row."""
    watch = _Watch()
    for row in sorted(catalogue(), key=lambda name: catalogue()[name].drawn is Drawn.NAMED):  # so a part of both counts as drawn
        watch.row = row
        for sample in _drawn(row, DIFFERENTIATED):
            _differentiate(watch, TORCH, row, sample)
            for dialect in (TORCH, PADDLE):
                if row in dialect.spelled:
                    _differentiate(watch, dialect, dialect.spelled[row], sample)
    watch.row = None
    for index in range(CASES):
        if all(name in watch.met and len(watch.met[name].samples) >= ENOUGH for name in watch.missing):
            break
        case = case_of(SEED, index, DrawOptions(changing=0.5))
        for dialect in (TORCH, PADDLE):
            with watch.watching(dialect):
                reference(dialect, dialect.not_offered).run(case)
    for name in watch.applied & watch.met.keys():
        watch.met[name].applied = True
    return watch.met


class _Watch:
    """Notes what ops that stand in no row are applied to."""

    def __init__(self) -> None:
        self.met: dict[str, Met] = {}
        self.dialect = TORCH
        self.row: str | None = None
        self.applied: set[str] = set()
        left_out = {*catalogue(), *OF_OTHER_ENGINES}
        self.missing = [name for name, op in OPS.items() if isinstance(op, Primitive) and any(op.rules) and name not in left_out]

    @contextmanager
    def watching(self, dialect: Dialect) -> Iterator[None]:
        """Look at what is applied inside, by an engine of a dialect."""
        self.dialect = dialect
        with replaced(Observation, "observer", self), np.errstate(all="ignore"):
            yield

    def __call__(self, op: Primitive, operands: list[Any], attrs: dict[str, Any], out: Any) -> Any:
        if op.name in self.missing:
            met = self.met.setdefault(op.name, Met(self.dialect.name, self.row))
            shapes = [np.shape(x) for x in operands]
            if len(met.samples) < KEPT and shapes not in [[np.shape(x) for x in s.operands] for s in met.samples]:
                met.samples.append(Sample(tuple(np.array(array_of(x)) for x in operands), dict(attrs)))
        return out


def _differentiate(watch: _Watch, dialect: Dialect, name: str, sample: Sample) -> None:
    """Apply an op, differentiate it, and differentiate the derivative; what scripts apply is recorded before the first of them."""
    leaves = [Tensor(array, requires_grad=True) for array in sample.operands]
    with watch.watching(dialect):
        made = OPS[name](*leaves, **sample.attrs)
    roots, points = list(made) if isinstance(made, tuple) else [made], leaves
    watch.applied.update(_recorded(roots))
    random = np.random.default_rng(SEED)
    for _ in range(2):
        roots = [root for root in roots if root.requires_grad]
        if not roots:
            break
        seeds = [Tensor(uneven(root.array, random), requires_grad=True) for root in roots]
        with watch.watching(dialect):
            found = grad(roots, points, seeds, create_graph=True, allow_unused=True, dialect=FORMULAS)
        roots, points = [gradient for gradient in found if gradient is not None], [*points, *seeds]


def _recorded(roots: list[Tensor]) -> Iterator[str]:
    """Yield the names of the ops on the tape of tensors."""
    left: list[Any] = list(roots)
    while left:
        node = getattr(left.pop(), "node", None)
        if node is not None:
            yield node.primitive.name
            left.extend(node.operands)
