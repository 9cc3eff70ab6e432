"""Rows S (seeds) and D (duplicates and overlaps) of the measured semantics, as situations for the reference."""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl import OPS, Tensor, tensor
from tests.reference_impl.rows import NOT_OFFERED, C, Calls, Row, add_up, constant, leaf, plus, same, square, times, tried

mul = OPS["mul"]


def seeded(*data: Any, dtype: str = "float32", root: str = "float32") -> Any:
    """Square two elements, with a seed."""

    def situation(d: Calls) -> Any:
        x = leaf(1.0, 2.0, dtype=root)
        found = d.left(x, [square(x)], [constant(*data, dtype=dtype)])
        return found, str(found.dtype)

    return situation


def two_roots(d: Calls, seeds: Any) -> Any:
    x = leaf(3.0, 4.0)
    return d.left(x, [square(x), add_up(times(x, 3.0))], seeds)


def handed(given: Any) -> Any:
    """Square 3.0, the root handed over in a container."""

    def situation(d: Calls) -> Any:
        x = leaf(3.0)
        return d.left(x, given(square(x)))

    return situation


def square_of(*data: Any) -> Any:
    def situation(d: Calls) -> Any:
        x = leaf(*data)
        return d.left(x, [square(x)])

    return situation


def with_constant(d: Calls) -> Any:
    x = leaf(1.0, 2.0)
    return d.left(x, [add_up(square(x)), add_up(square(constant(1.0, 2.0)))])


def retained_by(*flags: Any) -> Any:
    def situation(d: Calls) -> Any:
        x = leaf(3.0)
        y = square(x)
        return [plain for flag in flags if (plain := d.left(x, [y], None, flag)) is not None]

    return situation


def old_name(d: Calls) -> Any:
    x, g = leaf(3.0), constant(2.0)
    y = square(x)
    both = tried(lambda: d.backward([y], [g], grad_variables=[g]))
    return d.left(x, [y], grad_variables=[g]), both


def seed_with_flag(d: Calls) -> Any:
    x, g = leaf(1.0, 2.0), leaf(1.0, 3.0)
    d.backward([square(x)], [g])
    assert x.grad is not None
    return x.grad, x.grad.requires_grad, x.grad.is_leaf, g.grad


def nothing_summed(d: Calls) -> Any:
    x = Tensor(np.zeros((0, 3), "float32"), requires_grad=True)
    y = add_up(x)
    return y, d.left(x, [y]), x.shape


def pairs(d: Calls, root: Any, *seeds: Any) -> Any:
    x = leaf(3.0)
    y = root(x)
    return d.left(x, [y] * max(2, len(seeds)), [constant(s) for s in seeds] or None)


def chain() -> tuple[Tensor, Tensor, Tensor]:
    """``x = 3``, ``h = 2 x``, ``y = h h``."""
    x = leaf(3.0)
    h = times(x, 2.0)
    return x, h, square(h)


def chain_of_inputs(d: Calls) -> Any:
    x, h, squared = chain()
    return d.grad([times(squared, 5.0)], [x, h, squared])


def parallel_inputs(d: Calls) -> Any:
    x = leaf(3.0)
    a, b = times(x, 2.0), square(x)
    return d.grad([mul(a, b)], [a, b, x])


def direct_and_through(d: Calls) -> Any:
    _, h, k = chain()
    return d.grad([mul(h, k)], [h, k])


def both_parts(d: Calls) -> Any:
    x = leaf(1.0, 2.0, 3.0, 4.0)
    parts = OPS["split"](x, sections=[2, 2], axis=0)
    return d.grad(list(parts), [x], [constant(1.0, 10.0), constant(100.0, 1000.0)])


def three_leaves(d: Calls) -> Any:
    a, b, c = leaf(3.0), leaf(2.0), leaf(5.0)
    return d.grad([mul(mul(a, b), c)], [c, b, a])


def on_chain(call: Any) -> Any:
    return lambda d: call(d, *chain())


def aliased(d: Calls) -> Any:
    x = leaf([3.0])
    y = square(x)
    return d.left(x, [y, OPS["reshape"](y, shape=[1])])


