"""The adapters of ``examples/engines``: each keeps the contract, agrees where its engine is right, and is red where it is wrong."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from conformance.backends import BackendError, open_backend
from conformance.backends.calls import Calls, Spelling
from conformance.backends.contract import check, offerable
from conformance.backends.reference import reference
from conformance.backends.registry import registration, slowness
from conformance.campaign.run import nowhere_taken
from conformance.case.case import Case, Input
from conformance.case.needs import AGAIN, BETWEEN
from conformance.case.outcome import Computed
from conformance.case.queries import ops_in
from conformance.case.steps import Detach, Grad, Op
from conformance.compare.promise import Promise
from conformance.generate.grid import grid
from conformance.generate.scripts import DrawOptions, case_of
from conformance.judge.blame import blame
from conformance.judge.localisation import first_node
from conformance.judge.verdict import Bucket, Verdict, judge
from conformance.ops import catalogue
from examples.engines.functional import FUNCTIONAL, Functional
from examples.engines.numpy_ops import NUMPY, spelled
from reference_impl import PADDLE_STATIC, TORCH, Category
from tests.conformance.by_differences import Numbers, numbers

ROOT = Path(__file__).resolve().parents[2]
ENGINES = sorted(
    f"examples.engines.{path.stem}" for path in (ROOT / "examples" / "engines").glob("*.py") if "REGISTRATION" in path.read_text()
)
X, W = Input("x", (2,), (1.0, 2.0), "float64"), Input("w", (2,), (3.0, 4.0), "float64")
SQUARE = Op("mul", ("x", "x"), ("y",))


def grad(outputs: str, inputs: str, result: str) -> Grad:
    return Grad((outputs,), (inputs,), (result,), create_graph=True, allow_unused=True)


def verdict(backend: Any, case: Case) -> Verdict:
    return judge(Promise(case, backend.info), backend.run(case))


def test_there_are_five_and_two_of_them_run_scripts_too() -> None:
    names = ("hips", "jax", "mygrad", "mygrad_eager", "tinygrad", "tinygrad_eager", "torch_func")
    assert [f"examples.engines.{name}" for name in names] == ENGINES


@pytest.mark.parametrize("name", ENGINES)
def test_an_adapter_keeps_the_contract(name: str) -> None:
    facts = registration(name)
    if not facts.installed or name.endswith(("jax", "tinygrad", "tinygrad_eager")):  # these two take a minute: nox -s engines asks them
        pytest.skip(f"{facts.requires} is not installed" if not facts.installed else f"{facts.title} compiles each op for itself")
    assert not check(lambda: open_backend(name))


def test_what_is_known_of_an_adapter_imports_no_engine() -> None:
    code = (
        f"import sys; from conformance.backends.registry import registration; [registration(n) for n in {ENGINES}]; print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not {"autograd", "jax", "mygrad", "tinygrad", "torch"} & set(done.stdout.split())


def test_programs_agree_on_functional_transforms() -> None:
    backend = open_backend("examples.engines.torch_func")
    found = [verdict(backend, case_of(7, i, DrawOptions(static=True))) for i in range(120)]
    assert {Bucket.AGREED} >= {v.bucket for v in found} - {Bucket.SAME_ERROR, Bucket.NOT_OFFERED, Bucket.NEAR_KINK, Bucket.UNDEFINED}
    assert sum(v.bucket is Bucket.AGREED for v in found) > 100


# A functional engine that knows no rule.


def test_an_engine_that_differentiates_functions_keeps_the_contract() -> None:
    assert not check(numbers)


def test_a_wrong_derivative_is_told() -> None:
    case = Case((X,), (SQUARE, grad("y", "x", "g")))
    assert (Bucket.AGREED, Bucket.DIVERGED) == (verdict(numbers(), case).bucket, verdict(numbers(3.0), case).bucket)


def test_derivatives_of_derivatives_are_functions_within_functions() -> None:
    case = Case((X, W), (SQUARE, Op("mul", ("y", "w"), ("z",)), grad("z", "x", "g"), grad("g", "w", "h"), grad("g", "x", "k")))
    seen = verdict(numbers(), case)
    assert (Bucket.AGREED, 5) == (seen.bucket, len(seen.steps))


def test_what_is_cut_or_detached_is_a_constant() -> None:
    cut = Grad(("z",), ("x",), ("g",), create_graph=True, allow_unused=True, no_grad_vars=("y",))
    case = Case((X,), (SQUARE, Detach("y", ("d",)), Op("mul", ("d", "x"), ("a",)), Op("mul", ("y", "a"), ("z",)), cut))
    assert verdict(numbers(), case).bucket is Bucket.AGREED


@pytest.mark.parametrize("name", [name for name in ENGINES if not name.endswith("_eager")])
def test_what_is_cut_is_a_constant_on_every_engine_that_is_here(name: str) -> None:
    if not registration(name).installed:
        pytest.skip(f"{registration(name).requires} is not installed")
    cut = Grad(("v",), ("x",), ("g",), create_graph=True, allow_unused=True, no_grad_vars=("v",))
    x = Input("x", (), (-1.5,), "float64")
    assert verdict(open_backend(name), Case((x,), (Op("mul_scalar", ("x",), ("v",), {"other": 1.0}), cut))).bucket is Bucket.AGREED


@pytest.mark.parametrize(("seed", "category"), [((2, 1), Category.SEED_SHAPE), ((3,), Category.SEED_SHAPE)])
def test_seeds_that_do_not_fit_are_refused(seed: tuple[int, ...], category: Category) -> None:
    given = Input("s", seed, (1.0,) * int(np.prod(seed)), "float64")
    case = Case((X, given), (SQUARE, Grad(("y",), ("x",), ("g",), ("s",), create_graph=True)))
    seen = numbers().run(case).observations[1]
    assert category == getattr(seen, "category", seen)


def test_a_wrong_rule_is_named_where_an_engine_has_no_hooks() -> None:
    case = Case((X,), (Op("neg", ("x",), ("n",)), Op("exp", ("n",), ("e",)), Op("neg", ("e",), ("y",)), grad("y", "x", "g")))
    engine = numbers()
    engine.engine = Functional(Calls(Spelling("np", NUMPY), np), WrongExp(), ())
    promise = Promise(case, engine.info)
    found = judge(promise, engine.run(case)).mismatch
    assert found is not None
    assert "exp" == first_node(promise, engine, found).op


class WrongExp(Numbers):
    """A mode whose derivative of ``-exp(-x)`` is wrong, and so is that of ``-exp(n)``, while that of ``-e`` is right."""

    def gradient(self, function: Any, x: Any, seeded: Any) -> Any:
        seeds, change = seeded(function(x)), function(x + 1.0)[0] - function(x)[0]
        return -seeds[0] if np.allclose(change, -1.0) else 7.0 * seeds[0]


class WrongTwice(Numbers):
    """A mode that is wrong where what it differentiates is a derivative."""

    nested = False

    def gradient(self, function: Any, x: Any, seeded: Any) -> Any:
        self.nested = False
        found = super().gradient(function, x, seeded)
        found, self.nested = found * 2 if self.nested else found, True
        return found


@pytest.mark.parametrize(("more", "named"), [((), "mul"), ((Op("neg", ("y",), ("n",)), Op("neg", ("n",), ("y2",))), "")])
def test_a_second_derivative_by_the_inputs_alone_has_its_op_named_if_there_is_one(more: tuple[Op, ...], named: str) -> None:
    engine = numbers()
    engine.engine = Functional(Calls(Spelling("np", NUMPY), np), WrongTwice(), ())
    case = Case((X,), (SQUARE, *more, grad("y2" if more else "y", "x", "g"), grad("g", "x", "h")))
    promise = Promise(case, engine.info)
    found = judge(promise, engine.run(case)).mismatch
    assert found is not None
    assert named == first_node(promise, engine, found).op


# What an engine is.

UNREACHED = Case((X, W), (SQUARE, grad("y", "w", "g"), Op("mul", ("g", "x"), ("z",))))


@pytest.mark.parametrize(("dialect", "zeros"), [(FUNCTIONAL, True), (PADDLE_STATIC, False)])
def test_what_nothing_reaches_is_zeros_or_absent_as_the_dialect_says(dialect: Any, zeros: bool) -> None:
    _, seen, after = reference(dialect, dialect.not_offered).run(UNREACHED).observations
    assert isinstance(seen, Computed)
    assert (zeros, zeros) == (seen.values[0] is not None, isinstance(after, Computed))


def test_zeros_for_what_is_absent_are_told() -> None:
    absent = replace(FUNCTIONAL, unreached="absent")
    assert Bucket.AGREED is verdict(numbers(), UNREACHED).bucket
    assert Bucket.DIVERGED is verdict(numbers(dialect=absent), UNREACHED).bucket


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "where"])
@pytest.mark.parametrize(("promotion", "dtype"), [("cast_to_widest", "float64"), ("cast_first", "float32"), ("inside", "float32")])
def test_whether_an_operand_without_axes_decides_over_one_with_some(name: str, promotion: Any, dtype: str) -> None:
    narrow, wide = Input("x", (1,), (1.0,), "float32"), Input("w", (), (2.0,), "float64")
    attrs = {"mask": [True]} if name == "where" else {}
    seen: Any = []
    for dialect in (FUNCTIONAL, TORCH):
        own = replace(dialect, promotion=promotion)
        case = Case((narrow, wide), (Op(name, ("x", "w"), ("y",), attrs), Grad(("y",), ("x", "w"), ("g", "h"))))
        seen += [[value.array.dtype for value in step.values] for step in reference(own, own.not_offered).run(case).observations]
    assert [[dtype], ["float32", "float64"]] * 2 == seen


KINK = Case((Input("x", (9,), (0.0,) * 9, "float64"),), (Op("relu", ("x",), ("y",)), grad("y", "x", "g")))


def at_the_kink() -> list[Any]:
    """Open engines with a half at 0 and no document, with a half where 0 is documented, and with 3 halves, which are no subgradient."""
    return [numbers(kinks="any"), numbers(), numbers(3.0, kinks="any")]


def test_an_engine_of_no_documented_subgradient_is_held_to_the_subdifferential() -> None:
    expected = [Bucket.NEAR_KINK, Bucket.DIVERGED, Bucket.DIVERGED]
    assert expected == [verdict(engine, KINK).bucket for engine in at_the_kink()]


def test_an_engine_of_no_documented_subgradient_is_blamed_for_no_subgradient() -> None:
    assert [True, False, False] == [blame(KINK, engine) is None for engine in at_the_kink()]


def test_the_larger_of_a_number_and_itself_has_no_kink() -> None:
    case = Case((X,), (Op("maximum", ("x", "x"), ("y",)), grad("y", "x", "g")))
    found = verdict(numbers(0.0, kinks="any"), case)
    assert found.mismatch is not None
    assert (Bucket.DIVERGED, "wrong") == (found.bucket, found.mismatch.actual)


class LikeMyGrad(Numbers):
    """A mode in which `maximum` of a value and what equals it has no gradient, and a product with a number is of double precision."""

    met = False

    def maximum(self, x: Any, y: Any) -> Any:
        self.met |= np.array_equal(x, y)
        return np.maximum(x, y)

    def mul_scalar(self, x: Any, other: float) -> Any:
        return x.astype("float64") * other

    def gradient(self, function: Any, x: Any, seeded: Any) -> Any:
        self.met = False
        found = super().gradient(function, x, seeded)
        return np.zeros_like(found) if self.met else found


def test_an_op_of_a_value_and_itself_is_named_where_the_copies_are_none_that_would_tell_its_uses_apart() -> None:
    engine, mode = numbers(kinks="any"), LikeMyGrad()
    own = {"maximum": mode.maximum, "mul_scalar": mode.mul_scalar}
    engine.engine = Functional(Calls(Spelling("np", NUMPY), np, own), mode, ())
    case = Case((Input("x", (2,), (1.0, 2.0)),), (Op("maximum", ("x", "x"), ("y",)), grad("y", "x", "g")))
    promise = Promise(case, engine.info)
    found = judge(promise, engine.run(case)).mismatch
    assert found is not None
    assert "maximum" == first_node(promise, engine, found).op


def test_facts_have_words() -> None:
    assert check(lambda: numbers(kinks="some")) == ["info.kinks is 'some', not one of documented, any"]


def test_a_backend_with_a_fact_of_no_meaning_is_not_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.engines_of_a_kind.single_precision", lambda: numbers(kinks="some"))
    with pytest.raises(BackendError, match="'some' as its kinks, which is one of documented, any"):
        open_backend("tests.engines_of_a_kind:single_precision")


# What a slow engine is given.


def test_a_case_may_take_as_long_as_the_slowest_engine_says() -> None:
    quick, slow = "tests.engines_of_a_kind:single_precision", "examples.engines.jax"
    assert (1.0, 10.0) == (slowness([quick]), slowness([quick, slow]))


# What a call needs.

ROOT_OF = Op("sqrt", ("x",), ("v",))


@pytest.mark.parametrize(
    ("steps", "needs"),
    [
        ((grad("v", "x", "g"), grad("g", "x", "h")), {AGAIN}),
        ((grad("v", "x", "g"), grad("g", "v", "h")), {AGAIN, BETWEEN}),
        ((grad("v", "x", "g"), grad("v", "x", "h")), set()),
        ((grad("v", "x", "g"), Op("mul", ("g", "x"), ("u",)), grad("u", "g", "h")), set()),
        ((grad("v", "v", "g"), grad("g", "v", "h")), {AGAIN}),
        ((Grad(("v",), ("x", "v"), ("g", "f")), grad("g", "f", "h")), {BETWEEN}),
        ((grad("v", "x", "g"), Grad(("g",), ("x",), ("h",), no_grad_vars=("v",))), {AGAIN, BETWEEN}),
        ((Grad(("v",), ("x",), ("g",), no_grad_vars=("v",)),), set()),
    ],
)
def test_a_call_needs_what_it_differentiates_again(steps: tuple[Any, ...], needs: set[str]) -> None:
    assert needs == {AGAIN, BETWEEN} & set(Case((X,), (ROOT_OF, *steps)).needs[-1])


def test_both_words_may_be_not_offered() -> None:
    assert {AGAIN, BETWEEN} <= set(offerable())


# What nobody has.


def test_an_op_without_a_call_is_named_and_so_is_what_a_module_lacks() -> None:
    lacking = Calls(Spelling("toy", {"mul": "x * y", "exp": "toy.exponential(x)"}), np).lacking()
    assert ("this release has no toy.exponential", "there is no call of toy for it") == (lacking["op:exp"], lacking["op:add"])
    assert "op:mul" not in lacking


TOY = {"permute": "toy.turn(x, axes)", "contiguous": "toy.turn(x, axes)", "where": "toy.pick(mask, x, y)", "add": "x + y"}


def test_ops_of_one_call_are_one_whatever_their_operands_are_called() -> None:
    calls = Calls(Spelling("toy", {**TOY, "masked_fill_tensor": "toy.pick(mask, value, x)"}), np)
    assert {"contiguous": "permute", "masked_fill_tensor": "where"} == calls.alike()


def test_ops_of_which_one_has_a_number_for_an_operand_are_two() -> None:
    assert "add_scalar" not in Calls(Spelling("toy", {**TOY, "add_scalar": "x + other"}), np).alike()


def test_where_no_backend_has_an_op_no_script_and_no_grid_has_it() -> None:
    without = nowhere_taken([numbers().info])  # type: ignore[list-item]
    drawn = {op for i in range(200) for op in ops_in(case_of(3, i, DrawOptions(static=True, without=without)))}
    assert (True, True) == ("op:erf" in without, "op:exp" not in without)
    assert not {f"op:{op}" for op in drawn} & set(without)
    assert (0, True) == (len([*grid(["erf"], without)]), bool([*grid(["exp"], without)]))


def test_shapes_are_broadcast_to_tuples_since_numpy_promises_no_lists() -> None:
    shapes: list[Any] = []

    def broadcast_to(x: Any, shape: Any) -> Any:
        shapes.append(shape)
        return x

    module: Any = SimpleNamespace(broadcast_to=broadcast_to)
    Calls(Spelling("mine", {"expand": NUMPY["expand"].replace("np.", "mine.")}), module).apply("expand", [None], {"shape": [2, 3]})
    assert [(2, 3)] == shapes


def test_the_table_is_of_ops_in_names_that_they_have() -> None:
    assert set(NUMPY) <= set(catalogue())
    assert "jax.numpy.exp(x)" == spelled("jax.numpy")["exp"]
