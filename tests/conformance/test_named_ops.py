"""What campaigns over the ops that came later showed on PyTorch: each script agrees now, or shows a deviation that is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.campaign.findings.explain import explain_case
from conformance.campaign.workers.pool import Workers
from conformance.case.case import Case, Input
from conformance.case.files import check
from conformance.case.steps import Backward, Grad, Hook, InPlace, Op
from conformance.judge.verdict import Bucket
from tests.conformance.engines import TOTAL

if TYPE_CHECKING:
    from collections.abc import Iterator


def leaf(name: str, *data: Any, shape: tuple[int, ...] = (), dtype: str = "float32", **more: Any) -> Input:
    return Input(name, shape, data or (1.0,), dtype, **more)


def total(of: str, result: str) -> Op:
    return Op("sum", (of,), (result,), TOTAL)


LINKED: dict[str, Any] = {"create_graph": True}
FIXED: dict[str, Any] = {"differentiable": False}
PLACES = {"kernel": [2, 1], "padding": [0, 0], "stride": [2, 2]}
TURNED = {"upper": False, "transposed": True, "unit": True}
STATISTICS = {"eps": 0.001, "means": [-0.612, 1.495, 0.09], "variances": [1.466, 0.82, 1.296]}
DEPTHWISE = {"dilation": [1, 1], "groups": 2, "padding": [0, 0], "stride": [1, 1]}
TWO_BY_TWO: dict[str, Any] = {"shape": (2, 2), "dtype": "float64"}
NUMBERS = (1.0, 2.0, 3.0, 4.0)


def twice(op: str, attrs: dict[str, Any], x: Input, other: Input | None = None) -> Case:
    """The first derivative of an op in its first operand is differentiated, and the op is differentiated afterwards."""
    operands = ("x",) if other is None else ("x", "y")
    steps = (
        Op(op, operands, ("v",), attrs),
        total("v", "t"),
        Grad(("t",), ("x",), ("g",), retain_graph=True, **LINKED),
        total("g", "u"),
        Grad(("u",), ("x",), ("h",), allow_unused=True),
        total("v", "w"),
        Grad(("w",), ("x",), ("k",)),
    )
    return Case((x,) if other is None else (x, other), steps)


AGREEING = {
    "a sum of gradients of which nothing but rounding is left": Case(
        (
            leaf("x", 1.0, 1.0, -1.0, 0.0, -1.0, 0.0, 0.0, 0.0, -2.0, 0.0, 2.0, 0.0, shape=(2, 2, 3), dtype="float64"),
            leaf("w", 2.0, 1.0, shape=(2,), dtype="float64"),
            leaf("b", 1.0, 2.0, shape=(2,), dtype="float64"),
        ),
        (
            Op("instance_norm", ("x", "w", "b"), ("y",), {"eps": 1e-05}),
            Op("instance_norm", ("y", "w", "b"), ("z",), {"eps": 0.001}),
            total("z", "t"),
            Grad(("t",), ("x",), ("g",)),
            total("g", "u"),
        ),
    ),
    "adaptive pools of one place, freed": Case(
        (leaf("x", 1.0, 2.0, 3.0, shape=(1, 3)),),
        (Op("adaptive_avg_pool1d", ("x",), ("y",), {"size": [1]}), total("y", "t"), Backward(("t",)), Backward(("t",))),
    ),
    "adaptive pools of several places, freed": Case(
        (leaf("x", 1.0, 2.0, 3.0, shape=(1, 3)),),
        (Op("adaptive_avg_pool1d", ("x",), ("y",), {"size": [2]}), total("y", "t"), Backward(("t",)), Backward(("t",))),
    ),
    "means of parts of images by another name, freed": Case(
        (leaf("x", 1.0, 2.0, shape=(1, 1, 1, 2)),),
        (Op("interpolate_area", ("x",), ("y",), {"size": [1, 1]}), Backward(("y",)), Backward(("y",))),
    ),
    "the derivative of a pool, freed": Case(
        (leaf("x", 1.0, 2.0, shape=(1, 1, 2, 1)), leaf("s", 1.0), leaf("r", 1.0, 1.0, shape=(1, 1, 2, 1), **FIXED)),
        (
            Op("avg_pool2d_exclusive", ("x",), ("y",), PLACES),
            total("y", "t"),
            Grad(("t",), ("x",), ("g",), ("s",), **LINKED),
            Backward(("g",), ("r",)),
            total("g", "u"),
            Grad(("u",), ("s",), ("h",)),
        ),
    ),
    "degrees, freed": Case((leaf("x"),), (Op("rad2deg", ("x",), ("y",)), Backward(("y",)), Backward(("y",)))),
    "radians, freed": Case((leaf("x"),), (Op("deg2rad", ("x",), ("y",)), Backward(("y",)), Backward(("y",)))),
    "hooks of both operands of inner": Case(
        (leaf("x", shape=(1, 1)), leaf("y", shape=(1, 1))),
        (
            Op("inner", ("x", "y"), ("v",)),
            Hook("x", ("h",), "nothing"),
            Hook("y", ("k",), "nothing"),
            total("v", "t"),
            Backward(("t",)),
        ),
    ),
    "a deviation that its derivative depends on": Case(
        (leaf("x", 1.0, 2.0, shape=(2,)), leaf("s", 1.0, 2.0, shape=(2,), **FIXED)),
        (
            Op("std", ("x",), ("y",), {"axis": None, "keepdims": False, "unbiased": True}),
            Grad(("y",), ("x",), ("g",), **LINKED),
            Grad(("g",), ("y",), ("h",), ("s",)),
        ),
    ),
    "a hook that fails on the first vector of a grid": Case(
        (leaf("x", 1.0, 2.0, shape=(2,)), leaf("y", 1.0, 2.0, shape=(2,))),
        (Op("meshgrid", ("x", "y"), ("v",)), Hook("x", ("h",), "error"), total("v", "t"), Backward(("t",))),
    ),
    "a hook that fails on the first operand of a product by letters": Case(
        (leaf("x", shape=(1, 1)), leaf("y", shape=(1,))),
        (Op("einsum", ("x", "y"), ("v",), {"equation": "ij,i->ij"}), Hook("x", ("h",), "error"), total("v", "t"), Backward(("t",))),
    ),
    "three operands in the cheapest order, one of which was freed": Case(
        (leaf("x", shape=(1,), dtype="float64"), leaf("y", shape=(1, 1), dtype="float64"), leaf("z", shape=(1,), dtype="float64")),
        (
            Op("einsum_triple", ("x", "y", "z"), ("v",), {"equation": "i,ij,j->"}),
            Grad(("v",), ("x", "y"), ("g", "h"), **LINKED),
            Backward(("h",)),
            Grad(("g",), ("y",), ("k",), allow_unused=True),
        ),
    ),
    "a triangular solution that its derivative depends on": Case(
        (leaf("x", *NUMBERS, **TWO_BY_TWO), leaf("y", *NUMBERS, **TWO_BY_TWO, **FIXED), leaf("s", *NUMBERS, **TWO_BY_TWO)),
        (
            Op("triangular_solve", ("x", "y"), ("v",), TURNED),
            total("v", "t"),
            Grad(("t",), ("x",), ("g",), **LINKED),
            Grad(("g",), ("v",), ("h",), ("s",), materialize_grads=True),
        ),
    ),
    "a factor that its derivative depends on": Case(
        (leaf("x", 2.0, shape=(1, 1)),),
        (Op("cholesky", ("x",), ("v",)), Grad(("v",), ("x",), ("g",), **LINKED), Grad(("g",), ("v",), ("h",))),
    ),
    "an inverse that its derivative depends on": Case(
        (leaf("x", 2.0, shape=(1, 1)),),
        (Op("cholesky_inverse", ("x",), ("v",)), Grad(("v",), ("x",), ("g",), ("v",), **LINKED), Grad(("g",), ("v",), ("h",))),
    ),
    "a pseudoinverse that its derivative has run through": twice("pinv", {}, leaf("x", 2.0, shape=(1, 1))),
    "singular values that their derivative has run through": twice("svdvals", {}, leaf("x", 3.0, 1.0, 0.5, 2.0, **TWO_BY_TWO)),
    "gradients of a convolution, one after the other": Case(
        (leaf("x", *NUMBERS, shape=(1, 2, 1, 2)), leaf("y", 1.0, 2.0, shape=(2, 1, 1, 1))),
        (
            Op("conv2d_depthwise", ("x", "y"), ("v",), DEPTHWISE),
            total("v", "t"),
            Grad(("t",), ("x", "y"), ("g", "h"), **LINKED),
            total("g", "u"),
            total("h", "w"),
            Backward(("u",)),
            Backward(("w",)),
        ),
    ),
    "a convolution that nothing arrives at behind the derivative of another, freed": Case(
        (leaf("x", *NUMBERS, shape=(1, 2, 1, 2)), leaf("y", 1.0, 2.0, shape=(2, 1, 1, 1)), leaf("z", 3.0, 1.0, shape=(2, 1, 1, 1))),
        (
            Op("conv2d_depthwise", ("x", "y"), ("v",), DEPTHWISE),
            Op("conv2d_depthwise", ("v", "z"), ("w",), DEPTHWISE),
            total("w", "t"),
            Grad(("t",), ("v",), ("g",), **LINKED),
            total("g", "u"),
            Backward(("u",)),
            total("v", "r"),
            Backward(("r",)),
        ),
    ),
}

KNOWN = {
    "a leaf with gaps for a weight": (
        "torch-batch-norm-strided-weight",
        Case(
            (
                leaf("w", 1.0, 2.0, 3.0, shape=(3,), strided=True),
                leaf("x", 1.0, 2.0, 3.0, shape=(1, 3)),
                leaf("s", 2.0, 1.0, 0.5, shape=(1, 3), **FIXED),
            ),
            (Op("batch_norm_eval", ("x", "w", "w"), ("y",), STATISTICS), Grad(("y",), ("x",), ("g",), ("s",))),
        ),
    ),
    "a vector whose squares underflow": (
        "torch-normalize-zero-double",
        Case(
            (leaf("x", 1e-24, 1e-24, shape=(2,)),),
            (
                Op("normalize", ("x",), ("y",), {"axis": 0, "eps": 0.001}),
                total("y", "t"),
                Grad(("t",), ("x",), ("g",), **LINKED),
                total("g", "u"),
                Grad(("u",), ("x",), ("h",)),
            ),
        ),
    ),
    "hardsigmoid below another op": (
        "torch-hardsigmoid-sixth",
        Case(
            (leaf("x", 2.0, dtype="float64"),),
            (Op("hardsigmoid", ("x",), ("y",), {"slope": 1 / 6}), Op("cosh", ("y",), ("z",)), Backward(("z",))),
        ),
    ),
    "a triangle of a gradient that is expanded": (
        "torch-triu-expanded-gradient",
        Case(
            (leaf("x", 1.0, 2.0, shape=(1, 2)),),
            (total("x", "t"), Grad(("t",), ("x",), ("g",)), InPlace("tril", "g", (), {"diagonal": 0})),
        ),
    ),
    "a hook that would have failed, on a view that was written": (
        "torch-view-hook-lost-after-write",
        Case(
            (leaf("x"), leaf("y")),
            (
                Op("reshape", ("x",), ("v",), {"shape": []}),
                Hook("v", ("h",), "error"),
                InPlace("sub", "v", ("y",), no_grad=True),
                Grad(("v",), ("x",), ("g",)),
            ),
        ),
    ),
    "a seed that a gradient is, changed by an accumulation": (
        "torch-seed-mutated",
        Case(
            (leaf("x", shape=(1,)), leaf("s", shape=(1, 1), **FIXED)),
            (
                Op("atleast_2d", ("x",), ("y",)),
                Grad(("y",), ("x",), ("g",), ("s",)),
                Backward(("y",), ("s",)),
                Backward(("y",)),
            ),
        ),
    ),
    "a flag from before a hook": (
        "torch-hook-lost-on-captured",
        Case(
            (leaf("x"), leaf("r", 3.0, **FIXED), leaf("s", 3.0)),
            (total("x", "v"), Hook("v", ("h",), "tensor", tensor_returned="r"), Grad(("v",), ("x", "v"), ("g", "k"), ("s",), **LINKED)),
        ),
    ),
    "surplus seeds, twice": (
        "torch-too-many-seeds",
        Case(
            (leaf("x"), leaf("y"), leaf("s", **FIXED)),
            (Backward(("x",), ("s", "s")), Backward(("y",), ("s", "s"))),
        ),
    ),
    "a seed that was tracked by a write to a view of it": (
        "torch-tracked-seed-returned",
        Case(
            (leaf("x", 0.0, shape=(1, 1), **FIXED), leaf("y", shape=(1, 1))),
            (
                Op("getitem_slice", ("x",), ("v",), {"key": [[1, 2, 1], [1, 3, 1]]}),
                InPlace("div", "v", ("y",)),
                Grad(("x",), ("x",), ("g",), ("x",)),
            ),
        ),
    ),
}


@pytest.fixture(scope="module")
def engines() -> Iterator[Workers]:
    with Workers(("torch",), 1) as workers:
        yield workers


@pytest.mark.parametrize("case", AGREEING.values(), ids=AGREEING)
def test_pytorch_does_what_is_promised(case: Case, engines: Workers) -> None:
    check(case)
    assert engines.call(explain_case, case, "torch").verdict.bucket in (Bucket.AGREED, Bucket.SAME_ERROR)


@pytest.mark.parametrize(("entry", "case"), KNOWN.values(), ids=KNOWN)
def test_a_known_deviation_is_known_here_too(entry: str, case: Case, engines: Workers) -> None:
    check(case)
    verdict = engines.call(explain_case, case, "torch").verdict
    assert (Bucket.KNOWN_DEVIATION, True) == (verdict.bucket, entry in verdict.deviations)
