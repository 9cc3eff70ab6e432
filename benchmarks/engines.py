"""The reference engine against eager torch and HIPS autograd: building a graph and differentiating it, at orders 1 and 2.

Order 2 differentiates the sum of the squared gradients once more. All engines must agree before they are timed.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import autograd
import autograd.numpy
import numpy as np
import torch
from graphs import Graph, random_graphs
from timing import Figure, interleaved, ratio

import reference_impl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Gradients = Callable[[Graph, int], list[Any]]

NAMES = ("add", "mul", "matmul", "sin", "tanh", "exp")
REFERENCE_OPS = {
    **{name: reference_impl.OPS[name] for name in NAMES},
    "sum": lambda x: reference_impl.OPS["sum"](x, axis=None, keepdims=False),
}
TORCH_OPS = {name: getattr(torch, name) for name in (*NAMES, "sum")}
AUTOGRAD_OPS = {
    **{name: getattr(autograd.numpy, name) for name in (*NAMES[2:], "sum")},
    "add": autograd.numpy.add,
    "mul": autograd.numpy.multiply,
}


def figures(count: int, repeats: int) -> Iterator[Figure]:
    """Yield reference / torch and reference / HIPS autograd, at both orders."""
    torch.set_num_threads(1)
    graphs = random_graphs(count)
    engines: dict[str, Gradients] = {"reference": of_reference, "eager torch": of_torch, "HIPS autograd": of_autograd}
    for order in (1, 2):
        _must_agree(engines, graphs, order)
        works = {name: functools.partial(_run, gradients, graphs, order) for name, gradients in engines.items()}
        times = interleaved(works, repeats)
        for other, aim in (("eager torch", "<= 1"), ("HIPS autograd", "< 1")):
            yield ratio(times, "reference", other, per=count, what=f"order {order}", aim=aim)


def of_reference(graph: Graph, order: int) -> list[Any]:
    """Differentiate with the reference engine."""
    leaves = {i: reference_impl.tensor(graph.arrays[i], requires_grad=True) for i in graph.used}
    inputs = list(leaves.values())
    root = graph.compute(REFERENCE_OPS, leaves)
    found = reference_impl.grad([root], inputs, None, None, order > 1)
    if order > 1:
        found = reference_impl.grad([_squares(REFERENCE_OPS, found)], inputs)
    return [g.array for g in found if g is not None]


def of_torch(graph: Graph, order: int) -> list[Any]:
    """Differentiate with eager torch."""
    leaves = {i: torch.tensor(graph.arrays[i], requires_grad=True) for i in graph.used}
    inputs = list(leaves.values())
    root = graph.compute(TORCH_OPS, leaves)
    found = torch.autograd.grad([root], inputs, create_graph=order > 1)
    if order > 1:
        found = torch.autograd.grad([_squares(TORCH_OPS, found)], inputs)
    return [g.numpy() for g in found]


def of_autograd(graph: Graph, order: int) -> list[Any]:
    """Differentiate with HIPS autograd, whose only interface is the gradient of a function."""

    def root(*leaves: Any) -> Any:
        return graph.compute(AUTOGRAD_OPS, dict(zip(graph.used, leaves, strict=True)))

    every = tuple(range(len(graph.used)))
    first = autograd.grad(root, every)
    wanted = first if order == 1 else autograd.grad(lambda *leaves: _squares(AUTOGRAD_OPS, first(*leaves)), every)
    return list(wanted(*(graph.arrays[i] for i in graph.used)))


def _squares(ops: dict[str, Callable[..., Any]], gradients: Any) -> Any:
    sums = [ops["sum"](ops["mul"](g, g)) for g in gradients]
    return functools.reduce(ops["add"], sums)


def _run(gradients: Gradients, graphs: list[Graph], order: int) -> None:
    for graph in graphs:
        gradients(graph, order)


def _must_agree(engines: dict[str, Gradients], graphs: list[Graph], order: int) -> None:
    """Refuse to time engines that compute different things."""
    for number, graph in enumerate(graphs):
        answers = {name: gradients(graph, order) for name, gradients in engines.items()}
        for name, found in answers.items():
            for expected, actual in zip(answers["reference"], found, strict=True):
                scale = max(1.0, float(np.abs(expected).max()))
                if not np.abs(expected - actual).max() <= 1e-9 * scale:
                    msg = f"graph {number}, order {order}: reference and {name} disagree; there is nothing to time"
                    raise RuntimeError(msg)
