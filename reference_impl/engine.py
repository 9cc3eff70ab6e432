"""Reverse mode: `backward` and `grad`, for every order and both dialects.

A call collects the nodes that its roots depend on, walks them so that every node runs after all of its consumers, and hands each
node's cotangent to the vjp rules of its operands; contributions to the same tensor are added (fan-out). Without ``create_graph``
the rules run on plain arrays. With it they run on Tensors and are recorded like any user's op, so the result can be
differentiated again: there is no other mechanism for higher orders.

What is refused, and when, is the calling contract: see the checks in `contract`. Cotangents have the shape and dtype of their
primal.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from reference_impl import contract
from reference_impl.dialect import TORCH, Dialect
from reference_impl.errors import AutogradError, Category
from reference_impl.primitives.arithmetic import add
from reference_impl.storage import copy_of
from reference_impl.tensor import Tensor
from reference_impl.walk import Walk, recorded

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


def backward(
    tensors: Sequence[Tensor],
    grad_tensors: Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Sequence[Tensor] | None = None,
    *,
    dialect: Dialect = TORCH,
) -> None:
    """Accumulate the gradients of the roots into ``.grad`` of the leaves (or of ``inputs`` alone).

    Each root ``t`` is seeded with its element of ``grad_tensors`` (the shape of ``t``), or with ones where the dialect allows it.
    Leaves that were reached before a node refused keep what they accumulated.

    Raises:
        AutogradError: with the category of what is refused.
    """
    roots = contract.seeded_roots(tensors, grad_tensors, dialect)
    if inputs is not None:
        contract.check_retained_inputs(inputs)
    walk = _walk(roots, inputs, (), dialect, retain_graph, create_graph, accumulates=True)
    if inputs is not None and dialect.inputs_run_their_node:
        walk.needed.update(t.node for t in inputs if t.node is not None and t.node in walk.reached)
    walk.run()


def grad(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    grad_outputs: Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    no_grad_vars: Sequence[Tensor] | None = None,
    materialize_grads: bool = False,
    *,
    dialect: Dialect = TORCH,
) -> list[Tensor | None]:
    """Return, for each input, the sum over the outputs of ``seed^T d(output)/d(input)``; nothing's ``.grad`` changes.

    An input that the outputs do not depend on is absent (``None``) if ``allow_unused``, zeros with ``materialize_grads``. Nothing
    flows to or through ``no_grad_vars``.

    Raises:
        AutogradError: with the category of what is refused.
    """
    if materialize_grads:
        if allow_unused is False:
            raise AutogradError(Category.BAD_ARGUMENT, "allow_unused=False contradicts materialize_grads=True")
        allow_unused = True
    contract.check_seed_count(outputs, grad_outputs, dialect)
    contract.check_only_inputs(only_inputs, dialect)
    contract.check_inputs_distinct(outputs, inputs, dialect)
    roots = contract.seeded_roots(outputs, grad_outputs, dialect)
    contract.check_inputs_differentiable(inputs, dialect)
    walk = _walk(roots, inputs, no_grad_vars or (), dialect, retain_graph, create_graph, accumulates=False)
    walk.run()
    found = [walk.cotangent(t) for t in inputs]
    if not allow_unused:
        contract.check_reached(inputs, [c is not None for c in found])
    results: list[Tensor | None] = []
    for tensor, cotangent in zip(inputs, found, strict=True):
        if cotangent is None:
            zeros = Tensor(np.zeros_like(tensor.array), requires_grad=create_graph) if materialize_grads else None
            results.append(zeros)
            continue
        results.append(_unshared(cotangent, roots) if create_graph else Tensor(np.array(_array(cotangent))))
    return results


def _walk(
    roots: list[tuple[Tensor, Tensor]],
    targets: Sequence[Tensor] | None,
    cut: Collection[Tensor],
    dialect: Dialect,
    retain_graph: bool | None,
    create_graph: bool,
    *,
    accumulates: bool,
) -> Walk:
    keep = functools.partial(_accumulate, dialect=dialect, create_graph=create_graph)
    retain = create_graph if retain_graph is None else retain_graph
    return Walk(roots, targets, cut, dialect, create_graph=create_graph, retain_graph=retain, keep=keep, accumulates=accumulates)


def _accumulate(tensor: Tensor, cotangent: Any, *, dialect: Dialect, create_graph: bool) -> None:
    """Add a cotangent to ``.grad``: where it arrives, so a pass that fails later leaves it there."""
    if not tensor.requires_grad and dialect.toggled_leaf == "checked":
        return
    before = tensor.grad
    if tensor.node is not None and dialect.retained == "replaced":
        before = None
    if create_graph:
        tensor.grad = copy_of(cotangent) if before is None else recorded(add, before, cotangent)
    elif before is None:
        tensor.grad = Tensor(np.array(_array(cotangent)), requires_grad=dialect.grad_requires_grad)
    else:
        total = add(before.array, _array(cotangent))
        tensor.grad = Tensor(np.asarray(total), requires_grad=before.requires_grad, node=before.node, slot=before.slot)


def _unshared(cotangent: Tensor, roots: list[tuple[Tensor, Tensor]]) -> Tensor:
    """Return a tensor of its own for a cotangent: who changes it in place changes no seed and no other result.

    A seed that is a leaf and requires a gradient comes back itself: it cannot be changed, and derivatives are asked for by it.
    """
    own = cotangent.node is not None or not cotangent.requires_grad or all(cotangent is not seed for _, seed in roots)
    return copy_of(cotangent) if own else cotangent


def _array(x: Any) -> Any:
    return x.array if type(x) is Tensor else x
