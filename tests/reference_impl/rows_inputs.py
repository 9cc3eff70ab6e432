"""Rows I (inputs of the calls, gradient edges, batches of seeds) and N (no_grad_vars), as situations for the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reference_impl import OPS, Tensor, gradient_edge, no_grad
from tests.reference_impl.rows import NOT_OFFERED, C, Calls, Row, add_up, constant, leaf, plus, same, square, times, tried

if TYPE_CHECKING:
    from collections.abc import Callable

mul = OPS["mul"]
UNREACHABLE = C.UNREACHABLE_INPUT
NO_FLAG = C.NOT_DIFFERENTIABLE
EYE = [[1.0, 0.0], [0.0, 1.0]]


def of_square(*others: Any, **options: Any) -> Callable[[Calls], Any]:
    """Differentiate the square of 3.0 with respect to it and to others."""
    return lambda d: d.grad([square(x := leaf(3.0))], [x, *others], **options)


def constant_factor(**options: Any) -> Callable[[Calls], Any]:
    def situation(d: Calls) -> Any:
        x, c = leaf(3.0), constant(4.0)
        return d.grad([mul(x, c)], [x, c], **options)

    return situation


def through(blocked: Callable[[Tensor], Tensor]) -> Callable[[Calls], Any]:
    """Differentiate a product of a leaf with what was made of another."""

    def situation(d: Calls) -> Any:
        x = leaf(3.0)
        return d.grad([mul(blocked(x), leaf(2.0))], [x], allow_unused=True)

    return situation


def unrecorded(x: Tensor) -> Tensor:
    with no_grad():
        return square(x)


def wrong_direction(**options: Any) -> Callable[[Calls], Any]:
    def situation(d: Calls) -> Any:
        h = square(leaf(3.0))
        return d.grad([h], [times(h, 2.0)], **options)

    return situation


def sibling(d: Calls) -> Any:
    x = leaf(3.0)
    return d.grad([square(x)], [x, times(x, 2.0)], allow_unused=True)


def toggled(call: Callable[[Calls, Tensor, Tensor], Any]) -> Callable[[Calls], Any]:
    def situation(d: Calls) -> Any:
        x = leaf(3.0)
        y = square(x)
        d.set_requires_grad(x, False)
        return call(d, x, y)

    return situation


def marked_late(d: Calls) -> Any:
    c = constant(3.0)
    y = mul(c, leaf(2.0))
    d.set_requires_grad(c, True)
    return d.grad([y], [c], allow_unused=True)


def materialized_graph(d: Calls) -> Any:
    used, unused = of_square(leaf(1.0), materialize_grads=True, create_graph=True)(d)
    return used, unused, used.requires_grad, unused.requires_grad


def chained(call: Callable[[Calls, Tensor, Tensor, Tensor], Any]) -> Callable[[Calls], Any]:
    """``x = 3``, ``h = 2 x``, ``y = h h``."""

    def situation(d: Calls) -> Any:
        x = leaf(3.0)
        h = times(x, 2.0)
        return call(d, x, h, square(h))

    return situation


def into(d: Calls, x: Tensor, h: Tensor, y: Tensor, inputs: Any) -> Any:
    d.backward([y], inputs=inputs)
    return h.grad, x.grad


def into_twice(d: Calls, x: Tensor, h: Tensor, y: Tensor) -> Any:
    for _ in range(2):
        d.backward([y], None, True, inputs=[h])
    return h.grad


def runs_the_node(d: Calls) -> Any:
    x = leaf(3.0)
    h = square(x)
    d.backward([times(h, 2.0)], inputs=[h])
    return h.grad, tried(lambda: d.backward([h])), x.grad


def only_the_part_above(d: Calls) -> Any:
    x = leaf(3.0)
    h = square(x)
    return d.grad([times(h, 2.0)], [h]), d.left(x, [h])


def two_roots(d: Calls, root: Tensor) -> Any:
    w = leaf(3.0)
    return d.grad([root, times(w, 5.0)], [w])


def edge_of_slot(d: Calls) -> Any:
    x = leaf(3.0, 4.0, 9.0, 16.0)
    _, b = OPS["split"](x, sections=[2, 2], axis=0)
    cubes = mul(mul(b, b), constant(1.5, 1.5))
    return d.grad([cubes], [gradient_edge(b)], [constant(1.0, 1.0)])


def seeded_edge(d: Calls) -> Any:
    x = leaf(3.0, 4.0)
    edge = gradient_edge(square(x))
    return tried(lambda: d.grad([edge], [x])), d.grad([edge], [x], [constant(1.0, 10.0)])


def batch(*seeds: Any, root: Callable[[Tensor], Tensor] = square, **options: Any) -> Callable[[Calls], Any]:
    def situation(d: Calls) -> Any:
        x = leaf(1.0, 2.0)
        return d.grad([root(x)], [x, *options.pop("others", ())], [constant(*seeds)], is_grads_batched=True, **options)

    return situation


def batch_again(d: Calls) -> Any:
    x = leaf(1.0, 2.0)
    (rows,) = d.grad([mul(square(x), x)], [x], [constant(*EYE)], is_grads_batched=True, create_graph=True)
    return rows, rows.requires_grad, d.grad([add_up(rows)], [x])


def other_inputs(d: Calls) -> Any:
    x, w = leaf(3.0), leaf(5.0)
    y = mul(square(x), w)
    return d.grad([y], [x], None, True), d.grad([y], [w], None, True), d.grad([y], [x, w])


def kind_of_result(d: Calls) -> Any:
    found = d.grad(square(x := leaf(3.0)), x)
    return type(found).__name__, found


def by_name(d: Calls) -> Any:
    return d.grad([square(x := leaf(3.0))], {"x": x})


def loosely(name: str, value: Any) -> Callable[[Calls], Any]:
    return lambda d: d.grad([square(x := leaf(3.0))], [x], **{name: value})


def cut(name_of_variable: Callable[[Tensor, Tensor], Any], **options: Any) -> Callable[[Calls], Any]:
    """``x = 6``, ``w = 5``, ``h = x``'s double, ``y = h x``; cut what is named, differentiate by ``x``."""

    def situation(d: Calls) -> Any:
        x = leaf(3.0)
        h = times(x, 2.0)
        return d.grad([mul(h, x)], [x], no_grad_vars=name_of_variable(x, h), **options)

    return situation