SEEDS: dict[str, Row] = {
    "S01": (square_of(1.0, 2.0, 3.0), C.SEED_REQUIRED, [2.0, 4.0, 6.0]),
    "S02": (lambda d: d.grad([square(x := leaf(1.0, 2.0, 3.0))], [x]), C.SEED_REQUIRED, [[2.0, 4.0, 6.0]]),
    "S04": same(square_of([3.0]), [6.0]),
    "S05": same(square_of([[[3.0]]]), [[[6.0]]]),
    "S06": same(square_of(3.0), 6.0),
    "S07": same(handed(lambda y: y), 6.0),
    "S08": same(handed(lambda y: (y,)), 6.0),
    "S09": (handed(lambda y: iter([y])), 6.0, C.BAD_ARGUMENT),
    "S10": (lambda d: d.backward([]), None, C.BAD_ARGUMENT),
    "S11": (lambda d: d.grad([], [leaf(3.0)]), C.UNREACHABLE_INPUT, C.BAD_ARGUMENT),
    "S12": same(lambda d: d.grad([square(leaf(3.0))], []), C.BAD_ARGUMENT),
    "S13": same(lambda d: d.grad(None, [leaf(3.0)]), C.BAD_ARGUMENT),
    "S14": same(lambda d: d.backward([None]), C.BAD_ARGUMENT),
    "S15": same(lambda d: d.left(x := leaf(3.0), [square(x)], [None]), 6.0),
    "S16": (lambda d: d.left(x := leaf(3.0, 4.0), [square(x)], [None]), C.SEED_REQUIRED, [6.0, 8.0]),
    "S17": same(lambda d: two_roots(d, [constant(1.0, 10.0), None]), [9.0, 83.0]),
    "S18": (lambda d: two_roots(d, [None, None]), C.SEED_REQUIRED, [9.0, 11.0]),
    "S19": same(lambda d: d.left(x := leaf(3.0), [square(x), times(x, 3.0)], None), 9.0),
    "S20": same(lambda d: d.left(x := leaf(3.0), [square(x)], []), C.SEED_LENGTH),  # finding paddle-empty-seeds
    "S21": same(lambda d: d.grad([square(x := leaf(3.0))], [x], ()), C.SEED_LENGTH),  # finding paddle-empty-seeds
    "S22": same(lambda d: two_roots(d, [constant(1.0, 10.0)]), C.SEED_LENGTH),
    "S24": same(lambda d: d.grad([square(x := leaf(3.0)), x], [x], [constant(1.0)]), C.SEED_LENGTH),
    "S26": same(lambda d: d.left(x := leaf(3.0, 4.0), [square(x)], constant(1.0, 10.0)), [6.0, 80.0]),
    "S27": same(lambda d: two_roots(d, constant(1.0, 10.0)), C.SEED_LENGTH),
    "S30": same(lambda d: d.left(x := leaf(1.0, 2.0, 3.0), square(x), constant(1.0, 1.0)), C.SEED_SHAPE),
    "S44": same(seeded(1.0, 1.0, dtype="float64"), [[2.0, 4.0], "float32"]),
    "S46": same(seeded(1.0, 1.0, root="float64"), [[2.0, 4.0], "float64"]),
    "S47": same(seeded(1.0, 1.0, dtype="float16"), [[2.0, 4.0], "float32"]),
    "S48": same(seeded(1, 3, dtype="int64"), [[2.0, 12.0], "float32"]),
    "S49": same(seeded(True, False, dtype="bool"), [[2.0, 0.0], "float32"]),
    "S53": same(lambda d: d.left(x := leaf(1.0, 2.0), [plus(x, 1.0)], [constant(1.0, 1.0, dtype="float64")]), [1.0, 1.0]),
    "S54": same(lambda d: d.left(x := leaf(1.0, 2.0), [add_up(x)], [constant(1.0, dtype="float64")]), [1.0, 1.0]),
    "S55 array": same(lambda d: d.left(x := leaf(3.0), [square(x)], [np.array(1.0)]), C.BAD_ARGUMENT),
    "S55 number": same(lambda d: d.left(x := leaf(3.0), [square(x)], [1.0]), C.BAD_ARGUMENT),
    "S56": (square_of([]), C.SEED_REQUIRED, []),
    "S57": same(lambda d: d.left(x := leaf([]), [square(x)], [constant([])]), []),
    "S58": same(nothing_summed, [0.0, [], [0, 3]]),
    "S63": (lambda d: d.backward([constant(3.0)]), C.ROOT_WITHOUT_GRAPH, None),
    "S64": (lambda d: d.backward([constant(3.0, 4.0)]), C.ROOT_WITHOUT_GRAPH, None),
    "S65": (with_constant, C.ROOT_WITHOUT_GRAPH, [2.0, 4.0]),
    "S66": (lambda d: d.grad([constant(3.0)], [leaf(1.0)]), C.ROOT_WITHOUT_GRAPH, C.UNREACHABLE_INPUT),
    "S67": (lambda d: d.grad([constant(3.0)], [leaf(1.0)], allow_unused=True), C.ROOT_WITHOUT_GRAPH, [None]),
    "S68": (lambda d: d.grad([add_up(square(x := leaf(1.0, 2.0))), constant(1.0)], [x]), C.ROOT_WITHOUT_GRAPH, [[2.0, 4.0]]),
    "S69": (
        lambda d: d.grad([add_up(square(x := leaf(1.0, 2.0))), constant(1.0, 2.0)], [x], [None, None]),
        C.ROOT_WITHOUT_GRAPH,
        [[2.0, 4.0]],
    ),
    "S73": (seed_with_flag, [[2.0, 12.0], False, True, None], [[2.0, 12.0], True, True, None]),
    "S75": same(
        lambda d: d.left(x := leaf([[1.0, 2.0], [3.0, 4.0]]), [square(x)], [Tensor(x.array.T)]),
        [[2.0, 12.0], [12.0, 32.0]],
    ),
    "S76": same(
        lambda d: d.left(x := leaf([[1.0, 2.0], [3.0, 4.0]]), [plus(x, 1.0)], [Tensor(np.broadcast_to(np.float32(5.0), (2, 2)))]),
        [[5.0, 5.0], [5.0, 5.0]],
    ),
    "S77": (retained_by(None), [6.0], [C.BAD_ARGUMENT]),
    "S78": (retained_by(1, False), [6.0, 12.0], [C.BAD_ARGUMENT, 6.0]),
    "S84": (old_name, [12.0, C.BAD_ARGUMENT], NOT_OFFERED),
    "S87": same(
        lambda d: d.left(x := leaf([[5.0, 6.0]]), [OPS["matmul"](x, constant([1.0], [2.0]))], [constant([[1.0]], dtype="float64")]),
        [[1.0, 2.0]],
    ),
    "S88": same(lambda d: d.left(x := leaf(3.0), [square(x)], [tensor(2)]), 12.0),
}

