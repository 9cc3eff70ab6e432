"""The switches of the dialects, one case or more for each: what is expected changes when that switch alone is flipped.

The name of the switch stands where other cases have the id of a clause. On a backend such a case shows that the switch says of it
what it does.
"""

from conformance.case.case import Case, Input
from conformance.case.steps import Backward, ClearGrad, Custom, Grad, Hook, InPlace, Op, RetainGrad, SetRequiresGrad, Step
from conformance.clauses.curated import Curated
from conformance.clauses.shorthand import add, constant, exact, leaf, mul, number, plane, scale, total
from reference_impl import PADDLE, TORCH

_X = leaf("x", 1.0, 2.0)
_W = leaf("w", 3.0, 4.0)
_C = constant("c", 5.0, 6.0)
_SQUARES = mul("x", "x", "y")
_SUM = (_SQUARES, total("y", "z"))
_Z = plane("z", 1 + 2j)
_V = Input("v", (2,), (1.0, 2.0), "float64")
_HALVES = Op("split", ("x",), ("a", "b"), {"sections": [1, 1], "axis": 0})

_CALLS = (
    Curated("containers", "roots in an iterator", exact((_X,), *_SUM, Backward(("z",), form="iterator"), Backward(("z",)))),
    Curated("implicit_seed", "no seed for two elements", exact((_X,), _SQUARES, Backward(("y",)))),
    Curated("implicit_seed", "no seed for a complex number", exact((_Z,), mul("z", "z", "y"), Backward(("y",)))),
    Curated("duplicates", "a root twice", exact((_X,), *_SUM, Backward(("z", "z")))),
    Curated("duplicates", "an input twice", exact((_X,), *_SUM, Grad(("z",), ("x", "x"), ("d1", "d2")))),
    Curated(
        "unreached",
        "an input that the output does not depend on",
        exact((_X, _W), *_SUM, Grad(("z",), ("w", "x"), ("dw", "dx"), allow_unused=True)),
    ),
    Curated("only_inputs", "only_inputs=False", exact((_X,), *_SUM, Grad(("z",), ("x",), ("dx",), only_inputs=False))),
    Curated(
        "inputs_run_their_node",
        "the node above a computed input is freed",
        exact((_X,), *_SUM, RetainGrad("y"), Backward(("z",), inputs=("y",)), total("y", "u"), Backward(("u",))),
        dialect=TORCH,
    ),
    Curated(
        "not_offered",
        "no_grad_vars",
        exact((number("x", 3.0),), mul("x", "x", "h"), mul("h", "x", "y"), Grad(("y",), ("x",), ("dx",), no_grad_vars=("h",))),
        dialect=TORCH,
    ),
    Curated("not_offered", "inputs of backward", exact((_X, _W), mul("x", "w", "y"), total("y", "z"), Backward(("z",), inputs=("x",)))),
)

