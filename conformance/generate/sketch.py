"""A case in the making: values that exist so far, and how to add to them.

The sketch computes forward values as it goes (with the reference's forwards, which know no rule), so an op is added only where its
operands lie in its domain and its result stays of moderate size: graphs are valid by construction. Values that come from autograd
calls are not computed; only ops that are defined everywhere and do not grow are built on them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.case.case import Case, Input, data_of
from conformance.case.steps import Detach, Op, Step
from conformance.generate.domains import UNBOUNDED, draw_elements, lies_in
from conformance.generate.layouts import fitting, laid, repeated
from conformance.generate.matrices import UNREPEATED
from conformance.generate.odds import USUAL, Odds
from conformance.ops import catalogue
from conformance.ops.dtypes import OTHER_KIND, OTHER_PRECISION, is_complex, name_of
from conformance.ops.sampler import Draft
from conformance.ops.spec import Growth
from reference_impl import OPS
from reference_impl.tape.primitive import Domain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from conformance.ops.sampler import Origin, Source

LETTERS: dict[Origin, str] = {"input": "x", "seed": "s", "returned": "r", "result": "v", "detached": "d", "gradient": "g"}
"""The letter that names begin with, by what they name. It is for people who read a case; the code asks `Draft.origin`."""
CONTIGUOUS, EXPANDED = "contiguous", "expanded"
PLAIN_SHAPES = ((2,), (2, 3), (3, 2, 2))
"""Shapes of fresh inputs where the one that was drawn does not fit: one of each rank that ops ask for."""


class Sketch:
    """Grows the inputs and steps of one case, asking a source for every decision, with given odds.

    Attributes:
        lays_out: whether fresh values may lie in memory in any layout.
        both_precisions: whether they may have the other precision than ``dtype``.
        promotes: whether values of both precisions may be operands of one op.
        unbounded: whether elements of fresh values may be infinite or NaN; nothing is known of such a value.
        shared_written: whether an in-place update has changed memory that several values share.
    """

    def __init__(self, source: Source, odds: Odds = USUAL, *, exact: bool, dtype: str) -> None:
        self.source = source
        self.odds = odds
        self.exact = exact
        self.dtype = dtype
        self.complex = is_complex(dtype)
        self._op = ""
        self.inputs: list[Input] = []
        self.steps: list[Step] = []
        self.values: list[Draft] = []
        self.lays_out = self.both_precisions = self.promotes = self.unbounded = False
        self.shared_written = False
        self._locked: str | None = None
        self.counted = 0

    def case(self) -> Case:
        """Return what was drawn."""
        return Case(tuple(self.inputs), tuple(self.steps), "exact" if self.exact else "numeric")

    def maybe(self, probability: float) -> bool:
        """Decide; the source is not asked for what is certain or impossible."""
        return self.source.chance(probability) if 0 < probability < 1 else probability > 0

    def name(self, letter: str) -> str:
        """Return a name that is not taken."""
        self.counted += 1
        return f"{letter}{self.counted - 1}"

    def length(self) -> int:
        """Choose the length of an axis: mostly 2 or 3, sometimes 1, 4 or 0."""
        return self.source.choice(self.odds.sketch.lengths)

    def shape(self) -> tuple[int, ...]:
        """Choose the shape of a fresh input."""
        return tuple(self.length() for _ in range(self.source.choice(self.odds.sketch.ranks)))

    def number(self) -> float:
        """Choose a Python number."""
        odds = self.odds.sketch
        if self.exact:
            return self.source.integer(*odds.halves) / 2
        return round(self.source.uniform(-odds.reach, odds.reach), 3) or 0.5  # not 0, which would end most graphs

    def elements(self, shape: tuple[int, ...], domain: Domain | None, dtype: str) -> Any:
        """Draw the elements of a fresh input inside a domain."""
        return draw_elements(self.source, self.odds.sketch, shape, domain, dtype, exact=self.exact)

    def fresh(
        self,
        shape: tuple[int, ...],
        *,
        domain: Domain | None = None,
        origin: Origin = "input",
        dtype: str | None = None,
        differentiable: bool | None = None,
    ) -> Draft:
        """Add an input."""
        kind = dtype or self._locked or self._dtype()
        array = self.elements(shape, domain, kind)
        odds = self.odds.sketch
        chance = odds.unbounded_seed if origin == "seed" else odds.unbounded
        finite = not (self.unbounded and domain in UNBOUNDED and array.size and self.source.chance(chance))
        if not finite:
            self._spoil(array, positive=domain is Domain.POSITIVE)
        if differentiable is None:
            differentiable = not self.values or not self.source.chance(odds.constant)
        name = self.name(LETTERS[origin])
        layout = self._layout(shape, domain)
        if layout == CONTIGUOUS:
            self.inputs.append(Input(name, shape, data_of(array), kind, differentiable))
        else:
            array = repeated(array) if layout == EXPANDED else array
            entry, steps = laid(array, layout, name, differentiable=differentiable)
            self.inputs.append(entry)
            self.steps += steps
        known = array if finite else None
        draft = Draft(name, shape, kind, known, differentiable, frozenset([name] if differentiable else ()), origin)
        self.values.append(draft)
        return self._lock(draft)

    def _spoil(self, array: Any, *, positive: bool) -> None:
        """Make one element of an array, or each, infinite or NaN."""
        odds = self.odds.sketch
        place = slice(None) if self.source.chance(odds.everywhere) else self.source.integer(0, array.size - 1)
        element = float(self.source.choice(odds.unbounded_elements))
        array.reshape(-1)[place] = abs(element) if positive else element

    def _layout(self, shape: tuple[int, ...], domain: Domain | None) -> str:
        """Choose how a fresh input lies in memory."""
        if not self.lays_out or not self.source.chance(self.odds.sketch.laid_out):
            return CONTIGUOUS
        return self.source.choice([layout for layout in fitting(shape) if layout != EXPANDED or domain not in UNREPEATED])

    def _dtype(self) -> str:
        """Choose the dtype of a fresh input: that of the case, the real one that belongs to it, or one of the other precision."""
        dtype = self.dtype
        if self.both_precisions and self.source.chance(self.odds.sketch.other_precision):
            dtype = OTHER_PRECISION[dtype]
        if not self.complex:
            return dtype
        taken = catalogue()[self._op].numbers.taken if self._op else "both"
        if taken == "real" or (taken == "both" and self.source.chance(self.odds.sketch.real_input)):
            return OTHER_KIND[dtype]
        return dtype

    def _takes(self, dtype: str) -> bool:
        """Whether the op that is being drawn takes operands of this dtype, beside those that it has."""
        if self._locked is not None and dtype != self._locked:
            return False
        taken = catalogue()[self._op].numbers.taken if self._op else "both"
        if not self.complex:  # whose spectra are complex all the same
            return taken != "real" or not is_complex(dtype)
        return taken == "both" or is_complex(dtype) == (taken == "complex")

    def _lock(self, draft: Draft) -> Draft:
        self._locked = draft.dtype
        return draft

    def _fitting(self, test: Callable[[Draft], bool] | None, domain: Domain | None) -> list[Draft]:
        taken = {dtype for dtype in {d.dtype for d in self.values} if self._takes(dtype)}
        return [
            d for d in self.values if d.dtype in taken and (test is None or test(d)) and (domain is None or self.lies_in(d, domain))
        ]

    def _one_of(self, drafts: list[Draft]) -> Draft:
        odds = self.odds.sketch
        return self._lock(self.source.choice(drafts[-odds.recent_operands :] if self.source.chance(odds.recent_operand) else drafts))

    def take(
        self,
        test: Callable[[Draft], bool] | None = None,
        *,
        domain: Domain | None = None,
        shape: tuple[int, ...] | None = None,
    ) -> Draft:
        """Take a value that fits, or add a fresh input that does; ``shape`` is used where no random shape fits."""
        fitting = self._fitting(test, domain)
        if fitting and not self.source.chance(self.odds.sketch.fresh_operand):
            return self._one_of(fitting)
        drawn = self.shape()
        sample = Draft("", drawn, self.dtype, None, False, frozenset())
        if test is not None and not test(sample):
            drawn = shape if shape is not None else next(s for s in PLAIN_SHAPES if test(Draft("", s, "", None, False, frozenset())))
        return self.fresh(drawn, domain=domain)

    def take_shaped(self, shape: tuple[int, ...]) -> Draft:
        """Take a value of one shape, or add one."""
        fitting = self._fitting(lambda d: d.shape == shape, None)
        return self._one_of(fitting) if fitting and self.source.chance(self.odds.sketch.existing_partner) else self.fresh(shape)

    def partner(self, x: Draft, *, domain: Domain | None = None) -> Draft:
        """Take a value that broadcasts with ``x``, or add one; of another dtype now and then, where the op mixes them."""
        odds = self.odds.sketch
        mixes = bool(self._op) and catalogue()[self._op].numbers.mixed
        if mixes and self.complex and self.source.chance(odds.mixed_operand):
            self._locked = OTHER_KIND[x.dtype]
        elif mixes and self.both_precisions and self.promotes and self.source.chance(odds.mixed_precision):
            self._locked = OTHER_PRECISION[x.dtype]
        fitting = self._fitting(lambda d: broadcasts(d.shape, x.shape), domain)
        if fitting and self.source.chance(odds.existing_partner):
            return self._one_of(fitting)
        shape = x.shape
        form = self.source.choice(odds.partner_shapes)
        if form == "shorter" and shape:
            shape = shape[self.source.integer(1, len(shape)) :]
        elif form == "ones":
            shape = tuple(1 if self.source.chance(odds.axis_of_one) else n for n in shape)
        elif form == "longer" and len(shape) < 3:
            shape = (self.length(), *shape)
        return self.fresh(shape, domain=domain)

    def detach(self, draft: Draft) -> None:
        """Name a value's elements without its history."""
        name = self.name("d")
        self.steps.append(Detach(draft.name, (name,)))
        self.values.append(Draft(name, draft.shape, draft.dtype, draft.array, False, frozenset(), "detached"))

    def replace(self, draft: Draft) -> None:
        """Replace what is known of a value."""
        self.values[[d.name for d in self.values].index(draft.name)] = draft

    def draw_op(self, vocabulary: Sequence[str]) -> bool:
        """Add one step of an op of a vocabulary; return whether one fitted."""
        return self.add_op(self.source.choice(vocabulary), no_grad=self.source.chance(self.odds.sketch.no_grad_op))

    def add_op(self, name: str, *, no_grad: bool = False) -> bool:
        """Add one step of an op; return whether one fitted. What does not fit leaves no trace."""
        mark = self.mark()
        self._locked, self._op = None, name
        drawn = catalogue()[name].draw(self)
        self._locked, self._op = None, ""
        made = None if drawn is None else self.compute(name, *drawn)
        if drawn is None or made is None:
            self.undo(mark)
            return False
        self._append(name, *drawn, made, no_grad=no_grad)
        return True

    def mark(self) -> tuple[int, int, int, int]:
        """Return where the inputs, values, steps and names stand, for `undo`."""
        return len(self.inputs), len(self.values), len(self.steps), self.counted

    def undo(self, mark: tuple[int, int, int, int]) -> None:
        """Take back the inputs, values and names that came after a mark, and the steps, which can be those of layouts alone."""
        del self.inputs[mark[0] :], self.values[mark[1] :], self.steps[mark[2] :]
        self.counted = mark[3]

    def on(self, name: str, *operands: Draft, **attrs: Any) -> bool:
        """Add one step of an op on given values; return whether it fitted."""
        made = self.compute(name, list(operands), attrs)
        if made is not None:
            self._append(name, list(operands), attrs, made, no_grad=False)
        return made is not None

    def _append(self, name: str, operands: list[Draft], attrs: dict[str, Any], made: tuple[Any, ...], *, no_grad: bool) -> None:
        known = all(d.array is not None for d in operands)
        results = [Draft(self.name("v"), a.shape, name_of(a.dtype), a if known else None, False, frozenset()) for a in made]
        self.enter(results, operands, no_grad=no_grad)
        self.steps.append(Op(name, tuple(d.name for d in operands), tuple(d.name for d in results), attrs, no_grad))

    def enter(self, results: Iterable[Draft], operands: Iterable[Draft], *, no_grad: bool) -> None:
        """Enter the results of a step; they depend on what its operands depend on, unless nothing is recorded."""
        sources = [] if no_grad else [d for d in operands if d.tracked]
        above: frozenset[str] = frozenset().union(*(d.above for d in sources))
        self.values.extend(Draft(d.name, d.shape, d.dtype, d.array, True, above | {d.name}) if sources else d for d in results)

    def compute(self, name: str, operands: list[Draft], attrs: dict[str, Any]) -> tuple[Any, ...] | None:
        """Compute an op's results (of ones, where an operand is not known); ``None`` if they are many, or would not stay moderate."""
        known = all(d.array is not None for d in operands)
        growth = catalogue()[name].growth
        if not known and (growth is Growth.UNBOUNDED or (self.complex and growth is Growth.IF_COMPLEX)):
            return None
        arrays = [np.ones(d.shape, d.dtype) if d.array is None else d.array for d in operands]
        with np.errstate(all="ignore"):
            made = OPS[name](*arrays, **attrs)
        out = tuple(np.asarray(o) for o in (made if isinstance(made, tuple) else (made,)))
        if any(o.size > self.odds.sketch.most_elements for o in out):
            return None
        return out if not known or all(self.moderate(o) for o in out) else None

    def moderate(self, array: Any) -> bool:
        """Return whether elements are of a size and grain that may be built upon."""
        if array.size == 0:
            return True
        largest = np.abs(array).max()
        if self.exact:
            scaled = array * self.odds.sketch.exact_grain
            whole = scaled == np.rint(scaled)  # of complex numbers: in both parts
            return bool(largest <= self.odds.sketch.exact_largest and whole.all())
        return bool(largest <= self.odds.sketch.largest)

    def lies_in(self, draft: Draft, domain: Domain) -> bool:
        """Return whether the elements of a value are known to lie in a domain."""
        return draft.array is not None and lies_in(draft.array, domain, self.odds.sketch.margin)


def broadcasts(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Whether two shapes broadcast."""
    return all(1 in (m, n) or m == n for m, n in zip(reversed(a), reversed(b), strict=False))
