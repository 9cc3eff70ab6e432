"""Faults of what is added to what: fan-out, ``.grad``, projections, seeds, absent gradients, broadcasting and dtypes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import reference_impl
from conformance.backends.reference import ReferenceEngine
from conformance.mutants.mutant import Kind, Mutant, patch
from reference_impl import PADDLE, TORCH, Tensor
from reference_impl.primitives import shape
from reference_impl.reverse import arguments, batch, contract, engine, walk
from reference_impl.reverse.walk import ReversePass

if TYPE_CHECKING:
    from conformance.mutants.mutant import Fault

_accumulate, _gradients, _walk = engine._accumulate, engine._gradients, engine._walk
_arrive, _total, _cotangent = ReversePass._arrive, walk._total, ReversePass.cotangent
_seed, seeded_roots, seeds_of = contract._seed, contract.seeded_roots, arguments.seeds_of
_clear_grad, _stacked, _check_reached = ReferenceEngine.clear_grad, batch._stacked, contract.check_reached
_grad = reference_impl.grad


def _overwrite(tensor: Tensor, cotangent: Any, **options: Any) -> None:
    tensor.grad = None
    _accumulate(tensor, cotangent, **options)


def _twice(tensor: Tensor, cotangent: Any, **options: Any) -> None:
    again = tensor.grad is not None
    _accumulate(tensor, cotangent, **options)
    if again:
        _accumulate(tensor, cotangent, **options)


def _aliased(tensor: Tensor, cotangent: Any, **options: Any) -> None:
    before = tensor.grad
    _accumulate(tensor, cotangent, **options)
    made = tensor.grad
    if made is None or type(cotangent) is not np.ndarray:
        return
    if before is None:
        made.array = cotangent
    elif before.array.flags.writeable:
        before.array[...] = made.array
        made.array = before.array


def _in_place(before: Any, cotangent: Any) -> Any:
    if type(before) is np.ndarray and before.ndim and before.flags.writeable and type(cotangent) is np.ndarray:
        before += cotangent
        return before
    return _total(before, cotangent)


def _arrive_once(self: ReversePass, tensor: Tensor, cotangent: Any) -> None:
    if tensor.node is None:
        self.leaves.pop(tensor, None)
    else:
        self.slots.pop(tensor.node, None)
    _arrive(self, tensor, cotangent)


def _first_arrives(self: ReversePass, tensor: Tensor, cotangent: Any) -> None:
    if tensor.node is not None or self.leaves.get(tensor) is None:
        _arrive(self, tensor, cotangent)


def _accumulating(*arguments_: Any, accumulates: bool, **options: Any) -> ReversePass:
    made = _walk(*arguments_, accumulates=True, **options)
    made.accumulates = True
    return made


def _all_leaves(roots: Any, targets: Any, *rest: Any, accumulates: bool, **options: Any) -> ReversePass:
    return _walk(roots, None if accumulates else targets, *rest, accumulates=accumulates, **options)


def _leaves_alone(roots: Any, targets: Any, *rest: Any, accumulates: bool, **options: Any) -> ReversePass:
    if accumulates and targets is not None:
        targets = [t for t in targets if t.node is None]
    return _walk(roots, targets, *rest, accumulates=accumulates, **options)


def _ones_for_seeds(root: Tensor, seed: Tensor | None) -> Tensor:
    return _seed(root, None) if seed is None else _seed(root, Tensor(np.ones_like(seed.array), requires_grad=seed.requires_grad))


def _zeros_for_no_seed(root: Tensor, seed: Tensor | None) -> Tensor:
    return Tensor(np.zeros_like(root.array)) if seed is None else _seed(root, seed)


def _share_for_no_seed(root: Tensor, seed: Tensor | None) -> Tensor:
    return Tensor(np.full_like(root.array, 1 / max(1, root.array.size))) if seed is None else _seed(root, seed)


def _broadcast_seeds(tensors: Any, seeds: Any, dialect: Any) -> Any:
    given = None
    if seeds is not None:
        given = [Tensor(np.broadcast_to(s.array.ravel()[:1].sum(), t.shape).astype(s.dtype)) if s is not None and s.shape != t.shape
                 else s for t, s in zip(tensors, seeds, strict=False)] + list(seeds[len(tensors):])  # fmt: skip
    return seeded_roots(tensors, given, dialect)


def _first_root(tensors: Any, seeds: Any, dialect: Any) -> Any:
    return seeded_roots(tensors, seeds, dialect)[:1]


def _distinct_roots(tensors: Any, seeds: Any, dialect: Any) -> Any:
    return list({id(root): (root, seed) for root, seed in seeded_roots(tensors, seeds, dialect)}.values())


def _as_many_seeds(tensors: Any, seeds: Any, dialect: Any) -> Any:
    if seeds is not None:
        seeds = [*seeds, *[None] * len(tensors)][: len(tensors)]
    return seeded_roots(tensors, seeds, dialect)


def _none_for_zeros(*given: Any, **options: Any) -> list[Tensor | None]:
    return [g if g is not None and g.array.any() else None for g in _grad(*given, **options)]


def _zeros_for_none(outputs: Any, inputs: Any, *rest: Any, **options: Any) -> list[Tensor]:
    found = _grad(outputs, inputs, *rest, **options)
    targets = [inputs] if not isinstance(inputs, list | tuple) else list(inputs)
    shapes = [t.tensor if hasattr(t, "tensor") else t for t in targets]
    return [Tensor(np.zeros_like(x.array)) if g is None else g for x, g in zip(shapes, found, strict=True)]


def _reversed(outputs: Any, inputs: Any, *rest: Any, **options: Any) -> Any:
    return list(reversed(_grad(outputs, inputs, *rest, **options)))


def _by_identity(outputs: Any, inputs: Any, *rest: Any, **options: Any) -> Any:
    """Answer an input that is asked for a second time with ``None``."""
    found = list(_grad(outputs, inputs, *rest, **options))
    seen: set[int] = set()
    for i, t in enumerate(inputs if isinstance(inputs, list | tuple) else [inputs]):
        if id(t) in seen:
            found[i] = None
        seen.add(id(t))
    return found


def _never_materialized(*given: Any, materialize_grads: bool = False, **options: Any) -> Any:
    if materialize_grads:
        options["allow_unused"] = True
    return _grad(*given, **options)


def _last_checked(reached: Any) -> None:
    _check_reached(reached[-1:])


def _roots_are_absent(self: ReversePass, tensor: Tensor) -> Any:
    return None if any(tensor is root for root in self.roots) else _cotangent(self, tensor)


def _no_cut(roots: Any, targets: Any, cut: Any, *rest: Any, **options: Any) -> ReversePass:
    return _walk(roots, targets, (), *rest, **options)


def _leaves_cut(roots: Any, targets: Any, cut: Any, *rest: Any, **options: Any) -> ReversePass:
    return _walk(roots, targets, [t for t in cut if t.node is None], *rest, **options)


def _cut_inputs_answered(roots: Any, targets: Any, cut: Any, *rest: Any, **options: Any) -> ReversePass:
    asked = {id(t) for t in targets or ()}
    return _walk(roots, targets, [t for t in cut if id(t) not in asked], *rest, **options)


def _last_entry_for_all(column: list[Any], size: int, create_graph: bool) -> Any:
    return _stacked([column[-1]] * len(column), size, create_graph)


def _unstacked(column: list[Any], size: int, create_graph: bool) -> Any:
    made = _stacked(column, size, create_graph)
    return made if made is None or made.array.ndim < 2 or create_graph else Tensor(np.swapaxes(made.array, 0, -1))


def _leading_axes(shape_: tuple[int, ...], target: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(range(len(shape_) - len(target)))


def _lengthened(shape_: tuple[int, ...], target: tuple[int, ...]) -> tuple[int, ...]:
    lead = len(shape_) - len(target)
    return tuple(i + lead for i, n in enumerate(target) if n == 1 and shape_[i + lead] != 1)


def _mean_of_axes(x: Any, target: tuple[int, ...]) -> Any:
    total = np.add.reduce(x, axis=shape._summed_axes(np.shape(x), target), keepdims=True).reshape(target)
    return (total * (total.size / (np.size(x) or 1))).astype(total.dtype)


def _in_double(tensor: Tensor, cotangent: Any, **options: Any) -> None:
    _accumulate(tensor, cotangent, **options)
    if tensor.grad is not None:
        tensor.grad.array = np.asarray(tensor.grad.array, np.float64)


def _in_single(*given: Any) -> Any:
    return [None if g is None else Tensor(np.asarray(g.array, np.float32), requires_grad=g.requires_grad, node=g.node, slot=g.slot)
            for g in _gradients(*given)]  # fmt: skip


def _not_cast(root: Tensor, seed: Tensor | None) -> Tensor:
    return _seed(root, None) if seed is None else seed


def _cleared_to_zero(self: ReferenceEngine, tensor: Tensor, to: str) -> None:
    _clear_grad(self, tensor, "zero")


def _cleared_to_none(self: ReferenceEngine, tensor: Tensor, to: str) -> None:
    _clear_grad(self, tensor, "none")


def _engine(name: str, part: str, what: str, fault: Fault, *, dialect: Any = TORCH) -> Mutant:
    return Mutant(name, Kind.ENGINE, part, what, fault, dialect)


def _seeding(replacement: Any) -> Fault:
    return patch((contract, "_seed", replacement))


def _rooting(replacement: Any) -> Fault:
    return patch((contract, "seeded_roots", replacement))


def _walking(replacement: Any) -> Fault:
    return patch((engine, "_walk", replacement))


def _answering(replacement: Any) -> Fault:
    return patch((reference_impl, "grad", replacement))


MUTANTS = (
    _engine("dropped_accumulation", "accumulation", "backward overwrites .grad", patch((engine, "_accumulate", _overwrite))),
    _engine("double_accumulation", "accumulation", "the second backward is added twice", patch((engine, "_accumulate", _twice))),
    _engine(
        "aliased_grad", "aliasing", ".grad is the cotangent itself and is added to in place", patch((engine, "_accumulate", _aliased))
    ),
    _engine("fan_out_in_place", "aliasing", "contributions are added into the first one's memory", patch((walk, "_total", _in_place))),
    _engine(
        "dropped_fan_out",
        "accumulation",
        "the last contribution to a value replaces the others",
        patch((ReversePass, "_arrive", _arrive_once)),
    ),
    _engine(
        "leaf_fan_out_dropped",
        "accumulation",
        "a leaf takes its first contribution alone",
        patch((ReversePass, "_arrive", _first_arrives)),
    ),
    _engine("grad_accumulates", "accumulation", "grad adds to .grad as backward does", _walking(_accumulating)),
    _engine("inputs_ignored", "inputs=", "backward(inputs=) accumulates into all leaves", _walking(_all_leaves)),
    _engine("inputs_leaves_alone", "inputs=", "backward(inputs=) leaves non-leaves out", _walking(_leaves_alone)),
    _engine("seed_ignored", "seeds", "seeds count as ones", _seeding(_ones_for_seeds)),
    _engine("no_seed_is_zero", "seeds", "a missing seed is zeros", _seeding(_zeros_for_no_seed)),
    _engine("no_seed_is_a_mean", "seeds", "a missing seed makes a mean of the root", _seeding(_share_for_no_seed), dialect=PADDLE),
    _engine("seed_shape_unchecked", "seeds", "a seed of another shape is broadcast", _rooting(_broadcast_seeds)),
    _engine("seed_count_unchecked", "seeds", "missing seeds are ones, surplus ones are dropped", _rooting(_as_many_seeds)),
    _engine("seed_not_cast", "dtype", "a seed keeps its dtype", _seeding(_not_cast)),
    _engine("first_root_alone", "seeds", "only the first root is differentiated", _rooting(_first_root)),
    _engine("duplicate_root_once", "seeds", "a root that stands twice counts once", _rooting(_distinct_roots)),
    _engine("none_for_zeros", "unused", "a gradient that is zero is absent", _answering(_none_for_zeros)),
    _engine("zeros_for_none", "unused", "an absent gradient is zeros", _answering(_zeros_for_none)),
    _engine(
        "unused_not_refused",
        "unused",
        "an unused input is absent, and never refused",
        patch((contract, "check_reached", lambda *_: None)),
    ),
    _engine(
        "last_input_checked",
        "unused",
        "only the last input is checked for being used",
        patch((contract, "check_reached", _last_checked)),
    ),
    _engine("not_materialized", "unused", "materialize_grads does nothing", _answering(_never_materialized)),
    _engine(
        "root_as_input_absent",
        "unused",
        "the gradient of a root in itself is absent",
        patch((ReversePass, "cotangent", _roots_are_absent)),
    ),
    _engine("results_reversed", "results", "gradients come back in reverse order", _answering(_reversed)),
    _engine("second_asking_absent", "results", "an input that is asked for twice is answered once", _answering(_by_identity)),
    _engine("no_grad_vars_ignored", "no_grad_vars", "no_grad_vars does nothing", _walking(_no_cut), dialect=PADDLE),
    _engine("no_grad_vars_leaves", "no_grad_vars", "only leaves are cut off", _walking(_leaves_cut), dialect=PADDLE),
    _engine(
        "no_grad_vars_answered",
        "no_grad_vars",
        "an input is answered although it is cut off",
        _walking(_cut_inputs_answered),
        dialect=PADDLE,
    ),
    _engine(
        "batch_last_entry",
        "is_grads_batched",
        "every entry of a batch gets the result of the last",
        patch((batch, "_stacked", _last_entry_for_all)),
    ),
    _engine("batch_last_axis", "is_grads_batched", "results are stacked along the last axis", patch((batch, "_stacked", _unstacked))),
    _engine(
        "leading_axes_alone", "broadcasting", "axes of length 1 are not summed back", patch((shape, "_summed_axes", _leading_axes))
    ),
    _engine(
        "lengthened_axes_alone",
        "broadcasting",
        "axes that broadcasting added are not summed back",
        patch((shape, "_summed_axes", _lengthened)),
    ),
    _engine(
        "mean_over_broadcast",
        "broadcasting",
        "broadcast axes are averaged instead of summed",
        patch((shape, "_sum_axes", _mean_of_axes)),
    ),
    _engine("grad_in_double", "dtype", ".grad is float64 whatever the leaf is", patch((engine, "_accumulate", _in_double))),
    _engine("result_in_single", "dtype", "grad answers in float32 whatever the input is", patch((engine, "_gradients", _in_single))),
    _engine("cleared_to_zero", "clear_grad", "clearing to None leaves zeros", patch((ReferenceEngine, "clear_grad", _cleared_to_zero))),
    _engine("cleared_to_none", "clear_grad", "clearing to zero leaves None", patch((ReferenceEngine, "clear_grad", _cleared_to_none))),
)
