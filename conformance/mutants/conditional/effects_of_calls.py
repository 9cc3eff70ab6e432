"""What goes wrong at a call: other arguments, other answers, the call made twice or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from conformance.case.case import input_of
from conformance.case.steps import Backward, InPlace
from conformance.mutants.conditional.effects_of_ops import applied
from conformance.ops.dtypes import is_complex

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from conformance.backends.interpreter import EngineTensor
    from conformance.mutants.conditional.moment import Moment, Seen

    Right = Callable[..., Any]
    Effect = Callable[[Moment, Right], Any]

OWN = "a seed that the fault made, number "
"""Before the names of the seeds that a faulty call is given; no script has such a name."""


class RefusedError(Exception):
    """What a faulty engine raises; nobody maps it to a category."""


def times(at: Moment, tensor: EngineTensor, factor: float) -> EngineTensor:
    """Multiply a tensor."""
    return applied(at, "mul_scalar", tensor, other=factor)


def _with(**changes: Any) -> Effect:
    """Pass other parameters than the script does."""
    return lambda at, right: right(msgspec.structs.replace(at.step, **changes))


def _of_results(change: Callable[[Moment, list[EngineTensor | None]], None]) -> Effect:
    """Change what `grad` answers."""

    def effect(at: Moment, right: Right) -> list[EngineTensor | None]:
        found = list(right())
        change(at, found)
        return found

    return effect


def _of_gradient(position: int, change: Callable[[Moment, EngineTensor], EngineTensor]) -> Effect:
    def changed(at: Moment, found: list[EngineTensor | None]) -> None:
        if found[position] is not None:
            found[position] = change(at, found[position])

    return _of_results(changed)


def _swap(at: Moment, found: list[EngineTensor | None]) -> None:
    del at
    found[0], found[-1] = found[-1], found[0]


def _zeros(at: Moment, found: list[EngineTensor | None]) -> None:
    """Put zeros where there is no gradient."""
    for position, point in enumerate(at.asked):
        if found[position] is None:
            found[position] = at.engine.leaf(input_of("zeros", np.zeros_like(point.value.array)))


def _of_seeds(change: Callable[[Moment, Seen, EngineTensor], EngineTensor], which: slice = slice(None)) -> Effect:
    """Hand other seeds over; where the engine is to make one, ones are changed."""

    def effect(at: Moment, right: Right) -> Any:
        roots = dict(zip(at.step.roots, at.roots, strict=False))
        given = list(at.step.seeds or [None] * len(at.step.roots))
        values = dict(at.values)
        for position in range(len(given))[which]:
            root, name = roots.get(at.step.roots[position]), given[position]
            if root is None:
                continue
            seed = at.engine.leaf(input_of(OWN, np.ones_like(root.value.array))) if name is None else at.values[name]
            given[position] = f"{OWN}{position}"
            values[f"{OWN}{position}"] = change(at, root, seed)
        field = at.step.SEEDS[1] if getattr(at.step, "grad_variables", None) is not None else at.step.SEEDS[0]
        return right(msgspec.structs.replace(at.step, **{field: tuple(given)}), values)

    return effect


def _flipped(at: Moment, root: Seen, seed: EngineTensor) -> EngineTensor:
    """Turn a seed around along its last axis; one without axes changes its sign."""
    del root
    has_axes = at.engine.look(seed).array.ndim > 0
    return applied(at, "flip", seed, axis=-1) if has_axes else times(at, seed, -1.0)


def _conjugated(at: Moment, root: Seen, seed: EngineTensor) -> EngineTensor:
    del root
    return applied(at, "conj", seed) if is_complex(str(at.engine.look(seed).array.dtype)) else seed


def _batch_reversed(at: Moment, right: Right) -> list[EngineTensor | None]:
    """Give each seed of a batch the gradient of another one."""
    return [None if g is None else applied(at, "flip", g, axis=0) for g in right()]


def _ones(at: Moment, root: Seen, seed: EngineTensor) -> EngineTensor:
    del root
    return at.engine.leaf(input_of(OWN, np.ones_like(at.engine.look(seed).array)))


def _zero_for_nan(at: Moment, _: Any, tensor: EngineTensor) -> EngineTensor:
    array = at.engine.look(tensor).array
    return at.engine.leaf(input_of(OWN, np.where(np.isnan(array), array.dtype.type(0), array))) if np.isnan(array).any() else tensor


def _largest_for_infinite(at: Moment, _: Any, seed: EngineTensor) -> EngineTensor:
    array = at.engine.look(seed).array
    return at.engine.leaf(input_of(OWN, np.nan_to_num(array, nan=np.nan))) if np.isinf(array).any() else seed


def _zeros_for_nan(at: Moment, found: list[EngineTensor | None]) -> None:
    found[:] = [None if g is None else _zero_for_nan(at, None, g) for g in found]


def _of_its_shape(at: Moment, root: Seen, seed: EngineTensor) -> EngineTensor:
    """Broadcast a seed, if it can be."""
    shape = at.engine.look(seed).array.shape
    fits = len(shape) <= len(root.shape) and all(n in (1, m) for n, m in zip(shape[::-1], root.shape[::-1], strict=False))
    return applied(at, "expand", seed, shape=[*root.shape]) if fits and shape != root.shape else seed


def _with_more_seeds(at: Moment, right: Right) -> Any:
    """Have nothing stand for the seeds that are missing, which means ones."""
    more = (None,) * (len(at.step.roots) - len(at.step.seeds))
    field = at.step.SEEDS[1] if getattr(at.step, "grad_variables", None) is not None else at.step.SEEDS[0]
    return right(msgspec.structs.replace(at.step, **{field: (*at.step.seeds, *more)}))


def _earlier_changed(at: Moment, right: Right) -> Any:
    """Double what the last `grad` call returned, as who adds to memory that was handed out."""
    earlier = [g for g in at.past.found if g is not None and not at.engine.look(g).requires_grad]
    found = right()
    for g in earlier:
        at.engine.in_place(InPlace("mul_scalar", OWN, (), {"other": 2.0}), g, [])
    return found


def _losing_in_refusals(at: Moment, right: Right) -> Any:
    """Leave no gradient at the last input when the call is refused."""
    try:
        return right()
    except Exception:
        _losing(at, lambda: None)
        raise


def _seed_changed(at: Moment, right: Right) -> Any:
    """Double the user's own seeds after the call."""
    found = right()
    for seed in at.seeds:
        if not seed.flows and not seed.made:
            at.engine.in_place(InPlace("mul_scalar", seed.name, (), {"other": 2.0}), seed.tensor, [])
    return found