OVERLAPS: dict[str, Row] = {
    "D01": (lambda d: pairs(d, square), 12.0, C.DUPLICATE_TENSOR),
    "D02": (lambda d: d.grad([y := square(x := leaf(3.0)), y], [x]), [12.0], C.DUPLICATE_TENSOR),
    "D03": (lambda d: pairs(d, square, 1.0, 10.0), 66.0, C.DUPLICATE_TENSOR),
    "D04": (lambda d: pairs(d, lambda x: x), 2.0, C.DUPLICATE_TENSOR),
    "D05": (lambda d: d.grad([square(x := leaf(3.0))], [x, x]), [6.0, 6.0], C.DUPLICATE_TENSOR),
    "D06": (on_chain(lambda d, x, h, y: d.grad([y], [h, h])), [12.0, 12.0], C.DUPLICATE_TENSOR),
    "D07": (lambda d: d.left(x := leaf(3.0), [square(x)], inputs=[x, x]), 6.0, NOT_OFFERED),
    "D08": same(lambda d: d.grad([y := square(leaf(3.0))], [y]), [1.0]),
    "D09": same(lambda d: d.grad([y := square(leaf(3.0))], [y], [constant(7.0)]), [7.0]),
    "D12": same(lambda d: d.left(x := leaf(3.0), [x]), 1.0),
    "D13": same(lambda d: d.left(x := leaf(3.0, 4.0), [x], [constant(1.0, 10.0)]), [1.0, 10.0]),
    "D14": same(lambda d: d.grad([x := leaf(3.0)], [x]), [1.0]),
    "D15": same(lambda d: d.grad([x := leaf(3.0, 4.0)], [x], [constant(5.0, 6.0)]), [[5.0, 6.0]]),
    "D16": same(lambda d: d.grad([leaf(3.0)], [leaf(4.0)], allow_unused=True), [None]),
    "D17": same(on_chain(lambda d, x, h, y: d.grad([h, y], [x])), [26.0]),
    "D18": same(on_chain(lambda d, x, h, y: d.grad([y, h], [x])), [26.0]),
    "D20": same(on_chain(lambda d, x, h, y: d.grad([h, y], [h, x])), [13.0, 26.0]),
    "D21": same(on_chain(lambda d, x, h, y: d.left(x, [h, y])), 26.0),
    "D22": same(lambda d: d.left(x := leaf(3.0), [x, square(x)]), 7.0),
    "D23": same(lambda d: d.grad([x := leaf(3.0), square(x)], [x]), [7.0]),
    "D24": same(chain_of_inputs, [120.0, 60.0, 5.0]),
    "D25": same(parallel_inputs, [9.0, 6.0, 54.0]),
    "D26": same(direct_and_through, [108.0, 6.0]),
    "D27": same(aliased, [12.0]),
    "D28": same(both_parts, [[1.0, 10.0, 100.0, 1000.0]]),
    "D36": same(three_leaves, [6.0, 15.0, 10.0]),
}
