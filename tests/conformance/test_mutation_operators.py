"""An op gets its mutants without a line: the operators that change its rules, and no others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from conformance.backends import open_backend
from conformance.case.case import Case, Input
from conformance.case.steps import Grad, Op
from conformance.compare.promise import Promise
from conformance.judge.judgement import judged
from conformance.judge.verdict import Bucket
from conformance.mutants.derived import derived, ruled_out
from conformance.mutants.mutant import Kind
from conformance.mutants.operators import CURVED, FIRST, LINEAR, detached
from conformance.mutants.registry import mutant, mutants, mutants_of
from conformance.mutants.samples import samples
from conformance.mutants.trial import trial
from reference_impl import OPS
from reference_impl.primitives.arithmetic import mul
from reference_impl.primitives.fused import pulled_through
from reference_impl.tape.primitive import Primitive, primitive

if TYPE_CHECKING:
    from collections.abc import Iterator

ALIKE = "equivalent: at 24 samples it answers what the right rule answers"
UNFIT = "an op like this cannot have the mistake"


def reasons(op: str) -> dict[tuple[str, str], str]:
    """Why operators make no mutant of an op's rules, by operand and operator."""
    made = OPS[op]
    assert isinstance(made, Primitive)
    return {(op.operands[position], operator.name): why for (op, position), operator, why in ruled_out(made)}


@pytest.mark.parametrize(
    ("op", "operand", "operator", "reason"),
    [
        ("floor", "x", "sign", ALIKE),  # the gradient is 0
        ("cos", "x", "operand_for_result", ALIKE),  # the rule does not look at the result
        ("clone", "x", "passed_on", ALIKE),
        ("flip", "x", "not_inverted", ALIKE),  # its own transpose
        ("flip", "x", "last_wins", ALIKE),  # no element is there twice
        ("clamp", "x", "last_wins", ALIKE),  # a bound is no element
        ("erf", "x", "not_conjugated", ALIKE),  # not offered for complex numbers
        ("relu", "x", "half_linked", ALIKE.replace("24", "4")),  # its slope is constant in pieces
        ("add", "x", "wrong_operand", ALIKE),
        ("sin", "x", "last_part_lost", UNFIT),
        ("sin", "x", "of_the_first_operand", UNFIT),
        ("sin", "x", "off_by_one", UNFIT),
        ("sin", "x", "wrong_operand", UNFIT),
    ],
)
def test_an_operator_that_does_not_apply_says_so(op: str, operand: str, operator: str, reason: str) -> None:
    assert reason == reasons(op).get((operand, operator))


def test_every_operator_applies_somewhere_and_not_everywhere() -> None:
    everywhere = [reasons(op.name) for op in (OPS["sin"], OPS["gather"], OPS["matmul"], OPS["fill"], OPS["split"], OPS["cat"])]  # type: ignore[attr-defined]
    silent = {o.name for o in (*FIRST, *CURVED, *LINEAR) if not any(name == o.name for found in everywhere for _, name in found)}
    assert set() == silent


def test_a_curved_rule_and_a_linear_one_have_faults_of_order_2_of_their_own() -> None:
    faults = {op: [m.id.split("-")[-1] for m in mutants_of(OPS[op]) if m.kind is Kind.SECOND] for op in ("exp", "flip", "floor")}  # type: ignore[arg-type]
    assert {"exp": ["half_linked", "constant_result"], "flip": ["half_of_the_cotangent"], "floor": []} == faults


@pytest.mark.parametrize(
    ("name", "entered"), [("put_int-g-transposed", False), ("put_int-g-off_by_one", True), ("sum-x-transposed", True)]
)
def test_what_rules_alone_apply_has_mutants_that_show_mostly(name: str, entered: bool) -> None:
    found = mutant(name)
    assert entered == (name in mutants())
    assert name == found.id


def test_what_is_written_by_hand_leaves_less_room() -> None:
    primitive = OPS["sin"]
    assert isinstance(primitive, Primitive)
    by_hand = [(Kind.RULE, 0), (Kind.RULE, 0)]
    assert ["sign", "half_linked", "constant_cotangent"] == [m.id.split("-")[-1] for m in derived(primitive, by_hand)]


def test_opening_a_mutant_tries_no_operator() -> None:
    before = trial.cache_info()
    open_backend("conformance.mutants.engines:gather-x-last_wins")
    assert before == trial.cache_info()


@pytest.mark.parametrize("name", ["sin-x-unheard_of", "sin-y-sign", "no_op-x-sign", "rdiv_scalar-x-sign", "sin", ""])
def test_a_mutant_that_there_is_not_is_a_key_error(name: str) -> None:
    with pytest.raises(KeyError):
        mutant(name)


def test_every_mutant_is_found_by_its_id_alone() -> None:
    assert [] == [m.id for m in mutants().values() if (found := mutant(m.id)).what != m.what or found.dialect is not m.dialect]


# An op that nothing else knows.


@pytest.fixture
def toy() -> Iterator[Primitive]:
    """Register an op, ``x^3``, and take it away again."""

    @primitive()
    def toy_cube(x: Any) -> Any:
        return x * x * x

    @toy_cube.vjp("x")
    def toy_cube_vjp_x(g: Any, out: Any, x: Any) -> Any:
        return OPS["mul"](g, OPS["mul_scalar"](OPS["square"](x), other=3.0))

    yield toy_cube
    del OPS["toy_cube"]


TOYS = ["sign", "result_for_operand", "passed_on", "half_linked", "constant_cotangent"]
CUBES = Case(
    (Input("x", (2,), (0.5, 1.25), "float64"), Input("y", (2,), (1.5, -0.75), "float64")),
    (
        Op("toy_cube", ("x",), ("a",)),
        Op("mul", ("a", "y"), ("b",)),
        Op("sum", ("b",), ("c",), {"axis": None, "keepdims": False}),
        Grad(("c",), ("x", "y"), ("gx", "gy"), create_graph=True),
        Op("mul", ("gx", "y"), ("d",)),
        Op("sum", ("d",), ("e",), {"axis": None, "keepdims": False}),
        Grad(("e",), ("x", "y"), ("hx", "hy")),
    ),
)


def test_a_new_op_has_mutants_without_a_line(toy: Primitive) -> None:
    assert [f"toy_cube-x-{name}" for name in TOYS] == [m.id for m in mutants_of(toy)]


def test_a_new_op_has_its_mutants_as_long_as_it_is_there(toy: Primitive) -> None:
    assert f"{toy.name}-x-sign" in mutants()


def test_an_op_that_is_gone_has_no_mutants() -> None:
    assert not [name for name in mutants() if name.startswith("toy_cube")]


def test_an_op_in_no_row_is_tried_at_operands_that_are_made_up(toy: Primitive) -> None:
    assert [((2, 3),), ((3, 3),), ((2, 3),)] == [tuple(np.shape(x) for x in s.operands) for s in samples(toy)]


@pytest.mark.usefixtures("toy")
@pytest.mark.parametrize("name", TOYS)
def test_a_mutant_of_a_new_op_is_found_out_by_a_case_that_uses_it(name: str) -> None:
    engine = mutant(f"toy_cube-x-{name}").open()
    verdict = judged(Promise(CUBES, engine.info), engine.run(CUBES))
    assert verdict.bucket is Bucket.DIVERGED


def test_what_is_detached_inside_a_formula_is_not_followed() -> None:
    (found,) = pulled_through(lambda x: (mul(x, detached(x)),), 0, (np.ones(1),), (np.array([3.0]),))
    assert found == 3.0
