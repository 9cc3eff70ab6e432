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

from reference_impl.dialects.dialect import TORCH, Dialect
from reference_impl.errors import AutogradError, Category
from reference_impl.primitives.arithmetic import add, clone
from reference_impl.reverse import arguments, contract
from reference_impl.reverse.arguments import Default
from reference_impl.reverse.batch import EarlierPass, in_batches
from reference_impl.reverse.dump import dump
from reference_impl.reverse.walk import ReversePass
from reference_impl.tape.primitive import array_of
from reference_impl.tape.storage import copy_of
from reference_impl.tape.tensor import Tensor, recorded

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | int | Default | None = Default.OF_THE_DIALECT,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
    *,
    dump_backward_graph_path: str | None = None,
    dialect: Dialect = TORCH,
) -> None:
    """Accumulate the gradients of the roots into ``.grad`` of the leaves (or of ``inputs`` alone).

    Args:
        tensors: the roots, tensors or gradient edges; one alone needs no container.
        grad_tensors: the seed of each root (its shape; cast to its dtype), ``None`` for ones where the dialect allows it.
        retain_graph: whether the graph can be differentiated again; as ``create_graph`` says, if not told.
        create_graph: whether the accumulated gradients can be differentiated themselves.
        grad_variables: the old name of ``grad_tensors``.
        inputs: what accumulates, tensors or gradient edges, leaves or not; all leaves if not given.
        dump_backward_graph_path: a folder that the graph of the pass and its call stacks are written into, see `dump`.
        dialect: whose conventions hold.

    Leaves that were reached before a node refused keep what they accumulated. The order of the parameters is PyTorch's; Paddle has
    the first three, and the folder.

    Raises:
        AutogradError: with the category of what is refused.
    """
    seeds = arguments.seeds_by_either_name(grad_tensors, grad_variables)
    targets = None if inputs is None else arguments.inputs_of(inputs, dialect).tensors
    found = arguments.roots_of(tensors, "tensors", dialect)
    roots = contract.seeded_roots(found, arguments.seeds_of(seeds, "grad_tensors", dialect), dialect)
    retain = arguments.retain_of(retain_graph, create_graph, dialect, optional=False)
    if targets is not None:
        contract.check_inputs_differentiable(targets)  # what requires no gradient cannot hold one
    walk = _walk(roots, targets, (), dialect, retain, create_graph, accumulates=True)
    if dump_backward_graph_path is not None:
        dump(walk, dump_backward_graph_path)
    walk.run()


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | int | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | Default | None = Default.OF_THE_DIALECT,
    *,
    no_grad_vars: Any = None,
    materialize_grads: bool = False,
    is_grads_batched: bool = False,
    dialect: Dialect = TORCH,
) -> Any:
    """Return, for each input, the sum over the outputs of ``seed^T d(output)/d(input)``; nothing's ``.grad`` changes.

    Args:
        outputs: the roots, tensors or gradient edges; one alone needs no container.
        inputs: tensors or gradient edges, leaves or not; one alone needs no container, a dict is answered with a dict.
        grad_outputs: the seed of each root (its shape; cast to its dtype), ``None`` for ones where the dialect allows it.
        retain_graph: whether the graph can be differentiated again; ``None``: as ``create_graph`` says.
        create_graph: whether the result can be differentiated itself.
        only_inputs: ``False`` is refused, or changes nothing.
        allow_unused: an input that the outputs do not depend on is absent (``None``), not an error.
        no_grad_vars: tensors that nothing flows to or through; one alone, a list, a tuple or a set.
        materialize_grads: an unused input is answered with zeros.
        is_grads_batched: the first axis of every seed counts calls whose results are stacked, see `batch`.
        dialect: whose conventions hold.

    Returns:
        The gradients in the order of the inputs, each with the shape and dtype of its input: a tuple in PyTorch's dialect, a list
        in Paddle's. The frameworks agree on the first seven parameters; what only one of them has is passed by name.

    Raises:
        AutogradError: with the category of what is refused.
    """
    allow_unused = arguments.allow_unused_of(allow_unused, materialize_grads, dialect)
    if dialect.unreached == "zeros":
        allow_unused = materialize_grads = True
    roots = arguments.roots_of(outputs, "outputs", dialect)
    targets, keys, edges = arguments.inputs_of(inputs, dialect)
    seeds = arguments.seeds_of(grad_outputs, "grad_outputs", dialect)
    contract.check_seed_count(roots, seeds, dialect)
    cut = arguments.no_grad_vars_of(no_grad_vars)
    create_graph = arguments.flag_of(create_graph, "create_graph", dialect)
    retain = arguments.retain_of(retain_graph, create_graph, dialect, optional=True)
    contract.check_only_inputs(arguments.flag_of(only_inputs, "only_inputs", dialect), dialect)
    contract.check_inputs_distinct(roots, targets, dialect)

    def one(given: Sequence[Tensor | None] | None, keep: bool, kind: type[ReversePass] = ReversePass) -> list[Tensor | None]:
        return _gradients(roots, given, targets, cut, dialect, keep, create_graph, allow_unused, kind)

    if is_grads_batched:
        found = in_batches(one, roots, seeds, dialect, retain_graph=retain, create_graph=create_graph)
    else:
        found = one(seeds, retain)
    if materialize_grads:
        if any(found[i] is None for i in edges):
            raise AutogradError(Category.BAD_ARGUMENT, "an unused gradient edge has no shape to make zeros of")
        batch = (_batch_size(seeds),) if is_grads_batched else ()
        found = [
            Tensor(np.zeros((*batch, *t.shape), t.dtype), requires_grad=create_graph) if c is None else c
            for t, c in zip(targets, found, strict=True)
        ]
    if keys is not None:
        return dict(zip(keys, found, strict=True))
    return found if dialect.containers == "lists" else tuple(found)


