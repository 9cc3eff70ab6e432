"""In-place updates on every backend: small cases by name, the spellings, what is drawn, and who shares memory in a script."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from conformance.backends.reference import reference
from conformance.campaign.findings.explain import explain_case
from conformance.campaign.workers.backend_cache import backend
from conformance.case.aliases import TABULATED, Aliases, lying_in, sharing_with
from conformance.case.case import Case, Input
from conformance.case.outcome import Computed, Raised
from conformance.case.steps import Backward, Detach, Grad, InPlace, Op, RetainGrad
from conformance.compare.promise import promised
from conformance.generate.scripts import DrawOptions, case_of
from conformance.generate.sketch import Sketch
from conformance.generate.sources import FastSource
from conformance.ops import catalogue
from conformance.ops.spec import signature
from reference_impl import DIALECTS, TORCH, Category
from reference_impl.dialects.conventions import Kind
from reference_impl.tape.choices import STRIDED
from tests.conformance import judged
from tests.conformance.engines import TOTAL

if TYPE_CHECKING:
    from conformance.campaign.workers.pool import Workers

FRAMEWORKS = ("torch", "paddle")
FORMS = [name for name, row in catalogue().items() if row.form is not None]
X = Input("x", (2,), (1.0, 2.0))
W = Input("w", (2,), (3.0, 4.0))
C = Input("c", (2,), (5.0, 6.0), differentiable=False)
H = Op("mul_scalar", ("x",), ("h",), {"other": 1.0})
Y = Op("square", ("h",), ("y",))
TRIPLE = {"other": 3.0}
PART = {"key": [[0, 1, 1]]}


def total(name: str) -> tuple[Op, Grad]:
    """Differentiate the sum of a value with respect to ``x``."""
    return Op("sum", (name,), ("z",), TOTAL), Grad(("z",), ("x",), ("g",), retain_graph=True, allow_unused=True)


def exact(*steps: Any, inputs: tuple[Input, ...] = (X,)) -> Case:
    return Case(inputs, steps, "exact")


CASES = {
    "a chain": exact(H, InPlace("mul_scalar", "h", (), TRIPLE), InPlace("square", "h"), *total("h")),
    "before it is used": exact(H, InPlace("mul_scalar", "h", (), TRIPLE), Y, *total("y")),
    "after it was used and not kept": exact(
        H, Op("add_scalar", ("h",), ("y",), TRIPLE), InPlace("mul_scalar", "h", (), TRIPLE), *total("y")
    ),
    "after it was kept": exact(H, Y, InPlace("mul_scalar", "h", (), TRIPLE), *total("y")),
    "of a kept result": Case((X,), (Op("exp", ("x",), ("y",)), InPlace("mul_scalar", "y", (), TRIPLE), *total("y"))),
    "of itself": exact(H, InPlace("mul", "h", ("h",)), *total("h")),
    "inside no_grad": exact(H, InPlace("mul_scalar", "h", (), TRIPLE, no_grad=True), *total("h")),
    "of a leaf inside no_grad": exact(InPlace("mul_scalar", "x", (), TRIPLE, no_grad=True), Op("square", ("x",), ("y",)), *total("y")),
    "of a leaf that was kept": exact(Op("square", ("x",), ("y",)), InPlace("mul_scalar", "x", (), TRIPLE, no_grad=True), *total("y")),
    "of a constant by a leaf": exact(InPlace("mul", "c", ("x",)), *total("c"), inputs=(X, C)),
    "of a part by a tensor": exact(
        H, Op("getitem_slice", ("w",), ("p",), PART), InPlace("setitem", "h", ("p",), PART), *total("h"), inputs=(X, W)
    ),
    "by a number": exact(H, InPlace("fill", "h", (), {"value": 7.0}), *total("h")),
    "of a detached value": exact(H, Detach("h", ("d",)), InPlace("mul_scalar", "d", (), TRIPLE), *total("h")),
    "wider than its target": exact(
        H, InPlace("add", "h", ("m",)), *total("h"), inputs=(X, Input("m", (2, 2), (1.0, 2.0, 3.0, 4.0), differentiable=False))
    ),
    "with a retained gradient": exact(
        H, RetainGrad("h"), InPlace("mul_scalar", "h", (), TRIPLE), Op("sum", ("h",), ("z",), TOTAL), Backward(("z",))
    ),
    "of a view inside no_grad": exact(
        H, Op("getitem_slice", ("h",), ("v",), PART), InPlace("mul_scalar", "v", (), TRIPLE, no_grad=True), *total("h")
    ),
}
REFUSED_BY_TORCH = {
    "a leaf": (exact(InPlace("exp", "x")), Category.IN_PLACE_LEAF),
    "a view of a leaf": (exact(Op("reshape", ("x",), ("v",), {"shape": [2, 1]}), InPlace("exp", "v")), Category.IN_PLACE_LEAF),
    "an expanded tensor": (exact(H, Op("expand", ("h",), ("v",), {"shape": [3, 2]}), InPlace("exp", "v")), Category.IN_PLACE_VIEW),
    "one of several views": (exact(H, Op("unbind", ("h",), ("u", "v"), {"axis": 0}), InPlace("exp", "v")), Category.IN_PLACE_VIEW),
}
VIEW_CASES = {
    "through a view": exact(H, Op("getitem_int", ("h",), ("v",), {"index": 0}), InPlace("mul_scalar", "v", (), TRIPLE), *total("h")),
    "through a base": exact(H, Op("getitem_int", ("h",), ("v",), {"index": 0}), InPlace("mul_scalar", "h", (), TRIPLE), *total("v")),
    "through a view of a view": exact(
        H,
        Op("reshape", ("h",), ("m",), {"shape": [2, 1]}),
        Op("getitem_int", ("m",), ("v",), {"index": 1}),
        InPlace("mul", "v", ("w",)),
        *total("h"),
        inputs=(X, Input("w", (1,), (3.0,))),
    ),
    "through a view of a constant": exact(
        Op("getitem_int", ("c",), ("v",), {"index": 0}),
        Op("getitem_int", ("x",), ("p",), {"index": 1}),
        InPlace("mul", "v", ("p",)),
        *total("c"),
        inputs=(X, C),
    ),
}


def last(case: Case) -> Any:
    return reference(TORCH, TORCH.not_offered).run(case).observations[-1]


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("name", CASES)
def test_an_update_does_what_the_reference_does(workers: Workers, name: str, framework: str) -> None:
    assert judged.verdicts(workers, framework, CASES)[name].bucket in ("agreed", "same_error")


@pytest.mark.parametrize("name", VIEW_CASES)
def test_a_write_through_shared_memory_has_the_gradient_of_what_ran(workers: Workers, name: str) -> None:
    assert judged.verdicts(workers, "torch", VIEW_CASES)[name].bucket == "agreed"


@pytest.mark.parametrize("name", VIEW_CASES)
def test_a_write_through_shared_memory_is_a_known_deviation_of_paddle(workers: Workers, name: str) -> None:
    assert judged.verdicts(workers, "paddle", VIEW_CASES)[name].deviation == "paddle-view-write-gradient"


@pytest.mark.parametrize("name", REFUSED_BY_TORCH)
def test_a_target_that_cannot_be_written_is_refused_as_torch_refuses_it(workers: Workers, name: str) -> None:
    case, category = REFUSED_BY_TORCH[name]
    seen = last(case)
    assert isinstance(seen, Raised)
    assert (category, "same_error") == (seen.category, workers.call(explain_case, case, "torch").verdict.bucket)


# Spellings.


def spelled(framework: str, op: str) -> list[bool]:
    """Whether the in-place form of an op gives the elements of the op, for a few drawn arguments."""
    found: list[bool] = []
    for index in range(100):
        sketch = Sketch(FastSource(3, index), exact=False, dtype="float32")
        if not sketch.add_op(op) or len(found) == 5:
            continue
        step, target = sketch.steps[-1], next(d for d in sketch.values if d.name == sketch.steps[-1].operands[0])  # type: ignore[union-attr]
        if not isinstance(step, Op) or target.shape != sketch.values[-1].shape or len(set(step.operands)) < len(step.operands):
            continue
        steps = (Op("clone", (target.name,), ("h",)), step, InPlace(op, "h", step.operands[1:], step.attrs))
        _, wanted, got = backend(framework).run(Case(tuple(sketch.inputs), steps)).observations
        assert isinstance(wanted, Computed), wanted
        assert isinstance(got, Computed), got
        (w,), (g,) = wanted.values, got.values
        found.append(w is not None and g is not None and np.array_equal(w.array, g.array, equal_nan=True))
    return found


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("op", FORMS)
def test_every_in_place_form_computes_what_its_op_computes(workers: Workers, op: str, framework: str) -> None:
    assert workers.call(spelled, framework, op) == [True] * 5


def with_form(framework: str) -> set[str]:
    """Find the ops that a framework has a form in place of, a method or a function of the op's name with a line under it."""
    backend(framework)
    module = sys.modules[framework]
    places = (module, module.Tensor, module.nn.functional)
    return {name for name, row in catalogue().items() for word in (name, row.base_op) for at in places if hasattr(at, f"{word}_")}


