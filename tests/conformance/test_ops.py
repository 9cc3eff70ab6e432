"""What a row of the catalogue says of its op, held against what the op does: a fact that is missing or wrong in a row fails here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from conformance.case.steps import Op
from conformance.generate.sketch import Sketch
from conformance.generate.sources import FastSource
from conformance.generate.special_points import cases_of, is_packed, single
from conformance.ops import NOT_OFFERED, catalogue
from conformance.ops.dtypes import DOUBLE, DTYPES, OTHER_KIND, OTHER_PRECISION, is_complex
from conformance.ops.spec import Growth, Memory, signature
from reference_impl import OPS, Tensor, grad
from reference_impl.primitives import shape
from reference_impl.tape.rules import replaced_forward

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.case.case import Case

ATTEMPTS = 60


class AnySize(Sketch):
    """A sketch that builds on numbers of any size and grain."""

    def moderate(self, array: Any) -> bool:  # noqa: ARG002 - any will do
        return True


def drawn(name: str, dtype: str, *, exact: bool) -> Iterator[tuple[Op, dict[str, Any]]]:
    """Draw an op alone, some dozen times: its step and the inputs."""
    for attempt in range(ATTEMPTS):
        sketch = AnySize(FastSource(11, attempt), exact=exact, dtype=dtype)
        if sketch.add_op(name):
            step = sketch.steps[-1]
            assert isinstance(step, Op)
            yield step, {entry.name: entry.array() for entry in sketch.inputs}


# Lanes.


def gradients(step: Op, arrays: dict[str, Any]) -> list[Any]:
    """Return an op's gradients, with seeds of small whole numbers."""
    leaves = {name: Tensor(array, requires_grad=True) for name, array in arrays.items()}
    made = OPS[step.op](*(leaves[name] for name in step.operands), **step.attrs)
    outs = made if isinstance(made, tuple) else (made,)
    asked = [leaves[name] for name in dict.fromkeys(step.operands)]
    found = grad(outs, asked, [seed_like(out) for out in outs], allow_unused=True)
    return [g.array for g in found if g is not None]


def seed_like(out: Tensor) -> Tensor:
    return Tensor(np.resize(np.array([1.0, -2.0, 3.0]), out.array.shape).astype(out.array.dtype))


def rounds(name: str, dtype: str) -> bool:
    """Whether single precision gives other gradients of small dyadic operands than double precision does."""
    for step, arrays in drawn(name, dtype, exact=True):
        with np.errstate(all="ignore"):
            wide = gradients(step, {n: a.astype(DOUBLE[str(a.dtype)]) for n, a in arrays.items()})
            narrow = gradients(step, arrays)
        if not all(np.array_equal(a, b) for a, b in zip(wide, narrow, strict=True)):
            return True
    return False


THIRDS = {"amax", "amin"}
"""Ops that share the gradient of a tie of three in thirds. Such a case is not compared bitwise: its arithmetic is watched (ADR 4)."""


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_an_op_that_calls_itself_exact_does_not_round(dtype: str) -> None:
    taken = ("both", "complex" if is_complex(dtype) else "real")
    exact = [n for n, row in catalogue().items() if row.numbers.taken in taken and row.is_exact(on_complex=is_complex(dtype))]
    assert not [name for name in exact if name not in THIRDS and rounds(name, dtype)]


@pytest.mark.parametrize(("name", "dtype"), [("sin", "float32"), ("div", "float32"), ("abs", "complex64")])
def test_an_op_that_rounds_is_seen_to(name: str, dtype: str) -> None:
    assert rounds(name, dtype)


# Memory.


def test_ops_that_lie_in_the_memory_of_their_operand_are_those_whose_rule_says_so() -> None:
    lying = {n for n, row in catalogue().items() if row.memory is not Memory.OWN and not row.memory.may_be_operand}
    assert lying == {n for n, row in catalogue().items() if row.views}


def test_ops_that_give_their_operand_back_are_those_whose_forward_does_so() -> None:
    x = np.ones((2, 2), np.float32)
    alone = [n for n, row in catalogue().items() if row.operands == ("x",) and not row.attrs and not row.views]
    with np.errstate(all="ignore"):
        given_back = {n for n in alone if OPS[n](x) is x}
    assert given_back == {n for n, row in catalogue().items() if row.memory is Memory.ITSELF}


def test_memory_of_views_with_several_results_is_doubtful() -> None:
    several = {name for name, row in catalogue().items() if row.multi_output and row.views}
    assert several <= {name for name, row in catalogue().items() if row.memory is Memory.DOUBTFUL}


