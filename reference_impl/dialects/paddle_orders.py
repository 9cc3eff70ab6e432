"""Paddle's tables of higher order: `HIGHEST_ORDER` and `LINKS`.

`HIGHEST_ORDER`: per op, the highest derivative that it offers, where that ends.

Source: the double and triple backward columns of the op universe, observed on paddle 3.3.1: an op without a second derivative
refuses the call with ``create_graph=True`` itself, even if only the first is wanted.

`LINKS`: per op, the operands that its gradients count as depending on, where that is not what their formula uses, and when: always,
if the other operand needs a gradient, or only if the other operand's gradient is asked for in the same call.
Paddle links by backward node: all gradients
of a product count as depending on both operands and on the cotangent, so a second derivative that vanishes is zeros, not absent; the
double-grad nodes of the piecewise linear ops take the cotangent alone. Observed on paddle 3.3.1, op by op, by asking every gradient
for its gradient in every operand.
"""

HIGHEST_ORDER = {
    **dict.fromkeys(
        (
            *("amax", "cumsum", "embedding", "erf", "fill", "flatten", "gelu", "getitem_strided", "log_softmax", "logsumexp"),
            "getitem_reversed",
            *("max", "min", "pow", "prod", "roll", "setitem", "softmax", "topk", "tril", "triu"),
            *("real", "imag", "complex", "angle"),
            *("amin", "ceil", "floor", "fmax", "fmin", "hardshrink", "hardtanh", "relu6", "round"),
        ),
        1,
    ),
    **dict.fromkeys(
        ("clamp", "div_by_quotient", "leaky_relu", "pad_constant", "relu", "rsqrt", "sgn", "softplus", "sqrt", "square"),
        2,
    ),
    **dict.fromkeys(("cos", "pow_scalar", "sigmoid", "sin"), 3),
}

LINKS: dict[str, dict[str, str]] = {
    "mul": {"x": "always", "y": "always"},
    "div_by_quotient": {"x": "always", "y": "other_tracked"},
    "conv2d": {"x": "other_asked", "weight": "other_asked"},
    "matmul": {"x": "other_asked", "y": "other_asked"},
    "pow_scalar": {"x": "always", "g": "always"},
    "bmm": {"x": "always", "y": "always"},
    "abs": {},
    "leaky_relu": {},
    "relu": {},
}

_FIRST_ORDER_ONLY = (
    *("amax", "bmm", "cumsum", "embedding", "exp", "flatten", "gather", "gelu", "getitem_intarray", "getitem_strided", "log_softmax"),
    *("logsumexp", "masked_fill", "masked_fill_tensor", "max", "maximum", "min", "minimum", "pow", "prod", "roll", "silu", "softmax"),
    *("topk", "tril", "triu", "where"),
)
_SECOND_ORDER_ONLY = (
    *(
        "abs",
        "clamp",
        "conv2d",
        "div_by_quotient",
        "log",
        "pad_constant",
        "relu",
        "reshape",
        "rsqrt",
        "softplus",
        "sqrt",
        "square",
        "sub",
    ),
)

STATIC_HIGHEST_ORDER = {**HIGHEST_ORDER, **dict.fromkeys(_FIRST_ORDER_ONLY, 1), **dict.fromkeys(_SECOND_ORDER_ONLY, 2)}
"""The same for static programs, where fewer ops have a second derivative.

A derivative that is not offered is refused when it is asked for. Observed on paddle 3.3.1 (PIR), op by op.
"""

STATIC_LINKS = {
    **LINKS,
    "conv2d": {"x": "always", "weight": "always"},
    "div_by_quotient": {"x": "always", "y": "always", "out": "always"},
    "matmul": {"x": "always", "y": "always"},
    "mul": {"x": "always", "y": "always"},
    **{
        name: {"x": "always", "y": "always"}
        for name in (
            *("amax", "cumsum", "flatten", "gather", "getitem_intarray", "getitem_reversed", "getitem_strided", "max"),
            *("maximum", "min", "minimum"),
            *("roll", "topk", "where"),
        )
    },
    "embedding": {"weight": "always"},
    "masked_fill": {"x": "always"},
    "masked_fill_tensor": {"x": "always", "value": "always"},
}
"""The same for static programs.

There a derivative that is not offered is refused wherever the gradient operator takes an operand, in its formula or not.
"""
