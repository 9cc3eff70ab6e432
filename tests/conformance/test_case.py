"""The case language: what is written is read back, and what is broken is refused."""

from __future__ import annotations

import math
import pickle
import re
import struct
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest
from hypothesis import given

from conformance.backends.repro.python_text import array_text
from conformance.case.case import Case, Input, content, data_of
from conformance.case.files import CaseError, check, decode, encode, read
from conformance.case.steps import AppendBackward, Backward, ClearGrad, Detach, Edge, Grad, Hook, Op, RemoveHook
from conformance.generate.strategies import cases
from tests.conformance.engines import EXACT, NUMERIC, TOTAL

if TYPE_CHECKING:
    from pathlib import Path

X = Input("x", (2,), (1.0, 2.0))


@given(case=cases())
def test_a_case_is_read_back_as_it_was_written(case: Case) -> None:
    assert case == decode(encode(case))


@given(case=cases())
def test_a_case_keeps_its_id_when_it_is_written_and_read(case: Case) -> None:
    assert case.id == decode(encode(case)).id


def test_an_id_is_the_same_on_every_machine() -> None:
    assert ("c1a05583c845b195", "58126d7fd41cf13a") == (EXACT.id, NUMERIC.id)


SPELLED = [word.decode() for word in (b"float32", b"numeric", b"none")]  # equal to the defaults, but other objects


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Case((X,), ()), Case((Input("x", (2,), (1.0, 2.0), SPELLED[0]),), ())),
        (Case((X,), ()), Case((X,), (), SPELLED[1])),  # type: ignore[arg-type]
        (Case((X,), (ClearGrad("x"),)), Case((X,), (ClearGrad("x", SPELLED[2]),))),  # type: ignore[arg-type]
        (EXACT, pickle.loads(pickle.dumps(EXACT))),  # noqa: S301 - our own
    ],
    ids=["dtype", "lane", "to", "pickled"],
)
def test_equal_cases_have_the_same_id(one: Case, other: Case) -> None:
    assert (True, one.id) == (one == other, other.id)


@pytest.mark.parametrize(
    "other",
    [
        msgspec.structs.replace(EXACT, lane="numeric"),
        msgspec.structs.replace(EXACT, steps=EXACT.steps[:-1]),
        msgspec.structs.replace(EXACT, inputs=EXACT.inputs[:-1]),
        msgspec.structs.replace(EXACT, inputs=(Input("x", (3,), (1.0, 2.0, 3.5)), EXACT.inputs[1])),
        msgspec.structs.replace(EXACT, inputs=(Input("x", (3,), (1.0, 2.0, 3.0), "float64"), EXACT.inputs[1])),
        msgspec.structs.replace(EXACT, inputs=(Input("x", (3,), (1.0, 2.0, 3.0), differentiable=False), EXACT.inputs[1])),
    ],
    ids=["lane", "step", "input", "element", "dtype", "differentiable"],
)
def test_an_id_depends_on_the_content(other: Case) -> None:
    assert EXACT.id != other.id


@pytest.mark.parametrize("number", [0.1, -0.0, 0.0, float("nan"), float("inf"), float("-inf"), 5e-324, 1.7976931348623157e308, 1 / 3])
def test_a_number_is_read_back_to_the_last_bit(number: float) -> None:
    written = Case((Input("x", (1,), data_of([number]), "float64"),), ())
    (found,) = decode(encode(written)).inputs[0].array()
    assert struct.pack("d", number) == struct.pack("d", found)


def test_the_schema_of_a_case_can_be_had_as_json_schema() -> None:
    kinds = {"Op", "Backward", "Grad", "ClearGrad", "Detach"}
    assert kinds <= set(msgspec.json.schema(Case)["$defs"])


def test_watched_are_the_differentiable_inputs_and_what_backward_names() -> None:
    inputs = (X, Input("c", (), (1.0,), differentiable=False))
    case = Case(inputs, (Op("mul", ("x", "x"), ("y",)), Backward(("y",), inputs=("y", "x"))))
    assert ("x", "y") == case.watched


