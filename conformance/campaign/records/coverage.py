"""Coverage: which parameter, with which value, at which order of derivative, was compared on which backend.

A cell is one thing that a step can be given. A run counts, for each cell, the steps that were compared at order 1, 2, and 3 or more;
a cell that a backend offers and that stays empty is a gap, and the summary names it. For steps that are no call the order is that of
the highest call that follows. Of an op the gradients count that hang on a derivative of it.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.case import steps
from conformance.case.needs import AGAIN
from conformance.generate.layouts import laid_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import msgspec

    from conformance.case.case import Case


ORDERS = (1, 2, 3)
"""The columns; the last one is for its order and all above."""

CALLS: dict[type, str] = {steps.Grad: "grad", steps.Backward: "backward", steps.AppendBackward: "append_backward"}
"""Kinds that compute derivatives; the words of their cells begin with their names."""

FURTHER = (AGAIN, "step:grad")
"""What every derivative of a derivative needs: `grad` is the call that returns one to go on with."""

OTHER = "other steps"
OF_OP = "derivative of "


@dataclass(frozen=True, slots=True)
class Cell:
    """One row of the coverage table: the words, the kind of step, when a step counts, and the parameter that it needs.

    ``of_case``: when it counts in its case, where the step alone does not tell.
    """

    words: str
    kind: type[msgspec.Struct]
    holds: Callable[[Any], bool]
    needs: str = ""
    of_case: Callable[[Case, Any], bool] | None = None

    @property
    def group(self) -> str:
        """The call, or that it is none."""
        return CALLS.get(self.kind, OTHER)

    @property
    def parameter(self) -> str:
        """The words without the call and the value."""
        return self.words.partition("=")[0].removeprefix(f"{self.group} ")

    @property
    def value(self) -> str:
        """The value, if the words have one."""
        return self.words.partition("=")[2]

    def offered(self, not_offered: Mapping[str, str], order: int) -> bool:
        """Whether a backend that does not offer these words offers what the cell needs at an order of derivative."""
        needs = self.needs, f"step:{self.kind.__struct_config__.tag}", *(FURTHER if order > ORDERS[0] else ())
        return not_offered.keys().isdisjoint(needs)


def _given(field: str, value: Any) -> Callable[[Any], bool]:
    return lambda step: getattr(step, field) == value


def _set(field: str) -> Callable[[Any], bool]:
    return lambda step: getattr(step, field) is not None


def _seeded(form: str) -> Callable[[Any], bool]:
    return lambda step: _seeds(step) == form


def _seeds(call: steps.Call) -> str:
    return "unset" if call.seeds is None else "partly None" if None in call.seeds else "given"


def _given_seeds(call: steps.Call) -> list[str]:
    return [name for name in call.seeds or () if name is not None]


def _has_seeds(call: steps.Call) -> bool:
    return bool(_given_seeds(call))


def _seeded_from(among: Callable[[Case], set[str]]) -> Callable[[Case, Any], bool]:
    return lambda case, call: not among(case).isdisjoint(_given_seeds(call))


@functools.lru_cache(maxsize=4)
def _computed(case: Case) -> set[str]:
    return {name for step in case.steps if isinstance(step, steps.Op) for name in step.results} - laid_out(case)


@functools.lru_cache(maxsize=4)
def _gradients(case: Case) -> set[str]:
    return {name for step in case.steps if isinstance(step, steps.Grad) for name in step.results}


def _call(kind: type[msgspec.Struct], name: str) -> Iterator[Cell]:
    for form in ("unset", "given", "partly None"):
        yield Cell(f"{name} seeds={form}", kind, _seeded(form))
    yield Cell(f"{name} seeds=one of several roots", kind, lambda s: len({*(s.seeds or ())} - {None}) < len(_given_seeds(s)))
    for source, among in (("computed", _computed), ("gradients", _gradients), ("laid out", laid_out)):
        yield Cell(f"{name} seeds={source}", kind, _has_seeds, of_case=_seeded_from(among))
    for value in (None, True, False):
        yield Cell(f"{name} retain_graph={'unset' if value is None else value}", kind, _given("retain_graph", value))
    for form in ("list", "bare", "tuple"):
        yield Cell(f"{name} form={form}", kind, _given("form", None if form == "list" else form))
    yield Cell(f"{name} roots=one", kind, lambda s: len(s.roots) == 1)
    yield Cell(f"{name} roots=two", kind, lambda s: len(s.roots) == 2)
    yield Cell(f"{name} roots=three or more", kind, lambda s: len(s.roots) > 2)
    yield Cell(f"{name} leaves=laid out", kind, lambda _: True, of_case=lambda case, _: bool(laid_out(case) & {*case.watched}))
    yield Cell(f"{name} precisions=two", kind, lambda _: True, of_case=lambda case, _: len({i.dtype for i in case.inputs}) > 1)
    yield Cell(f"{name} inside no_grad", kind, lambda s: s.no_grad)


def _flag(kind: type[msgspec.Struct], name: str, field: str, needs: str = "") -> Iterator[Cell]:
    yield Cell(f"{name} {field}=False", kind, lambda s: not getattr(s, field))
    yield Cell(f"{name} {field}=True", kind, lambda s: getattr(s, field) is True, needs)


def _cells() -> Iterator[Cell]:
    yield from _call(steps.Grad, "grad")
    yield from _flag(steps.Grad, "grad", "create_graph")
    yield from _flag(steps.Grad, "grad", "only_inputs")
    for value in (None, True, False):
        words = "unset" if value is None else value
        yield Cell(f"grad allow_unused={words}", steps.Grad, _given("allow_unused", value))
    yield from _flag(steps.Grad, "grad", "materialize_grads", "materialize_grads")
    yield from _flag(steps.Grad, "grad", "is_grads_batched", "is_grads_batched")
    yield Cell("grad no_grad_vars=unset", steps.Grad, _given("no_grad_vars", None))
    yield Cell("grad no_grad_vars=given", steps.Grad, _set("no_grad_vars"), "no_grad_vars")
    yield Cell("grad no_grad_vars=a set", steps.Grad, lambda s: s.form == "set", "no_grad_vars")
    yield from _call(steps.Backward, "backward")
    yield from _flag(steps.Backward, "backward", "create_graph", "backward.create_graph")
    yield Cell("backward inputs=unset", steps.Backward, _given("inputs", None))
    yield Cell("backward inputs=given", steps.Backward, _set("inputs"), "backward.inputs")
    yield Cell("backward grad_variables=given", steps.Backward, _set("grad_variables"), "grad_variables")
    yield Cell("backward dump_backward_graph_path=given", steps.Backward, lambda s: s.dump_backward_graph, "dump_backward_graph_path")
    for field in ("parameter_list", "no_grad_set"):
        yield Cell(f"append_backward {field}=unset", steps.AppendBackward, _given(field, None))
        yield Cell(f"append_backward {field}=given", steps.AppendBackward, _set(field))
    yield from _flag(steps.AppendBackward, "append_backward", "callbacks", "callbacks")
    yield from _flag(steps.AppendBackward, "append_backward", "by_name", "by_name")
    for to in ("none", "zero"):
        yield Cell(f"clear_grad to={to}", steps.ClearGrad, _given("to", to))
    yield Cell("detach", steps.Detach, lambda _: True)
    yield Cell("retain_grad", steps.RetainGrad, lambda _: True)
    yield Cell("requires_grad set to True", steps.SetRequiresGrad, lambda s: s.requires_grad)
    yield Cell("requires_grad set to False", steps.SetRequiresGrad, lambda s: not s.requires_grad)
    for form in ("nothing", "scaled", "tensor", "another_dtype", "error"):
        yield Cell(f"hook returns={form}", steps.Hook, _given("returns", form))
    yield Cell("hook removed", steps.RemoveHook, lambda _: True)
    yield Cell("gradient edge", steps.Edge, lambda _: True, "gradient_edge")
    yield Cell("in-place update", steps.InPlace, lambda s: not s.no_grad)
    yield Cell("in-place update inside no_grad", steps.InPlace, lambda s: s.no_grad)
    yield Cell("custom function", steps.Custom, lambda _: True)


CELLS = tuple(_cells())
_BY_KIND: dict[type, list[Cell]] = {kind: [c for c in CELLS if c.kind is kind] for kind in {c.kind for c in CELLS}}


def covered(case: Case, number: int, order: int) -> Iterator[str]:
    """Yield the key of every cell that a step at an order of derivative belongs to."""
    return (key_of(words, order) for words in met(case, number))


def met(case: Case, number: int) -> tuple[str, ...]:
    """Return the words of every cell that a step belongs to at its order, whatever that is."""
    return _met(case)[number]


@functools.lru_cache(maxsize=4)  # every backend of a run asks it of the same case
def _met(case: Case) -> tuple[tuple[str, ...], ...]:
    return tuple(
        tuple(c.words for c in _BY_KIND.get(type(step), ()) if c.holds(step) and (c.of_case is None or c.of_case(case, step)))
        for step in case.steps
    )


@functools.cache
def key_of(words: str, order: int) -> str:
    """Return the key of a cell at an order, as it stands in the counts of a run."""
    return f"{words} @{min(max(order, ORDERS[0]), ORDERS[-1])}"


def key_of_op(op: str, order: int) -> str:
    """Return the key of the gradients that hang on a derivative of an op of this order, as it stands in the counts of a run."""
    return key_of(f"{OF_OP}{op}", order)


def gaps(counts: Mapping[str, int], not_offered: Mapping[str, str]) -> list[str]:
    """Return the keys of the cells that a backend offers and that nothing was compared in."""
    offered = [key_of(cell.words, order) for cell in CELLS for order in ORDERS if cell.offered(not_offered, order)]
    return [key for key in offered if not counts.get(key)]