# Growth.

LARGE = 100.0
OUT_OF_HAND = 1e9


def reach(name: str, dtype: str) -> float:
    """Return the largest number that an op makes of zeros and of operands of size 100; infinite where it is not defined."""
    largest = 0.0
    turned = (LARGE * 1j, -LARGE * 1j) if is_complex(dtype) else ()
    for step, arrays in drawn(name, dtype, exact=False):
        for size in (0.0, LARGE, -LARGE, *turned):
            real = size.real if isinstance(size, complex) else size
            operands = [np.full_like(arrays[n], size if np.iscomplexobj(arrays[n]) else real) for n in step.operands]
            with np.errstate(all="ignore"):
                made = OPS[name](*operands, **step.attrs)
            sizes = [np.abs(part).max(initial=0.0) for part in (made if isinstance(made, tuple) else (made,))]
            largest = max([largest, *(float(s) if np.isfinite(s) else np.inf for s in sizes)])
    return largest


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_an_op_that_is_built_upon_what_is_not_known_does_not_leave_the_range(dtype: str) -> None:
    stopped = (Growth.UNBOUNDED, Growth.IF_COMPLEX) if is_complex(dtype) else (Growth.UNBOUNDED,)
    taken = [n for n, row in catalogue().items() if row.numbers.taken in ("both", "complex" if is_complex(dtype) else "real")]
    built = [n for n in taken if catalogue()[n].growth not in stopped and not catalogue()[n].domain]
    assert not [name for name in built if reach(name, dtype) > OUT_OF_HAND]


def test_an_op_that_grows_is_seen_to() -> None:
    assert reach("exp", "float64") > OUT_OF_HAND


# Special points.


def places_differ(case: Case) -> bool:
    """Whether an op answers for one place of a packed case something else than for the place alone."""
    answers = []
    for one in (case, single(case, 7)):
        step = one.steps[0]
        assert isinstance(step, Op)
        arrays = {entry.name: entry.array() for entry in one.inputs}
        with np.errstate(all="ignore"):
            answers.append(np.asarray(OPS[step.op](*(arrays[n] for n in step.operands), **step.attrs)))
    packed, alone = answers
    return not np.allclose(packed[7], alone[0], equal_nan=True)


@pytest.mark.parametrize("op", [name for name in catalogue() if is_packed(name) and name != "topk"])
def test_an_op_that_is_swept_by_places_answers_for_each_alone(op: str) -> None:
    assert not [title for title, case in cases_of(op) if places_differ(case)]


# The rest of a row.


@pytest.mark.parametrize(("in_place", "message"), [(False, "exp: the row has no call for jax"), (True, "exp in place: the row has no")])
def test_a_framework_without_a_call_is_told_which_there_are(in_place: bool, message: str) -> None:
    with pytest.raises(LookupError, match=f"{message}.*; it has torch, paddle"):
        catalogue()["exp"].call("jax", in_place=in_place)


def test_what_is_not_offered_names_no_op_of_the_catalogue() -> None:
    assert not {word for key in NOT_OFFERED for word in key.split(", ")} & set(catalogue())


@pytest.mark.parametrize("table", [OTHER_KIND, OTHER_PRECISION], ids=["kind", "precision"])
def test_the_other_dtype_of_the_other_is_the_dtype(table: dict[str, str]) -> None:
    assert {dtype: table[table[dtype]] for dtype in DTYPES} == {dtype: dtype for dtype in DTYPES}


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_other_precision_is_of_the_same_kind(dtype: str) -> None:
    assert is_complex(dtype) is is_complex(OTHER_PRECISION[dtype])


# Text.


def test_of_two_forms_of_a_call_only_the_one_that_is_meant_is_printed() -> None:
    attrs = {"target": [0], "weight": None, "ignore_index": -100, "reduction": "sum"}
    wanted = "torch.nn.functional.cross_entropy(x0, torch.tensor([0]), None, ignore_index=-100, reduction='sum')"
    assert wanted == catalogue()["cross_entropy"].text("torch", ["x0"], attrs)


def test_what_an_op_takes_is_known_while_its_forward_is_another_one() -> None:
    def of_anything(*_: Any, **__: Any) -> None:
        """Be a forward whose own operands and attributes have no names."""

    signature.cache_clear()
    with replaced_forward(shape.expand, lambda _: of_anything):
        assert (("x",), ("shape",)) == (catalogue()["expand"].operands, catalogue()["expand"].attrs)