BROKEN = {
    "unknown op": (Case((X,), (Op("sine", ("x",), ("y",)),)), "steps[0].op: 'sine' is unknown"),
    "too few operands": (Case((X,), (Op("mul", ("x",), ("y",)),)), "steps[0].operands: mul takes x, y"),
    "too many operands": (Case((X,), (Op("sin", ("x", "x"), ("y",)),)), "steps[0].operands: sin takes x"),
    "missing attribute": (Case((X,), (Op("sum", ("x",), ("y",), {"axis": None}),)), "steps[0].attrs: sum takes axis, keepdims"),
    "unknown attribute": (Case((X,), (Op("sin", ("x",), ("y",), {"axis": 0}),)), "steps[0].attrs: sin takes no attributes"),
    "no result": (Case((X,), (Op("sin", ("x",), ()),)), "steps[0].results: names no result"),
    "used before it is made": (
        Case((X,), (Op("sin", ("y",), ("z",)), Op("sin", ("x",), ("y",)))),
        "steps[0].operands: 'y' is not made before this step",
    ),
    "unknown seed": (Case((X,), (Backward(("x",), ("s",)),)), "steps[0].grad_tensors: 's' is not made before this step"),
    "unknown tensor to clear": (Case((X,), (ClearGrad("y"),)), "steps[0].tensor: 'y' is not made before this step"),
    "input made twice": (Case((X, X), ()), "inputs[1].name: 'x' is made twice"),
    "result made twice": (Case((X,), (Op("sin", ("x",), ("x",)),)), "steps[0].results: 'x' is made twice"),
    "too few elements": (Case((Input("x", (2, 2), (1.0,)),), ()), "inputs[0].data: has 1 elements; the shape [2, 2] needs 4"),
    "no number": (Case((Input("x", (1,), ("many",)),), ()), "inputs[0].data: 'many' is no number; allowed words are nan, inf, -inf"),
    "negative length": (Case((Input("x", (-1,), ()),), ()), "inputs[0].shape: has a negative length"),
    "unknown dtype": (
        Case((Input("x", (1,), (1.0,), "int8"),), ()),
        "inputs[0].dtype: 'int8' is unknown; allowed are float32, float64",
    ),
    "results of grad": (
        Case((X,), (Op("sum", ("x",), ("y",), TOTAL), Grad(("y",), ("x",), ("a", "b")))),
        "steps[1].results: names 2 results for 1 inputs",
    ),
    "results of detach": (Case((X,), (Detach("x", ("a", "b")),)), "steps[0].results: names one result"),
    "no root of backward": (Case((X,), (Backward(()),)), "steps[0].tensors: is empty"),
    "no output of grad": (Case((X,), (Grad((), ("x",), ("g",)),)), "steps[0].outputs: is empty"),
    "name that is no name": (Case((Input("x y", (), (1.0,)),), ()), "inputs[0].name: 'x y' is no name"),
    "another schema": (Case((), (), schema=99), "schema: is 99; this version reads 1"),
}


@pytest.mark.parametrize(("case", "message"), BROKEN.values(), ids=BROKEN)
def test_a_case_that_breaks_a_rule_is_refused_with_the_place_and_the_reason(case: Case, message: str) -> None:
    with pytest.raises(CaseError) as refused:
        check(case, "file")
    assert str(refused.value).startswith(f"file: {message}")


@pytest.mark.parametrize("case", [case for case, _ in BROKEN.values()], ids=BROKEN)
def test_a_broken_case_is_refused_when_it_is_read(case: Case) -> None:
    with pytest.raises(CaseError, match=r"^some\.json: "):
        decode(encode(case), "some.json")