_STATE = (
    Curated(
        "freed_refuses",
        "a sum was freed, and a sum of squares",
        exact((_X,), total("x", "s"), Backward(("s",)), Backward(("s",)), *_SUM, Backward(("z",)), Backward(("z",))),
    ),
    Curated(
        "accumulation",
        "two passes, and the leaf is used again",
        exact((_X,), *_SUM, Backward(("z",)), total("x", "s"), Backward(("s",)), mul("x", "x", "u")),
    ),
    Curated(
        "unfinished",
        "a second pass over a leaf, and over what was freed",
        exact((number("x", 3.0), number("w", 4.0)), mul("x", "x", "y"), Backward(("w", "y")), Backward(("w", "y"))),
    ),
    Curated(
        "spelled",
        "a quotient's derivative in the dividend",
        exact(
            (number("x", 4.0), number("w", 2.0)),
            Op("div", ("x", "w"), ("y",)),
            Grad(("y",), ("x",), ("dx",), create_graph=True),
            Grad(("dx",), ("x",), ("ddx",), allow_unused=True),
        ),
    ),
    Curated(
        "numbered",
        "a leaf beside the derivative of distances that is not offered",
        Case(
            (Input("x", (1, 1), (0.0,)), Input("w", (1, 1), (1.0,)), Input("s", (1, 1), (2.0,)), Input("v", (1, 1), (3.0,))),
            (
                Op("cdist", ("x", "w"), ("y",), {"p": 2.0}),
                Grad(("y",), ("w",), ("dw",), ("s",), create_graph=True),
                mul("dw", "v", "z"),
                Backward(("z",)),
            ),
        ),
        dialect=TORCH,
    ),
    Curated(
        "joined",
        "the gradient in the weight, after that in the input was differentiated",
        exact(
            (Input("x", (1, 1, 3), (1.0, 2.0, 3.0)), Input("w", (1, 1, 2), (1.0, 2.0)), Input("b", (1,), (0.0,))),
            Op("conv1d", ("x", "w", "b"), ("y",), {"stride": [1], "padding": [0], "dilation": [1], "groups": 1}),
            total("y", "z"),
            Grad(("z",), ("x", "w"), ("dx", "dw"), create_graph=True),
            total("dx", "u"),
            total("dw", "v"),
            Grad(("u",), ("w",), ("dxdw",)),
            Grad(("v",), ("x",), ("dwdx",)),
        ),
        dialect=TORCH,
    ),
    Curated(
        "reshaped",
        "a factor whose flag was set after the product was made",
        exact(
            (Input("x", (1, 1), (2.0,)), Input("w", (1, 1), (3.0,), differentiable=False)),
            Op("kron", ("x", "w"), ("y",)),
            SetRequiresGrad("w", True),
            total("y", "z"),
            Grad(("z",), ("x",), ("dx",), create_graph=True),
        ),
        dialect=TORCH,
    ),
    Curated(
        "hidden",
        "the gradient in the weight of a constant that was normalized",
        Case(
            (Input("x", (1, 2), (1.0, 2.0), differentiable=False), leaf("w", 1.0, 3.0), leaf("b", 0.0, 0.0)),
            (
                Op("group_norm", ("x", "w", "b"), ("y",), {"groups": 1, "eps": 1e-5}),
                total("y", "z"),
                Grad(("z",), ("w",), ("dw",), create_graph=True),
            ),
        ),
        dialect=TORCH,
    ),
    Curated(
        "promotion",
        "a double factor without axes, and a single one of doubles that its derivative frees",
        exact(
            (_V, leaf("x", 3.0, 4.0), Input("s", (2,), (1.0, 2.0), "float64", differentiable=False), Input("d", (), (2.0,), "float64")),
            mul("d", "x", "e"),
            mul("v", "x", "y"),
            Grad(("y",), ("x",), ("dx",), ("s",), create_graph=True),
            total("dx", "z"),
            Backward(("z",)),
            Op("neg", ("y",), ("w",)),
            Backward(("w",), ("s",)),
        ),
    ),
    Curated(
        "promotion",
        "a double factor without axes, and a real one of complex numbers that its derivative frees",
        exact(
            (_Z, leaf("x", 3.0), plane("s", 1 + 1j, differentiable=False), Input("d", (), (2.0,), "float64")),
            mul("d", "x", "e"),
            mul("z", "x", "y"),
            Grad(("y",), ("x",), ("dx",), ("s",), create_graph=True),
            Backward(("dx",)),
            Op("neg", ("y",), ("w",)),
            Backward(("w",), ("s",)),
        ),
        dialect=PADDLE,
    ),
    Curated("grad_requires_grad", "after a plain backward", exact((_X,), *_SUM, Backward(("z",)))),
    Curated(
        "retain_constant",
        "a constant is asked",
        exact((_X, _C), mul("x", "c", "y"), RetainGrad("c"), total("y", "z"), Backward(("z",))),
    ),
    Curated("retaining", "a computed tensor is not asked before the pass", exact((_X,), *_SUM, Backward(("z",)), RetainGrad("y"))),
    Curated(
        "retained",
        "two passes",
        exact((_X,), _SQUARES, RetainGrad("y"), total("y", "z"), Backward(("z",), retain_graph=True), Backward(("z",))),
    ),
    Curated(
        "toggled_leaf",
        "the flag is taken off after the graph was built",
        exact((_X, _W), mul("x", "w", "y"), total("y", "z"), SetRequiresGrad("x", False), Backward(("z",))),
    ),
    Curated(
        "computed_flag",
        "the flag is taken off before a consumer is built",
        exact((_X,), _SQUARES, SetRequiresGrad("y", False), mul("y", "x", "u"), total("u", "z"), Backward(("z",))),
    ),
)

_HOOKS = (
    Curated(
        "hook_order",
        "the first half, the second and the first again",
        exact(
            (_X,),
            _HALVES,
            *(Hook(tensor, (h,), "nothing") for tensor, h in (("a", "h1"), ("b", "h2"), ("a", "h3"))),
            mul("a", "b", "z"),
            Backward(("z",)),
        ),
    ),
    Curated(
        "retained_position",
        "retained first, then hooked",
        exact((_X,), _SQUARES, RetainGrad("y"), Hook("y", ("h",), "scaled", 10.0), total("y", "z"), Backward(("z",))),
    ),
    Curated(
        "callbacks_record",
        "a hook in a pass that creates no graph",
        exact((_X,), _SQUARES, Hook("y", ("h",), "nothing"), total("y", "z"), Backward(("z",))),
    ),
    Curated(
        "missing_cotangent",
        "one half is used, both are hooked",
        exact((_X,), _HALVES, Hook("a", ("h",), "nothing"), Hook("b", ("k",), "nothing"), total("b", "z"), Backward(("z",))),
    ),
    Curated(
        "schedule",
        "two branches, built one after the other",
        exact(
            (_X,),
            scale("x", 2.0, "a"),
            scale("x", 3.0, "b"),
            Hook("a", ("first",), "nothing"),
            Hook("b", ("second",), "nothing"),
            add("a", "b", "u"),
            total("u", "z"),
            Backward(("z",)),
        ),
    ),
)

