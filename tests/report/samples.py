"""Records of a small run, as a campaign writes them."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from conformance.campaign.records import (
    SCHEMA,
    BackendRecord,
    DeviationRecord,
    ExitReason,
    FindingRecord,
    Footer,
    Header,
    NullSummary,
    RunVerdict,
    StepRecord,
)
from conformance.campaign.records.fingerprint import Fingerprint
from conformance.campaign.records.verdicts import MismatchRecord
from conformance.case.case import Case, Input
from conformance.case.steps import (
    AppendBackward,
    Backward,
    ClearGrad,
    Custom,
    Detach,
    Drop,
    Edge,
    Grad,
    Hook,
    InPlace,
    Op,
    RemoveHook,
    RetainGrad,
    SetRequiresGrad,
)
from conformance.judge.verdict import Bucket

CASE = Case(
    (Input("x0", (3,), (1.0, 2.0, 3.0)), Input("x1", (1, 3), (2.0, 0.0, -1.0)), Input("s0", (), (2.0,), differentiable=False)),
    (
        Op("unsqueeze", ("x0",), ("v0",), {"axis": 0}),
        Op("reshape", ("v0",), ("v1",), {"shape": [1, 3]}, no_grad=True),
        Op("mul", ("v0", "x1"), ("v2",)),
        Op("sum", ("v2",), ("v3",), {"axis": None, "keepdims": False}),
        Grad(("v3",), ("x0",), ("g0",), ("s0",), create_graph=True),
        Op("sum", ("g0",), ("v4",), {"axis": None, "keepdims": False}),
        Backward(("v4",), retain_graph=True),
    ),
    "exact",
)

STEPS = [
    ("v0 = unsqueeze(x0, axis=0)", "float32[1, 3] = [[1, 2, 3]] requires_grad", None),
    (
        "v1 = reshape(v0, shape=[1, 3])  # in no_grad",
        "float32[1, 3] = [[1, 2, 3]]",
        "float32[1, 3] = [[1, 2, 3]] requires_grad",
    ),
    ("v2 = mul(v0, x1)", "float32[1, 3] = [[2, 0, -3]] requires_grad", None),
    ("v3 = sum(v2, axis=None, keepdims=False)", "float32[] = -1 requires_grad", None),
    ("g0 = grad([v3], [x0], grad_outputs=[s0], create_graph=True)", "float32[3] = [4, 0, -2] requires_grad", None),
    ("v4 = sum(g0, axis=None, keepdims=False)", "float32[] = 2 requires_grad", None),
    (
        "backward([v4], retain_graph=True)",
        "x0.grad absent, x1.grad = [[2, 2, 2]]",
        "x0.grad = [0, 0, 0], x1.grad = [[2, 2, 2]]",
    ),
]

LEDGERS = {
    "torch": {
        "agreed": 18211,
        "same_error": 641,
        "diverged": 17,
        "known_deviation": 913,
        "near_kink": 201,
        "nothing_compared": 17,
    },
    "paddle": {
        "agreed": 17650,
        "same_error": 702,
        "known_deviation": 1021,
        "not_offered": 590,
        "timed_out": 1,
        "nothing_compared": 36,
    },
}


MISMATCH = MismatchRecord(1, "op:reshape", "flag", "result", "constant", "requires_grad", "v1")

FINDING = FindingRecord(
    id="torch-3fa2c1d0",
    fingerprint=Fingerprint("torch", Bucket.DIVERGED, "op:reshape", "value", "result"),
    backend="torch",
    bucket=Bucket.DIVERGED,
    at="op:reshape",
    count=17,
    index=1041,
    ops=("mul", "reshape", "sum", "unsqueeze"),
    case=CASE,
    mismatch=MISMATCH,
    blame=None,
    steps=tuple(StepRecord(text, expected, actual or expected) for text, expected, actual in STEPS),
    replay="conformance replay reports/cases/torch-3fa2c1d0.json --backend torch",
    script="import torch\n\nx0 = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\nassert x0 < 3 & True\n",
    shrink_rounds={"drop steps": 7, "cut values": 2},
)


def finding(**changes: Any) -> FindingRecord:
    """Return a finding's record, changed in some fields."""
    return replace(FINDING, **changes)


def differing(**changes: Any) -> FindingRecord:
    """Return a finding's record whose mismatch is changed in some fields."""
    return finding(mismatch=replace(MISMATCH, **changes))


def counts(factor: int) -> dict[str, int]:
    """Return the counters of one backend."""
    numbers = {
        "calls": 3119,
        "gradients": 4210,
        "gradient_elements": 25631,
        "elements": 90001,
        "absent": 311,
        "errors": 33,
        "ops": 7000,
        "order 1": 2000,
        "order 2": 900,
        "order 3": 219,
        "events": 77,
        "grad retain_graph=True @1": 700,
        "grad retain_graph=True @2": 31,
        "grad retain_graph=False @1": 310,
        "grad retain_graph=unset @3": 25,
        "grad inside no_grad @1": 12,
        "grad no_grad_vars=given @1": 14 * (factor - 1),
        "backward seeds=unset @1": 800,
        "backward inputs=given @1": 44 * (2 - factor),
        "hook returns=scaled @2": 9,
        "custom function @1": 5,
    }
    return {name: number * factor for name, number in numbers.items()}


