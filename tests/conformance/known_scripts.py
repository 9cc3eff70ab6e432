"""Scripts in which a known deviation shows otherwise than in the case of its finding, and what is asked of them.

A table of these has, for the name of each, the id of the entry and the case.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.case.case import Case, Input
from conformance.case.files import check
from conformance.case.steps import Grad
from tests.conformance import judged

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.campaign.workers.pool import Workers
    from conformance.judge.verdict import Bucket


def given(name: str, *data: Any, shape: tuple[int, ...] = (), dtype: str = "float32", fixed: bool = False) -> Input:
    return Input(name, shape, data or (1.0,), dtype, differentiable=not fixed)


def in_itself(name: str, result: str, seed: str | None = None, **asked: Any) -> Grad:
    """The gradient of a leaf in itself."""
    return Grad((name,), (name,), (result,), None if seed is None else (seed,), **asked)


X, V, W = given("x"), given("v"), given("w", 3.0)
Z = given("z", (1.1, 0.06), dtype="complex64")
LINKED: dict[str, Any] = {"create_graph": True}
ALONG = {"axis": 0, "keepdims": False}
SPLIT = {"axis": 0, "sections": [1, 2]}


def ending(scripts: Mapping[str, tuple[str, Case]], name: str, workers: Workers, backend: str = "") -> tuple[Bucket, bool]:
    """How a script of a table ends on the backend of its entry, and whether the entry is among what is known of it.

    All that the table has for a backend runs at once. ``backend``: that of all its entries, where ids do not tell it from another.
    """
    entry, case = scripts[name]
    check(case)
    asked = backend or entry.partition("-")[0]
    together = {other: case for other, (id_, case) in scripts.items() if backend or id_.startswith(f"{asked}-")}
    verdict = judged.verdicts(workers, asked, together)[name]
    return verdict.bucket, entry in verdict.deviations
