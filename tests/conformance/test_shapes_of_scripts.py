"""What random scripts vary beyond one root with one fresh seed: each shape catches an engine that nothing else catches."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest

from conformance.backends.reference import ReferenceEngine
from conformance.campaign.workers.trial import run_case
from conformance.case.case import Case, Input
from conformance.case.steps import Grad, Op
from conformance.generate.layouts import laid_out
from conformance.generate.odds import CallOdds, Odds, ScriptOdds, SketchOdds
from conformance.generate.scripts import DrawOptions, case_of
from conformance.mutants.mutant import WrongEngine, patch
from reference_impl import OPS, Tensor
from reference_impl.primitives import arithmetic
from reference_impl.primitives.shape import sum_to
from reference_impl.tape.primitive import shape_of
from tests.conformance.engines import mismatch_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from conformance.backends.interpreter import Values

CASES = 80
PLAIN = Odds(
    sketch=SketchOdds(laid_out=0.0),
    scripts=ScriptOdds(both_precisions=0.0, derivatives=(1, 2), by_backward=0.0),
    calls=CallOdds(roots=(1, 2), shared_seed=0.0, existing_seed=0.0, computed_seed=0.0, seed_count=0.0),
)
"""No shape that is tested here; calls are those of `grad`, which the wrong engines are wrong in."""


def having(part: str, base: Odds = PLAIN, **odds: Any) -> Odds:
    """Return plain odds, but for some."""
    return replace(base, **{part: replace(getattr(base, part), **odds)})


def wrong_call(change: Callable[[Grad, Values], tuple[Grad, Values]]) -> WrongEngine:
    """Return an engine whose `grad` is called as ``change`` says."""
    right = ReferenceEngine.grad

    def grad(engine: ReferenceEngine, step: Grad, values: Values) -> Any:
        return right(engine, *change(step, values))

    return WrongEngine("wrong", patch((ReferenceEngine, "grad", grad)))


def wrong_seeds(change: Callable[[Tensor, int], Tensor]) -> WrongEngine:
    """Return an engine that takes another seed than it is given; ``change`` sees how often it came before in the call."""

    def changed(step: Grad, values: Values) -> tuple[Grad, Values]:
        seeds = step.grad_outputs or ()
        named = {f"seed{i}": change(values[n], seeds[:i].count(n)) for i, n in enumerate(seeds) if n is not None}
        names = tuple(n and f"seed{i}" for i, n in enumerate(seeds))
        return msgspec.structs.replace(step, grad_outputs=names if seeds else step.grad_outputs), {**values, **named}

    return wrong_call(changed)


def without_third_root(step: Grad, values: Values) -> tuple[Grad, Values]:
    seeds = step.grad_outputs
    if seeds is not None and len(seeds) == len(step.outputs):
        seeds = seeds[:2]
    return msgspec.structs.replace(step, outputs=step.outputs[:2], grad_outputs=seeds), values


def read_in_a_row(seed: Tensor, _: int) -> Tensor:
    """Read the memory of a seed from its first element on, whatever the steps between its elements."""
    array = seed.array
    if not array.size or array.flags.c_contiguous or min(array.strides) < 0:
        return seed
    flat = np.lib.stride_tricks.as_strided(array, (array.size,), (array.itemsize,)) if max(array.strides) > 0 else array
    return Tensor(np.array(flat).reshape(array.shape), requires_grad=seed.requires_grad)


def added_into(seed: Tensor, before: int) -> Tensor:
    """Have the pass of an earlier root added into a seed that it shares."""
    return OPS["mul_scalar"](seed, other=2.0) if before else seed


def constant_if(test: Callable[[Tensor], bool]) -> WrongEngine:
    return wrong_seeds(lambda seed, _: seed.detach() if test(seed) else seed)


def lies_otherwise(tensor: Tensor) -> bool:
    return tensor.array.size > 1 and not tensor.array.flags.c_contiguous


def turned_leaves() -> WrongEngine:
    """Answer for a leaf that lies transposed with elements in the order of its memory."""
    right = ReferenceEngine.grad

    def grad(engine: ReferenceEngine, step: Grad, values: Values) -> Any:
        found = right(engine, step, values)
        asked = [values[name] for name in step.inputs]
        for i, (leaf, made) in enumerate(zip(asked, found, strict=True)):
            if made is not None and type(leaf) is Tensor and leaf.node is None and lies_otherwise(leaf) and made.shape == leaf.shape:
                found[i] = Tensor(made.array.T.copy().reshape(made.shape), requires_grad=made.requires_grad)
        return found

    return WrongEngine("wrong", patch((ReferenceEngine, "grad", grad)))


def not_brought_back(g: Any, x: Any) -> Any:
    """Leave a cotangent in the dtype that the op had."""
    return sum_to(g, shape_of(x))


def lower_precision() -> WrongEngine:
    """Answer in float64 with the precision of float32, where leaves have both."""
    right = ReferenceEngine.grad

    def rounded(engine: ReferenceEngine, step: Grad, values: Values) -> Any:
        found = right(engine, step, values)
        if not any(name.startswith("x") and value.dtype == np.float32 for name, value in values.items()):
            return found
        for made in found:
            if made is not None and made.dtype == np.float64:
                made.array = made.array.astype(np.float32).astype(np.float64)
        return found

    return WrongEngine("wrong", patch((ReferenceEngine, "grad", rounded)))


FAULTS: Mapping[str, tuple[Callable[[], WrongEngine], Odds]] = {
    "three roots: the third gets no gradient": (lambda: wrong_call(without_third_root), having("calls", roots=(3, 4))),
    "one seed of two roots: the first pass adds into it": (
        lambda: wrong_seeds(added_into),
        having("calls", roots=(2,), shared_seed=1.0, repeated_root=0.0),
    ),
    "a seed that lies apart: it is read in a row": (lambda: wrong_seeds(read_in_a_row), having("sketch", laid_out=0.5)),
    "a leaf that lies apart: its gradient is turned": (turned_leaves, having("sketch", laid_out=0.5)),
    "a computed seed: it counts as a constant": (
        lambda: constant_if(lambda seed: seed.node is not None),
        having("calls", computed_seed=0.7, tracked_seed=1.0),
    ),
    "a seed that is a gradient: it counts as a constant": (
        lambda: constant_if(lambda seed: seed.node is not None and seed.node.derivative_of[1] > 0),
        having("calls", having("scripts", third_order=1.0, deep=1.0), existing_seed=0.9, gradient_seed=1.0),
    ),
    "two precisions: a gradient has that of the op": (
        lambda: WrongEngine("wrong", patch((arithmetic, "to_operand", not_brought_back))),
        having("scripts", both_precisions=1.0),
    ),
    "two precisions: gradients have the lower one": (lower_precision, having("scripts", both_precisions=1.0)),
}


def diverges(engine: WrongEngine, odds: Odds) -> bool:
    """Whether one of the cases does, of which no more are run then."""
    drawn = DrawOptions(odds=odds, complexes=0.0, changing=0.0)
    cases = (case_of(5, i, drawn) for i in range(CASES))
    return any(run_case(case, [engine]).verdicts["wrong"].bucket == "diverged" for case in cases)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_at_a_shape_is_met_where_that_shape_is_drawn(name: str) -> None:
    engine, odds = FAULTS[name]
    assert diverges(engine(), odds)


@pytest.mark.parametrize("name", FAULTS)
def test_without_the_shape_nothing_meets_the_fault(name: str) -> None:
    assert not diverges(FAULTS[name][0](), PLAIN)


@pytest.mark.parametrize("name", FAULTS)
def test_a_right_engine_agrees_on_every_shape(name: str) -> None:
    assert not diverges(WrongEngine("wrong"), FAULTS[name][1])


# Two precisions: how far rounding may carry a number.

THROUGH = Case(
    (Input("x", (3,), (0.1, 0.7, -1.3), "float64"), Input("s", (3,), (1.0, 2.0, 3.0), "float64")),
    (
        Op("cast", ("x",), ("single",), {"dtype": "float32"}),
        Op("cast", ("single",), ("back",), {"dtype": "float64"}),
        Op("sin", ("x",), ("beside",)),
        Op("sin", ("back",), ("y",)),
        Grad(("y",), ("x",), ("g",), ("s",)),
        Grad(("beside",), ("x",), ("h",), ("s",)),
    ),
)
OF_SINGLE, OF_DOUBLE = 2.0**-23, 2.0**-52


def scaled(number: int, factor: float) -> Callable[[Any], None]:
    def change(outcome: Any) -> None:
        value = outcome.observations[number].values[0]
        outcome.observations[number] = replace(outcome.observations[number], values=(replace(value, array=value.array * factor),))

    return change


@pytest.mark.parametrize(
    ("number", "off", "found"),
    [
        (3, 2 * OF_SINGLE, False),  # y went through float32 on its way, and so did its gradient
        (4, 2 * OF_SINGLE, False),
        (3, 2**9 * OF_SINGLE, True),
        (4, 2**9 * OF_SINGLE, True),
        (2, 2 * OF_DOUBLE, False),
        (2, OF_SINGLE, True),  # beside it went through nothing
        (5, OF_SINGLE, True),
        (5, 2**9 * OF_DOUBLE, True),
    ],
)
def test_a_number_is_held_to_the_precision_that_it_went_through(number: int, off: float, found: bool) -> None:
    assert found is (mismatch_of(THROUGH, scaled(number, 1 + off)) is not None)


@pytest.mark.parametrize(("shapes", "dtype"), [(((3,), (3,)), "float64"), (((3,), ()), "float32"), (((), (3,)), "float64")])
def test_an_operand_without_axes_does_not_decide_over_one_with_axes(shapes: Any, dtype: str) -> None:
    x, y = (Tensor(np.ones(shape, kind)) for shape, kind in zip(shapes, ("float32", "float64"), strict=True))
    assert {dtype} == {str(OPS[op](x, y).dtype) for op in ("add", "sub", "mul", "div")}


# What is drawn.


def drawn(odds: Odds) -> Iterator[Case]:
    return (case_of(5, i, DrawOptions(odds=odds)) for i in range(60))


def test_leaves_that_are_laid_out_can_be_asked_for() -> None:
    cases = list(drawn(having("sketch", laid_out=0.5)))
    assert any(not laid_out(case).isdisjoint(s.inputs) for case in cases for s in case.steps if isinstance(s, Grad))


@pytest.mark.parametrize("options", [DrawOptions(static=True), DrawOptions(ops=("mul", "sin"))])
def test_programs_and_chosen_ops_have_no_layouts(options: DrawOptions) -> None:
    assert not any(laid_out(case_of(5, i, options)) for i in range(60))


def test_a_program_has_both_precisions_but_no_op_that_mixes_them() -> None:
    options = DrawOptions(static=True, odds=having("scripts", both_precisions=1.0))
    cases = [case_of(5, i, options) for i in range(60)]
    assert any(len({entry.dtype for entry in case.inputs}) == 2 for case in cases)


# What is seen of them.

COMPUTED = Case(
    (Input("x", (2,), (1.0, 2.0)), Input("s", (2,), (3.0, 4.0))),
    (Op("square", ("s",), ("seed",)), Op("square", ("x",), ("y",)), Grad(("y",), ("x",), ("g",), ("seed",))),
    "exact",
)


def test_an_engine_that_writes_into_a_computed_seed_is_seen() -> None:
    right = ReferenceEngine.grad

    def grad(engine: ReferenceEngine, step: Grad, values: Values) -> Any:
        found = right(engine, step, values)
        values["seed"].array = values["seed"].array + 1
        return found

    verdict = run_case(COMPUTED, [WrongEngine("wrong", patch((ReferenceEngine, "grad", grad)))]).verdicts["wrong"]
    assert verdict.mismatch is not None
    assert ("mutation", "seed") == (verdict.mismatch.kind, verdict.mismatch.where)
