"""Sharpness: how small an error of a gradient is found out.

A mutant has a fault that anybody would call one. A kernel that loses a few bits has a smaller one: its gradients are too large by a
factor ``1 + 2**-k``. Where arithmetic is exact every such factor that the dtype can tell from 1 must show; where numbers round it
must be told from rounding. So each op has a largest ``k`` whose fault is found out, and that is measured here, on the first calls of
the cases of the grid, which are part of the gate.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from conformance.case.steps import Call
from conformance.compare.promise import Promise
from conformance.generate.grid import grid
from conformance.judge.judgement import judged
from conformance.judge.verdict import Bucket
from conformance.mutants.mutant import WrongEngine
from reference_impl import OPS
from reference_impl.tape.rules import intercepted_rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from conformance.case.case import Case
    from conformance.judge.verdict import Verdict
    from reference_impl.tape.primitive import Application, Primitive
    from reference_impl.tape.rules import Pull, Pulled

BITS = {"float32": 23, "float64": 52}
"""For each dtype the largest ``k`` for which it can tell ``1 + 2**-k`` from 1."""
AIMS = {
    "float32": {"mul": 23, "sum": 23, "matmul": 23, "exp": 20, "tanh": 20, "div": 20},
    "float64": {"mul": 52, "matmul": 52},
}
"""What is measured unless ops are named, and what the project aims at."""


class Sharpness(NamedTuple):
    """The smallest relative error of the first-order gradients of an op that is found out: ``2**-bits``; ``None``: not even 1."""

    op: str
    dtype: str
    bits: int | None

    def __str__(self) -> str:
        aim = AIMS[self.dtype].get(self.op)
        found = "nothing" if self.bits is None else f"2^-{self.bits}"
        return f"{self.op:<12} {self.dtype:<8} {found:<8}" + (f" aim 2^-{aim}" if aim is not None else "")


def sharpness(op: str, dtype: str) -> Sharpness:
    """Measure one op: the factor comes nearer to 1 until no case shows it, from the nearest that the dtype has."""
    cases = [point.case() for point in grid([op]) if point.row["dtype"] == dtype]
    return Sharpness(op, dtype, next((bits for bits in range(BITS[dtype], -1, -1) if _is_found(scaled(op, bits), cases)), None))


def scaled(op: str, bits: int) -> WrongEngine:
    """Open an engine whose gradients of an op are too large by the factor ``1 + 2**-bits``."""
    scale, factor = OPS["mul_scalar"], 1.0 + 2.0**-bits

    def pulled(right: Pull, primitive: Primitive, node: Application, asked: Sequence[int], *given: Any) -> Pulled:
        made = right(node, asked, *given)
        return [(position, scale(c, other=factor)) for position, c in made] if primitive.name == op else made

    @contextmanager
    def fault() -> Iterator[None]:
        with intercepted_rules(pulled):
            yield

    return WrongEngine(f"{op}-scaled-{bits}", fault)


def _is_found(engine: WrongEngine, cases: Iterable[Case]) -> bool:
    return any(_shows_at_first(judged(Promise(case, engine.info), engine.run(case)), case) for case in cases)


def _shows_at_first(verdict: Verdict, case: Case) -> bool:
    """Whether what diverges is a gradient of the first call, which is one of first order whatever comes behind it."""
    first = next(number for number, step in enumerate(case.steps) if isinstance(step, Call))
    return verdict.bucket is Bucket.DIVERGED and verdict.mismatch is not None and verdict.mismatch.step == first
