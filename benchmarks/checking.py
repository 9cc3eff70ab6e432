"""One differential check of both orders against torch's own way to check them, ``gradcheck`` and ``gradgradcheck``.

Ours is what a campaign does with a case: the reference runs it, torch runs it, everything observable is compared. Left out is what a
campaign does with a sample of its cases to measure itself: null pairs, and the time that torch takes alone. Theirs compares torch
with finite differences of itself. Both get the same function of the same leaves.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import torch
from engines import TORCH_OPS
from graphs import LEAVES, SIDE, Graph, random_graphs
from timing import Figure, interleaved, ratio

from conformance.backends import Backend, open_backend
from conformance.campaign.workers.trial import run_case
from conformance.case.case import Case, Input, data_of
from conformance.case.files import check
from conformance.case.steps import Grad, Op
from conformance.judge.verdict import Bucket
from conformance.laws.judging import Judging, Sampling

if TYPE_CHECKING:
    from conformance.campaign.records import CaseRecord

AIM = "<= 0.1"
UNSAMPLED = 1
"""The index of a case in a campaign which is none of those that torch runs alone."""


def figures(count: int, repeats: int) -> list[Figure]:
    """Return our check / torch's, both of orders 1 and 2."""
    torch.set_num_threads(1)
    graphs = random_graphs(count)
    backend = open_backend("torch")
    cases = [case_of(graph) for graph in graphs]
    derived = sum(_derives_tolerances(case, backend) for case in cases)
    ours, theirs = "check", "(gradcheck + gradgradcheck)"
    times = interleaved(
        {
            ours: lambda: [_check(case, backend) for case in cases],
            theirs: lambda: [check_numerically(graph) for graph in graphs],
        },
        repeats,
    )
    figure = ratio(times, ours, theirs, per=count, what="both orders", aim=AIM)
    return [figure._replace(measured=f"{figure.measured}; {derived} of {count} cases needed derived tolerances")]


def case_of(graph: Graph) -> Case:
    """Write a graph as a case that asks for the gradients, and for their gradients with seeds that are not just ones."""
    inputs = [Input(f"v{i}", (SIDE, SIDE), data_of(graph.arrays[i]), "float64") for i in graph.used]
    leaves = tuple(i.name for i in inputs)
    seeds = [Input(f"s{i.name}", i.shape, tuple(0.5 + k / 8 for k in range(SIDE * SIDE)), i.dtype, False) for i in inputs]
    steps: list[Any] = [
        Op(op, tuple(f"v{i}" for i in operands), (f"v{number}",), {"axis": None, "keepdims": False} if op == "sum" else {})
        for number, (op, operands) in enumerate(graph.calls, start=LEAVES)
    ]
    first = tuple(f"g{name}" for name in leaves)
    second = tuple(f"h{name}" for name in leaves)
    steps += [
        Grad(steps[-1].results, leaves, first, create_graph=True),
        Grad(first, leaves, second, grad_outputs=tuple(s.name for s in seeds), allow_unused=True),
    ]
    case = Case((*inputs, *seeds), tuple(steps))
    check(case)
    return case


def check_numerically(graph: Graph) -> None:
    """Run gradcheck and gradgradcheck."""
    leaves = tuple(torch.tensor(graph.arrays[i], requires_grad=True) for i in graph.used)
    root = functools.partial(_root, graph)
    torch.autograd.gradcheck(root, leaves)
    torch.autograd.gradgradcheck(root, leaves)


def _root(graph: Graph, *leaves: Any) -> Any:
    return graph.compute(TORCH_OPS, dict(zip(graph.used, leaves, strict=True)))


def _check(case: Case, backend: Backend) -> CaseRecord:
    return run_case(case, [backend], Judging(nulls=Sampling.NONE), index=UNSAMPLED)


def _derives_tolerances(case: Case, backend: Backend) -> bool:
    """Whether judging the case takes more than the cheap comparison; refuse to time a case that does not agree."""
    verdict = _check(case, backend).verdicts[backend.info.name]
    if verdict.bucket is not Bucket.AGREED:
        msg = f"case {case.id}: {verdict.bucket}, {verdict.mismatch}; there is nothing to time"
        raise RuntimeError(msg)
    return verdict.bounded