_HIGHER = (
    Curated(
        "derivative_requires_grad",
        "the derivative of a linear function",
        exact((number("x", 2.0),), scale("x", 3.0, "y"), Grad(("y",), ("x",), ("dx",), create_graph=True)),
    ),
    Curated(
        "conventions",
        "the first derivative of a cumulative sum, with a graph",
        exact((_X,), Op("cumsum", ("x",), ("y",), {"axis": 0}), total("y", "z"), Grad(("z",), ("x",), ("dx",), create_graph=True)),
        dialect=PADDLE,
    ),
    Curated(
        "unoffered",
        "the first derivative of a cumulative sum with a graph, whose second one is not offered",
        exact((_X,), Op("cumsum", ("x",), ("y",), {"axis": 0}), total("y", "z"), Grad(("z",), ("x",), ("g",), create_graph=True)),
        dialect=PADDLE,
    ),
    Curated(
        "conventions",
        "the second derivative of a product in one factor",
        exact(
            (number("x", 4.0), number("w", 5.0)),
            mul("x", "w", "y"),
            Grad(("y",), ("x",), ("dx",), create_graph=True),
            Grad(("dx",), ("x",), ("ddx",), allow_unused=True),
        ),
        dialect=PADDLE,
    ),
    Curated(
        "ties",
        "the maximum of a row is reached twice",
        exact(
            (Input("x", (1, 3), (7.0, 1.0, 7.0)),),
            Op("max", ("x",), ("m",), {"axis": 1, "keepdims": False}),
            total("m", "z"),
            Backward(("z",), retain_graph=True),
            ClearGrad("x", "zero"),
            Backward(("z",)),
        ),
    ),
    Curated(
        "leaky_at_zero",
        "a leaky ReLU of a zero",
        exact((leaf("x", -1.0, 0.0, 1.0),), Op("leaky_relu", ("x",), ("y",), {"slope": 0.25}), total("y", "z"), Backward(("z",))),
    ),
)


def _product(other: str, *gradients: str | None) -> tuple[Step, ...]:
    """Write a product with ``x`` as a custom function; its backward makes ``a``, ``b`` and the wider ``e`` to return."""
    made = (mul("g", other, "a"), mul("g", "x", "b"), Op("unsqueeze", ("a",), ("e",), {"axis": 0}))
    pair = ("x", other)
    function = Custom(pair, ("y",), (mul("x", other, "f"),), ("f",), ("g",), gradients, made, pair)
    return function, total("y", "z"), Grad(("z",), ("x",), ("dx",))


_CUSTOM = (
    Curated("surplus_gradients", "None for a third operand", exact((_X, _W), *_product("w", "a", "b", None))),
    Curated("left_out_gradients", "none for the constant", exact((_X, _C), *_product("c", "a"))),
    Curated("gradient_of_constant", "one for the constant", exact((_X, _C), *_product("c", "a", "b"))),
    Curated("wider_gradient", "one with an axis more", exact((_X, _W), *_product("w", "e", "b"))),
)

_PROGRAMS = (
    Curated(
        "static",
        "an input that cannot be reached",
        exact((_X, _W), *_SUM, Grad(("z",), ("x", "w"), ("dx", "dw"), create_graph=True)),
    ),
)

_TWICE = {"other": 2.0}
_MUTATION = (
    Curated(
        "several_views",
        "a write to one of two halves",
        exact(
            (_X,),
            _SQUARES,
            Op("unbind", ("y",), ("a", "b"), {"axis": 0}),
            InPlace("mul_scalar", "a", (), _TWICE),
            mul("a", "b", "z"),
            Backward(("z",)),
        ),
    ),
    Curated(
        "retained_follows",
        "retained, then written",
        exact((_X,), _SQUARES, RetainGrad("y"), InPlace("mul_scalar", "y", (), _TWICE), total("y", "z"), Backward(("z",))),
    ),
    Curated(
        "conventions",
        "a factor beside a constant is written, then a factor beside itself",
        exact(
            (_X, _C),
            scale("x", 3.0, "h"),
            mul("h", "c", "y"),
            InPlace("mul_scalar", "h", (), _TWICE),
            total("y", "z"),
            Backward(("z",)),
            scale("x", 3.0, "k"),
            mul("k", "k", "m"),
            InPlace("mul_scalar", "k", (), _TWICE),
            total("m", "n"),
            Backward(("n",)),
        ),
        dialect=TORCH,
    ),
    Curated(
        "copies",
        "a write to what was expanded",
        exact(
            (_X,),
            scale("x", 3.0, "h"),
            Op("expand", ("h",), ("y",), {"shape": [2, 2]}),
            InPlace("mul_scalar", "h", (), _TWICE),
            total("y", "z"),
            Backward(("z",)),
        ),
    ),
)

CASES = (*_CALLS, *_STATE, *_HOOKS, *_HIGHER, *_MUTATION, *_CUSTOM, *_PROGRAMS)