def changed(**fields: Any) -> str:
    """Write a case of one input and one step with some fields changed; a dotted name reaches into the input or the step."""
    raw: dict[str, Any] = msgspec.to_builtins(Case((X,), (Op("sin", ("x",), ("y",)),)))
    for name, value in fields.items():
        where, _, field = name.partition("__")
        if field:
            raw[where][0][field] = value
        else:
            raw[where] = value
    return msgspec.json.encode(raw).decode()


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("{", "truncated"),
        ("[]", "Expected `object`"),
        ("{}", "required field `inputs`"),
        (changed(lane="fuzzy"), "$.lane"),
        (changed(steps__kind="loop"), "$.steps[0]"),
        (changed(steps__operands="x"), "$.steps[0].operands"),
        (changed(inputs__shape="wide"), "$.inputs[0].shape"),
        (changed(inputs__data=[None]), "$.inputs[0].data[0]"),
        (changed(inputs__requires_grad=True), "requires_grad"),
        (changed(steps__in_place=True), "in_place"),
        (changed(title="mine"), "title"),
    ],
)
def test_what_is_no_case_is_refused_with_the_place(text: str, place: str) -> None:
    with pytest.raises(CaseError) as refused:
        decode(text, "some.json")
    assert place in str(refused.value)


def test_a_file_that_cannot_be_read_is_refused_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(CaseError, match=r"absent\.json: No such file"):
        read(tmp_path / "absent.json")


EDGE = Edge("x", ("e",))
HOOK = Hook("x", ("k",), "nothing")


@pytest.mark.parametrize(
    ("steps", "place"),
    [
        ((EDGE, Op("exp", ("e",), ("y",))), "steps[1].operands: 'e' is an edge"),
        ((EDGE, Edge("e", ("f",))), "steps[1].tensor: 'e' is an edge"),
        ((EDGE, Backward(("x",), ("e",))), "steps[1].grad_tensors: 'e' is an edge"),
        ((HOOK, Backward(("k",))), "steps[1].tensors: 'k' is a hook"),
        ((EDGE, RemoveHook("e")), "steps[1].hook: 'e' is no hook"),
        ((RemoveHook("x"),), "steps[0].hook: 'x' is no hook"),
    ],
    ids=["operand", "edge of an edge", "seed", "hook as root", "removed edge", "removed tensor"],
)
def test_a_handle_is_no_tensor(steps: tuple[Any, ...], place: str) -> None:
    with pytest.raises(CaseError, match=re.escape(place)):
        check(Case((X,), steps))


def test_an_edge_may_be_root_and_input() -> None:
    check(Case((X,), (EDGE, HOOK, Backward(("e",), inputs=("e",)), Grad(("e",), ("e",), ("g",)), RemoveHook("k"))))


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (Grad(("y",), ("x",), ("g",), ("s",), no_grad_vars=("c",)), (("y",), ("s",), ("x",), ("c",))),
        (Backward(("y", "z"), ("s", None), inputs=("x",)), (("y", "z"), ("s", None), ("x",), None)),
        (Backward(("y",), grad_variables=("s",)), (("y",), ("s",), None, None)),
        (AppendBackward("y", ("g",), ("x",), ("c",)), (("y",), None, ("x",), ("c",))),
    ],
)
def test_a_call_says_what_it_differentiates_and_what_it_asks_for(call: Grad | Backward | AppendBackward, expected: Any) -> None:
    assert expected == (call.roots, call.seeds, call.asked, call.constants)


STRIDED = Input("x", (2, 2), (1.0, 2.0, 3.0, 4.0), strided=True)


def test_a_strided_input_has_its_elements_apart_in_memory() -> None:
    array = STRIDED.array()
    assert ([[1.0, 2.0], [3.0, 4.0]], False) == (array.tolist(), array.flags.c_contiguous)


def test_a_script_makes_a_strided_input_strided() -> None:
    array = eval(array_text(STRIDED), {"np": np})  # noqa: S307 - our own text
    assert (STRIDED.array().tolist(), STRIDED.array().strides) == (array.tolist(), array.strides)


def test_an_input_that_is_not_strided_does_not_say_so() -> None:
    assert b"strided" not in content(Case((Input("x", (1,), (1.0,)),), ()))


@pytest.mark.parametrize("shape", [(2, 0, 2), (0, 3), (2, 3)])
def test_an_input_lies_in_memory_as_its_shape_says_also_where_it_is_empty(shape: tuple[int, ...]) -> None:
    array = Input("x", shape, (1.0,) * math.prod(shape)).array()
    assert np.empty(math.prod(shape), array.dtype).reshape(shape).strides == array.strides