def _gradients(
    outputs: list[Tensor],
    seeds: Sequence[Tensor | None] | None,
    inputs: list[Tensor],
    cut: list[Tensor],
    dialect: Dialect,
    retain_graph: bool,
    create_graph: bool,
    allow_unused: bool,
    kind: type[ReversePass],
) -> list[Tensor | None]:
    roots = contract.seeded_roots(outputs, seeds, dialect)
    contract.check_constant_inputs(inputs, dialect)
    walk = _walk(roots, inputs, cut, dialect, retain_graph, create_graph, accumulates=False, kind=kind)
    try:
        walk.run()
        found = [walk.cotangent(t) for t in inputs]
        if not allow_unused:
            contract.check_reached([c is not None for c in found])
    except Exception:  # whatever a callback raises
        if isinstance(walk, EarlierPass):
            walk.free_what_ran()
        raise
    if create_graph:
        return _unshared(found, seeds or (), dialect)
    return [None if c is None else Tensor(clone(array_of(c))) for c in found]


def _batch_size(seeds: Sequence[Tensor | None] | None) -> int:
    return next((seed.shape[0] for seed in seeds or () if seed is not None), 0)


def _walk(
    roots: list[tuple[Tensor, Tensor]],
    targets: Sequence[Tensor] | None,
    cut: Collection[Tensor],
    dialect: Dialect,
    retain_graph: bool,
    create_graph: bool,
    *,
    accumulates: bool,
    kind: type[ReversePass] = ReversePass,
) -> ReversePass:
    accumulate = functools.partial(_accumulate, dialect=dialect, create_graph=create_graph)
    return kind(
        roots,
        targets,
        cut,
        dialect,
        create_graph=create_graph,
        retain_graph=retain_graph,
        accumulate=accumulate,
        accumulates=accumulates,
    )


def _accumulate(tensor: Tensor, cotangent: Any, *, dialect: Dialect, create_graph: bool) -> None:
    """Add a cotangent to ``.grad``: where it arrives, so a pass that fails later leaves it there, unless the dialect drops it."""
    if not tensor.requires_grad and dialect.toggled_leaf == "checked":
        return
    before = grad_kept(tensor, dialect)
    if create_graph:
        tensor.grad = copy_of(cotangent) if before is None else recorded(add, before, cotangent)
    elif before is None:
        tensor.grad = Tensor(clone(array_of(cotangent)), requires_grad=dialect.grad_requires_grad)
    elif tensor.node is not None:  # a retained gradient is a new tensor each time; that of a leaf is added to in place
        tensor.grad = Tensor(np.asarray(add(before.array, array_of(cotangent))), requires_grad=dialect.grad_requires_grad)
    else:
        total = add(before.array, array_of(cotangent))
        tensor.grad = Tensor(np.asarray(total), requires_grad=before.requires_grad, node=before.node, slot=before.slot)


def grad_kept(tensor: Tensor, dialect: Dialect) -> Tensor | None:
    """Return what a contribution is added to: the ``.grad`` that a tensor has; ``None`` where a pass replaces it."""
    replaced = dialect.accumulation != "added" or (tensor.node is not None and dialect.retained == "replaced")
    return None if replaced else tensor.grad


def _unshared(found: list[Any], seeds: Sequence[Tensor | None], dialect: Dialect) -> list[Tensor | None]:
    """Return a tensor of its own for each cotangent, so that changing one in place changes no seed and no other result.

    A leaf comes back itself, a seed or what a hook gave: it cannot be changed in place, and derivatives are asked for by its identity.
    Where every derivative requires a gradient, one that the pass has made of a constant is a leaf, too, and may arrive at several.
    """
    makes_leaves, given, returned = dialect.derivative_requires_grad == "always", {*seeds}, set()
    results: list[Tensor | None] = []
    for c in found:
        is_leaf = c is not None and c.node is None and c.requires_grad
        results.append(c if c is None or (is_leaf and (c in given or c not in returned or not makes_leaves)) else copy_of(c))
        returned.add(c)
    return results
