"""Rows L (lifetime of graphs) and A (``.grad``) of the measured semantics, as situations for the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reference_impl import OPS, Tensor
from tests.reference_impl.rows import C, Calls, Row, add_up, constant, leaf, plus, same, square, times, tried

if TYPE_CHECKING:
    from collections.abc import Callable

mul, add, exp = OPS["mul"], OPS["add"], OPS["exp"]
FREED = C.GRAPH_FREED


def twice(op: Callable[[Tensor], Tensor], *data: Any) -> Callable[[Calls], Any]:
    """Go backward through one op twice; what the second pass says, or both passes left."""

    def situation(d: Calls) -> Any:
        x = leaf(*data or (1.0, 1.0))
        y = op(x)
        seed = Tensor(y.array * 0 + 1)
        d.backward([y], [seed])
        return d.left(x, [y], [seed])

    return situation


def kept(*flags: bool) -> Callable[[Calls], Any]:
    def situation(d: Calls) -> Any:
        x = leaf(3.0)
        y = square(x)
        for flag in flags:
            d.backward([y], None, flag)
        return x.grad

    return situation


def backward_then_grad(d: Calls) -> Any:
    x = leaf(3.0)
    y = square(x)
    d.backward([y])
    return d.grad([y], [x])


def create_graph_keeps(d: Calls) -> Any:
    x = leaf(3.0)
    y = mul(square(x), x)
    return d.grad([y], [x], create_graph=True), d.grad([y], [x])


def heads(trunk: Callable[[Tensor], Tensor]) -> Callable[[Calls], Any]:
    def situation(d: Calls) -> Any:
        x = leaf(3.0)
        h = trunk(x)
        d.backward([plus(h, 1.0)])
        return d.left(x, [times(h, 10.0)])

    return situation


def new_op_on_freed(d: Calls) -> Any:
    x = leaf(3.0)
    h = square(x)
    d.backward([h])
    return d.left(x, [times(h, 2.0)])


def after_refusal(join: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Calls], Any]:
    def situation(d: Calls) -> Any:
        x, w = leaf(3.0), leaf(5.0)
        h = square(x)
        d.backward([h])
        return tried(lambda: d.backward([join(w, h)])), x.grad, w.grad

    return situation


def part_above_freed(d: Calls) -> Any:
    x = leaf(3.0)
    h = square(x)
    y = square(h)
    d.backward([h])
    return d.grad([y], [h])


def part_then_whole(d: Calls) -> Any:
    x = leaf(3.0)
    h = square(x)
    y = plus(h, 1.0)
    return d.grad([y], [h]), d.left(x, [y])


def part_then_other_head(d: Calls) -> Any:
    x = leaf(3.0)
    h = square(x)
    return d.grad([square(h)], [h]), d.left(x, [times(h, 2.0)])


def side_branch(d: Calls) -> Any:
    a, c = leaf(3.0), leaf(0.0)
    b = exp(c)
    return d.grad([mul(a, b)], [a]), d.left(c, [b])


def two_outputs_kept(d: Calls) -> Any:
    x = leaf(3.0)
    a, b = square(x), times(x, 24.0)
    d.backward([a, b], None, True)
    return d.left(x, [a, b], None, False)


def still_usable(d: Calls) -> Any:
    x = leaf(3.0)
    y = square(x)
    d.backward([y])
    refused = tried(lambda: d.backward([y]))
    w = leaf(5.0)
    return refused, d.left(w, [add(w, times(w, 10.0))])


SAVES = ("exp", "log", "sqrt", "tanh", "sin", "abs", "sigmoid", "relu")
LINEAR = {
    "clone": (OPS["clone"], [2.0, 2.0]),
    "neg": (OPS["neg"], [-2.0, -2.0]),
    "add_scalar": (lambda x: plus(x, 1.0), [2.0, 2.0]),
    "sum": (add_up, [2.0, 2.0]),
    "mean": (lambda x: OPS["mean"](x, axis=None, keepdims=False), [1.0, 1.0]),
    "reshape": (lambda x: OPS["reshape"](x, shape=[2, 1]), [2.0, 2.0]),
    "transpose": (lambda x: OPS["reshape"](x, shape=[2]), [2.0, 2.0]),
    "getitem_int": (lambda x: OPS["getitem_int"](x, index=0), [2.0, 0.0]),
    "getitem_slice": (lambda x: OPS["getitem_slice"](x, key=[[0, 1, 1]]), [2.0, 0.0]),
    "cumsum": (lambda x: OPS["cumsum"](x, axis=0), [4.0, 2.0]),
    "flip": (lambda x: OPS["flip"](x, axis=[0]), [2.0, 2.0]),
    "cast": (lambda x: OPS["cast"](x, dtype="float64"), [2.0, 2.0]),
    "stack": (lambda x: OPS["stack"](x, x, axis=0), [4.0, 4.0]),
    "expand": (lambda x: OPS["expand"](x, shape=[3, 2]), [6.0, 6.0]),
}
PAIRS = {
    "add": ([2.0, 2.0], [2.0, 2.0]),
    "sub": ([2.0, 2.0], [-2.0, -2.0]),
    **dict.fromkeys(("mul", "div", "maximum", "minimum", "pow"), FREED),
}


def twice_of_two(name: str) -> Callable[[Calls], Any]:
    def situation(d: Calls) -> Any:
        x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
        y, seed = OPS[name](x, w), constant(1.0, 1.0)
        d.backward([y], [seed])
        refused = tried(lambda: d.backward([y], [seed]))
        return refused or (x.grad, w.grad)

    return situation


LIFETIME: dict[str, Row] = {
    "L01": same(twice(square, 3.0), FREED),
    "L02": same(kept(True, False), 12.0),
    "L03": same(kept(True, True, False), 18.0),
    "L04": (twice(lambda x: plus(x, 1.0), 3.0), 2.0, FREED),
    "L07": same(backward_then_grad, FREED),
    "L08": same(create_graph_keeps, [[27.0], [27.0]]),
    "L10": same(heads(square), FREED),
    "L11": (heads(lambda x: plus(x, 1.0)), 11.0, FREED),
    "L12": same(new_op_on_freed, FREED),
    "L13": same(after_refusal(mul), [FREED, 6.0, 9.0]),
    "L14": same(after_refusal(lambda w, h: add(times(w, 2.0), h)), [FREED, 6.0, 2.0]),
    "L15": same(part_above_freed, [18.0]),
    "L16": (part_then_whole, [[1.0], 6.0], [[1.0], FREED]),  # finding paddle-grad-never-frees
    "L17": same(part_then_other_head, [[18.0], 12.0]),
    "L18": same(side_branch, [[1.0], 1.0]),
    "L21": same(two_outputs_kept, 60.0),
    "L70": same(still_usable, [FREED, 11.0]),
    **{f"L5-{name}": same(twice(OPS[name]), FREED) for name in SAVES},
    **{f"L5-{name}": (twice(op), second, FREED) for name, (op, second) in LINEAR.items()},
    "L5-mul_scalar": same(twice(lambda x: times(x, 3.0)), FREED),
    "L5-softmax": same(twice(lambda x: OPS["softmax"](x, axis=0)), FREED),
    **{f"L6-{name}": (twice_of_two(name), list(s) if isinstance(s, tuple) else s, FREED) for name, s in PAIRS.items()},
}


def accumulated(d: Calls) -> Any:
    x = leaf(1.0)
    d.backward([times(x, 3.0)])
    return d.left(x, [times(x, 30.0)])


def flags_of_grad(d: Calls) -> Any:
    found = d.left(x := leaf(3.0), [square(x)])
    return found, found.requires_grad, found.is_leaf


def cleared(d: Calls) -> Any:
    x = leaf(3.0)
    d.backward([square(x)])
    x.grad = None
    return d.left(x, [square(x)])


def on_the_way(d: Calls, retain: Callable[[Calls, Tensor, Tensor], object]) -> Any:
    x = leaf(3.0)
    h = times(x, 2.0)
    y = square(h)
    retain(d, h, y)
    d.backward([y])
    return h.grad, x.grad, y.grad


def retained_flags(d: Calls) -> Any:
    x = leaf(3.0)
    h = times(x, 2.0)
    d.retain_grad(h)
    d.backward([square(h)])
    assert h.grad is not None
    return h.grad, h.grad.requires_grad


def retained_in_grad(d: Calls) -> Any:
    x = leaf(3.0)
    h = times(x, 2.0)
    d.retain_grad(h)
    return d.grad([square(h)], [x]), h.grad, x.grad


def shared_seed(d: Calls) -> Any:
    a, b, seed = leaf(1.0, 2.0), leaf(3.0, 4.0), constant(1.0, 10.0)
    d.backward([add(a, b)], [seed])
    d.backward([times(a, 2.0)], [seed])
    return a.grad, b.grad, seed


ACCUMULATION: dict[str, Row] = {
    "A01": same(accumulated, 33.0),
    "A04": (flags_of_grad, [6.0, False, True], [6.0, True, True]),
    "A05": same(lambda d: leaf(3.0).grad, None),
    "A06": same(lambda d: d.left(c := constant(2.0), [mul(leaf(3.0), c)]), None),
    "A07": same(lambda d: d.left(leaf(2.0), [square(leaf(3.0))]), None),
    "A08": same(lambda d: d.left(x := leaf([3.0]), [times(x, 0.0)]), [0.0]),
    "A16": same(cleared, 6.0),
    "A26": same(shared_seed, [[3.0, 30.0], [1.0, 10.0], [1.0, 10.0]]),
    "A30": same(lambda d: on_the_way(d, lambda d, h, y: None), [None, 24.0, None]),
    "A31": (retained_flags, [12.0, False], [12.0, True]),
    "A33": same(lambda d: on_the_way(d, lambda d, h, y: d.retain_grad(y)), [None, 24.0, 1.0]),
    "A34": same(lambda d: (x := leaf(3.0), d.retain_grad(x), d.left(x, [square(x)]))[2], 6.0),
    "A35": (lambda d: d.retain_grad(constant(3.0)), C.NOT_DIFFERENTIABLE, None),
    "A36": same(lambda d: on_the_way(d, lambda d, h, y: (d.retain_grad(h), d.retain_grad(h))), [12.0, 24.0, None]),
    "A37": same(retained_in_grad, [[24.0], 12.0, None]),
    "A38": same(lambda d: (x := leaf(1.0), d.grad([square(x)], [x]), x.grad)[1:], [[2.0], None]),
    "A39": same(lambda d: str(d.left(x := leaf(1.0), [square(OPS["cast"](x, dtype="float64"))]).dtype), "float32"),
    "A53": same(lambda d: d.left(x := leaf(1.0, 2.0), [add(x, x)], [constant(1.0, 10.0)]), [2.0, 20.0]),
}
