"""Scripts that a campaign found red: known deviations of what ops compute, otherwise than in the case of their finding."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from conformance.campaign.findings.explain import explain_case
from conformance.case.case import Case, Input
from conformance.case.steps import (
    Backward,
    Grad,
    Hook,
    InPlace,
    Op,
    SetRequiresGrad,
)
from conformance.judge.verdict import Bucket
from tests.conformance.engines import TOTAL
from tests.conformance.known_scripts import ALONG, LINKED, V, W, X, ending, given

if TYPE_CHECKING:
    from conformance.campaign.workers.pool import Workers


SEEN = {
    "a smallest element that ties, with a gradient of either sign": (
        "torch-segment-max-negative",
        Case(
            (given("x", 1.0, 1.0, 1.0, 1.0, shape=(2, 2)), given("s", 1.0, -1.0, shape=(1, 2))),
            (Op("segment_min", ("x",), ("y",), {"index": [0, 0]}), Grad(("y",), ("x",), ("g",), ("s",))),
        ),
    ),
    "an in-place product with what its first factor was made of": (
        "paddle-in-place-double",
        Case(
            (X,),
            (
                Op("softplus", ("x",), ("v",), {"beta": 1.5}),
                InPlace("mul", "v", ("x",)),
                Grad(("v",), ("x",), ("g",), **LINKED),
                Backward(("g",)),
            ),
        ),
    ),
    "sums of groups that fit no other axes": (
        "torch-batched-group-norm",
        Case(
            (given("x", *range(6), shape=(2, 3)), given("w", 1.0, 2.0, 3.0, shape=(3,)), given("s", *range(6), shape=(1, 2, 3))),
            (
                Op("group_norm", ("x", "w", "w"), ("y",), {"groups": 3, "eps": 1e-3}),
                Grad(("y",), ("x",), ("g",), ("s",), is_grads_batched=True, **LINKED),
            ),
        ),
    ),
    "sums of groups without a weight": (
        "torch-batched-group-norm",
        Case(
            (given("x", 0.5, 4.0, 3.0, 1.0, 2.5, 7.0, 2.0, 0.0, shape=(2, 2, 2)), given("s", *range(8), shape=(1, 2, 2, 2))),
            (
                Op("group_norm_noaffine", ("x",), ("y",), {"groups": 1, "eps": 1e-3}),
                Grad(("y",), ("x",), ("g",), ("s",), is_grads_batched=True, **LINKED),
            ),
        ),
    ),
    "a gradient of 0 where there is none": (
        "paddle-batch-norm-lone-gradient",
        Case(
            (given("x", 1.0, 3.0, shape=(2, 1)), given("w", 2.0, shape=(1,)), given("c", 1.0, shape=(1,))),
            (
                Op("add", ("c", "c"), ("b",)),
                Op("batch_norm_train", ("x", "w", "b"), ("y",), {"eps": 1e-3}),
                Op("sum", ("y",), ("t",), TOTAL),
                Grad(("t",), ("c",), ("g",)),
            ),
        ),
    ),
    "a refusal in front of a hook that would refuse": (
        "paddle-instance-norm-constant-input",
        Case(
            (given("x", 1.0, 2.0, shape=(1, 1, 2), fixed=True), given("w", shape=(1,)), given("b", shape=(1,))),
            (
                Hook("w", ("k",), "another_dtype"),
                Op("instance_norm", ("x", "w", "b"), ("y",), {"eps": 1e-3}),
                Op("sum", ("y",), ("t",), TOTAL),
                Backward(("t",)),
            ),
        ),
    ),
    "a product of empty vectors": (
        "paddle-dot-double-shape",
        Case(
            (Input("x", (0,), ()),),
            (Op("matmul", ("x", "x"), ("y",)), Grad(("y",), ("x",), ("g",), **LINKED), Grad(("g",), ("x",), ("h",))),
        ),
    ),
    "a complex size, before what is not offered": (
        "paddle-complex-abs-double",
        Case(
            (given("z", (1.0, 0.0), dtype="complex64"),),
            (
                Op("abs", ("z",), ("y",)),
                Op("sqrt", ("y",), ("s",)),
                Grad(("s",), ("z",), ("g",), **LINKED),
                Grad(("g",), ("y",), ("h",), **LINKED),
            ),
        ),
    ),
    "a triangle of an expanded batch": (
        "torch-triu-expanded",
        Case(
            (given("c", 1.0, 2.0, 3.0, 4.0, shape=(2, 2), fixed=True),),
            (Op("expand", ("c",), ("v",), {"shape": [3, 2, 2]}), InPlace("triu", "v", (), {"diagonal": 0})),
        ),
    ),
    "a padding below a leaky relu": (
        "paddle-leaky-relu-double-zero",
        Case(
            (given("x", 0.0, 2.0, shape=(2,)), given("s", *3 * (1.0,), shape=(3,)), given("r", 1.0, 1.0, shape=(2,))),
            (
                Op("pad_constant", ("x",), ("p",), {"before": [1], "after": [0], "value": 2.0}),
                Op("leaky_relu", ("p",), ("y",), {"slope": 0.5}),
                Grad(("y",), ("x",), ("g",), ("s",), **LINKED),
                Grad(("g",), ("s",), ("h",), ("r",)),
            ),
        ),
    ),
    "a padding of an empty difference": (
        "paddle-pad-double",
        Case(
            (Input("x", (0, 1), ()), V, W, given("u", fixed=True)),
            (
                Op("sub", ("x", "v"), ("d",)),
                Op("pad_constant", ("d",), ("p",), {"before": [0, 0], "after": [1, 1], "value": 0.5}),
                Op("sum", ("p",), ("t",), TOTAL),
                Grad(("t",), ("v",), ("g",), ("w",), **LINKED),
                Grad(("g",), ("w",), ("h",), ("u",)),
            ),
        ),
    ),
    "a product below a masked fill by it": (
        "paddle-complex-prod",
        Case(
            (given("z", (-1.0, 1.0), (0.0, -1.0), shape=(2,), dtype="complex64"),),
            (
                Op("prod", ("z",), ("p",), ALONG),
                Op("masked_fill_tensor", ("z", "p"), ("f",), {"mask": [True, False]}),
                Op("prod", ("f",), ("y",), ALONG),
                Backward(("y",)),
            ),
        ),
    ),
    "a product of complex numbers, one of which is 0": (
        "paddle-complex-prod",
        Case(
            (given("z", (0.0, 0.0), (1.0, -1.0), (0.0, 0.5), (0.0, 1.0), shape=(2, 2), dtype="complex64"),),
            (Op("prod", ("z",), ("p",), ALONG), Op("imag", ("p",), ("y",)), Backward(("y",), (None,))),
        ),
    ),
    "what is divided by a second derivative that is zero by formula": (
        "torch-zero-tensor-times-nan",
        Case(
            (X, given("v", -1.0, math.nan, 0.0, shape=(3,))),
            (
                Op("abs", ("x",), ("y",)),
                Grad(("y",), ("x",), ("g",), **LINKED),
                Grad(("g",), ("x",), ("h",)),
                Op("div", ("v", "h"), ("q",)),
            ),
            lane="exact",
        ),
    ),
    "a factor that is transposed from a view whose base is asked to require a gradient later": (
        "torch-view-flag-follows-base",
        Case(
            (given("b", 1.0, 3.0, 2.0, shape=(1, 1, 3), fixed=True), given("y", 2.0, shape=(1,))),
            (
                Op("dsplit", ("b",), ("v",), {"axis": 2, "part": 1, "sections": [2, 1]}),
                Op("matmul_transposed", ("v", "y"), ("p",), {"transpose_x": True, "transpose_y": True}),
                SetRequiresGrad("b", requires_grad=True),
                Grad(("p",), ("y",), ("g",), **LINKED),
            ),
        ),
    ),
}


@pytest.mark.parametrize("name", SEEN)
def test_a_known_deviation_is_known_here_too(name: str, workers: Workers) -> None:
    assert ending(SEEN, name, workers) == (Bucket.KNOWN_DEVIATION, True)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(1, 2), (1, 4, 2), (2, 2, 9), (2, 4, 3, 3)], ids=str)
def test_what_a_cancelled_variance_is_rounded_to_is_predicted(shape: tuple[int, ...], dtype: str, workers: Workers) -> None:
    size, channels = math.prod(shape), shape[1]
    far = 20000.0 if dtype == "float64" else 400.0
    numbers = (float(np.dtype(dtype).type(far + (7 * i % 11) / 3 + i % 2 / 7)) for i in range(size))
    inputs = (
        given("x", *numbers, shape=shape, dtype=dtype),
        given("w", *(1.0 + i / 2 for i in range(channels)), shape=(channels,), dtype=dtype),
        given("b", *[0.5] * channels, shape=(channels,), dtype=dtype),
        given("s", *(float(i % 3 - 1) for i in range(size)), shape=shape, dtype=dtype, fixed=True),
    )
    asked = Grad(("y",), ("x", "w", "b"), ("g", "h", "k"), ("s",))
    case = Case(inputs, (Op("group_norm", ("x", "w", "b"), ("y",), {"groups": 1, "eps": 1e-5}), asked))
    explained = workers.call(explain_case, case, "paddle")
    assert explained is not None
    assert ("known_deviation", "paddle-group-norm-variance") == (explained.verdict.bucket, explained.verdict.deviation)
