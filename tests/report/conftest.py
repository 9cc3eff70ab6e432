"""Fixtures: the records of a small run."""

from __future__ import annotations

from typing import Any

import pytest

from .samples import LEDGERS, counts, finding


@pytest.fixture
def header() -> dict[str, Any]:
    """Return the first record of a run."""
    return {
        "kind": "header",
        "schema": 1,
        "suite": "2026.11",
        "command": "conformance run --backends torch,paddle --cases 20000",
        "seed": 1,
        "cases": 20000,
        "lanes": ["exact", "numeric"],
        "ops": None,
        "jobs": 2,
        "started": "2026-11-21T03:00:00Z",
        "environment": {"python": "3.11.7", "platform": "Linux-6.1-x86_64", "numpy": "2.4.6"},
        "backends": [
            {
                "name": "torch",
                "version": "2.13.0+cpu",
                "dialect": "torch",
                "not_offered": {"no_grad_vars": "torch has no such parameter"},
            },
            {
                "name": "paddle",
                "version": "3.4.0",
                "dialect": "paddle",
                "not_offered": {"materialize_grads": "not in paddle.grad"},
            },
        ],
    }


@pytest.fixture
def footer() -> dict[str, Any]:
    """Return the last record of a run with one finding."""
    parts = {"reference": 61.2, "torch": 48.0, "paddle": 95.5, "generate": 22.4, "judge": 18.9, "all": 251.3, "wall": 131.0}
    return {
        "kind": "footer",
        "verdict": "diverges",
        "cases": 20000,
        "findings": 1,
        "ledger": LEDGERS,
        "seconds": parts,
        "reasons": ["torch: 17 cases diverge in 1 finding"],
        "counts": {"torch": counts(1), "paddle": counts(2)},
        "not_offered": {
            "torch": {"no_grad_vars": "torch has no such parameter"},
            "paddle": {"materialize_grads": "not in paddle.grad", "backward.inputs": "not in paddle.autograd.backward"},
        },
        "deviations": {"torch": {"torch-view-in-no-grad": 913}},
        "deviation_info": {
            "torch-view-in-no-grad": {
                "reason": "A view made in no_grad of a tracked base requires a gradient.",
                "finding": "torch-view-in-no-grad",
            }
        },
        "lanes": {"exact": 10020, "numeric": 9980},
        "orders": {"1": 9000, "2": 8000, "3": 2990, "0": 10},
        "rich": 15044,
        "bounded": 933,
        "ratios": {"torch": {"op:matmul": {"none": 5, "1/10": 41, "1": 3}, "grad": {"1/100": 17, "beyond": 2}}, "paddle": {}},
        "worst": {"torch": [0.212, "op:matmul", "00ff00ff00ff00ff"]},
    }


@pytest.fixture
def records(header: dict[str, Any], footer: dict[str, Any]) -> list[dict[str, Any]]:
    """Return all records of a run with one finding, without its case records."""
    return [header, finding(), footer]