HEADER = Header(
    schema=SCHEMA,
    suite="2026.11",
    command="conformance run --backends torch,paddle --cases 20000",
    seed=1,
    cases=20000,
    lanes=("exact", "numeric"),
    ops=None,
    ops_not_offered={},
    jobs=2,
    started="2026-11-21T03:00:00Z",
    environment={"python": "3.11.7", "platform": "Linux-6.1-x86_64", "numpy": "2.4.6"},
    backends=(
        BackendRecord("torch", "2.13.0+cpu", "torch", {"no_grad_vars": "torch has no such parameter"}),
        BackendRecord("paddle", "3.4.0", "paddle", {"materialize_grads": "not in paddle.grad"}, repeatable="rounding"),
    ),
)

FOOTER = Footer(
    verdict=RunVerdict.DIVERGES,
    exit_reason=ExitReason.CASES,
    reasons=("torch: 17 cases diverge in 1 finding",),
    cases=20000,
    rich=15044,
    bounded=933,
    unreproduced_deaths=0,
    lanes={"exact": 10020, "numeric": 9980},
    orders={"1": 9000, "2": 8000, "3": 2990, "0": 10},
    ledger=LEDGERS,
    counts={"torch": counts(1), "paddle": counts(2)},
    deviations={"torch": {"torch-view-in-no-grad": 913}, "paddle": {}},
    laws={"torch": {}, "paddle": {}},
    ratios={"torch": {"op:matmul": {"none": 5, "1/10": 41, "1": 3}, "grad": {"1/100": 17, "beyond": 2}}, "paddle": {}},
    worst={"torch": (0.212, "op:matmul", "00ff00ff00ff00ff")},
    nulls=NullSummary(0, 0, 0, 0.0, {}),
    findings=1,
    jobs=2,
    bare={"torch": 0.00015, "paddle": 0.0002},
    processes={"done": 6, "poisoned": 2, "crashed": 1},
    seconds={"reference": 61.2, "torch": 48.0, "paddle": 95.5, "generate": 22.4, "judge": 18.9, "all": 251.3, "wall": 131.0},
    not_offered={
        "torch": {"no_grad_vars": "torch has no such parameter"},
        "paddle": {"materialize_grads": "not in paddle.grad", "backward.inputs": "not in paddle.autograd.backward"},
    },
    deviation_info={
        "torch-view-in-no-grad": DeviationRecord(
            "A view made in no_grad of a tracked base requires a gradient.", "torch-view-in-no-grad", ""
        )
    },
)


EVERY_KIND = Case(
    (
        Input("x0", (3,), (1.0, 2.0, 3.0)),
        Input("x1", (3,), (2.0, 0.0, -1.0)),
        Input("s0", (3,), (2.0, 2.0, 2.0), differentiable=False),
    ),
    (
        Op("mul", ("x0", "x1"), ("v0",)),
        Detach("v0", ("d0",)),
        Op("reshape", ("v0",), ("v1",), {"shape": [1, 3]}),
        InPlace("add", "v0", ("x1",)),
        RetainGrad("v0"),
        Hook("v0", ("h0",), "scaled", factor=2.0),
        Hook("x0", ("h1",), "tensor", tensor_returned="s0"),
        Edge("x1", ("e0",)),
        Custom(
            ("v0", "x1"),
            ("v2", "v3"),
            forward=(Op("mul", ("v0", "x1"), ("f0",)), Op("neg", ("x1",), ("f1",))),
            outputs=("f0", "f1"),
            cotangents=("g0", "g1"),
            gradients=("b0", None),
            backward=(Op("mul", ("g0", "x1"), ("b0",)),),
            saved=("x1",),
        ),
        Op("sum", ("v2",), ("v4",), {"axis": None, "keepdims": False}),
        Op("sum", ("v1",), ("v5",), {"axis": None, "keepdims": False}),
        Backward(("v4", "v5"), (None, None), retain_graph=True),
        RemoveHook("h0"),
        ClearGrad("x0", "zero"),
        SetRequiresGrad("x1", requires_grad=False),
        Op("mul", ("x0", "x1"), ("v6",)),
        Grad(("v4",), ("x0", "e0"), ("g2", "g3"), allow_unused=True, form="tuple"),
        Drop("v6"),
        AppendBackward("v4", ("g4",), parameter_list=("x0",), no_grad_set=("x1",), callbacks=True),
    ),
    "exact",
)