SHARED_NAMES = {"rsub_scalar", "rdiv_scalar", "clamp_low_tensor", "clamp_high_tensor", "renorm"}
"""Ops that share the name of their base op with another, and `renorm`, of which no form in place is offered."""


def test_an_op_that_says_it_has_no_form_in_place_is_not_written_in_place_by_both_frameworks(workers: Workers) -> None:
    silent = {name for name, row in catalogue().items() if row.in_place is None}
    torch, paddle = (workers.call(with_form, framework) for framework in FRAMEWORKS)
    assert silent & torch & paddle == SHARED_NAMES


def test_every_in_place_form_is_of_an_op_of_which_it_is_known_what_it_keeps() -> None:
    assert set(FORMS) <= TABULATED


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
def test_what_is_known_of_what_ops_keep_names_operands_and_results(dialect: Any) -> None:
    kept = dialect.conventions.of(Kind.KEPT)
    named = {(op, *about.removesuffix(STRIDED).split()) for _, op, about in kept if " order " not in f" {about}"}
    assert named <= {(op, operand, thing) for op, operand, thing in named if {operand, thing} <= {*signature(op)[0], "out"}}


# What is drawn.


@functools.cache
def drawn() -> list[Case]:
    """Draw cases that are to change tensors."""
    return [case_of(7, index, DrawOptions(changing=1.0)) for index in range(1200)]