def _twice(at: Moment, right: Right) -> Any:
    """Make the pass twice."""
    right(msgspec.structs.replace(at.step, retain_graph=True))
    return right()


def _replacing(at: Moment, right: Right) -> Any:
    """Forget the gradients that are there."""
    for x in at.reached:
        at.engine.clear_grad(x.tensor, "none")
    return right()


def _losing(at: Moment, right: Right) -> Any:
    """Leave no gradient at the last input."""
    found = right()
    for x in at.reached[-1:]:
        at.engine.clear_grad(x.tensor, "none")
    return found


def refusing(at: Moment, right: Right) -> Any:
    """Refuse what is asked."""
    del right
    raise RefusedError(f"{at.part} is refused")


def _never_refusing(at: Moment, right: Right) -> Any:
    """Answer zeros, or nothing, in the place of a refusal."""
    try:
        return right()
    except Exception:  # noqa: BLE001 - whatever the engine refuses
        if isinstance(at.step, Backward):
            return None
        found: list[EngineTensor | None] = [None] * len(at.step.inputs)
        _zeros(at, found)
        return found


def _other_precision(at: Moment, gradient: EngineTensor) -> EngineTensor:
    there = {"float32": "float64", "float64": "float32", "complex64": "complex128", "complex128": "complex64"}
    return applied(at, "cast", gradient, dtype=there[str(at.engine.look(gradient).array.dtype)])


OF_CALLS: Mapping[str, Effect] = {
    "the first gradient is doubled": _of_gradient(0, lambda at, g: times(at, g, 2.0)),
    "the last gradient is doubled": _of_gradient(-1, lambda at, g: times(at, g, 2.0)),
    "the last gradient has the wrong sign": _of_gradient(-1, lambda at, g: times(at, g, -1.0)),
    "the last gradient is zero": _of_gradient(-1, lambda at, g: applied(at, "sub", g, g)),
    "the last gradient is absent": _of_gradient(-1, lambda _, g: None),
    "the first gradient has another precision": _of_gradient(0, _other_precision),
    "the first gradient has no history": _of_gradient(0, lambda at, g: at.engine.detach(g)),
    "the first and the last gradient are swapped": _of_results(_swap),
    "an absent gradient is zero": _of_results(_zeros),
    "the seeds are doubled": _of_seeds(lambda at, _, seed: times(at, seed, 2.0)),
    "the last seed is doubled": _of_seeds(lambda at, _, seed: times(at, seed, 2.0), slice(-1, None)),
    "the seeds are ones": _of_seeds(_ones),
    "the seeds are turned around": _of_seeds(_flipped),
    "the seeds are conjugated": _of_seeds(_conjugated),
    "the seeds lose their history": _of_seeds(lambda at, _, seed: at.engine.detach(seed)),
    "the last gradient has no history": _of_gradient(-1, lambda at, g: at.engine.detach(g)),
    "what an earlier call returned is doubled": _earlier_changed,
    "seeds are broadcast": _of_seeds(_of_its_shape),
    "seeds that are missing are ones": _with_more_seeds,
    "a gradient is lost when it is refused": _losing_in_refusals,
    "NaN in the seeds is zero": _of_seeds(_zero_for_nan),
    "infinite seeds are the largest numbers": _of_seeds(_largest_for_infinite),
    "NaN in the gradients is zero": _of_results(_zeros_for_nan),
    "the user's seeds are changed": _seed_changed,
    "the graph is kept": _with(retain_graph=True),
    "the graph is freed": _with(retain_graph=False),
    "the derivative has no graph": _with(create_graph=False),
    "the derivative has a graph": _with(create_graph=True),
    "unused is accepted": _with(allow_unused=True),
    "no_grad_vars are ignored": _with(no_grad_vars=None),
    "the last of the no_grad_vars is ignored": lambda at, right: right(
        msgspec.structs.replace(at.step, no_grad_vars=at.step.no_grad_vars[:-1])
    ),
    "inputs are ignored": _with(inputs=None),
    "the last of the inputs is ignored": lambda at, right: right(msgspec.structs.replace(at.step, inputs=at.step.inputs[:-1])),
    "materialize_grads is ignored": _with(materialize_grads=False),
    "the batch is turned around": _batch_reversed,
    "it is made twice": _twice,
    "it replaces what is there": _replacing,
    "the last gradient is not accumulated": _losing,
    "it is refused": refusing,
    "nothing is refused": _never_refusing,
}
"""Effects on calls, by their words."""
OF_UNBOUNDED = frozenset({"NaN in the seeds is zero", "infinite seeds are the largest numbers", "NaN in the gradients is zero"})
"""Effects that show where numbers are not finite, and nowhere else."""