INPUTS: dict[str, Row] = {
    "I01": same(of_square(leaf(1.0)), UNREACHABLE),
    "I02": same(of_square(leaf(1.0), allow_unused=False), UNREACHABLE),
    "I03": same(of_square(leaf(1.0), allow_unused=True), [6.0, None]),
    "I04": same(lambda d: d.grad([square(leaf(3.0))], [leaf(1.0)], allow_unused=True), [None]),
    "I05": (constant_factor(), NO_FLAG, UNREACHABLE),
    "I06": (constant_factor(allow_unused=True), NO_FLAG, [4.0, None]),
    "I07": (lambda d: d.grad([square(leaf(3.0))], [constant(1, dtype="int64")], allow_unused=True), NO_FLAG, [None]),
    "I09": same(of_square(None), C.BAD_ARGUMENT),
    "I10": (kind_of_result, ["tuple", [6.0]], ["list", [6.0]]),
    "I12": (by_name, {"x": 6.0}, C.BAD_ARGUMENT),
    "I13": same(through(unrecorded), [None]),
    "I14": same(through(Tensor.detach), [None]),
    "I16": same(through(lambda x: times(x, 0.0)), [0.0]),
    "I17 (of sign)": same(through(OPS["sign"]), [0.0]),
    "I18": same(wrong_direction(allow_unused=True), [None]),
    "I19": same(wrong_direction(), UNREACHABLE),
    "I21": same(sibling, [6.0, None]),
    "I22": same(of_square(square(leaf(1.0)), allow_unused=True), [6.0, None]),
    "I23": (toggled(lambda d, x, y: d.grad([y], [x])), NO_FLAG, [6.0]),
    "I24": (toggled(lambda d, x, y: d.left(x, [y])), None, 6.0),
    "I25": same(marked_late, [None]),
    "I26": (of_square(leaf([[1.0]]), materialize_grads=True), [6.0, [[0.0]]], NOT_OFFERED),
    "I27": (of_square(constant(1.0), materialize_grads=True), NO_FLAG, NOT_OFFERED),
    "I28": (of_square(materialize_grads=True, allow_unused=False), C.BAD_ARGUMENT, NOT_OFFERED),
    "I29": (materialized_graph, [6.0, 0.0, True, True], NOT_OFFERED),
    "I30": (chained(lambda d, x, h, y: into(d, x, h, y, [x])), [None, 24.0], NOT_OFFERED),
    "I31": (chained(lambda d, x, h, y: into(d, x, h, y, [h])), [12.0, None], NOT_OFFERED),
    "I32": (chained(into_twice), 24.0, NOT_OFFERED),
    "I33": (chained(lambda d, x, h, y: into(d, x, h, y, [leaf(1.0)])), [None, None], NOT_OFFERED),
    "I34": (chained(lambda d, x, h, y: into(d, x, h, y, [constant(1.0)])), NO_FLAG, NOT_OFFERED),
    "I35": (chained(lambda d, x, h, y: into(d, x, h, y, [])), C.BAD_ARGUMENT, NOT_OFFERED),
    "I36": (chained(lambda d, x, h, y: into(d, x, h, y, x)), [None, 24.0], NOT_OFFERED),
    "I37": (chained(lambda d, x, h, y: (into(d, x, h, y, [y]), y.grad)), [[None, None], 1.0], NOT_OFFERED),
    "I38": (runs_the_node, [2.0, C.GRAPH_FREED, None], NOT_OFFERED),
    "I39": same(only_the_part_above, [[2.0], 6.0]),
    "I41": (chained(lambda d, x, h, y: into(d, x, h, y, {"x": x})), [None, 24.0], NOT_OFFERED),
    "I42": (chained(lambda d, x, h, y: d.grad([y], [gradient_edge(h)])), [12.0], NOT_OFFERED),
    "I43": (lambda d: d.grad([square(x := leaf(3.0))], gradient_edge(x)), [6.0], NOT_OFFERED),
    "I44": (lambda d: d.grad(gradient_edge(square(x := leaf(3.0))), [x]), [6.0], NOT_OFFERED),
    "I45": (seeded_edge, [C.SEED_REQUIRED, [[6.0, 80.0]]], NOT_OFFERED),
    "I46": (lambda d: d.left(x := leaf(3.0), gradient_edge(square(x))), 6.0, NOT_OFFERED),
    "I47": (chained(lambda d, x, h, y: into(d, x, h, times(x, 2.0), [gradient_edge(x)])), [None, 2.0], NOT_OFFERED),
    "I49": (lambda d: gradient_edge(constant(1.0)), NO_FLAG, NOT_OFFERED),
    "I50": (edge_of_slot, [[27.0, 48.0]], NOT_OFFERED),
    "I51": (batch(*EYE), [[[2.0, 0.0], [0.0, 4.0]]], NOT_OFFERED),
    "I52": (batch(1.0, 2.0), C.SEED_SHAPE, NOT_OFFERED),
    "I54": (batch(*EYE, others=[leaf(1.0)], allow_unused=True), [[[2.0, 0.0], [0.0, 4.0]], None], NOT_OFFERED),
    "I57": (batch_again, [[[3.0, 0.0], [0.0, 12.0]], True, [[6.0, 12.0]]], NOT_OFFERED),
    "I58": (
        batch(1.0, 10.0, 100.0, root=lambda x: add_up(square(x))),
        [[[2.0, 4.0], [20.0, 40.0], [200.0, 400.0]]],
        NOT_OFFERED,
    ),
    "I59": (loosely("only_inputs", False), [6.0], C.BAD_ARGUMENT),
    "I60 create_graph": (loosely("create_graph", 1), [6.0], C.BAD_ARGUMENT),
    "I60 allow_unused": (loosely("allow_unused", None), [6.0], C.BAD_ARGUMENT),
    "I62": same(lambda d: d.grad([leaf(3.0)], [square(leaf(2.0))], allow_unused=True), [None]),
    "I64": same(lambda d: d.grad([square(x := leaf(3.0))], [leaf(1.0), x], allow_unused=True), [None, 6.0]),
    "I65": same(lambda d: two_roots(d, square(leaf(2.0))), [5.0]),
    "I66": (lambda d: two_roots(d, constant(2.0)), C.ROOT_WITHOUT_GRAPH, [5.0]),
    "I69": same(other_inputs, [[30.0], [9.0], [30.0, 9.0]]),
    "N01": (lambda d: d.grad([mul(x := leaf(3.0), w := leaf(5.0))], [x], no_grad_vars=[w]), NOT_OFFERED, [5.0]),
    "N02": (cut(lambda x, h: [x]), NOT_OFFERED, UNREACHABLE),
    "N04": (cut(lambda x, h: [h]), NOT_OFFERED, [6.0]),
    "N09 bare": (cut(lambda x, h: h), NOT_OFFERED, [6.0]),
    "N09 set": (cut(lambda x, h: {h}), NOT_OFFERED, [6.0]),
    "N09 tuple": (cut(lambda x, h: (h,)), NOT_OFFERED, [6.0]),
    "N11": (cut(lambda x, h: [leaf(1.0)]), NOT_OFFERED, [12.0]),
    "N12": (cut(lambda x, h: [square(leaf(1.0))]), NOT_OFFERED, [12.0]),
    "N13 empty": (cut(lambda x, h: []), NOT_OFFERED, [12.0]),
    "N13 text": (cut(lambda x, h: "h"), NOT_OFFERED, C.BAD_ARGUMENT),
    "N14": (cut(lambda x, h: [h, h]), NOT_OFFERED, [6.0]),
    "N25": (
        lambda d: d.grad([plus(times(h := square(x := leaf(3.0)), 8.0), 1.0)], [h], no_grad_vars=[x]),
        NOT_OFFERED,
        [8.0],
    ),
}