def updates() -> list[tuple[Case, int, InPlace]]:
    return [(case, i, step) for case in drawn() for i, step in enumerate(case.steps) if isinstance(step, InPlace)]


def test_most_cases_that_are_to_change_tensors_do() -> None:
    assert len({case.id for case, _, _ in updates()}) > len(drawn()) / 2


def test_every_in_place_form_is_drawn() -> None:
    assert {step.op for _, _, step in updates()} == set(FORMS)


def test_updates_are_drawn_inside_and_outside_of_no_grad() -> None:
    assert {step.no_grad for _, _, step in updates()} == {False, True}


def test_an_op_of_real_numbers_is_not_written_into_a_spectrum() -> None:
    of_spectra = DrawOptions(changing=1.0, ops=("stft", "sum", "relu", "mul", "add"))
    written = [
        catalogue()[step.op].numbers.taken
        for case in (case_of(5, index, of_spectra) for index in range(400))
        for step, seen in zip(case.steps, promised(case, TORCH).observations, strict=True)
        if isinstance(step, InPlace) and isinstance(seen, Computed) and any(np.iscomplexobj(v.array) for v in seen.values if v)
    ]
    assert (set(), True) == (set(written) & {"real"}, bool(written))


def test_views_and_bases_are_written() -> None:
    written = [(Aliases(case.steps[:i]), step.tensor) for case, i, step in updates()]
    found = {name in aliases.parent for aliases, name in written if len(aliases.members(name)) > 1}
    assert found == {False, True}


def test_refusals_of_every_kind_are_drawn() -> None:
    right = reference(TORCH, TORCH.not_offered)
    found = {seen.category for case in drawn() for seen in right.run(case).observations if isinstance(seen, Raised)}
    assert {Category.IN_PLACE_LEAF, Category.IN_PLACE_VERSION, Category.IN_PLACE_VIEW} <= found


def test_a_campaign_draws_few_cases_that_change_tensors() -> None:
    changing = [any(isinstance(s, InPlace) for s in case_of(7, i, DrawOptions()).steps) for i in range(500)]
    assert 0 < sum(changing) < 50


# Who shares memory in a script.

VIEWS = (H, Op("reshape", ("h",), ("v",), {"shape": [2, 1]}), Op("getitem_int", ("v",), ("u",), {"index": 0}), Detach("h", ("d",)))
SHARING = Aliases(VIEWS)


def test_views_and_detached_values_share_memory() -> None:
    assert SHARING.members("u") == ["h", "v", "u", "d"]


@pytest.mark.parametrize(("name", "below"), [("h", {"h", "v", "u", "d"}), ("v", {"v", "u"}), ("u", {"u"}), ("x", {"x"})])
def test_what_lies_in_a_view_lies_in_its_base(name: str, below: set[str]) -> None:
    assert below == lying_in([name], VIEWS)


def test_what_shares_memory_with_a_view_is_its_base_and_the_other_views_of_that() -> None:
    assert [{"h", "v", "u", "d"}, {"x"}] == [sharing_with([name], VIEWS) for name in ("u", "x")]


def test_a_detached_value_owns_its_history() -> None:
    assert ("h", "d") == (SHARING.base("u"), SHARING.base("d"))


def test_reshaping_what_is_transposed_is_doubtful() -> None:
    steps = (Op("transpose", ("m",), ("t",), {"axis0": 0, "axis1": 1}), Op("reshape", ("t",), ("r",), {"shape": [4]}))
    assert Aliases(steps).may_alias == {"r"}
